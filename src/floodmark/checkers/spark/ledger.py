"""The driver's ledger: for each partition and level, the number of states and their digest that it accepted.

Only the ledger says what a partition's files must hold. The files have the same rows in their header. A row has a
seal, a hash over all rows up to it, so that comparing one seal shows whether all levels up to it are the accepted ones.
Two sets of states with equal counts and equal digests are assumed to be the same: the digest has 128 bits, and no one
is choosing states to defeat it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from floodmark.checkers.spark.tasks import SeedResult

Array = NDArray[np.uint64]

# Columns of a row, for one level of one partition: the number of states up to it, the sums of the fingerprints of its
# own states, and the seal.
END, DIGEST_1, DIGEST_2, SEAL_1, SEAL_2 = range(5)
COLUMNS = 5


def row_after(rows: Array, count: int, digest: Sequence[int]) -> Array:
    """The row after ``rows``, for a level with ``count`` states."""
    last = rows[-1] if len(rows) else np.zeros(COLUMNS, dtype=np.uint64)
    row = np.array([int(last[END]) + count, *digest, 0, 0], dtype=np.uint64)
    seal = hashlib.blake2b(last[SEAL_1:].tobytes() + row[:SEAL_1].tobytes(), digest_size=16).digest()
    row[SEAL_1:] = np.frombuffer(seal, dtype=np.uint64)
    return row


@dataclass(frozen=True, slots=True)
class AcceptedLevels:
    """The accepted levels in the form that tasks get: how many there are, and the last row of each partition.

    ``patience`` is for a task that Spark started a second time and that does not find its partition on its machine: how
    many seconds it waits before it reports that, because the first attempt may be running where the partition is.
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

    def first(self, levels: int) -> Ledger:
        """The ledger as it was when it had so many levels."""
        known = Ledger(self.partitions)
        known.rows, known._levels = self.rows[:levels].copy(), levels
        return known

    def intact(self, levels: range, seeded: Iterable[SeedResult]) -> bool:
        """Whether states that were given to partitions are those of some levels."""
        counts = np.zeros((self._levels, self.partitions), dtype=np.int64)
        sums = np.zeros((self._levels, self.partitions, 2), dtype=np.uint64)
        for each in seeded:
            if each.partition >= self.partitions:
                return False
            level = int(np.searchsorted(self.rows[: self._levels, each.partition, END], each.position, side="right"))
            if level not in levels:
                return False
            counts[level, each.partition] += each.count
            sums[level, each.partition] += np.array(each.digest, dtype=np.uint64)
        return all(
            counts[level].tolist() == self.counts(level)
            and (sums[level] == self.rows[level, :, DIGEST_1:SEAL_1]).all()
            for level in levels
        )

    def upto(self, levels: int | None = None, patience: float = 0) -> AcceptedLevels:
        """The first levels, or all, in the form that tasks get."""
        known = self._levels if levels is None else levels
        return AcceptedLevels(known, self.rows[known - 1].copy(), patience)

    def counts(self, level: int) -> list[int]:
        """The number of states of a level in each partition."""
        ends = self.rows[level, :, END].astype(np.int64)
        return [int(n) for n in (ends - self.rows[level - 1, :, END].astype(np.int64) if level else ends)]

    def widths(self) -> list[int]:
        """The number of states of each level."""
        return [sum(self.counts(level)) for level in range(self._levels)]

    def digest(self) -> Array:
        """The sums of all states' fingerprints."""
        sums: Array = self.rows[: self._levels, :, DIGEST_1 : DIGEST_2 + 1].sum(axis=(0, 1), dtype=np.uint64)
        return sums

    def agrees(self, partition: int, level: int, count: int, digest: Sequence[int]) -> bool:
        """Whether a report for an accepted level matches what was accepted."""
        row = self.rows[level, partition]
        same = self.counts(level)[partition] == count
        return same and [int(row[DIGEST_1]), int(row[DIGEST_2])] == [int(part) for part in digest]

    def known(self, partition: int, seals: bytes) -> int:
        """The number of levels, from the first on, for which files with these seals are accepted."""
        named = np.frombuffer(seals, dtype=np.uint64).reshape(-1, 2)[: self._levels]
        equal = (named == self.of(partition)[: len(named), SEAL_1:]).all(axis=1)
        return len(named) if equal.all() else int(np.argmin(equal))
