"""A run that breaks a goal, found by the workers: a way into the states that elimination left, and a fair loop there.

Predecessors are not stored, and components are not known. So a loop is built by breadth-first searches along steps, in
a set S that at first is what elimination left. Two facts about S are kept. Each of its states has a predecessor in S.
And each demand of fairness on a state is met there by steps within S: a step with the label, or for weak fairness a
state that does not enable it, leads to the state (``elimination.py``). Both facts stay true of a part of S that no step
enters from the rest of S, and only such parts are kept.

- *The component.* Each state gets a number of its own as its color, and colors spread along steps, the larger one
  prevails: at the end the color of a state is the largest number of the states that lead to it. Let m be the least
  color. Whatever leads to a state of color m has color m, so no step enters the states of color m from others, and
  S becomes these. The state with the number m is the *entry*: it leads to all of S. Let C be its component. No step
  enters C from the rest of S, so C is fair by the first fact, and the second says that it has a loop.
- *The loop.* A walk begins at the entry and continues, by shortest ways within S, to what its fairness lacks, as in
  memory (``liveness/lasso.py``). Where a way ends in a state that does not lead back to the entry, that state is not in
  C, and nothing to which it leads is: all of that leaves S, and the walk tries again. What is left of S still has no
  step from what has left it into it. So the walk stays in C, and finds there what it lacks.
- *The way.* From the entry back to an initial state level by level, as a trace of the search; where the run has to stay
  in the region from some root on, by a breadth-first search within the region from all roots, and from the root back.

Way and loop are short, and not the shortest. CPython takes every step again, and says why the loop is fair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

from floodmark.checkers.liveness.components import FairnessLabels
from floodmark.checkers.liveness.lasso import WalkTally
from floodmark.checkers.liveness.witness import WitnessRuns
from floodmark.checkers.spark import elimination_loops as loops
from floodmark.checkers.spark import elimination_tasks, lasso_tasks
from floodmark.checkers.spark.elimination import Elimination
from floodmark.checkers.spark.elimination_tasks import FairRunQuery, StateSelection, TaskReport
from floodmark.checkers.spark.reader import Packed
from floodmark.checkers.spark.rounds import EliminationRounds
from floodmark.checkers.spark.step_code import words_of
from floodmark.language.model import State

Way = list[Packed]
"""The states of a run, packed."""


class LassoSearch:
    """Builds a lasso from what an elimination left. Its methods raise PartitionMismatch when a partition was lost."""

    def __init__(
        self, elimination: Elimination, witness: WitnessRuns, demands: FairnessLabels,
        is_chosen: Callable[[State], bool],
    ) -> None:
        self.rounds = elimination.rounds
        self.question = elimination.question
        self.roots = elimination.roots
        self.alone = bool(elimination.alone)
        self.witness = witness
        self.is_chosen = is_chosen
        self.demands = demands
        layout = self.rounds.cluster.interface.layout
        self._unpack: Callable[[Packed], State] = layout.unpack
        nothing = tuple(0 for _ in self.question.weak)
        self._nowhere = FairRunQuery(StateSelection(), StateSelection(), nothing, nothing)
        """The query of a search with no goal."""

    def run(self) -> tuple[Way, Way]:
        """The states up to the entry, and those after it on a loop back to it; none where the run stays there."""
        if self.alone:
            entry, loop = self._stay(), []
        else:
            entry = self._component()
            loop = self._loop(entry)
        return self._way(entry), loop

    # The component of the run.

    def _stay(self) -> Packed:
        """The first state in which it is fair to stay."""
        return smallest(self.rounds.report(lambda sieve: partial(lasso_tasks.smallest_alone, sieve, self.question)))

    def _component(self) -> Packed:
        """The entry of a fair component, with the states that are left reduced to those to which it leads."""
        reports = self.rounds.change(lambda sieve: partial(lasso_tasks.start_coloring, sieve, self._nowhere))
        while _telling(reports):
            reports = self._exchange(self._nowhere, loops.COLORING)
        colors = self.rounds.report(lambda sieve: partial(lasso_tasks.least_color, sieve))
        least = min(color for report in colors for color in report.counts)
        kept = self.rounds.change(lambda sieve: partial(lasso_tasks.keep_color, sieve, self._nowhere, least))
        return smallest(kept)

    # The loop.

    def _loop(self, entry: Packed) -> Way:
        state, walk = self._unpack(entry), [entry]
        tally = WalkTally(self.demands, self.witness.enabled(state), self.is_chosen(state))
        while not tally.is_fair or walk[-1] != entry:  # on the way back more may become enabled
            query = replace(self._nowhere, goal=entry) if tally.is_fair else self._helping(tally)
            path = self._path(walk[-1], query)
            if path[-1] == entry or self._leads(path[-1], entry):
                self._walk(tally, walk, path)
        return walk[1:]

    def _helping(self, tally: WalkTally) -> FairRunQuery:
        """The states and steps that bring a walk nearer to a fair loop, as a query."""
        starved = frozenset(tally.starved)
        count = len(self.question.weak)
        chosen = StateSelection() if tally.visits else self.question.chosen
        wanted = words_of(starved | tally.cheated, count)
        return replace(self._nowhere, chosen=chosen, weak=wanted, strong=words_of(starved, count))

    def _helps(self, query: FairRunQuery, state: Packed) -> bool:
        """Whether a walk helps that ends in a state, whatever its last step is."""
        if state == query.goal:
            return True
        unpacked = self._unpack(state)
        if query.chosen.care and self.is_chosen(unpacked):
            return True
        enabled = words_of(frozenset(self.witness.enabled(unpacked)), len(query.strong))
        return any(asked & ~here for asked, here in zip(query.strong, enabled, strict=True))

    def _walk(self, tally: WalkTally, walk: Way, path: Way) -> None:
        for before, after in pairwise(map(self._unpack, path)):
            tally.step(self.witness.labels(before, after), self.witness.enabled(after), self.is_chosen(after))
        walk += path[1:]

    # Breadth-first searches among the states that are left.

    def _path(self, start: Packed, query: FairRunQuery) -> Way:
        """A shortest path from a state to one that helps, both included; it has a step."""
        found = self._spread(start, query)
        if found is None:
            raise RuntimeError("elimination left a fair run, and no loop is found")
        return self._back(query, *found)

    def _leads(self, start: Packed, goal: Packed) -> bool:
        """Whether a state leads to another. If not, it and all its successors are eliminated."""
        if self._spread(start, replace(self._nowhere, goal=goal)) is not None:
            return True
        self.rounds.change(lambda sieve: partial(lasso_tasks.drop_layers, sieve, self._nowhere))
        return False

    def _spread(self, start: Packed | StateSelection, query: FairRunQuery) -> tuple[Packed, int] | None:
        """The smallest state that helps in the nearest layer, and that layer: 1 is that of the start."""
        reports = self.rounds.change(lambda sieve: partial(lasso_tasks.start_layers, sieve, query, start))
        layer = 1
        while _telling(reports):
            layer += 1
            reports = self._exchange(replace(query, layer=layer), loops.LAYERING)
            helping = [report.state for report in reports if report.state is not None]
            if helping:
                return min(helping), layer
        return None

    def _back(self, query: FairRunQuery, state: Packed, layer: int) -> Way:
        """The path on which a search came to a state of a layer, from its start on."""
        path = [state]
        anyhow = self._helps(query, state)
        for earlier in range(layer - 1, 0, -1):
            path.insert(0, self._origin(replace(query, layer=earlier), path[0], anyhow))
            anyhow = True
        return path

    def _origin(self, query: FairRunQuery, target: Packed, anyhow: bool) -> Packed:
        return smallest(self.rounds.report(lambda sieve: partial(lasso_tasks.origin, sieve, query, target, anyhow)))

    # The way.

    def _way(self, entry: Packed) -> Way:
        if self.roots is None:
            return self._trace(entry)
        self.rounds.begin()
        region = replace(self.question, chosen=self.roots)
        self.rounds.change(lambda sieve: partial(elimination_tasks.change, sieve, region, (("enter_region", 0),)))
        path = [entry]
        if not self._is_root(entry):
            query = replace(self._nowhere, goal=entry)
            found = self._spread(self.roots, query)
            if found is None:
                raise RuntimeError("elimination left a state that no root reaches")
            path = self._back(query, *found)
        return [*self._trace(path[0])[:-1], *path]

    def _is_root(self, state: Packed) -> bool:
        assert self.roots is not None
        return self._about(state)[1] & self.roots.care == self.roots.want

    def _trace(self, state: Packed) -> Way:
        """A shortest run to a state."""
        return trace(self.rounds, state, self._about(state)[0])

    def _about(self, state: Packed) -> tuple[int, ...]:
        """The level of a state, and its first fact."""
        for report in self.rounds.report(lambda sieve: partial(lasso_tasks.about, sieve, state)):
            if report.counts:
                return report.counts
        raise RuntimeError(f"no partition has the state {self._unpack(state)}")

    # Rounds.

    def _exchange(self, query: FairRunQuery, mode: int) -> list[TaskReport]:
        return self.rounds.exchange(
            lambda sieve: partial(elimination_tasks.send, sieve, query, mode, 0),
            lambda sieve: partial(elimination_tasks.receive, sieve, query, mode, 0),
        )


def _telling(reports: Sequence[TaskReport]) -> int:
    """The number of states that have to send to their successors."""
    return sum(report.counts[1] for report in reports)


def smallest(reports: Sequence[TaskReport]) -> Packed:
    """The smallest state of those that partitions report, of the lowest level if they report levels."""
    found = [(report.counts, report.state) for report in reports if report.state is not None]
    if not found:
        raise RuntimeError("no partition has a state that one of them has to have")
    return min(found)[1]


def way_to_unmarked(rounds: EliminationRounds) -> Way:
    """A shortest run to a state from which no goal was found to be reachable."""
    reports = rounds.report(lambda sieve: partial(lasso_tasks.smallest_unmarked, sieve))
    level = min(report.counts for report in reports if report.counts)[0]
    return trace(rounds, smallest(reports), level)


def trace(rounds: EliminationRounds, state: Packed, level: int) -> Way:
    """A shortest run to a state of a level, which counts from 0."""
    way = [state]
    for earlier in range(level - 1, -1, -1):
        rounds.paused()
        parent = rounds.cluster.parent_in(earlier, way[0])
        if parent is None:
            raise RuntimeError("a state was found that nothing leads to")
        way.insert(0, parent)
    return way
