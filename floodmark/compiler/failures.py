"""Which expressions can be a model error when they are evaluated."""

from __future__ import annotations

from floodmark.compiler.ir import (
    INT,
    Applied,
    Arithmetic,
    Assert,
    BagChange,
    Convert,
    Do,
    Expr,
    For,
    Function,
    If,
    Inline,
    Reduce,
    SeqGet,
    Stmt,
    Store,
    walk,
)
from floodmark.compiler.joins import fits


def may_outgrow(node: Expr) -> bool:
    """Whether the result of an integer operation may need more than 64 bits, judging by its operands' intervals.

    The remainder of a division never does: it lies between zero and the divisor.
    """
    match node:
        case Arithmetic(op="+" | "-" | "*" | "//") | Reduce(kind="sum"):
            return node.type == INT
    return False


def can_fail(node: Expr) -> bool:
    """Whether evaluating an expression can be a model error."""
    for part in walk(node):
        if may_outgrow(part):
            return True
        match part:
            case SeqGet() | BagChange():
                return True
            case Convert(type=kind, operand=operand) if not fits(operand.type, kind):
                return True
            case Arithmetic(op="//" | "%"):
                return True
            case Reduce(kind="min" | "max", default=None) | Reduce(kind="map"):
                return True
            case Inline(body=body) | Applied(function=Function(body=body)) if _may_stop(body):
                return True
    return False


def _may_stop(body: list[Stmt]) -> bool:
    """Whether statements contain an assert, or an assignment that may not fit."""
    for statement in body:
        match statement:
            case Assert() | Store():
                return True
            case If(then=then, otherwise=otherwise):
                if _may_stop(then) or _may_stop(otherwise):
                    return True
            case For(body=inner) | Do(call=Inline(body=inner)):
                if _may_stop(inner):
                    return True
            case Do(call=Applied() as call) if can_fail(call):
                return True
    return False
