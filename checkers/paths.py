"""Paths in messages."""

from __future__ import annotations

from pathlib import Path


def shown(path: Path) -> str:
    """A path as the user would write it: relative to the current directory if it is below it."""
    resolved = path.resolve()
    here = Path.cwd()
    return resolved.relative_to(here).as_posix() if resolved.is_relative_to(here) else str(path)
