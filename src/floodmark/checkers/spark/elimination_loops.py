"""The loops of elimination: steps are recomputed, sent to the partition that owns their target, and looked up there.

``w`` are the fields of a partition (``checkers/kernel/loops.py``), ``e`` those of an elimination, ``r`` those of the
outboxes. FACTS has for each state a word of the conditions that are true of it, and words of the labels that are
enabled in it. MARKS has two words: the labels known to be met there, and the number of steps from remaining states,
shifted by two bits, with the status below. For recoverability MARKS has a bit for each state instead. While a lasso is
built, the first word is a color or the number of a layer.
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
    prefetch,
    words_at,
)
from floodmark.checkers.kernel.loops import (
    BITS,
    CHECK,
    CONTEXT,
    EXPAND,
    FAILED,
    GROUP,
    NW,
    SCRATCH,
    SEED_1,
    SIZE,
    TABLE,
    address_of,
    copy,
    fingerprint,
    is_stored,
    less,
    place_of,
    same,
    state_at,
    word_of,
)
from floodmark.checkers.kernel.partitioned import COUNTS, FULLEST, OUTBOXES, OWNERS, ROOM
from floodmark.checkers.liveness.loops import LABEL_MASK, LABEL_SHIFT

__all__ = ["BITS", "CHECK", "CONTEXT", "ELIMINATION_LOOPS", "EXPAND", "FAILED"]

# Fields of an elimination.
(
    FACTS, MARKS, ROWS, STEP_CONTEXT, STEP_EXPAND, STEP_CHECK, LABEL_WORDS, INITIAL_END, CACHE, CACHE_MASK, WEAK,
    STRONG, INSIDE_CARE, INSIDE_WANT, CHOSEN_CARE, CHOSEN_WANT, WORD, MODE, STATES, LEFT_STATES, TELLING_STATES,
    ALONE, SEAL, HERE, OWN, OWN_COUNT, LAYER, GOAL, HIT,
) = range(29)  # fmt: skip
ELIMINATION_FIELDS = 32

INITIAL = 1 << 63
"""The bit of a state's first fact that says that runs begin in it; conditions have the lower ones."""
CHOSEN = 1
"""Bit 0: an accepting state was met; no transition carries it."""
MARK_WORDS = 2

# Marks from predecessors. COUNTING: how many steps lead to them; LEAVING: which of these are gone; REACHING: labels;
# COLORING: the largest color; LAYERING: the layer after the sender's, shifted by a bit, with bit 0 for a wanted label.
COUNTING, LEAVING, REACHING, COLORING, LAYERING = range(5)

# The status of a state: eliminated; left; left, or about to be eliminated, and it still has to send to its successors.
GONE, LEFT, TELLING = range(3)
STATUS = 3

MISSING = (1 << 64) - 1
POSITION_BITS = 32


def position_of(w: Words, h: Word, state: Words) -> Word:
    """The position of a state with this fingerprint; MISSING if it is not stored."""
    table = cells_at(w[TABLE])
    bits = w[BITS]
    mask = (1 << bits) - 1
    tag = (h >> 32) & ((1 << (32 - bits)) - 1)
    size_of_table = w[SIZE]
    place = place_of(size_of_table, h)
    cell = table[place]
    while cell != 0:
        if (cell >> bits) == tag and is_stored(address_of(w, (cell & mask) - 1), state) == 1:
            return (cell & mask) - 1
        place = place + 1
        if place == size_of_table:
            place = 0
        cell = table[place]
    return MISSING


def facts_of(e: Words, position: Word) -> Words:
    return offset(words_at(e[FACTS]), position * (e[LABEL_WORDS] + 1))


@exported
def seal(words: Words, count: Word) -> Word:
    """A hash of an array, which says whether it is the one that was written."""
    h = SEED_1
    for i in range(count):
        h = (h ^ words[i]) * 0xFF51AFD7ED558CCD
        h = h ^ (h >> 32)
    return h


