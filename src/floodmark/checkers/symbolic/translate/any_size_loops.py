"""Loops over any number of elements: those that only add to sets, and those that keep the best element.

    largest = self.isr
    for isr in self.pending:
        if ...:
            largest = largest | isr

After such a loop the set is the union of its old value and the additions of all rounds. The additions of a round do not
depend on earlier rounds, as they read no variable that the loop assigns. If only a condition does (``if len(largest) <
3``), the set has a subset of the additions. One more fact is known if no other statement than the addition itself
changes the variables of such a condition: in the first round in which the other conditions hold, it still has its value
from before the loop. Another addition might change it in an earlier round, or earlier in the same one.

    highest = -1
    for acceptor in quorum:
        ballot = self.last_ballot[acceptor]
        if ballot > highest:
            highest = ballot
            value = self.last_value[acceptor]

After this one the variables are those of an element with the largest number, if any is larger than the initial number.
If there are several such elements, the order decides, so nothing more is assumed about the choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from floodmark.checkers.symbolic.values.types import UnsupportedError
from floodmark.compiler.failures import can_fail
from floodmark.compiler.ir import (
    And,
    Compare,
    Convert,
    Expr,
    For,
    If,
    Local,
    SetBinary,
    SetLocal,
    Stmt,
    has_effects,
    locals_in,
)
from floodmark.language.types import IntType, SetType

_ADVICE = (
    "a loop over any number of elements may only add to sets (x = x | ...), in rounds that do not read what others "
    "added, or keep the best element (if number > best: best = number); write it with any, all, min, max or a "
    "comprehension"
)


@dataclass(frozen=True, slots=True)
class Addition:
    """The addition of a round to a set: ``added``, if all ``conditions`` have their required values."""

    target: Local
    added: Expr
    conditions: tuple[tuple[Expr, bool], ...]
    unknown: tuple[tuple[Expr, bool], ...] = ()
    """Conditions that depend on earlier additions."""
    alone: bool = False
    """Whether no other addition changes the variables of the unknown conditions: then the first round is known."""

    @property
    def optional(self) -> bool:
        return bool(self.unknown)


def additions(loop: For) -> list[Addition]:
    """The additions of each round of a loop. Raises UnsupportedError if a round does anything else.

    An addition may depend on earlier ones (``unknown``): then the result is a subset of the listed additions, and if
    the addition is ``alone``, at least that of the first round.
    """
    found = []
    listed = list(_additions(loop.body, ()))
    assigned = {addition.target.slot for addition in listed}
    for addition in listed:
        if has_effects(addition.added) or locals_in(addition.added) & assigned:
            raise UnsupportedError(_ADVICE, addition.added.at.file, addition.added.at.line)
        known: list[tuple[Expr, bool]] = []
        unknown: list[tuple[Expr, bool]] = []
        read: set[int] = set()
        for condition, wanted in addition.conditions:
            depends = locals_in(condition) & assigned
            if has_effects(condition) or (depends and can_fail(condition)):
                raise UnsupportedError(_ADVICE, condition.at.file, condition.at.line)
            (unknown if depends else known).append((condition, wanted))
            read |= depends
        alone = bool(read) and all(other is addition for other in listed if other.target.slot in read)
        found.append(replace(addition, conditions=tuple(known), unknown=tuple(unknown), alone=alone))
    return found


def _additions(body: list[Stmt], conditions: tuple[tuple[Expr, bool], ...]) -> Iterator[Addition]:
    for statement in body:
        match statement:
            case SetLocal(target=target, value=value):
                yield Addition(target, _added(target, value), conditions)
            case If(condition=condition, then=then, otherwise=otherwise):
                found = [
                    *_additions(then, (*conditions, (condition, True))),
                    *_additions(otherwise, (*conditions, (condition, False))),
                ]
                if not found and (has_effects(condition) or can_fail(condition)):  # else an addition evaluates it
                    raise UnsupportedError(_ADVICE, condition.at.file, condition.at.line)
                yield from found
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


@dataclass(frozen=True, slots=True)
class BestElementLoop:
    """A loop that keeps the best element: one whose ``number`` is better, by ``op``, than that of all before it.

    A round computes ``own`` variables, and ``kept`` are those that it keeps of a better element, including its number
    as ``best``. ``conditions`` are the other conditions on an element.
    """

    own: tuple[SetLocal, ...]
    conditions: tuple[Expr, ...]
    best: Local
    op: str
    number: Expr
    kept: tuple[SetLocal, ...]


def selection(loop: For) -> BestElementLoop | None:
    """The kept element, if the loop keeps the best one."""
    if not loop.body:
        return None
    *first, last = loop.body
    own = tuple(it for it in first if isinstance(it, SetLocal))
    if len(own) < len(first) or not isinstance(last, If) or last.otherwise:
        return None
    kept = tuple(it for it in last.then if isinstance(it, SetLocal))
    slots = {it.target.slot for it in kept}
    if len(kept) < len(last.then) or len(slots) < len(kept) or slots & {it.target.slot for it in own}:
        return None
    operands = last.condition.operands if isinstance(last.condition, And) else [last.condition]
    asked = [it for it in operands if locals_in(it) & slots]
    conditions = tuple(it for it in operands if it not in asked)
    parts = [*(it.value for it in own), *conditions, *(it.value for it in kept)]
    if len(asked) != 1 or any(has_effects(it) or locals_in(it) & slots for it in parts):
        return None
    better = asked[0]
    if not isinstance(better, Compare):
        return None
    for best, number, op in ((better.left, better.right, _MIRRORED[better.op]), (better.right, better.left, better.op)):
        best = _number(best)
        if isinstance(best, Local) and best.slot in slots and not locals_in(number) & slots and not has_effects(number):
            return BestElementLoop(own, conditions, best, op, number, kept)
    return None


_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _number(value: Expr) -> Expr:
    """A number without conversions of its type."""
    while isinstance(value, Convert) and isinstance(value.type, IntType) and isinstance(value.operand.type, IntType):
        value = value.operand
    return value


def _plain(value: Expr) -> Expr:
    """A set without conversions of its type, which leave its elements unchanged."""
    while isinstance(value, Convert) and isinstance(value.type, SetType) and isinstance(value.operand.type, SetType):
        value = value.operand
    return value
