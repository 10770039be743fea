"""Guards, branches and choices, written otherwise."""

from __future__ import annotations

import ast
import copy

from tools.rewriting.scene import (
    Block,
    ExpressionRewriter,
    RewriteContext,
    each_block,
    each_statement,
    leaves,
    negated,
    required,
)


def guards_apart(scene: RewriteContext) -> None:
    def change(statement: ast.stmt) -> Block | None:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name(id="require"), args=[ast.BoolOp(op=ast.And(), values=parts)])):
                return [required(each) for each in parts]
        return None

    each_statement(scene, change)


def guards_together(scene: RewriteContext) -> None:
    def change(block: Block) -> Block:
        found: Block = []
        for statement in block:
            match found[-1] if found else None, statement:
                case (
                    ast.Expr(value=ast.Call(func=ast.Name(id="require"), args=[one], keywords=[])),
                    ast.Expr(value=ast.Call(func=ast.Name(id="require"), args=[other], keywords=[])),
                ):
                    scene.changed += 1
                    found[-1] = required(ast.BoolOp(ast.And(), [one, other]))
                case _:
                    found.append(statement)
        return found

    each_block(scene, change)


def guards_in_branches(scene: RewriteContext) -> None:
    """``require(c)`` as ``if not c: require(False)``."""

    def change(statement: ast.stmt) -> Block | None:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name(id="require"), args=[condition], keywords=[])):
                return [ast.If(ast.UnaryOp(ast.Not(), condition), [required(ast.Constant(False))], [])]
        return None

    each_statement(scene, change)


def branches_turned(scene: RewriteContext) -> None:
    def change(statement: ast.stmt) -> Block | None:
        match statement:
            case ast.If(test=test, body=body, orelse=orelse):
                return [ast.If(negated(test), orelse or [ast.Pass()], body)]
        return None

    each_statement(scene, change)


def choices_turned(scene: RewriteContext) -> None:
    def change(node: ast.AST) -> ast.AST:
        match node:
            case ast.IfExp(test=test, body=body, orelse=orelse):
                scene.changed += 1
                return ast.IfExp(negated(test), orelse, body)
        return node

    ExpressionRewriter(change).visit(scene.tree)


def choices_as_branches(scene: RewriteContext) -> None:
    """``x = a if c else b`` as two assignments."""

    def change(statement: ast.stmt) -> Block | None:
        match statement:
            case ast.Assign(targets=[target], value=ast.IfExp(test=test, body=body, orelse=orelse)):
                one, other = ast.Assign([target], body), ast.Assign([copy.deepcopy(target)], orelse)
                return [ast.If(test, [one], [other])]
            case ast.Return(value=ast.IfExp(test=test, body=body, orelse=orelse)):
                return [ast.If(test, [ast.Return(body)], []), ast.Return(orelse)]
        return None

    each_statement(scene, change)


def branches_as_choices(scene: RewriteContext) -> None:
    """Two assignments as ``x = a if c else b``."""

    def change(statement: ast.stmt) -> Block | None:
        match statement:
            case ast.If(test=test, body=[ast.Assign(targets=[one], value=a)],
                        orelse=[ast.Assign(targets=[other], value=b)]) if ast.dump(one) == ast.dump(other):
                return [ast.Assign([one], ast.IfExp(test, a, b))]
            case ast.If(test=test, body=[ast.Return(value=ast.expr() as a)],
                        orelse=[ast.Return(value=ast.expr() as b)]):
                return [ast.Return(ast.IfExp(test, a, b))]
        return None

    each_statement(scene, change)


def rest_under_else(scene: RewriteContext) -> None:
    """Moves the statements after an ``if`` into both of its branches that reach their end."""

    def change(block: Block) -> Block:
        found: Block = []
        for statement in reversed(block):
            match statement:
                case ast.If(test=test, body=body, orelse=orelse) if found and len(found) <= 6:
                    scene.changed += 1
                    one = body if leaves(body) else [*body, *copy.deepcopy(found)]
                    other = [*orelse, *found] if not orelse or not leaves(orelse) else orelse
                    found = [ast.If(test, one, other)]
                case _:
                    found = [statement, *found]
        return found

    each_block(scene, change)


def early_returns(scene: RewriteContext) -> None:
    """``if c: a`` at the end of a function that returns nothing as ``if not c: return``, and ``a``."""
    if any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(scene.tree)):
        return
    if scene.tree.returns is not None and ast.unparse(scene.tree.returns) != "None":
        return
    match scene.tree.body[-1]:
        case ast.If(test=test, body=body, orelse=[]):
            scene.changed += 1
            scene.tree.body[-1:] = [ast.If(negated(test), [ast.Return()], []), *body]
        case ast.If(test=test, body=body, orelse=orelse):
            scene.changed += 1
            scene.tree.body[-1:] = [ast.If(test, [*body, *([] if leaves(body) else [ast.Return()])], []), *orelse]


def early_continues(scene: RewriteContext) -> None:
    """``if c: a`` at the end of a loop's body as ``if not c: continue``, and ``a``."""

    def change(statement: ast.stmt) -> Block | None:
        match statement:
            case ast.For(body=[*before, ast.If(test=test, body=body, orelse=[])]):
                statement.body = [*before, ast.If(negated(test), [ast.Continue()], []), *body]
                return [statement]
        return None

    each_statement(scene, change)
