"""Parameters that several commands share: kinds of values, options, and paths of specs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from floodmark.language.errors import SourceError


class Memory(click.ParamType[int]):
    """An amount of memory such as 8G, in bytes."""

    name = "SIZE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from floodmark.checkers.spec import parse_memory

        try:
            return parse_memory(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Assignment(click.ParamType[tuple[str, int]]):
    """A constant of a model with its value."""

    name = "NAME=VALUE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        if isinstance(value, tuple):
            return value
        name, _, text = str(value).partition("=")
        if text in ("true", "false"):
            return name.strip(), text == "true"
        try:
            return name.strip(), int(text)
        except ValueError:
            self.fail(f"{value!r} is not NAME=VALUE with a whole number, true or false", param, ctx)


set_option = click.option(
    "--set", "assignments", type=Assignment(), multiple=True, help="Sets a constant of the model; may be repeated."
)
invariants_option = click.option(
    "--invariants", "files", type=click.Path(path_type=Path), multiple=True, metavar="FILE.py",
    help="Adds the properties in a file; may be repeated.",
)
workers_option = click.option(
    "--workers", type=click.IntRange(0), default=0, help="Number of workers; 0 means one per core."
)


def spec_paths(names: Sequence[str]) -> list[Path]:
    """The paths that the arguments stand for; ``alter_isr/core`` stands for ``specs/alter_isr/core.toml``."""
    return [spec_path(name) for name in names]


def spec_path(name: str) -> Path:
    """The path that one argument stands for. Raises SourceError if there is none."""
    from floodmark.checkers.properties import did_you_mean

    path = Path(name)
    for candidate in (path, Path("specs") / f"{name}.toml", Path("specs") / name):
        if candidate.exists():
            return candidate
    have = [spec.relative_to("specs").with_suffix("").as_posix() for spec in sorted(Path("specs").rglob("*.toml"))]
    raise SourceError(f"there is no spec or folder {name!r} here{did_you_mean(name, have)}")


def must_be_writable(path: Path | None, inputs: Sequence[Path]) -> None:
    """Refuses a file for results that cannot be written or is an input."""
    from floodmark.checkers.report import atomic_file

    if path is not None:
        atomic_file.must_be_writable(path, inputs)
