"""What must come of KIP-236's queue: an entry does not wait for brokers that it does not need."""

from __future__ import annotations

from floodmark import action, leads_to, require
from model.reassignment.continuing import ContinuingReassignment
from model.reassignment.queue import QueuedReassignment
from model.reassignment.replicas import Partition
from specs.reassignment.remedies import RedirectsPending


class UndisturbedQueue(ContinuingReassignment, QueuedReassignment):
    """One controller that does not fail, and nobody cancels: what is queued waits only for brokers."""

    @action
    def controller_fails_over(self) -> None:
        require(False)

    @action
    def client_cancels(self) -> None:
        require(False)


class UndisturbedRedirects(UndisturbedQueue, RedirectsPending):
    """The same with the repair."""


class WaitsUntilItCanRollBack(UndisturbedRedirects):
    """The KIP's conflict resolution: only a roll-back makes way for a queued entry.

    Where no original replica is in the ISR there is none; and where a new one is away, the pending reassignment does
    not end either.
    """

    @action
    def queue_1_redirects(self, partition: Partition) -> None:
        require(False)


class LeavesMovedEntry(UndisturbedRedirects):
    """An entry stays in the queue once it is pending, and nothing else can be queued until it is done."""

    @action
    def queue_3_removes(self, partition: Partition) -> None:
        require(False)


def is_wanted(model: UndisturbedQueue, partition: Partition) -> bool:
    """Whether an entry is queued, and not yet moved, that nothing stands in the way of."""
    target = model.queue[partition]
    return (
        target is not None
        and target <= model.live
        and not model.is_moved(partition)
        and model.is_online(partition)
    )


@leads_to
def queued_entry_is_taken_up(model: UndisturbedQueue, partition: Partition) -> tuple[bool, bool]:
    """An entry whose brokers are all alive leaves the queue while the partition is online, even if other brokers are
    down.

    KIP-236, "Planned Future Changes": "first cancel / rollback the pending reassignments [...], then submit new
    reassignments".
    """
    return is_wanted(model, partition), not is_wanted(model, partition)


@leads_to
def moved_entry_leaves_queue(model: UndisturbedQueue, partition: Partition) -> tuple[bool, bool]:
    """An entry that has been moved to ``/admin/reassign_partitions`` makes room for the next one in the queue."""
    return model.is_queued(partition) and model.is_moved(partition), not model.is_queued(partition)
