"""Finds successors that a state already has, whose steps need not be judged again.

Two kinds are frequent: a step that leaves the state as it is, and one that leads where the step before it led, because
the two differ in a choice that made no difference. Both are looked for in ``out``, where all successors that were kept
of the same state stand word for word: so what is found there is a step that has been judged, whatever the hints say.
"""

from __future__ import annotations

from collections.abc import Sequence

from floodmark.checkers.codegen.bits import I1, I64, Value, const
from floodmark.checkers.codegen.routine import Routine
from floodmark.compiler.guard_order import GuardOrder
from floodmark.language.types import BoolType, EnumType

BEFORE, STAYED, DISTINCT = range(4, 7)
"""Places in the context: how many successors the actions before this one had, 0 for an action that is called by itself;
a hint which of all of them is the state itself; 1 where successors are left out that came before, else 0."""


def often_repeats(steps: GuardOrder) -> bool:
    """Whether an action tries the values of an enumeration one after the other: a message may be lost, or may not."""
    return bool(steps.choices) and isinstance(steps.choices[-1].parameter.type, EnumType | BoolType)


def came_before(
    routine: Routine, state: Value, out: Value, context: Value, number: Value, words: Sequence[Value], latest: bool
) -> Value:
    """Whether a successor came before from the same state. ``number`` are those of this action, in ``out``; with
    ``latest``, the last one is looked at, too."""
    builder = routine.builder

    def is_at(base: Value, position: Value) -> Value:
        differs: Value = const(0)
        place = builder.mul(position, const(len(words)))
        for index, word in enumerate(words):
            there = builder.load(builder.gep(base, [builder.add(place, const(index))]))
            differs = builder.or_(differs, builder.xor(there, word))
        return builder.icmp_unsigned("==", differs, const(0))

    before = builder.load(builder.gep(context, [const(BEFORE)]))
    total = builder.add(before, number)
    is_latest: Value = const(0, I1)
    if latest:
        some = builder.icmp_unsigned("!=", total, const(0))
        is_latest = builder.and_(some, is_at(out, builder.sub(number, builder.zext(some, I64))))
    found = routine.room(I1, "found")
    builder.store(const(0, I1), found)
    with routine.when(builder.or_(is_latest, is_at(state, const(0)))):
        hint = builder.gep(context, [const(STAYED)])
        known = builder.load(hint)
        exists = builder.icmp_unsigned("<", known, total)
        stayed = is_at(out, builder.sub(builder.select(exists, known, before), before))
        again = builder.or_(is_latest, builder.and_(exists, stayed))
        builder.store(builder.select(again, known, total), hint)
        builder.store(again, found)
    return builder.load(found)
