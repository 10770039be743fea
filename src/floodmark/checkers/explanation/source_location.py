"""Places in source files as reports name them: relative to the repository's root, so that they mean the same anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from floodmark.checkers.project.paths import resolved
from floodmark.language.errors import SourceError
from floodmark.language.model import Model
from floodmark.language.source import source_of


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A line of a file. ``file`` has slashes and is relative to ``root()`` if it is below, else absolute."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def root() -> Path:
    """The repository that the command runs in: the nearest folder upwards with .git, else the current one."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)


def source_location(file: str | Path, line: int | None) -> SourceLocation:
    """The place of a line; for a whole file, its first line."""
    path = resolved(Path(file))
    base = root()
    name = path.relative_to(base).as_posix() if path.is_relative_to(base) else path.as_posix()
    return SourceLocation(name, line or 1)


def action_location(model: Model, action: str) -> SourceLocation | None:
    """The definition of an action, or of the method that set the initial state; None if Python has no source for it."""
    cls = type(model)
    method = {**cls.methods("initial"), **cls.methods("action")}.get(action)
    try:
        if method is not None:
            source = source_of(method)
            return source_location(source.file, source.tree.lineno)
    except SourceError:
        return None
    file, line = cls.source_position()
    return None if file is None else source_location(file, line)
