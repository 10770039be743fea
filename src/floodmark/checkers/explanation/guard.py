"""The guard that stopped a step: its location, its false part, and the reason."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import floodmark.language
from floodmark.checkers.explanation.predicate import why
from floodmark.checkers.value_text import show
from floodmark.language.errors import ActionDisabled
from floodmark.language.model import Model, State
from floodmark.language.reference import Step
from floodmark.language.source import conjuncts
from floodmark.language.values import running

_LANGUAGE = str(Path(floodmark.language.__file__ or "").parent)
_CHECKERS = str(Path(__file__).parent.parent)


@dataclass(frozen=True, slots=True)
class FalseGuard:
    """A false guard. ``text`` is its false part, with index ``part``; ``reasons`` explain it.

    ``file`` and ``line`` are those of the ``require``; None if code outside the model stopped the step.
    """

    text: str
    file: str | None = None
    line: int | None = None
    part: int = 0
    reasons: tuple[str, ...] = ()


def guard_against(model: Model, state: State, step: Step) -> FalseGuard:
    """The guard that stops a step that is disabled in ``state``; CPython takes the step to find it.

    Raises the exception of the step if no guard stops it.
    """
    method = type(model).methods("action")[step.action]
    model.load(state)
    with running(model):
        try:
            method(model, **step.arguments)
        except ActionDisabled as disabled:
            return false_guard(disabled.__traceback__)
    raise AssertionError(f"{step} is enabled")


def false_guard(traceback: TracebackType | None) -> FalseGuard:
    """The guard that raised a ``ActionDisabled`` with this traceback; its model must still be running."""
    frame, number = _guard_frame(traceback)
    if frame is None:
        return FalseGuard("")
    file = frame.f_code.co_filename
    whole = next((it for it in _guards(file) if it.lineno <= number <= (it.end_lineno or it.lineno)), None)
    if whole is None:
        return FalseGuard("its guard is false", file, number)
    for index, part in enumerate(conjuncts(whole.args[0])):
        try:
            if not _value(part, frame):
                text = f"{ast.unparse(part)}{_compared(part, frame)}"
                return FalseGuard(f"it requires {text}", file, number, index, _reasons(part, frame, f"false: {text}"))
        except Exception:
            break
    return FalseGuard(f"it requires {ast.unparse(whole.args[0])}", file, number)


def _guard_frame(traceback: TracebackType | None) -> tuple[FrameType | None, int]:
    """The innermost frame in the model's own code: the one that called ``require``."""
    found: tuple[FrameType | None, int] = (None, 0)
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith((_LANGUAGE, _CHECKERS)):
            found = (traceback.tb_frame, traceback.tb_lineno)
        traceback = traceback.tb_next
    return found


def _value(expression: ast.expr, frame: FrameType) -> Any:
    return eval(compile(ast.Expression(expression), "<guard>", "eval"), _names(frame))


def _names(frame: FrameType) -> dict[str, Any]:
    return {**frame.f_globals, **frame.f_locals}


def _reasons(part: ast.expr, frame: FrameType, text: str) -> tuple[str, ...]:
    """Why the part is false, without the line that only repeats that it is."""
    lines: Sequence[str] = why(part, False, _names(frame))
    return tuple(line for line in lines if line != text)


def _compared(part: ast.expr, frame: FrameType) -> str:
    if not isinstance(part, ast.Compare) or len(part.comparators) != 1:
        return ""
    operator = ast.unparse(ast.Compare(ast.Name("a"), part.ops, [ast.Name("b")]))[2:-2]
    return f", that is {show(_value(part.left, frame))} {operator} {show(_value(part.comparators[0], frame))}"


@cache
def _guards(file: str) -> list[ast.Call]:
    tree = ast.parse(Path(file).read_bytes())
    return [
        node for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "require" and node.args
    ]
