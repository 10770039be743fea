"""The inner loops of the search, compiled by ``floodmark.checkers.codegen.loop_compiler``.

A worker stores the states that it is the first to find one after another in ``STORE``, level by level, so its part of
a level's frontier is a slice of it. A state's position is its index there times the number of workers plus the worker's
number. ``TABLE``, which all workers share, is an open-addressing hash table of 32-bit cells, each a position
plus one and, in the remaining bits, a tag from the fingerprint. A successor is compared with the whole stored state, so
states are never confused. A cell is set once, by an atomic operation, after its state was written; workers take the
frontier in chunks, and from each other when their own part is done.

A stored state takes ``STRIDE`` bytes, as few as its bits need: the rest of its last word belongs to the next state and
is masked. A state is written as whole words, so it clears the first bytes of the next place, which is still empty: a
worker writes only to its own store, in order.

Constants that specialise a compilation: ``NW`` (words of a state), ``STRIDE``, ``LAST`` (the bits of the last word
that belong to a stored state), ``SYMMETRY``, ``THREADS`` (workers), ``RECENT_BITS``,
``FILTERED_FROM``, ``HINTED_FROM``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from floodmark.checkers.codegen.loop_compiler import (
    WINDOW,
    Cells,
    Word,
    Words,
    acquire,
    apart,
    call_model,
    cells_at,
    claim,
    exported,
    fitting,
    lowest_bit,
    offset,
    peek,
    poke,
    prefetch,
    put_if_zero,
    release,
    words_at,
)

NW = 1
STRIDE = 8
LAST = (1 << 64) - 1
SYMMETRY = 0
THREADS = 1
RECENT_BITS = 0
"""The logarithm of how many successors a worker remembers, to drop those that come again: 0 for none. A large table is
not in a processor's caches, and a representative of an orbit costs more than a successor."""
FILTERED_FROM = 0
"""The number of cells from which a table is large."""
HINTED_FROM = 0
"""The number of cells from which a large table is so large that hints are kept, too."""

# Fields of a worker, an array of words.
STORE, COUNT, TABLE, BITS, LIMIT, CURSOR, LEVEL_END, LEVEL = range(8)
BUFFER, PENDING, SCRATCH, CONTEXT, EXPAND, CHECK, CANONICAL, BEST = range(8, 16)
DIGEST_1, DIGEST_2, ME, STORES, CURSORS, ENDS, STOP, OWNER = range(16, 24)
FALSE_WANTED, TRUE_WANTED, DEADLOCK, TARGET, SIZE, STATE, RECENT, HINTS = range(24, 32)
FIELDS = 32
"""``SIZE`` is how many cells the table has, ``BITS`` how many bits of a cell hold a position; ``STATE`` is room for
the words of one state; ``RECENT`` has ``2 ** RECENT_BITS`` successors; ``HINTS`` has ``HINT_WORDS``, followed by the
words of a block of states."""

# What ``run`` returns.
PAUSED, LEVEL_DONE, GROW = range(3)

# Places in BEST, each the position plus one of the smallest state (by its words) for which something was noted.
BEST_STATE, BEST_STEP, BEST_OUTSIDE, BEST_FAILED_STEP, BEST_FAILED_CHECK, BEST_DEADLOCK, BEST_PARENT = (
    0,
    64,
    128,
    192,
    193,
    194,
    195,
)
BEST_PLACES = 200

