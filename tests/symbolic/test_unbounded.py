"""Tests proofs for every value of a constant: what fails at some value is never proved, what holds at each is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated
from unittest.mock import patch

import pytest
import z3

from floodmark import (
    Bag,
    Between,
    Capacity,
    Constant,
    Identifier,
    Map,
    Model,
    ModelError,
    Record,
    Seq,
    Set,
    action,
    initial,
    invariant,
    require,
)
from floodmark.checkers.project.properties import Property
from floodmark.checkers.project.spec import read
from floodmark.checkers.symbolic.any_size.unbounded_constants import unbounded_constants
from floodmark.checkers.symbolic.attempts.attempt import NO_INTEGER_LIMIT
from floodmark.checkers.symbolic.crosscheck import spot_checks
from floodmark.checkers.symbolic.crosscheck.spot_checks import choices, spot_check
from floodmark.checkers.symbolic.methods.induction import InductionProof, Obligation, confirm, induction
from floodmark.checkers.symbolic.methods.task import ProofTask
from floodmark.checkers.symbolic.prove import prove_check
from floodmark.checkers.symbolic.terms.booleans import as_term
from floodmark.checkers.symbolic.translate.obligations import INITIAL, TYPES
from floodmark.checkers.symbolic.translate.transition_system import System, system_of
from floodmark.checkers.symbolic.values.types import Types
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.language.linear import Linear, left_open
from floodmark.language.model import opened
from floodmark.language.reference import holds, initial_states, successors
from tests.support.projects import write

Natural = Annotated[int, Between(0, "n")]


class Counter(Model):
    """Counts up to ``n``."""

    n = Constant(3)
    x: Natural = 0

    @action
    def up(self) -> None:
        require(self.x < self.n)
        self.x += 1

    @invariant
    def p(self) -> bool:
        return self.x <= self.n


class BeginsTwice(Model):
    """Begins at 0 or at ``n``."""

    n = Constant(3)
    x: Natural

    @initial
    def low(self) -> None:
        self.x = 0

    @initial
    def high(self) -> None:
        self.x = self.n

    @action
    def stays(self) -> None:
        self.x = self.x

    @invariant
    def below(self) -> bool:
        return self.x < self.n

    @invariant
    def within(self) -> bool:
        return self.x <= self.n


def _properties(cls: type[Model]) -> list[Property]:
    return [
        Property(name, "invariant", function, __file__, 1, "")
        for name, function in cls.methods("invariant").items()
    ]


def _asked(cls: type[Model]) -> tuple[System, InductionProof]:
    model, properties = cls(), _properties(cls)
    system = system_of(model, properties, unbounded_constants(model))
    return system, induction(system, properties)


def _failing(cls: type[Model]) -> list[tuple[str, str]]:
    """The obligations that are not proved. What z3 shows of each, CPython confirms at the constants that it shows."""
    found = []
    for obligation in _asked(cls)[1].failing():
        assert obligation.outcome == "fails"
        shown = obligation.counterexample
        assert shown is not None
        if obligation.action != INITIAL:
            assert _breaks(cls(**shown.constants), shown.before, obligation.property), shown
        found.append((obligation.action, obligation.property))
    return found


def _open(cls: type[Model]) -> list[tuple[str, str]]:
    """The obligations that are not proved, be it because z3 does not know how many elements a set has."""
    return [(obligation.action, obligation.property) for obligation in _asked(cls)[1].failing()]


def _breaks(model: Model, state: tuple[object, ...], name: str) -> bool:
    """Whether a step from a state leaves the declared types or the property, in CPython."""
    try:
        after = [reached for _, reached in successors(model, state)]
    except ModelError:
        return name == TYPES
    return name != TYPES and not all(holds(model, type(model).methods("invariant")[name], it) for it in after)


def test_what_holds_for_every_value_is_proved() -> None:
    assert _failing(Counter) == []


# A value out of a range that is left open.


class TwoCounters(Counter):
    """A counter that ``n`` bounds copies one that 10 bounds."""

    retries: Annotated[int, Between(0, 10)] = 0

    @action
    def retry(self) -> None:
        require(self.retries < 10)
        self.retries += 1

    @action
    def copy(self) -> None:
        self.x = self.retries


class Hundred(Counter):
    @action
    def jump(self) -> None:
        self.x = 100


class Doubles(Counter):
    @action
    def double(self) -> None:
        require(self.x < self.n)
        self.x = self.x * 2


class Sinks(Counter):
    @action
    def down(self) -> None:
        self.x -= 1


class Switched(Counter):
    """At one value of the constant it does something else."""

    def up(self) -> None:
        require(self.x < self.n)
        self.x += 2 if self.n == 5 and self.x == 4 else 1


class ToOther(Counter):
    """Another constant bounds what is assigned."""

    m = Constant(3)
    y: Annotated[int, Between(0, "m")] = 0

    @action
    def give(self) -> None:
        self.y = self.x


class FromParameter(Counter):
    @action
    def set(self, v: Annotated[int, Between(0, "n - 1")]) -> None:
        self.x = v + 2


class BelowRange(Counter):
    x: Annotated[int, Between("n - 2", "2 * n")] = 3

    @initial
    def start(self) -> None:
        self.x = self.n

    def up(self) -> None:
        self.x = self.n - 3


class BelowOpenEnd(Counter):
    """What the range never holds but for n = 0, though no number in it is negative."""

    x: Annotated[int, Between("n", "2 * n")] = 3

    @initial
    def start(self) -> None:
        self.x = self.n

    def up(self) -> None:
        self.x = 0

    @invariant
    def p(self) -> bool:
        return self.x >= 0


@pytest.mark.parametrize(
    ("cls", "failing"),
    [
        (TwoCounters, "copy"), (Hundred, "jump"), (Doubles, "double"), (Sinks, "down"), (Switched, "up"),
        (BelowOpenEnd, "up"), (ToOther, "give"), (FromParameter, "set"), (BelowRange, "up"),
    ],
)
def test_a_value_that_some_range_does_not_hold_is_not_proved(cls: type[Model], failing: str) -> None:
    assert (failing, TYPES) in _failing(cls)


# Numbers that mean something to nobody but the model.


class NotMarked(Counter):
    """A literal is a literal, whatever constants were set to once."""

    @invariant
    def p(self) -> bool:
        return self.x != 151


class Threshold(Counter):
    @invariant
    def p(self) -> bool:
        return self.x < 4 or self.n > 150


class SmallOnly(Counter):
    @invariant
    def p(self) -> bool:
        return self.x <= 1000


class NeverZero(Counter):
    @invariant
    def p(self) -> bool:
        return self.n > 0


@pytest.mark.parametrize("cls", [NotMarked, Threshold, SmallOnly, NeverZero])
def test_a_property_that_fails_at_some_value_is_not_proved(cls: type[Model]) -> None:
    assert [name for _, name in _failing(cls)] == ["p"]


class Halves(Counter):
    y: Natural = 0

    @action
    def halve(self) -> None:
        self.x = self.n // 2
        self.y = self.n % 2

    @invariant
    def p(self) -> bool:
        return self.x + self.y <= self.n or self.x > 0


class Parameter(Counter):
    @action
    def set(self, v: Annotated[int, Between(0, "n - 1")], w: Natural) -> None:
        require(w > v)
        self.x = v + 1


class Loop(Counter):
    """A loop that something else than ``n`` bounds."""

    @invariant
    def p(self) -> bool:
        return all(i <= self.n for i in range(min(self.n, 3)))


class Shifted(Counter):
    x: Annotated[int, Between("-n", "2 * n + 1")] = 0

    @action
    def down(self) -> None:
        require(self.x > -self.n)
        self.x -= 1

    def up(self) -> None:
        require(self.x <= 2 * self.n)
        self.x += 1

    @invariant
    def p(self) -> bool:
        return -self.n <= self.x and self.x <= 2 * self.n + 1


@pytest.mark.parametrize("cls", [Halves, Parameter, Loop, Shifted])
def test_other_uses_of_a_constant_are_proved_where_they_hold(cls: type[Model]) -> None:
    assert _failing(cls) == []


def test_types_that_hold_nothing_are_left_out_and_told() -> None:
    system, _ = _asked(Parameter)
    assert [str(form) for form in system.domain] == ["n - 1"]
    assert _asked(Counter)[0].domain == []


# Initial states.


class BeginsAtTwo(Counter):
    x: Natural = 2

    @invariant
    def p(self) -> bool:
        return self.x >= 2


class BeginsAnywhere(Counter):
    @initial
    def start(self, v: Natural) -> None:
        require(v > 1)
        self.x = v // 2

    @invariant
    def p(self) -> bool:
        return self.x >= 1


class BeginsTooLow(BeginsAnywhere):
    @initial
    def start(self, v: Natural) -> None:
        self.x = v // 2


class BeginsOutside(BeginsAnywhere):
    @initial
    def start(self, v: Natural) -> None:
        self.x = max(v, 1)


def test_initial_states_are_those_of_every_value() -> None:
    assert _failing(BeginsAnywhere) == []
    assert _failing(BeginsTooLow) == [(INITIAL, "p")]
    assert _failing(BeginsOutside) == [(INITIAL, TYPES)]
    assert _failing(BeginsAtTwo) == [(INITIAL, TYPES)]


def test_initial_states_at_a_value_are_among_those_of_every_value() -> None:
    """z3's terms for what sets them, against CPython."""
    system, _ = _asked(BeginsAnywhere)
    for n in (2, 3, 7):
        real = {state for _, state in initial_states(BeginsAnywhere(n=n))}
        found = set()
        (fired,) = system.beginnings
        solver = z3.Solver()
        solver.add(as_term(fired.succeeds), system.values.types.constants["n"] == n)
        while solver.check() == z3.sat:
            state = system.decode(fired.after, solver.model())
            found.add(state)
            solver.add(as_term(fired.after["x"] != state[0]))
        assert found == real


