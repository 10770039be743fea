"""What must hold of KIP-236's queue, beside what holds of the reassignments that come out of it."""

from __future__ import annotations

from model.language import implies, invariant, reachable
from model.reassignment_queue import QueuedReassignment
from model.reassignment_replicas import Partition


@invariant
def nothing_asked_is_lost(model: QueuedReassignment) -> bool:
    """What was asked for last is queued, pending, reached, or was cancelled: no crash loses it."""
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


@reachable
def conflict_is_resolved(model: QueuedReassignment) -> bool:
    """A pending reassignment can be taken back for a queued one, which is then reached."""
    return model.submitted > 1 and all(
        partition not in model.rolled_back and not model.is_pending(partition) and not model.is_queued(partition)
        for partition in Partition
    )


@reachable
def entry_is_in_both_places(model: QueuedReassignment) -> bool:
    """A crash can leave an entry in the queue that has been moved."""
    return any(model.is_moved(partition) for partition in Partition)
