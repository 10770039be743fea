"""What judges liveness, on graphs that are data: hundreds in a moment, against oracles that share nothing with it."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import pytest

from floodmark.checkers.liveness.assumptions import Assumption, Assumptions, ChoiceDimension
from floodmark.checkers.liveness.compiled_graph import NativeSolver
from floodmark.checkers.liveness.goals import Goal
from floodmark.checkers.liveness.graph import Graph
from floodmark.checkers.liveness.judge import LivenessJudge, Solver
from floodmark.checkers.liveness.loops import LABEL_SHIFT, NOWHERE
from floodmark.checkers.liveness.plain import PlainSolver
from floodmark.checkers.project.properties import Property, PropertyKind
from floodmark.checkers.search_result import Finding, TraceState
from floodmark.language.conditions import Condition
from floodmark.language.model import State
from floodmark.language.reference import Step
from floodmark.language.types import BoolType
from tests.support.fair_graphs import (
    KINDS,
    FairGraph,
    _enabled,
    _inside,
    _is_fair,
    _places,
    _reached,
    assert_breaks,
    assert_is_run,
    by_streett,
    random_graph,
    verdict,
)

SOLVERS: dict[str, Solver] = {"compiled": NativeSolver(), "plain": PlainSolver()}
_TRUTH, _PREMISE = 0, 1


def assumed(graph: FairGraph) -> Assumptions:
    found, first = {}, 1
    for number, strong in sorted(graph.fair.items()):
        each: tuple[ChoiceDimension, ...] = (ChoiceDimension("odd", BoolType()),) if number in graph.each else ()
        each += (ChoiceDimension("turns", BoolType(), ("to",)),) if number in graph.turning else ()
        found[f"act_{number}"] = Assumption(f"act_{number}", strong, each, first)
        first += found[f"act_{number}"].count
    return Assumptions(found)


def as_data(graph: FairGraph) -> Graph:
    """A graph as the solvers take it: states that are reached, steps beyond the bound leading nowhere."""
    within = {(old, new) for old, _, new in graph.steps if _inside(graph, old) and _inside(graph, new)}
    states = sorted(_reached({it for it in graph.initial if _inside(graph, it)}, within))
    number = {state: place for place, state in enumerate(states)}
    assumptions = assumed(graph)
    first, edges, truth = [0], [], []
    for state in states:
        for old, by, new in graph.steps:
            if old == state and new != state:
                label = 0
                if by in graph.fair:
                    values = {"odd": new % 2 == 1, "turns": (old + new) % 2 == 1}
                    assumption = assumptions.by_action[f"act_{by}"]
                    label = assumption.label_of([values[each.name] for each in assumption.each])
                edges.append(label << LABEL_SHIFT | number.get(new, NOWHERE))
        first.append(len(edges))
        truth.append((state in graph.goal) << _TRUTH | (state in graph.premise) << _PREMISE)
    initial = [number[it] for it in sorted(set(graph.initial)) if it in number]
    return Graph(
        np.array(first, dtype=np.uint64), np.array(edges, dtype=np.uint64), np.array(truth, dtype=np.uint64),
        np.array(initial, dtype=np.int64), lambda place: (states[place],), lambda place: (states[place],),
    )  # fmt: skip


@dataclass
class Recorder:
    """Stands for CPython: looks at each counterexample as a run of the graph that was drawn."""

    drawn: FairGraph
    graph: Graph

    def lost(self, goal: Goal, way: Sequence[State], certain: bool) -> Finding:
        states = self._run(way)
        within = {(old, new) for old, _, new in self.drawn.steps if _inside(self.drawn, new)}
        assert not _reached({states[-1]}, within) & self.drawn.goal
        return Finding(goal.prop.name, goal.name, {}, "violated" if certain else "undetermined", _trace(states))

    def lasso(self, goal: Goal, way: Sequence[State], loop: Sequence[State]) -> Finding:
        states = self._run([*way, *loop])
        around = states[len(way) - 1 :]
        assert_breaks(self.drawn, goal.prop.kind, states, len(way) - 1)
        taken = set(itertools.pairwise(around))
        verdict = "violated" if _is_fair(self.drawn, set(around), taken, beyond=True) else "undetermined"
        return Finding(goal.prop.name, goal.name, {}, verdict, _trace(states), len(way) - 1)  # type: ignore[arg-type]

    def _run(self, way: Sequence[State]) -> list[int]:
        states = [state[0] for state in way]
        assert_is_run(self.drawn, states)
        return states


def _trace(states: Sequence[int]) -> tuple[TraceState, ...]:
    return tuple(TraceState(Step(""), (state,)) for state in states)


def finding(drawn: FairGraph, kind: str, solver: Solver) -> Finding:
    def nothing(*_: Any) -> bool:
        raise AssertionError("a graph that is data has its truth in bits")

    graph = as_data(drawn)
    assert kind in get_args(PropertyKind)
    prop = Property(kind, kind, nothing, "", 0, "")  # type: ignore[arg-type]
    goal = Goal(prop, {}, Condition("goal", nothing), Condition("premise", nothing) if kind == "leads_to" else None)
    judge = LivenessJudge(None, assumed(drawn), graph, solver, Recorder(drawn, graph), drawn.bound is not None)  # type: ignore[arg-type]
    return judge.finding(goal, graph.where(_TRUTH), graph.where(_PREMISE) if kind == "leads_to" else None)


def random_graphs(count: int, seed: int) -> list[FairGraph]:
    chance = random.Random(seed)
    return [random_graph(chance) for _ in range(count)]


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("kind", KINDS)
def test_verdicts_are_those_of_the_oracle(kind: str, name: str) -> None:
    seen = set()
    for drawn in random_graphs(250, seed=7):
        found = finding(drawn, kind, SOLVERS[name])
        assert found.verdict == verdict(drawn, kind, "streett"), drawn
        seen.add(found.verdict)
    assert seen == {"holds", "violated", "undetermined"}


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLVERS)
def test_thousands_of_verdicts_are_those_of_the_oracle(name: str) -> None:
    for drawn in random_graphs(5_000, seed=11):
        for kind in KINDS:
            assert finding(drawn, kind, SOLVERS[name]).verdict == verdict(drawn, kind, "streett"), (kind, drawn)


def suffices(drawn: FairGraph, kind: str, chosen: dict[int, bool]) -> bool:
    return not by_streett(replace(drawn, fair=chosen), kind, False)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "recoverable"])
def test_needs_are_a_smallest_set_that_suffices(kind: str) -> None:
    sizes = set()
    for drawn in random_graphs(300, seed=13):
        found = finding(drawn, kind, SOLVERS["compiled"])
        if found.verdict != "holds":
            continue
        chosen = {int(it.split()[0].removeprefix("act_")): "strongly" in it for it in found.needs}
        assert suffices(drawn, kind, chosen), (found.needs, drawn)
        for size in range(len(chosen) + 1):
            for fewer in itertools.combinations(drawn.fair, size):
                for strong in itertools.product((False, True), repeat=size):
                    other = dict(zip(fewer, strong, strict=True))
                    if any(kind_ and not drawn.fair[number] for number, kind_ in other.items()):
                        continue
                    less = (size, sum(strong)) < (len(chosen), sum(chosen.values()))
                    assert not (less and suffices(drawn, kind, other)), (found.needs, other, drawn)
        sizes.add(len(chosen))
    assert {0, 1} <= sizes


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "recoverable"])
def test_the_way_to_a_loop_is_a_shortest_one(kind: str) -> None:
    for drawn in random_graphs(250, seed=17):
        found = finding(replace(drawn, bound=None), kind, SOLVERS["compiled"])
        if found.verdict == "violated":
            assert found.loop is not None
            assert found.loop == shortest(replace(drawn, bound=None), kind), drawn


def shortest(drawn: FairGraph, kind: str) -> int:
    """Steps to the nearest state of which some fair loop that breaks the property is known to an oracle."""
    steps = {(old, new) for old, _, new in drawn.steps if old != new}
    places = _places(drawn, kind)
    level = {(state, False) for state in drawn.initial}
    seen: set[tuple[int, bool]] = set()
    for count in itertools.count():
        for state, _ in list(level):
            is_start = {
                "eventually": state in places and count == 0,
                "leads_to": state in drawn.premise and state in places,
            }.get(kind, state in places)
            if is_start:
                level.add((state, True))
        if any(begun and in_a_fair_loop(drawn, kind, state) for state, begun in level):
            return count
        seen |= level
        level = {
            (new, begun)
            for state, begun in level
            for old, new in steps
            if old == state and (not begun or new in places) and not (kind == "eventually" and not begun)
        } - seen
    raise AssertionError


def in_a_fair_loop(drawn: FairGraph, kind: str, state: int) -> bool:
    """Whether a fair loop that breaks the property goes through a state: of every connected set, the whole is tried."""
    places = _places(drawn, kind)
    steps = {(old, new) for old, _, new in drawn.steps if old != new}
    for size in range(1, len(places) + 1):
        for chosen in itertools.combinations(sorted(places), size):
            states = set(chosen)
            if state not in states or (kind == "eventually_always" and states <= drawn.goal):
                continue
            own = {(old, new) for old, new in steps if old in states and new in states}
            if all(_reached({it}, own) == states for it in states) and _is_fair(drawn, states, own, False):
                return True
    return False


def test_enabled_is_what_changes_the_state() -> None:
    drawn = FairGraph(2, 1, ((0, 0, 0), (0, 0, 1)), (0,), frozenset(), frozenset({1}), {0: False})
    assert _enabled(drawn, drawn.constraints()[0][1], 0, False)
    assert finding(drawn, "eventually", SOLVERS["compiled"]).verdict == "holds"
    stays = replace(drawn, steps=((0, 0, 0),))
    assert finding(stays, "eventually", SOLVERS["compiled"]).verdict == "violated"
