"""Parameters that several commands share: kinds of values, options, and paths of specs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from floodmark.checkers.project import input_limits, spec_address
from floodmark.checkers.project.file_parameter import Named, named
from floodmark.language.errors import SourceError


class _Amount(click.ParamType[Any]):
    """A number in its limits."""

    def of(self, text: str) -> Any:
        """The number that a text says, or ValueError with what is wrong."""
        raise NotImplementedError

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self.of(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class MemorySize(_Amount):
    """An amount of memory such as 8G, in bytes."""

    name = "SIZE"

    def of(self, text: str) -> int:
        return input_limits.memory(text)


class Seconds(_Amount):
    """A time."""

    name = "SECONDS"

    def of(self, text: str) -> float:
        return input_limits.seconds(_number(text))


class Factor(_Amount):
    """By how much a number of states is multiplied."""

    name = "TIMES"

    def of(self, text: str) -> float:
        return input_limits.factor(_number(text))


class Whole(_Amount):
    """A whole number."""

    name = "N"

    def __init__(self, least: int, most: int) -> None:
        self.least = least
        self.most = most

    def of(self, text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise ValueError(f"{input_limits.brief(text)} is not a whole number") from None
        if not self.least <= number <= self.most:
            raise ValueError(f"{input_limits.brief(text)} is not in the range {self.least:,} to {self.most:,}")
        return number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{input_limits.brief(text)} is not a number") from None


class Assignment(click.ParamType[tuple[str, int]]):
    """A constant of a model with its value."""

    name = "NAME=VALUE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        if isinstance(value, tuple):
            return value
        name, _, text = str(value).partition("=")
        if text in ("true", "false"):
            return name.strip(), text == "true"
        shape = f"{input_limits.brief(value)} is not NAME=VALUE with a whole number, true or false"
        try:
            number = int(text)
        except ValueError:
            self.fail(shape, param, ctx)
        try:
            return name.strip(), input_limits.constant(number)
        except ValueError as error:
            self.fail(f"the constant {name.strip()} {error}", param, ctx)


class SpecName(click.ParamType[str]):
    """An argument that names a spec, a row of one, or a folder; shells complete the names of this project's specs, and
    files."""

    name = "SPEC"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        names = _names(Path("specs")) if os.path.isdir("specs") else _names(shipped_specs())
        found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
        return [*found, CompletionItem(incomplete, type="file")]


Count = Whole(0, input_limits.MAX_COUNT)
Positive = Whole(1, input_limits.MAX_COUNT)

set_option = click.option(
    "--set", "assignments", type=Assignment(), multiple=True, help="Sets a constant of the model; repeatable."
)
invariants_option = click.option(
    "--invariants", "files", type=Named(), multiple=True, metavar="FILE.py",
    help="Adds the properties in a file; repeatable.",
)
workers_option = click.option(
    "--workers", type=Whole(0, input_limits.MAX_WORKERS), default=0,
    help="The number of workers; one per core by default.",
)


def spec_paths(names: Sequence[str]) -> list[Path]:
    """The paths that the arguments stand for; ``alter_isr/core`` stands for ``specs/alter_isr/core.toml``, and
    ``kraft/sizes@one_voter`` for a row of ``specs/kraft/sizes.toml``."""
    return [spec_path(name) for name in names]


def spec_path(name: str) -> Path:
    """The path or the address of a row that one argument stands for: here, else in the project that comes with
    Floodmark. Raises SourceError if there is none."""
    from floodmark.checkers.project.properties import did_you_mean

    place = _place(name)
    file, sign, row = name.rpartition(spec_address.SIGN)
    if place is None and sign and file:
        path = _place(file)
        place = None if path is None or os.path.isdir(path) else spec_address.joined(path, row)
    if place is not None:
        return place
    have = _names(Path("specs"))
    if not have:
        advice = "; floodmark list shows those that come with Floodmark, floodmark init begins a project"
        raise SourceError(f"there is no spec or folder {input_limits.brief(name)} here{advice}")
    raise SourceError(f"there is no spec or folder {input_limits.brief(name)} here{did_you_mean(name, have)}")


def _place(name: str) -> Path | None:
    """What a name refers to: a path, a spec of this project or a shipped one."""
    path = named(name)
    folders = (Path("specs"), shipped_specs())
    places = (path, *(folder / each for folder in folders for each in (f"{name}.toml", name)))
    return next((place for place in places if os.path.lexists(place)), None)


def shipped_specs() -> Path:
    """The folder of the specs that come with Floodmark."""
    from floodmark.checkers.project.loading import SHIPPED

    return SHIPPED / "specs"


def _names(folder: Path) -> list[str]:
    """The names of the specs in a folder, and of files with rows."""
    from floodmark.checkers.project.spec import find

    names: list[str] = []
    for address in find([folder], "all") if os.path.isdir(folder) else []:
        file, row = spec_address.split(address)
        name = file.relative_to(folder).with_suffix("").as_posix()
        names += [name, spec_address.with_row(name, row)]
    return list(dict.fromkeys(names))
