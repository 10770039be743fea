"""Random walks: each is a run of the model, the same seed is the same walks, and none is ever a proof."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Annotated

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
    always_eventually,
    boundary,
    initial,
    invariant,
    reachable,
    require,
    transition,
)
from floodmark.checkers.codegen.jit import MachineCode, object_image, processor
from floodmark.checkers.codegen.loop_compiler import compile_loops
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.properties import collect
from floodmark.checkers.project.spec import read_all
from floodmark.checkers.report import text
from floodmark.checkers.search_result import Limit, Limits, Options, SearchResult
from floodmark.checkers.simulation import sample, shrinking, walker
from floodmark.checkers.simulation.compiled_walks import build_walk_code
from floodmark.checkers.simulation.simulate import simulate
from floodmark.checkers.simulation.walk_loops import GOLDEN, PAUSE, mixed, nth_bit
from floodmark.checkers.simulation.walker import GROUP, Problem, Walker, WalkPlan, WalkProblem, WalkStrategy
from floodmark.checkers.verdict.check import CheckSettings, checks, one_check
from floodmark.language.model import State
from floodmark.language.reference import holds, initial_states, successors

Digit = Annotated[int, Between(0, 9)]
ALONE = Options(workers=1)
EVERY_STRATEGY = pytest.mark.parametrize("strategy", WalkStrategy, ids=lambda it: it.name.lower())
SPECS = ("alter_isr/core", "kraft/quorum", "reassignment/kip236", "zk_controller/core")


class Node(Identifier, count="nodes", prefix="n"):
    pass


class Race(Model):
    """From the only initial state one step of one action, or one of three of another."""

    taken: Digit = 0

    @action
    def left(self) -> None:
        require(self.taken == 0)
        self.taken = 1

    @action
    def right(self, number: Annotated[int, Between(2, 4)]) -> None:
        require(self.taken == 0)
        self.taken = number


class Ring(Model):
    """Nodes count up, and one of them starts anew."""

    nodes = Constant(3)
    marks: Map[Node, Digit]

    @initial
    def start(self) -> None:
        self.marks = Map({node: 0 for node in Node})

    @action
    def count_up(self, node: Node) -> None:
        require(self.marks[node] < 9)
        self.marks[node] = self.marks[node] + 1

    @action
    def begin_anew(self, node: Node) -> None:
        require(self.marks[node] > 2)
        self.marks[node] = 0

    @reachable
    def somebody_is_at_nine(self) -> bool:
        return any(self.marks[node] == 9 for node in Node)


class OrderedRing(Ring):
    @invariant
    def nobody_is_at_eight_after_all_were_at_one(self) -> bool:
        return not (all(self.marks[node] >= 1 for node in Node) and any(self.marks[node] == 8 for node in Node))


class LeapingRing(Ring):
    @transition
    def nobody_begins_anew_from_seven(old: Ring, new: Ring) -> bool:  # noqa: N805
        return not any(old.marks[node] == 7 and new.marks[node] == 0 for node in Node)


class OverflowingRing(Ring):
    @action
    def double(self, node: Node) -> None:
        require(self.marks[node] > 3)
        self.marks[node] = self.marks[node] * 2


class FailingRing(Ring):
    history: Annotated[Seq[Digit], Capacity(3)] = Seq()

    @invariant
    def the_ninth_is_known(self) -> bool:
        return not any(self.marks[node] == 9 for node in Node) or self.history[0] == 9


class StuckRing(Ring):
    @action
    def begin_anew(self, node: Node) -> None:
        require(self.marks[node] > 20)


class BoundedRing(Ring):
    @boundary
    def few(self) -> bool:
        return all(self.marks[node] < 6 for node in Node)

    @invariant
    def nobody_is_at_six(self) -> bool:
        return all(self.marks[node] != 6 for node in Node)


class LivelyRing(Ring):
    @always_eventually
    def the_first_is_at_zero(self) -> bool:
        return all(self.marks[node] == 0 for node in Node)


class Long(Model):
    """Counts to a number that many others share a place with, wherever what is known of states is kept."""

    number: Annotated[int, Between(0, 12_000)] = 0

    @action
    def count_up(self) -> None:
        require(self.number < 12_000)
        self.number = self.number + 1

    @invariant
    def stops_before_the_end(self) -> bool:
        return self.number < 12_000


def walked(
    model: Model, strategy: WalkStrategy = WalkStrategy.ACTIONS, walks: int = 1000, steps: int = 60, seed: int = 1,
    options: Options = ALONE,
) -> SearchResult:
    return simulate(model, list(collect(type(model), []).values()), options, WalkPlan(walks, steps, seed, strategy))


def is_exact(found: SearchResult) -> bool:
    assert found.walked is not None
    return found.walked.distinct.low == found.walked.distinct.high == found.distinct


def paths(model: Model, strategy: WalkStrategy, walks: int, steps: int, seed: int = 5) -> list[list[State]]:
    """The states of each walk, from a walker whose walks end at the last step."""
    code = build_walk_code(model, {}, good=False)
    layout = code.interface.layout
    begin = [layout.pack(state) for _, state in initial_states(model)]
    taken = Walker(code, begin, WalkPlan(walks, steps, seed, strategy), 0, False)
    return [[layout.unpack(row) for row in taken.states(walk)] for walk in range(walks)]


@EVERY_STRATEGY
@pytest.mark.parametrize("spec", SPECS)
def test_a_walk_is_a_run_of_the_model(spec: str, strategy: WalkStrategy) -> None:
    model = checks(read_all(Path(f"specs/{spec}.toml"))[0], CheckSettings())[0].model()
    begin = [state for _, state in initial_states(model)]
    for path in paths(model, strategy, 2, 12):
        assert path[0] in begin
        for before, after in itertools.pairwise(path):
            assert after in [state for _, state in successors(model, before)]


@EVERY_STRATEGY
def test_the_same_seed_is_the_same_walks_with_any_number_of_workers(strategy: WalkStrategy) -> None:
    model = Ring(nodes=3)
    one, two, three = (walked(model, strategy, options=Options(workers=count)) for count in (1, 2, 3))
    for other in (two, three):
        assert (other.actions, other.generated, other.distinct) == (one.actions, one.generated, one.distinct)
        assert other.walked == one.walked
    assert walked(model, strategy, seed=2).actions != one.actions


@EVERY_STRATEGY
def test_the_same_seed_finds_the_same_counterexample_with_any_number_of_workers(strategy: WalkStrategy) -> None:
    found = [walked(OrderedRing(), strategy, options=Options(workers=count)) for count in (1, 2, 3)]
    assert found[0].violations
    assert [it.violations for it in found] == [found[0].violations] * 3
    assert [it.notes for it in found] == [found[0].notes] * 3


@pytest.mark.parametrize(
    ("strategy", "share"),
    [(WalkStrategy.ACTIONS, 1 / 2), (WalkStrategy.INSTANCES, 1 / 4), (WalkStrategy.PRIORITIES, 1 / 2)],
)
def test_a_strategy_draws_actions_or_instances_alike(strategy: WalkStrategy, share: float) -> None:
    found = walked(Race(), strategy, walks=8000, steps=1)
    assert abs(found.actions["left"] / 8000 - share) < 0.02
    assert found.actions["left"] + found.actions["right"] == 8000


def test_each_instance_of_an_action_is_as_likely_as_another() -> None:
    ends = Counter(path[-1] for path in paths(Race(), WalkStrategy.ACTIONS, 1200, 1))
    shares = sorted(count / 1200 for count in ends.values())
    assert len(shares) == 4
    assert max(abs(share - 1 / 6) for share in shares[:3]) < 0.04


def test_walks_of_a_swarm_leave_actions_out() -> None:
    anew = [
        any(sum(after[0].values()) < sum(before[0].values()) for before, after in itertools.pairwise(path))
        for path in paths(Ring(), WalkStrategy.SWARM, 40, 27)
    ]
    assert {True, False} == set(anew)


def test_long_walks_visit_all_states_that_a_search_finds() -> None:
    model = Ring(nodes=2)
    found = walked(model, walks=4000, steps=100)
    exact = search_states(model, [], Options(workers=1))
    assert is_exact(found)
    assert found.distinct == exact.distinct
    assert "somebody_is_at_nine" in found.reached


def test_a_small_sample_estimates_the_distinct_states_alike_for_any_number_of_workers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exact = walked(Ring(), walks=3000)
    monkeypatch.setattr(walker, "SAMPLE_CELLS", 256)
    monkeypatch.setattr(sample, "MAX_SAMPLE", 128)
    one, two = (walked(Ring(), walks=3000, options=Options(workers=count)) for count in (1, 2))
    assert is_exact(exact)
    assert not is_exact(one)
    assert one.walked == two.walked
    assert one.distinct == two.distinct
    assert abs(one.distinct / exact.distinct - 1) < 0.4  # four standard errors of so small a sample


def test_the_states_of_a_long_walk_are_all_told() -> None:
    """A walk pauses now and then, to be stopped where somebody asks for it."""
    model, steps = Ring(), PAUSE + 10
    code = build_walk_code(model, {}, good=False)
    begin = [code.interface.layout.pack(state) for _, state in initial_states(model)]
    taken = Walker(code, begin, WalkPlan(1, steps, 5, WalkStrategy.ACTIONS), 0, False)
    assert [len(rows) for rows in taken.paths(1)] == [steps + 1]


class EagerRing(Ring):
    @reachable
    def one_is_at_five(self) -> bool:
        return any(self.marks[node] == 5 for node in Node)

    @reachable
    def all_are_at_nine(self) -> bool:
        return all(self.marks[node] == 9 for node in Node)


@EVERY_STRATEGY
@pytest.mark.parametrize("workers", [1, 2])
def test_the_walks_that_reach_a_goal_are_counted(strategy: WalkStrategy, workers: int) -> None:
    model, wanted = EagerRing(), Counter[str]()
    for path in paths(model, strategy, 100, 30, seed=1):
        wanted.update(name for name in GOALS if any(holds(model, getattr(EagerRing, name), it) for it in path))
    found = walked(model, strategy, walks=100, steps=30, options=Options(workers=workers))
    assert found.walked is not None
    assert found.walked.goals == {name: wanted[name] for name in GOALS}
    assert 0 < found.walked.goals["one_is_at_five"] < 100
    met = [name for name in GOALS if wanted[name]]
    assert list(found.reached) == met
    assert f"goals reached: {', '.join(f'{name} in {wanted[name]} walks' for name in met)}" in found.notes


class BrokenRing(EagerRing):
    @invariant
    def nobody_is_at_five(self) -> bool:
        return all(self.marks[node] < 5 for node in Node)


def test_a_walk_that_a_violation_ends_counts_for_the_goals_that_it_reached() -> None:
    found = walked(BrokenRing(), walks=1, steps=1000)
    assert found.walked is not None
    assert (found.walked.walks, found.walked.goals["one_is_at_five"]) == (0, 1)
    assert "goals reached: one_is_at_five in 1 walk" in found.notes


GOALS = ("somebody_is_at_nine", "one_is_at_five", "all_are_at_nine")


def test_walks_without_a_violation_do_not_complete_a_search() -> None:
    found = walked(Ring())
    assert not found.complete
    assert not found.violations
    assert found.stopped is not None
    assert found.stopped.limit is Limit.WALKS


def test_a_time_limit_ends_walks() -> None:
    found = walked(Ring(), walks=10_000_000, options=Options(workers=2, limits=Limits(seconds=0.05)))
    assert found.stopped is not None
    assert found.stopped.limit is Limit.SECONDS
    assert found.generated < 10_000_000 * 61


def test_walks_end_where_no_action_is_enabled() -> None:
    found = walked(StuckRing(), walks=50, steps=100)
    assert found.walked is not None
    assert found.walked.dead_ends == 50
    assert found.depth == 28
    assert not found.violations
    assert "at most 27 steps, 50 ended where no action is enabled, 1 s" in text.walk_extent(found, found.walked, "1 s")


def test_walks_say_that_liveness_is_not_looked_at() -> None:
    assert "walks are finite and do not look at 1 liveness property" in walked(LivelyRing()).notes


def test_a_false_invariant_is_found() -> None:
    (violation,) = walked(OrderedRing()).violations
    assert violation.kind == "invariant"
    assert_is_run(OrderedRing(), [at.state for at in violation.trace])
    assert not holds(OrderedRing(), OrderedRing.nobody_is_at_eight_after_all_were_at_one, violation.trace[-1].state)
    assert len(violation.trace) == 11  # a shortest one


def test_what_is_known_of_a_state_is_not_taken_for_another_state() -> None:
    found = walked(Long(), walks=1, steps=12_000)
    assert found.generated == 12_001
    assert found.violations


@pytest.mark.parametrize("bmi2", [0, 1] if "+bmi2" in processor()["features"].split(",") else [0])
@pytest.mark.parametrize("word", [1, 1 << 63, (1 << 64) - 1, 0b1011_0000_0110, 0xF00D_0000_BEEF_0001])
def test_the_nth_bit_is_the_same_on_every_processor(word: int, bmi2: int) -> None:
    text = str(compile_loops([nth_bit], {"BMI2": bmi2}))
    code = MachineCode([object_image({"test": text}, lambda: text)])  # it has to outlive its functions
    function = code.function("nth_bit", 2)
    places = [place for place in range(64) if word >> place & 1]
    assert [function(word, n) for n in range(len(places))] == places


def test_random_numbers_are_those_of_splitmix64() -> None:
    """The first that its authors' program gives for the seed 1234567."""
    text = str(compile_loops([mixed], {"BMI2": 0}))
    code = MachineCode([object_image({"test": text}, lambda: text)])
    function = code.function("mixed", 1)
    drawn = [function((1234567 + number * GOLDEN) % (1 << 64)) for number in range(1, 6)]
    assert drawn == [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431,
                     16408922859458223821]


