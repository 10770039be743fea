"""The inner loop of random walks, written for ``codegen/loop_compiler.py`` like those of the search.

A walk begins in an initial state and takes one step after the other. It ends after ``STEPS`` steps, where no action is
enabled, or where every enabled step leaves the boundary. Its random numbers come from a generator that is seeded with
the number of the walk alone, so a walk does not depend on its thread or on the order of walks.

The visited states are counted in a sample: those whose fingerprint has ``LEVEL`` certain bits all zero. When the table
is full, ``LEVEL`` grows by one and about half of the sample leaves it (P. Flajolet, "On adaptive sampling", Computing
43, 1990). The sample is thus exact as long as it is small; later its size times two to the power of ``LEVEL`` estimates
the number of distinct states without bias.

A cell of the sample has a part of the fingerprint, above the lowest ``TAG_BITS`` bits, part of the number of the last
walk that visited the state, and in its lowest two bits the number of walks that did: one (0), two (1), or more (3).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from floodmark.checkers.codegen.loop_compiler import (
    Word,
    Words,
    bits_in,
    call_model,
    deposited,
    exported,
    lowest_bit,
    offset,
    prefetch,
    words_at,
)
from floodmark.checkers.kernel.loops import (
    ALL_ONES,
    BROKEN,
    CUT,
    FAILED,
    OUTSIDE,
    SEED_1,
    copy,
    fingerprint,
)

NW = 1
BMI2 = 0
"""Whether the processor has ``deposited``."""

# Fields of a walker, an array of words.
CURRENT, OUT, CONTEXT, CHECK, ACTIONS, ACTION_COUNT, INITIAL, INITIAL_COUNT = range(8)
ORDER, KEPT, RANDOM, SEED, WALK, LAST_WALK, STEP, STEPS = range(8, 16)
STRATEGY, TAKEN, FALSE_WANTED, TRUE_WANTED, MET, DEADLOCK, FOUND, MASK = range(16, 24)
PATH, SAMPLE, SAMPLE_SIZE, SAMPLE_COUNT, LEVEL, SPARE, VISITS, SEEN = range(24, 32)
SEEN_SIZE, DEAD_ENDS, CUT_SHORT, ENDS, CHOSEN, DEEPEST, NOTED, COVER = range(32, 40)
COVER_CONTEXT, COVER_AFTER, CANDIDATES, KEPT_MASK, WAITING, JUDGED, FINISHED, GOALS = range(40, 48)
WALKER_FIELDS = 48
"""``TAKEN`` counts the steps of each action, ``ENDS`` has room for the number of an instance after each action's, and
``PATH``, unless it is zero, takes the states of a walk, one after the other, up to the one after ``NOTED`` steps.
``COVER``, unless it is zero, is the function that counts the coverage of a visited state. ``CANDIDATES``, unless it is
zero, is the function that computes which actions may be enabled, ``KEPT_MASK`` which of them a walk keeps. ``WAITING``
is the key of the last visited state, which is not in the sample yet. ``MET`` are the properties of ``TRUE_WANTED`` that
held in the walk, and ``GOALS`` counts the walks of each. ``JUDGED`` are entries of ``NW`` + 1 words: a state, and the
mask of its properties with ``KNOWN``."""

BY_ACTION, BY_INSTANCE, BY_PRIORITY, SWARM, NOVEL = range(5)
"""The strategies for drawing the next step."""

PAUSED, DONE, FOUND_SOMETHING = range(3)
"""The results of ``walk``."""
FALSE_STATE, FAILED_CHECK, WRONG_STEP, DEAD_END = range(1, 5)
"""The values of ``FOUND``: properties are false in the current state, or fail there; a step from it is a violation; it
has no successor."""

PAUSE = 1 << 16
"""The number of steps after which ``walk`` returns to Python to check the limits."""
NOVEL_TRIES = 4
"""The number of steps that ``NOVEL`` draws before it takes one to a state that was seen before."""
CHANGES = 3
"""The average number of times that a walk by priorities gives the last action the lowest priority."""
JUDGED_STATES = 1 << 12
"""The number of entries of ``JUDGED``, so small that they stay in the processor's cache."""
KNOWN = 1 << 63
"""The bit of a used entry of ``JUDGED``: there are fewer properties."""
WALK_BITS = 16
TAG_BITS = WALK_BITS + 2
GOLDEN = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB


