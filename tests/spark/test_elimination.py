"""Liveness on the partitions of a search, without Spark: what holds and what it needs, lassos, and losses."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest

from floodmark import (
    Between,
    Model,
    action,
    always_eventually,
    boundary,
    eventually,
    eventually_always,
    fair,
    invariant,
    leads_to,
    recoverable,
    require,
)
from floodmark.checkers.liveness import check
from floodmark.checkers.native import search as native
from floodmark.checkers.project.properties import collect
from floodmark.checkers.search_result import Limit, LimitReached, Options, SearchResult, Stop
from floodmark.checkers.spark import recoverability, search
from floodmark.checkers.spark.elimination_tasks import FairRunQuery, StateSelection, TaskReport
from floodmark.checkers.spark.jobs import JobFailed
from floodmark.checkers.spark.lasso import LassoSearch
from floodmark.checkers.spark.liveness import LivenessCheck
from floodmark.checkers.spark.rounds import EliminationRounds
from floodmark.checkers.spark.shard import FilesChangedError, Shard
from floodmark.language.bounding import beyond_bounds
from floodmark.language.errors import SourceError
from tests.support.fair_graphs import KINDS, FairGraph, as_model, assert_breaks, random_graph, verdict
from tests.support.losses import Machines, Simulated, search_states

Noted = dict[str, str]
"""What the partitions say of each goal; "open" where the driver has to judge."""


@pytest.fixture(autouse=True)
def every_search_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MAX_STATES_FOR_DRIVER", 0)


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> Noted:
    """What the partitions say, before the driver judges the rest."""
    seen: Noted = {}
    original = LivenessCheck.finding

    def finding(self: LivenessCheck, goal: Any) -> Any:
        found = original(self, goal)
        seen[goal.name] = "open" if found is None else found.verdict
        return found

    monkeypatch.setattr(LivenessCheck, "finding", finding)
    return seen


def quiet(root: Path) -> Machines:
    return Machines(root, random.Random(0), faults=())


def judged(found: SearchResult) -> list[tuple[Any, ...]]:
    """All but the lassos of what is violated, of which each engine finds its own; CPython took their steps again."""
    return [
        (it.name, it.verdict, it.bounds, it.needs, it.trace if it.verdict != "violated" or it.loop is None else ())
        for it in found.liveness
    ]


def assert_judged_as_natively(model: Model, machines: Machines, noted: Noted, partitions: int = 2) -> SearchResult:
    noted.clear()
    properties = list(collect(type(model), []).values())
    natively = native.search_states(model, properties, Options(workers=1))
    found, _ = search_states(model, properties, machines, partitions)
    assert found.complete
    assert judged(found) == judged(natively)
    assert found.vacuous == natively.vacuous
    verdicts = {it.name: it.verdict for it in natively.liveness}
    assert {name: verdict for name, verdict in noted.items() if verdict != "open"}.items() <= verdicts.items()
    is_bounded = bool(beyond_bounds(model) or type(model).methods("boundary"))
    assert all(verdict != "open" or (is_bounded and verdicts[name] != "holds") for name, verdict in noted.items())
    return found


def assert_graph_is_judged(graph: FairGraph, machines: Machines, noted: Noted) -> None:
    with as_model(graph) as cls:
        found = assert_judged_as_natively(cls(), machines, noted)
    kinds = {it.name: it.name.removesuffix("_goal").removeprefix("premise_") for it in found.liveness}
    assert {kinds[it.name]: it.verdict for it in found.liveness} == {
        kind: verdict(graph, kind, "streett") for kind in KINDS
    }, graph.source()
    for it in found.liveness:
        if it.loop is not None:
            assert_breaks(graph, kinds[it.name], [entry.state[0] for entry in it.trace], it.loop)


@pytest.mark.parametrize(
    "seed", [*(pytest.param(seed, marks=pytest.mark.slow) for seed in (0, 2, 4, 10, 11, 20)), 12, 19]
)
def test_random_graphs_are_judged_as_by_the_oracle(seed: int, tmp_path: Path, noted: Noted) -> None:
    assert_graph_is_judged(random_graph(random.Random(seed)), quiet(tmp_path), noted)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
def test_many_random_graphs_are_judged_as_by_the_oracle(seed: int, tmp_path: Path, noted: Noted) -> None:
    chance = random.Random(seed)
    for number in range(40):
        assert_graph_is_judged(random_graph(chance), quiet(tmp_path / str(number)), noted)


# Shapes.

NONE: frozenset[int] = frozenset()


@pytest.mark.slow
def test_a_loop_that_takes_only_one_of_two_labels_is_eliminated(tmp_path: Path, noted: Noted) -> None:
    """Each of three loops, one behind the other, misses a label of its own."""
    steps = ((0, 0, 1), (1, 0, 0), (0, 1, 2), (1, 1, 2), (2, 1, 3), (3, 1, 2), (2, 0, 4), (3, 0, 4), (4, 0, 5))
    graph = FairGraph(6, 2, steps, (0,), NONE, frozenset({5}), {0: False, 1: False})
    assert verdict(graph, "eventually", "streett") == "holds"
    assert_graph_is_judged(graph, quiet(tmp_path), noted)
    without = FairGraph(6, 2, steps, (0,), NONE, frozenset({5}), {0: False})
    assert verdict(without, "eventually", "streett") == "violated"
    assert_graph_is_judged(without, quiet(tmp_path), noted)


def test_a_step_into_the_region_from_outside_is_not_one_of_its_steps(tmp_path: Path, noted: Noted) -> None:
    """Action 1 leads from the goal into the loop, where it is enabled all along and not taken."""
    steps = ((0, 0, 1), (1, 0, 2), (2, 0, 1), (0, 1, 1), (1, 1, 3), (2, 1, 3))
    graph = FairGraph(4, 2, steps, (0,), NONE, frozenset({0, 3}), {1: False})
    assert verdict(graph, "always_eventually", "streett") == "holds"
    assert_graph_is_judged(graph, quiet(tmp_path), noted)


def test_a_loop_that_no_root_reaches_within_the_region_is_not_asked_of(tmp_path: Path, noted: Noted) -> None:
    steps = ((0, 0, 1), (1, 0, 2), (2, 0, 3), (3, 0, 2))
    graph = FairGraph(4, 1, steps, (0,), frozenset({0}), frozenset({1}), {0: False})
    assert verdict(graph, "leads_to", "streett") == verdict(graph, "eventually", "streett") == "holds"
    assert_graph_is_judged(graph, quiet(tmp_path), noted)


def test_a_loop_stays_in_the_component_that_no_step_enters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From both states of the loop fair steps lead out of it, to states that are smaller, so these are tried first."""
    steps = [(6, 0, 7), (7, 1, 6), *((loop, 1, out) for loop in (6, 7) for out in range(6))]
    graph = FairGraph(9, 2, (*steps, *((out, 1, 8) for out in range(6))), (6,), NONE, frozenset({8}), {1: False})
    leads: list[bool] = []
    original = LassoSearch._leads

    def noted_leads(self: LassoSearch, start: Any, goal: Any) -> bool:
        leads.append(original(self, start, goal))
        return leads[-1]

    monkeypatch.setattr(LassoSearch, "_leads", noted_leads)
    assert_graph_is_judged(graph, quiet(tmp_path), {})
    assert False in leads


