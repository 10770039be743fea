"""Loops unrolled, counted and made of folds; folds made of loops."""

from __future__ import annotations

import ast
import copy

from tools.rewriting.scene import (
    Block,
    ExpressionRewriter,
    RewriteContext,
    assigned,
    bound,
    contains,
    each_block,
    each_statement,
    first_value,
    is_docstring,
    is_truth,
    name_of,
    negated,
    read,
    rename,
)


def loops_counted(scene: RewriteContext) -> None:
    """``for x in y`` with an index that nobody reads."""

    def change(statement: ast.stmt) -> Block | None:
        match statement:
            case ast.For(target=ast.Name() as target, iter=values, body=body, orelse=[]):
                index = ast.Name(scene.fresh("index"), ast.Store())
                pair = ast.Tuple([index, target], ast.Store())
                return [ast.For(pair, ast.Call(name_of("enumerate"), [values], []), body, [])]
        return None

    each_statement(scene, change)


def loops_unrolled(scene: RewriteContext) -> None:
    """A loop over identifiers or an enum's members as one assignment and one copy of its body for each."""

    def change(statement: ast.stmt) -> Block | None:
        match statement:
            case ast.For(target=ast.Name(id=name), iter=ast.Name(id=values), body=body, orelse=[]) if not contains(
                body, ast.Break, ast.Continue, ast.Return
            ):
                members = scene.members(values) if values not in scene.locals() else None
                if members is None:
                    return None
                found: Block = []
                for member in members:
                    found += [assigned(name, copy.deepcopy(member)), *copy.deepcopy(body)]
                return found
        return None

    each_statement(scene, change)


def first_round_apart(scene: RewriteContext) -> None:
    """``for i in range(a, b)`` as its first round and a loop over the others."""

    def change(statement: ast.stmt) -> Block | None:
        match statement:
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=[*ends], keywords=[]),
                         body=body, orelse=[]) if len(ends) <= 2 and not contains(body, ast.Break, ast.Continue):
                low, high = ends if len(ends) == 2 else (ast.Constant(0), ends[0])
                after = ast.BinOp(copy.deepcopy(low), ast.Add(), ast.Constant(1))
                loop = ast.For(ast.Name(name, ast.Store()),
                               ast.Call(name_of("range"), [after, copy.deepcopy(high)], []), body, [])
                is_one = ast.Compare(low, [ast.Lt()], [copy.deepcopy(high)])
                reads = {each for one in ast.walk(statement.iter) for each in read(one)}
                places = {ast.unparse(each) for one in body for each in ast.walk(one)
                          if isinstance(each, ast.Attribute | ast.Name) and isinstance(each.ctx, ast.Store)}
                if places & reads or (places and contains(statement.iter, ast.Attribute)):
                    return None  # the first round may change where the loop ends
                return [ast.If(is_one, [assigned(name, copy.deepcopy(low)), *copy.deepcopy(body)], []), loop]
        return None

    each_statement(scene, change)


def in_a_loop_of_one_round(scene: RewriteContext) -> None:
    """All that a function does, in a loop of one round."""
    body = scene.tree.body
    start = 1 if is_docstring(body[0]) else 0
    name = scene.fresh("once")
    if not body[start:] or contains(body, ast.Break, ast.Continue):
        return
    if any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(scene.tree)):
        return  # whoever returns a value does so behind the loop, too
    one = ast.Call(name_of("range"), [ast.Constant(1)], [])
    scene.tree.body = [*body[:start], ast.For(ast.Name(name, ast.Store()), one, body[start:], [])]


def returns_through_a_local(scene: RewriteContext) -> None:
    """Every ``return e`` in a loop of one round as an assignment and a ``break``, and one ``return`` behind it."""
    body = scene.tree.body
    start = 1 if is_docstring(body[0]) else 0
    returns = [node for node in ast.walk(scene.tree) if isinstance(node, ast.Return)]
    if len(returns) < 2 or any(node.value is None for node in returns) or contains(body, ast.For):
        return
    result, once = scene.fresh("result"), scene.fresh("once")

    def change(statement: ast.stmt) -> Block | None:
        match statement:
            case ast.Return(value=ast.expr() as value):
                return [assigned(result, value), ast.Break()]
        return None

    first = next(node.value for node in returns if node.value is not None)
    if not is_truth(first):
        return  # what the local begins with has to be of its type
    each_statement(scene, change)
    one = ast.Call(name_of("range"), [ast.Constant(1)], [])
    loop = ast.For(ast.Name(once, ast.Store()), one, scene.tree.body[start:], [])
    scene.tree.body = [*body[:start], assigned(result, ast.Constant(False)), loop, ast.Return(name_of(result))]


