"""The compiled loop that takes all steps from the states that a search has found.

``enter`` and ``position_of`` are those of liveness: the states lie in one array and are found by a hash table.
Constant: ``NW`` (words of a state).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from floodmark.checkers.codegen.loop_compiler import Word, Words, call_model, exported, offset, words_at
from floodmark.checkers.kernel.loops import COUNTERS, FAILED, fingerprint, same
from floodmark.checkers.liveness.loops import (
    CONTEXT,
    EXPAND,
    GATHERING_FIELDS,
    MASK,
    MOST,
    NOWHERE,
    ROWS,
    STATES_HERE,
    TABLE,
    enter,
    position_of,
)

NW = 1

ROOM, OUTSIDE_ROWS, SOURCES, TARGETS, LABELS, ACTIONS, MADE, LEFT = range(GATHERING_FIELDS, GATHERING_FIELDS + 8)
"""Fields behind those of liveness: the room for steps; the arrays of the states outside the table, and of the steps'
sources, targets and actions; the number of actions; the numbers of steps and of such states."""
FIELDS = GATHERING_FIELDS + 8


@exported
def take_steps(w: Words, start: Word, stop: Word) -> Word:
    """Writes the steps from the states ``start`` to ``stop``.

    A target outside the table goes to a separate array; its number is NOWHERE plus one plus its index there. Returns
    how many states were done: fewer than requested when the room is full, or when a step fails in the next state.
    """
    store = words_at(w[STATES_HERE])
    rows = words_at(w[ROWS])
    context = words_at(w[CONTEXT])
    outside = words_at(w[OUTSIDE_ROWS])
    sources = words_at(w[SOURCES])
    targets = words_at(w[TARGETS])
    labels = words_at(w[LABELS])
    made = 0
    left = 0
    at = start
    while at < stop and made + w[MOST] <= w[ROOM]:
        state = offset(store, at * NW)
        for a in range(w[ACTIONS]):
            context[COUNTERS + a] = 0
        count = call_model(w[EXPAND], state, rows, context)
        if context[FAILED] != 0:
            break
        action = 0
        of_action = 0
        for i in range(count):
            row = offset(rows, i * NW)
            while of_action == context[COUNTERS + action]:
                action = action + 1
                of_action = 0
            of_action = of_action + 1
            target = position_of(w, row)
            if target == NOWHERE:
                place = offset(outside, left * NW)
                for k in range(NW):
                    place[k] = row[k]
                left = left + 1
                target = NOWHERE + left
            sources[made] = at
            targets[made] = target
            labels[made] = action
            made = made + 1
        at = at + 1
    w[MADE] = made
    w[LEFT] = left
    return at - start


LOOPS: list[Callable[..., Any]] = [fingerprint, same, enter, position_of, take_steps]

__all__ = ["CONTEXT", "EXPAND", "FIELDS", "LOOPS", "MASK", "MOST", "NOWHERE", "ROWS", "STATES_HERE", "TABLE"]
