"""The expressions whose evaluation can be a model error, or can end the action by a ``require``."""

from __future__ import annotations

from typing import assert_never

from floodmark.compiler.ir import (
    INT,
    And,
    AnyExpr,
    Applied,
    Arithmetic,
    Assert,
    BagChange,
    Choose,
    Compare,
    Const,
    Contains,
    Convert,
    Count,
    Equal,
    Expr,
    Extremum,
    Field,
    Implies,
    Inline,
    IsNone,
    Local,
    MapGet,
    Marked,
    Not,
    OpenConstant,
    Or,
    RecordOf,
    Reduce,
    Require,
    SeqConcat,
    SeqGet,
    SeqOf,
    SeqSlice,
    SetBinary,
    SetOf,
    SetVariable,
    SharedFunction,
    Size,
    Sorted,
    StateVar,
    Subset,
    Witness,
    called_bodies,
    closed,
    flat,
    walk,
)
from floodmark.compiler.joins import fits
from floodmark.language.types import IntType


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
    return any(may_outgrow(part) or fails_itself(closed(part)) for part in walk(node))


def fails_itself(node: AnyExpr) -> bool:
    """Whether the node itself can be a model error, apart from its operands and from results of more than 64 bits."""
    match node:
        case SeqGet() | BagChange():
            return True
        case Convert(type=kind, operand=operand):
            return not fits(operand.type, kind)
        case Arithmetic(op="//" | "%", right=Expr(type=IntType(low, high))):
            return low <= 0 <= high
        case Arithmetic(op=op):
            return op in ("//", "%")
        case Reduce(kind=kind):
            return kind == "map" or (kind in ("min", "max") and node.default is None)
        case Inline(body=body) | Applied(function=SharedFunction(body=body)):
            return any(isinstance(statement, Assert | SetVariable) for statement in flat(body))
        case (
            Const() | OpenConstant() | Local() | StateVar() | Field() | MapGet() | SeqSlice() | SeqConcat() | SeqOf()
            | RecordOf() | SetOf() | SetBinary() | Subset() | Contains() | Size() | Count() | Compare() | Equal()
            | Not() | And() | Or() | Implies() | Choose() | IsNone() | Extremum() | Sorted() | Witness()
            | Marked()
        ):
            return False
        case _:
            assert_never(node)


def may_refuse(node: Expr) -> bool:
    """Whether evaluating an expression can end the action, by a ``require`` in a function that it calls."""
    return any(isinstance(statement, Require) for body in called_bodies(node) for statement in flat(body))


def may_stop(node: Expr) -> bool:
    """Whether evaluating an expression can end the action in either way, so that the evaluation cannot be omitted."""
    return can_fail(node) or may_refuse(node)
