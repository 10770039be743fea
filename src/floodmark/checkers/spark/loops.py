"""The loops of a Spark task: those of a visited set in partitions, one that copies states out of a file, and two for a
table in a file: one fills it in the order of its cells, the other looks for errors in it."""

from __future__ import annotations

from floodmark.checkers.codegen.loop_compiler import Word, Words, cells_at, exported, offset, prefetch, words_at
from floodmark.checkers.kernel.loops import (
    BITS,
    COUNT,
    DIGEST_1,
    DIGEST_2,
    GROUP,
    NW,
    SCRATCH,
    SEED_1,
    SEED_2,
    SIZE,
    STORE,
    TABLE,
    address_of,
    copy,
    fingerprint,
    is_stored,
    place_of,
    state_at,
)
from floodmark.checkers.kernel.partitioned import PARTITIONED_LOOPS

__all__ = ["GROUP", "SPARK_LOOPS", "copied", "fill_slice", "misplaced"]


@exported
def copied(w: Words, states: Words, count: Word) -> Word:
    """Copies states to the beginning of the store and adds the fingerprints of the copies to DIGEST_1 and DIGEST_2."""
    digest_1 = w[DIGEST_1]
    digest_2 = w[DIGEST_2]
    for i in range(count):
        state = words_at(w[STORE] + i * NW * 8)
        copy(state, offset(states, i * NW))
        digest_1 = digest_1 + fingerprint(state, SEED_1)
        digest_2 = digest_2 + fingerprint(state, SEED_2)
    w[DIGEST_1] = digest_1
    w[DIGEST_2] = digest_2
    return 0


def enter(w: Words, number: Word) -> None:
    """Enters the states whose fingerprints and positions are in SCRATCH; none of them is in the table."""
    table = cells_at(w[TABLE])
    scratch = words_at(w[SCRATCH])
    bits = w[BITS]
    size_of_table = w[SIZE]
    tags = (1 << (32 - bits)) - 1
    for j in range(number):
        h = scratch[j]
        place = place_of(size_of_table, h)
        while table[place] != 0:
            place = place + 1
            if place == size_of_table:
                place = 0
        table[place] = (((h >> 32) & tags) << bits) | (scratch[GROUP + j] + 1)


@exported
def fill_slice(w: Words, first: Word, last: Word) -> Word:
    """Enters the states whose look-up begins in a slice of a table into which no state of this slice was entered yet.

    A cell may be taken past the slice's end, or at the table's beginning after its end, as when states are added. Which
    states were entered first does not matter: a look-up passes taken cells, and nothing is ever removed.
    """
    table = cells_at(w[TABLE])
    scratch = words_at(w[SCRATCH])
    size_of_table = w[SIZE]
    number = 0
    for i in range(w[COUNT]):
        h = fingerprint(state_at(w, i), SEED_1)
        place = place_of(size_of_table, h)
        if place >= first and place < last:
            scratch[number] = h
            scratch[GROUP + number] = i
            prefetch(table, place)
            number = number + 1
            if number == GROUP:
                enter(w, number)
                number = 0
    enter(w, number)
    return 0


@exported
def misplaced(w: Words) -> Word:
    """The number of errors in the table: cells without a state, states without a cell, duplicate states."""
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


SPARK_LOOPS = [*PARTITIONED_LOOPS, copied, enter, fill_slice, misplaced]
