"""Paths as people read them."""

from __future__ import annotations

from pathlib import Path


def shown(path: Path) -> str:
    """A path as the user would write it: relative to where the command runs, when it is below."""
    resolved = path.resolve()
    here = Path.cwd()
    return resolved.relative_to(here).as_posix() if resolved.is_relative_to(here) else str(path)