BATCH = 512
"""Successors gathered before they are looked up together."""
GROUP = 128
"""Look-ups whose memory is prefetched together."""
HASHES, PLACES, ROWS, KNOWN = (part * GROUP for part in range(4))
SCRATCH_WORDS = 4 * GROUP
"""The scratch memory of a group: for each look-up a fingerprint, a cell, and the state's place in the buffer; and the
positions of states that were found again."""
BLOCK = 64
"""The number of consecutive states of a store that get hints together."""
DENSE = 8
"""The number of states of a block that must be found again before the next block gets hints."""
HINT_BITS = 12
"""The binary logarithm of the number of hints that a worker keeps; 0 means none."""
COUNTED_BLOCKS = 256
"""The number of blocks for which a worker counts the states that are found again."""
COUNTS_OF_BLOCKS = 1 << HINT_BITS
HASHES_OF_BLOCK = COUNTS_OF_BLOCKS + COUNTED_BLOCKS
HINT_WORDS = HASHES_OF_BLOCK + BLOCK
"""The memory of hints: the hints, the counts of blocks, and the fingerprints of the states of a block."""
PAUSE = 16384
"""States expanded before ``run`` lets Python check the budgets."""
CHUNK = 128
"""Frontier states that a worker takes at once."""
SHARED_WINDOW = 4
"""Cells that a worker looks at together where others may write to them, so that it reads each one by itself."""
LINE = 8
"""Words of a cache line: counters written by different workers are this far apart."""
CELLS_OF_LINE = 16
"""Cells of a cache line. Cells looked at together are in one line, since only that line was prefetched."""
ALL_ONES = (1 << 64) - 1

SEED_1 = 0x9E3779B97F4A7C15
SEED_2 = 0xC2B2AE3D27D4EB4F
MULTIPLIER_1 = 0xFF51AFD7ED558CCD
MULTIPLIER_2 = 0xC4CEB9FE1A85EC53

FAILED, BROKEN, CUT, OUTSIDE = range(4)
DISTINCT, SETTLED = range(6, 8)
COUNTERS = 11


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


def copy(target: Words, source: Words) -> None:
    for i in range(NW):
        target[i] = source[i]


def is_recent(recent: Words, mask: Word, h: Word, state: Words) -> Word:
    """Whether the latest state with these bits of its fingerprint is this one; from now on it is.

    Sound where each state that is not dropped is looked up before the next one is dropped because of it: a state in
    ``recent`` is then stored, whoever stored it, or is about to be, and no state leaves a table that is still used. A
    store that has undone a level (``take_back``) only gives its states to another one, which has a filter of its own.
    ``partitioned.empty_filter`` fills ``recent`` at first.
    """
    cell = offset(recent, (h & mask) * NW)
    found = same(cell, state)
    copy(cell, state)
    return found


def address_of(w: Words, position: Word) -> Word:
    """The address of the state at a position, in whichever worker's store it is."""
    if THREADS == 1:
        return w[STORE] + position * STRIDE
    stores = words_at(w[STORES])
    return stores[position % THREADS] + position // THREADS * STRIDE


def word_of(address: Word, i: Word) -> Word:
    """A word of the state stored at an address."""
    word = peek(address + i * 8)
    if i == NW - 1:
        word = word & LAST
    return word


def is_stored(address: Word, state: Words) -> Word:
    """Whether the state stored at an address is this one."""
    difference = 0
    for i in range(NW):
        difference = difference | (word_of(address, i) ^ state[i])
    if difference == 0:
        return 1
    return 0


def keep(address: Word, state: Words) -> None:
    """Stores a state at an address; nothing may be stored after it yet."""
    for i in range(NW):
        poke(address + i * 8, state[i])


def state_at(w: Words, position: Word) -> Words:
    """The words of the state at a position, valid until the next call."""
    address = address_of(w, position)
    state = words_at(address)
    if STRIDE != NW * 8:
        state = words_at(w[STATE])
        for i in range(NW):
            state[i] = word_of(address, i)
    return state


def less(a: Word, b: Word) -> Word:
    """Whether the state stored at one address is smaller than the one at another."""
    for i in range(NW):
        if word_of(a, i) < word_of(b, i):
            return 1
        if word_of(a, i) > word_of(b, i):
            return 0
    return 0


def place_of(cells: Word, h: Word) -> Word:
    """The cell at which the search for a fingerprint begins: its low half, as a fraction of the table."""
    return ((h & 4294967295) * cells) >> 32


