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
from floodmark.compiler import ir
from floodmark.compiler.failures import can_fail
from floodmark.language.types import IntType, SetType

_ADVICE = (
    "a loop over any number of elements may only add to sets (x = x | ...), in rounds that do not read what others "
    "added, or keep the best element (if number > best: best = number); write it with any, all, min, max or a "
    "comprehension"
)


@dataclass(frozen=True, slots=True)
class Addition:
    """The addition of a round to a set: ``added``, if all ``conditions`` have their required values."""

    target: ir.Local
    added: ir.Expr
    conditions: tuple[tuple[ir.Expr, bool], ...]
    unknown: tuple[tuple[ir.Expr, bool], ...] = ()
    """Conditions that depend on earlier additions."""
    alone: bool = False
    """Whether no other addition changes the variables of the unknown conditions: then the first round is known."""

    @property
    def optional(self) -> bool:
        return bool(self.unknown)


def additions(loop: ir.For) -> list[Addition]:
    """The additions of each round of a loop. Raises UnsupportedError if a round does anything else.

    An addition may depend on earlier ones (``unknown``): then the result is a subset of the listed additions, and if
    the addition is ``alone``, at least that of the first round.
    """
    found = []
    listed = list(_additions(loop.body, ()))
    assigned = {addition.target.slot for addition in listed}
    for addition in listed:
        if ir.has_effects(addition.added) or ir.locals_in(addition.added) & assigned:
            raise UnsupportedError(_ADVICE, addition.added.at.file, addition.added.at.line)
        known: list[tuple[ir.Expr, bool]] = []
        unknown: list[tuple[ir.Expr, bool]] = []
        read: set[int] = set()
        for condition, truth in addition.conditions:
            depends = ir.locals_in(condition) & assigned
            if ir.has_effects(condition) or (depends and can_fail(condition)):
                raise UnsupportedError(_ADVICE, condition.at.file, condition.at.line)
            (unknown if depends else known).append((condition, truth))
            read |= depends
        alone = bool(read) and all(other is addition for other in listed if other.target.slot in read)
        found.append(replace(addition, conditions=tuple(known), unknown=tuple(unknown), alone=alone))
    return found


def _additions(body: list[ir.Stmt], conditions: tuple[tuple[ir.Expr, bool], ...]) -> Iterator[Addition]:
    for statement in body:
        match statement:
            case ir.SetLocal(target=target, value=value):
                yield Addition(target, _added(target, value), conditions)
            case ir.If(condition=condition, then=then, otherwise=otherwise):
                found = [
                    *_additions(then, (*conditions, (condition, True))),
                    *_additions(otherwise, (*conditions, (condition, False))),
                ]
                if not found and (ir.has_effects(condition) or can_fail(condition)):  # else an addition evaluates it
                    raise UnsupportedError(_ADVICE, condition.at.file, condition.at.line)
                yield from found
            case _:
                raise UnsupportedError(_ADVICE, statement.at.file, statement.at.line)


def _added(target: ir.Local, value: ir.Expr) -> ir.Expr:
    match _plain(value):
        case ir.SetBinary(op="|", left=left, right=right):
            for kept, added in ((left, right), (right, left)):
                kept = _plain(kept)
                if isinstance(kept, ir.Local) and kept.slot == target.slot:
                    return _plain(added)
    raise UnsupportedError(_ADVICE, value.at.file, value.at.line)


@dataclass(frozen=True, slots=True)
class BestElementLoop:
    """A loop that keeps the best element: one whose ``number`` is better, by ``op``, than that of all before it.

    A round computes ``own`` variables, and ``kept`` are those that it keeps of a better element, including its number
    as ``best``. ``conditions`` are the other conditions on an element.
    """

    own: tuple[ir.SetLocal, ...]
    conditions: tuple[ir.Expr, ...]
    best: ir.Local
    op: str
    number: ir.Expr
    kept: tuple[ir.SetLocal, ...]


def selection(loop: ir.For) -> BestElementLoop | None:
    """The kept element, if the loop keeps the best one."""
    if not loop.body:
        return None
    *first, last = loop.body
    own = tuple(it for it in first if isinstance(it, ir.SetLocal))
    if len(own) < len(first) or not isinstance(last, ir.If) or last.otherwise:
        return None
    kept = tuple(it for it in last.then if isinstance(it, ir.SetLocal))
    slots = {it.target.slot for it in kept}
    if len(kept) < len(last.then) or len(slots) < len(kept) or slots & {it.target.slot for it in own}:
        return None
    operands = last.condition.operands if isinstance(last.condition, ir.And) else [last.condition]
    comparisons = [it for it in operands if ir.locals_in(it) & slots]
    conditions = tuple(it for it in operands if it not in comparisons)
    parts = [*(it.value for it in own), *conditions, *(it.value for it in kept)]
    if len(comparisons) != 1 or any(ir.has_effects(it) or ir.locals_in(it) & slots for it in parts):
        return None
    better = comparisons[0]
    if not isinstance(better, ir.Compare):
        return None
    for best, number, op in ((better.left, better.right, MIRRORED[better.op]), (better.right, better.left, better.op)):
        best = plain_number(best)
        if not (isinstance(best, ir.Local) and best.slot in slots):
            continue
        if not ir.locals_in(number) & slots and not ir.has_effects(number):
            return BestElementLoop(own, conditions, best, op, number, kept)
    return None


MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}
"""The operator of each comparison with its operands exchanged."""


def plain_number(value: ir.Expr) -> ir.Expr:
    """A number without conversions of its type."""
    while isinstance(value, ir.Convert) and isinstance(value.type, IntType) and isinstance(value.operand.type, IntType):
        value = value.operand
    return value


def _plain(value: ir.Expr) -> ir.Expr:
    """A set without conversions of its type, which leave its elements unchanged."""
    while isinstance(value, ir.Convert) and isinstance(value.type, SetType) and isinstance(value.operand.type, SetType):
        value = value.operand
    return value