# Sets whose capacity is left open.


class Request(Record):
    epoch: Natural


class Sends(Counter):
    """As many requests are under way as there were increments; each increment makes room for one."""

    requests: Annotated[Set[Request], Capacity("n")] = Set()

    def up(self) -> None:
        require(self.x < self.n)
        self.requests.add(Request(epoch=self.x))
        self.x += 1

    @action
    def take(self, request: Request) -> None:
        require(request in self.requests)
        self.requests.discard(request)

    @invariant
    def below(self) -> bool:
        return all(request.epoch < self.x for request in self.requests)


class Overflows(Sends):
    @action
    def send(self) -> None:
        self.requests.add(Request(epoch=self.x))


class Offer(Record):
    epoch: Natural
    final: bool


class TwoEach(Counter):
    """Two offers for each increment: at most ``n`` numbers, but more than ``n`` elements."""

    offers: Annotated[Set[Offer], Capacity("n")] = Set()

    @action
    def offer(self, final: bool) -> None:
        require(self.x < self.n)
        self.offers.add(Offer(epoch=self.x, final=final))

    @invariant
    def p(self) -> bool:
        return all(offer.epoch <= self.x for offer in self.offers) and self.x <= self.n

    @invariant
    def below(self) -> bool:
        return all(offer.epoch < self.n for offer in self.offers)