def folds_as_loops(scene: RewriteContext) -> None:
    """``any``, ``all``, ``sum`` and comprehensions as loops that fill a local."""

    def change(statement: ast.stmt) -> Block | None:
        found = first_value(statement)
        if found is None or isinstance(statement, ast.For):
            return None
        value, rebuilt = found
        match value:
            case ast.UnaryOp(op=ast.Not(), operand=ast.Call() as call):
                made = _as_loop(scene, call)
                return None if made is None else [*made[0], rebuilt(ast.UnaryOp(ast.Not(), name_of(made[1])))]
            case _:
                made = _as_loop(scene, value)
                return None if made is None else [*made[0], rebuilt(name_of(made[1]))]

    each_statement(scene, change)


def _as_loop(scene: RewriteContext, value: ast.expr) -> tuple[Block, str] | None:
    fold: str
    match value:
        case ast.Call(func=ast.Name(id="any" | "all" | "sum" as fold), args=[ast.GeneratorExp() as loop], keywords=[]):
            generators = loop.generators
        case ast.ListComp(generators=generators) as loop if "Seq" in scene.function.__globals__:
            fold = "list"
        case ast.Call(func=ast.Name(id="Set"), args=[ast.SetComp(generators=generators) as loop], keywords=[]):
            fold = "set"
        case _:
            return None
    result = scene.fresh("found")
    loop = copy.deepcopy(loop)
    generators = loop.generators
    for name in sorted(bound(loop)):
        rename(loop, name, scene.fresh(name))
    match fold:
        case "any":
            inner: Block = [ast.If(loop.elt, [assigned(result, ast.Constant(True)), ast.Break()], [])]
            first: ast.expr = ast.Constant(False)
        case "all":
            inner = [ast.If(negated(loop.elt), [assigned(result, ast.Constant(False)), ast.Break()], [])]
            first = ast.Constant(True)
        case "sum":
            inner = [ast.AugAssign(ast.Name(result, ast.Store()), ast.Add(), loop.elt)]
            first = ast.Constant(0)
        case "list":
            inner = [assigned(result, ast.BinOp(name_of(result), ast.Add(), ast.List([loop.elt], ast.Load())))]
            first = ast.Call(name_of("Seq"), [], [])
        case _:
            inner = [assigned(result, ast.BinOp(name_of(result), ast.BitOr(), ast.Set([loop.elt])))]
            first = ast.Call(name_of("Set"), [], [])
    if len(generators) > 1 and fold in ("any", "all"):
        inner[0].body.pop()  # type: ignore[attr-defined]  # the outer loop goes on; the answer stays
    for generator in reversed(generators):
        for test in reversed(generator.ifs):
            inner = [ast.If(test, inner, [])]
        inner = [ast.For(generator.target, generator.iter, inner, [])]
    return [assigned(result, first), *inner], result


def loops_as_folds(scene: RewriteContext) -> None:
    """A loop that returns True at the first that it finds, and False behind it, as ``any``; and the opposite."""

    def change(block: Block) -> Block:
        match block:
            case [*before, ast.For(target=target, iter=values, orelse=[],
                                   body=[ast.If(test=test, body=[ast.Return(value=ast.Constant(value=bool() as found))],
                                                orelse=[])]),
                  ast.Return(value=ast.Constant(value=bool() as other))] if found != other:
                scene.changed += 1
                loop = ast.GeneratorExp(test if found else negated(test), [ast.comprehension(target, values, [], 0)])
                return [*before, ast.Return(ast.Call(name_of("any" if found else "all"), [loop], []))]
        return block

    each_block(scene, change)


def any_as_all(scene: RewriteContext) -> None:
    """``any(c ...)`` as ``not all(not c ...)``, and the opposite."""

    def change(node: ast.AST) -> ast.AST:
        match node:
            case ast.Call(func=ast.Name(id="any" | "all" as fold), args=[ast.GeneratorExp() as loop], keywords=[]):
                scene.changed += 1
                loop.elt = negated(loop.elt)
                return ast.UnaryOp(ast.Not(), ast.Call(name_of("all" if fold == "any" else "any"), [loop], []))
        return node

    ExpressionRewriter(change).visit(scene.tree)


def filters_as_operands(scene: RewriteContext) -> None:
    """``any(c for x in y if d)`` as ``any(d and c for x in y)``."""

    def change(node: ast.AST) -> ast.AST:
        match node:
            case ast.Call(func=ast.Name(id="any"), args=[ast.GeneratorExp(generators=[one]) as loop]) if one.ifs:
                scene.changed += 1
                loop.elt = ast.BoolOp(ast.And(), [*one.ifs, loop.elt])
                one.ifs = []
        return node

    ExpressionRewriter(change).visit(scene.tree)