def mixed(number: Word) -> Word:
    """The finaliser of splitmix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators",
    OOPSLA 2014)."""
    z = (number ^ (number >> 30)) * MIX_1
    z = (z ^ (z >> 27)) * MIX_2
    return z ^ (z >> 31)


def drawn_word(w: Words) -> Word:
    """A random word."""
    random = w[RANDOM] + GOLDEN
    w[RANDOM] = random
    return mixed(random)


def drawn(w: Words, bound: Word) -> Word:
    """A random number below ``bound``, which is below 2**32."""
    return ((drawn_word(w) >> 32) * bound) >> 32


def place_in(table: Words, size: Word, key: Word) -> Word:
    """The cell of a table that holds a key, or the empty one where it belongs."""
    place = ((key >> 32) * size) >> 32
    while table[place] != 0 and (table[place] ^ key) >> TAG_BITS != 0:
        place = place + 1
        if place == size:
            place = 0
    return place


def thin_out(w: Words) -> None:
    """Makes room in the sample: about half of the fingerprints leave it."""
    full = w[SAMPLE]
    empty = w[SPARE]
    table = words_at(full)
    spare = words_at(empty)
    size = w[SAMPLE_SIZE]
    w[LEVEL] = w[LEVEL] + 1
    mask = ((1 << w[LEVEL]) - 1) << TAG_BITS
    kept = 0
    for i in range(size):
        spare[i] = 0
    for j in range(size):
        cell = table[j]
        if cell != 0 and cell & mask == 0:
            spare[place_in(spare, size, cell)] = cell
            kept = kept + 1
    w[SAMPLE] = empty
    w[SPARE] = full
    w[SAMPLE_COUNT] = kept


@exported
def settle(w: Words) -> Word:
    """Enters the last visited state into the sample. It waits for the next visit: by then its cell is in the cache."""
    key = w[WAITING]
    w[WAITING] = 0
    if key != 0 and key & (((1 << w[LEVEL]) - 1) << TAG_BITS) == 0:
        table = words_at(w[SAMPLE])
        place = place_in(table, w[SAMPLE_SIZE], key)
        if table[place] == 0:
            table[place] = key
            w[SAMPLE_COUNT] = w[SAMPLE_COUNT] + 1
            if w[SAMPLE_COUNT] * 2 > w[SAMPLE_SIZE]:
                thin_out(w)
        else:
            cell = table[place]
            if (cell ^ key) >> 2 != 0:
                table[place] = key | 1 | ((cell & 1) << 1)
    return 0


def was_seen(w: Words, state: Words) -> Word:
    """Whether this group of walks has probably visited a state; a hash may collide."""
    seen = words_at(w[SEEN])
    bit = fingerprint(state, SEED_1) & (w[SEEN_SIZE] * 64 - 1)
    return (seen[bit >> 6] >> (bit & 63)) & 1


def visit(w: Words, current: Words) -> None:
    """Counts a visit of the current state, and records it if the path is requested."""
    w[VISITS] = w[VISITS] + 1
    if w[STEP] > w[DEEPEST]:
        w[DEEPEST] = w[STEP]
    if w[PATH] != 0:
        copy(offset(words_at(w[PATH]), w[STEP] * NW), current)
        w[NOTED] = w[STEP]
    if w[COVER] != 0:
        call_model(w[COVER], current, words_at(w[COVER_AFTER]), words_at(w[COVER_CONTEXT]))
    h = fingerprint(current, SEED_1)
    if w[STRATEGY] == NOVEL:
        seen = words_at(w[SEEN])
        bit = h & (w[SEEN_SIZE] * 64 - 1)
        seen[bit >> 6] = seen[bit >> 6] | (1 << (bit & 63))
    key = (h >> TAG_BITS) << TAG_BITS
    if key == 0:
        key = 1 << TAG_BITS
    key = key | ((w[WALK] & ((1 << WALK_BITS) - 1)) << 2)
    settle(w)
    w[WAITING] = key
    prefetch(words_at(w[SAMPLE]), ((key >> 32) * w[SAMPLE_SIZE]) >> 32)


