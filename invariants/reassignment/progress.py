"""The liveness that KIP-236 and KIP-455 promise, once failures have stopped. Begin with kip236.py."""

from __future__ import annotations

from floodmark import leads_to
from model.reassignment.kip455 import is_under_way
from model.reassignment.progress import CalmControllers, CalmKip455, CalmKraft, CalmReassignment
from model.reassignment.replicas import Partition


@leads_to
def cancellation_ends(model: CalmControllers) -> tuple[bool, bool]:
    """The cancel znode goes (KIP-236, "Reassignment Cancellation")."""
    return model.calm and model.cancel_requested, not model.cancel_requested


@leads_to
def entry_is_rolled_back_or_skipped(model: CalmControllers, partition: Partition) -> tuple[bool, bool]:
    """Each reassignment that is to be cancelled is taken back or left alone, and no step of either is left undone."""
    waits = model.cancelling and partition in model.to_cancel
    return model.calm and waits, not waits


@leads_to
def reassignment_ends(model: CalmReassignment, partition: Partition) -> tuple[bool, bool]:
    """Once the brokers of the target are alive and fetch, the reassignment is completed, or it is cancelled."""
    return model.calm and model.is_pending(partition), not model.is_pending(partition)


@leads_to
def throttle_goes(model: CalmReassignment, partition: Partition) -> tuple[bool, bool]:
    """A throttle goes with the reassignment that it was set for, by its cancellation or by ``--verify``."""
    return model.calm and partition in model.throttled, partition not in model.throttled


@leads_to
def zookeeper_reassignment_ends(model: CalmKip455, partition: Partition) -> tuple[bool, bool]:
    """The same with KIP-455, whatever overrides and cancellations came before."""
    moves = is_under_way(model.assignment[partition])
    return model.calm and moves, not moves


@leads_to
def kraft_reassignment_ends(model: CalmKraft, partition: Partition) -> tuple[bool, bool]:
    """The same with KRaft."""
    moves = is_under_way(model.assignment[partition])
    return model.calm and moves, not moves


@leads_to
def old_znode_is_emptied(model: CalmKip455, partition: Partition) -> tuple[bool, bool]:
    """What an old client asked for is taken up and done with, so that the next one may ask (KAFKA-9089)."""
    return model.calm and model.legacy[partition] is not None, model.legacy[partition] is None
