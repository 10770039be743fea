"""The sample of the distinct states that walks visited, and estimates from it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.search_result import Estimate
from floodmark.checkers.simulation.walk_loops import TAG_BITS, WALK_BITS

SAMPLE_CELLS = 1 << 17
"""The number of cells of a walker's table; half of them may be used."""
MAX_SAMPLE = SAMPLE_CELLS // 2
MORE = 3
"""The code for three walks or more."""
MIN_WALKS = 30
"""The minimum number of walks with a state of their own for an interval: with fewer, the mean says too little."""
DEVIATIONS = 1.96
"""The number of standard deviations that contain 95 % of a normal distribution."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample of distinct states, as sorted parts of their fingerprints: those whose ``level`` certain bits are all
    zero.

    ``times`` is the number of walks that have visited a state, up to ``MORE``, and ``walks`` the number of the last of
    them, without its highest bits.
    """

    level: int
    fingerprints: NDArray[np.uint64]
    times: NDArray[np.uint8]
    walks: NDArray[np.uint16]

    @classmethod
    def of_table(cls, table: NDArray[np.uint64], level: int) -> Sample:
        """The content of a walker's table."""
        cells = np.sort(table[table != 0])
        times = np.array([1, 2, 0, MORE], dtype=np.uint8)[cells & np.uint64(3)]
        return cls(level, cells >> np.uint64(TAG_BITS), times, (cells >> np.uint64(2)).astype(np.uint16))

    @classmethod
    def union(cls, samples: Iterable[Sample]) -> Sample:
        """The sample of all walks together. Each walk belongs to one sample, so the numbers of walks are added."""
        every = list(samples)
        level = max(it.level for it in every)
        kept = [it.at(level) for it in every]
        fingerprints = np.unique(np.concatenate([it.fingerprints for it in kept]))
        times = np.zeros(len(fingerprints), dtype=np.uint8)
        walks = np.zeros(len(fingerprints), dtype=np.uint16)
        for it in kept:
            places = np.searchsorted(fingerprints, it.fingerprints)
            times[places] = np.minimum(times[places] + it.times, MORE)
            walks[places] = it.walks
        whole = cls(level, fingerprints, times, walks)
        while len(whole.fingerprints) > MAX_SAMPLE:
            whole = whole.at(whole.level + 1)
        return whole

    def at(self, level: int) -> Sample:
        """The sample at a higher level."""
        inside = self.fingerprints & np.uint64((1 << level) - 1) == 0
        return Sample(level, self.fingerprints[inside], self.times[inside], self.walks[inside])

    def distinct(self) -> Estimate:
        """The number of distinct states. At a level above 0 each of them is in the sample with the same probability."""
        scale, kept = 1 << self.level, len(self.fingerprints)
        error = DEVIATIONS * math.sqrt(kept * (1 - 1 / scale))
        return Estimate(kept * scale, (kept - error) * scale, (kept + error) * scale)

    def new_states(self, walks: int) -> Estimate | None:
        """The expected number of states that a further walk visits and that none of these ``walks`` independent walks
        visited; None if too few of them visited a state that no other did.

        This is the estimate of I. Good and A. Turing, with walks instead of observations: the expected number of new
        states of a walk is the average number of states that only one of the others visited. States of one walk depend
        on each other, walks do not, so the interval comes from the differences between walks. Let walk j have X_j
        states alone, and walks j and k Y_jk states that no third one visited. For rare states, whose numbers of walks
        have Poisson distributions, the expected squared error of the estimate, times the square of the number of walks,
        is the sum of X_j**2 plus twice that of Y_jk**2: for two states that c walks are expected to share, and that no
        walk visits with probability e, the errors have the covariance (c + c**2) * e. The number of walks is given, so
        the first sum is that of squared differences from the mean. For the second, the states of two walks are assumed
        to be as clustered as those of one.
        """
        alone = self.walks[self.times == 1]
        of_walks = np.bincount(alone, minlength=min(walks, 1 << WALK_BITS)).astype(float) * (1 << self.level)
        if np.count_nonzero(of_walks) < MIN_WALKS:
            return None
        pairs = float(np.count_nonzero(self.times == 2))
        mean = float(of_walks.sum()) / walks
        squares = float(of_walks @ of_walks) - mean * mean * walks
        error = DEVIATIONS * math.sqrt(squares * (1 + 2 * pairs / len(alone))) / walks
        return Estimate(mean, max(mean - error, 0.0), mean + error)
