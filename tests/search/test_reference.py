"""The reference engine: the counts, traces and verdicts that every engine has to give."""

from __future__ import annotations

import itertools
from typing import Annotated, Any

import pytest

from floodmark import (
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
    initial,
    invariant,
    reachable,
    require,
    transition,
)
from floodmark.checkers.project.properties import collect
from floodmark.checkers.reference.search import reachable_states, search_states
from floodmark.checkers.search_result import Limits, Options, Progress, SearchResult, TraceState
from floodmark.language.reference import fire
from specs.examples.two_phase_commit import TwoPhaseCommit


class Counter(Model):
    """Counts up to a limit, and may start at 0 or 1."""

    limit = Constant(4)
    n: Annotated[int, Between(0, 9)]

    @initial
    def start(self, one: bool) -> None:
        self.n = 1 if one else 0

    @action
    def step(self, by: Annotated[int, Between(1, 2)]) -> None:
        require(self.n + by <= self.limit)
        self.n += by

    @action
    def stay(self) -> None:
        require(self.n == 0)


class Node(Identifier, count="nodes", prefix="n"):
    """One of several nodes."""


class Votes(Model):
    """Each node votes once; the first voter leads."""

    nodes = Constant(3)
    leader: Node | None
    voted: Set[Node]
    rank: Map[Node, Annotated[int, Between(0, 3)]]

    @initial
    def start(self) -> None:
        self.leader = None
        self.voted = Set()
        self.rank = Map({node: 0 for node in Node})

    @action
    def vote(self, node: Node) -> None:
        require(node not in self.voted)
        if self.leader is None:
            self.leader = node
        self.voted.add(node)
        self.rank[node] = len(self.voted)


PLAIN = Options()


def search(cls: type[Model], options: Options = PLAIN, watch: Any = None, **constants: int) -> SearchResult:
    return search_states(cls(**constants), list(collect(cls, ()).values()), options, watch)


def numbers(trace: tuple[TraceState, ...]) -> list[Any]:
    return [entry.state[0] for entry in trace]


@pytest.mark.parametrize(("managers", "distinct", "generated"), [(2, 56, 154), (3, 288, 1146), (4, 1568, 8258)])
def test_the_reference_engine_has_the_counts_of_tlc(managers: int, distinct: int, generated: int) -> None:
    """288 is the figure of Stateright's test; 1,146 that of TLC for the same text."""
    found = search(TwoPhaseCommit, managers=managers)
    assert (found.distinct, found.generated, found.complete) == (distinct, generated, True)
    assert found.depth == len(found.levels) == 3 * managers + 2
    assert sum(found.levels) == distinct
    assert sum(found.actions.values()) == generated - 1
    assert found.reached["all_committed"][-1].state[0] == Map(
        {manager: value for manager, value in found.reached["all_committed"][-1].state[0].items() if value}
    )


def test_generated_counts_initial_states_and_steps_to_known_states() -> None:
    found = search(Counter)
    # Two initial states; from 0: by 1, by 2, stay; from 1: two; from 2: two; from 3: one; from 4: none.
    assert (found.distinct, found.generated, found.levels) == (5, 10, [2, 2, 1])
    assert found.actions == {"step": 7, "stay": 1}
    assert found.values_seen == {"n": 5}


def test_the_shortest_trace_and_the_whole_level() -> None:
    class Flawed(Counter):
        @invariant
        def below_three(self) -> bool:
            return self.n < 3

        @invariant
        def below_four(self) -> bool:
            return self.n < 4

    found = search(Flawed)
    assert [violation.property for violation in found.violations] == ["below_three"]
    assert numbers(found.violations[0].trace) == [1, 3]
    assert str(found.violations[0].trace[0].step) == "start(one=True)"
    assert str(found.violations[0].trace[1].step) == "step(by=2)"
    assert not found.complete
    assert found.levels == [2, 2]


def test_a_transition_property_sees_steps_to_known_states() -> None:
    class Flawed(Counter):
        @transition
        def moves(self, new: Counter) -> bool:
            return self.n != new.n

    found = search(Flawed)
    assert found.violations[0].kind == "transition"
    assert [str(entry.step) for entry in found.violations[0].trace] == ["start(one=False)", "stay()"]
    assert numbers(found.violations[0].trace) == [0, 0]


def test_deadlock_is_reported_only_on_request() -> None:
    assert not search(Counter).violations
    found = search(Counter, Options(deadlock=True))
    assert found.violations[0].kind == "deadlock"
    assert numbers(found.violations[0].trace) in ([0, 2, 4], [1, 3, 4], [1, 2, 4])


def test_an_unreached_property_is_reported() -> None:
    class Hopeful(Counter):
        @reachable
        def four(self) -> bool:
            return self.n == 4

        @reachable
        def nine(self) -> bool:
            return self.n == 9

    found = search(Hopeful)
    assert found.complete
    assert list(found.reached) == ["four"]
    assert len(found.reached["four"]) == 3


