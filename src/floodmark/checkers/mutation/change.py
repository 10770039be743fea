"""The small changes of a function's syntax tree: one place, one kind and one line of difference each."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from floodmark.language.source import conjuncts

MutationKind = Literal["guard", "comparison", "assignment", "operation", "branch", "condition", "call", "fold"]
"""The kind of a change: drop or negate a ``require`` or a part of one; change a comparison; drop an assignment; change
a set operation or a sum; force the test of a branch; drop a part of a condition; drop a call, such as ``add`` or
``discard``; replace ``any`` by ``all`` or ``min`` by ``max``, and vice versa."""

DROPPED = "(dropped)"

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_OPPOSITE = (ast.Eq, ast.NotEq, ast.In, ast.NotIn, ast.Is, ast.IsNot)
"""Comparisons that are changed to their negation."""
_OPERATIONS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.BitOr: (ast.BitAnd,),
    ast.BitAnd: (ast.BitOr,),
    ast.Sub: (ast.BitOr, ast.Add),  # for sets or for integers; the language refuses the wrong one
    ast.Add: (ast.Sub,),
}
_FOLDS = {"any": "all", "all": "any", "min": "max", "max": "min"}


@dataclass(frozen=True, slots=True)
class SourceChange:
    """One change of a function: ``tree`` is the changed function; ``was`` and ``now`` are the part that differs.

    ``line`` and ``column`` are those of the part in the original syntax tree.
    """

    kind: MutationKind
    line: int
    column: int
    was: str
    now: str
    tree: ast.FunctionDef


def changes(tree: ast.FunctionDef) -> list[SourceChange]:
    """Every small change of a function, in the order of its source. Its docstring and its parameters stay."""
    found: list[SourceChange] = []
    for statement in tree.body:
        for kind, at, old, new, was, now in _within(statement):
            changed = ast.fix_missing_locations(_swapped(tree, old, ast.copy_location(new, old)))
            found.append(SourceChange(kind, at.lineno, at.col_offset, was, now, changed))
    return sorted(found, key=lambda change: (change.line, change.column))


_Swap = tuple[MutationKind, Any, Any, Any, str, str]
"""The kind, the changed part, the node that is removed, the node that replaces it, and both as text."""


def _within(statement: ast.stmt) -> Iterator[_Swap]:
    guards: set[int] = set()
    for node in ast.walk(statement):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Name(id="require"), args=[condition], keywords=[]) as call):
                parts = conjuncts(condition)
                guards |= {id(each) for each in ast.walk(condition) if _joins(each)} if len(parts) > 1 else set()
                yield from _guard(node, call, parts)
            case ast.Expr(value=ast.Call()) | ast.Assign() | ast.AugAssign() | ast.AnnAssign():
                kind: MutationKind = "call" if isinstance(node, ast.Expr) else "assignment"
                yield kind, node, node, ast.Pass(), ast.unparse(node), DROPPED
                if isinstance(node, ast.AugAssign):
                    yield from _operation(node)
            case ast.BinOp():
                yield from _operation(node)
            case ast.Compare():
                yield from _comparison(node)
            case ast.If(test=test) | ast.IfExp(test=test):
                for value in (True, False):
                    yield "branch", test, test, ast.Constant(value), f"if {ast.unparse(test)}", f"if {value}"
            case ast.BoolOp() if id(node) not in guards:
                yield from _condition(node)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield "condition", node, node, operand, ast.unparse(node), ast.unparse(operand)
            case ast.comprehension(ifs=conditions):
                for test in conditions:
                    yield "condition", test, test, ast.Constant(True), f"if {ast.unparse(test)}", DROPPED
            case ast.Call(func=ast.Name(id=name)) if name in _FOLDS:
                swapped = ast.Call(ast.Name(_FOLDS[name], ast.Load()), node.args, node.keywords)
                yield "fold", node, node, swapped, ast.unparse(node), ast.unparse(swapped)


def _joins(node: ast.AST) -> bool:
    return isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And)


def _guard(statement: ast.Expr, call: ast.Call, parts: list[ast.expr]) -> Iterator[_Swap]:
    if len(parts) > 1:
        yield "guard", statement, statement, ast.Pass(), ast.unparse(statement), DROPPED
    for index, part in enumerate(parts):
        rest = [*parts[:index], *parts[index + 1 :]]
        kept = _required(call, rest) if rest else ast.Pass()
        yield "guard", part, statement, kept, f"require({ast.unparse(part)})", DROPPED
        if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not):
            continue  # changed as a condition
        if not (isinstance(part, ast.Compare) and len(part.ops) == 1 and isinstance(part.ops[0], _OPPOSITE)):
            negated = ast.UnaryOp(ast.Not(), part)
            turned = _required(call, [*parts[:index], negated, *parts[index + 1 :]])
            yield "guard", part, statement, turned, f"require({ast.unparse(part)})", f"require({ast.unparse(negated)})"


def _required(call: ast.Call, parts: list[ast.expr]) -> ast.Expr:
    condition = parts[0] if len(parts) == 1 else ast.BoolOp(ast.And(), parts)
    return ast.Expr(ast.Call(call.func, [condition], []))


def _comparison(node: ast.Compare) -> Iterator[_Swap]:
    for index, op in enumerate(node.ops):
        ops = [*node.ops[:index], _COMPARISONS[type(op)](), *node.ops[index + 1 :]]
        changed = ast.Compare(node.left, ops, node.comparators)
        yield "comparison", node, node, changed, ast.unparse(node), ast.unparse(changed)


def _operation(node: ast.BinOp | ast.AugAssign) -> Iterator[_Swap]:
    for op in _OPERATIONS.get(type(node.op), ()):
        changed = (
            ast.BinOp(node.left, op(), node.right)
            if isinstance(node, ast.BinOp)
            else ast.AugAssign(node.target, op(), node.value)
        )
        yield "operation", node, node, changed, ast.unparse(node), ast.unparse(changed)


def _condition(node: ast.BoolOp) -> Iterator[_Swap]:
    for index in range(len(node.values)):
        rest = [*node.values[:index], *node.values[index + 1 :]]
        changed = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
        yield "condition", node, node, changed, ast.unparse(node), ast.unparse(changed)


def _swapped(node: Any, old: ast.AST, new: ast.AST) -> Any:
    """A copy of a syntax tree with one node replaced; the original is left as it is."""
    if node is old:
        return new
    if isinstance(node, list):
        return [_swapped(item, old, new) for item in node]
    if isinstance(node, ast.AST):
        copied = type(node)(**{name: _swapped(value, old, new) for name, value in ast.iter_fields(node)})
        return ast.copy_location(copied, node)
    return node
