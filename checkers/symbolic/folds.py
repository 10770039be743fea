"""Loops over any number of elements: those that only add to a set, whose result does not depend on the order.

    largest = self.isr
    for isr in self.pending:
        if ...:
            largest = largest | isr

After such a loop the set has what it had before, and whatever one of the rounds adds: a round adds the same whatever
the rounds before it added, as what it adds does not depend on a variable that the loop assigns. Where only a condition
does (``if len(largest) < 3``), the set has some of that, which is all that is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from floodmark.checkers.symbolic.value_types import UnsupportedError
from floodmark.compiler.failures import can_fail
from floodmark.compiler.ir import Convert, Expr, For, If, Local, SetBinary, SetLocal, Stmt, has_effects, locals_in
from floodmark.language.types import SetType

_ADVICE = (
    "a loop over any number of elements may only add to sets (x = x | ...), in rounds that do not read what others "
    "added; write it with any, all, min, max or a comprehension"
)


@dataclass(frozen=True, slots=True)
class Addition:
    """What a round adds to a set: ``added``, if all ``conditions`` are as they should be."""

    target: Local
    added: Expr
    conditions: tuple[tuple[Expr, bool], ...]
    unknown: tuple[tuple[Expr, bool], ...] = ()
    """Conditions that depend on what was added before: they are known in the first round only."""

    @property
    def optional(self) -> bool:
        return bool(self.unknown)


def additions(loop: For) -> list[Addition]:
    """What each round of a loop adds. Raises UnsupportedError if a round does anything else.

    Whether something is added may depend on what was added before (``optional``): then it is some of what is listed,
    and at least what the first round adds.
    """
    found = []
    listed = list(_additions(loop.body, ()))
    assigned = {addition.target.slot for addition in listed}
    for addition in listed:
        if has_effects(addition.added) or locals_in(addition.added) & assigned:
            raise UnsupportedError(_ADVICE, addition.added.at.file, addition.added.at.line)
        known = []
        for condition, wanted in addition.conditions:
            depends = bool(locals_in(condition) & assigned)
            if has_effects(condition) or (depends and can_fail(condition)):
                raise UnsupportedError(_ADVICE, condition.at.file, condition.at.line)
            if not depends:
                known.append((condition, wanted))
        unknown = tuple(it for it in addition.conditions if it not in known)
        found.append(replace(addition, conditions=tuple(known), unknown=unknown))
    return found


def _additions(body: list[Stmt], conditions: tuple[tuple[Expr, bool], ...]) -> Iterator[Addition]:
    for statement in body:
        match statement:
            case SetLocal(target=target, value=value):
                yield Addition(target, _added(target, value), conditions)
            case If(condition=condition, then=then, otherwise=otherwise):
                yield from _additions(then, (*conditions, (condition, True)))
                yield from _additions(otherwise, (*conditions, (condition, False)))
            case _:
                raise UnsupportedError(_ADVICE, statement.at.file, statement.at.line)


def _added(target: Local, value: Expr) -> Expr:
    match _plain(value):
        case SetBinary(op="|", left=left, right=right):
            for kept, added in ((left, right), (right, left)):
                kept = _plain(kept)
                if isinstance(kept, Local) and kept.slot == target.slot:
                    return _plain(added)
    raise UnsupportedError(_ADVICE, value.at.file, value.at.line)


def _plain(value: Expr) -> Expr:
    """A set without conversions of its type, none of which changes what is in it."""
    while isinstance(value, Convert) and isinstance(value.type, SetType) and isinstance(value.operand.type, SetType):
        value = value.operand
    return value
