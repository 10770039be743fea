"""Designs that keep a promise which another design gives up."""

from __future__ import annotations

from floodmark import Set, action, reachable, require, rule, transition
from model.reassignment.kip236 import Entry, Reassignment, Step
from model.reassignment.queue import QueuedReassignment
from model.reassignment.replicas import Broker, Partition


class FreezesCluster(Reassignment):
    """The cancel znode of an earlier version of KIP-236, which stays until an operator removes it.

    The controller looks for it in ZooKeeper before it starts or completes anything, not only when its watch fires.
    """

    def goes_on(self) -> bool:
        return not self.cancel_requested

    @action
    def client_cancels(self) -> None:
        """Also with nothing pending, so that nothing can be started by accident."""
        require(not self.cancel_requested)
        self.cancel_requested = True

    def may_drop_cancel(self) -> bool:
        return False

    @action
    def client_removes_cancel(self) -> None:
        """``--remove-cancel``, once everything that can be cancelled is; earlier would be too early."""
        require(self.cancelling and self.is_free() and len(self.to_cancel) == 0)
        self.cancel_requested = False
        self.cancelling = False


class RedirectsPending(QueuedReassignment):
    """KIP-236's queue, with a way on for an entry whose conflict cannot be rolled back.

    The pending reassignment gets the queued target and keeps its original replicas, as in KIP-455. Whatever the first
    target has added stays until the second one is in sync, so nothing has to be elected, and nothing is lost.
    """

    @rule
    def leaving(self, partition: Partition) -> Set[Broker]:
        """All that was added since the original replicas, for whichever target."""
        return self.assigned[partition] - self.original_of(partition)

    @action
    def queue_1_redirects(self, partition: Partition) -> None:
        require(self.is_free() and self.goes_on() and self.is_queued(partition) and self.is_pending(partition))
        require(not self.is_moved(partition))
        entry = self.pending[partition]
        assert entry is not None
        self.context[partition] = entry
        require(entry.original is not None and self.is_undone(partition) and not self.may_cancel(partition))
        target = self.queue[partition]
        assert target is not None
        self.pending[partition] = Entry(target=target, original=entry.original)
        self.context[partition] = None
        self.step[partition] = Step.IDLE


@transition
def only_what_can_go_back_is_redirected(old: RedirectsPending, new: RedirectsPending) -> bool:
    """A pending reassignment gets another target only while its original replicas are assigned: they stay recorded as
    those to which it would go back.
    """
    return all(
        is_assigned(new, partition, old.pending[partition])
        for partition in Partition
        if is_redirected(old.pending[partition], new.pending[partition])
    )


def is_assigned(model: RedirectsPending, partition: Partition, entry: Entry | None) -> bool:
    """The original replicas of an entry that names them are assigned."""
    return entry is None or entry.original is None or entry.original <= model.assigned[partition]


def is_redirected(before: Entry | None, after: Entry | None) -> bool:
    """The same reassignment has another target."""
    return before is not None and after is not None and before.target != after.target


@transition
def controller_remembers_no_earlier_target(old: RedirectsPending, new: RedirectsPending) -> bool:
    """What the controller remembers of a reassignment that has another target now is gone: it begins anew with the
    entry in ZooKeeper, and cancels no other.
    """
    return all(
        new.context[partition] is None
        for partition in Partition
        if is_redirected(old.pending[partition], new.pending[partition])
    )


@reachable
def redirected_keeps_what_was_added(model: RedirectsPending) -> bool:
    """A broker that was added for the first target is assigned while the second one is pending."""
    return any(
        entry is not None
        and entry.original is not None
        and len(model.assigned[partition] - entry.original - entry.target) > 0
        for partition, entry in model.pending.items()
    )
