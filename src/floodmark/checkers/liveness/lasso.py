"""A lasso: a shortest path into a fair component, and a short fair loop in it.

Of equally short paths, the one with the smallest packed states is taken, so that the result does not depend on the
number of workers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Set

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.liveness.components import FairnessLabels, Region
from floodmark.checkers.liveness.graph import Flags, Graph, Numbers, labels
from floodmark.checkers.liveness.loops import NOWHERE

_Levels = NDArray[np.int32]


def shortest_way(graph: Graph, region: Region, wanted: Flags) -> list[int]:
    """A shortest run from an initial state to a wanted one that stays in the region from some root on.

    If the roots are initial states, the run stays in the region throughout: a run that returns to a root is never
    shorter.
    """
    steered = region.steered
    roots = region.roots & region.inside
    before, within = no_levels(graph), no_levels(graph)
    outer = enter(before, graph.initial, 0)
    inner = enter(within, graph.initial[roots[graph.initial]], 0)
    level = 0
    while not wanted[inner].any():
        if not len(outer) and not len(inner):
            raise RuntimeError("a component was found to which no run leads")
        level += 1
        led_to = graph.steps_of(inner, steered)[2]
        outer = enter(before, graph.steps_of(outer, steered, barred=True)[2], level)
        inner = enter(within, np.concatenate([led_to[region.inside[led_to]], outer[roots[outer]]]), level)
    way = [graph.smallest(inner[wanted[inner]])]
    levels = within
    while level:
        origin, _, target = graph.steps_of(np.flatnonzero(levels == level - 1), steered, barred=levels is before)
        found = origin[target == way[0]]
        if len(found):
            way.insert(0, graph.smallest(np.unique(found)))
            level -= 1
        elif levels is within:
            levels = before  # here the run became one that stays in the region
        else:
            raise RuntimeError("a state was met that nothing leads to")
    return way


def no_levels(graph: Graph) -> _Levels:
    """The level of each state in a breadth-first search, with all states unvisited."""
    return np.full(graph.states, -1, dtype=np.int32)


def enter(levels: _Levels, states: Numbers, level: int) -> Numbers:
    """Assigns a level to the states without one; returns them."""
    levels[states[levels[states] < 0]] = level
    return np.flatnonzero(levels == level)


def fair_loop(graph: Graph, region: Region, demands: FairnessLabels, members: Flags, entry: int) -> list[int]:
    """The states after ``entry`` on a loop within a fair component that is fair by itself; the last is ``entry``.

    Empty if stuttering at ``entry`` is fair.
    """
    return _FairWalk(graph, region, demands, members, entry).run()


class WalkTally:
    """The fairness bookkeeping of a walk up to its newest state: if nothing is missing, the walk, closed to a loop, is
    fair."""

    def __init__(self, demands: FairnessLabels, enabled: Set[int], recurring: bool) -> None:
        self.demands = demands
        self.taken: set[int] = set()
        self.always, self.ever = set(enabled), set(enabled)
        self.visits = recurring
        """Whether the walk visited a recurring state."""

    def step(self, taken: Set[int], enabled: Set[int], recurring: bool) -> None:
        """Adds a step with the labels ``taken`` into a state."""
        self.taken |= taken
        self.always &= enabled
        self.ever |= enabled
        self.visits |= recurring

    @property
    def is_fair(self) -> bool:
        return self.visits and not self.starved and not self.cheated

    @property
    def starved(self) -> set[int]:
        """The weakly fair labels that are always enabled and never taken."""
        return (self.always & self.demands.weak) - self.taken

    @property
    def cheated(self) -> set[int]:
        """The strongly fair labels that are enabled somewhere and never taken."""
        return (self.ever & self.demands.strong) - self.taken


class _FairWalk:
    """A walk through a component that continues until it contains all that a fair loop needs."""

    def __init__(self, graph: Graph, region: Region, demands: FairnessLabels, members: Flags, entry: int) -> None:
        self.graph = graph
        self.region = region
        self.members = members
        self.walk = [entry]
        self.tally = WalkTally(demands, self._enabled(entry), bool(region.recurring[entry]))

    def _enabled(self, state: int) -> set[int]:
        _, edges = self.graph.edges_of(np.array([state], dtype=np.int64))
        if not self.region.beyond:
            edges = edges[edges & np.uint64(NOWHERE) != np.uint64(NOWHERE)]
        return set(labels(edges).tolist()) - {0}

    def run(self) -> list[int]:
        entry = self.walk[0]
        while True:
            while not self.tally.is_fair:
                self._go(self._helps)
            if self.walk[-1] == entry:
                return self.walk[1:]
            self._go(lambda _origin, _label, target: target == entry)

    def _helps(self, origin: Numbers, label: Numbers, target: Numbers) -> Flags:
        """The steps that bring the walk nearer to a fair loop."""
        starved = self.tally.starved
        helps = np.isin(label, sorted(starved | self.tally.cheated))
        if not self.tally.visits:
            helps |= self.region.recurring[target]
        if starved:
            reached = np.unique(target)
            free = [state for state in reached.tolist() if not starved <= self._enabled(state)]
            helps |= np.isin(target, free)
        return helps

    def _go(self, helps: Callable[[Numbers, Numbers, Numbers], Flags]) -> None:
        """Extends the walk by a shortest path whose last step helps."""
        levels = no_levels(self.graph)
        newest = enter(levels, np.array([self.walk[-1]]), 0)
        level = 0
        while True:
            origin, label, target = self._steps(newest)
            good = helps(origin, label, target)
            if good.any():
                break
            level += 1
            newest = enter(levels, target, level)
            if not len(newest):
                raise RuntimeError("a fair component was found in which no loop is fair")
        last = self.graph.smallest(np.unique(target[good]))
        path = [self.graph.smallest(np.unique(origin[good & (target == last)])), last]
        while level:
            level -= 1
            origin, _, target = self._steps(np.flatnonzero(levels == level))
            path.insert(0, self.graph.smallest(np.unique(origin[target == path[0]])))
        for before, after in itertools.pairwise(path):
            self._step(before, after)

    def _steps(self, states: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        origin, label, target = self.graph.steps_of(states, self.region.steered)
        kept = self.members[target]
        return origin[kept], label[kept], target[kept]

    def _step(self, before: int, after: int) -> None:
        _, label, target = self._steps(np.array([before], dtype=np.int64))
        self.walk.append(after)
        taken = set(label[target == after].tolist())
        self.tally.step(taken, self._enabled(after), bool(self.region.recurring[after]))
