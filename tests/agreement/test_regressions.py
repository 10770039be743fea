"""Disagreements between CPython and compiled code that generated models have found; each stays as its own model."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import pytest

from floodmark import (
    Bag,
    Between,
    Capacity,
    Constant,
    Identifier,
    Map,
    Model,
    Record,
    Seq,
    Set,
    action,
    boundary,
    implies,
    initial,
    invariant,
    reachable,
    require,
    transition,
)
from floodmark.checkers.kernel.compiled_model import build_kernel
from floodmark.checkers.native import search as native
from floodmark.checkers.reference import search
from floodmark.checkers.search_result import Options
from tests.support.engines import ENGINES, Outcome, outcome, plain_search, properties_of
from tests.support.symbolic_agreement import assert_bounded_search_agrees

Tiny = Annotated[int, Between(0, 2)]
Log = Annotated[Seq[Tiny], Capacity(2)]


class Node(Identifier, count=2, prefix="n"):
    pass


class Colour(Enum):
    RED = 0
    GREEN = 1


def agreed(cls: type[Model]) -> Outcome:
    """What CPython finds; fails when an engine finds something else."""
    wanted, _ = plain_search(cls(), properties_of(cls))
    for name, search_states in ENGINES.items():
        assert (name, outcome(search_states, cls(), properties_of(cls))) == (name, wanted)
    if wanted.distinct:
        assert_bounded_search_agrees(cls(), properties_of(cls), wanted, depth=3, most=40)
    return wanted


class Counter(Model):
    """What the small models below share: a number that each may set."""

    x: Tiny
    log: Log
    some: Tiny | None

    @initial
    def start(self, log: Log, some: Tiny | None) -> None:
        self.x = 0
        self.log = log
        self.some = some


class RuledOutBesideADraw(Model):
    """A guard that is never true stands before the one that draws a parameter of many values."""

    allowed = Constant(False)
    kept: Annotated[Set[Annotated[int, Between(0, 1_000_000_000)]], Capacity(1)]
    lists: Annotated[Set[Annotated[Seq[Tiny], Capacity(2)]], Capacity(1)]

    @initial
    def start(self) -> None:
        self.kept = Set()
        self.lists = Set()

    @action
    def drop(self, small: Tiny, number: Annotated[int, Between(0, 1_000_000_000)]) -> None:
        require(self.allowed and number in self.kept)
        self.kept = Set()

    @action
    def forget(self, numbers: Annotated[Seq[Tiny], Capacity(2)]) -> None:
        require(self.allowed and numbers in self.lists)
        self.lists = Set()


class TupleMembership(Counter):
    """Python evaluates every element of ``(a, b)`` before it looks for one."""

    @action
    def look(self) -> None:
        require(self.x in (0, self.log[1]))
        self.x = 1


class RangeMembership(Counter):
    """Python evaluates both ends of a range, however far below the value is."""

    @action
    def look(self) -> None:
        require(-1 in range(self.log[1]))
        self.x = 1


class NoneInRange(Counter):
    """None is in no range; it is no error to ask."""

    @action
    def look(self) -> None:
        if self.some in range(2):
            self.x = 1
        else:
            self.x = 2


class NoneAsSliceEnd(Counter):
    """``log[:None]`` is the whole log, ``log[None:]`` too."""

    @action
    def head(self) -> None:
        self.log = self.log[: self.some]

    @action
    def tail(self) -> None:
        self.log = self.log[self.some :]


class FailingMemberOfClass(Counter):
    """What is asked to be a member of a class is evaluated, although the answer is known."""

    nodes: Annotated[Seq[Node], Capacity(1)]

    @initial
    def start(self, log: Log, some: Tiny | None) -> None:
        super().start(log, some)
        self.nodes = Seq()

    @action
    def look(self) -> None:
        if self.nodes[0] in Node:
            self.x = 1


class WiderElement(Model):
    """A set that is looked for among narrower ones is not there; it is no error to ask."""

    groups: Set[Set[Tiny]]
    bag: Annotated[Bag[Tiny], Capacity(2)]
    x: Annotated[int, Between(0, 5)]

    @initial
    def start(self, x: Annotated[int, Between(0, 5)]) -> None:
        self.groups = Set({Set({0}), Set({1, 2})})
        self.bag = Bag([1, 1])
        self.x = x

    @action
    def look(self) -> None:
        if Set({self.x}) in self.groups:
            self.x = 5
        else:
            self.x = self.bag.count(self.x)


class EmptySetAmongSets(Model):
    """A container that holds nothing but empty literals compares with everything."""

    x: bool

    @initial
    def start(self) -> None:
        self.x = False

    @action
    def look(self) -> None:
        require(Set({self.x}) not in Seq([Set()])[:1])
        self.x = any(number > 0 for group in Set({Set[int]()}) for number in sorted(group)) or sum(Set()) == 0


class OptionalDisjoint(Model):
    """``isdisjoint`` takes an optional set as every other operator does."""

    some: Set[Node] | None

    @initial
    def start(self) -> None:
        self.some = Set()

    @action
    def add(self, node: Node) -> None:
        require(Set({node}).isdisjoint(self.some))  # type: ignore[arg-type]
        self.some = Set({node}) if self.some is None else self.some | {node}


class StepThatFailsBesideOneThatBreaks(Model):
    """A property that is false of one step and fails on another of the same state: both are found."""

    x: Annotated[int, Between(0, 3)]
    log: Log

    @initial
    def start(self) -> None:
        self.x = 0
        self.log = Seq()

    @action
    def move(self, to: Annotated[int, Between(1, 3)]) -> None:
        self.x = to

    @action
    def overflow(self) -> None:
        self.x = self.x - 1

    @transition
    def small(old: Model, new: StepThatFailsBesideOneThatBreaks) -> bool:  # noqa: N805
        return new.x != 1 and (new.x != 2 or new.log[0] == 0)


class FailureOutsideOfTheBoundary(Model):
    """A failing boundary of an initial state is an error of the model."""

    log: Log

    @initial
    def start(self) -> None:
        self.log = Seq()

    @action
    def grow(self) -> None:
        self.log = Seq([1])

    @boundary
    def near(self) -> bool:
        return self.log[0] == 0


class BagFromGenerator(Model):
    """A bag that a generator makes compares with one of another capacity."""

    bag: Annotated[Bag[bool], Capacity(2)]

    @initial
    def start(self) -> None:
        self.bag = Bag([True])

    @action
    def change(self) -> None:
        self.bag = Bag(flag for flag in self.bag if not flag)

    @reachable
    def differs(self) -> bool:
        return self.bag != Bag(False for _ in Set({Map({colour: Colour.RED for colour in Colour})}))

    @invariant
    def few(self) -> bool:
        return len(self.bag) < 2


class OptionalSlots(Model):
    """A union makes room for both sides, an optional one too."""

    some: Annotated[Set[Tiny], Capacity(1)] | None

    @initial
    def start(self) -> None:
        self.some = Set({1})

    @action
    def compare(self, other: Tiny) -> None:
        require((self.some if self.some is not None else Set({2})) | Set({other}) != Set({1}))
        self.some = None if self.some is None else self.some ^ {other, 1}


class NothingWithoutNone(Model):
    """``Set() - None`` is an error even where the left side is empty."""

    some: Set[Node] | None
    others: Set[Node]

    @initial
    def start(self) -> None:
        self.some = None
        self.others = Set()

    @action
    def subtract(self) -> None:
        self.others = self.others - self.some  # type: ignore[operator]


class FarApart(Model):
    """Two small sets of integers that lie far apart meet in slots, not in a mask over all between."""

    far: Annotated[Set[Annotated[int, Between(0, 10**9)]], Capacity(2)]
    x: Tiny

    @initial
    def start(self, x: Tiny) -> None:
        self.far = Set()
        self.x = x

    @action
    def meet(self) -> None:
        self.far = (Set({self.x}) | {1000000000}) - {500000000}

    @action
    def choose(self) -> None:
        self.far = Set({self.x}) if self.x > 0 else Set({1000000000})


class Pair(Record):
    """A record of which not every code is a value."""

    number: Tiny


class SetsOfSparseElements(Model):
    """A parameter runs over the sets whose members are values, and over no other mask."""

    pairs: Set[Pair]
    bags: Set[Annotated[Bag[Node], Capacity(1)]]
    some: Pair | None

    @initial
    def start(self) -> None:
        self.pairs = Set()
        self.bags = Set()
        self.some = None

    @action
    def choose_pairs(self, pairs: Set[Pair]) -> None:
        self.pairs = pairs

    @action
    def choose_bags(self, bags: Set[Annotated[Bag[Node], Capacity(1)]]) -> None:
        require(len(self.pairs) == 0 and self.some is None)
        self.bags = bags

    @action
    def choose_one(self, some: Pair | None) -> None:
        require(len(self.pairs) == 0 and len(self.bags) == 0)
        self.some = some


class OptionalsInBag(Model):
    """Whether a slot of a bag is used is one thing, whether its element is None another."""

    bag: Annotated[Bag[Tiny | None], Capacity(2)]

    @initial
    def start(self) -> None:
        self.bag = Bag([None])

    @action
    def fill(self, item: Tiny | None) -> None:
        require(len(self.bag) < 2)
        self.bag.add(item)

    @action
    def drop(self) -> None:
        require(None in self.bag)
        self.bag.remove(None)


class Order(Model):
    """Sets of maps and of bags are iterated in the order of their codes, in CPython too."""

    maps: Annotated[Set[Map[Node, bool]], Capacity(2)]
    bags: Annotated[Set[Annotated[Bag[bool], Capacity(2)]], Capacity(2)]
    x: Annotated[int, Between(0, 12)]

    @initial
    def start(self) -> None:
        self.maps = Set({Map({node: node == Node(1) for node in Node}), Map({node: node == Node(2) for node in Node})})
        self.bags = Set({Bag([False, False]), Bag([True])})
        self.x = 0

    @action
    def by_map(self) -> None:
        for which in self.maps:
            self.x = self.x % 3 * 3 + (1 if which[Node(1)] else 2)

    @action
    def by_bag(self) -> None:
        for which in self.bags:
            self.x = self.x % 3 * 3 + len(which)

    @action
    def by_masked_bag(self) -> None:
        for which in Set({Bag([flag]) for flag in Set({False, True})} | {Bag[bool]()}):
            self.x = self.x % 3 * 3 + len(which) + which.count(True)


class IndexInsideOfIndex(Model):
    """An index into one sequence of several can fail for that one only."""

    logs: Annotated[Seq[Log], Capacity(2)]

    @initial
    def start(self) -> None:
        self.logs = Seq([Seq([0])])

    @action
    def change(self, to: Tiny) -> None:
        self.logs[0][0] = to

    @action
    def clear(self) -> None:
        self.logs = Seq([Seq(), Seq([1])])

    @action
    def change_last(self, to: Tiny) -> None:
        self.logs[-1][-1] = to


class ReachedBeforeItFails(Model):
    """A reachability property that came true is asked of every other state as well."""

    x: Annotated[int, Between(0, 3)]
    log: Log

    @initial
    def start(self, x: Tiny) -> None:
        self.x = x
        self.log = Seq([x])

    @action
    def forget(self) -> None:
        self.log = Seq()

    @reachable
    def starts_at_nothing(self) -> bool:
        return self.log[0] == 0


class ReachedWhereAnotherFails(ReachedBeforeItFails):
    """It fails in the same level that makes it true."""

    @initial
    def start(self, x: Tiny) -> None:
        self.x = x
        self.log = Seq() if x == 2 else Seq([x])


class ReachedOutsideOfTheBoundary(ReachedBeforeItFails):
    """It is asked outside of the boundary, too, but is not made true there."""

    @boundary
    def remembers(self) -> bool:
        return len(self.log) > 0 and self.x > 0


class ReachedOutsideOnly(ReachedOutsideOfTheBoundary):
    @action
    def forget(self) -> None:
        self.log = Seq([self.x])


class ReachableThatFailsInAnInitialStateOutside(ReachedBeforeItFails):
    @initial
    def start(self, x: Tiny) -> None:
        self.x = x
        self.log = Seq([x]) if x else Seq()

    @boundary
    def remembers(self) -> bool:
        return len(self.log) > 0


class FailingBoundary(ReachedBeforeItFails):
    """A boundary that fails after a step is an error of the model."""

    @boundary
    def starts_low(self) -> bool:
        return self.log[0] < 3


class KeysOfNothing(Model):
    """The keys of a map are known before it is evaluated; that it may be None is not."""

    some: Map[Node, Tiny] | None
    x: Tiny

    @initial
    def start(self, x: Tiny) -> None:
        self.some = None if x == 1 else Map({node: 0 for node in Node})
        self.x = x

    @action
    def count(self) -> None:
        self.x = len(Seq(self.some.keys()))  # type: ignore[union-attr]


class MapOfNothing(KeysOfNothing):
    @action
    def count(self) -> None:
        for _ in self.some:  # type: ignore[union-attr]
            self.x = 2


class SortedOncePresent(Counter):
    """A value that was compared with None is there where it is: what is sorted has no None in it."""

    @action
    def first(self) -> None:
        self.log = Seq(sorted([self.some if self.some is not None else 0, 0 if self.some is None else self.some]))

    @action
    def last(self) -> None:
        self.log = Seq(sorted(each if each is not None else 2 for each in Seq([self.some, 1])))


class DrawnFromItsClass(Model):
    """A parameter that a guard draws from all that there is."""

    some: Set[Tiny] | None
    x: Tiny

    @initial
    def start(self, x: Tiny) -> None:
        self.some = None
        self.x = x

    @action
    def count(self, node: Node, colour: Colour) -> None:
        require(node in Node)
        require(colour in Colour)
        self.x = 1 if node == Node(1) else 2


class DrawnFromNothing(DrawnFromItsClass):
    """A parameter that runs over nothing need not be one of few values."""

    @action
    def empty(self, pair: Pair, log: Log) -> None:
        require(pair in Set())
        require(log in Set())
        self.x = 1

    @action
    def stay(self, pair: Pair, x: Tiny) -> None:
        require(x > self.x)
        require(pair in Set())
        self.x = 2


class ImpliedByContainer(Counter):
    """``implies`` of containers is a truth value, not one of the containers."""

    @action
    def count(self) -> None:
        self.x = 1 if implies(self.log, Seq([0])) == True else 2  # type: ignore[arg-type]  # noqa: E712


class NothingBesideSet(Model):
    """None has no set operators, whichever side it is on, and whatever the other set holds."""

    some: Set[Tiny] | None
    x: Tiny

    @initial
    def start(self, x: Tiny) -> None:
        self.some = None if x == 2 else Set({0})
        self.x = x

    @action
    def count(self) -> None:
        require(0 in self.some & Set[Tiny]() and self.x < 0)  # type: ignore[operator]


class FailsBeforeItIsThere(KeysOfNothing):
    """What is compared with None is evaluated, also where its type says that it is there."""

    def kept(self, number: int) -> Map[Node, int]:
        return Map({node: number for node in Node})

    @action
    def count(self) -> None:
        self.x = 1 if self.kept(self.some[Node(1)]) is None else 2  # type: ignore[index]


class ReachableThatFailsBeforeItIsThere(FailsBeforeItIsThere):
    @action
    def count(self) -> None:
        self.x = 2

    @reachable
    def is_there(self) -> bool:
        return Map({node: self.some[node] for node in Node}) is not None  # type: ignore[index]


class FalseHereFailingThere(Counter):
    """A property that is false of one initial state and fails on another: the model is in error."""

    @initial
    def start(self, x: Tiny) -> None:  # type: ignore[override]
        self.x = x
        self.log = Seq() if x == 2 else Seq([x])
        self.some = None

    @action
    def stay(self) -> None:
        self.x = self.x

    @invariant
    def positive(self) -> bool:
        return self.log[0] > 0


class StepFalseHereFailingThere(Counter):
    """The same of a property of steps."""

    @initial
    def start(self) -> None:  # type: ignore[override]
        self.x = 0
        self.log = Seq()
        self.some = None

    @action
    def move(self, to: Tiny) -> None:
        self.x = to

    @transition
    def small(old: Model, new: StepFalseHereFailingThere) -> bool:  # noqa: N805
        return new.x != 1 and (new.x != 2 or new.log[0] == 0)


class SubsetOfNothing(Counter):
    """An element of nothing compares with every set."""

    @action
    def look(self) -> None:
        require(all(Set({self.x}) <= group and group <= Set({1}) for group in Set()))  # type: ignore[var-annotated]
        self.x = 1


class LargestThatIsThere(Model):
    """A maximum of what may be None, with that left out: CPython compares only where there are two."""

    ends: Map[Node, Tiny | None]
    largest: Tiny = 0

    @initial
    def start(self, end: Tiny | None) -> None:
        self.ends = Map({node: end for node in Node})

    @action
    def compare(self, node: Node) -> None:
        self.largest = max((end for end in self.ends.values() if end is not None), default=0)
        self.ends[node] = None


class SumOfTruths(Model):
    """True counts as 1: a sum of truths may be as large as there are many, and leave a type that holds fewer."""

    held: Map[Node, bool]
    count: Annotated[int, Between(0, 1)] = 0

    @initial
    def start(self) -> None:
        self.held = Map({node: False for node in Node})

    @action
    def take(self, node: Node) -> None:
        self.held[node] = True
        self.count = sum(self.held[n] for n in Node)

    @invariant
    def one_at_most(self) -> bool:
        return sum(self.held[n] for n in Node) <= 1


class LoopOverNothing(Model):
    """A loop over an empty literal, whose body would not fit if there were elements."""

    sets: Annotated[Seq[Set[Tiny]], Capacity(1)]

    @initial
    def start(self) -> None:
        self.sets = Seq()

    @action
    def never(self) -> None:
        nothing: Seq[Set[int]] = Seq()
        for element in nothing:
            self.sets.append(element - element)
        self.sets = Seq([Set()])


MODELS = [
    LargestThatIsThere,
    LoopOverNothing,
    SumOfTruths,
    BagFromGenerator,
    EmptySetAmongSets,
    FailingMemberOfClass,
    FailingBoundary,
    FailureOutsideOfTheBoundary,
    DrawnFromItsClass,
    DrawnFromNothing,
    FailsBeforeItIsThere,
    FalseHereFailingThere,
    FarApart,
    ImpliedByContainer,
    IndexInsideOfIndex,
    KeysOfNothing,
    NoneAsSliceEnd,
    MapOfNothing,
    NoneInRange,
    NothingBesideSet,
    NothingWithoutNone,
    OptionalDisjoint,
    OptionalSlots,
    OptionalsInBag,
    Order,
    RangeMembership,
    ReachableThatFailsInAnInitialStateOutside,
    ReachableThatFailsBeforeItIsThere,
    ReachedBeforeItFails,
    ReachedOutsideOfTheBoundary,
    ReachedOutsideOnly,
    ReachedWhereAnotherFails,
    RuledOutBesideADraw,
    SetsOfSparseElements,
    SortedOncePresent,
    StepFalseHereFailingThere,
    StepThatFailsBesideOneThatBreaks,
    SubsetOfNothing,
    TupleMembership,
    WiderElement,
]


@pytest.mark.parametrize("cls", MODELS, ids=lambda cls: cls.__name__)
def test_engines_agree_where_they_once_did_not(cls: type[Model]) -> None:
    agreed(cls)


class WideBesideNarrow(Model):
    """A variable that ends in a word in which another one lies."""

    wide: Set[Annotated[int, Between(0, 69)]]
    narrow: Tiny

    @initial
    def start(self, narrow: Tiny) -> None:
        self.wide = Set()
        self.narrow = narrow

    @action
    def add(self, number: Annotated[int, Between(68, 69)]) -> None:
        self.wide.add(number)


def test_values_of_a_wide_variable_are_counted_alone() -> None:
    found = native.search_states(WideBesideNarrow(), [], Options(workers=2))
    assert found.values_seen == {"wide": 4, "narrow": 3}
    assert found.values_seen == search.search_states(WideBesideNarrow(), [], Options()).values_seen


def test_what_is_ruled_out_needs_no_room_for_successors() -> None:
    assert build_kernel(RuledOutBesideADraw(), {}, symmetry=False).interface.most_successors <= 2