@exported
def compute_facts(w: Words, e: Words, start: Word, stop: Word) -> Word:
    """Writes the facts of some states. Returns the place, from 1 on, of one in which code failed; 0 when none did."""
    rows = words_at(e[ROWS])
    context = words_at(e[STEP_CONTEXT])
    failed = 0
    for i in range(stop - start):
        at = start + i
        state = state_at(w, at)
        facts = facts_of(e, at)
        facts[0] = call_model(e[STEP_CHECK], state, context)
        if at < e[INITIAL_END]:
            facts[0] = facts[0] | INITIAL
        for j in range(e[LABEL_WORDS]):
            facts[1 + j] = 0
        made = call_model(e[STEP_EXPAND], state, rows, context)
        for k in range(made):
            row = offset(rows, k * (NW + 2))
            if row[NW + 1] == 0 and same(row, state) == 0:
                label = (row[NW] >> LABEL_SHIFT) & LABEL_MASK
                if label != 0:
                    facts[1 + (label >> 6)] = facts[1 + (label >> 6)] | (1 << (label & 63))
        if context[FAILED] != 0:
            context[FAILED] = 0
            failed = at + 1
    return failed


def is_chosen(e: Words, facts: Words) -> Word:
    if (facts[0] & e[CHOSEN_CARE]) == e[CHOSEN_WANT]:
        return 1
    return 0


def may_stutter(e: Words, facts: Words) -> Word:
    """Whether a run that stays in a state forever is fair, and visits a chosen state."""
    weak = words_at(e[WEAK])
    strong = words_at(e[STRONG])
    pressed = 0
    for i in range(e[LABEL_WORDS]):
        pressed = pressed | (facts[1 + i] & (weak[i] | strong[i]))
    if pressed == 0:
        return is_chosen(e, facts)
    return 0


# Steps of a partition alone.


@exported
def enter_region(e: Words) -> Word:
    """Leaves the states inside the region."""
    for i in range(e[STATES]):
        mark = offset(words_at(e[MARKS]), i * MARK_WORDS)
        facts = facts_of(e, i)
        mark[0] = 0
        mark[1] = GONE
        if (facts[0] & e[INSIDE_CARE]) == e[INSIDE_WANT]:
            mark[1] = LEFT
    return 0


@exported
def start_counting(e: Words) -> Word:
    """Prepares the count of predecessors: every remaining state has to send along each of its steps."""
    for i in range(e[STATES]):
        mark = offset(words_at(e[MARKS]), i * MARK_WORDS)
        if mark[1] & STATUS != GONE:
            mark[1] = TELLING
    return 0


@exported
def seed_labels(e: Words) -> Word:
    """Marks each state with the labels of WORD that it meets by itself: weakly fair ones that are not enabled."""
    word = e[WORD]
    weak = words_at(e[WEAK])[word]
    demanded = weak | words_at(e[STRONG])[word]
    for i in range(e[STATES]):
        mark = offset(words_at(e[MARKS]), i * MARK_WORDS)
        if mark[1] & STATUS != GONE:
            facts = facts_of(e, i)
            seen = weak & ~facts[1 + word]
            if word == 0 and e[CHOSEN_CARE] != 0 and is_chosen(e, facts) == 1:
                seen = seen | CHOSEN
            mark[0] = seen
            if (seen | demanded) != 0:
                mark[1] = (mark[1] & ~STATUS) | TELLING
    return 0


@exported
def eliminate(e: Words) -> Word:
    """Eliminates the states that miss a label of WORD; they have to send that to their successors."""
    word = e[WORD]
    weak = words_at(e[WEAK])[word]
    strong = words_at(e[STRONG])[word]
    if word == 0 and e[CHOSEN_CARE] != 0:
        weak = weak | CHOSEN
    for i in range(e[STATES]):
        mark = offset(words_at(e[MARKS]), i * MARK_WORDS)
        if mark[1] & STATUS != GONE:
            facts = facts_of(e, i)
            required = weak | (strong & facts[1 + word])
            if (required & ~mark[0]) != 0:
                mark[1] = (mark[1] & ~STATUS) | TELLING
    return 0


@exported
def finish_sending(e: Words) -> Word:
    """Marks states that had to send as done: a state remains, or is eliminated if it sent that."""
    for i in range(e[STATES]):
        mark = offset(words_at(e[MARKS]), i * MARK_WORDS)
        if mark[1] & STATUS == TELLING:
            mark[1] = (mark[1] & ~STATUS) | LEFT
            if e[MODE] == LEAVING:
                mark[1] = GONE
    return 0