class OneEach(TwoEach):
    """Without the second the numbers are different, and there is room."""

    def offer(self, final: bool) -> None:
        require(self.x < self.n)
        self.offers.add(Offer(epoch=self.x, final=True))

    @invariant
    def final(self) -> bool:
        return all(offer.final for offer in self.offers)


class OtherCapacity(Sends):
    """As many elements as ``n``, where ``m`` is the capacity."""

    m = Constant(5)
    y: Annotated[int, Between(0, "m")] = 0
    others: Annotated[Set[Request], Capacity("m")] = Set()

    def up(self) -> None:
        require(self.x < self.n)
        self.others.add(Request(epoch=self.x))
        self.x += 1


class TakesBack(Sends):
    """One is taken out before one is put in, or only perhaps."""

    @action
    def swap(self, request: Request) -> None:
        require(request in self.requests)
        self.requests.remove(request)
        self.requests.add(Request(epoch=0))

    @invariant
    def below(self) -> bool:
        return True


class TakesPerhaps(TakesBack):
    def swap(self, request: Request) -> None:
        require(request in self.requests)
        if self.x > 0:
            self.requests.remove(request)
        self.requests.add(Request(epoch=0))


class PutsTwo(TakesBack):
    def swap(self, request: Request) -> None:
        require(request in self.requests)
        self.requests.remove(request)
        self.requests = self.requests | {Request(epoch=0), Request(epoch=self.x)}


class Moves(Sends):
    """A set that another of the same capacity takes over is not larger; both together are."""

    kept: Annotated[Set[Request], Capacity("n")] = Set()

    @action
    def keep(self) -> None:
        self.kept = self.requests
        self.requests = Set()

    @action
    def keep_some(self) -> None:
        self.kept = self.kept & self.requests

    @action
    def replace(self, request: Request) -> None:
        require(request in self.kept and self.x < self.n)
        self.kept.remove(request)
        self.kept.add(Request(epoch=0))


