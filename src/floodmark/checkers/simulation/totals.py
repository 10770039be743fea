"""What walks counted, whoever took them: a thread here, or a task elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.simulation.sample import Sample
from floodmark.checkers.simulation.walker import Hit, Walker


@dataclass(frozen=True, slots=True)
class Totals:
    """The counts of some walks, ``finished`` of which were taken to their end, and the first problem that they met.

    ``taken`` are the steps of each action, ``reached`` the mask of the state properties that were true somewhere,
    ``covered`` the counts of coverage, if it is counted. ``is_late`` is whether a time limit ended the walks.
    """

    finished: int
    visits: int
    deepest: int
    dead_ends: int
    cut_short: int
    reached: int
    taken: NDArray[np.uint64]
    sample: Sample
    covered: NDArray[np.uint64] | None
    hit: Hit | None = None
    is_late: bool = False

    @classmethod
    def of(cls, walkers: Sequence[Walker], hit: Hit | None, is_late: bool) -> Totals:
        """The counts of walkers together."""
        contexts = [it.coverage.context for it in walkers if it.coverage is not None]
        return cls(
            sum(it.finished for it in walkers),
            sum(it.visits for it in walkers),
            max(it.deepest for it in walkers),
            sum(it.dead_ends for it in walkers),
            sum(it.cut_short for it in walkers),
            int(np.bitwise_or.reduce([it.reached for it in walkers])),
            np.add.reduce([it.taken for it in walkers]),
            Sample.union(it.sample() for it in walkers),
            np.add.reduce(contexts) if contexts else None,
            hit,
            is_late,
        )

    @classmethod
    def together(cls, every: Sequence[Totals]) -> Totals:
        """The counts of several together."""
        covered = [it.covered for it in every if it.covered is not None]
        return cls(
            sum(it.finished for it in every),
            sum(it.visits for it in every),
            max(it.deepest for it in every),
            sum(it.dead_ends for it in every),
            sum(it.cut_short for it in every),
            int(np.bitwise_or.reduce([it.reached for it in every])),
            np.add.reduce([it.taken for it in every]),
            Sample.union(it.sample for it in every),
            np.add.reduce(covered) if covered else None,
            min((it.hit for it in every if it.hit is not None), default=None),
            any(it.is_late for it in every),
        )