@exported
def eliminate_sources(e: Words) -> Word:
    """Eliminates states without a predecessor; a run may stay forever in none of them."""
    for i in range(e[STATES]):
        mark = offset(words_at(e[MARKS]), i * MARK_WORDS)
        if mark[1] == LEFT:
            mark[1] = TELLING
    return 0


@exported
def count_statuses(e: Words) -> Word:
    """Counts the remaining states, those that have to send, and those where a run may stay forever."""
    left = 0
    telling = 0
    alone = 0
    for i in range(e[STATES]):
        mark = offset(words_at(e[MARKS]), i * MARK_WORDS)
        status = mark[1] & STATUS
        if status != GONE:
            left = left + 1
            if status == TELLING:
                telling = telling + 1
            alone = alone + may_stutter(e, facts_of(e, i))
    e[LEFT_STATES] = left
    e[TELLING_STATES] = telling
    e[ALONE] = alone
    return 0


# Messages between partitions.


def post(r: Words, h: Word, row: Words, words: Word) -> None:
    """Puts a row in the outbox of the partition that owns a fingerprint."""
    counts = words_at(r[COUNTS])
    owner = ((h >> 32) * r[OWNERS]) >> 32
    known = counts[owner]
    box = offset(words_at(words_at(r[OUTBOXES])[owner]), known * words)
    for i in range(words):
        box[i] = row[i]
    counts[owner] = known + 1
    if known + 1 > r[FULLEST]:
        r[FULLEST] = known + 1


def combined(mode: Word, known: Word, value: Word) -> Word:
    """The combination of the values that two predecessors send to a state."""
    if mode == COLORING:
        if known > value:
            return known
        return value
    if (mode == COUNTING) | (mode == LEAVING):
        return known + value
    return known | value


def combine(e: Words, r: Words, row: Words, value: Word) -> None:
    """Adds a mark to the marks that are buffered for a state; these are sent when the cell is needed."""
    h = fingerprint(row, SEED_1)
    cell = offset(words_at(e[CACHE]), (h & e[CACHE_MASK]) * (NW + 1))
    if cell[NW] != 0 and same(cell, row) == 1:
        cell[NW] = combined(e[MODE], cell[NW], value)
    else:
        if cell[NW] != 0:
            post(r, fingerprint(cell, SEED_1), cell, NW + 1)
        copy(cell, row)
        cell[NW] = value


def is_wanted(e: Words, row: Words) -> Word:
    """Whether a step has one of the labels in WEAK."""
    label = (row[NW] >> LABEL_SHIFT) & LABEL_MASK
    if label == 0:
        return 0
    return (words_at(e[WEAK])[label >> 6] >> (label & 63)) & 1


@exported
def send(w: Words, e: Words, r: Words, start: Word, stop: Word) -> Word:
    """Sends to the successors of states that have to send, until an outbox might overflow; returns the next
    position."""
    rows = words_at(e[ROWS])
    context = words_at(e[STEP_CONTEXT])
    demanded = words_at(e[WEAK])[e[WORD]] | words_at(e[STRONG])[e[WORD]]
    at = start
    while at < stop and r[FULLEST] < r[ROOM]:
        mark = offset(words_at(e[MARKS]), at * MARK_WORDS)
        if mark[1] & STATUS == TELLING:
            state = state_at(w, at)
            made = call_model(e[STEP_EXPAND], state, rows, context)
            for i in range(made):
                row = offset(rows, i * (NW + 2))
                if row[NW + 1] == 0 and same(row, state) == 0:
                    value = 1
                    if e[MODE] == REACHING:
                        value = mark[0]
                        label = (row[NW] >> LABEL_SHIFT) & LABEL_MASK
                        if label != 0 and (label >> 6) == e[WORD]:
                            value = value | ((1 << (label & 63)) & demanded)
                    if e[MODE] == COLORING:
                        value = mark[0]
                    if e[MODE] == LAYERING:
                        value = (e[LAYER] << 1) | is_wanted(e, row)
                    if value != 0:
                        combine(e, r, row, value)
        at = at + 1
    return at


