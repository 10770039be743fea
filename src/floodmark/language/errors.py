"""Errors in models, addressed to the model's author."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

_HERE = str(Path(__file__).parent)


class SourceError(Exception):
    """Something is wrong in a file that the user wrote: a model, a property, a spec.

    ``message`` says what is wrong and what to do; ``file`` and ``line`` (from 1) say where, or are None if not known.
    ``str(error)`` puts the three together: ``model/tank.py:12: message``.
    """

    def __init__(self, message: str, file: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.step: object = None
        """The step that failed, when an action did."""

    def __str__(self) -> str:
        if self.file is None:
            return self.message
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.message}"


class ModelError(SourceError):
    """A model, or a property of it, that cannot be read: an unsupported construct, a type that does not fit.

    Raised when the model or its spec is read, before anything is explored.
    """


class ValueOutOfRange(ModelError):  # noqa: N818 - named for what happened
    """A run of the model left its declared types: a value out of range, a full sequence, a missing key, a failed
    assert.

    A check reports it as a model error, with the trace that leads to it.
    """


class CapacityExceeded(ValueOutOfRange):
    """A container would have to hold more elements than its capacity."""


class ActionDisabled(Exception):  # noqa: N818 - it is no error: the action's guard is false here
    """Raised by ``require`` when its condition is false: the action is not enabled with these arguments.

    It is not an error: the action has no step from this state. A model neither raises nor catches it.
    """


def user_position(traceback: TracebackType | None) -> tuple[str | None, int | None]:
    """File and line of the innermost stack frame that is in the user's code, not in the modelling language."""
    file: str | None = None
    line: int | None = None
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        if not name.startswith(_HERE) and not name.startswith("<"):
            file, line = name, traceback.tb_lineno
        traceback = traceback.tb_next
    return file, line
