"""Tests pieces of random walks: what their figures say, and how a counterexample becomes shorter."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Annotated, Any

import numpy as np
import pytest

from floodmark import Between, Model, action, always_eventually, invariant, require
from floodmark.checkers.kernel.compiled_model import build_kernel
from floodmark.checkers.project.properties import collect
from floodmark.checkers.search_result import Estimate, Options, TraceState, Violation
from floodmark.checkers.simulation import walk_loops
from floodmark.checkers.simulation.compiled_walks import build_walk_code
from floodmark.checkers.simulation.sample import Sample
from floodmark.checkers.simulation.shrinking import _ViolationMatch, _with_shortcuts
from floodmark.checkers.simulation.simulate import Simulation, simulate
from floodmark.checkers.simulation.walker import GROUP, Walker, WalkPlan, WalkStrategy
from floodmark.language.reference import Step, initial_states


class Stairs(Model):
    """Up step by step, or faster from the third on."""

    n: Annotated[int, Between(0, 9)] = 0

    @action
    def up(self) -> None:
        require(self.n < 9)
        self.n += 1

    @action
    def jumps(self) -> None:
        require(self.n == 3)
        self.n = 8

    @invariant
    def below_nine(self) -> bool:
        return self.n < 9

    @always_eventually
    def at_the_bottom(self) -> bool:
        return self.n == 0


PROPERTIES = collect(Stairs, [])
BELOW = PROPERTIES["below_nine"]
WHOLE = tuple(TraceState(Step("up" if n else ""), (n,)) for n in range(10))
BROKEN = Violation("invariant", "below_nine", WHOLE)


def test_a_trace_takes_the_shorter_ways_between_its_states() -> None:
    judge = _ViolationMatch(Stairs(), BROKEN, BELOW)
    found = _with_shortcuts(judge, WHOLE, build_kernel(Stairs(), {}, False))
    assert [entry.state for entry in found] == [(0,), (1,), (2,), (3,), (8,), (9,)]


def test_a_trace_ends_where_the_violation_is_first_met() -> None:
    judge = _ViolationMatch(Stairs(), BROKEN, BELOW)
    steps = [Step("up")] * 3
    assert judge.replayed(TraceState(Step(""), (9,)), steps) == (TraceState(Step(""), (9,)),)
    found = judge.replayed(TraceState(Step(""), (7,)), steps)
    assert found is not None and [entry.state for entry in found] == [(7,), (8,), (9,)]
    assert judge.replayed(TraceState(Step(""), (1,)), steps) is None


def test_a_sample_of_some_states_stands_for_all() -> None:
    walks = np.arange(40, dtype=np.uint16)
    alone = np.ones(40, dtype=np.uint8)
    for level in (0, 3):
        found = Sample(level, np.arange(40, dtype=np.uint64) << np.uint64(level), alone, walks).new_states(80)
        assert found is not None and found.mean == 40 * (1 << level) / 80


@pytest.mark.parametrize(("mean", "said"), [(0.12345, "about 0.123 states"), (12.0, "about 12 states"),
                                            (12345.6, "about 12,346 states")])
def test_estimates_have_as_many_digits_as_mean_something(mean: float, said: str) -> None:
    simulation: Any = SimpleNamespace(walking=WalkPlan(1, 1, 1, WalkStrategy.ACTIONS))
    assert said in Simulation._said_of_further_walks(simulation, Estimate(mean, mean, mean))


def test_what_walks_do_not_look_at_is_said_where_there_is_some() -> None:
    walking = WalkPlan(3 * GROUP, 5, 1, WalkStrategy.ACTIONS)
    every = list(PROPERTIES.values())
    found = simulate(Stairs(), [BELOW], Options(workers=2), walking)
    assert found.workers == 2 and found.engine == "walks"
    assert not any("liveness" in note for note in found.notes)
    assert "walks are finite and do not look at 1 liveness property" in simulate(
        Stairs(), every, Options(workers=1), walking
    ).notes


def test_the_depth_of_walks_is_that_of_the_longest() -> None:
    code = build_walk_code(Stairs(), {}, good=False)
    begin = [code.interface.layout.pack(state) for _, state in initial_states(Stairs())]
    walker = Walker(code, begin, WalkPlan(20, 50, 1, WalkStrategy.ACTIONS), 0, False)
    longest = max(len(rows) for rows in walker.paths(20))
    assert simulate(Stairs(), [], Options(workers=1), WalkPlan(20, 50, 1, WalkStrategy.ACTIONS)).depth == longest == 10


def test_a_walker_notes_no_path_that_nobody_wants() -> None:
    code = build_walk_code(Stairs(), {}, good=False)
    begin = [code.interface.layout.pack(state) for _, state in initial_states(Stairs())]
    walker = Walker(code, begin, WalkPlan(3, 50, 1, WalkStrategy.ACTIONS), 0, False)
    (*_, last) = walker.paths(3)
    before = last.copy()
    walker.take(0, 3, lambda: False)
    assert walker._fields[walk_loops.PATH] == 0 and last.tolist() == before.tolist()