@exported
def flush(e: Words, r: Words, start: Word, stop: Word) -> Word:
    """Sends what is left in the cells, until an outbox might overflow; returns the next cell."""
    at = start
    while at < stop and r[FULLEST] < r[ROOM]:
        cell = offset(words_at(e[CACHE]), at * (NW + 1))
        if cell[NW] != 0:
            post(r, fingerprint(cell, SEED_1), cell, NW + 1)
            cell[NW] = 0
        at = at + 1
    return at


def helps(e: Words, position: Word) -> Word:
    """Whether a walk is to end in a state: GOAL, a chosen one, or one in which a label in STRONG is not enabled."""
    facts = facts_of(e, position)
    missing = 0
    for i in range(e[LABEL_WORDS]):
        missing = missing | (words_at(e[STRONG])[i] & ~facts[1 + i])
    if (position == e[GOAL]) | (missing != 0):
        return 1
    if e[CHOSEN_CARE] != 0:
        return is_chosen(e, facts)
    return 0


def receive_one(w: Words, e: Words, position: Word, value: Word) -> None:
    mark = offset(words_at(e[MARKS]), position * MARK_WORDS)
    if mark[1] & STATUS != GONE:
        if e[MODE] == COUNTING:
            mark[1] = mark[1] + (value << 2)
        if e[MODE] == LEAVING:
            mark[1] = mark[1] - (value << 2)
        if e[MODE] == REACHING and (mark[0] | value) != mark[0]:
            mark[0] = mark[0] | value
            mark[1] = (mark[1] & ~STATUS) | TELLING
        if e[MODE] == COLORING and value > mark[0]:
            mark[0] = value
            mark[1] = (mark[1] & ~STATUS) | TELLING
        if e[MODE] == LAYERING:
            if (value & 1) | helps(e, position) != 0:
                hit(w, e, position)
            if mark[0] == 0:
                mark[0] = value >> 1
                mark[1] = (mark[1] & ~STATUS) | TELLING


@exported
def receive(w: Words, e: Words, rows: Words, number: Word) -> Word:
    """Marks the receivers of messages. Returns how many of them are not stored."""
    table = cells_at(w[TABLE])
    scratch = words_at(w[SCRATCH])
    strange = 0
    start = 0
    while start < number:
        size = number - start
        if size > GROUP:
            size = GROUP
        for i in range(size):
            h = fingerprint(offset(rows, (start + i) * (NW + 1)), SEED_1)
            scratch[i] = h
            prefetch(table, place_of(w[SIZE], h))
        for j in range(size):
            row = offset(rows, (start + j) * (NW + 1))
            position = position_of(w, scratch[j], row)
            scratch[j] = position
            if position != MISSING:
                prefetch(words_at(e[MARKS]), position * MARK_WORDS)
        for k in range(size):
            if scratch[k] == MISSING:
                strange = strange + 1
            else:
                receive_one(w, e, scratch[k], offset(rows, (start + k) * (NW + 1))[NW])
        start = start + size
    return strange


# Lassos.


def hit(w: Words, e: Words, position: Word) -> None:
    """Remembers in HIT the place, from 1 on, of the smallest state."""
    if e[HIT] == 0 or less(address_of(w, position), address_of(w, e[HIT] - 1)) == 1:
        e[HIT] = position + 1


@exported
def find(w: Words, e: Words, state: Words) -> Word:
    """The position of a state; MISSING if it is not stored."""
    return position_of(w, fingerprint(state, SEED_1), state)


@exported
def find_origins(w: Words, e: Words, target: Words, anyhow: Word) -> Word:
    """Remembers the smallest state of LAYER with a step to the target, ``anyhow`` or with a wanted label."""
    rows = words_at(e[ROWS])
    context = words_at(e[STEP_CONTEXT])
    for at in range(e[STATES]):
        mark = offset(words_at(e[MARKS]), at * MARK_WORDS)
        if mark[1] & STATUS != GONE and mark[0] == e[LAYER]:
            state = state_at(w, at)
            made = call_model(e[STEP_EXPAND], state, rows, context)
            for i in range(made):
                row = offset(rows, i * (NW + 2))
                is_step = row[NW + 1] == 0 and same(row, target) == 1 and same(row, state) == 0
                if is_step and (anyhow | is_wanted(e, row)) != 0:
                    hit(w, e, at)
    return e[HIT]