def first_fitting(table: Cells, cells: Word, start: Word, kept: Word, wanted: Word) -> Word:
    """The cell at which a look-up that begins at ``start`` continues: every cell before it is taken, and differs from
    ``wanted`` in the bits that are ``kept``. Usually the cell itself is empty or fits.

    A cell that is taken never changes, so a look-up never has to return to a cell that it passed, despite concurrent
    writes. Several cells are examined together, because a processor cannot predict how many a look-up has to pass.
    """
    width = WINDOW
    if THREADS > 1:
        width = SHARED_WINDOW
    if cells < width:
        return start
    window = start
    last = (start | (CELLS_OF_LINE - 1)) + 1 - width
    if window > last:
        window = last
    if window > cells - width:
        window = cells - width
    found = 1 << width
    if THREADS == 1:
        found = found | fitting(table, window, kept, wanted)
    else:
        for i in range(SHARED_WINDOW):
            cell = acquire(table, window + i)
            if (cell == 0) | (cell & kept == wanted):
                found = found | (1 << i)
    place = start + lowest_bit(found >> (start - window))
    if place == cells:
        place = 0
    return place


def note(w: Words, place: Word, position: Word) -> None:
    """Remembers the state at ``position`` unless a smaller one is noted at this place."""
    best = words_at(w[BEST])
    known = best[place]
    if known == 0:
        best[place] = position + 1
    else:
        if less(address_of(w, position), address_of(w, known - 1)) == 1:
            best[place] = position + 1


def note_all(w: Words, first: Word, mask: Word, position: Word) -> None:
    """Remembers the state at the place of each bit of a mask."""
    place = first
    while mask != 0:
        if mask & 1 == 1:
            note(w, place, position)
        mask = mask >> 1
        place = place + 1


def hinted(hints: Words, h: Word) -> Word:
    """The position plus one of a state that probably has this fingerprint, or 0."""
    hint = hints[h & ((1 << HINT_BITS) - 1)]
    if (hint ^ h) >> 32 == 0:
        return hint & 4294967295
    return 0


def one_if(word: Word) -> Word:
    """1 unless the word is zero."""
    if word != 0:
        return 1
    return 0


@apart
def give_hints(w: Words, block: Word) -> None:
    """Notes where each state of a block is stored, if all of them are: before this level, or by this worker."""
    hints = words_at(w[HINTS])
    hashes = offset(hints, HASHES_OF_BLOCK)
    rows = offset(hints, HINT_WORDS)
    owner = block % THREADS
    first = block // THREADS * BLOCK
    stored = w[COUNT]
    if THREADS > 1 and owner != w[ME]:
        stored = words_at(w[ENDS])[owner * LINE]
    if first + BLOCK <= stored:
        start = address_of(w, first * THREADS + owner)
        for i in range(BLOCK):
            address = start + i * STRIDE
            prefetch(words_at(address + BLOCK * STRIDE), 0)
            for k in range(NW):
                rows[i * NW + k] = word_of(address, k)
        for f in range(BLOCK):
            hashes[f] = fingerprint(offset(rows, f * NW), SEED_1)
        for n in range(BLOCK):
            h = hashes[n]
            hints[h & ((1 << HINT_BITS) - 1)] = (h >> 32 << 32) | ((first + n) * THREADS + owner + 1)


def follow(w: Words, count: Word) -> None:
    """Counts for each block how many of its states were found again; gives hints for the block after a dense one."""
    known = offset(words_at(w[SCRATCH]), KNOWN)
    counts = offset(words_at(w[HINTS]), COUNTS_OF_BLOCKS)
    for i in range(count):
        position = known[i]
        block = position // THREADS // BLOCK * THREADS + position % THREADS
        seen = counts[block & (COUNTED_BLOCKS - 1)]
        if seen >> 32 != block:
            seen = block << 32
        seen = seen + 1
        counts[block & (COUNTED_BLOCKS - 1)] = seen
        if seen % BLOCK == DENSE:
            give_hints(w, block + THREADS)


