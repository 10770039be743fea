"""Slices: recognises ends that are left out."""

from __future__ import annotations

from floodmark.compiler.ir import Choose, Const, Convert, Expr
from floodmark.language.types import INTEGER_LIMIT


def open_end(node: Expr) -> tuple[Expr, Expr] | None:
    """The condition that an optional end of a slice is None, and its value otherwise; None for other ends.

    The graph represents an open end by an integer beyond any sequence, which does not fit the integers of other
    languages.
    """
    if isinstance(node, Choose):
        beyond = node.then.operand if isinstance(node.then, Convert) else node.then
        if isinstance(beyond, Const) and beyond.value == INTEGER_LIMIT - 1:
            end = node.otherwise
            return node.condition, end.operand if isinstance(end, Convert) else end
    return None