# Recoverability: a bit for each state from which a goal is known to be reachable.


def has_bit(bits: Words, position: Word) -> Word:
    return (bits[position >> 6] >> (position & 63)) & 1


def set_bit(bits: Words, position: Word) -> None:
    bits[position >> 6] = bits[position >> 6] | (1 << (position & 63))


@exported
def mark_goals(e: Words) -> Word:
    """Sets the bits of goal states."""
    for i in range(e[STATES]):
        facts = facts_of(e, i)
        if (facts[0] & e[INSIDE_CARE]) != e[INSIDE_WANT]:
            set_bit(words_at(e[MARKS]), i)
    return 0


@exported
def count_unmarked(e: Words, start: Word, stop: Word) -> Word:
    """The number of states of a slice without a bit."""
    found = 0
    for i in range(stop - start):
        found = found + 1 - has_bit(words_at(e[MARKS]), start + i)
    return found


@exported
def request(w: Words, e: Words, r: Words, start: Word, stop: Word) -> Word:
    """Searches a successor with a bit for states without one: here, or by a request to the partition that owns it.

    The positions of those that find one here are put in OWN, and their bits are set. Returns the next position.
    """
    rows = words_at(e[ROWS])
    context = words_at(e[STEP_CONTEXT])
    bits = words_at(e[MARKS])
    own = words_at(e[OWN])
    at = start
    while at < stop and r[FULLEST] < r[ROOM]:
        if has_bit(bits, at) == 0:
            state = state_at(w, at)
            made = call_model(e[STEP_EXPAND], state, rows, context)
            found = 0
            for i in range(made):
                row = offset(rows, i * (NW + 2))
                h = fingerprint(row, SEED_1)
                if found == 0 and row[NW + 1] == 0 and (((h >> 32) * r[OWNERS]) >> 32) == e[HERE]:
                    position = position_of(w, h, row)
                    if position != MISSING:
                        found = has_bit(bits, position)
            if found == 1:
                set_bit(bits, at)
                own[e[OWN_COUNT]] = at
                e[OWN_COUNT] = e[OWN_COUNT] + 1
            else:
                for j in range(made):
                    asked = offset(rows, j * (NW + 2))
                    g = fingerprint(asked, SEED_1)
                    if asked[NW + 1] == 0 and (((g >> 32) * r[OWNERS]) >> 32) != e[HERE]:
                        asked[NW] = (e[HERE] << POSITION_BITS) | at
                        post(r, g, asked, NW + 1)
        at = at + 1
    return at


@exported
def respond(w: Words, e: Words, r: Words, rows: Words, number: Word) -> Word:
    """Responds to requests about states with a bit: puts the positions of the requesting states in the outboxes.

    Returns how many of the states are not stored.
    """
    bits = words_at(e[MARKS])
    counts = words_at(r[COUNTS])
    last = MISSING
    strange = 0
    for i in range(number):
        row = offset(rows, i * (NW + 1))
        if row[NW] != last:
            position = position_of(w, fingerprint(row, SEED_1), row)
            if position == MISSING:
                strange = strange + 1
            else:
                if has_bit(bits, position) == 1:
                    last = row[NW]
                    asker = last >> POSITION_BITS
                    words_at(words_at(r[OUTBOXES])[asker])[counts[asker]] = last & ((1 << POSITION_BITS) - 1)
                    counts[asker] = counts[asker] + 1
    return strange


@exported
def apply_responses(e: Words, positions: Words, number: Word) -> Word:
    """Sets bits."""
    for i in range(number):
        set_bit(words_at(e[MARKS]), positions[i])
    return 0


ELIMINATION_LOOPS: list[Callable[..., Any]] = [
    fingerprint, same, copy, address_of, word_of, is_stored, state_at, place_of, position_of, facts_of, seal,
    compute_facts, is_chosen, may_stutter, enter_region, start_counting, seed_labels, eliminate, finish_sending,
    eliminate_sources, count_statuses, post, combined, combine, is_wanted, send, flush, helps, less, hit,
    receive_one, receive, find, find_origins, has_bit, set_bit, mark_goals, count_unmarked, request, respond,
    apply_responses,
]  # fmt: skip
