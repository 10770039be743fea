"""The inner loops of the search, compiled by ``checkers.explicit.loops``.

A worker owns the states whose fingerprint falls to it. Its states lie one after the other in ``STORE``, level after
level, so a level's frontier is a slice of it; ``TABLE`` is an open-addressing hash table of 32-bit cells, each a
position in the store plus one and, in the bits that are left, a tag of the fingerprint. A successor is compared with
the whole stored state, so nothing is ever taken for something else. Successors of other workers travel through rings,
one for each pair of workers, written by one and read by the other.

Constants that specialise a compilation: ``NW`` (words of a state), ``SYMMETRY``, ``SHARED`` (more than one worker).
"""

from __future__ import annotations

from checkers.explicit.loops import (
    Word,
    Words,
    acquire,
    call_model,
    cells_at,
    exported,
    offset,
    prefetch,
    release,
    words_at,
)

NW = 1
SYMMETRY = 0
SHARED = 0

# Fields of a worker, an array of words.
STORE, COUNT, TABLE, BITS, LIMIT, CURSOR, LEVEL_END, LEVEL = range(8)
BUFFER, PENDING, SCRATCH, CONTEXT, EXPAND, CHECK, CANONICAL, BEST = range(8, 16)
DIGEST_1, DIGEST_2, ME, WORKERS, RINGS, OUTBOX, OUT_COUNT, DONE = range(16, 24)
FALSE_WANTED, TRUE_WANTED, DEADLOCK, TARGET = range(24, 28)
FIELDS = 32

# What ``run`` returns.
PAUSED, LEVEL_DONE, GROW, WAITING = range(4)

# Places in BEST, each the position plus one of the smallest state (by its words) of which something was noted.
BEST_STATE, BEST_STEP, BEST_OUTSIDE, BEST_FAILED_STEP, BEST_FAILED_CHECK, BEST_DEADLOCK, BEST_PARENT = (
    0, 64, 128, 192, 193, 194, 195,
)
BEST_PLACES = 200

BATCH = 512
"""Successors that are gathered before they are looked up together."""
GROUP = 64
"""Look-ups whose memory is fetched ahead together."""
PAUSE = 16384
"""States that are expanded before ``run`` lets Python look at the budgets."""
PATIENCE = 2000
RING = 16384
"""States that a ring holds."""
RING_HEAD, RING_TAIL, RING_DATA = 0, 8, 16
EVERYTHING = (1 << 64) - 1

SEED_1 = 0x9E3779B97F4A7C15
SEED_2 = 0xC2B2AE3D27D4EB4F
MULTIPLIER_1 = 0xFF51AFD7ED558CCD
MULTIPLIER_2 = 0xC4CEB9FE1A85EC53

FAILED, BROKEN, CUT, OUTSIDE = range(4)
COUNTERS = 8


def fingerprint(state: Words, seed: Word) -> Word:
    h = seed
    for i in range(NW):
        h = (h ^ state[i]) * MULTIPLIER_1
        h = h ^ (h >> 32)
        h = h * MULTIPLIER_2
        h = h ^ (h >> 29)
    return h


def same(a: Words, b: Words) -> Word:
    difference = 0
    for i in range(NW):
        difference = difference | (a[i] ^ b[i])
    if difference == 0:
        return 1
    return 0


def less(a: Words, b: Words) -> Word:
    for i in range(NW):
        if a[i] < b[i]:
            return 1
        if a[i] > b[i]:
            return 0
    return 0


def copy(target: Words, source: Words) -> None:
    for i in range(NW):
        target[i] = source[i]


def note(w: Words, place: Word, position: Word) -> None:
    """Remembers the state at ``position`` unless a smaller one is noted at this place."""
    best = words_at(w[BEST])
    store = words_at(w[STORE])
    known = best[place]
    if known == 0:
        best[place] = position + 1
    else:
        if less(offset(store, position * NW), offset(store, (known - 1) * NW)) == 1:
            best[place] = position + 1


def note_all(w: Words, first: Word, mask: Word, position: Word) -> None:
    """Remembers the state at the place of each bit of a mask."""
    for bit in range(64):
        if (mask >> bit) & 1 == 1:
            note(w, first + bit, position)


