"""What cannot be exported, and why."""

from __future__ import annotations

from floodmark.compiler.ir import Position
from floodmark.language.errors import ModelError


class CannotExportError(ModelError):
    """The language of the export has nothing that means the same."""


def refuse(reason: str, at: Position | None = None) -> CannotExportError:
    """The error that says what cannot be exported, where it stands, and why."""
    return CannotExportError(f"this cannot be exported: {reason}", *((at.file, at.line) if at is not None else ()))