def without_recent(w: Words, rows: Words, first: Word, size: Word) -> Word:
    """Leaves out those of some rows that are recent; returns how many look-ups remain."""
    scratch = words_at(w[SCRATCH])
    recent = words_at(w[RECENT])
    kept = 0
    for i in range(size):
        h = scratch[i]
        scratch[kept] = h
        scratch[ROWS + kept] = first + i
        kept = kept + 1 - is_recent(recent, (1 << RECENT_BITS) - 1, h, offset(rows, (first + i) * NW))
    return kept


def without_hinted(w: Words, rows: Words, size: Word) -> Word:
    """Leaves out those of some look-ups that a hint leads to their states; returns how many remain.

    Breadth-first search comes upon known states in the order in which it found them, more or less: the steps of states
    that follow one another lead to states that do. A hint is therefore given for states that are probably found again
    soon. They are read in the order in which they are stored, whereas a look-up reads two places of memory at random.

    Sound whatever the hints are, as long as they name positions where a state is stored: a state is left out only if
    all of its words are there.
    """
    scratch = words_at(w[SCRATCH])
    hints = words_at(w[HINTS])
    kept = 0
    found = 0
    for i in range(size):
        h = scratch[i]
        row = scratch[ROWS + i]
        position = hinted(hints, h)
        there = one_if(position)
        position = position - there
        there = there & is_stored(address_of(w, position), offset(rows, row * NW))
        scratch[KNOWN + found] = position
        found = found + there
        scratch[kept] = h
        scratch[ROWS + kept] = row
        kept = kept + 1 - there
    follow(w, found)
    return kept


@apart
def insert_all(w: Words, buffer: Words, count: Word) -> None:
    """Adds the states of a buffer that are new to the store.

    For a table that is so large that hints are kept, fingerprints have a loop of their own, which vector instructions
    run, and so have prefetches: a processor waits at each of these until it knows the page, and meanwhile begins only
    the few instructions after it.
    """
    store = w[STORE]
    table = cells_at(w[TABLE])
    scratch = words_at(w[SCRATCH])
    bits = w[BITS]
    size_of_table = w[SIZE]
    mask = (1 << bits) - 1
    tags = (1 << (32 - bits)) - 1
    me = w[ME]
    recent = words_at(w[RECENT])
    filtered = 0
    hinting = 0
    if RECENT_BITS > 0 and SYMMETRY == 0 and size_of_table >= FILTERED_FROM:
        filtered = 1
        if HINT_BITS > 0 and size_of_table >= HINTED_FROM:
            hinting = 1
    start = 0
    while start < count:
        size = 0
        if hinting == 1:
            taken = count - start
            if taken > GROUP:
                taken = GROUP
            for g in range(taken):
                scratch[g] = fingerprint(offset(buffer, (start + g) * NW), SEED_1)
            size = without_hinted(w, buffer, without_recent(w, buffer, start, taken))
            start = start + taken
            for i in range(size):
                prefetch(table, place_of(size_of_table, scratch[i]))
        else:
            while start < count and size < GROUP:
                state = offset(buffer, start * NW)
                h = fingerprint(state, SEED_1)
                scratch[size] = h
                scratch[ROWS + size] = start
                kept = 1
                if filtered == 1:
                    kept = 1 - is_recent(recent, (1 << RECENT_BITS) - 1, h, state)
                prefetch(table, place_of(size_of_table, h) * kept)
                size = size + kept
                start = start + 1
        for j in range(size):
            h = scratch[j]
            wanted = ((h >> 32) & tags) << bits
            place = first_fitting(table, size_of_table, place_of(size_of_table, h), tags << bits, wanted)
            scratch[PLACES + j] = place
            position = acquire(table, place) & mask
            if position != 0:
                position = position - 1
            prefetch(words_at(address_of(w, position)), 0)
        known = w[COUNT]
        digest_1 = w[DIGEST_1]
        digest_2 = w[DIGEST_2]
        again = 0
        for k in range(size):
            h = scratch[k]
            tag = (h >> 32) & tags
            place = scratch[PLACES + k]
            state = offset(buffer, scratch[ROWS + k] * NW)
            cell = acquire(table, place)
            while True:
                if cell == 0:
                    keep(store + known * STRIDE, state)
                    mine = (tag << bits) | (known * THREADS + me + 1)
                    if THREADS == 1:
                        table[place] = mine
                    else:
                        cell = put_if_zero(table, place, mine)
                    if cell == 0:
                        known = known + 1
                        digest_1 = digest_1 + h
                        digest_2 = digest_2 + fingerprint(state, SEED_2)
                        break
                if (cell >> bits) == tag and is_stored(address_of(w, (cell & mask) - 1), state) == 1:
                    scratch[KNOWN + again] = (cell & mask) - 1
                    again = again + hinting
                    break
                place = place + 1
                if place == size_of_table:
                    place = 0
                cell = acquire(table, place)
        w[COUNT] = known
        w[DIGEST_1] = digest_1
        w[DIGEST_2] = digest_2
        if hinting == 1:
            follow(w, again)


