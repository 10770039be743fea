"""Small models that distinguish the right meaning of a construct from a likely wrong one, in every engine and z3."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Annotated, Any

import numpy as np
import pytest

from floodmark import (
    Bag,
    Between,
    Capacity,
    Map,
    Model,
    Record,
    Set,
    action,
    invariant,
    reachable,
    require,
    transition,
)
from floodmark.checkers.codegen.jit import GOOD, MachineCode, _compile
from floodmark.checkers.codegen.loop_compiler import compile_loops
from floodmark.checkers.kernel import loops as native_loops
from floodmark.checkers.kernel import partitioned as loops
from floodmark.compiler.layout import fingerprint
from tests.support.engines import ENGINES, Outcome, outcome, plain_search, properties_of
from tests.support.symbolic_agreement import assert_bounded_search_agrees, assert_steps_agree


def agreed(cls: type[Model]) -> Outcome:
    """What CPython finds; fails when an engine or z3 finds something else."""
    wanted, _ = plain_search(cls(), properties_of(cls))
    for name, search_states in ENGINES.items():
        assert (name, outcome(search_states, cls(), properties_of(cls))) == (name, wanted)
    assert_steps_agree(cls())
    assert_bounded_search_agrees(cls(), properties_of(cls), wanted, depth=3, most=60)
    return wanted


class Divisions(Model):
    """Every pair of a small dividend and divisor, of both signs."""

    a: Annotated[int, Between(-4, 3)] = 0
    b: Annotated[int, Between(-3, 3)] = 1
    quotient: Annotated[int, Between(-5, 5)] = 0
    rest: Annotated[int, Between(-3, 3)] = 0

    @action
    def divide(self, a: Annotated[int, Between(-4, 3)], b: Annotated[int, Between(-3, 3)]) -> None:
        self.a = a
        self.b = b if b != 0 else 1
        self.quotient = self.a // self.b
        self.rest = self.a % self.b

    @invariant
    def what_is_left_has_the_sign_of_the_divisor(self) -> bool:
        return 0 <= self.rest < self.b or self.b < self.rest <= 0

    @invariant
    def both_make_the_dividend(self) -> bool:
        return self.quotient * self.b + self.rest == self.a


class Leaving(Model):
    """Loops that are left on their way, the inner of two, by each turn once; what follows ``break`` does not happen."""

    stop: Annotated[int, Between(0, 4)] = 0
    turns: Annotated[int, Between(0, 9)] = 0
    inner: Annotated[int, Between(0, 9)] = 0
    last: Annotated[int, Between(0, 9)] = 0

    @action
    def leave(self, stop: Annotated[int, Between(0, 4)]) -> None:
        self.stop = stop
        self.turns = 0
        self.inner = 0
        for number in range(4):
            if number == self.stop:
                break
            self.turns += 1
            self.last = number
            for other in range(3):
                if other == number:
                    break
                if other == 1:
                    continue
                self.inner += 1

    @invariant
    def no_turn_after_the_last(self) -> bool:
        return self.turns == self.stop

    @reachable
    def left_at_once(self) -> bool:
        return self.stop == 0 and self.last == 3


class Skipping(Model):
    """Turns of a loop that are cut short, with no other loop around it."""

    least: Annotated[int, Between(0, 4)] = 0
    turns: Annotated[int, Between(0, 4)] = 0

    @action
    def skip(self, least: Annotated[int, Between(0, 4)]) -> None:
        self.least = least
        self.turns = 0
        for number in range(4):
            if number < self.least:
                continue
            self.turns += 1

    @invariant
    def no_turn_is_counted_below(self) -> bool:
        return self.turns in (0, 4 - self.least)


Wide = Annotated[int, Between(0, 200_000)]
WIDEST = 2**62 - 1
HELD = (7, 150_000, 199_999)


class FullSlots(Model):
    """A full set in slots: what is there already, in whichever slot, changes nothing; anything else is one too many."""

    held: Annotated[Set[Wide], Capacity(3)] = Set(HELD)
    again: Annotated[int, Between(0, 3)] = 0

    @action
    def smallest(self) -> None:
        self.held.add(7)
        self.again = 1

    @action
    def middle(self) -> None:
        self.held = self.held | {150_000}
        self.again = 2

    @action
    def largest(self) -> None:
        self.held.add(199_999)
        self.again = 3

    @action
    def without(self) -> None:
        self.held.discard(150_000)

    @invariant
    def each_once(self) -> bool:
        return len(self.held) <= 3 and 7 in self.held and sum(1 for number in self.held if number == 7) == 1

    @invariant
    def equal_however_it_was_made(self) -> bool:
        return self.held in (Set(HELD), Set((7, 199_999)))


class EveryElement(Model):
    """Slots for as many elements as there are: only then is one that is added again found in the last slot."""

    held: Annotated[Set[Annotated[int, Between(0, 2)]], Capacity(3)] = Set()

    @action
    def insert(self, number: Annotated[int, Between(0, 2)]) -> None:
        self.held.add(number)

    @action
    def join(self, number: Annotated[int, Between(0, 2)]) -> None:
        self.held = self.held | {number, 0, 2}

    @action
    def remove(self, number: Annotated[int, Between(0, 2)]) -> None:
        self.held.discard(number)

    @invariant
    def as_many_as_can_be_named(self) -> bool:
        return len(self.held) == sum(1 for number in range(3) if number in self.held)


class WholeWord(Model):
    """Slots that fill a word to its last bit, with nothing behind the last of them."""

    held: Annotated[Set[Annotated[int, Between(0, 39_999)]], Capacity(4)] = Set((1, 2, 30_000, 39_999))
    many: Annotated[Bag[Annotated[int, Between(0, 39_999)]], Capacity(4)] = Bag((0, 5, 5, 39_999))

    @action
    def remove(self) -> None:
        for number in (1, 2, 30_000, 39_999):
            if number in self.held and len(self.held) > 2:
                self.held.remove(number)

    @action
    def discard(self) -> None:
        self.held.discard(1)

    @action
    def take(self, number: Annotated[int, Between(0, 5)]) -> None:
        require(number in self.many)
        self.many.remove(number)

    @invariant
    def the_largest_stays(self) -> bool:
        return 39_999 in self.held and 39_999 in self.many

    @reachable
    def one_of_each(self) -> bool:
        return self.many.count(5) == 1 and len(self.many) == 2


class Masks(Model):
    """Elements of a set that is a mask, taken out one by one."""

    held: Set[Annotated[int, Between(0, 3)]] = Set((0, 1, 2, 3))

    @action
    def remove(self, number: Annotated[int, Between(0, 3)]) -> None:
        require(number in self.held)
        self.held.remove(number)

    @transition
    def only_one_is_gone(old: Masks, new: Masks) -> bool:  # noqa: N805
        return new.held < old.held and len(old.held - new.held) == 1


class Outside(Model):
    """Numbers that no element of a mask can be, also those that differ from one by as much as a word has bits."""

    held: Set[Annotated[int, Between(0, 2)]] = Set((0, 2))
    number: Annotated[int, Between(-64, 66)] = 0
    there: bool = True

    @action
    def look(self, number: Annotated[int, Between(-64, 66)]) -> None:
        require(self.number == 0)
        self.number = number
        self.there = number in self.held

    @invariant
    def two_are_there(self) -> bool:
        return self.there == (self.number == 0 or self.number == 2)


class Part(Record):
    """Three values in four codes."""

    number: Annotated[int, Between(0, 2)]


class Whole(Record):
    """A part of which some codes are none of its own, and others are those of no optional part."""

    part: Part | None
    on: bool


class Wholes(Model):
    """A parameter that runs over records with gaps in the codes of a field and behind them."""

    whole: Whole = Whole(part=None, on=False)

    @action
    def choose(self, whole: Whole) -> None:
        self.whole = whole

    @invariant
    def is_small(self) -> bool:
        return self.whole.part is None or self.whole.part.number <= 2


class Asked(Record):
    first: Annotated[int, Between(0, 2)]
    second: Annotated[int, Between(0, 2)]


class Told(Record):
    third: bool
    fourth: bool


class Messages(Model):
    """A parameter that runs over the records of two classes, each with the fields of its own and no others."""

    message: Asked | Told = Told(third=False, fourth=False)

    @action
    def send(self, message: Asked | Told) -> None:
        self.message = message

    @invariant
    def is_small(self) -> bool:
        return isinstance(self.message, Told) or self.message.first + self.message.second <= 4


PARTS = [
    Set(Part(number=number) for number in numbers) for count in range(4) for numbers in combinations(range(3), count)
]


class SparseKeys(Model):
    """A map whose keys are sets of what has fewer values than codes."""

    seen: Map[Set[Part], bool] = Map({parts: False for parts in PARTS})

    @action
    def see(self, parts: Set[Part]) -> None:
        require(not any(self.seen.values()))
        self.seen[parts] = True

    @invariant
    def one_at_most(self) -> bool:
        return sum(1 for parts, seen in self.seen.items() if seen) <= 1


@pytest.mark.parametrize("cls", [
    Divisions, Leaving, Skipping, FullSlots, EveryElement, WholeWord, Masks, Outside, Wholes, Messages, SparseKeys,
])  # fmt: skip
def test_every_engine_reads_it_as_cpython_does(cls: type[Model]) -> None:
    assert agreed(cls).verdict == "holds"


class OverfullSlots(FullSlots):
    @action
    def another(self) -> None:
        self.held.add(8)


def test_an_element_beyond_the_capacity_is_an_error() -> None:
    assert agreed(OverfullSlots).verdict == "error"


class Far(Model):
    """States of several words, of which the way to the bad one leads through later successors, told apart by each."""

    first: Annotated[int, Between(0, WIDEST)] = 0
    second: Annotated[int, Between(0, WIDEST)] = 0
    third: Annotated[int, Between(0, WIDEST)] = 0

    @action
    def in_the_third(self) -> None:
        self.third = 1

    @action
    def in_the_second(self) -> None:
        self.second = 1

    @action
    def in_the_first(self) -> None:
        self.first = 1

    @action
    def on(self) -> None:
        require(self.second == 1 and self.first == 1 and self.third == 0)
        self.first = WIDEST

    @invariant
    def never_there(self) -> bool:
        return self.first < WIDEST


def test_the_way_to_a_state_of_several_words() -> None:
    assert agreed(Far).shortest == 4


@pytest.mark.parametrize("words", [2, 3])
def test_what_lately_was_sent_is_compared_by_all_of_its_words(words: int) -> None:
    """States that differ in one word only, whichever, all go to their owner; the same state again does not.

    The filter has one place, so each state meets the one before it there.
    """
    code = MachineCode([_compile(compile_loops(_LOOPS, {"NW": words, "SYMMETRY": 0, "THREADS": 1}), GOOD)])
    states = [[5] * words]
    for place in range(words):
        changed = list(states[-1])
        changed[place] += 1
        states += [changed, changed]
    buffer = np.array(states, dtype=np.uint64).reshape(-1)
    outbox = np.zeros(len(buffer), dtype=np.uint64)
    boxes, counts = np.array([outbox.ctypes.data], dtype=np.uint64), np.zeros(1, dtype=np.uint64)
    scratch, seen = np.zeros(native_loops.SCRATCH_WORDS, dtype=np.uint64), np.zeros(words, dtype=np.uint64)
    fields, route = np.zeros(native_loops.FIELDS, dtype=np.uint64), np.zeros(loops.ROUTE_FIELDS, dtype=np.uint64)
    fields[native_loops.BUFFER], fields[native_loops.PENDING] = buffer.ctypes.data, len(states)
    fields[native_loops.SCRATCH] = scratch.ctypes.data
    route[loops.OUTBOXES], route[loops.COUNTS] = boxes.ctypes.data, counts.ctypes.data
    route[loops.FILTER], route[loops.FILTER_BITS], route[loops.OWNERS] = seen.ctypes.data, 0, 1
    code.function("deliver", 2)(fields.ctypes.data, route.ctypes.data)
    sent = [list(map(int, row)) for row in outbox[: int(counts[0]) * words].reshape(-1, words)]
    assert sent == [states[0], *states[1::2]]
    assert int(route[loops.DROPPED]) == words


def test_each_place_of_a_filter_drops_what_it_sent_last() -> None:
    """Of more states than are looked up at once, from a few that come again and again."""
    words, bits, count = 2, 3, 3 * native_loops.GROUP + 5
    code = MachineCode([_compile(compile_loops(_LOOPS, {"NW": words, "SYMMETRY": 0, "THREADS": 1}), GOOD)])
    chance = random.Random(1)
    states = [[chance.randint(1, 4), chance.randint(1, 3)] for _ in range(count)]
    buffer = np.array([*states, *[[9, 9]] * native_loops.GROUP], dtype=np.uint64).reshape(-1)
    outbox = np.zeros(len(buffer), dtype=np.uint64)
    boxes, counts = np.array([outbox.ctypes.data], dtype=np.uint64), np.zeros(1, dtype=np.uint64)
    scratch, seen = np.zeros(native_loops.SCRATCH_WORDS, dtype=np.uint64), np.zeros(words << bits, dtype=np.uint64)
    fields, route = np.zeros(native_loops.FIELDS, dtype=np.uint64), np.zeros(loops.ROUTE_FIELDS, dtype=np.uint64)
    fields[native_loops.BUFFER], fields[native_loops.PENDING] = buffer.ctypes.data, count
    fields[native_loops.SCRATCH] = scratch.ctypes.data
    route[loops.OUTBOXES], route[loops.COUNTS] = boxes.ctypes.data, counts.ctypes.data
    route[loops.FILTER], route[loops.FILTER_BITS], route[loops.OWNERS] = seen.ctypes.data, bits, 1
    code.function("deliver", 2)(fields.ctypes.data, route.ctypes.data)
    latest: dict[int, list[int]] = {}
    wanted = []
    for state in states:
        place = fingerprint(tuple(state), native_loops.SEED_1) & (1 << bits) - 1
        if latest.get(place) != state:
            wanted.append(state)
        latest[place] = state
    assert len(latest) > 4 and len(wanted) < count
    assert outbox[: int(counts[0]) * words].reshape(-1, words).tolist() == wanted
    assert (int(route[loops.DROPPED]), int(fields[native_loops.PENDING])) == (count - len(wanted), 0)


_LOOPS: list[Any] = loops.PARTITIONED_LOOPS[: loops.PARTITIONED_LOOPS.index(loops.deliver) + 1]
