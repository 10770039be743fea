"""Liveness on small graphs: both engines against two oracles that share nothing with them."""

from __future__ import annotations

import random
from typing import Annotated

import pytest

from floodmark import Between, Model, action, always_eventually, boundary, eventually, fair, initial, require
from floodmark.checkers.liveness import compiled_graph as graph_of_native
from floodmark.checkers.native import search as native
from floodmark.checkers.project.properties import collect
from floodmark.checkers.reference import search
from floodmark.checkers.search_result import Options, SearchResult
from tests.support.fair_graphs import KINDS, FairGraph, as_model, by_lassos, by_streett, random_graph, verdict

MAX_EDGES = 12
"""The lassos of a graph with more steps between different states are too many to be enumerated."""


def small(graph: FairGraph) -> bool:
    return len({(old, new) for old, _, new in graph.steps if old != new}) <= MAX_EDGES


def verdicts(found: SearchResult) -> dict[str, str]:
    return {it.property.removesuffix("_goal").removeprefix("premise_"): it.verdict for it in found.liveness}


def judged(graph: FairGraph, engine: str = "native", workers: int = 1) -> SearchResult:
    with as_model(graph) as cls:
        properties = list(collect(cls, []).values())
        search_states = native.search_states if engine == "native" else search.search_states
        return search_states(cls(), properties, Options(workers=workers))


def assert_oracles_agree(graph: FairGraph) -> None:
    for kind in KINDS:
        if kind != "recoverable":
            for beyond in (False, True):
                assert by_lassos(graph, kind, beyond) == by_streett(graph, kind, beyond), (kind, graph)


def assert_engines_agree(graph: FairGraph, engines: tuple[str, ...] = ("native", "reference")) -> None:
    wanted = {kind: verdict(graph, kind, "streett") for kind in KINDS}
    for engine in engines:
        found = verdicts(judged(graph, engine))
        assert found == wanted, (engine, graph.source())


