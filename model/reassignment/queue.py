"""KIP-236's queue: reassignments that are submitted while others are pending ("Planned Future Changes").

``/admin/reassign_partitions_queue`` takes one batch, and no other while it exists. For each partition in it, the
controller first cancels what is pending for the partition, then moves the entry to ``/admin/reassign_partitions``, then
removes it from the queue. A crash in between leaves the entry in both places, or makes a new controller start again
what is being cancelled; the KIP mentions neither: ``is_moved`` and ``begins_anew``. The controller waits for what
cannot be cancelled, which may be forever (specs/reassignment/queue_progress.py; a way on: ``RedirectsPending`` in
remedies.py). The reassignments themselves are in model/reassignment/kip236.py, where to begin.
"""

from __future__ import annotations

from floodmark import Map, Set, action, initial, require, rule
from model.reassignment.kip236 import Entry, Reassignment, Step
from model.reassignment.replicas import Broker, Partition


class QueuedReassignment(Reassignment):
    """KIP-236 with its queue."""

    queue: Map[Partition, Set[Broker] | None]
    asked: Map[Partition, Set[Broker]]

    @initial
    def start(self) -> None:
        super().start()
        self.queue = Map({partition: None for partition in Partition})
        self.asked = self.assigned

    def is_queued(self, partition: Partition) -> bool:
        return self.queue[partition] is not None

    @action
    def client_submits(self, batch: Set[Partition], target: Set[Broker], throttle: bool, knows_original: bool) -> None:
        """As without a queue; a batch in the queue comes later."""
        require(not any(self.is_queued(partition) for partition in Partition))
        super().client_submits(batch, target, throttle, knows_original)
        for partition in batch:
            self.asked[partition] = target

    @action
    def client_queues(self, batch: Set[Partition], target: Set[Broker]) -> None:
        """Queues a batch; no other one can be queued while the znode is there. KIP-236, "Planned Future Changes"."""
        require(self.submitted < self.submissions and len(batch) > 0)
        require(self.smallest_target <= len(target) <= self.largest_target)
        require(not any(self.is_queued(partition) for partition in Partition))
        self.submitted += 1
        for partition in batch:
            self.queue[partition] = target
            self.asked[partition] = target

    @rule
    def is_moved(self, partition: Partition) -> bool:
        """The pending entry is the queued one, which has yet to leave the queue."""
        entry = self.pending[partition]
        return entry is not None and self.queue[partition] == entry.target

    @rule
    def begins_anew(self, partition: Partition) -> bool:
        """Whether a new controller starts what is pending again: not if a queued entry has it cancelled."""
        return not self.is_queued(partition) or not self.may_cancel(partition)

    @action
    def controller_begins(self, partition: Partition) -> None:
        require(self.begins_anew(partition))
        super().controller_begins(partition)

    @action
    def controller_fails_over(self) -> None:
        """The queue is read together with what is pending."""
        super().controller_fails_over()
        for partition in Partition:
            if self.is_queued(partition) and not self.is_moved(partition):
                self.context[partition] = self.pending[partition]

    @action
    def queue_1_takes_back(self, partition: Partition) -> None:
        """A queued partition is pending with another target: cancels that, if it can be cancelled.

        KIP-236, "Planned Future Changes".
        """
        require(self.is_free() and self.goes_on() and self.is_queued(partition) and self.is_pending(partition))
        require(not self.is_moved(partition))
        self.context[partition] = self.pending[partition]
        require(self.may_cancel(partition))
        self.step[partition] = Step.CANCEL_IN_MEMORY

    @rule
    def may_move(self, partition: Partition) -> bool:
        """Only an entry whose partition is not pending moves, so that ZooKeeper has its original replicas."""
        return not self.is_pending(partition)

    def move(self, partition: Partition, target: Set[Broker]) -> None:
        if not self.is_pending(partition):
            self.before[partition] = self.assigned[partition]
        self.rolled_back.discard(partition)
        self.pending[partition] = Entry(target=target, original=self.recorded_original(partition))

    @action
    def queue_2_moves(self, partition: Partition) -> None:
        """KIP-236, "Planned Future Changes": a queued partition becomes pending."""
        require(self.is_free() and self.goes_on() and self.is_queued(partition) and self.may_move(partition))
        target = self.queue[partition]
        assert target is not None
        self.move(partition, target)

    @action
    def queue_3_removes(self, partition: Partition) -> None:
        """The znode is deleted with its last entry. KIP-236, "Planned Future Changes"."""
        require(self.is_free() and self.is_moved(partition))
        self.queue[partition] = None
