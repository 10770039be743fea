"""The outboxes of a task: rows of words for each partition, in pieces, with the sums that the receiver compares."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from floodmark.checkers.kernel.partitioned import COUNTS, FULLEST, OUTBOXES, OWNERS, ROOM, ROUTE_FIELDS
from floodmark.checkers.spark.ledger import Array
from floodmark.checkers.spark.shard import PartitionLost
from floodmark.checkers.spark.tasks import OUTBOX_BYTES, Checksum, EndOfExpansion, Record, SearchContext


class Outboxes:
    """Rows of ``words`` words each; one call of a loop adds at most ``most`` rows after an outbox is full."""

    def __init__(self, run: SearchContext, words: int, most: int) -> None:
        self.words = words
        self.owners = run.partitions
        self.room = max(min(OUTBOX_BYTES, run.buffers // 2 // self.owners) // (words * 8), 1)
        self.sent = [Checksum() for _ in range(self.owners)]
        self._boxes = np.zeros((self.owners, (self.room + most) * words), dtype=np.uint64)
        self._addresses = np.array([box.ctypes.data for box in self._boxes], dtype=np.uint64)
        self._counts = np.zeros(self.owners, dtype=np.uint64)
        self._route = np.zeros(ROUTE_FIELDS, dtype=np.uint64)
        for where, value in {
            OUTBOXES: self._addresses.ctypes.data, COUNTS: self._counts.ctypes.data, ROOM: self.room,
            OWNERS: self.owners,
        }.items():  # fmt: skip
            self._route[where] = value

    @property
    def address(self) -> int:
        """The fields by which loops find them."""
        return int(self._route.ctypes.data)

    def drained(self, least: int) -> Iterator[tuple[int, bytes]]:
        """The content of the outboxes that hold so many rows, which are emptied."""
        for owner in np.nonzero(self._counts >= max(least, 1))[0]:
            piece: Array = self._boxes[owner, : int(self._counts[owner]) * self.words]
            self.sent[owner].add(piece)
            yield int(owner), piece.tobytes()
            self._counts[owner] = 0
        self._route[FULLEST] = self._counts.max()

    def ends(self, partition: int, lost: bool) -> Iterator[Record]:
        """Sends every partition the amount of data that was sent to it."""
        for owner in range(self.owners):
            yield owner, EndOfExpansion(partition, lost, self.sent[owner])


def lost_ends(run: SearchContext, partition: int) -> Iterator[Record]:
    """Informs every partition that one was lost."""
    for owner in range(run.partitions):
        yield owner, EndOfExpansion(partition, True, Checksum())


class Arrivals:
    """The rows that arrive at a task, until all are there."""

    def __init__(self, run: SearchContext) -> None:
        self.senders = run.partitions
        self._received, self._announced = Checksum(), Checksum()
        self._ended: set[int] = set()

    def rows(self, payload: object) -> Array | None:
        """The rows of a piece, None if it is none. Raises PartitionLost if its sender was lost."""
        if isinstance(payload, bytes):
            states = np.frombuffer(payload, dtype=np.uint64)
            self._received.add(states)
            return states
        if isinstance(payload, EndOfExpansion):
            if payload.lost:
                raise PartitionLost(f"partition {payload.partition} has nothing to tell")
            self._ended.add(payload.partition)
            self._announced.add_sum(payload.sent)
        return None

    def require_all(self) -> None:
        """Raises PartitionLost unless everything arrived that every partition sent."""
        if len(self._ended) < self.senders or self._received != self._announced:
            raise PartitionLost("what arrived is not what was sent")
