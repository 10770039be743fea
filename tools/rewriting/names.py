"""Local names introduced, removed, renamed and shared; assignments and changes in place."""

from __future__ import annotations

import ast
import builtins
import copy
from types import FunctionType

from tools.rewriting.scene import (
    SCOPES,
    Block,
    ExpressionRewriter,
    N,
    RewriteContext,
    assigned,
    bound,
    bound_outside,
    contains,
    each_block,
    each_statement,
    first_value,
    is_truth,
    name_of,
    rename,
)


def _is_around(outer: ast.AST, inner: ast.AST) -> bool:
    return any(node is inner for node in ast.walk(outer))


def locals_introduced(scene: RewriteContext) -> None:
    def change(statement: ast.stmt) -> Block | None:
        match first_value(statement):
            case (value, rebuilt) if not isinstance(value, ast.Name | ast.Constant):
                if isinstance(statement, ast.For) and isinstance(value, ast.Call | ast.Name):
                    return None  # range, enumerate, zip and the classes of identifiers are no values
                name = scene.fresh("given")
                return [assigned(name, value), rebuilt(name_of(name))]
        return None

    each_statement(scene, change)


def one_local_for_all(scene: RewriteContext) -> None:
    """Every condition goes into one and the same local name."""
    name = scene.fresh("now")

    def change(statement: ast.stmt) -> Block | None:
        match statement:
            case ast.If() | ast.Expr(value=ast.Call(func=ast.Name(id="require"))):
                match first_value(statement):
                    case (value, rebuilt) if is_truth(value):
                        return [assigned(name, value), rebuilt(name_of(name))]
        return None

    scene.changed = 0
    each_statement(scene, change)


def locals_removed(scene: RewriteContext) -> None:
    """A local that is read once, in the statement behind its assignment, and is the first that it evaluates."""

    def change(block: Block) -> Block:
        found: Block = []
        for statement in block:
            match found[-1] if found else None:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if _uses(scene.tree, name) == 2:
                    match first_value(statement):
                        case (ast.expr() as first, rebuilt) if _begins_with(first, name):
                            scene.changed += 1
                            found[-1] = rebuilt(_put(first, name, value))
                            continue
            found.append(statement)
        return found

    each_block(scene, change)


def _uses(tree: ast.AST, name: str) -> int:
    return sum(1 for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name)


def _begins_with(node: ast.expr, name: str) -> bool:
    """Whether a name is the first thing that an expression evaluates."""
    match node:
        case ast.Name(id=other):
            return other == name
        case ast.Compare(left=left) | ast.BinOp(left=left):
            return _begins_with(left, name)
        case ast.BoolOp(values=[first, *_]):
            return _begins_with(first, name)
        case ast.IfExp(test=test):
            return _begins_with(test, name)
        case ast.UnaryOp(operand=operand):
            return _begins_with(operand, name)
        case ast.Attribute(value=value) | ast.Subscript(value=value):
            return _begins_with(value, name)
        case ast.Call(func=ast.Name(id="len" | "abs" | "Set" | "Seq" | "Bag"), args=[first, *_]):
            return _begins_with(first, name)
    return False


def _put(node: N, name: str, value: ast.expr) -> N:
    """A copy of a node in which a name is replaced by an expression."""

    def change(each: ast.AST) -> ast.AST:
        return copy.deepcopy(value) if isinstance(each, ast.Name) and each.id == name else each

    made: N = ExpressionRewriter(change).visit(copy.deepcopy(node))
    return made


def names_renamed(scene: RewriteContext) -> None:
    """Every name that the function binds is another one, shadowing a name of the module where there is one unused."""
    taken = {node.id for node in ast.walk(scene.tree) if isinstance(node, ast.Name)} | set(scene.parameters)
    spare = [name for name, value in scene.function.__globals__.items()
             if name not in taken and isinstance(value, type | FunctionType) and not hasattr(builtins, name)]
    for old in sorted(bound(scene.tree) - set(scene.parameters)):
        scene.changed += 1
        new = spare.pop(0) if spare else scene.fresh("other")
        rename(scene.tree, old, new)


def comprehensions_shadow(scene: RewriteContext) -> None:
    """The variable of a comprehension is called as a local of the function that the comprehension does not mention."""
    outer = [name for name in (*scene.parameters, *sorted(bound_outside(scene.tree))) if name != scene.me]

    def change(node: ast.AST) -> ast.AST:
        match node:
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                mentioned = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
                free = [name for name in outer if name not in mentioned]
                for generator in node.generators:
                    if free and isinstance(generator.target, ast.Name):
                        scene.changed += 1
                        rename(node, generator.target.id, free.pop(0))
        return node

    ExpressionRewriter(change).visit(scene.tree)


def loops_share_names(scene: RewriteContext) -> None:
    """Loops beside each other, and comprehensions, have one variable, where none of their values is read outside."""
    loops = [node for node in ast.walk(scene.tree) if isinstance(node, ast.For) and isinstance(node.target, ast.Name)]
    comprehensions = [node for node in ast.walk(scene.tree)
                      if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp)
                      and len(node.generators) == 1 and isinstance(node.generators[0].target, ast.Name)
                      and not contains(list(ast.iter_child_nodes(node)), *SCOPES)]
    name = scene.fresh("each")
    scene.changed = 0
    renamed: list[ast.AST] = []
    for node in [*loops, *comprehensions]:
        target = node.target if isinstance(node, ast.For) else node.generators[0].target
        assert isinstance(target, ast.Name)
        if any(_is_around(other, node) or _is_around(node, other) for other in renamed):
            continue
        if _uses(scene.tree, target.id) != _uses(node, target.id):
            continue
        rename(node, target.id, name)
        renamed.append(node)
    scene.changed = len(renamed) if len(renamed) > 1 else 0


def augmented_apart(scene: RewriteContext) -> None:
    def change(statement: ast.stmt) -> Block | None:
        match statement:
            case ast.AugAssign(target=target, op=op, value=value):
                before = copy.deepcopy(target)
                before.ctx = ast.Load()
                return [ast.Assign([target], ast.BinOp(before, op, value))]
        return None

    each_statement(scene, change)


def augmented_together(scene: RewriteContext) -> None:
    def change(statement: ast.stmt) -> Block | None:
        match statement:
            case ast.Assign(targets=[ast.Name() | ast.Attribute() | ast.Subscript() as target],
                            value=ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.BitOr() | ast.BitAnd() as op,
                                            right=right)) if ast.unparse(target) == ast.unparse(left):
                return [ast.AugAssign(target, op, right)]
        return None

    each_statement(scene, change)


def changes_in_place(scene: RewriteContext) -> None:
    """``x |= {e}`` as ``x.add(e)``, and back; likewise ``discard``."""

    def change(statement: ast.stmt) -> Block | None:
        match statement:
            case ast.AugAssign(target=ast.Attribute() as place, op=ast.BitOr() | ast.Sub() as op,
                               value=ast.Set(elts=[value])):
                method = "add" if isinstance(op, ast.BitOr) else "discard"
                place = copy.deepcopy(place)
                place.ctx = ast.Load()
                return [ast.Expr(ast.Call(ast.Attribute(place, method, ast.Load()), [value], []))]
        return None

    each_statement(scene, change)