def look_at_flags(w: Words, context: Words, position: Word) -> None:
    """Notes what went wrong while the state at ``position`` was expanded."""
    if context[FAILED] != 0:
        context[FAILED] = 0
        note(w, BEST_FAILED_STEP, position)
    if context[BROKEN] != 0:
        note_all(w, BEST_STEP, context[BROKEN], position)
        context[BROKEN] = 0
    if context[OUTSIDE] != ALL_ONES:
        note_all(w, BEST_OUTSIDE, ~context[OUTSIDE] & w[FALSE_WANTED], position)
        context[OUTSIDE] = ALL_ONES


def drop_recent(w: Words, states: Words, count: Word) -> Word:
    """Keeps those of some successors that are not recent, and returns how many these are."""
    kept = 0
    for i in range(count):
        state = offset(states, i * NW)
        found = is_recent(words_at(w[RECENT]), (1 << RECENT_BITS) - 1, fingerprint(state, SEED_1), state)
        copy(offset(states, kept * NW), state)
        kept = kept + 1 - found
    return kept


def take_chunk(w: Words) -> Word:
    """Takes a chunk of the frontier for the worker, from its own part first; returns 0 when nothing is left.

    CURSOR and LEVEL_END then bound positions in the store of the worker OWNER.
    """
    if THREADS == 1:
        return 0
    cursors = words_at(w[CURSORS])
    ends = words_at(w[ENDS])
    for step in range(THREADS):
        owner = (w[ME] + step) % THREADS
        end = ends[owner * LINE]
        if acquire(cursors, owner * LINE) < end:
            first = claim(cursors, owner * LINE, CHUNK)
            if first < end:
                w[OWNER] = owner
                w[CURSOR] = first
                w[LEVEL_END] = first + CHUNK
                if first + CHUNK > end:
                    w[LEVEL_END] = end
                return 1
    return 0


def expand_some(w: Words, most: Word) -> Word:
    """Expands frontier states into the buffer until a batch is full; returns how many states were expanded."""
    buffer = words_at(w[BUFFER])
    context = words_at(w[CONTEXT])
    cursor = w[CURSOR]
    end = w[LEVEL_END]
    owner = w[OWNER]
    context[DISTINCT] = 1
    first = cursor
    count = 0
    while count < BATCH and cursor < end and cursor - first < most:
        out = offset(buffer, count * NW)
        cut = context[CUT]
        position = cursor * THREADS + owner
        made = call_model(w[EXPAND], state_at(w, position), out, context)
        if context[FAILED] != 0 or context[BROKEN] != 0 or context[OUTSIDE] != ALL_ONES:
            look_at_flags(w, context, position)
        if made == 0 and w[DEADLOCK] != 0 and cut == context[CUT]:
            note(w, BEST_DEADLOCK, position)
        if SYMMETRY == 1 and RECENT_BITS > 0:
            made = drop_recent(w, out, made)
        count = count + made
        cursor = cursor + 1
    if SYMMETRY == 1:
        call_model(w[CANONICAL], buffer, count)
    w[CURSOR] = cursor
    w[PENDING] = count
    return cursor - first