def test_a_broken_transition_is_found() -> None:
    (violation,) = walked(LeapingRing()).violations
    assert violation.kind == "transition"
    assert len(violation.trace) == 9


def test_a_model_error_is_found() -> None:
    violation = walked(OverflowingRing()).violations[0]
    assert violation.kind == "error"
    assert violation.failed_step is not None
    assert violation.failed_step.action == "double"
    assert len(violation.trace) == 6


def test_a_property_that_fails_is_found() -> None:
    violation = walked(FailingRing()).violations[0]
    assert violation.kind == "error"
    assert violation.property == "the_ninth_is_known"


class Shelf(Record):
    kept: Annotated[Set[Digit], Capacity(2)]


class Kept(Model):
    """Its guards make sets whose elements take slots."""

    last: Digit = 0
    shelf: Shelf = Shelf(kept=Set())

    @action
    def keeps(self) -> None:
        require(self.shelf != Shelf(kept=Set({self.last})))
        self.shelf = Shelf(kept=Set({self.last}))

    @action
    def goes_on(self) -> None:
        require(self.last < 9 and self.shelf == Shelf(kept=Set({self.last})))
        self.last += 1


@EVERY_STRATEGY
def test_a_guard_may_fill_slots(strategy: WalkStrategy) -> None:
    found = walked(Kept(), strategy)
    assert found.distinct == search_states(Kept(), [], ALONE).distinct == 20
    assert found.walked is not None
    assert found.walked.dead_ends == 1000 or strategy is WalkStrategy.SWARM


