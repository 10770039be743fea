"""Facts about the expression graph that both exports need, and the refusal of what a language lacks."""

from __future__ import annotations

from floodmark.compiler import ir
from floodmark.language.errors import ModelError
from floodmark.language.types import INTEGER_LIMIT


class CannotExportError(ModelError):
    """The target language has nothing with the same meaning."""


def refuse(reason: str, at: ir.Position | None = None) -> CannotExportError:
    """The error for a construct that cannot be exported, with its position and the reason."""
    return CannotExportError(f"this cannot be exported: {reason}", *((at.file, at.line) if at is not None else ()))


def assigned(body: list[ir.Stmt]) -> list[ir.Local]:
    """The local variables that statements assign, without those of calls."""
    return [statement.target for statement in ir.flat(body) if isinstance(statement, ir.SetLocal)]


def results(body: list[ir.Stmt]) -> list[ir.Local]:
    """The variables in which returns store the result of the call that contains these statements."""
    returned = (statement.into for statement in ir.flat(body) if isinstance(statement, ir.Return))
    return [into for into in returned if into is not None]


def stores(body: list[ir.Stmt]) -> set[str]:
    """The state variables that statements assign, including in calls inside expressions."""
    found: set[str] = set()
    for statement in body:
        if isinstance(statement, ir.SetVariable):
            found.add(statement.variable)
        for name in statement.__slots__:
            found |= _stores_in(getattr(statement, name))
    return found


def _stores_in(value: object) -> set[str]:
    found: set[str] = set()
    match value:
        case list():
            for item in value:
                found |= stores([item]) if isinstance(item, ir.Stmt) else _stores_in(item)
        case ir.Expr():
            for part in ir.walk(value):
                if isinstance(part, ir.Inline):
                    found |= stores(part.body)
    return found


def open_end(node: ir.Expr) -> tuple[ir.Expr, ir.Expr] | None:
    """The condition that an optional end of a slice is None, and its value otherwise; None for other ends.

    The graph represents an open end by an integer beyond any sequence, which does not fit the integers of other
    languages.
    """
    if isinstance(node, ir.Choose):
        beyond = node.then.operand if isinstance(node.then, ir.Convert) else node.then
        if isinstance(beyond, ir.Const) and beyond.value == INTEGER_LIMIT - 1:
            end = node.otherwise
            return node.condition, end.operand if isinstance(end, ir.Convert) else end
    return None
