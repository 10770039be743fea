"""The loops that a Spark task needs in addition to those of a native search: insert, expand by owner, verify."""

from __future__ import annotations

from floodmark.checkers.codegen.loop_compiler import Word, Words, cells_at, exported, offset, prefetch, words_at
from floodmark.checkers.native.loops import (
    BATCH,
    BITS,
    BUFFER,
    COUNT,
    CURSOR,
    DIGEST_1,
    DIGEST_2,
    GROUP,
    LEVEL_END,
    LIMIT,
    LOOPS,
    NW,
    PENDING,
    SCRATCH,
    SEED_1,
    SEED_2,
    STORE,
    TABLE,
    copy,
    expand_some,
    fingerprint,
    insert_all,
    same,
    state_at,
)

__all__ = ["GROUP", "NW", "ROUTE_FIELDS", "SPARK_LOOPS", "STORE", "TABLE", "digest", "insert", "misplaced", "route"]

# Fields of a route, an array of words.
OUTBOXES, COUNTS, ROOM, OWNERS, FILTER, FILTER_BITS, FULLEST, DROPPED = range(8)
ROUTE_FIELDS = 8


@exported
def insert(w: Words, states: Words, count: Word) -> Word:
    """Adds the states that are new, while the table has room; returns how many were processed."""
    done = 0
    while done < count:
        size = count - done
        if size > BATCH:
            size = BATCH
        if w[COUNT] + size > w[LIMIT]:
            return done
        insert_all(w, offset(states, done * NW), size)
        done = done + size
    return done


def deliver(w: Words, r: Words) -> None:
    """Moves the successors in the buffer to their owners' outboxes, except those that the filter has seen recently."""
    buffer = words_at(w[BUFFER])
    scratch = words_at(w[SCRATCH])
    outboxes = words_at(r[OUTBOXES])
    counts = words_at(r[COUNTS])
    seen = words_at(r[FILTER])
    mask = (1 << r[FILTER_BITS]) - 1
    owners = r[OWNERS]
    fullest = r[FULLEST]
    dropped = r[DROPPED]
    start = 0
    while start < w[PENDING]:
        size = w[PENDING] - start
        if size > GROUP:
            size = GROUP
        for i in range(size):
            h = fingerprint(offset(buffer, (start + i) * NW), SEED_1)
            scratch[i] = h
            prefetch(seen, (h & mask) * NW)
        for j in range(size):
            h = scratch[j]
            state = offset(buffer, (start + j) * NW)
            cell = offset(seen, (h & mask) * NW)
            if same(cell, state) == 1:
                dropped = dropped + 1
            else:
                copy(cell, state)
                owner = ((h >> 32) * owners) >> 32
                known = counts[owner]
                copy(offset(words_at(outboxes[owner]), known * NW), state)
                counts[owner] = known + 1
                if known + 1 > fullest:
                    fullest = known + 1
        start = start + size
    r[FULLEST] = fullest
    r[DROPPED] = dropped
    w[PENDING] = 0


@exported
def route(w: Words, r: Words, start: Word, stop: Word) -> Word:
    """Expands stored states until an outbox might overflow; returns the position of the next state to expand."""
    w[CURSOR] = start
    w[LEVEL_END] = stop
    while w[CURSOR] < stop and r[FULLEST] < r[ROOM]:
        expand_some(w, BATCH)
        deliver(w, r)
    return w[CURSOR]


@exported
def digest(w: Words, start: Word, stop: Word) -> Word:
    """Sets DIGEST_1 and DIGEST_2 to the sums of the fingerprints of a slice of the store."""
    store = words_at(w[STORE])
    digest_1 = 0
    digest_2 = 0
    for i in range(stop - start):
        state = offset(store, (start + i) * NW)
        digest_1 = digest_1 + fingerprint(state, SEED_1)
        digest_2 = digest_2 + fingerprint(state, SEED_2)
    w[DIGEST_1] = digest_1
    w[DIGEST_2] = digest_2
    return 0


@exported
def misplaced(w: Words) -> Word:
    """The number of faults in the table: cells without a state, states without a cell, and duplicate states."""
    store = words_at(w[STORE])
    table = cells_at(w[TABLE])
    bits = w[BITS]
    mask = (1 << bits) - 1
    tags = (1 << (32 - bits)) - 1
    count = w[COUNT]
    taken = 0
    for i in range(1 << bits):
        if table[i] != 0:
            taken = taken + 1
    if taken != count:
        return 1
    wrong = 0
    scratch = words_at(w[SCRATCH])
    start = 0
    while start < count:
        size = count - start
        if size > GROUP:
            size = GROUP
        for j in range(size):
            h = fingerprint(offset(store, (start + j) * NW), SEED_1)
            scratch[j] = h
            prefetch(table, h & mask)
        for k in range(size):
            h = scratch[k]
            state = offset(store, (start + k) * NW)
            tag = (h >> 32) & tags
            mine = (tag << bits) | (start + k + 1)
            place = h & mask
            cell = table[place]
            while cell != mine and cell != 0:
                position = cell & mask
                if (
                    (cell >> bits) == tag and position > 0 and position <= count
                    and same(state_at(w, position - 1), state) == 1
                ):
                    wrong = wrong + 1
                place = (place + 1) & mask
                cell = table[place]
            if cell == 0:
                wrong = wrong + 1
        start = start + size
    return wrong


SPARK_LOOPS = [*LOOPS, insert, deliver, route, digest, misplaced]
