"""Parameters that several commands share: kinds of values, options, and paths of specs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from floodmark.checkers.project import input_limits
from floodmark.checkers.project.arguments import PathParameter, names_in, shipped_specs
from floodmark.checkers.verdict.result import ExitCode


class _Amount(click.ParamType[Any]):
    """A number in its limits."""

    def of(self, text: str) -> Any:
        """The number in a text. Raises ValueError with the reason if there is none."""
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
    """A factor by which a number of states is multiplied."""

    name = "TIMES"

    def of(self, text: str) -> float:
        return input_limits.factor(_number(text))


class WholeNumber(_Amount):
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
        names = names_in(Path("specs")) if os.path.isdir("specs") else names_in(shipped_specs())
        found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
        return [*found, CompletionItem(incomplete, type="file")]


Count = WholeNumber(0, input_limits.MAX_COUNT)
Positive = WholeNumber(1, input_limits.MAX_COUNT)

set_option = click.option(
    "--set", "assignments", type=Assignment(), multiple=True, help="Sets a constant of the model; repeatable."
)
invariants_option = click.option(
    "--invariants", "files", type=PathParameter(), multiple=True, metavar="FILE.py",
    help="Adds the properties in a file; repeatable.",
)
workers_option = click.option(
    "--workers", type=WholeNumber(0, input_limits.MAX_WORKERS), default=0,
    help="The number of workers; one per core by default.",
)
coverage_option = click.option(
    "--coverage", is_flag=True,
    help="Counts which lines and branches were taken.",
)


def echo_all(lines: Iterable[str | ExitCode]) -> int:
    """Prints the lines of a command as they come, and returns the exit code that comes with them."""
    code = 0
    for line in lines:
        if isinstance(line, str):
            click.echo(line)
        else:
            code = int(line)
    return code
