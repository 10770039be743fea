"""The loops of a Spark task: those of a visited set in partitions, and one that looks for errors in a table."""

from __future__ import annotations

from floodmark.checkers.codegen.loop_compiler import Word, Words, cells_at, exported, prefetch, words_at
from floodmark.checkers.native.loops import (
    BITS,
    COUNT,
    GROUP,
    SCRATCH,
    SEED_1,
    SIZE,
    TABLE,
    address_of,
    fingerprint,
    is_stored,
    place_of,
    state_at,
)
from floodmark.checkers.native.partitioned import PARTITIONED_LOOPS

__all__ = ["GROUP", "SPARK_LOOPS", "misplaced"]


@exported
def misplaced(w: Words) -> Word:
    """How many errors the table has: cells without a state, states without a cell, states that occur twice."""
    table = cells_at(w[TABLE])
    bits = w[BITS]
    mask = (1 << bits) - 1
    tags = (1 << (32 - bits)) - 1
    count = w[COUNT]
    taken = 0
    size_of_table = w[SIZE]
    for i in range(size_of_table):
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
            h = fingerprint(state_at(w, start + j), SEED_1)
            scratch[j] = h
            prefetch(table, place_of(size_of_table, h))
        for k in range(size):
            h = scratch[k]
            state = state_at(w, start + k)
            tag = (h >> 32) & tags
            mine = (tag << bits) | (start + k + 1)
            place = place_of(size_of_table, h)
            cell = table[place]
            while cell != mine and cell != 0:
                position = cell & mask
                if (
                    (cell >> bits) == tag and position > 0 and position <= count
                    and is_stored(address_of(w, position - 1), state) == 1
                ):
                    wrong = wrong + 1
                place = place + 1
                if place == size_of_table:
                    place = 0
                cell = table[place]
            if cell == 0:
                wrong = wrong + 1
        start = start + size
    return wrong


SPARK_LOOPS = [*PARTITIONED_LOOPS, misplaced]
