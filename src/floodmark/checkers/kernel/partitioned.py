"""The loops of a visited set in partitions, each with its own table: a state's fingerprint says which one owns it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.codegen.loop_compiler import Word, Words, exported, offset, prefetch, words_at
from floodmark.checkers.kernel.loops import (
    ALL_ONES,
    BATCH,
    BUFFER,
    COUNT,
    CURSOR,
    DIGEST_1,
    DIGEST_2,
    GROUP,
    LEVEL_END,
    LIMIT,
    LOOPS,
    MULTIPLIER_1,
    MULTIPLIER_2,
    NW,
    PENDING,
    SCRATCH,
    SEED_1,
    SEED_2,
    copy,
    expand_some,
    fingerprint,
    insert_all,
    is_recent,
    state_at,
)

__all__ = ["ALL_ONES", "GROUP", "NW", "PARTITIONED_LOOPS", "ROUTE_FIELDS", "empty_filter", "fingerprints"]

# Fields of a route, an array of words.
OUTBOXES, COUNTS, ROOM, OWNERS, FILTER, FILTER_BITS, FULLEST, DROPPED = range(8)
ROUTE_FIELDS = 8

Array = NDArray[np.uint64]


@exported
def insert(w: Words, states: Words, count: Word) -> Word:
    """Adds the states that are new, as long as the table has room; returns how many were processed."""
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


def send(r: Words, h: Word, state: Words) -> None:  # compiled
    """Puts a state in the outbox of the partition that owns its fingerprint."""
    counts = words_at(r[COUNTS])
    owner = ((h >> 32) * r[OWNERS]) >> 32
    known = counts[owner]
    copy(offset(words_at(words_at(r[OUTBOXES])[owner]), known * NW), state)
    counts[owner] = known + 1
    if known + 1 > r[FULLEST]:
        r[FULLEST] = known + 1


def deliver(w: Words, r: Words) -> None:  # compiled
    """Moves the successors in the buffer to the outboxes of their owners, except those that the filter saw recently."""
    buffer = words_at(w[BUFFER])
    scratch = words_at(w[SCRATCH])
    seen = words_at(r[FILTER])
    mask = (1 << r[FILTER_BITS]) - 1
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
            if is_recent(seen, mask, h, state) == 1:
                dropped = dropped + 1
            else:
                send(r, h, state)
        start = start + size
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
def spread(w: Words, r: Words, start: Word, stop: Word) -> Word:
    """Puts stored states in outboxes until one is full; returns the position of the next."""
    position = start
    while position < stop and r[FULLEST] < r[ROOM]:
        state = state_at(w, position)
        send(r, fingerprint(state, SEED_1), state)
        position = position + 1
    return position


@exported
def digest(w: Words, start: Word, stop: Word) -> Word:
    """Sets DIGEST_1 and DIGEST_2 to the sums of the fingerprints of a slice of the store."""
    digest_1 = 0
    digest_2 = 0
    for i in range(stop - start):
        state = state_at(w, start + i)
        digest_1 = digest_1 + fingerprint(state, SEED_1)
        digest_2 = digest_2 + fingerprint(state, SEED_2)
    w[DIGEST_1] = digest_1
    w[DIGEST_2] = digest_2
    return 0


PARTITIONED_LOOPS: list[Callable[..., Any]] = [*LOOPS, insert, send, deliver, route, spread, digest]


def fingerprints(states: Array, words: int, seed: int) -> Array:
    """The fingerprint of each state, as ``floodmark.compiler.layout.fingerprint`` defines it."""
    rows = states.reshape(-1, words)
    h = np.full(len(rows), seed, dtype=np.uint64)
    for column in range(words):
        h = (h ^ rows[:, column]) * np.uint64(MULTIPLIER_1)
        h ^= h >> np.uint64(32)
        h *= np.uint64(MULTIPLIER_2)
        h ^= h >> np.uint64(29)
    return h


def empty_filter(cells: Array, bits: int, words: int) -> None:
    """Fills the cells of a filter so that none holds a state that belongs there: no unseen state is dropped."""
    cells[:] = 0
    mask = np.uint64((1 << bits) - 1)
    own = int(fingerprints(np.zeros(words, dtype=np.uint64), words, SEED_1)[0] & mask)
    other = np.zeros(words, dtype=np.uint64)
    while True:
        other[0] += np.uint64(1)
        if int(fingerprints(other, words, SEED_1)[0] & mask) != own:
            break
    cells[own * words : (own + 1) * words] = other
