"""Conditions and comparisons, written otherwise."""

from __future__ import annotations

import ast
import copy
from typing import Any

from tools.rewriting.scene import ConditionRewriter, ExpressionRewriter, RewriteContext, is_truth, negated


def de_morgan(scene: RewriteContext) -> None:
    def change(node: ast.expr) -> ast.expr:
        match node:
            case ast.BoolOp(op=op, values=values):
                scene.changed += 1
                other = ast.Or() if isinstance(op, ast.And) else ast.And()
                return ast.UnaryOp(ast.Not(), ast.BoolOp(other, [negated(each) for each in values]))
        return node

    ConditionRewriter(change).visit(scene.tree)


def doubly_negated(scene: RewriteContext) -> None:
    def change(node: ast.expr) -> ast.expr:
        scene.changed += 1
        return ast.UnaryOp(ast.Not(), ast.UnaryOp(ast.Not(), node))

    ConditionRewriter(change).visit(scene.tree)


def conditional_operands(scene: RewriteContext) -> None:
    """``a and b`` as ``b if a else False``."""

    def change(node: ast.expr) -> ast.expr:
        match node:
            case ast.BoolOp(op=op, values=[first, *rest]) if all(is_truth(each) for each in node.values):
                scene.changed += 1
                other = change(ast.BoolOp(op, rest)) if len(rest) > 1 else rest[0]
                if isinstance(op, ast.And):
                    return ast.IfExp(first, other, ast.Constant(False))
                return ast.IfExp(first, ast.Constant(True), other)
        return node

    ConditionRewriter(change).visit(scene.tree)


def comparisons_turned(scene: RewriteContext) -> None:
    turned: dict[type[ast.cmpop], type[ast.cmpop]] = {
        ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE, ast.Eq: ast.Eq, ast.NotEq: ast.NotEq,
    }

    def change(node: ast.AST) -> ast.AST:
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in turned:
                scene.changed += 1
                return ast.Compare(right, [turned[type(op)]()], [left])
        return node

    ExpressionRewriter(change).visit(scene.tree)


def comparisons_negated(scene: RewriteContext) -> None:
    opposite: dict[type[ast.cmpop], type[ast.cmpop]] = {
        ast.NotEq: ast.Eq, ast.Eq: ast.NotEq, ast.NotIn: ast.In, ast.In: ast.NotIn, ast.Is: ast.IsNot,
        ast.IsNot: ast.Is,
    }

    def change(node: ast.AST) -> ast.AST:
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in opposite:
                scene.changed += 1
                return ast.UnaryOp(ast.Not(), ast.Compare(left, [opposite[type(op)]()], [right]))
        return node

    tree = scene.tree
    tree.body = [_KeepingDraws(change).visit(each) for each in tree.body]


class _KeepingDraws(ExpressionRewriter):
    """Leaves ``require(x in ...)`` alone, from which the values of a parameter may have to come."""

    def visit(self, node: ast.AST) -> Any:
        match node:
            case ast.Call(func=ast.Name(id="require")):
                return node
        return super().visit(node)


def chains_apart(scene: RewriteContext) -> None:
    def change(node: ast.AST) -> ast.AST:
        match node:
            case ast.Compare(left=left, ops=[_, _, *_] as ops, comparators=others):
                scene.changed += 1
                ends = [left, *others]
                pairs: list[ast.expr] = [ast.Compare(copy.deepcopy(a), [op], [copy.deepcopy(b)])
                                         for a, op, b in zip(ends, ops, others, strict=False)]
                return ast.BoolOp(ast.And(), pairs)
        return node

    ExpressionRewriter(change).visit(scene.tree)


def listed_values_apart(scene: RewriteContext) -> None:
    """``x in (a, b)`` as ``x == a or x == b``."""

    def change(node: ast.AST) -> ast.AST:
        match node:
            case ast.Compare(left=left, ops=[ast.In()], comparators=[ast.Tuple(elts=values)]) if values:
                scene.changed += 1
                return ast.BoolOp(ast.Or(), [ast.Compare(copy.deepcopy(left), [ast.Eq()], [each]) for each in values])
        return node

    ExpressionRewriter(change).visit(scene.tree)
