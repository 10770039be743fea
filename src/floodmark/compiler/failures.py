"""The expressions whose evaluation can be a model error, or can end the action by a ``require``."""

from __future__ import annotations

from typing import assert_never

from floodmark.compiler import ir
from floodmark.compiler.joins import fits
from floodmark.language.types import IntType


def may_outgrow(node: ir.Expr) -> bool:
    """Whether the result of an integer operation may need more than 64 bits, judging by its operands' intervals.

    The remainder of a division never does: it lies between zero and the divisor.
    """
    match node:
        case ir.Arithmetic(op="+" | "-" | "*" | "//") | ir.Reduce(kind="sum"):
            return node.type == ir.INT
    return False


def can_fail(node: ir.Expr) -> bool:
    """Whether evaluating an expression can be a model error."""
    return any(may_outgrow(part) or fails_itself(ir.closed(part)) for part in ir.walk(node))


def fails_itself(node: ir.AnyExpr) -> bool:
    """Whether the node itself can be a model error, apart from its operands and from results of more than 64 bits."""
    match node:
        case ir.SeqGet() | ir.BagChange():
            return True
        case ir.Convert(type=kind, operand=operand):
            return not fits(operand.type, kind)
        case ir.Arithmetic(op="//" | "%", right=ir.Expr(type=IntType(low, high))):
            return low <= 0 <= high
        case ir.Arithmetic(op=op):
            return op in ("//", "%")
        case ir.Reduce(kind=kind):
            return kind == "map" or (kind in ("min", "max") and node.default is None)
        case ir.Inline(body=body) | ir.Applied(function=ir.SharedFunction(body=body)):
            return any(isinstance(statement, ir.Assert | ir.SetVariable) for statement in ir.flat(body))
        case (
            ir.Const() | ir.OpenConstant() | ir.Local() | ir.StateVar() | ir.Field() | ir.MapGet() | ir.SeqSlice()
            | ir.SeqConcat() | ir.SeqOf() | ir.RecordOf() | ir.SetOf() | ir.SetBinary() | ir.Subset() | ir.Contains()
            | ir.Size() | ir.Count() | ir.Compare() | ir.Equal() | ir.Not() | ir.And() | ir.Or() | ir.Implies()
            | ir.Choose() | ir.IsNone() | ir.Extremum() | ir.Sorted() | ir.Witness() | ir.Marked()
        ):
            return False
        case _:
            assert_never(node)


def may_refuse(node: ir.Expr) -> bool:
    """Whether evaluating an expression can end the action, by a ``require`` in a function that it calls."""
    return any(isinstance(statement, ir.Require) for body in ir.called_bodies(node) for statement in ir.flat(body))


def may_stop(node: ir.Expr) -> bool:
    """Whether evaluating an expression can end the action in either way, so that the evaluation cannot be omitted."""
    return can_fail(node) or may_refuse(node)