def insert_all(w: Words, buffer: Words, count: Word) -> None:
    """Adds the states of a buffer that are new to the store."""
    store = words_at(w[STORE])
    table = cells_at(w[TABLE])
    scratch = words_at(w[SCRATCH])
    bits = w[BITS]
    mask = (1 << bits) - 1
    tags = (1 << (32 - bits)) - 1
    known = w[COUNT]
    digest_1 = w[DIGEST_1]
    digest_2 = w[DIGEST_2]
    start = 0
    while start < count:
        size = count - start
        if size > GROUP:
            size = GROUP
        for i in range(size):
            h = fingerprint(offset(buffer, (start + i) * NW), SEED_1)
            scratch[i] = h
            prefetch(table, h & mask)
        for j in range(size):
            h = scratch[j]
            tag = (h >> 32) & tags
            place = h & mask
            cell = table[place]
            while cell != 0 and (cell >> bits) != tag:
                place = (place + 1) & mask
                cell = table[place]
            scratch[GROUP + j] = place
            if cell != 0:
                prefetch(store, ((cell & mask) - 1) * NW)
        for k in range(size):
            h = scratch[k]
            tag = (h >> 32) & tags
            place = scratch[GROUP + k]
            state = offset(buffer, (start + k) * NW)
            while 1 == 1:
                cell = table[place]
                if cell == 0:
                    copy(offset(store, known * NW), state)
                    known = known + 1
                    table[place] = (tag << bits) | known
                    digest_1 = digest_1 + h
                    digest_2 = digest_2 + fingerprint(state, SEED_2)
                    break
                if (cell >> bits) == tag:
                    if same(offset(store, ((cell & mask) - 1) * NW), state) == 1:
                        break
                place = (place + 1) & mask
        start = start + size
    w[COUNT] = known
    w[DIGEST_1] = digest_1
    w[DIGEST_2] = digest_2


def look_at_flags(w: Words, context: Words, position: Word) -> None:
    """Notes what went wrong while the state at ``position`` was expanded."""
    if context[FAILED] != 0:
        context[FAILED] = 0
        note(w, BEST_FAILED_STEP, position)
    if context[BROKEN] != 0:
        note_all(w, BEST_STEP, context[BROKEN], position)
        context[BROKEN] = 0
    if context[OUTSIDE] != EVERYTHING:
        note_all(w, BEST_OUTSIDE, ~context[OUTSIDE] & w[FALSE_WANTED], position)
        context[OUTSIDE] = EVERYTHING


def canonicalise(w: Words, states: Words, count: Word) -> None:
    for i in range(count):
        call_model(w[CANONICAL], offset(states, i * NW))


def expand_some(w: Words, most: Word) -> Word:
    """Expands frontier states into the buffer until a batch is full; returns how many states were expanded."""
    store = words_at(w[STORE])
    buffer = words_at(w[BUFFER])
    context = words_at(w[CONTEXT])
    cursor = w[CURSOR]
    end = w[LEVEL_END]
    first = cursor
    count = 0
    while count < BATCH and cursor < end and cursor - first < most:
        out = offset(buffer, count * NW)
        cut = context[CUT]
        made = call_model(w[EXPAND], offset(store, cursor * NW), out, context)
        if context[FAILED] != 0 or context[BROKEN] != 0 or context[OUTSIDE] != EVERYTHING:
            look_at_flags(w, context, cursor)
        if made == 0 and w[DEADLOCK] != 0 and cut == context[CUT]:
            note(w, BEST_DEADLOCK, cursor)
        if SYMMETRY == 1:
            canonicalise(w, out, made)
        count = count + made
        cursor = cursor + 1
    w[CURSOR] = cursor
    w[PENDING] = count
    return cursor - first


def sort_out(w: Words) -> None:
    """Moves the states of other workers from the buffer to their outboxes."""
    buffer = words_at(w[BUFFER])
    outboxes = words_at(w[OUTBOX])
    counts = words_at(w[OUT_COUNT])
    mine = 0
    for i in range(w[PENDING]):
        state = offset(buffer, i * NW)
        owner = ((fingerprint(state, SEED_1) >> 56) * w[WORKERS]) >> 8
        if owner == w[ME]:
            copy(offset(buffer, mine * NW), state)
            mine = mine + 1
        else:
            copy(offset(words_at(outboxes[owner]), counts[owner] * NW), state)
            counts[owner] = counts[owner] + 1
    w[PENDING] = mine


def send(w: Words) -> Word:
    """Moves states from the outboxes to the rings; returns how many did not find room."""
    outboxes = words_at(w[OUTBOX])
    counts = words_at(w[OUT_COUNT])
    rings = words_at(w[RINGS])
    left = 0
    for other in range(w[WORKERS]):
        waiting = counts[other]
        if waiting > 0:
            ring = words_at(rings[w[ME] * w[WORKERS] + other])
            box = words_at(outboxes[other])
            tail = ring[RING_TAIL]
            room = RING - (tail - acquire(ring, RING_HEAD))
            if room > waiting:
                room = waiting
            for i in range(room):
                copy(offset(ring, RING_DATA + ((tail + i) & (RING - 1)) * NW), offset(box, (waiting - 1 - i) * NW))
            release(ring, RING_TAIL, tail + room)
            counts[other] = waiting - room
            left = left + waiting - room
    return left