@exported
def run(w: Words) -> Word:
    """Expands the frontier until it is used up or Python is needed: GROW (the table is too full for the pending
    states, so all workers have to stop), PAUSED (for the budgets, or because another worker asks to stop)."""
    budget = PAUSE
    stop = words_at(w[STOP])
    while True:
        if w[PENDING] > 0:
            if w[COUNT] + w[PENDING] > w[LIMIT]:
                release(stop, 0, 1)
                return GROW
            insert_all(w, words_at(w[BUFFER]), w[PENDING])
            w[PENDING] = 0
        if w[CURSOR] == w[LEVEL_END] and take_chunk(w) == 0:
            return LEVEL_DONE
        if budget == 0:
            return PAUSED
        if THREADS > 1 and acquire(stop, 0) != 0:
            return PAUSED
        budget = budget - expand_some(w, budget)


@exported
def check_states(w: Words, start: Word, stop: Word) -> Word:
    """Evaluates the state predicates of a slice of the store, and notes what matters."""
    context = words_at(w[CONTEXT])
    context[SETTLED] = ~(w[FALSE_WANTED] | w[TRUE_WANTED])
    for i in range(stop - start):
        position = (start + i) * THREADS + w[ME]
        mask = call_model(w[CHECK], state_at(w, position), context)
        noted = (~mask & w[FALSE_WANTED]) | (mask & w[TRUE_WANTED])
        if context[FAILED] != 0:
            context[FAILED] = 0
            note(w, BEST_FAILED_CHECK, position)
            noted = noted & w[FALSE_WANTED]
        if noted != 0:
            note_all(w, BEST_STATE, noted, position)
    return 0


@exported
def rehash(w: Words) -> Word:
    """Enters the positions of the worker's states, which are all different, into a new table."""
    table = cells_at(w[TABLE])
    scratch = words_at(w[SCRATCH])
    bits = w[BITS]
    size_of_table = w[SIZE]
    tags = (1 << (32 - bits)) - 1
    start = 0
    while start < w[COUNT]:
        size = w[COUNT] - start
        if size > GROUP:
            size = GROUP
        for i in range(size):
            h = fingerprint(state_at(w, (start + i) * THREADS + w[ME]), SEED_1)
            scratch[i] = h
            prefetch(table, place_of(size_of_table, h))
        for j in range(size):
            h = scratch[j]
            place = place_of(size_of_table, h)
            mine = (((h >> 32) & tags) << bits) | ((start + j) * THREADS + w[ME] + 1)
            if THREADS == 1:
                while table[place] != 0:
                    place = place + 1
                    if place == size_of_table:
                        place = 0
                table[place] = mine
            else:
                while put_if_zero(table, place, mine) != 0:
                    place = place + 1
                    if place == size_of_table:
                        place = 0
        start = start + size
    return 0


@exported
def find_parent(w: Words, start: Word, stop: Word) -> Word:
    """Notes the smallest state of a slice of the store that has the state TARGET as a successor."""
    buffer = words_at(w[BUFFER])
    context = words_at(w[CONTEXT])
    target = words_at(w[TARGET])
    for i in range(stop - start):
        position = (start + i) * THREADS + w[ME]
        made = call_model(w[EXPAND], state_at(w, position), buffer, context)
        if SYMMETRY == 1:
            call_model(w[CANONICAL], buffer, made)
        for j in range(made):
            if same(offset(buffer, j * NW), target) == 1:
                note(w, BEST_PARENT, position)
                break
    return 0


LOOPS: list[Callable[..., Any]] = [
    fingerprint,
    same,
    copy,
    is_recent,
    address_of,
    word_of,
    is_stored,
    keep,
    state_at,
    less,
    place_of,
    first_fitting,
    note,
    note_all,
    hinted,
    one_if,
    give_hints,
    follow,
    without_recent,
    without_hinted,
    insert_all,
    look_at_flags,
    drop_recent,
    take_chunk,
    expand_some,
    run,
    check_states,
    rehash,
    find_parent,
]
