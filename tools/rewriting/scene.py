"""A function that is rewritten, and what Python's syntax tree says of it. Nothing here uses Floodmark's compiler."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, TypeVar

N = TypeVar("N", bound=ast.AST)
Block = list[ast.stmt]


@dataclass
class RewriteContext:
    """A function, what a rewrite may know of it, and the functions that a rewrite adds."""

    function: FunctionType
    tree: ast.FunctionDef
    similar: Mapping[str, Sequence[str]]
    called: Callable[[ast.Call], tuple[FunctionType, ast.FunctionDef] | None]
    members: Callable[[str], Sequence[ast.expr] | None]
    helpers: list[str] = field(default_factory=list)
    changed: int = 0

    @property
    def me(self) -> str:
        """The name of the model in the function."""
        return self.tree.args.args[0].arg if self.tree.args.args else ""

    @property
    def parameters(self) -> list[str]:
        return [each.arg for each in self.tree.args.args]

    def locals(self) -> set[str]:
        """Every name that the function, or a comprehension in it, binds."""
        return {*self.parameters, *bound(self.tree)}

    def fresh(self, stem: str) -> str:
        """A name that nothing else has."""
        taken = {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)} | set(self.parameters)
        number = self.changed = self.changed + 1
        while (name := f"{stem}_{number}") in taken or name in self.function.__globals__:
            number += 1
        return name

    def outlined(self, stem: str, body: Block, names: Sequence[str]) -> ast.Call:
        """The call of a new function of the module with this body, which is given these local names."""
        name = f"{self.fresh(stem)}_of_{self.tree.name}"
        arguments = ast.arguments([], [ast.arg(each) for each in names], None, [], [], None, [])
        made = ast.FunctionDef(name, arguments, copy.deepcopy(body), [])
        self.helpers.append(ast.unparse(ast.fix_missing_locations(made)))
        return ast.Call(ast.Name(name, ast.Load()), [ast.Name(each, ast.Load()) for each in names], [])


def bound(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def read(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}


def contains(node: ast.AST | Sequence[ast.AST], *kinds: type[ast.AST]) -> bool:
    nodes = node if isinstance(node, Sequence) else [node]
    return any(isinstance(each, kinds) for one in nodes for each in ast.walk(one))


def leaves(block: Sequence[ast.stmt]) -> bool:
    """Whether control never reaches the end of a block, as far as its last statement tells."""
    match block[-1]:
        case ast.Return() | ast.Break() | ast.Continue():
            return True
        case ast.If(body=body, orelse=orelse):
            return bool(orelse) and leaves(body) and leaves(orelse)
    return False


def is_docstring(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
    return False


def required(condition: ast.expr) -> ast.Expr:
    return ast.Expr(ast.Call(ast.Name("require", ast.Load()), [condition], []))


def name_of(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def assigned(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def negated(condition: ast.expr) -> ast.expr:
    match condition:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
    return ast.UnaryOp(ast.Not(), condition)


SCOPES = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp, ast.Lambda)


class ConditionRewriter(ast.NodeTransformer):
    """Changes conditions: whatever stands where only its truth counts."""

    def __init__(self, change: Callable[[ast.expr], ast.expr]) -> None:
        self.change = change

    def condition(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.BoolOp():
                node.values = [self.condition(each) for each in node.values]
            case ast.UnaryOp(op=ast.Not()):
                node.operand = self.condition(node.operand)
            case _:
                self.generic_visit(node)
        return self.change(node)

    def visit_If(self, node: ast.If) -> ast.If:
        node.test = self.condition(node.test)
        node.body = [self.visit(each) for each in node.body]
        node.orelse = [self.visit(each) for each in node.orelse]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.IfExp:
        node.test, node.body = self.condition(node.test), self.visit(node.body)
        node.orelse = self.visit(node.orelse)
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        match node:
            case ast.Call(func=ast.Name(id="require"), args=[condition], keywords=[]):
                node.args = [self.condition(condition)]
            case ast.Call(func=ast.Name(id="any" | "all"), args=[ast.GeneratorExp() as loop], keywords=[]):
                for generator in loop.generators:
                    self.visit(generator)
                loop.elt = self.condition(loop.elt)
            case _:
                self.generic_visit(node)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        node.iter = self.visit(node.iter)
        node.ifs = [self.condition(each) for each in node.ifs]
        return node


class ExpressionRewriter(ast.NodeTransformer):
    """Changes expressions from the inside out."""

    def __init__(self, change: Callable[[Any], Any]) -> None:
        self.change = change

    def visit(self, node: ast.AST) -> Any:
        return self.change(self.generic_visit(node))


def each_block(scene: RewriteContext, change: Callable[[Block], Block]) -> None:
    """Changes every block of statements from the inside out; the function's own without its docstring."""

    def within(block: Block) -> Block:
        for statement in block:
            for name in ("body", "orelse"):
                inner = getattr(statement, name, None)
                if isinstance(inner, list) and inner:
                    setattr(statement, name, within(inner))
        return change(block) or [ast.Pass()]

    body = scene.tree.body
    start = 1 if is_docstring(body[0]) else 0
    scene.tree.body = [*body[:start], *within(body[start:] or [ast.Pass()])]


def each_statement(scene: RewriteContext, change: Callable[[ast.stmt], Block | None]) -> None:
    """Replaces statements by others."""

    def within(block: Block) -> Block:
        found: Block = []
        for statement in block:
            made = change(statement)
            scene.changed += made is not None
            found += [statement] if made is None else made
        return found

    each_block(scene, within)


def is_truth(node: ast.expr) -> bool:
    """Whether an expression surely is True or False."""
    match node:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.Constant(value=bool()):
            return True
        case ast.BoolOp(values=values):
            return all(is_truth(each) for each in values)
        case ast.Call(func=ast.Name(id="any" | "all" | "isinstance")):
            return True
        case ast.IfExp(body=body, orelse=orelse):
            return is_truth(body) and is_truth(orelse)
    return False


def bound_outside(tree: ast.AST) -> set[str]:
    """The names that statements bind; those of comprehensions are their own."""
    found: set[str] = set()

    def look(node: ast.AST) -> None:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        if not isinstance(node, SCOPES):
            for child in ast.iter_child_nodes(node):
                look(child)

    look(tree)
    return found


def first_value(statement: ast.stmt) -> tuple[ast.expr, Callable[[ast.expr], ast.stmt]] | None:
    """The expression that a statement evaluates first, and a function that replaces it."""
    match statement:
        case ast.Assign(targets=targets, value=value):
            return value, lambda other: ast.Assign(targets, other)
        case ast.Return(value=ast.expr() as value):
            return value, lambda other: ast.Return(other)
        case ast.If(test=value):
            return value, lambda other: ast.If(other, statement.body, statement.orelse)
        case ast.Expr(value=ast.Call(func=ast.Name(id="require"), args=[value], keywords=[])):
            return value, lambda other: required(other)
        case ast.For(iter=value):
            return value, lambda other: ast.For(statement.target, other, statement.body, statement.orelse)
    return None


def rename(node: ast.AST, old: str, new: str) -> None:
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and each.id == old:
            each.id = new