def test_oracles_agree_with_each_other() -> None:
    chance = random.Random(1)
    graphs = [graph for graph in (random_graph(chance) for _ in range(400)) if small(graph)]
    assert len(graphs) > 100
    for graph in graphs:
        assert_oracles_agree(graph)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_engines_agree_with_the_oracles(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(8):
        assert_engines_agree(random_graph(chance))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
def test_engines_agree_with_the_oracles_on_a_thousand(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(100):
        graph = random_graph(chance)
        assert_engines_agree(graph)
        with_two = judged(graph, workers=2)
        alone = judged(graph)
        assert [(it.name, it.verdict, it.trace, it.loop, it.needs) for it in with_two.liveness] == [
            (it.name, it.verdict, it.trace, it.loop, it.needs) for it in alone.liveness
        ]


# Shapes at which other checkers have gone wrong.

NONE: frozenset[int] = frozenset()


def assert_verdict(graph: FairGraph, kind: str, wanted: str) -> None:
    assert verdict(graph, kind, "lassos") == verdict(graph, kind, "streett") == wanted
    for engine in ("native", "reference"):
        assert verdicts(judged(graph, engine))[kind] == wanted, engine


def test_a_loop_behind_a_join_is_seen() -> None:
    """State 3 is first met on a way past the goal; the loop is reached from there and by a way that misses it."""
    steps = ((0, 0, 1), (1, 0, 3), (0, 0, 2), (2, 0, 3), (3, 0, 4), (4, 0, 3))
    graph = FairGraph(5, 1, steps, (0,), NONE, frozenset({1}), {0: False})
    assert_verdict(graph, "eventually", "violated")


def test_a_join_without_a_way_around_the_goal_is_no_loop() -> None:
    steps = ((0, 0, 1), (1, 0, 3), (3, 0, 4), (4, 0, 3))
    graph = FairGraph(5, 1, steps, (0,), NONE, frozenset({1}), {0: False})
    assert_verdict(graph, "eventually", "holds")


def test_without_fairness_every_run_may_stutter() -> None:
    graph = FairGraph(2, 1, ((0, 0, 1),), (0,), NONE, frozenset({1}), {})
    assert_verdict(graph, "eventually", "violated")
    assert_verdict(FairGraph(2, 1, ((0, 0, 1),), (0,), NONE, frozenset({1}), {0: False}), "eventually", "holds")


def test_a_deadlocked_state_stutters_forever() -> None:
    graph = FairGraph(3, 1, ((0, 0, 1), (0, 0, 2)), (0,), NONE, frozenset({1}), {0: True})
    assert_verdict(graph, "eventually", "violated")
    assert_verdict(graph, "recoverable", "violated")


def test_a_step_that_changes_nothing_is_no_step() -> None:
    """The fair action loops at state 0: it is neither enabled there nor taken, and does not press the other on."""
    graph = FairGraph(2, 2, ((0, 0, 0), (0, 1, 1)), (0,), NONE, frozenset({1}), {0: True})
    assert_verdict(graph, "eventually", "violated")
    both = FairGraph(2, 2, ((0, 0, 0), (0, 1, 1)), (0,), NONE, frozenset({1}), {0: True, 1: False})
    assert_verdict(both, "eventually", "holds")


def test_fairness_is_judged_in_the_loop_itself() -> None:
    """Action 1 is taken in one loop and enabled in all of the other: it may not be borrowed from there."""
    steps = ((0, 0, 1), (1, 0, 0), (0, 1, 4), (1, 1, 4), (0, 2, 2), (2, 1, 3), (3, 1, 2))
    graph = FairGraph(5, 3, steps, (0,), NONE, frozenset({2, 3, 4}), {1: False})
    assert_verdict(graph, "always_eventually", "holds")
    assert_verdict(graph, "eventually", "holds")


def test_a_loop_in_a_component_may_be_fairer_than_the_component() -> None:
    """Only the part of the component that never enables action 1 is strongly fair."""
    steps = ((0, 0, 1), (1, 0, 0), (1, 0, 2), (2, 0, 1), (2, 1, 3))
    graph = FairGraph(4, 2, steps, (0,), NONE, frozenset({3}), {0: False, 1: True})
    assert_verdict(graph, "eventually", "violated")


def test_a_component_may_need_to_be_split_twice() -> None:
    """Without the states that enable action 1 another component is left that enables action 2, and within it a loop."""
    steps = ((0, 0, 1), (1, 0, 0), (1, 0, 2), (2, 0, 1), (2, 0, 3), (3, 0, 2), (3, 1, 4), (2, 2, 5))
    graph = FairGraph(6, 3, steps, (0,), NONE, frozenset({4, 5}), {0: False, 1: True, 2: True})
    assert_verdict(graph, "eventually", "violated")
    pressed = (*steps, (0, 2, 5), (1, 2, 5))
    closed = FairGraph(6, 3, pressed, (0,), NONE, frozenset({4, 5}), {0: False, 1: True, 2: True})
    assert_verdict(closed, "eventually", "holds")


def test_weak_and_strong_fairness_differ() -> None:
    """Action 1 is enabled in every second state only."""
    steps = ((0, 0, 1), (1, 0, 0), (1, 1, 2))
    weak = FairGraph(3, 2, steps, (0,), NONE, frozenset({2}), {0: False, 1: False})
    strong = FairGraph(3, 2, steps, (0,), NONE, frozenset({2}), {0: False, 1: True})
    assert_verdict(weak, "eventually", "violated")
    assert_verdict(strong, "eventually", "holds")


def test_each_choice_is_fair_by_itself() -> None:
    """State 0 leads to 1 and back forever, though the action is fair; each choice of it is another matter."""
    steps = ((0, 0, 1), (1, 0, 0), (0, 0, 2))
    whole = FairGraph(3, 1, steps, (0,), NONE, frozenset({2}), {0: True})
    each = FairGraph(3, 1, (*steps, (1, 0, 2)), (0,), NONE, frozenset({2}), {0: False}, frozenset({0}))
    assert_verdict(whole, "eventually", "violated")
    assert_verdict(each, "eventually", "violated")  # 1 to 0 is even, too, and is taken
    odd = FairGraph(4, 1, ((0, 0, 2), (2, 0, 0), (0, 0, 3), (2, 0, 3)), (0,), NONE, frozenset({3}), {0: False},
                    frozenset({0}))
    assert_verdict(odd, "eventually", "holds")


@pytest.mark.parametrize("guarded", [False, True])
def test_a_bound_that_cuts_a_loop_leaves_it_open(guarded: bool) -> None:
    """Without the bound the run would go on to the goal; within it, it stutters."""
    graph = FairGraph(3, 1, ((0, 0, 1), (1, 0, 2)), (0,), NONE, frozenset({2}), {0: False}, bound=2, guarded=guarded)
    assert_verdict(graph, "eventually", "undetermined")
    assert_verdict(graph, "recoverable", "undetermined")
    assert_verdict(graph, "leads_to", "holds")


@pytest.mark.parametrize("guarded", [False, True])
def test_an_action_enabled_only_beyond_a_bound_excuses_nothing_within(guarded: bool) -> None:
    """A fair action that is only enabled out of bounds would end the loop there; one that is not fair would not."""
    steps = ((0, 0, 1), (1, 0, 0), (0, 1, 2), (1, 1, 2))
    pressed = FairGraph(3, 2, steps, (0,), NONE, frozenset({2}), {0: False, 1: False}, bound=2, guarded=guarded)
    assert_verdict(pressed, "eventually", "undetermined")
    free = FairGraph(3, 2, steps, (0,), NONE, frozenset({2}), {0: False}, bound=2, guarded=guarded)
    assert_verdict(free, "eventually", "violated")


class Rings(Model):
    """A ring of three hundred places and one of two, and the way into either."""

    here: Annotated[int, Between(0, 302)] = 0

    @fair
    @action
    def goes_round(self) -> None:
        require(self.here > 0)
        self.here = self.here % 300 + 1 if self.here <= 300 else 603 - self.here

    @fair
    @action
    def enters(self, small: bool) -> None:
        require(self.here == 0)
        self.here = 301 if small else 1

    @always_eventually
    def passes_the_seventh_place(self) -> bool:
        return self.here == 7


def test_several_workers_see_every_loop() -> None:
    """The small ring breaks the property, whoever stored it."""
    for workers in (1, 2, 3):
        [found] = native.search_states(Rings(), list(collect(Rings, []).values()), Options(workers=workers)).liveness
        assert found.verdict == "violated"
        assert [entry.state for entry in found.trace] == [(0,), (301,), (302,), (301,)]
        assert found.loop == 1


def test_edges_and_conditions_are_made_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many pieces as states, for one thread and for several."""
    monkeypatch.setattr(graph_of_native, "CHUNK", 1)
    for workers in (1, 2):
        [found] = native.search_states(Rings(), list(collect(Rings, []).values()), Options(workers=workers)).liveness
        assert [entry.state for entry in found.trace] == [(0,), (301,), (302,), (301,)]


class Begins(Model):
    """Begins within the boundary and outside of it; outside nothing is asked."""

    here: Annotated[int, Between(0, 5)] = 0

    @initial
    def start(self, first: Annotated[int, Between(0, 5)]) -> None:
        self.here = first

    @boundary
    def near(self) -> bool:
        return self.here < 3

    @fair
    @action
    def returns(self) -> None:
        require(self.here > 0)
        self.here = 0

    @eventually
    def is_home(self) -> bool:
        return self.here == 0


def test_a_run_begins_within_the_boundary() -> None:
    for search_states in (native.search_states, search.search_states):
        [found] = search_states(Begins(), list(collect(Begins, []).values()), Options(workers=1)).liveness
        assert found.verdict == "holds"