class Merges(Moves):
    @action
    def merge(self) -> None:
        self.kept = self.kept | self.requests


class BeginsFull(Sends):
    requests: Annotated[Set[Request], Capacity("n")] = Set()

    @initial
    def start(self) -> None:
        self.requests = Set({Request(epoch=0)})
        self.x = self.n


def test_the_capacity_of_a_set_may_be_left_open() -> None:
    assert unbounded_constants(Sends()) == ["n"]
    assert str(opened(Sends(), ["n"]).variable_types["requests"]) == "Set[Request]"


def test_a_set_overflows_its_capacity_for_every_value() -> None:
    assert ("send", TYPES) in _failing(Overflows)


def test_a_set_is_within_its_capacity_where_its_elements_have_different_numbers() -> None:
    assert _failing(Sends) == []


def test_a_set_with_more_elements_than_numbers_is_not_within_its_capacity() -> None:
    assert _open(TwoEach) == [("offer", TYPES)]
    assert _failing(OneEach) == []


def test_a_capacity_is_compared_with_its_own_constant() -> None:
    assert ("up", TYPES) in _open(OtherCapacity)


def test_a_removed_element_makes_room_for_another() -> None:
    assert ("swap", TYPES) not in _open(TakesBack)
    assert ("swap", TYPES) in _open(TakesPerhaps)
    assert ("swap", TYPES) in _open(PutsTwo)


def test_a_set_that_does_not_grow_needs_no_room() -> None:
    assert _failing(Moves) == []
    assert ("merge", TYPES) in _open(Merges)


def test_a_set_may_be_too_large_at_the_beginning() -> None:
    assert (INITIAL, TYPES) in _failing(BeginsFull)


# What cannot be left open is refused, with its place.


class Broker(Identifier, count="n"):
    """As many as the constant says."""


class Brokers(Counter):
    up_to_date: Set[Broker] = Set()


class Queue(Counter):
    queue: Annotated[Seq[Natural], Capacity("n")] = Seq()


class Crowd(Counter):
    crowd: Annotated[Bag[Natural], Capacity("n")] = Bag()


class Names(Counter):
    names: Annotated[Set[bool], Capacity("n")] = Set()


class Table(Counter):
    m = Constant(2)
    table: Map[Annotated[int, Between(0, "n")], Annotated[int, Between(0, "m")]]

    @initial
    def start(self) -> None:
        self.table = Map({i: 0 for i in range(self.n + 1)})


class SetOfSets(Counter):
    groups: Annotated[Set[Annotated[Set[Natural], Capacity("n")]], Capacity(2)] = Set()


class Product(Counter):
    m = Constant(2)
    y: Annotated[int, Between(0, "n * m")] = 0


class Quotient(Counter):
    y: Annotated[int, Between(0, "6 // (n + 1)")] = 0


@pytest.mark.parametrize("cls", [Brokers, Queue, Crowd, Names, Table, SetOfSets, Quotient])
def test_a_constant_that_bounds_something_else_is_not_left_open(cls: type[Model]) -> None:
    assert "n" not in unbounded_constants(cls())


def test_constants_whose_product_is_a_bound_are_left_open_one_at_a_time() -> None:
    assert unbounded_constants(Product()) == ["n", "m"]
    with pytest.raises(ModelError, match="the product of"):
        opened(Product(), ["n", "m"])


class Range(Counter):
    @invariant
    def p(self) -> bool:
        return all(i <= self.n for i in range(self.n))


class Stepped(Counter):
    @invariant
    def p(self) -> bool:
        return sum(1 for i in range(0, 10, self.n)) <= 1


class Counts(Sends):
    @invariant
    def p(self) -> bool:
        return len(self.requests) <= self.n


class RunsThrough(Sends):
    @action
    def drain(self) -> None:
        for request in self.requests:
            self.x = request.epoch


class KeepsTwo(Sends):
    kept: Annotated[Set[Request], Capacity(2)] = Set()

    @action
    def keep(self) -> None:
        self.kept = self.requests


class Filters(Counter):
    kept: Set[Natural] = Set()

    @action
    def forget(self) -> None:
        self.kept = Set(number for number in self.kept if number > self.x)


class RunsThroughBrokers(Counter):
    """How many there are matters in the code alone."""

    def up(self) -> None:
        require(all(self.x < self.n for broker in Broker))
        self.x += 1