class FrenchRing(Ring):
    @action
    def répète(self, node: Node) -> None:
        require(self.marks[node] == 1)
        self.marks[node] = 0


@EVERY_STRATEGY
def test_names_may_have_any_letters(strategy: WalkStrategy) -> None:
    assert walked(FrenchRing(), strategy).actions["répète"]


def test_a_violation_is_found_however_long_walks_may_be() -> None:
    """No memory holds the states of so long a walk; the one that meets the violation is short."""
    (violation,) = walked(OrderedRing(), walks=200, steps=10**12).violations
    assert violation.property == "nobody_is_at_eight_after_all_were_at_one"


def test_a_deadlock_is_found_where_it_is_a_violation() -> None:
    (violation,) = walked(StuckRing(), options=Options(workers=1, deadlock=True)).violations
    assert violation.kind == "deadlock"
    assert len(violation.trace) == 28


def test_a_swarm_without_some_actions_has_no_deadlock() -> None:
    assert not walked(Ring(), WalkStrategy.SWARM, options=Options(workers=1, deadlock=True)).violations


def test_a_violation_outside_of_the_boundary_is_found() -> None:
    (violation,) = walked(BoundedRing()).violations
    assert violation.kind == "invariant"
    assert len(violation.trace) == 7


@pytest.mark.parametrize("model", [OrderedRing, LeapingRing, OverflowingRing, StuckRing, BoundedRing, FailingRing])
def test_a_counterexample_shrinks_where_no_search_reaches_it(
    model: type[Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = Options(workers=1, deadlock=model is StuckRing)
    shortest = walked(model(), options=options).violations[0]
    monkeypatch.setattr(shrinking, "SEARCHED", 3)
    found = walked(model(), options=options).violations[0]
    assert (found.kind, found.property, found.message) == (shortest.kind, shortest.property, shortest.message)
    assert_is_run(model(), [at.state for at in found.trace])
    assert len(found.trace) == len(shortest.trace)


def assert_is_run(model: Model, states: list[State]) -> None:
    assert states[0] in [state for _, state in initial_states(model)]
    for before, after in itertools.pairwise(states):
        assert after in [state for _, state in shrinking.completed_steps(model, before)]


def test_a_walk_that_is_taken_again_must_be_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Walker, "take", lambda *_: WalkProblem(3, 3, Problem.WRONG_STEP, 0))
    code = build_walk_code(Ring(), {}, good=False)
    begin = [code.interface.layout.pack(state) for _, state in initial_states(Ring())]
    taken = Walker(code, begin, WalkPlan(64, 10, 0, WalkStrategy.ACTIONS), 0, False)
    with pytest.raises(RuntimeError, match="another one"):
        taken.path(WalkProblem(2, 2, Problem.FALSE_STATE, 1))
    assert GROUP == walker.GROUP


def test_walks_find_a_step_that_does_not_refine() -> None:
    check = one_check(Path("specs/alter_isr/atomic.toml"), "IgnoresPendingExpand", CheckSettings())
    (prop,) = check.properties()
    assert prop.is_refinement
    found = simulate(check.model(), [prop], ALONE, WalkPlan(3000, 60, 1, WalkStrategy.ACTIONS))
    assert [it.property for it in found.violations] == ["as_atomic_isr"]


class FencedRing(StuckRing):
    @boundary
    def few(self) -> bool:
        return all(self.marks[node] < 2 for node in Node)


def test_a_walk_that_stops_at_the_boundary_is_counted_and_the_next_one_begins() -> None:
    found = walked(FencedRing(), walks=50, steps=100, options=Options(workers=1, deadlock=True))
    assert found.walked is not None
    assert (found.walked.walks, found.walked.cut_short, found.walked.dead_ends) == (50, 50, 0)
    assert found.generated == 50 * 4  # three steps to where every further one leaves the boundary
    assert not found.violations
    assert "at most 3 steps, 50 ended at the boundary, 1 s" in text.walk_extent(found, found.walked, "1 s")