def mask_of(w: Words, current: Words, context: Words) -> Word:
    """The state predicates that are true in the current state. Walks often return to a state, so its mask is cached. An
    entry applies only to a state that is equal word by word, and the predicates depend on nothing else."""
    entry = offset(words_at(w[JUDGED]), ((w[WAITING] >> 32) & (JUDGED_STATES - 1)) * (NW + 1))
    difference = 0
    for i in range(NW):
        difference = difference | (entry[i] ^ current[i])
    if difference == 0 and entry[NW] != 0:
        return entry[NW] & ~KNOWN
    mask = call_model(w[CHECK], current, context)
    if context[FAILED] == 0:
        copy(entry, current)
        entry[NW] = mask | KNOWN
    return mask


def meet(w: Words, met: Word) -> None:
    """Counts the walk for each property that holds in it for the first time."""
    goals = words_at(w[GOALS])
    w[MET] = w[MET] | met
    while met != 0:
        place = lowest_bit(met)
        goals[place] = goals[place] + 1
        met = met & (met - 1)


def look(w: Words, current: Words, context: Words) -> None:
    """Evaluates the state predicates in the current state."""
    mask = mask_of(w, current, context)
    met = mask & w[TRUE_WANTED] & ~w[MET]
    if met != 0 and context[FAILED] == 0:
        meet(w, met)
    wrong = ~mask & w[FALSE_WANTED]
    if context[FAILED] != 0:
        context[FAILED] = 0
        w[FOUND] = FAILED_CHECK
        wrong = 0
    if wrong != 0:
        w[FOUND] = FALSE_STATE
        w[MASK] = wrong


def begin(w: Words, current: Words) -> None:
    """Begins the walk of the number in ``WALK``."""
    w[MET] = 0
    w[RANDOM] = mixed(w[SEED] ^ mixed(w[WALK] + 1))
    copy(current, offset(words_at(w[INITIAL]), drawn(w, w[INITIAL_COUNT]) * NW))
    order = words_at(w[ORDER])
    count = w[ACTION_COUNT]
    for i in range(count):
        order[i] = i
    w[KEPT] = count
    w[KEPT_MASK] = ALL_ONES
    if w[STRATEGY] == BY_PRIORITY:
        for j in range(count):
            other = j + drawn(w, count - j)
            action = order[other]
            order[other] = order[j]
            order[j] = action
    if w[STRATEGY] == SWARM:
        kept = 0
        mask = 0
        for k in range(count):
            if drawn(w, 2) == 1:
                order[kept] = k
                kept = kept + 1
                mask = mask | (1 << (k & 63))
        if kept > 0:
            w[KEPT] = kept
            w[KEPT_MASK] = mask


def nth_bit(word: Word, n: Word) -> Word:
    """The place of the bit that is set in a word and has ``n`` set bits below it."""
    if BMI2 == 1:
        return lowest_bit(deposited(1 << n, word))
    while n != 0:
        word = word & (word - 1)
        n = n - 1
    return lowest_bit(word)


def steps_of_a_candidate(w: Words, current: Words, context: Words) -> Word:
    """Takes all steps of one enabled action, drawn uniformly, if a word has a bit for each action. A candidate that
    turns out to be disabled is removed."""
    actions = words_at(w[ACTIONS])
    out = words_at(w[OUT])
    candidates = call_model(w[CANDIDATES], current, context) & w[KEPT_MASK]
    while candidates != 0:
        action = nth_bit(candidates, drawn(w, bits_in(candidates)))
        made = call_model(actions[action], current, out, context)
        if made != 0:
            w[CHOSEN] = action
            return made
        candidates = candidates & ~(1 << action)
    return 0


def steps_of_an_action(w: Words, current: Words, context: Words) -> Word:
    """Takes all steps of one enabled action, which is stored in ``CHOSEN``; returns their number. Without priorities,
    the action is uniform among the enabled ones: the first enabled one in a random order."""
    if w[CANDIDATES] != 0 and w[STRATEGY] != BY_PRIORITY:
        return steps_of_a_candidate(w, current, context)
    order = words_at(w[ORDER])
    actions = words_at(w[ACTIONS])
    out = words_at(w[OUT])
    kept = w[KEPT]
    made = 0
    i = 0
    while i < kept:
        place = i
        if w[STRATEGY] != BY_PRIORITY:
            place = i + drawn(w, kept - i)
        action = order[place]
        order[place] = order[i]
        order[i] = action
        made = call_model(actions[action], current, out, context)
        if made != 0:
            w[CHOSEN] = action
            break
        i = i + 1
    if made != 0 and w[STRATEGY] == BY_PRIORITY and drawn(w, w[STEPS]) < CHANGES:
        while i + 1 < kept:
            order[i] = order[i + 1]
            i = i + 1
        order[kept - 1] = w[CHOSEN]
    return made


