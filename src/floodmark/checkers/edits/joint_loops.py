"""The compiled joint step of two versions of a model: their common successors of a state, and their differences.

    expand(state*, out*, context*) -> the successors that both versions have

The counters hold, for each action of the new version, the number of states in which it allows more; for each action of
the old version, the number in which it allows less; and then the firings of each action.

It has the interface of a model's own ``expand``, so the loops of the search run it. Flags in ``BROKEN`` mark a state in
which only one version takes some step, a version fails, or an action allows more or less.

A stuttering step is no difference. A state outside a version's boundary has no successors in that version: it ends its
runs. A common successor outside both boundaries is dropped: nothing follows it in either version.

Constant: ``NW`` (words of a state).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from floodmark.checkers.codegen.loop_compiler import Word, Words, call_model, exported, offset, words_at
from floodmark.checkers.kernel.loops import BROKEN, COUNTERS, CUT, FAILED, same

NW = 1

BLOCK = 4
"""The index in the context of the address of the worker's block. Each version's own code gets another context, which
never requests that rows be left out."""
FUNCTIONS, OLD_ROWS, NEW_ROWS, OLD_CONTEXT, NEW_CONTEXT, OLD_STARTS, NEW_STARTS = range(7)
BLOCK_WORDS = 8
OLD_EXPAND, NEW_EXPAND, OLD_WITHIN, NEW_WITHIN, OLD_ACTIONS, NEW_ACTIONS, OLD_OF_NEW, NEW_OF_OLD = range(8)
FUNCTION_WORDS = 8

ADDED, REMOVED, OLD_FAILS, NEW_FAILS = range(4)
"""Bits of a state's mark."""
ALLOWS_MORE, ALLOWS_LESS, NOTED_ACTIONS = 4, 34, 30
"""The first bits for actions: for those of the new version that take a step which their old version lacks, and for
those of the old version that lose one; and the number of actions of each version that have a bit."""


def inside(state: Words, context: Words, within: Word) -> Word:
    """Whether a state is within the boundary of a version; ``within`` is 0 for one without a boundary."""
    if within == 0:
        return 1
    return call_model(within, state, context)


def successors(state: Words, rows: Words, context: Words, starts: Words, functions: Words, version: Word) -> Word:
    """Computes a version's successors of a state and the index of each action's first one; returns their number."""
    actions = functions[OLD_ACTIONS + version]
    for i in range(actions):
        context[COUNTERS + i] = 0
    made = 0
    if inside(state, context, functions[OLD_WITHIN + version]) != 0:
        made = call_model(functions[OLD_EXPAND + version], state, rows, context)
    at = 0
    for j in range(actions):
        starts[j] = at
        at = at + context[COUNTERS + j]
    return made


def is_among(rows: Words, first: Word, stop: Word, row: Words, guess: Word) -> Word:
    """Whether a row equals one of some rows; the row at ``guess`` is compared first."""
    if guess < stop and same(offset(rows, guess * NW), row) == 1:
        return 1
    i = first
    while i < stop:
        if same(offset(rows, i * NW), row) == 1:
            return 1
        i = i + 1
    return 0


@exported
def check(state: Words, context: Words) -> Word:
    """Every predicate holds: this search checks none."""
    return state[0] & context[FAILED] & 0


@exported
def expand(state: Words, out: Words, context: Words) -> Word:
    """Takes all steps of both versions from a common state."""
    block = words_at(context[BLOCK])
    functions = words_at(block[FUNCTIONS])
    old_rows = words_at(block[OLD_ROWS])
    new_rows = words_at(block[NEW_ROWS])
    old_context = words_at(block[OLD_CONTEXT])
    new_context = words_at(block[NEW_CONTEXT])
    old_starts = words_at(block[OLD_STARTS])
    new_starts = words_at(block[NEW_STARTS])
    old_of_new = words_at(functions[OLD_OF_NEW])
    new_of_old = words_at(functions[NEW_OF_OLD])
    old_actions = functions[OLD_ACTIONS]
    new_actions = functions[NEW_ACTIONS]
    old_made = successors(state, old_rows, old_context, old_starts, functions, 0)
    new_made = successors(state, new_rows, new_context, new_starts, functions, 1)
    noted = 0
    made = 0
    if old_context[FAILED] != 0 or new_context[FAILED] != 0:
        new_actions = 0
        old_actions = 0
    for a in range(new_actions):
        partner = old_of_new[a]
        first = 0
        stop = 0
        if partner != 0:
            first = old_starts[partner - 1]
            stop = first + old_context[COUNTERS + partner - 1]
        more = 0
        for i in range(new_context[COUNTERS + a]):
            row = offset(new_rows, (new_starts[a] + i) * NW)
            known = is_among(old_rows, first, stop, row, first + i)
            if known == 0:
                more = more + 1
                known = is_among(old_rows, 0, old_made, row, 0)
            if same(row, state) == 0:
                if known == 0:
                    noted = noted | (1 << ADDED)
                else:
                    within = inside(row, new_context, functions[NEW_WITHIN])
                    if within == 0:
                        within = inside(row, old_context, functions[OLD_WITHIN])
                    if within == 0:
                        context[CUT] = context[CUT] + 1
                    else:
                        target = offset(out, made * NW)
                        for k in range(NW):
                            target[k] = row[k]
                        made = made + 1
        fired = COUNTERS + functions[NEW_ACTIONS] + functions[OLD_ACTIONS] + a
        context[fired] = context[fired] + new_context[COUNTERS + a]
        if more != 0:
            context[COUNTERS + a] = context[COUNTERS + a] + 1
            if a < NOTED_ACTIONS:
                noted = noted | (1 << (ALLOWS_MORE + a))
    for b in range(old_actions):
        partner = new_of_old[b]
        first = 0
        stop = 0
        if partner != 0:
            first = new_starts[partner - 1]
            stop = first + new_context[COUNTERS + partner - 1]
        less = 0
        for i in range(old_context[COUNTERS + b]):
            row = offset(old_rows, (old_starts[b] + i) * NW)
            known = is_among(new_rows, first, stop, row, first + i)
            if known == 0:
                less = less + 1
                known = is_among(new_rows, 0, new_made, row, 0)
            if known == 0 and same(row, state) == 0:
                noted = noted | (1 << REMOVED)
        fired = COUNTERS + 2 * functions[NEW_ACTIONS] + functions[OLD_ACTIONS] + b
        context[fired] = context[fired] + old_context[COUNTERS + b]
        if less != 0:
            context[COUNTERS + functions[NEW_ACTIONS] + b] = context[COUNTERS + functions[NEW_ACTIONS] + b] + 1
            if b < NOTED_ACTIONS:
                noted = noted | (1 << (ALLOWS_LESS + b))
    failed = 0
    if old_context[FAILED] != 0:
        old_context[FAILED] = 0
        failed = failed | (1 << OLD_FAILS)
    if new_context[FAILED] != 0:
        new_context[FAILED] = 0
        failed = failed | (1 << NEW_FAILS)
    if failed != 0:
        noted = failed
        made = 0
    context[BROKEN] = noted
    return made


LOOPS: list[Callable[..., Any]] = [same, inside, successors, is_among, check, expand]
