"""The error for what cannot be exported."""

from __future__ import annotations

from floodmark.compiler.ir import Position
from floodmark.language.errors import ModelError


class CannotExportError(ModelError):
    """The target language has nothing with the same meaning."""


def refuse(reason: str, at: Position | None = None) -> CannotExportError:
    """The error for a construct that cannot be exported, with its position and the reason."""
    return CannotExportError(f"this cannot be exported: {reason}", *((at.file, at.line) if at is not None else ()))