def steps_of_all_actions(w: Words, current: Words, context: Words) -> Word:
    """Takes all steps; returns their number."""
    actions = words_at(w[ACTIONS])
    ends = words_at(w[ENDS])
    made = 0
    for action in range(w[ACTION_COUNT]):
        made = made + call_model(actions[action], current, offset(words_at(w[OUT]), made * NW), context)
        ends[action] = made
    return made


def advance(w: Words, current: Words, context: Words) -> Word:
    """Takes one step; 0 if there is none. A violation by the step is stored in ``FOUND``."""
    cut = context[CUT]
    out = words_at(w[OUT])
    tries = 1
    if w[STRATEGY] == NOVEL:
        tries = NOVEL_TRIES
    made = 0
    number = 0
    while tries != 0:
        if w[STRATEGY] == BY_INSTANCE:
            made = steps_of_all_actions(w, current, context)
        else:
            made = steps_of_an_action(w, current, context)
        if context[FAILED] != 0 or context[BROKEN] != 0 or ~context[OUTSIDE] & w[FALSE_WANTED] != 0:
            w[FOUND] = WRONG_STEP
            return 0
        context[OUTSIDE] = ALL_ONES
        tries = tries - 1
        if made == 0:
            tries = 0
        else:
            number = 0
            if made != 1:
                number = drawn(w, made)
            if tries != 0 and was_seen(w, offset(out, number * NW)) == 0:
                tries = 0
    if made == 0:
        if cut != context[CUT]:
            w[CUT_SHORT] = w[CUT_SHORT] + 1
            return 0
        w[DEAD_ENDS] = w[DEAD_ENDS] + 1
        if w[DEADLOCK] != 0 and w[KEPT] == w[ACTION_COUNT]:
            w[FOUND] = DEAD_END
        return 0
    if w[STRATEGY] == BY_INSTANCE:
        ends = words_at(w[ENDS])
        action = 0
        while ends[action] <= number:
            action = action + 1
        w[CHOSEN] = action
    copy(current, offset(out, number * NW))
    taken = words_at(w[TAKEN])
    taken[w[CHOSEN]] = taken[w[CHOSEN]] + 1
    return 1


@exported
def walk(w: Words) -> Word:
    """Takes walks up to ``LAST_WALK``, until all are done, a violation is found, or Python should check the limits.

    ``STEP`` is the number of steps of the current walk; it is ALL_ONES before its first state.
    """
    budget = PAUSE
    current = words_at(w[CURRENT])
    context = words_at(w[CONTEXT])
    while w[WALK] < w[LAST_WALK]:
        if w[STEP] == ALL_ONES:
            begin(w, current)
            w[STEP] = 0
            visit(w, current)
            look(w, current, context)
            if w[FOUND] != 0:
                return FOUND_SOMETHING
        while w[STEP] < w[STEPS]:
            if budget == 0:
                return PAUSED
            budget = budget - 1
            if advance(w, current, context) == 0:
                if w[FOUND] != 0:
                    return FOUND_SOMETHING
                break
            w[STEP] = w[STEP] + 1
            visit(w, current)
            look(w, current, context)
            if w[FOUND] != 0:
                return FOUND_SOMETHING
        w[WALK] = w[WALK] + 1
        w[FINISHED] = w[FINISHED] + 1
        w[STEP] = ALL_ONES
    return DONE


WALK_LOOPS: list[Callable[..., Any]] = [
    fingerprint,
    copy,
    mixed,
    drawn_word,
    drawn,
    place_in,
    thin_out,
    settle,
    was_seen,
    visit,
    mask_of,
    meet,
    look,
    begin,
    nth_bit,
    steps_of_a_candidate,
    steps_of_an_action,
    steps_of_all_actions,
    advance,
    walk,
]
