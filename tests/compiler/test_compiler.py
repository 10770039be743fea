"""Tests that every construct of the language means the same in compiled code as in CPython."""

# Models here also do what CPython allows and static types do not.
# mypy: disable-error-code="arg-type, assignment, union-attr, index"

from __future__ import annotations

from collections.abc import Iterator
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
    require,
    rule,
)
from floodmark.checkers.native.search import search_states
from floodmark.checkers.reference import search as reference
from floodmark.checkers.search_result import Options
from floodmark.compiler.ir import Do, If, Inline, SetVariable, Stmt
from floodmark.compiler.program import read_program
from tests.support.agreement import assert_agrees


class Node(Identifier, count="nodes", prefix="n"):
    pass


class Colour(Enum):
    RED = "red"
    GREEN = "green"
    BLUE = "blue"


Small = Annotated[int, Between(-2, 3)]
Tiny = Annotated[int, Between(0, 2)]
Log = Annotated[Seq[Tiny], Capacity(3)]


class Message(Record):
    sender: Node
    value: Tiny
    colour: Colour | None


class Cell(Record):
    log: Log
    mark: Tiny
    seen: Set[Node]


class Base(Model):
    nodes = Constant(2)


class Arithmetic(Base):
    x: Small
    y: Small

    @initial
    def start(self, x: Small) -> None:
        self.x = x
        self.y = 0

    @action
    def combine(self, a: Small, b: Small) -> None:
        require(a != 0 and a <= b)
        total = a * self.x - b
        self.y = max(-2, min(3, total // a + total % a))

    @action
    def wrap(self) -> None:
        self.x = (self.x + 3) % 6 - 2

    @action
    def absolute(self) -> None:
        require(abs(self.y) <= 3 and -self.x <= 2)
        self.x = abs(self.y) if self.y > -2 else -self.y


class Logs(Base):
    log: Log
    other: Log
    length: Tiny

    @initial
    def start(self) -> None:
        self.log = Seq()
        self.other = Seq([1, 2])
        self.length = 0

    @action
    def append(self, value: Tiny) -> None:
        require(len(self.log) < 3)
        self.log.append(value)

    @action
    def truncate(self, end: Annotated[int, Between(-4, 4)]) -> None:
        self.log = self.log[:end]

    @action
    def drop_first(self, start: Annotated[int, Between(-4, 4)]) -> None:
        self.other = self.log[start:]

    @action
    def middle(self, start: Tiny, end: Tiny) -> None:
        self.other = self.log[start:end]

    @action
    def join(self) -> None:
        require(len(self.log) + len(self.other) <= 3)
        self.log = self.log + self.other

    @action
    def set_last(self, value: Tiny) -> None:
        require(self.log)
        self.log[-1] = value

    @action
    def bump(self) -> None:
        require(len(self.log) > 1 and self.log[0] < 2)
        self.log[0] += 1

    @action
    def order(self) -> None:
        self.other = sorted(self.log, reverse=True)

    @action
    def ascend(self) -> None:
        self.log = Seq(sorted(value for value in self.log if value > 0))

    @action
    def squares(self) -> None:
        self.other = [value * value % 3 for value in self.log]

    @action
    def measure(self) -> None:
        self.length = min(2, sum(self.log) - self.log[-1] if self.log else len(self.other) - len(self.other))

    @action
    def same(self) -> None:
        require(self.log == self.other[:2] or 2 in self.log)
        self.log = Seq()


class Sets(Base):
    some: Set[Node]
    numbers: Set[Small]
    groups: Set[Set[Node]]
    count: Annotated[int, Between(0, 5)]

    @initial
    def start(self) -> None:
        self.some = Set({Node(1)})
        self.numbers = Set()
        self.groups = Set()
        self.count = 0

    @action
    def add(self, node: Node) -> None:
        self.some.add(node)

    @action
    def drop(self, node: Node) -> None:
        require(node in self.some)
        self.some.remove(node)

    @action
    def invert(self) -> None:
        self.some = Set(Node) - self.some

    @action
    def toggle(self, subset: Set[Node]) -> None:
        require(len(subset) == 1)
        self.some = self.some ^ subset

    @action
    def number(self) -> None:
        require(len(self.numbers) < 2 and len(self.groups) == 0)
        self.numbers |= {len(self.some) - 1}

    @action
    def shift(self) -> None:
        require(all(value < 3 for value in self.numbers) and self.count < 2)
        self.numbers = {value + 1 for value in self.numbers if value + 1 not in self.numbers}

    @action
    def group(self) -> None:
        require(len(self.groups) < 2)
        self.groups.add(self.some)

    @action
    def union(self) -> None:
        joined = Set[Node]()
        for group in self.groups:
            joined = joined | group
        self.some = joined & self.some

    @action
    def total(self) -> None:
        require(self.numbers)
        members = sum(1 for node in Node if node in self.some)
        self.count = min(5, max(self.numbers) - min(self.numbers, default=0) + members)

    @action
    def compare(self, subset: Set[Node]) -> None:
        require(subset <= self.some and not subset >= self.some and subset < Set(Node))
        require(self.some.isdisjoint(Set(Node) - self.some))
        self.count = len(subset)

    @action
    def flags(self) -> None:
        require(any(value == 0 for value in self.numbers) and not self.groups)
        self.count = sum(node in self.some for node in Node)


class Messages(Base):
    wide: Annotated[Set[Message], Capacity(2)]
    bag: Annotated[Bag[Message], Capacity(2)]
    last: Message | None

    @initial
    def start(self) -> None:
        self.wide = Set()
        self.bag = Bag()
        self.last = None

    @action
    def send(self, node: Node, value: Tiny) -> None:
        require(len(self.wide) < 2)
        self.wide.add(Message(sender=node, value=value, colour=Colour.RED if value == 1 else None))

    @action
    def deliver(self, message: Message) -> None:
        require(message in self.wide and message.value != 2)
        self.wide.discard(message)
        self.last = message

    @action
    def duplicate(self, message: Message) -> None:
        require(message in self.wide and len(self.bag) < 2)
        self.bag.add(message.replace(colour=Colour.BLUE))

    @action
    def lose(self, message: Message) -> None:
        require(message in self.bag)
        self.bag.remove(message)

    @action
    def recolour(self) -> None:
        require(self.last is not None and self.last.colour is None)
        self.last = self.last.replace(colour=Colour.GREEN, value=(self.last.value + 1) % 3)

    @action
    def filter(self) -> None:
        self.wide = Set(message for message in self.wide if message.sender == Node(1))

    @action
    def merge(self) -> None:
        require(self.last is not None and self.bag.count(self.last) != 2)
        self.wide = (self.wide - {self.last}) if self.last in self.wide else self.wide & Set(self.bag)


class Nested(Base):
    cells: Map[Node, Cell]
    leader: Node | None
    colours: Map[Colour, Tiny]

    @initial
    def start(self) -> None:
        self.cells = Map({node: Cell(log=Seq(), mark=0, seen=Set({node})) for node in Node})
        self.leader = None
        self.colours = Map({colour: 0 for colour in Colour})

    @action
    def elect(self, node: Node) -> None:
        require(self.leader != node)
        self.leader = node

    @action
    def resign(self) -> None:
        require(self.leader is not None)
        self.leader = None

    @action
    def write(self) -> None:
        require(self.leader is not None and len(self.cells[self.leader].log) < 2)
        self.cells[self.leader].log.append(self.cells[self.leader].mark)
        self.cells[self.leader].mark = min(2, self.cells[self.leader].mark + 1)

    @action
    def copy(self, node: Node) -> None:
        require(self.leader is not None and node != self.leader)
        self.cells[node] = self.cells[self.leader].replace(mark=0)

    @action
    def meet(self, node: Node) -> None:
        for other in Node:
            if other in self.cells[node].seen:
                continue
            self.cells[node].seen |= {other}
            break

    @action
    def count(self) -> None:
        self.colours[Colour.GREEN] = max(self.colours.values())
        self.colours = Map({colour: min(2, self.colours[colour] + 1) for colour in Colour})


class Helpers(Base):
    nodes = Constant(3)
    votes: Map[Node, Node | None]
    winner: Node | None
    round: Tiny

    @initial
    def start(self) -> None:
        self.votes = Map({node: None for node in Node})
        self.winner = None
        self.round = 0

    @rule
    def majority(self, count: int) -> bool:
        return 2 * count > self.nodes

    def votes_for(self, node: Node) -> int:
        return sum(1 for voter in Node if self.votes[voter] == node)

    def leading(self) -> Node | None:
        best = None
        most = 0
        for node in Node:
            if self.votes_for(node) > most:
                best = node
                most = self.votes_for(node)
        return best

    def has_won(self, node: Node) -> bool:
        if self.winner is not None:
            return False
        for other in Node:
            if other != node and self.majority(self.votes_for(other)):
                return False
        return self.majority(self.votes_for(node))

    @action
    def vote(self, voter: Node, candidate: Node) -> None:
        require(self.votes[voter] is None and implies(self.round == 2, voter == candidate))
        self.votes[voter] = candidate

    @action
    def win(self, node: Node) -> None:
        require(self.has_won(node) and node == self.leading())
        self.winner = node

    @action
    def again(self) -> None:
        require(self.round < 2 and all(vote is not None for vote in self.votes.values()))
        self.round += 1
        for node in Node:
            if self.winner is None or self.votes[node] != self.winner:
                self.votes[node] = None


class Louder(Helpers):
    def majority(self, count: int) -> bool:
        return super().majority(count + 1) and count > 0

    def again(self) -> None:
        super().again()
        self.winner = None


class Bounded(Base):
    x: Annotated[int, Between(0, 40)]
    y: Annotated[int, Between(0, 40)]

    @initial
    def start(self, x: Tiny) -> None:
        self.x = x
        self.y = 0

    @action
    def step(self) -> None:
        require(self.x < 30)
        self.x += 3

    @action
    def climb(self, by: Tiny) -> None:
        require(self.y < 30)
        self.y += by

    @boundary
    def near(self) -> bool:
        return self.x + self.y <= 17


class Wide(Base):
    """More than one word, and variables that are wider than a word."""

    nodes = Constant(2)
    table: Map[Node, Annotated[Seq[Annotated[int, Between(0, 1000)]], Capacity(5)]]
    masks: Set[Annotated[int, Between(0, 99)]]
    padding: Map[Node, Annotated[int, Between(0, 10**9)]]
    far: Annotated[int, Between(0, 10**9)]

    @initial
    def start(self) -> None:
        self.table = Map({node: Seq() for node in Node})
        self.masks = Set({99})
        self.padding = Map({node: 10**9 for node in Node})
        self.far = 7

    @action
    def grow(self, node: Node) -> None:
        require(len(self.table[node]) < 4 and node == Node(1))
        self.table[node].append(1000 - 250 * len(self.table[node]))

    @action
    def mark(self) -> None:
        require(len(self.masks) < 3)
        self.masks.add(len(self.masks) * 31)

    @action
    def spread(self, node: Node) -> None:
        self.padding[node] = self.padding[node] // 1000
        self.far = self.padding[Node(1)] + self.padding[Node(2)] - self.padding[node]

    @action
    def cut(self, node: Node) -> None:
        self.table[node] = self.table[node][1:]


class Decided(Base):
    """Conditions that constants decide, with code behind them that would not be sound, or is not reached."""

    switch = Constant(True)
    colours: Map[Node, Colour]
    log: Log
    late: Annotated[Set[Colour], Capacity(0)]

    @initial
    def start(self) -> None:
        self.colours = Map({node: Colour.RED for node in Node})
        self.log = Seq()
        self.late = Set()

    @action
    def turn(self, node: Node) -> None:
        self.tell(node, Colour.GREEN, None)

    @action
    def turn_back(self, node: Node) -> None:
        self.tell(node, Colour.BLUE, node)

    @action
    def is_switched_off(self, node: Node) -> None:
        require(self.colours[node] == Colour.RED and not self.switch)
        self.log.append(2)

    @action
    def arrives_late(self, colour: Colour) -> None:
        require(colour in self.late)
        self.log.append(2)

    def tell(self, node: Node, colour: Colour, other: Node | None) -> None:
        if other is None:
            self.colours[node] = self.next(self.colours[node], colour)
        elif not self.switch or colour in (Colour.RED, Colour.GREEN) or len(self.log) > 2:
            self.log = Seq()
        elif (colour == Colour.BLUE and self.switch) or self.log[3] == 1:
            self.log.append(1)
            self.colours[other] = Colour.RED

    def next(self, colour: Colour, to: Colour) -> Colour:
        if to != Colour.GREEN:
            return Colour.BLUE
        if self.switch:
            return Colour.GREEN if colour == Colour.RED else to
        return Colour.BLUE


LATE = Set({Colour.GREEN, Colour.BLUE})
NEXT = Seq(((0, 1), (1, 2), (2, 0)))
NONE_LATE = Set[Colour]()


class Spot(Record):
    number: Tiny
    colour: Colour


HOME = Spot(number=1, colour=Colour.GREEN)


class Tables(Base):
    """Sets, sequences and records that the file gives a name."""

    colour: Colour
    number: Tiny
    seen: Set[Colour]
    spot: Spot = HOME

    @initial
    def start(self, colour: Colour) -> None:
        self.colour = colour
        self.number = 0
        self.seen = NONE_LATE

    @action
    def count(self) -> None:
        require(self.seen.isdisjoint(LATE) or not LATE.isdisjoint(self.seen))
        self.number = NEXT[self.number][1]
        for colour in LATE:
            if colour == self.colour:
                self.seen.add(colour)

    @staticmethod
    def follows(one: int, other: int) -> bool:
        return one == (other + 1) % 3

    @staticmethod
    def home() -> Spot:
        return HOME

    @action
    def move(self) -> None:
        require(self.spot == Tables.home())
        self.spot = Spot(number=self.number, colour=self.spot.colour)

    @action
    def go_home(self) -> None:
        require(self.number == 2)
        self.spot = HOME

    @action
    def jump(self) -> None:
        require(Tables.follows(2, self.number) and not Tables.follows(one=0, other=self.number))
        self.number = 0

    @action
    def turn(self, colour: Colour) -> None:
        require(colour in LATE and len(LATE - self.seen) < len(Colour) and (1, 2) in NEXT)
        self.colour = colour


class Missing(Base):
    """Compared with None on either side, and in what holds nothing."""

    last: Tiny | None = None
    tried: bool = False

    @action
    def begin(self, number: Tiny) -> None:
        require(self.last == None)  # noqa: E711 - it is what is tested
        self.last = number

    @action
    def end(self) -> None:
        require(None != self.last and not any(flag for flag in []))  # type: ignore[var-annotated] # noqa: E711, SIM300
        self.last = None
        self.tried = not self.tried


def test_none_is_compared_on_either_side() -> None:
    found = assert_agrees(Missing, workers=(1,))
    assert found.distinct == 8 and all(found.actions.values())


class Fails(Base):
    """An index fails for numbers that are not in the set, and the set is asked later."""

    log: Annotated[Seq[Tiny], Capacity(2)] = Seq([1])
    some: Annotated[Set[Tiny], Capacity(2)] = Set([0])

    @action
    def takes(self, number: Tiny) -> None:
        require(self.log[number] == 1)
        require(number in self.some)
        self.some.discard(number)


def test_what_fails_first_is_not_hidden_by_the_set_that_a_parameter_is_drawn_from() -> None:
    for found in (search_states(Fails(), [], Options(workers=1)), reference.search_states(Fails(), [], Options())):
        assert [(each.kind, len(each.trace)) for each in found.violations] == [("error", 1)]


class Draws(Base):
    """A parameter of very many values is drawn by the second of the guards."""

    on: bool = True
    some: Annotated[Set[Annotated[int, Between(0, 10**6)]], Capacity(2)] = Set([7, 10**6])

    @action
    def takes(self, number: Annotated[int, Between(0, 10**6)]) -> None:
        require(self.on)
        require(number in self.some)
        self.some.discard(number)


def test_a_parameter_may_be_drawn_after_another_guard() -> None:
    assert assert_agrees(Draws, workers=(1,)).distinct == 4


def test_branches_that_constants_decide_have_no_code() -> None:
    def stores(name: str) -> int:
        (action,) = (action for action in read_program(Decided(), {}).actions if action.name == name)
        return sum(isinstance(statement, SetVariable) for statement in statements(action.body))

    assert (stores("turn"), stores("turn_back"), stores("is_switched_off")) == (1, 3, 0)
    assert stores("arrives_late") == 0
    found = assert_agrees(Decided)
    assert [name for name, times in found.actions.items() if times == 0] == ["is_switched_off", "arrives_late"]


def statements(body: list[Stmt]) -> Iterator[Stmt]:
    """Statements with those inside of them."""
    for statement in body:
        yield statement
        match statement:
            case If(then=then, otherwise=otherwise):
                yield from statements([*then, *otherwise])
            case Do(call=Inline(body=inner)):
                yield from statements(inner)


MODELS = [Arithmetic, Logs, Sets, Messages, Nested, Helpers, Louder, Bounded, Wide, Tables]


LARGE = (Logs, Messages, Sets, Wide)
"""CPython takes seconds for these, and the table of constructs (``tests/support/constructs.py``) has what they have."""


@pytest.mark.parametrize("cls", [
    pytest.param(cls, id=cls.__name__, marks=[pytest.mark.slow] if cls in LARGE else []) for cls in MODELS
])
def test_compiled_code_reaches_what_cpython_reaches(cls: type[Model]) -> None:
    found = assert_agrees(cls)
    assert found.distinct > 10
    assert all(times > 0 for times in found.actions.values()), found.actions


class LeavesEarly(Base):
    """What follows the return is never reached with one value of the constant, and always with the other."""

    fast = Constant(True)
    x: Tiny = 0

    @action
    def step(self) -> None:
        if self.fast:
            self.x = 1
            return
        self.x = 2


class LeavesLate(LeavesEarly):
    fast = Constant(False)


@pytest.mark.parametrize("cls", [LeavesEarly, LeavesLate])
def test_what_a_constant_leaves_out_may_follow_a_return(cls: type[Model]) -> None:
    assert_agrees(cls)


class Outgrows(Base):
    """A sum is larger than each of what is summed, and than the variable that it is assigned to."""

    parts: Map[Node, Tiny]
    total: Annotated[int, Between(0, 3)] = 0

    @initial
    def start(self) -> None:
        self.parts = Map({node: 1 for node in Node})

    @action
    def grows(self, node: Node) -> None:
        self.parts[node] = 2

    @action
    def sums(self) -> None:
        self.total = sum(self.parts[node] for node in Node)


def test_a_sum_is_not_confined_to_what_its_parts_are() -> None:
    options = Options(workers=1)
    for found in (search_states(Outgrows(), [], options), reference.search_states(Outgrows(), [], options)):
        assert [(each.kind, len(each.trace)) for each in found.violations] == [("error", 3)]


class Returns(Base):
    """A helper requires something, may return, and requires more."""

    x: Tiny = 0
    y: Tiny = 0

    def may_go_on(self) -> None:
        require(self.x < 2)
        if self.y == 0:
            return
        require(self.x == 0)

    @action
    def steps(self) -> None:
        self.may_go_on()
        self.x += 1

    @action
    def turns(self) -> None:
        self.y = 1
        self.x = 0


def test_what_a_helper_requires_before_it_may_return_is_no_guard_of_its_own() -> None:
    assert assert_agrees(Returns, workers=(1,)).distinct == 5