def test_a_run_that_stays_in_the_region_begins_where_the_premise_is_true(tmp_path: Path) -> None:
    """It stays in the state 4, to which the shortest run passes the goal; before it, it has to go on."""
    steps = ((0, 0, 1), (1, 0, 2), (1, 0, 3), (2, 0, 4), (3, 0, 5), (5, 0, 4))
    graph = FairGraph(6, 1, steps, (0,), frozenset({1}), frozenset({2}), {0: False})
    with as_model(graph) as cls:
        properties = list(collect(cls, []).values())
        found, _ = search_states(cls(), properties, quiet(tmp_path), partitions=1)
    finding = next(it for it in found.liveness if "leads_to" in it.name)
    assert finding.verdict == "violated"
    assert [entry.state[0] for entry in finding.trace] == [0, 1, 3, 5, 4]


def test_elimination_that_left_states_without_a_loop_is_told() -> None:
    search = object.__new__(LassoSearch)
    search._spread = lambda *given: None  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="elimination left a fair run, and no loop is found"):
        search._path((0,), FairRunQuery(StateSelection(), StateSelection(), (), ()))


def test_a_way_that_leaves_the_loop_at_its_end_only_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A strongly fair action leads out of a ring at two places, and at the next but one goes on in it."""
    ring = ((at, 0, at % 6 + 1) for at in range(1, 7))
    steps = (*ring, (1, 1, 0), (3, 1, 8), (5, 1, 6), (0, 0, 7), (8, 0, 7))
    graph = FairGraph(9, 2, steps, (1,), NONE, frozenset({7}), {0: False, 1: True})
    ways: list[int] = []
    left: list[int] = []
    path, leads = LassoSearch._path, LassoSearch._leads

    def noted_path(self: LassoSearch, *given: Any) -> Any:
        ways.append(len(found := path(self, *given)))
        return found

    def noted_leads(self: LassoSearch, *given: Any) -> bool:
        found = leads(self, *given)
        left.extend([] if found else ways[-1:])
        return found

    monkeypatch.setattr(LassoSearch, "_path", noted_path)
    monkeypatch.setattr(LassoSearch, "_leads", noted_leads)
    assert_graph_is_judged(graph, quiet(tmp_path), {})
    assert max(left) > 2


def test_a_loop_passes_a_state_in_which_a_weakly_fair_action_is_not_enabled(tmp_path: Path) -> None:
    """Two actions lead from all states of a ring but one each to the goal, and are never taken in the ring."""
    leaves = ((at, by, 6) for by, never in ((1, 2), (2, 5)) for at in range(6) if at != never)
    steps = (*((at, 0, (at + 1) % 6) for at in range(6)), *leaves)
    graph = FairGraph(7, 3, steps, (0,), NONE, frozenset({6}), {1: False, 2: False})
    assert_graph_is_judged(graph, quiet(tmp_path), {})


class Roundabout(Model):
    """Three places in a circle. Each has an exit of its own, which is closed there and open at the two others."""

    here: Annotated[int, Between(0, 3)] = 0

    @action
    def turns(self) -> None:
        require(self.here < 3)
        self.here = (self.here + 1) % 3

    @fair(each="exit")
    @action
    def leaves(self, exit: Annotated[int, Between(0, 79)]) -> None:
        require(self.here < 3 and 70 <= exit < 73 and exit != 70 + self.here)
        self.here = 3

    @eventually
    def is_out(self) -> bool:
        return self.here == 3


def test_a_loop_passes_states_without_a_label_of_a_later_word(tmp_path: Path) -> None:
    """Only labels beyond the sixty-fourth are ever enabled, so the first word never says which way helps."""
    found, _ = search_states(Roundabout(), list(collect(Roundabout, []).values()), quiet(tmp_path))
    (finding,) = found.liveness
    assert finding.verdict == "violated" and finding.loop is not None
    places = [entry.state[0] for entry in finding.trace]
    assert set(places) == {0, 1, 2}


def test_a_run_in_the_region_need_not_be_the_shortest(tmp_path: Path, noted: Noted) -> None:
    """The shortest way into the loop passes the goal. The one partition's first state is a root, the loop's are not."""
    steps = ((0, 0, 1), (1, 0, 4), (0, 0, 2), (2, 0, 3), (3, 0, 4), (4, 0, 5), (5, 0, 4))
    graph = FairGraph(6, 1, steps, (0,), NONE, frozenset({1}), {0: False})
    with as_model(graph) as cls:
        found = assert_judged_as_natively(cls(), quiet(tmp_path), noted, partitions=1)
    finding = next(it for it in found.liveness if it.name.removesuffix("_goal") == "eventually")
    assert finding.verdict == "violated" and finding.loop is not None
    assert_breaks(graph, "eventually", [entry.state[0] for entry in finding.trace], finding.loop)


def test_a_run_may_stay_where_it_begins(tmp_path: Path) -> None:
    graph = FairGraph(2, 1, ((0, 0, 1),), (0,), frozenset({0}), frozenset({1}), {})
    assert_graph_is_judged(graph, quiet(tmp_path), {})


class Stairs(Model):
    """The last of eighty stairs, each climbed by a choice of its own; from some one may fall back one."""

    here: Annotated[int, Between(0, 79)] = 70

    @fair(strong=True, each="to")
    @action
    def climbs(self, to: Annotated[int, Between(0, 79)]) -> None:
        require(to == self.here + 1)
        self.here = to

    @action
    def falls(self) -> None:
        require(73 <= self.here < 78)
        self.here -= 1

    @eventually
    def is_high(self) -> bool:
        return self.here >= 76

    @recoverable
    def can_be_at_the_top(self) -> bool:
        return self.here == 79


class SlipperyStairs(Stairs):
    """Where a choice is only weakly fair, one that is again and again not there may never be taken."""

    @fair(each="to")
    @action
    def climbs(self, to: Annotated[int, Between(0, 79)]) -> None:
        require(to == self.here + 1)
        self.here = to


@pytest.mark.parametrize("cls", [Stairs, SlipperyStairs])
def test_more_labels_than_a_word_has_bits(cls: type[Model], tmp_path: Path, noted: Noted) -> None:
    """The loop between stairs 74 and 75 is decided by the label of the choice 76."""
    found = assert_judged_as_natively(cls(), quiet(tmp_path), noted)
    assert {it.verdict for it in found.liveness} == ({"holds"} if cls is Stairs else {"holds", "violated"})


class Carousel(Model):
    """A ring, in which a run may not stay where it is."""

    here: Annotated[int, Between(0, 7)] = 0

    @fair
    @action
    def turns(self) -> None:
        self.here = (self.here + 1) % 8

    @eventually_always
    def passes_two_no_more(self) -> bool:
        return self.here != 2

    @eventually_always
    def passes_five_no_more(self) -> bool:
        return self.here != 5


def test_a_loop_passes_a_state_in_which_the_goal_is_false_by_any_step(tmp_path: Path, noted: Noted) -> None:
    """Not both of these states are where the loop begins."""
    found = assert_judged_as_natively(Carousel(), quiet(tmp_path), noted)
    for finding in found.liveness:
        assert finding.verdict == "violated" and finding.loop is not None
        assert {entry.state[0] for entry in finding.trace[finding.loop :]} == set(range(8))


class Turnstile(Model):
    """It turns again and again, by an action whose label comes after those of seventy others, none of which strong."""

    side: Annotated[int, Between(0, 2)] = 0

    @fair(each="at")
    @action
    def waits(self, at: Annotated[int, Between(0, 69)]) -> None:
        require(self.side == 2 and at > 0)
        self.side = 0

    @fair(strong=True)
    @action
    def turns(self) -> None:
        require(self.side < 2)
        self.side = 1 - self.side

    @eventually_always
    def stands_still(self) -> bool:
        return self.side == 0


def test_a_loop_takes_a_label_that_is_strong_in_the_second_word_only(tmp_path: Path, noted: Noted) -> None:
    found = assert_judged_as_natively(Turnstile(), quiet(tmp_path), noted)
    assert [it.verdict for it in found.liveness] == ["violated"]


class Meadow(Model):
    """Places in a row within a boundary; beyond it there is a way to the goal that does not count."""

    here: Annotated[int, Between(0, 9)] = 0

    @boundary
    def is_near(self) -> bool:
        return self.here < 6

    @fair
    @action
    def walks(self) -> None:
        require(self.here < 9)
        self.here += 1

    @action
    def returns(self) -> None:
        require(0 < self.here < 5)
        self.here -= 1

    @always_eventually
    def is_near_the_fence(self) -> bool:
        return self.here >= 4

    @eventually_always
    def stays_at_the_fence(self) -> bool:
        return self.here >= 5

    @always_eventually
    def comes_back_from_the_fence(self) -> bool:
        return self.here < 5

    @leads_to
    def what_begins_far_out_comes_back(self) -> tuple[bool, bool]:
        return self.here > 7, self.here == 0

    @recoverable
    def can_come_to_the_fence(self) -> bool:
        return self.here == 5


def test_steps_that_leave_the_boundary_are_no_steps(tmp_path: Path, noted: Noted) -> None:
    found = assert_judged_as_natively(Meadow(), quiet(tmp_path), noted)
    assert noted["what_begins_far_out_comes_back"] == "holds"
    assert [premise.property for premise in found.vacuous] == ["what_begins_far_out_comes_back"]


class Road(Model):
    """A road of 129 places from one of which one may stray, and never comes back: 130 states."""

    here: Annotated[int, Between(0, 128)] = 0
    lost: bool = False

    @action
    def walks(self) -> None:
        require(self.here < 128 and not self.lost)
        self.here += 1

    @action
    def strays(self) -> None:
        require(self.here == 100 and not self.lost)
        self.lost = True

    @recoverable
    def can_arrive(self) -> bool:
        return self.here == 128


def test_a_partition_may_have_more_states_than_a_word_has_bits(tmp_path: Path, noted: Noted) -> None:
    found = assert_judged_as_natively(Road(), quiet(tmp_path), noted, partitions=1)
    (finding,) = found.liveness
    assert [entry.state for entry in finding.trace][-2:] == [(100, False), (100, True)]


@pytest.mark.slow
def test_levels_may_be_combined_into_one_job(tmp_path: Path, noted: Noted, monkeypatch: pytest.MonkeyPatch) -> None:
    for together in (1, 7):
        monkeypatch.setattr(recoverability, "MIN_STATES_OF_JOB", together)
        assert_judged_as_natively(Stairs(), quiet(tmp_path / str(together)), noted, partitions=3)


class Stumbles(Stairs):
    @always_eventually
    def cannot_be_said(self) -> bool:
        steps = (1, 2, 3)
        return self.here < 75 or steps[self.here - 75] > 0


def test_a_condition_that_fails_is_told_by_cpython(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="index"):
        search_states(Stumbles(), list(collect(Stumbles, []).values()), quiet(tmp_path))


def test_few_states_are_judged_by_the_driver(tmp_path: Path, noted: Noted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MAX_STATES_FOR_DRIVER", 10)
    found, _ = search_states(Stairs(), list(collect(Stairs, []).values()), quiet(tmp_path))
    assert not noted and {it.verdict for it in found.liveness} == {"holds"}


def test_a_limit_that_ends_the_judgement_leaves_it_open(
    tmp_path: Path, noted: Noted, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def paused() -> None:
        asked.append(0)
        if len(asked) == 9:
            raise LimitReached(Stop(Limit.MEMORY))

    monkeypatch.setattr(check, "budget", lambda started, limits: paused)
    found, _ = search_states(Stairs(), list(collect(Stairs, []).values()), quiet(tmp_path))
    assert (found.complete, found.stopped, found.liveness, noted) == (False, Stop(Limit.MEMORY), [], {})


# Losses.


class Ring(Model):
    """A ring of places with a way out of it."""

    here: Annotated[int, Between(0, 19)] = 0
    out: bool = False

    @fair(strong=True)
    @action
    def leaves(self) -> None:
        require(self.here == 7 and not self.out)
        self.out = True

    @fair
    @action
    def turns(self) -> None:
        require(not self.out)
        self.here = (self.here + 1) % 20

    @action
    def skips(self, by: Annotated[int, Between(2, 3)]) -> None:
        require(not self.out)
        self.here = (self.here + by) % 20

    @invariant
    def leaves_at_seven(self) -> bool:
        return not self.out or self.here == 7

    @leads_to
    def who_comes_near_leaves(self) -> tuple[bool, bool]:
        return self.here == 7, self.out or self.here == 12

    @recoverable
    def can_be_out(self) -> bool:
        return self.out


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """An entry for each time that all facts were written."""
    times: list[int] = []
    original = EliminationRounds.begin

    def begin(self: EliminationRounds) -> None:
        times.extend([0] if self._sieve is None else [])
        original(self)

    monkeypatch.setattr(EliminationRounds, "begin", begin)
    return times


def before_round(monkeypatch: pytest.MonkeyPatch, number: int, do: Callable[[EliminationRounds], None]) -> None:
    """Does something before a round, once."""
    original = EliminationRounds._reports

    def reports(self: EliminationRounds, jobs: Any) -> list[TaskReport]:
        if self.taken == number:
            do(self)
        return original(self, jobs)

    monkeypatch.setattr(EliminationRounds, "_reports", reports)


def cluster_of(rounds: EliminationRounds) -> Simulated:
    assert isinstance(rounds.cluster, Simulated)
    return rounds.cluster


def files(rounds: EliminationRounds, partition: int) -> Path:
    cluster = cluster_of(rounds)
    return cluster.machines.root / "machine-0" / cluster.run.folder / f"{partition:05}"


def states_vanish(rounds: EliminationRounds) -> None:
    shutil.rmtree(files(rounds, 0))


def marks_vanish(rounds: EliminationRounds) -> None:
    for path in files(rounds, 1).glob("marks-*"):
        path.unlink()


def facts_change(rounds: EliminationRounds) -> None:
    (path,) = files(rounds, 1).glob("facts-*")
    _flip(path)


def marks_change(rounds: EliminationRounds) -> None:
    for path in files(rounds, 0).glob("marks-*"):
        _flip(path)


def _flip(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(bytes([content[0] ^ 1]) + content[1:])


def table_vanishes(rounds: EliminationRounds) -> None:
    for path in files(rounds, 0).glob("table-*"):
        path.unlink()
    cluster_of(rounds).machines.processes.clear()  # where it is mapped, it is still there


def states_are_written_again(rounds: EliminationRounds) -> None:
    """As a late attempt at the newest level would, which finds the same states in another order."""
    ledger = rounds.cluster.ledger
    code = rounds.cluster.run.code.value.load()
    for partition in range(rounds.cluster.partitions):
        shard = Shard(files(rounds, partition), code)
        rows = ledger.of(partition)
        newest = max(level for level in range(ledger.levels) if ledger.counts(level)[partition])
        with shard.reading(ledger.levels, rows[-1, 3:].tobytes()):
            levels = [shard.states(*shard.slice(level)).copy() for level in range(newest, ledger.levels)]
        for level, states in zip(range(newest, ledger.levels), levels, strict=True):
            with shard.extending(level, rows[level - 1, 3:].tobytes()):
                shard.insert(np.ascontiguousarray(states.reshape(-1, shard.words)[::-1]).reshape(-1))
    cluster_of(rounds).machines.processes.clear()


LOSSES = [
    states_vanish, marks_vanish, facts_change, marks_change, table_vanishes, states_are_written_again,
]  # fmt: skip


OFTEN = ((3, marks_vanish), (3, states_are_written_again))
"""The rounds and losses of a quick run."""


@pytest.mark.parametrize(
    ("number", "lose"),
    [pytest.param(number, lose, marks=[] if (number, lose) in OFTEN else [pytest.mark.slow])
     for number in (3, 9) for lose in LOSSES],
)
def test_what_is_lost_between_rounds_is_asked_again(
    lose: Callable[[EliminationRounds], None], number: int, tmp_path: Path, noted: Noted, begun: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    before_round(monkeypatch, number, lose)
    assert_judged_as_natively(Ring(), quiet(tmp_path), noted)
    assert len(begun) == 2


def test_bytes_that_change_during_the_judgement_are_seen_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that has the states open does not compare them again, but no verdict is given without."""
    original = LivenessCheck.finding

    def finding(self: LivenessCheck, goal: Any) -> Any:
        found = original(self, goal)
        with open(files(self.rounds, 0) / "states", "r+b") as states:
            byte = states.read(1)
            states.seek(0)
            states.write(bytes([byte[0] ^ 1]))
        return found

    monkeypatch.setattr(LivenessCheck, "finding", finding)
    properties = [prop for name, prop in collect(Ring, []).items() if name != "can_be_out"]
    with pytest.raises((JobFailed, FilesChangedError), match=r"does not hold what was written|add up"):
        search_states(Ring(), properties, quiet(tmp_path), 2)


