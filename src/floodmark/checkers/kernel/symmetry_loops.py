"""The loop that compares states with renamed copies, compiled by ``floodmark.checkers.codegen.loop_compiler``.

``c`` are the fields of a comparison. A state and its copy are alike if the renamed successors of the one are those of
the other, the same has fired, and the same properties are true. Where a property fails in one, it may be false in the
other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from floodmark.checkers.codegen.loop_compiler import Word, Words, call_model, exported, offset, words_at
from floodmark.checkers.kernel.loops import (
    ALL_ONES,
    FAILED,
    MULTIPLIER_2,
    NW,
    OUTSIDE,
    SEED_1,
    SEED_2,
    copy,
    fingerprint,
)

(
    ROWS, COPY, OUT, COMPARED, COMPARED_WORDS, WAYS, WAY_COUNT, WAY_WORDS, C_EXPAND, C_CHECK, C_RENAME, DIGEST, MASK,
    UNSURE, FIRST, EVERY, DONE,
) = range(17)  # fmt: skip
COMPARISON_FIELDS = 24


def look(c: Words, state: Words, way: Words, renames: Word) -> None:
    """Evaluates a state: writes a digest of its successors, renamed if required, and of the counters of actions into
    DIGEST; and the results of its properties into MASK and UNSURE."""
    context = words_at(c[COMPARED])
    out = words_at(c[OUT])
    for i in range(c[COMPARED_WORDS]):
        context[i] = 0
    context[OUTSIDE] = ALL_ONES
    made = call_model(c[C_EXPAND], state, out, context)
    digest = made
    for k in range(made):
        row = offset(out, k * NW)
        if renames != 0:
            call_model(c[C_RENAME], row, way)
        digest = digest + fingerprint(row, SEED_1)
    for j in range(c[FIRST]):
        digest = (digest ^ context[j]) * MULTIPLIER_2
        digest = digest ^ (digest >> 32)
    context[FAILED] = 0
    c[DIGEST] = digest
    c[MASK] = call_model(c[C_CHECK], state, context)
    c[UNSURE] = context[FAILED]


@exported
def compare(c: Words, count: Word, turn: Word) -> Word:
    """Compares states with copies; the place, from 1 on, of one that differs, or 0.

    Which states, and how they are renamed, their fingerprints say, so it is the same for any number of workers.
    """
    rows = words_at(c[ROWS])
    renamed = words_at(c[COPY])
    ways = words_at(c[WAYS])
    for i in range(count):
        state = offset(rows, i * NW)
        h = fingerprint(state, SEED_2) >> 16
        if h % c[EVERY] == 0:
            way = offset(ways, ((h // c[EVERY] + turn) % c[WAY_COUNT]) * c[WAY_WORDS])
            copy(renamed, state)
            call_model(c[C_RENAME], renamed, way)
            look(c, state, way, 1)
            digest = c[DIGEST]
            mask = c[MASK]
            unsure = c[UNSURE]
            look(c, renamed, way, 0)
            c[DONE] = c[DONE] + 1
            if digest != c[DIGEST]:
                return i + 1
            if unsure == 0 and c[UNSURE] == 0 and mask != c[MASK]:
                return i + 1
    return 0


SYMMETRY_LOOPS: list[Callable[..., Any]] = [fingerprint, copy, look, compare]
