"""The kind of a command's arguments and options that name files and folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from floodmark.checkers.project import input_file
from floodmark.language.errors import SourceError


class PathParameter(click.ParamType[Path]):
    """A file or a folder, whether or not it exists; its name is text, so that messages and reports can repeat it."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        try:
            return named(str(value))
        except SourceError as error:
            self.fail(str(error), param, ctx)


def named(name: str) -> Path:
    """The path that an argument names. Raises SourceError if it can name none."""
    if not name:
        raise SourceError("an empty name stands for no file or folder")
    input_file.require_plain_name(Path(name))
    return Path(name)