def test_losses_that_do_not_end_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = EliminationRounds._reports

    def reports(self: EliminationRounds, jobs: Any) -> list[TaskReport]:
        marks_vanish(self)
        return original(self, jobs)

    monkeypatch.setattr(EliminationRounds, "_reports", reports)
    with pytest.raises(JobFailed, match="lost as fast as"):
        search_states(Ring(), list(collect(Ring, []).values()), quiet(tmp_path), 2)


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (0, 2, 3, 4, 5))])
def test_drawn_schedules_change_no_verdict(seed: int, tmp_path: Path, noted: Noted) -> None:
    machines = Machines(tmp_path, random.Random(seed), often=0.004)
    assert_judged_as_natively(Ring(), machines, noted, partitions=2 + seed % 2)
    assert machines.happened


def test_what_partitions_tell_each_other_arrives_whole(
    tmp_path: Path, noted: Noted, begun: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one round a piece is missing, in another a byte of one has changed."""
    damages: list[Callable[[list[Any]], Any]] = [
        lambda pieces: pieces.pop(),
        lambda pieces: pieces.append(pieces.pop()[:-1] + b"\x05"),
    ]
    original = Simulated._merged

    def merged(self: Simulated, partition: int, task: Any, records: list[Any]) -> list[Any]:
        pieces = [payload for _, payload in records if isinstance(payload, bytes)]
        if damages and pieces and task.func.__name__ == "receive" and partition == 1:
            others = [record for record in records if not isinstance(record[1], bytes)]
            damages.pop()(pieces)
            records = [*others, *((partition, piece) for piece in pieces)]
        return original(self, partition, task, records)

    monkeypatch.setattr(Simulated, "_merged", merged)
    assert_judged_as_natively(Ring(), quiet(tmp_path), noted)
    assert (damages, len(begun)) == ([], 3)


def test_a_driver_that_finds_no_run_where_elimination_left_one_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LivenessCheck, "finding", lambda self, goal: None)
    with pytest.raises(RuntimeError, match="elimination left a fair run"):
        search_states(Stairs(), list(collect(Stairs, []).values()), quiet(tmp_path))
