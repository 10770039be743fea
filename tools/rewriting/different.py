"""Rewrites of functions that make another model, one for each place: CPython says what it then means."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

from tools.rewriting.scene import Block, RewriteContext, assigned, bound_outside, is_docstring, leaves, name_of, rename

Places = Iterator[tuple[str, Callable[[], None]]]
"""Descriptions of changes, each with the function that makes the change in the scene's tree."""


def _all_blocks(tree: ast.FunctionDef) -> Iterator[Block]:
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def _said(node: ast.AST) -> str:
    return " ".join(ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).split())[:60]


def statements_swapped(scene: RewriteContext) -> Places:
    for block in _all_blocks(scene.tree):
        for at in range(len(block) - 1):
            if not is_docstring(block[at]) and not leaves(block[at : at + 2]):
                def swap(block: Block = block, at: int = at) -> None:
                    block[at], block[at + 1] = block[at + 1], block[at]

                yield f"{_said(block[at])} goes behind {_said(block[at + 1])}", swap


def statements_repeated(scene: RewriteContext) -> Places:
    for block in _all_blocks(scene.tree):
        for at, each in enumerate(block):
            if not is_docstring(each) and not isinstance(each, ast.Return | ast.Break | ast.Continue | ast.Pass):
                def repeat(block: Block = block, at: int = at) -> None:
                    block.insert(at, copy.deepcopy(block[at]))

                yield f"{_said(each)} twice", repeat


def statements_out_of_branches(scene: RewriteContext) -> Places:
    """The last statement of a branch or a loop goes behind it."""
    for block in _all_blocks(scene.tree):
        for at, each in enumerate(block):
            if isinstance(each, ast.If | ast.For) and len(each.body) > 1 and not leaves(each.body):
                def move(block: Block = block, at: int = at, inner: Block = each.body) -> None:
                    block.insert(at + 1, inner.pop())

                yield f"{_said(each.body[-1])} goes out of its block", move


def statements_into_branches(scene: RewriteContext) -> Places:
    """Moves the statement after a branch or a loop into it."""
    for block in _all_blocks(scene.tree):
        for at, each in enumerate(block[:-1]):
            after = block[at + 1]
            if isinstance(each, ast.If | ast.For) and not leaves(each.body) and not isinstance(after, ast.Return):
                def move(block: Block = block, at: int = at, inner: Block = each.body) -> None:
                    inner.append(block.pop(at + 1))

                yield f"{_said(after)} goes into the block before it", move


def guards_postponed(scene: RewriteContext) -> Places:
    """A guard is asked at the end of its block."""
    for block in _all_blocks(scene.tree):
        for at, each in enumerate(block[:-1]):
            match each:
                case ast.Expr(value=ast.Call(func=ast.Name(id="require"))) if not leaves(block):
                    def postpone(block: Block = block, at: int = at) -> None:
                        block.append(block.pop(at))

                    yield f"{_said(each)} at the end", postpone


