"""Places in a model's source, as the exported text names them."""

from __future__ import annotations

from pathlib import Path

from floodmark.compiler.ir import Position


def shown(at: Position) -> str:
    """A place in a source file, with a relative path if it is below the current folder."""
    path = Path(at.file)
    here = Path.cwd()
    return f"{path.relative_to(here) if path.is_relative_to(here) else path.name}:{at.line}"
