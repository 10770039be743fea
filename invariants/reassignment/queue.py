"""What must hold of KIP-236's queue, besides what holds of the reassignments that come out of it (kip236.py)."""

from __future__ import annotations

from floodmark import implies, invariant, reachable, transition
from model.reassignment.kip236 import Step
from model.reassignment.queue import QueuedReassignment
from model.reassignment.replicas import Partition


@invariant
def nothing_asked_is_lost(model: QueuedReassignment) -> bool:
    """The last thing asked for is queued, pending, reached, or was cancelled: no crash loses it."""
    return all(
        implies(
            not model.is_queued(partition) and not model.is_pending(partition) and not model.was_taken_back(partition),
            model.assigned[partition] == model.asked[partition],
        )
        for partition in Partition
    )


@invariant
def latest_request_wins(model: QueuedReassignment) -> bool:
    """What is pending while nothing is queued is what was asked for last."""
    return all(implies(not model.is_queued(partition), pends_asked(model, partition)) for partition in Partition)


def pends_asked(model: QueuedReassignment, partition: Partition) -> bool:
    entry = model.pending[partition]
    return entry is None or entry.target == model.asked[partition]


@transition
def queue_takes_one_batch(old: QueuedReassignment, new: QueuedReassignment) -> bool:
    """While the queue exists nobody writes to it: its entries only leave (KIP-236, "Planned Future Changes")."""
    return all(
        implies(
            new.queue[partition] != old.queue[partition] and new.queue[partition] is not None,
            not any(old.is_queued(other) for other in Partition),
        )
        for partition in Partition
    )


@transition
def queue_moves_between_events(old: QueuedReassignment, new: QueuedReassignment) -> bool:
    """While the controller is doing or cancelling something, nothing queued becomes pending."""
    return implies(
        new.submitted == old.submitted and (old.cancelling or not old.is_free()),
        all(old.is_pending(partition) or not new.is_pending(partition) for partition in Partition),
    )


@reachable
def conflict_is_taken_back(model: QueuedReassignment) -> bool:
    """Without a cancel znode, a pending reassignment can be cancelled for a queued one."""
    return not model.cancel_requested and any(
        model.is_queued(partition) and model.step[partition] == Step.CANCEL_IN_MEMORY for partition in Partition
    )


@reachable
def conflict_is_resolved(model: QueuedReassignment) -> bool:
    """A pending reassignment can be cancelled for a queued one, which is then reached."""
    return model.submitted > 1 and all(
        partition not in model.rolled_back and not model.is_pending(partition) and not model.is_queued(partition)
        for partition in Partition
    )


@reachable
def entry_is_in_both_places(model: QueuedReassignment) -> bool:
    """A crash can leave an entry in the queue that has been moved, here the only one that there ever was."""
    return model.submitted == 1 and any(model.is_moved(partition) for partition in Partition)
