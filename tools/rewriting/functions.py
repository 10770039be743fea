"""Moves parts of a function into a function that it calls; and replaces calls by the bodies of the called functions."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Sequence
from types import FunctionType

from tools.rewriting.scene import (
    Block,
    ExpressionRewriter,
    RewriteContext,
    bound,
    bound_outside,
    contains,
    each_statement,
    is_docstring,
    read,
    rename,
    required,
)


def guards_in_helpers(scene: RewriteContext) -> None:
    """``require(c)`` in a function that the action calls."""

    def change(statement: ast.stmt) -> Block | None:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name(id="require"), args=[condition], keywords=[])) if (
                names := _given(scene, [condition])
            ) is not None:
                return [ast.Expr(scene.outlined("requires", [required(condition)], names))]
        return None

    each_statement(scene, change)


def conditions_in_helpers(scene: RewriteContext) -> None:
    """Conditions, and what is returned, as functions that return them."""

    def outlined(value: ast.expr) -> ast.expr | None:
        names = _given(scene, [value])
        if names is None or not contains(value, ast.Compare, ast.BoolOp, ast.Call, ast.IfExp):
            return None
        return scene.outlined("says", [ast.Return(value)], names)

    def change(statement: ast.stmt) -> Block | None:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name(id="require"), args=[value], keywords=[])):
                made = outlined(value)
                return None if made is None else [required(made)]
            case ast.If(test=value):
                made = outlined(value)
                return None if made is None else [ast.If(made, statement.body, statement.orelse)]
            case ast.Return(value=ast.expr() as value):
                made = outlined(value)
                return None if made is None else [ast.Return(made)]
        return None

    each_statement(scene, change)


def guarded_conditions(scene: RewriteContext) -> None:
    """``require(c)`` as a function that requires ``c`` and returns True, required."""

    def change(statement: ast.stmt) -> Block | None:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name(id="require"), args=[condition], keywords=[])) if (
                names := _given(scene, [condition])
            ) is not None:
                body: Block = [required(condition), ast.Return(ast.Constant(True))]
                return [required(scene.outlined("passes", body, names))]
        return None

    each_statement(scene, change)


def _given(scene: RewriteContext, nodes: Sequence[ast.AST]) -> list[str] | None:
    """The local names, the model first, that a new function for some nodes has to be given; None where it cannot be
    one function."""
    if any(contains(node, ast.Return, ast.Lambda) for node in nodes) or any("super" in read(node) for node in nodes):
        return None
    inner: set[str] = set()
    for node in nodes:
        for each in ast.walk(node):
            if isinstance(each, ast.comprehension):
                inner |= bound(each.target)
    names = [name for name in (*scene.parameters, *sorted(scene.locals() - set(scene.parameters)))
             if any(name in read(node) for node in nodes) and (name not in inner or name in scene.parameters)]
    if inner & (bound_outside(scene.tree) | set(scene.parameters)):
        return None
    return names


def rest_outlined(scene: RewriteContext) -> None:
    """Moves the statements after the first one into a function of their own."""
    body = [each for each in scene.tree.body if not is_docstring(each)]
    for start in range(min(1, len(body) - 1), len(body)):
        rest = body[start:]
        before = {name for statement in body[:start] for name in bound_outside(statement)} | set(scene.parameters)
        if any("super" in read(each) for each in rest):
            return
        names = [name for name in (*scene.parameters, *sorted(before - set(scene.parameters)))
                 if any(name in read(each) for each in rest)]
        sure = {name for each in body[:start] for name in _surely(each)} | set(scene.parameters)
        if not set(names) <= sure:
            continue
        returns = any(isinstance(each, ast.Return) and each.value is not None for one in rest for each in ast.walk(one))
        call = scene.outlined("does", rest, names)
        scene.tree.body = [*scene.tree.body[: len(scene.tree.body) - len(rest)],
                           ast.Return(call) if returns else ast.Expr(call)]
        return


def _surely(statement: ast.stmt) -> set[str]:
    return bound(statement) if isinstance(statement, ast.Assign | ast.AnnAssign) else set()


def branches_outlined(scene: RewriteContext) -> None:
    """Moves the statements under a condition into a function of their own."""
    before: dict[int, set[str]] = {}

    def note(block: Block, known: set[str]) -> set[str]:
        for statement in block:
            before[id(statement)] = set(known)
            match statement:
                case ast.If(body=body, orelse=orelse):
                    both = [note(body, set(known)), note(orelse, set(known))]
                    known |= both[0] & both[1]
                case ast.For(target=target, body=body):
                    note(body, known | bound(target))
                case _:
                    known |= _surely(statement)
        return known

    note(scene.tree.body, set(scene.parameters))

    def change(statement: ast.stmt) -> Block | None:
        match statement:
            case ast.If(body=body) if not contains(body, ast.Return, ast.Break, ast.Continue) and not any(
                "super" in read(each) for each in body
            ):
                mine = {name for each in body for name in bound_outside(each)}
                inside = {id(node) for each in body for node in ast.walk(each)}
                later = {node.id for node in ast.walk(scene.tree)
                         if isinstance(node, ast.Name) and id(node) not in inside and isinstance(node.ctx, ast.Load)}
                names = [name for name in sorted(before.get(id(statement), set()))
                         if any(name in read(each) for each in body)]
                order = [*(each for each in scene.parameters if each in names),
                         *(each for each in names if each not in scene.parameters)]
                unknown = {name for each in body for name in read(each)} & scene.locals() - set(order) - mine
                inner = {name for each in body for node in ast.walk(each) if isinstance(node, ast.comprehension)
                         for name in bound(node.target)}
                if mine & later or unknown - inner:
                    return None
                statement.body = [ast.Expr(scene.outlined("then", body, order))]
                return [statement]
        return None

    each_statement(scene, change)


def helpers_inlined(scene: RewriteContext) -> None:
    """Calls of functions that only return an expression, and of those that only do something, where they are called."""

    def expression(node: ast.AST) -> ast.AST:
        match node:
            case ast.Call():
                made = _inlined_value(scene, node)
                if made is not None:
                    scene.changed += 1
                    return made
        return node

    def statement(each: ast.stmt) -> Block | None:
        match each:
            case ast.Expr(value=ast.Call() as call):
                return _inlined_block(scene, call)
        return None

    each_statement(scene, statement)
    scene.tree.body = [ExpressionRewriter(expression).visit(each) for each in scene.tree.body]


def _arguments(
    scene: RewriteContext, call: ast.Call, callee: FunctionType, tree: ast.FunctionDef
) -> dict[str, ast.expr] | None:
    """The arguments of a call by parameter; None if one of them cannot be substituted."""
    names = [each.arg for each in tree.args.args]
    if tree.args.vararg or tree.args.kwarg or tree.args.kwonlyargs or tree.args.posonlyargs:
        return None
    given: dict[str, ast.expr] = {}
    positional = list(call.args)
    match call.func:
        case ast.Attribute(value=ast.Name() as model):
            positional = [model, *positional]
    if len(positional) > len(names):
        return None
    given.update(zip(names, positional, strict=False))
    for keyword in call.keywords:
        if keyword.arg is None:
            return None
        given[keyword.arg] = keyword.value
    if set(given) != set(names) or any(not isinstance(each, ast.Name) for each in given.values()):
        return None
    own = set(names) | bound(tree)
    mentioned = {name for statement in tree.body for name in read(statement)} - own
    if "super" in mentioned or mentioned & scene.locals():
        return None
    here, there = scene.function.__globals__, callee.__globals__
    if any(here.get(name, getattr(builtins, name, None)) is not there.get(name, getattr(builtins, name, None))
           for name in mentioned):
        return None
    return given


def _inlined_value(scene: RewriteContext, call: ast.Call) -> ast.expr | None:
    found = scene.called(call)
    if found is None:
        return None
    callee, tree = found
    given = _arguments(scene, call, callee, tree)
    body = [each for each in tree.body if not is_docstring(each)]
    match body:
        case [ast.Return(value=ast.expr() as value)] if given is not None and not bound(value):
            made = copy.deepcopy(value)
        case _:
            return None

    def change(node: ast.AST) -> ast.AST:
        return copy.deepcopy(given[node.id]) if isinstance(node, ast.Name) and node.id in given else node

    inlined: ast.expr = ExpressionRewriter(change).visit(made)
    return inlined


def _inlined_block(scene: RewriteContext, call: ast.Call) -> Block | None:
    found = scene.called(call)
    if found is None:
        return None
    callee, tree = found
    given = _arguments(scene, call, callee, tree)
    body = [each for each in tree.body if not is_docstring(each)]
    names = set(given or {})
    if given is None or contains(body, ast.Return) or bound(tree) & names:
        return None
    made = [copy.deepcopy(each) for each in body]
    for old in sorted(bound(tree)):
        new = scene.fresh(old)
        for each in made:
            rename(each, old, new)

    def change(node: ast.AST) -> ast.AST:
        return copy.deepcopy(given[node.id]) if isinstance(node, ast.Name) and node.id in given else node

    return [ExpressionRewriter(change).visit(each) for each in made]
