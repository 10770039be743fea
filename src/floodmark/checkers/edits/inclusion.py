"""Decides whether every run of one graph is a run of another, projected to the shared variables.

A projected run is the sequence of its shared values, without repetitions. ``ProjectedGraph`` is a graph together with
the projection of each state, as a number (``projection.py``). The decision goes from cheap to exact:

1. A first value, or a change of values, that the other graph never shows: then the run is not one of the other's.
2. The projection of the other graph is injective: then its runs are all sequences of its changes, and step 1 has
   decided. Otherwise a shorter run may take changes that the other graph has, in an order that it has not: step 4 looks
   for one.
3. The other graph simulates: some set of its states has, for every state and every change that is ever seen from that
   state's projection, a matching step that stays in the set. If every first value has an initial state in the set,
   every run can be followed. (The changes are those of the quotient graph by projection. The quotient has more runs, so
   this condition is sufficient and not necessary.)
4. The subset construction follows all states in which the other graph may be. It always decides, unless a limit ends
   it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from floodmark.checkers.edits.run_graph import Numbers, RunGraph

Kind = Literal["start", "state", "step", "order"]
"""How a run fails to be one of the other graph's: a different first value; a last state that the other never shows; a
step there that the other never takes; or steps that the other takes too, but not in this order."""
MAX_PAIRS = 1_000_000
"""The limit on subsets that step 4 follows; beyond it, the answer is undetermined."""
MAX_PAIRS_FOR_SHORTER = 50_000
"""The limit on subsets in the search for a run shorter than one whose step the other graph never shows."""


class InclusionUndetermined(Exception):  # noqa: N818 - it is no error
    """A limit ended the comparison."""


@dataclass(frozen=True)
class InclusionCounterexample:
    """A shortest run that the other graph lacks, as the numbers of its states."""

    kind: Kind
    path: list[int]


@dataclass
class ProjectedGraph:
    """A graph, and the projection of each state as a number."""

    graph: RunGraph
    looks: Numbers

    @cached_property
    def first_looks(self) -> Numbers:
        return np.unique(self.looks[self.graph.initial])

    @cached_property
    def seen_steps(self) -> tuple[Numbers, Numbers]:
        """The steps that change the projection."""
        before, after = self.looks[self.graph.sources], self.looks[self.graph.targets]
        changed = before != after
        return self.graph.sources[changed], self.graph.targets[changed]

    @cached_property
    def hidden_steps(self) -> tuple[Numbers, Numbers]:
        """The steps that leave the projection unchanged."""
        same = self.looks[self.graph.sources] == self.looks[self.graph.targets]
        same &= self.graph.sources != self.graph.targets
        return self.graph.sources[same], self.graph.targets[same]

    def keys(self, steps: tuple[Numbers, Numbers]) -> Numbers:
        """The projections at both ends of each step, as one number."""
        return self.looks[steps[0]] << 32 | self.looks[steps[1]]

    @cached_property
    def changes(self) -> Numbers:
        return np.unique(self.keys(self.seen_steps))

    @property
    def is_injective(self) -> bool:
        """Whether the projection is injective."""
        return len(np.unique(self.looks)) == self.graph.count

    def first_with(self, numbers: Numbers) -> int:
        """The state with one of these projections that is nearest to an initial state; of several, the smallest when
        packed."""
        graph = self.graph
        nearest = numbers[graph.depth[numbers] == graph.depth[numbers].min()]
        return min((int(each) for each in nearest), key=lambda each: tuple(graph.rows[each].tolist()))


def escape(mine: ProjectedGraph, other: ProjectedGraph, paused: Callable[[], None]) -> InclusionCounterexample | None:
    """A run of ``mine`` that ``other`` lacks, or None. Raises InclusionUndetermined."""
    found = _unknown(mine, other)
    if other.is_injective or (found is not None and len(found.path) <= 2):
        return found
    if found is None:
        return None if _can_follow(mine, other, paused) else _match_runs(mine, other, paused, MAX_PAIRS)
    try:
        sooner = _match_runs(mine, other, paused, MAX_PAIRS_FOR_SHORTER)
    except InclusionUndetermined:
        return found
    return found if sooner is None or len(sooner.path) >= len(found.path) else sooner


def _unknown(mine: ProjectedGraph, other: ProjectedGraph) -> InclusionCounterexample | None:
    graph = mine.graph
    begun = graph.initial[~np.isin(mine.looks[graph.initial], other.first_looks)]
    if len(begun):
        return InclusionCounterexample("start", [mine.first_with(begun)])
    sources, targets = mine.seen_steps
    new = ~np.isin(mine.keys((sources, targets)), other.changes)
    if not new.any():
        return None
    sources, targets = sources[new], targets[new]
    nearest = graph.depth[sources] == graph.depth[sources].min()
    fresh = nearest & ~np.isin(mine.looks[targets], other.looks)
    chosen = fresh if fresh.any() else nearest
    steps = zip(sources[chosen].tolist(), targets[chosen].tolist(), strict=True)
    source, target = min(steps, key=lambda step: tuple(tuple(graph.rows[each].tolist()) for each in step))
    return InclusionCounterexample("state" if fresh.any() else "step", [*graph.path_to(source), target])


def _can_follow(mine: ProjectedGraph, other: ProjectedGraph, paused: Callable[[], None]) -> bool:
    """Step 3: the greatest set of states of ``other`` that can match every change."""
    count = other.graph.count
    needed = mine.changes
    wanted_from = needed >> 32
    order = np.argsort(other.looks, kind="stable")
    ordered = other.looks[order]
    low, high = np.searchsorted(ordered, wanted_from), np.searchsorted(ordered, wanted_from, side="right")
    size = high - low
    asked_of = order[np.repeat(low - np.cumsum(size) + size, size) + np.arange(size.sum())]
    asked_for = np.repeat(needed & 0xFFFFFFFF, size)
    base = int(max(mine.looks.max(initial=0), other.looks.max(initial=0))) + 1
    demands = asked_of * base + asked_for
    sources, targets = other.seen_steps
    answers = sources * base + other.looks[targets]
    hidden_from, hidden_to = other.hidden_steps
    good = np.ones(count, dtype=np.bool_)
    while True:
        paused()
        can = np.unique(answers[good[targets]])
        frontier = can
        while len(frontier) and len(hidden_from):
            frontier = np.setdiff1d(_behind(frontier, hidden_from, hidden_to, base), can)
            can = np.union1d(can, frontier)
        failed = asked_of[~np.isin(demands, can)]
        if not good[failed].any():
            break
        good[failed] = False
    covered = np.unique(other.looks[other.graph.initial[good[other.graph.initial]]])
    return bool(np.isin(mine.first_looks, covered).all())


def _behind(pairs: Numbers, sources: Numbers, targets: Numbers, base: int) -> Numbers:
    """The pairs (state, projection) from which a hidden step leads to one of these pairs."""
    states, looks = pairs // base, pairs % base
    order = np.argsort(targets, kind="stable")
    ordered = targets[order]
    low, high = np.searchsorted(ordered, states), np.searchsorted(ordered, states, side="right")
    size = high - low
    at = order[np.repeat(low - np.cumsum(size) + size, size) + np.arange(size.sum())]
    return np.unique(sources[at] * base + np.repeat(looks, size))


def _match_runs(
    mine: ProjectedGraph, other: ProjectedGraph, paused: Callable[[], None], most: int
) -> InclusionCounterexample | None:
    """Step 4: pairs of a state of ``mine`` and the states of ``other`` that match the run so far, breadth first."""
    after_mine, after_other = _successors(mine.graph), _successors(other.graph)
    mine_looks, other_looks = mine.looks.tolist(), other.looks.tolist()
    closures: dict[frozenset[int], frozenset[int]] = {}

    def closed(states: frozenset[int]) -> frozenset[int]:
        """The closure of a set of states under hidden steps."""
        known = closures.get(states)
        if known is None:
            reached, waiting = set(states), list(states)
            while waiting:
                state = waiting.pop()
                for then in after_other[state]:
                    if other_looks[then] == other_looks[state] and then not in reached:
                        reached.add(then)
                        waiting.append(then)
            known = closures[states] = frozenset(reached)
        return known

    begun = other.graph.initial.tolist()
    parents: dict[tuple[int, frozenset[int]], tuple[int, frozenset[int]] | None] = {}
    waiting: deque[tuple[int, frozenset[int]]] = deque()
    for state in mine.graph.initial.tolist():
        pair = state, closed(frozenset(each for each in begun if other_looks[each] == mine_looks[state]))
        if pair not in parents:
            parents[pair] = None
            waiting.append(pair)
    while waiting:
        pair = waiting.popleft()
        state, may_be = pair
        answers: dict[int, set[int]] = {}
        for each in may_be:
            for then in after_other[each]:
                answers.setdefault(other_looks[then], set()).add(then)
        for then in after_mine[state]:
            if mine_looks[then] == mine_looks[state]:
                onward = then, may_be
            elif mine_looks[then] not in answers:
                return InclusionCounterexample("order", [*_states_to(pair, parents), then])
            else:
                onward = then, closed(frozenset(answers[mine_looks[then]]))
            if onward not in parents:
                parents[onward] = pair
                waiting.append(onward)
        if len(parents) > most:
            raise InclusionUndetermined(f"more than {most:,} sets of states would have to be followed")
        if len(parents) % 1024 == 0:
            paused()
    return None


def _states_to(
    pair: tuple[int, frozenset[int]],
    parents: dict[tuple[int, frozenset[int]], tuple[int, frozenset[int]] | None],
) -> list[int]:
    path: list[int] = []
    at: tuple[int, frozenset[int]] | None = pair
    while at is not None:
        path.insert(0, at[0])
        at = parents[at]
    return path


def _successors(graph: RunGraph) -> list[list[int]]:
    after: list[list[int]] = [[] for _ in range(graph.count)]
    for source, target in zip(graph.sources.tolist(), graph.targets.tolist(), strict=True):
        after[source].append(target)
    return after