@pytest.mark.parametrize(
    ("cls", "why"),
    [
        (RunsThroughBrokers, "the number of Broker cannot be left open"),
        (Range, "a range of any number of numbers"),
        (Stepped, "the step of a range is a constant"),
        (Counts, "a set of any size has no elements that can be counted"),
        (RunsThrough, "a loop over any number of elements may only add to sets"),
        (Filters, "this may hold any number of elements"),
        (KeepsTwo, "may have any size while n is unbounded, so it cannot become a set of bounded size"),
    ],
)
def test_what_is_not_known_for_every_value_is_refused_with_its_place(cls: type[Model], why: str) -> None:
    with pytest.raises(ModelError, match=why) as caught:
        _asked(cls)
    assert caught.value.file == __file__
    assert caught.value.line is not None


# Bounds.


def test_bounds_are_sums_over_constants() -> None:
    n, m = left_open("n"), left_open("m")
    assert str(2 * n - m + 3) == "-m + 2 * n + 3"
    assert n - n + 4 == 4
    assert 3 - (n + 1) == Linear(2, (("n", -1),))
    assert (n + m).lowest == 0  # type: ignore[union-attr]
    assert (n - m).lowest is None  # type: ignore[union-attr]
    assert (5 - n).highest == 5  # type: ignore[union-attr]
    assert 0 * n == 0
    with pytest.raises(ModelError, match="the product of n and m"):
        n * m
    with pytest.raises(ModelError, match="cannot be divided"):
        n // 2
    with pytest.raises(ModelError, match="cannot divide"):
        2 // n


# Spot checks.


def test_values_are_small_usual_large_and_those_that_the_model_speaks_of() -> None:
    system, _ = _asked(Switched)
    assert [constants["n"] for constants in choices(system)] == [0, 1, 2, 3, 4, 5, 1000]
    system, _ = _asked(Sends)
    assert choices(system) == [{"n": 0}, {"n": 1}, {"n": 2}, {"n": 3}]  # a capacity is never large
    system, _ = _asked(SmallOnly)
    assert choices(system)[-1] == {"n": 2000}


@pytest.mark.slow
@pytest.mark.parametrize("cls", [Counter, Halves, Shifted, Sends, Moves])
def test_a_proof_is_made_once_more_at_some_values(cls: type[Model]) -> None:
    system, proof = _asked(cls)
    assert proof.failing() == []
    found = spot_check(system, _properties(cls))
    assert [constants["n"] for constants in found.proved][:4] == [0, 1, 2, 3]
    assert found.open == []


def test_where_a_type_holds_nothing_there_is_nothing_to_check() -> None:
    found = spot_check(_asked(Parameter)[0], _properties(Parameter))
    assert {"n": 0} in found.open
    assert {"n": 1} in found.proved


def _as_if_proved(cls: type[Model]) -> Callable[[], object]:
    return lambda: spot_check(_asked(cls)[0], _properties(cls))


@pytest.mark.parametrize("cls", [TwoCounters, Hundred, Switched, NotMarked, SmallOnly, Overflows, BeginsAtTwo])
def test_a_wrong_proof_is_an_internal_error(cls: type[Model]) -> None:
    with pytest.raises(RuntimeError, match="what is proved for every n is wrong for n = "):
        _as_if_proved(cls)()


def test_a_value_that_is_taken_for_another_is_noticed() -> None:
    """The mistake planted: a bound that is left open is read as one more."""
    real = Types.bound

    def planted(self: Types, bound: int | Linear) -> object:
        return self.numbers.plus(real(self, bound), int(isinstance(bound, Linear)))

    with patch.object(Types, "bound", planted):
        system, proof = _asked(Doubling)
        assert proof.failing() == []
    with pytest.raises(RuntimeError, match="up does not preserve declared types"):
        spot_check(system, _properties(Doubling))


class Doubling(Counter):
    """One step too many."""

    def up(self) -> None:
        require(self.x <= self.n)
        self.x = min(self.x + 1, self.n + 1)

    @invariant
    def p(self) -> bool:
        return self.x >= 0


SPEC = """
from typing import Annotated
from floodmark import Between, Constant, Model, action, invariant, require


class Counter(Model):
    n = Constant(3)
    x: Annotated[int, Between(0, "n")] = 0

    @action
    def set(self, v: Annotated[int, Between(0, "n - 1")]) -> None:
        require(v >= self.x)
        self.x = v + 1

    @invariant
    def p(self) -> bool:
        return self.x <= self.n
"""


