"""The counts of walks, taken by a thread here or a task elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.simulation.sample import Sample
from floodmark.checkers.simulation.walker import Walker, WalkProblem


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of some walks so far, of which ``finished`` have ended.

    ``taken`` are the steps of each action, ``reached`` the walks in which each ``@reachable`` property held somewhere,
    ``covered`` the counts of coverage, if it is counted.
    """

    finished: int
    visits: int
    deepest: int
    dead_ends: int
    cut_short: int
    reached: NDArray[np.uint64]
    taken: NDArray[np.uint64]
    covered: NDArray[np.uint64] | None

    @classmethod
    def of(cls, walker: Walker) -> Counts:
        """The counts of one walker, which may be walking."""
        covered = None if walker.coverage is None else walker.coverage.context
        return cls(
            walker.finished, walker.visits, walker.deepest, walker.dead_ends, walker.cut_short, walker.reached,
            walker.taken, covered,
        )

    @classmethod
    def together(cls, every: Sequence[Counts]) -> Counts:
        """The counts of several together."""
        covered = [it.covered for it in every if it.covered is not None]
        return cls(
            sum(it.finished for it in every),
            sum(it.visits for it in every),
            max(it.deepest for it in every),
            sum(it.dead_ends for it in every),
            sum(it.cut_short for it in every),
            np.add.reduce([it.reached for it in every]),
            np.add.reduce([it.taken for it in every]),
            np.add.reduce(covered) if covered else None,
        )


@dataclass(frozen=True, slots=True)
class Totals:
    """The counts of some walks, the sample of the states that they visited, and the first problem that they met.
    ``is_late`` is whether a time limit ended the walks."""

    counts: Counts
    sample: Sample
    hit: WalkProblem | None = None
    is_late: bool = False

    @classmethod
    def of(cls, walkers: Sequence[Walker], hit: WalkProblem | None, is_late: bool) -> Totals:
        """The totals of walkers that have ended."""
        sample = Sample.union(it.sample() for it in walkers)
        return cls(Counts.together([Counts.of(it) for it in walkers]), sample, hit, is_late)

    @classmethod
    def together(cls, every: Sequence[Totals]) -> Totals:
        """The sum of several totals."""
        return cls(
            Counts.together([it.counts for it in every]),
            Sample.union(it.sample for it in every),
            min((it.hit for it in every if it.hit is not None), default=None),
            any(it.is_late for it in every),
        )