def test_states_outside_of_the_boundary_are_checked_but_not_expanded() -> None:
    class Bounded(Counter):
        @boundary
        def small(self) -> bool:
            return self.n < 3

        @reachable
        def three(self) -> bool:
            return self.n == 3

    found = search(Bounded)
    # 0 -> 1, 2, 0; 1 -> 2, [3]; 2 -> [3], [4].
    assert (found.distinct, found.generated, found.cut, found.complete) == (3, 9, 3, True)
    assert found.reached == {}

    class Broken(Bounded):
        @invariant
        def not_four(self) -> bool:
            return self.n != 4

    assert numbers(search(Broken).violations[0].trace)[-1] == 4


def test_errors_of_a_model_have_a_trace_and_a_place() -> None:
    found = search(Counter, limit=11)
    error = found.violations[0]
    assert (error.kind, error.message) == ("error", "n would become 10, outside of 0..9")
    assert error.file == __file__
    assert str(error.failed_step) == "step(by=2)"
    assert numbers(error.trace)[-1] == 8

    class Fails(Counter):
        @invariant
        def divides(self) -> bool:
            return 4 // (self.n - 2) > -9

    error = search(Fails).violations[0]
    assert (error.kind, error.property) == ("error", "divides")
    assert "ZeroDivisionError" in error.message
    assert numbers(error.trace) == [0, 2]


@pytest.mark.parametrize(
    ("limits", "stopped"),
    [
        (Limits(states=2), "the limit of 2 states"),
        (Limits(generated=2), "the limit of 2 steps"),
        (Limits(seconds=0.0), "the limit of 0 seconds"),
        (Limits(memory=1), "the memory limit"),
    ],
)
def test_a_limit_ends_a_reference_search_without_a_verdict(limits: Limits, stopped: str) -> None:
    found = search(Counter, Options(limits=limits))
    assert (found.complete, str(found.stopped)) == (False, stopped)


def test_progress_is_reported_after_each_level() -> None:
    told: list[Progress] = []
    search(TwoPhaseCommit, watch=told.append, managers=2)
    assert [progress.level for progress in told] == list(range(1, 9))
    assert told[-1].distinct == 56
    assert all(progress.memory > 0 for progress in told)


def test_the_reference_engine_counts_orbits() -> None:
    whole, orbits = search(Votes), search(Votes, Options(symmetry=True))
    assert whole.distinct == 1 + 3 + 6 + 6
    assert (orbits.distinct, orbits.complete) == (4, True)
    assert whole.depth == orbits.depth


def test_a_trace_under_symmetry_is_a_run() -> None:
    class Flawed(Votes):
        @invariant
        def someone_has_not_voted(self) -> bool:
            return len(self.voted) < self.nodes

    trace = search(Flawed, Options(symmetry=True)).violations[0].trace
    model = Flawed()
    for before, after in itertools.pairwise(trace):
        assert fire(model, before.state, after.step) == after.state


def test_reachable_states_are_all_that_can_be_reached() -> None:
    assert {state[0] for state in reachable_states(Counter())} == {0, 1, 2, 3, 4}


def test_the_digest_tells_sets_of_states_apart() -> None:
    assert search(Counter).digest == search(Counter).digest
    assert len({search(Counter, limit=limit).digest for limit in (2, 3, 4)}) == 3


class Chest(Record):
    """Two drawers."""

    upper: Annotated[Seq[Annotated[int, Between(0, 5)]], Capacity(4)]
    lower: Annotated[Seq[Annotated[int, Between(0, 5)]], Capacity(4)]


class Drawers(Model):
    """The upper drawer gets fewer things than the lower one, and a box gets some of them."""

    chest: Chest = Chest(upper=Seq(), lower=Seq())
    box: Annotated[Seq[Annotated[int, Between(0, 5)]], Capacity(4)] = Seq()

    @action
    def fills(self) -> None:
        require(len(self.chest.lower) < 3)
        self.chest.lower.append(1)

    @action
    def lifts(self) -> None:
        require(len(self.chest.lower) == 2 and len(self.chest.upper) == 0)
        self.chest.upper.append(1)

    @action
    def packs(self) -> None:
        require(len(self.box) < 2)
        self.box.append(1)


def test_the_largest_size_of_each_container_is_known() -> None:
    native = pytest.importorskip("floodmark.checkers.native.search")
    sizes = search(Drawers).sizes
    assert sizes == native.search_states(Drawers(), [], Options(workers=1)).sizes
    assert sizes == {"chest.upper": 1, "chest.lower": 3, "box": 2}


@pytest.mark.parametrize("symmetry", [False, True])
@pytest.mark.parametrize("cls", [TwoPhaseCommit, Votes, Counter])
def test_the_native_engine_agrees(cls: type[Model], symmetry: bool) -> None:
    native = pytest.importorskip("floodmark.checkers.native.search")
    properties = list(collect(cls, ()).values())
    options = Options(symmetry=symmetry, workers=1)
    mine, theirs = search_states(cls(), properties, options), native.search_states(cls(), properties, options)
    for name in ("distinct", "generated", "depth", "levels", "digest", "actions", "cut", "values_seen", "state_bits"):
        assert getattr(mine, name) == getattr(theirs, name), name
