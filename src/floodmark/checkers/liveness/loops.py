"""The inner loops of the liveness check, compiled by ``floodmark.checkers.codegen.loop_compiler``.

``enter``, ``gather`` and ``evaluate`` make the graph out of the states that a native search has found; ``components``,
``survey`` and ``split`` find its fair components, ``recover`` the states from which a goal can still be reached. These
look at the graph alone: FIRST has, for each state, where its edges begin in EDGES. An edge is a word: its target in the
lowest 32 bits, NOWHERE for a step that leaves the bounds; the label of its fairness in the next 30; STEERED if a bound
may decide where it leads; BARRED if no run that breaks the goal takes it.

A constant specialises a compilation: ``NW`` (words of a state).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from floodmark.checkers.codegen.loop_compiler import (
    Word,
    Words,
    call_model,
    cells_at,
    exported,
    offset,
    words_at,
)
from floodmark.checkers.kernel.loops import FAILED, SEED_1, fingerprint, same

NW = 1

# Fields of a gathering worker.
STATES_HERE, TABLE, MASK, ROWS, MOST, CAPACITY, CONTEXT, EXPAND, CHECK, EDGES, FIRST, TRUTH, LABELS = range(13)
GATHERING_FIELDS = 16

# Fields of a search for components.
(
    G_FIRST, G_EDGES, STATES, NUMBER, LOW, COMPONENT, STACK, PATH, CURSOR, ROOTS, AVOID, FOUND, BEYOND,
    LABEL_WORDS, ENABLED, FAIR_LABELS, DENSE, EVERY, SOME, TAKEN, RECURS, RECURRING, STUTTERS, GOAL, CAN, ORDER, BAD,
) = range(27)  # fmt: skip
COMPONENT_FIELDS = 32

NOWHERE = (1 << 32) - 1
LABEL_SHIFT = 32
LABEL_MASK = (1 << 30) - 1
STEERED = 1 << 63
BARRED = 1 << 62
"""The bit of a step that a run which violates the goal does not take."""
OUT_OF_REGION = (1 << 32) - 1


@exported
def enter(w: Words, count: Word) -> Word:
    """Enters the numbers of the first states, from 1 on, into an empty hash table."""
    states = words_at(w[STATES_HERE])
    table = cells_at(w[TABLE])
    for number in range(count):
        place = fingerprint(offset(states, number * NW), SEED_1) & w[MASK]
        while table[place] != 0:
            place = (place + 1) & w[MASK]
        table[place] = number + 1
    return 0


@exported
def position_of(w: Words, state: Words) -> Word:
    """The number of a state, from 0 on; NOWHERE if it is absent."""
    states = words_at(w[STATES_HERE])
    table = cells_at(w[TABLE])
    place = fingerprint(state, SEED_1) & w[MASK]
    cell = table[place]
    while cell != 0:
        if same(offset(states, (cell - 1) * NW), state) == 1:
            return cell - 1
        place = (place + 1) & w[MASK]
        cell = table[place]
    return NOWHERE


@exported
def gather(w: Words, start: Word, stop: Word) -> Word:
    """Writes the edges of the states ``start`` to ``stop``, and into FIRST the number of edges up to each state's end.

    Returns how many states were done; fewer than requested when the room for edges is full.
    """
    store = words_at(w[STATES_HERE])
    rows = words_at(w[ROWS])
    context = words_at(w[CONTEXT])
    edges = words_at(w[EDGES])
    first = words_at(w[FIRST])
    made = 0
    at = start
    while at < stop:
        if made + w[MOST] + w[LABELS] > w[CAPACITY]:
            break
        state = offset(store, at * NW)
        count = call_model(w[EXPAND], state, rows, context)
        if context[FAILED] != 0:  # a guard that its bound kept from being evaluated: anything may be enabled beyond
            context[FAILED] = 0
            for label in range(w[LABELS]):
                edges[made] = (label << LABEL_SHIFT) | NOWHERE
                made = made + 1
        for i in range(count):
            row = offset(rows, i * (NW + 2))
            if row[NW + 1] != 0:
                edges[made] = row[NW] | NOWHERE
                made = made + 1
            else:
                if same(row, state) == 0:
                    edges[made] = row[NW] | position_of(w, row)
                    made = made + 1
        first[at - start] = made
        at = at + 1
    return at - start


@exported
def evaluate(w: Words, start: Word, stop: Word) -> Word:
    """Writes the conditions that hold in each state of a part, as bits.

    Returns the number, from 1 on, of the last state in which one failed; 0 if none did.
    """
    store = words_at(w[STATES_HERE])
    context = words_at(w[CONTEXT])
    truth = words_at(w[TRUTH])
    failed = 0
    for i in range(stop - start):
        truth[i] = call_model(w[CHECK], offset(store, (start + i) * NW), context)
        if context[FAILED] != 0:
            context[FAILED] = 0
            failed = i + 1
    return failed


@exported
def components(w: Words) -> Word:
    """Tarjan's algorithm without recursion, from the roots, within the states whose NUMBER is 0 at the beginning.

    Components are numbered from 1 on, each after all that it leads to. Returns how many there are.
    """
    first = words_at(w[G_FIRST])
    edges = words_at(w[G_EDGES])
    number = cells_at(w[NUMBER])
    low = cells_at(w[LOW])
    component = cells_at(w[COMPONENT])
    stack = cells_at(w[STACK])
    path = cells_at(w[PATH])
    cursor = words_at(w[CURSOR])
    roots = cells_at(w[ROOTS])
    avoid = w[AVOID]
    met = 0
    held = 0
    found = 0
    for root in range(w[STATES]):
        if roots[root] != 0 and number[root] == 0:
            depth = 0
            path[0] = root
            cursor[0] = first[root]
            met = met + 1
            number[root] = met
            low[root] = met
            stack[held] = root
            held = held + 1
            going = 1
            while going == 1:
                state = path[depth]
                at = cursor[depth]
                end = first[state + 1]
                lowest = low[state]
                next = NOWHERE
                while at < end and next == NOWHERE:
                    edge = edges[at]
                    at = at + 1
                    target = edge & NOWHERE
                    if (edge & avoid) == 0 and target != NOWHERE:
                        known = number[target]
                        if known == 0:
                            next = target
                        else:
                            if known != OUT_OF_REGION and component[target] == 0 and known < lowest:
                                lowest = known
                low[state] = lowest
                cursor[depth] = at
                if next != NOWHERE:
                    met = met + 1
                    number[next] = met
                    low[next] = met
                    stack[held] = next
                    held = held + 1
                    depth = depth + 1
                    path[depth] = next
                    cursor[depth] = first[next]
                else:
                    if lowest == number[state]:
                        found = found + 1
                        last = NOWHERE
                        while last != state:
                            held = held - 1
                            last = stack[held]
                            component[last] = found
                    if depth == 0:
                        going = 0
                    else:
                        depth = depth - 1
                        parent = path[depth]
                        if lowest < low[parent]:
                            low[parent] = lowest
    return found


def enabled_labels(w: Words, state: Word) -> Word:
    """Sets in ENABLED the bits of the labels that are enabled in a state; with BEYOND those beyond the bounds, too."""
    first = words_at(w[G_FIRST])
    edges = words_at(w[G_EDGES])
    enabled = words_at(w[ENABLED])
    for i in range(w[LABEL_WORDS]):
        enabled[i] = 0
    at = first[state]
    end = first[state + 1]
    while at < end:
        edge = edges[at]
        label = (edge >> LABEL_SHIFT) & LABEL_MASK
        if label != 0 and ((edge & NOWHERE) != NOWHERE or w[BEYOND] != 0):
            enabled[label >> 6] = enabled[label >> 6] | (1 << (label & 63))
        at = at + 1
    return 0


@exported
def survey(w: Words) -> Word:
    """Records for each component with several states the labels that are enabled in all, enabled in some, and taken in
    it.

    DENSE numbers those components from 1 on and is 0 for single states, for which it records whether stuttering is
    fair.
    """
    words = w[LABEL_WORDS]
    first = words_at(w[G_FIRST])
    edges = words_at(w[G_EDGES])
    component = cells_at(w[COMPONENT])
    dense = cells_at(w[DENSE])
    enabled = words_at(w[ENABLED])
    fair = words_at(w[FAIR_LABELS])
    recurs = cells_at(w[RECURS])
    recurring = cells_at(w[RECURRING])
    stutters = cells_at(w[STUTTERS])
    for state in range(w[STATES]):
        here = component[state]
        if here != 0:
            enabled_labels(w, state)
            number = dense[here]
            if number == 0:
                pressed = 0
                for i in range(words):
                    pressed = pressed | (enabled[i] & fair[i])
                if pressed == 0 and recurring[state] != 0:
                    stutters[state] = 1
            else:
                if recurring[state] != 0:
                    recurs[number] = 1
                every = offset(words_at(w[EVERY]), number * words)
                some = offset(words_at(w[SOME]), number * words)
                taken = offset(words_at(w[TAKEN]), number * words)
                for j in range(words):
                    every[j] = every[j] & enabled[j]
                    some[j] = some[j] | enabled[j]
                at = first[state]
                end = first[state + 1]
                while at < end:
                    edge = edges[at]
                    target = edge & NOWHERE
                    label = (edge >> LABEL_SHIFT) & LABEL_MASK
                    if label != 0 and target != NOWHERE and (edge & w[AVOID]) == 0 and component[target] == here:
                        taken[label >> 6] = taken[label >> 6] | (1 << (label & 63))
                    at = at + 1
    return 0


@exported
def split(w: Words) -> Word:
    """Keeps in the region, of components with bad labels, the states that enable none of them; returns their number."""
    words = w[LABEL_WORDS]
    number = cells_at(w[NUMBER])
    component = cells_at(w[COMPONENT])
    dense = cells_at(w[DENSE])
    enabled = words_at(w[ENABLED])
    recurs = cells_at(w[RECURS])
    left = 0
    for state in range(w[STATES]):
        here = component[state]
        component[state] = 0
        number[state] = OUT_OF_REGION
        if here != 0:
            mine = dense[here]
            if mine != 0 and recurs[mine] == 2:
                enabled_labels(w, state)
                bad = offset(words_at(w[BAD]), mine * words)
                touched = 0
                for i in range(words):
                    touched = touched | (enabled[i] & bad[i])
                if touched == 0:
                    number[state] = 0
                    left = left + 1
    return left


@exported
def recover(w: Words) -> Word:
    """Sets CAN of each component from which a goal state is reachable; ORDER has the states by their components.

    With BEYOND, a step that leaves the bounds, or that a bound steers, counts as reaching the goal.
    """
    first = words_at(w[G_FIRST])
    edges = words_at(w[G_EDGES])
    component = cells_at(w[COMPONENT])
    order = words_at(w[ORDER])
    goal = cells_at(w[GOAL])
    can = cells_at(w[CAN])
    for i in range(w[STATES]):
        state = order[i]
        here = component[state]
        if goal[state] != 0:
            can[here] = 1
        at = first[state]
        end = first[state + 1]
        while at < end and can[here] == 0:
            edge = edges[at]
            target = edge & NOWHERE
            if target == NOWHERE:
                if w[BEYOND] != 0:
                    can[here] = 1
            else:
                if can[component[target]] != 0 or (w[BEYOND] != 0 and (edge & STEERED) != 0):
                    can[here] = 1
            at = at + 1
    return 0


GATHERING: list[Callable[..., Any]] = [fingerprint, same, enter, position_of, gather, evaluate]
GRAPH: list[Callable[..., Any]] = [components, enabled_labels, survey, split, recover]
