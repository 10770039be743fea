"""What the driver has accepted: for each partition and level how many states there are, and their digest.

This is the only thing that says what a partition's files are to hold. The files hold the same rows in their header. A
row has a seal, a hash over all rows up to it, so that comparing one seal tells whether all levels up to this one are
those that were accepted. Two sets of states with equal counts and equal digests are taken for the same: the digest has
128 bits, and nobody chooses the states against it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.uint64]

# Columns of a row, which is of one level of one partition: states up to it, the sums of its own states' fingerprints,
# and the seal.
END, DIGEST_1, DIGEST_2, SEAL_1, SEAL_2 = range(5)
COLUMNS = 5


def row_after(rows: Array, count: int, digest: Sequence[int]) -> Array:
    """The row of a level of ``count`` states that follows ``rows``."""
    last = rows[-1] if len(rows) else np.zeros(COLUMNS, dtype=np.uint64)
    row = np.array([int(last[END]) + count, *digest, 0, 0], dtype=np.uint64)
    seal = hashlib.blake2b(last[SEAL_1:].tobytes() + row[:SEAL_1].tobytes(), digest_size=16).digest()
    row[SEAL_1:] = np.frombuffer(seal, dtype=np.uint64)
    return row


@dataclass(frozen=True, slots=True)
class Accepted:
    """The accepted levels as tasks are told them: how many, and the last row of each partition.

    ``patience`` is how many seconds a task that Spark started a second time, and that does not find its partition where
    it runs, waits before it says so: the first one may be at work, where the partition is.
    """

    levels: int
    last: Array
    patience: float

    def seal(self, partition: int) -> bytes:
        return bytes(self.last[partition, SEAL_1:].tobytes())


class Ledger:
    """The accepted levels of every partition, from the initial states on."""

    def __init__(self, partitions: int) -> None:
        self.partitions = partitions
        self.rows = np.zeros((0, partitions, COLUMNS), dtype=np.uint64)
        self._levels = 0

    @property
    def levels(self) -> int:
        return self._levels

    @property
    def count(self) -> int:
        """All states."""
        return int(self.rows[self._levels - 1, :, END].sum()) if self._levels else 0

    def accept(self, counts: Sequence[int], digests: Sequence[Sequence[int]]) -> None:
        """Adds a level."""
        if self._levels == len(self.rows):
            more = np.zeros((max(16, len(self.rows)), self.partitions, COLUMNS), dtype=np.uint64)
            self.rows = np.concatenate([self.rows, more])
        for p in range(self.partitions):
            before = self.rows[max(self._levels - 1, 0) : self._levels, p]
            self.rows[self._levels, p] = row_after(before, counts[p], digests[p])
        self._levels += 1

    def of(self, partition: int) -> Array:
        """The rows of a partition."""
        return self.rows[: self._levels, partition]

    def upto(self, levels: int | None = None, patience: float = 0) -> Accepted:
        """The first levels, or all, as tasks are told them."""
        known = self._levels if levels is None else levels
        return Accepted(known, self.rows[known - 1].copy(), patience)

    def counts(self, level: int) -> list[int]:
        """How many states of a level each partition has."""
        ends = self.rows[level, :, END].astype(np.int64)
        return [int(n) for n in (ends - self.rows[level - 1, :, END].astype(np.int64) if level else ends)]

    def widths(self) -> list[int]:
        """How many states each level has."""
        return [sum(self.counts(level)) for level in range(self._levels)]

    def digest(self) -> Array:
        """The sums of all states' fingerprints."""
        sums: Array = self.rows[: self._levels, :, DIGEST_1 : DIGEST_2 + 1].sum(axis=(0, 1), dtype=np.uint64)
        return sums

    def agrees(self, partition: int, level: int, count: int, digest: Sequence[int]) -> bool:
        """Whether a report of an accepted level says what was accepted."""
        row = self.rows[level, partition]
        same = self.counts(level)[partition] == count
        return same and [int(row[DIGEST_1]), int(row[DIGEST_2])] == [int(part) for part in digest]

    def known(self, partition: int, seals: bytes) -> int:
        """How many of the levels that files name by their seals, from the first on, are accepted ones."""
        named = np.frombuffer(seals, dtype=np.uint64).reshape(-1, 2)[: self._levels]
        equal = (named == self.of(partition)[: len(named), SEAL_1:]).all(axis=1)
        return len(named) if equal.all() else int(np.argmin(equal))
