"""Where in a model something stands, as the exported text says it."""

from __future__ import annotations

from pathlib import Path

from floodmark.compiler.ir import Position


def shown(at: Position) -> str:
    """A place in a source, from here when it is below."""
    path = Path(at.file)
    here = Path.cwd()
    return f"{path.relative_to(here) if path.is_relative_to(here) else path.name}:{at.line}"
