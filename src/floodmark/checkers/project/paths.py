"""Paths in messages."""

from __future__ import annotations

import os
from pathlib import Path


def resolved(path: Path) -> Path:
    """The absolute path without links; one that leads round in a circle stays as it is, for its reader to refuse."""
    return Path(os.path.realpath(path))


def shown(path: Path) -> str:
    """A path as the user would write it: relative to the current directory if it is below it."""
    whole = resolved(path)
    here = Path.cwd()
    return whole.relative_to(here).as_posix() if whole.is_relative_to(here) else str(path)


def shown_line(file: str, line: int | None) -> str:
    """A line of a file as messages name it: ``model/lease.py:12``; without a line, the file."""
    return shown(Path(file)) + ("" if line is None else f":{line}")
