"""What must come of KIP-236's queue: an entry does not wait for brokers that it does not need."""

from __future__ import annotations

from floodmark import Set, action, leads_to, require
from model.reassignment.kip236 import Step
from model.reassignment.queue import QueuedReassignment
from model.reassignment.replicas import Partition
from specs.reassignment.continuing import ContinuingController
from specs.reassignment.remedies import RedirectsPending

BACK = Set(
    {
        Step.CANCEL_IN_MEMORY, Step.LEAD_FROM_ORIGINAL, Step.TAKE_ADDED_OFFLINE, Step.DELETE_ADDED,
        Step.PERSIST_ORIGINAL, Step.DROP_CANCELLED, Step.SPREAD_CANCELLED,
    }
)


class UndisturbedQueue(ContinuingController, QueuedReassignment):
    """One controller that does not fail, and nobody cancels: what is queued waits only for brokers."""

    @action
    def controller_fails_over(self) -> None:
        require(False)

    @action
    def client_cancels(self) -> None:
        require(False)

    def continues(self, partition: Partition) -> None:
        if self.step[partition] in BACK:
            self.continues_back(partition)
        else:
            super().continues(partition)

    def continues_back(self, partition: Partition) -> None:
        step = self.step[partition]
        if step == Step.CANCEL_IN_MEMORY:
            self.cancel_1_in_memory(partition)
        elif step == Step.LEAD_FROM_ORIGINAL:
            self.cancel_2_leads_from_original(partition)
        elif step == Step.TAKE_ADDED_OFFLINE:
            self.cancel_3_takes_added_offline(partition)
        elif step == Step.DELETE_ADDED:
            self.cancel_4_deletes_added(partition)
        elif step == Step.PERSIST_ORIGINAL:
            self.cancel_5_persists_original(partition)
        elif step == Step.DROP_CANCELLED:
            self.cancel_6_drops_entry(partition)
        else:
            self.cancel_7_spreads_metadata(partition)


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
    """An entry whose brokers are all alive leaves the queue while the partition is online, whoever else is away.

    KIP-236, "Planned Future Changes": "first cancel / rollback the pending reassignments [...], then submit new
    reassignments".
    """
    return is_wanted(model, partition), not is_wanted(model, partition)