def _proved(tmp_path: Path, text: str, unbounded: bool = True) -> ProofResult:
    write(tmp_path, {"mine.py": text, "mine.toml": 'model = "mine.py:Counter"\n'})
    return prove_check(Check(read(tmp_path / "mine.toml"), None, CheckSettings()), ProofTask(unbounded=unbounded))


def test_the_command_says_for_which_values(tmp_path: Path) -> None:
    proved = _proved(tmp_path, SPEC)
    assert proved.verdict == "holds"
    assert "for every n with n - 1 >= 0" in proved.headline
    assert proved.lines == ["proved again at n = 1; 2; 3; 1000", NO_INTEGER_LIMIT]
    assert proved.facts["spots"] == [{"n": 1}, {"n": 2}, {"n": 3}, {"n": 1000}]


def test_the_command_shows_the_constants_of_a_counterexample(tmp_path: Path) -> None:
    proved = _proved(tmp_path, SPEC.replace("v + 1", "v + 2"))
    assert proved.verdict == "undetermined"
    assert "set does not preserve declared types" in proved.lines
    assert any("in a state, with n = " in line for line in proved.lines)


@pytest.mark.parametrize("unbounded", [False, True])
def test_a_step_to_an_initial_state_that_breaks_a_property_is_not_said_to_fail(tmp_path: Path, unbounded: bool) -> None:
    beginning = "    @initial\n    def start(self) -> None:\n        self.x = self.n\n\n"
    text = SPEC.replace("    @action", f"{beginning}    @action", 1)
    text = text.replace("self.x <= self.n", "self.x < self.n").replace("action,", "action, initial,")
    lines = _proved(tmp_path, text, unbounded).lines
    assert "p is false in an initial state" in lines
    assert "    start() leads there" in lines


class Ballot(Record):
    of: Annotated[int, Between(0, "n")]
    counts: bool
    instead: Natural | None


class Gathers(Counter):
    """Sets of any size, whose members come from tables, parameters, sums and sets of few elements."""

    seen: Set[Natural] = Set()
    latest: Set[Natural] = Set()
    few: Annotated[Set[Natural], Capacity(2)] = Set()
    ballots: Set[Ballot] = Set()

    @action
    def see(self, number: Natural) -> None:
        self.seen.add(number)

    @action
    def see_next(self) -> None:
        require(self.x + 1 < self.n)
        self.seen.add(self.x + 1)

    @action
    def see_few(self) -> None:
        self.seen = self.few

    @action
    def follow(self) -> None:
        self.latest = self.latest | self.seen

    @action
    def cast(self, number: Natural, instead: Natural | None) -> None:
        self.ballots.add(Ballot(of=number, counts=number > 1, instead=instead))

    @invariant
    def small(self) -> bool:
        return all(number < 3 for number in self.seen)

    @invariant
    def followed(self) -> bool:
        return self.seen <= self.latest

    @invariant
    def known(self) -> bool:
        return all(number != 2 for number in self.latest)

    @invariant
    def counting(self) -> bool:
        return all(not ballot.counts or ballot.instead == ballot.of for ballot in self.ballots)


@pytest.mark.parametrize("name", ["small", "followed", "known", "counting"])
def test_a_counterexample_shows_what_is_in_sets(name: str) -> None:
    """At the values of the constants that it shows, CPython takes its step, and sees the property broken."""
    properties = [prop for prop in _properties(Gathers) if prop.name == name]
    system = system_of(Gathers(), properties, ["n"])
    failing = induction(system, properties).failing()
    assert failing
    for obligation in failing:
        shown = obligation.counterexample
        assert shown is not None
        sized = Gathers(**{**Gathers().constant_values, **shown.constants})
        assert holds(sized, properties[0].function, shown.before)
        confirm(sized, properties, obligation)


def test_a_proof_that_no_value_confirms_is_not_believed(tmp_path: Path) -> None:
    unknown = InductionProof([Obligation("set", "p", "undetermined")])
    with patch.object(spot_checks, "induction", lambda *_, **__: unknown):
        proved = _proved(tmp_path, SPEC)
    assert (proved.verdict, int(proved.exit_code)) == ("undetermined", 3)
    assert "could not be proved again at any" in proved.headline


def test_a_property_is_asked_of_every_way_to_begin() -> None:
    """One that is proved for the first way fails for the second."""
    _, proof = _asked(BeginsTwice)
    outcomes = {it.property: it.outcome for it in proof.obligations if it.action == INITIAL}
    assert outcomes["below"] == "fails"
    assert outcomes["within"] == "proved"