def receive(w: Words) -> Word:
    """Moves states from the rings into the buffer; returns how many."""
    rings = words_at(w[RINGS])
    buffer = words_at(w[BUFFER])
    count = 0
    for other in range(w[WORKERS]):
        if other != w[ME]:
            ring = words_at(rings[other * w[WORKERS] + w[ME]])
            head = ring[RING_HEAD]
            there = acquire(ring, RING_TAIL) - head
            if there > BATCH - count:
                there = BATCH - count
            for i in range(there):
                copy(offset(buffer, count * NW), offset(ring, RING_DATA + ((head + i) & (RING - 1)) * NW))
                count = count + 1
            if there > 0:
                release(ring, RING_HEAD, head + there)
    w[PENDING] = count
    return count


def all_done(w: Words) -> Word:
    """Whether every worker has expanded its frontier and sent everything off."""
    done = words_at(w[DONE])
    for other in range(w[WORKERS]):
        if acquire(done, other * 8) < w[LEVEL]:
            return 0
    return 1


@exported
def run(w: Words) -> Word:
    """Expands the worker's frontier, states CURSOR to LEVEL_END of its store, until the level is done or Python is
    needed: GROW (the table is too full), WAITING (for another worker), PAUSED (for the budgets)."""
    budget = PAUSE
    spins = 0
    while 1 == 1:
        if w[PENDING] > 0:
            if w[COUNT] + w[PENDING] > w[LIMIT]:
                return GROW
            insert_all(w, words_at(w[BUFFER]), w[PENDING])
            w[PENDING] = 0
        if SHARED == 1:
            finished = 0
            if w[CURSOR] == w[LEVEL_END]:
                finished = all_done(w)
            left = send(w)
            if receive(w) > 0:
                spins = 0
                continue
            if finished == 1:
                return LEVEL_DONE
            if left > 0:
                spins = spins + 1
                if spins > PATIENCE:
                    return WAITING
                continue
        if w[CURSOR] < w[LEVEL_END]:
            if budget == 0:
                return PAUSED
            budget = budget - expand_some(w, budget)
            if SHARED == 1:
                sort_out(w)
            continue
        if SHARED == 0:
            return LEVEL_DONE
        release(words_at(w[DONE]), w[ME] * 8, w[LEVEL])
        spins = spins + 1
        if spins > PATIENCE:
            return WAITING


@exported
def check_states(w: Words, start: Word, stop: Word) -> Word:
    """Evaluates the state predicates of a slice of the store, and notes what matters."""
    store = words_at(w[STORE])
    context = words_at(w[CONTEXT])
    for i in range(stop - start):
        position = start + i
        mask = call_model(w[CHECK], offset(store, position * NW), context)
        noted = (~mask & w[FALSE_WANTED]) | (mask & w[TRUE_WANTED])
        if context[FAILED] != 0:
            context[FAILED] = 0
            note(w, BEST_FAILED_CHECK, position)
        else:
            if noted != 0:
                note_all(w, BEST_STATE, noted, position)
    return 0


@exported
def rehash(w: Words) -> Word:
    """Fills a new, empty table with the positions of all stored states, which differ from each other."""
    store = words_at(w[STORE])
    table = cells_at(w[TABLE])
    scratch = words_at(w[SCRATCH])
    bits = w[BITS]
    mask = (1 << bits) - 1
    tags = (1 << (32 - bits)) - 1
    start = 0
    while start < w[COUNT]:
        size = w[COUNT] - start
        if size > GROUP:
            size = GROUP
        for i in range(size):
            h = fingerprint(offset(store, (start + i) * NW), SEED_1)
            scratch[i] = h
            prefetch(table, h & mask)
        for j in range(size):
            h = scratch[j]
            place = h & mask
            while table[place] != 0:
                place = (place + 1) & mask
            table[place] = (((h >> 32) & tags) << bits) | (start + j + 1)
        start = start + size
    return 0


@exported
def find_parent(w: Words, start: Word, stop: Word) -> Word:
    """Notes the smallest state of a slice of the store that has the state TARGET as a successor."""
    store = words_at(w[STORE])
    buffer = words_at(w[BUFFER])
    context = words_at(w[CONTEXT])
    target = words_at(w[TARGET])
    for i in range(stop - start):
        position = start + i
        made = call_model(w[EXPAND], offset(store, position * NW), buffer, context)
        if SYMMETRY == 1:
            canonicalise(w, buffer, made)
        for j in range(made):
            if same(offset(buffer, j * NW), target) == 1:
                note(w, BEST_PARENT, position)
                break
    return 0


LOOPS = [
    fingerprint,
    same,
    less,
    copy,
    note,
    note_all,
    insert_all,
    look_at_flags,
    canonicalise,
    expand_some,
    sort_out,
    send,
    receive,
    all_done,
    run,
    check_states,
    rehash,
    find_parent,
]
