"""The ends of slices."""

from __future__ import annotations

from floodmark.compiler.ir import Choose, Const, Convert, Expr
from floodmark.language.types import WIDEST_INTEGER


def open_end(node: Expr) -> tuple[Expr, Expr] | None:
    """Of an end that may be None: when it is open, and where it is otherwise.

    The graph has an integer beyond any sequence for "open", which other languages have no room for.
    """
    if isinstance(node, Choose):
        beyond = node.then.operand if isinstance(node.then, Convert) else node.then
        if isinstance(beyond, Const) and beyond.value == WIDEST_INTEGER - 1:
            end = node.otherwise
            return node.condition, end.operand if isinstance(end, Convert) else end
    return None
