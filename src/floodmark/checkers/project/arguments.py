"""What the arguments of commands name: files and folders, and specs, which are paths, names of this project's specs or
of those that come with Floodmark.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from floodmark.checkers.project import input_file, input_limits, spec_address
from floodmark.language.errors import SourceError


class PathParameter(click.ParamType[Path]):
    """A file or a folder, whether or not it exists; its name is text, so that messages and reports can repeat it."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        try:
            return path_of_name(str(value))
        except SourceError as error:
            self.fail(str(error), param, ctx)


def path_of_name(name: str) -> Path:
    """The path that an argument names. Raises SourceError if it can name none."""
    if not name:
        raise SourceError("an empty name stands for no file or folder")
    input_file.require_plain_name(Path(name))
    return Path(name)


def spec_paths(names: Sequence[str]) -> list[Path]:
    """The paths that the arguments stand for; ``alter_isr/core`` stands for ``specs/alter_isr/core.toml``, and
    ``kraft/sizes@one_voter`` for a row of ``specs/kraft/sizes.toml``."""
    return [spec_path(name) for name in names]


def spec_path(name: str) -> Path:
    """The path or the address of a row that one argument stands for: here, else in the project that comes with
    Floodmark. Raises SourceError if there is none."""
    from floodmark.checkers.project.properties import did_you_mean

    place = _place(name)
    file, _, row = name.rpartition(spec_address.SIGN)
    if place is None and file:
        path = _place(file)
        place = None if path is None or os.path.isdir(path) else spec_address.join_address(path, row)
    if place is not None:
        return place
    have = names_in(Path("specs"))
    if not have:
        advice = "; floodmark list shows those that come with Floodmark, floodmark init begins a project"
        raise SourceError(f"there is no spec or folder {input_limits.brief(name)} here{advice}")
    raise SourceError(f"there is no spec or folder {input_limits.brief(name)} here{did_you_mean(name, have)}")


def _place(name: str) -> Path | None:
    """The path that a name refers to: a path, a spec of this project or a shipped one; None if there is none."""
    path = path_of_name(name)
    folders = (Path("specs"), shipped_specs())
    places = (path, *(folder / each for folder in folders for each in (f"{name}.toml", name)))
    return next((place for place in places if os.path.lexists(place)), None)


def shipped_specs() -> Path:
    """The folder of the specs that come with Floodmark."""
    from floodmark.checkers.project.loading import SHIPPED

    return SHIPPED / "specs"


def names_in(folder: Path) -> list[str]:
    """The names of the specs in a folder, and of files with rows."""
    from floodmark.checkers.project.spec import find

    names: list[str] = []
    for address in find([folder], "all") if os.path.isdir(folder) else []:
        file, row = spec_address.split_address(address)
        name = file.relative_to(folder).with_suffix("").as_posix()
        names += [name, spec_address.with_row(name, row)]
    return list(dict.fromkeys(names))
