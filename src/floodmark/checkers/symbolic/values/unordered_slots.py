"""A set with a capacity and without an order of elements, as over an uninterpreted sort of identifiers.

Its slots (used, element) may be in any order, with unused ones between; the elements in use differ. Two lists of slots
may thus represent the same set, and nothing may depend on the order: a loop over such a set is refused unless it only
adds to sets (``translate/any_size_loops.py``), and the condition for a failure of ``any`` or ``all`` ignores short
circuits.
"""

from __future__ import annotations

from collections.abc import Callable

from floodmark.checkers.symbolic.terms.booleans import Truth, conj, disj, implied, negation
from floodmark.checkers.symbolic.values.types import Value

Slots = tuple[tuple[Truth, Value], ...]
Same = Callable[[Value, Value], Truth]
Either = Callable[[Truth, Value, Value], Value]


def holds(slots: Slots, item: Value, same: Same) -> Truth:
    return disj(conj((used, same(held, item))) for used, held in slots)


def equal(a: Slots, b: Slots, same: Same) -> Truth:
    """Whether two lists of slots represent the same set."""
    parts = [implied(used, holds(b, item, same)) for used, item in a]
    return conj([*parts, *(implied(used, holds(a, item, same)) for used, item in b)])


def are_distinct(slots: Slots, same: Same) -> Truth:
    """Whether the elements in use differ."""
    return conj(
        negation(conj((used, other_used, same(item, other))))
        for index, (used, item) in enumerate(slots)
        for other_used, other in slots[:index]
    )


def placed(slots: Slots, condition: Truth, item: Value, either: Either) -> tuple[Truth, Slots]:
    """Slots with an element in the first free one, on a ``condition``; and whether there is one."""
    waiting = condition
    found = []
    for used, held in slots:
        here = conj((waiting, negation(used)))
        found.append((disj((used, here)), either(here, item, held)))
        waiting = conj((waiting, used))
    return negation(waiting), tuple(found)


def within(slots: Slots, capacity: int, empty: Value, either: Either) -> tuple[Truth, Slots]:
    """The same set in so many slots, and whether it fits."""
    kept: Slots = (*slots[:capacity], *[(False, empty)] * (capacity - len(slots)))
    fits: Truth = True
    for used, item in slots[capacity:]:
        room, kept = placed(kept, used, item, either)
        fits = conj((fits, room))
    return fits, kept
