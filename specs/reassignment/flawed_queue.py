"""Known-bad designs of KIP-236's queue."""

from __future__ import annotations

from floodmark import Map, Set, action, initial, require
from model.reassignment.queue import QueuedReassignment
from model.reassignment.replicas import Broker, Partition


class OverwritesPending(QueuedReassignment):
    """C-M20: the entry is moved before the pending one is cancelled, and what is assigned now is recorded as original.

    KIP-236 reads the original replicas from ZooKeeper; during a reassignment they are the old and the new ones
    together.
    """

    def may_move(self, partition: Partition) -> bool:
        return True


class RemovesFirst(QueuedReassignment):
    """The entry leaves the queue before it is pending, so a crash in between loses it."""

    held: Map[Partition, Set[Broker] | None]

    @initial
    def start(self) -> None:
        super().start()
        self.held = Map({partition: None for partition in Partition})

    def queue_2_moves(self, partition: Partition) -> None:
        require(self.is_free() and self.goes_on() and self.is_queued(partition) and self.may_move(partition))
        self.held[partition] = self.queue[partition]
        self.queue[partition] = None

    @action
    def queue_4_submits_held(self, partition: Partition) -> None:
        target = self.held[partition]
        if target is not None:
            self.move(partition, target)
            self.held[partition] = None


class BeginsAnew(QueuedReassignment):
    """A new controller starts what is pending before it looks at the queue, and undoes half a rollback.

    KIP-236 has no cancel znode for a conflict, so nothing else shows that there was a rollback.
    """

    def begins_anew(self, partition: Partition) -> bool:
        return True


class DropsConflict(QueuedReassignment):
    """An entry leaves the queue as soon as its partition is pending, with any target: the older target stays."""

    def is_moved(self, partition: Partition) -> bool:
        return self.is_pending(partition)


class OverwritesQueue(QueuedReassignment):
    """A batch is written over one that is still queued."""

    @action
    def client_queues(self, batch: Set[Partition], target: Set[Broker]) -> None:
        require(self.submitted < self.submissions and len(batch) > 0)
        require(self.smallest_target <= len(target) <= self.largest_target)
        self.submitted += 1
        for partition in batch:
            self.queue[partition] = target
            self.asked[partition] = target


class MovesAtOnce(QueuedReassignment):
    """An entry is moved as soon as nothing is pending, whatever the controller still has to do."""

    def queue_2_moves(self, partition: Partition) -> None:
        target = self.queue[partition]
        require(target is not None and self.may_move(partition))
        assert target is not None
        self.move(partition, target)
