"""The sample of the distinct states that walks visited, and what it tells of all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SAMPLE_CELLS = 1 << 17
"""Cells of a walker's table; half of them may be taken."""
MAX_SAMPLE = SAMPLE_CELLS // 2


@dataclass(frozen=True, slots=True)
class Sample:
    """Fingerprints of distinct states, those whose ``level`` certain bits are all zero, in order; ``again`` says which
    of the states were visited more than once."""

    level: int
    fingerprints: NDArray[np.uint64]
    again: NDArray[np.bool_]

    @classmethod
    def of_table(cls, table: NDArray[np.uint64], level: int) -> Sample:
        """What a walker's table holds; bit 0 of a cell says that the state was visited again."""
        cells = np.sort(table[table != 0])
        return cls(level, cells & ~np.uint64(1), (cells & np.uint64(1)) != 0)

    @classmethod
    def union(cls, samples: Iterable[Sample]) -> Sample:
        """The sample of all walks together, whichever walker took which: a state is visited again if it is so for one
        walker, or was visited by two."""
        every = list(samples)
        level = max(it.level for it in every)
        kept = [it.at(level) for it in every]
        fingerprints, counts = np.unique(np.concatenate([it.fingerprints for it in kept]), return_counts=True)
        again = counts > 1
        for it in kept:
            again[np.searchsorted(fingerprints, it.fingerprints[it.again])] = True
        whole = cls(level, fingerprints, again)
        while len(whole.fingerprints) > MAX_SAMPLE:
            whole = whole.at(whole.level + 1)
        return whole

    def at(self, level: int) -> Sample:
        """The part of the sample that a higher level keeps."""
        inside = self.fingerprints & np.uint64(((1 << level) - 1) << 1) == 0
        return Sample(level, self.fingerprints[inside], self.again[inside])

    @property
    def is_exact(self) -> bool:
        """Whether every visited state is in the sample."""
        return self.level == 0

    @property
    def distinct(self) -> int:
        """The number of distinct states; an estimate unless the sample is exact."""
        return len(self.fingerprints) << self.level

    @property
    def once(self) -> int:
        """The number of states that were visited exactly once; an estimate unless the sample is exact."""
        return int(np.count_nonzero(~self.again)) << self.level
