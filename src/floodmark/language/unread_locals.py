"""Local names that a function assigns and never uses.

``x = 1`` where ``self.x = 1`` was meant leaves a valid model that does less than intended, and every property may hold
of it. Python accepts it silently, so such a line is refused.

A value is unread if on no path from the assignment the name is read before it is assigned again. A value that is
assigned again on every path is accepted: ``best = 0`` in front of an ``if`` whose branches both set ``best`` is only a
habit, and nothing is lost. Both branches of an ``if`` count as possible, and a name's contribution to itself (``n +=
1``) does not count as reading it. Loop variables and names that begin with an underscore are accepted, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Uses:
    """The use of names after a point: ``read`` on some path before another assignment, ``replaced`` on every path."""

    read: frozenset[str] = frozenset()
    replaced: frozenset[str] = frozenset()

    def reading(self, names: Iterable[str]) -> _Uses:
        names = frozenset(names)
        return _Uses(self.read | names, self.replaced - names)

    def assigning(self, name: str) -> _Uses:
        return _Uses(self.read - {name}, self.replaced | {name})

    def or_else(self, other: _Uses) -> _Uses:
        return _Uses(self.read | other.read, self.replaced & other.replaced)


_END = _Uses()
_NOTHING = ast.Constant(None)


def unread_values(tree: ast.FunctionDef) -> list[ast.Name]:
    """The names in ``tree`` that are assigned a value that is never used, by line."""
    reader = _BackwardReader()
    reader.block(tree.body, _END, _END, _END)
    return sorted(reader.found, key=lambda name: (name.lineno, name.col_offset))


class _BackwardReader:
    """Goes through a function from its end to its beginning."""

    def __init__(self) -> None:
        self.found: set[ast.Name] = set()

    def block(self, body: list[ast.stmt], after: _Uses, on_break: _Uses, on_continue: _Uses) -> _Uses:
        for statement in reversed(body):
            after = self._statement(statement, after, on_break, on_continue)
        return after

    def _statement(self, node: ast.stmt, after: _Uses, on_break: _Uses, on_continue: _Uses) -> _Uses:
        match node:
            case ast.Return() | ast.Raise():
                return _END.reading(_names(node))
            case ast.Break():
                return on_break
            case ast.Continue():
                return on_continue
            case ast.Assign(targets=[ast.Name() as target], value=value):
                return self._assigned(target, value, after)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
                for each in reversed(targets):
                    if isinstance(each, ast.Name):
                        after = self._assigned(each, _NOTHING, after)
                    else:
                        after = after.reading(_names(each))
                return after.reading(_names(value))
            case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
                return self._assigned(target, value, after)
            case ast.AugAssign(target=ast.Name(id=name) as target, value=value):
                before = self._assigned(target, value, after)
                return before.reading({name}) if name in after.read else before
            case ast.If(test=test, body=then, orelse=otherwise):
                ends = [self.block(branch, after, on_break, on_continue) for branch in (then, otherwise)]
                return ends[0].or_else(ends[1]).reading(_names(test))
            case ast.For(target=ast.Name(id=name), iter=over, body=body, orelse=[]):
                return self._loop(name, body, after).reading(_names(over))
        return after.reading(_names(node))

    def _assigned(self, target: ast.Name, value: ast.expr, after: _Uses) -> _Uses:
        names = _names(value)
        if target.id not in after.read:
            names -= {target.id}
            if target.id not in after.replaced and not target.id.startswith("_"):
                self.found.add(target)
        return after.assigning(target.id).reading(names)

    def _loop(self, name: str, body: list[ast.stmt], after: _Uses) -> _Uses:
        """The names that a loop reads, by iteration to a fixed point. An early round knows fewer of the later reads, so
        only the result of the last round counts."""
        known, before = set(self.found), after
        while True:
            self.found = set(known)
            again = before.or_else(self.block(body, before, after, before).assigning(name))
            if again == before:
                return before
            before = again


def _names(node: ast.AST) -> set[str]:
    """The names that are read somewhere in a statement or an expression."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