def names_swapped(scene: RewriteContext) -> Places:
    """A local name in the place of another, once for each place where one is read."""
    names = [name for name in (*scene.parameters[1:], *sorted(bound_outside(scene.tree))) if name != scene.me]
    for node in ast.walk(scene.tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
            for other in names:
                if other != node.id:
                    def swap(node: ast.Name = node, other: str = other) -> None:
                        node.id = other

                    yield f"{other} for {node.id} in line {node.lineno} at {node.col_offset}", swap


def variables_swapped(scene: RewriteContext) -> Places:
    """A variable of the model in the place of another of its type."""
    for node in ast.walk(scene.tree):
        match node:
            case ast.Attribute(value=ast.Name(id=model), attr=name) if model == scene.me:
                for other in scene.similar.get(name, ()):
                    def swap(node: ast.Attribute = node, other: str = other) -> None:
                        node.attr = other

                    yield f"{other} for {name} in line {node.lineno} at {node.col_offset}", swap


def loop_variables_reused(scene: RewriteContext) -> Places:
    """A loop binds a name that the function has already."""
    names = [name for name in (*scene.parameters[1:], *sorted(bound_outside(scene.tree))) if name != scene.me]
    for node in ast.walk(scene.tree):
        match node:
            case ast.For(target=ast.Name(id=old)):
                for other in names:
                    if other != old:
                        def reuse(node: ast.For = node, old: str = old, other: str = other) -> None:
                            rename(node, old, other)

                        yield f"the loop over {_said(node.iter)} binds {other} for {old}", reuse


def loop_variables_assigned(scene: RewriteContext) -> Places:
    """A loop assigns its variable after what it does, and what it reads then is that."""
    for node in ast.walk(scene.tree):
        match node:
            case ast.For(target=ast.Name(id=name), iter=ast.Name(id=values)) if values not in scene.locals():
                members = scene.members(values)
                for member in members[:1] if members else ():
                    def assign(node: ast.For = node, name: str = name, member: ast.expr = member) -> None:
                        node.body.insert(0, ast.If(ast.Compare(name_of(name), [ast.NotEq()], [copy.deepcopy(member)]),
                                                   [assigned(name, copy.deepcopy(member))], []))

                    yield f"the loop over {values} assigns {name}", assign


def parameters_assigned(scene: RewriteContext) -> Places:
    """A parameter is given the value of another at the beginning."""
    names = scene.parameters[1:]
    start = 1 if is_docstring(scene.tree.body[0]) else 0
    for name in names:
        for other in names:
            if other != name:
                def assign(name: str = name, other: str = other) -> None:
                    scene.tree.body.insert(start, assigned(name, name_of(other)))

                yield f"{name} = {other}", assign


def loops_left(scene: RewriteContext) -> Places:
    """A loop ends after its first round, or ``break`` and ``continue`` change places."""
    for node in ast.walk(scene.tree):
        if isinstance(node, ast.For):
            for block in (each for one in [node] for each in _blocks_in(one)):
                for at, each in enumerate(block):
                    if isinstance(each, ast.Break | ast.Continue):
                        def turn(block: Block = block, at: int = at) -> None:
                            block[at] = ast.Continue() if isinstance(block[at], ast.Break) else ast.Break()

                        yield f"the other of break and continue in line {each.lineno}", turn
            if not leaves(node.body):
                def leave(node: ast.For = node) -> None:
                    node.body.append(ast.Break())

                yield f"break at the end of the loop over {_said(node.iter)}", leave


def _blocks_in(loop: ast.For) -> Iterator[Block]:
    for node in ast.walk(loop):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def returns_added(scene: RewriteContext) -> Places:
    """A function that returns nothing does so in the middle of a loop or a branch."""
    if any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(scene.tree)):
        return
    if scene.tree.returns is not None and ast.unparse(scene.tree.returns) != "None":
        return
    for node in ast.walk(scene.tree):
        if isinstance(node, ast.If | ast.For) and not leaves(node.body):
            def add(node: ast.If | ast.For = node) -> None:
                node.body.append(ast.Return())

            yield f"return at the end of the block in line {node.lineno}", add


def numbers_changed(scene: RewriteContext) -> Places:
    for node in ast.walk(scene.tree):
        match node:
            case ast.Constant(value=int() as number) if not isinstance(number, bool):
                for other in (number - 1, number + 1):
                    def change(node: ast.Constant = node, other: int = other) -> None:
                        node.value = other

                    yield f"{other} for {number} in line {node.lineno} at {node.col_offset}", change


DIFFERENT: list[Callable[[RewriteContext], Places]] = [
    statements_swapped, statements_repeated, statements_out_of_branches, statements_into_branches, guards_postponed,
    names_swapped, variables_swapped, loop_variables_reused, loop_variables_assigned, parameters_assigned, loops_left,
    returns_added, numbers_changed,
]
"""The rewrites that make another model, one for each place."""
