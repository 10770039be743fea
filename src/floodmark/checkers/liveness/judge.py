"""The verdict on each liveness property and its reason, for both engines that check liveness.

The judge searches for a fair run that violates the goal. If there is none, the goal holds. If the run would also be
fair without the bounds, the goal is violated. Otherwise the judge searches among the runs that are fair whatever may be
enabled beyond the bounds. If there is none, the goal is undetermined: the violation may exist only because a bound ends
the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from floodmark.checkers.liveness.assumptions import Assumption, Assumptions
from floodmark.checkers.liveness.components import FairnessLabels, Region
from floodmark.checkers.liveness.goals import Goal, ViolatingRuns, ViolationStart
from floodmark.checkers.liveness.graph import Flags, Graph, Numbers
from floodmark.checkers.liveness.lasso import enter, fair_loop, no_levels, shortest_way
from floodmark.checkers.liveness.minimal_fairness import Need, demands_of, smallest_need, unfairness
from floodmark.checkers.liveness.witness import WitnessRuns
from floodmark.checkers.search_result import Finding
from floodmark.language.model import Model, State


class Solver(Protocol):
    """Finds components: in compiled loops, or in plain Python."""

    def fair_components(self, graph: Graph, region: Region, demands: FairnessLabels, labels: int) -> Numbers:
        """The number of each state's fair component, from 1 on; 0 for none."""

    def unrecoverable(self, graph: Graph, goal: Flags, definite: bool) -> Flags:
        """The states from which no run reaches a goal state; with ``definite``, not even one beyond the bounds."""


@dataclass
class LivenessJudge:
    """Judges the goals of one model over its graph; ``bounded`` if its runs may end at a bound."""

    model: Model
    assumptions: Assumptions
    graph: Graph
    solver: Solver
    witness: WitnessRuns
    bounded: bool

    def finding(self, goal: Goal, reached: Flags, started: Flags | None) -> Finding:
        """The verdict on a goal that holds in the states ``reached``; ``started`` are those of its premise, if it has
        one."""
        self.reached, self.started = reached, started
        return self._recoverable(goal) if goal.breach is None else self._progress(goal, goal.breach)

    # Some state cannot be left for the goal any more.

    def _recoverable(self, goal: Goal) -> Finding:
        lost = self.solver.unrecoverable(self.graph, self.reached, definite=False)
        if not lost.any():
            return Finding(goal.prop.name, goal.name, goal.arguments, "holds")
        every = np.ones(self.graph.states, dtype=np.bool_)
        region = Region(every, every, every)
        if self.bounded:
            certain = self.solver.unrecoverable(self.graph, self.reached, definite=True) & self._unsteered()
            if certain.any():
                way = shortest_way(self.graph, replace(region, steered=False), certain)
                found = self.witness.lost(goal, self._states(way), certain=True)
                if found.verdict == "violated":
                    return found
        way = shortest_way(self.graph, region, lost)
        return self.witness.lost(goal, self._states(way), certain=not self.bounded)

    # Some fair run misses the goal.

    def _progress(self, goal: Goal, breach: ViolatingRuns) -> Finding:
        demands = demands_of(self.assumptions.by_action.values())
        region = self._region(breach)
        fair = self._fair(region, demands)
        if not fair.any():
            return Finding(goal.prop.name, goal.name, goal.arguments, "holds", needs=self._needs(region))
        first = self._lasso(goal, region, demands, fair)
        for stricter in self._strict(region) if first.verdict != "violated" else ():
            certain = self._fair(stricter, demands)
            if certain.any():
                found = self._lasso(goal, stricter, demands, certain)
                if found.verdict == "violated":
                    return found
        return first

    def _fair(self, region: Region, demands: FairnessLabels) -> Numbers:
        return self.solver.fair_components(self.graph, region, demands, self.assumptions.labels)

    def _region(self, breach: ViolatingRuns) -> Region:
        every = np.ones(self.graph.states, dtype=np.bool_)
        match breach.begins:
            case ViolationStart.ANYWHERE:
                roots: Flags = every
            case ViolationStart.INITIALLY:
                roots = np.zeros(self.graph.states, dtype=np.bool_)
                roots[self.graph.initial] = True
            case ViolationStart.AT_PREMISE:
                assert self.started is not None
                roots = self.started
        if breach.again_and_again:
            return Region(every, roots, recurring=~self.reached)
        return Region(~self.reached, roots & ~self.reached, every)

    def _strict(self, region: Region) -> Iterator[Region]:
        """The regions of runs that may be fair without the bounds: all, and those that no bound can steer."""
        yield replace(region, beyond=True)
        yield replace(region, roots=region.roots & self._unsteered(), beyond=True, steered=False)

    def _unsteered(self) -> Flags:
        """The states that are reachable by steps that no bound steers."""
        levels = no_levels(self.graph)
        newest = enter(levels, self.graph.initial, 0)
        while len(newest):
            led_to = self.graph.steps_of(newest, steered=False, barred=True)[2]
            newest = enter(levels, led_to, int(levels.max()) + 1)
        met: Flags = levels >= 0
        return met

    def _lasso(self, goal: Goal, region: Region, demands: FairnessLabels, fair: Numbers) -> Finding:
        way = shortest_way(self.graph, region, fair != 0)
        members = fair == fair[way[-1]]
        loop = fair_loop(self.graph, region, demands, members, way[-1])
        return self.witness.lasso(goal, self._states(way), self._states(loop))

    def _states(self, numbers: Sequence[int]) -> list[State]:
        return [self.graph.state(number) for number in numbers]

    # Which assumptions a goal needs.

    def _needs(self, region: Region) -> tuple[str, ...]:
        assumptions = list(self.assumptions.by_action.values())

        def breaks(chosen: list[Assumption]) -> list[frozenset[Need]] | None:
            fair = self._fair(region, demands_of(chosen))
            return unfairness(self.graph, assumptions, fair) if fair.any() else None

        chosen = smallest_need(assumptions, breaks)
        return tuple(str(assumption) for assumption in chosen)
