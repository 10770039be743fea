"""What must hold of the per-partition protocol, beside what holds of KIP-236's forward steps."""

from __future__ import annotations

from model.language import implies, invariant, reachable, transition
from model.reassignment_replicas import Partition
from model.reassignment_requests import Drop, RequestedReassignment


@invariant
def latest_request_wins(model: RequestedReassignment) -> bool:
    """What is in flight is what the latest request asked for, and what is reached; no crash changes that (KIP-236)."""
    return all(has_wanted(model, partition) for partition in Partition)


def has_wanted(model: RequestedReassignment, partition: Partition) -> bool:
    entry = model.pending[partition]
    if entry is None:
        return model.assigned[partition] == model.wanted[partition]
    return entry.target == model.wanted[partition]


@transition
def route_stays(old: RequestedReassignment, new: RequestedReassignment) -> bool:
    """Nobody changes by one route what was begun by the other (KIP-236: a request of the other route is ignored)."""
    return all(
        implies(
            old.is_pending(partition) and new.is_pending(partition),
            (partition in old.routed_legacy) == (partition in new.routed_legacy),
        )
        for partition in Partition
    )


@transition
def old_clients_are_heard(old: RequestedReassignment, new: RequestedReassignment) -> bool:
    """What an old client has written goes only when it is reached or refused (KIP-236, "the legacy znode protocol")."""
    return all(
        implies(
            old.legacy_znode[partition] is not None and new.legacy_znode[partition] is None,
            new.assigned[partition] == old.legacy_znode[partition] or new.drop[partition] == Drop.REFUSED,
        )
        for partition in Partition
    )


@transition
def dropping_keeps_enough_in_sync(old: RequestedReassignment, new: RequestedReassignment) -> bool:
    """Dropping replicas leaves ``min.insync.replicas`` in sync, if as many were (KIP-236, notes on the drop set)."""
    return all(
        implies(
            old.drop[partition] == Drop.OFFLINE and new.drop[partition] == Drop.DELETE,
            len(new.replication[partition].isr)
            >= min(new.min_insync_replicas, len(old.replication[partition].isr)),
        )
        for partition in Partition
    )


@transition
def dropping_keeps_leader(old: RequestedReassignment, new: RequestedReassignment) -> bool:
    """No election is needed because of a drop (KIP-236: "it is impossible to drop the leader"), nor made impossible."""
    return all(
        implies(
            old.drop[partition] == Drop.OFFLINE and new.drop[partition] == Drop.DELETE,
            new.replication[partition].leader == old.replication[partition].leader
            and implies(
                len(old.replication[partition].isr & old.live) > 0,
                len(new.replication[partition].isr & new.live) > 0,
            ),
        )
        for partition in Partition
    )


@invariant
def target_is_not_dropped(model: RequestedReassignment) -> bool:
    """What the new target wants is not deleted only to be copied again (KIP-236, "intermediate replicas")."""
    return all(drops_none_of_target(model, partition) for partition in Partition)


def drops_none_of_target(model: RequestedReassignment, partition: Partition) -> bool:
    entry = model.pending[partition]
    return entry is None or model.dropped[partition].isdisjoint(entry.target)


@reachable
def intermediate_replica_is_dropped(model: RequestedReassignment) -> bool:
    """A change of the target can drop a replica that only the earlier request wanted: [1,2] to [2,3], then to [2,4]."""
    return any(
        len(model.dropped[partition] - model.before[partition]) > 0 and len(model.before[partition]) > 1
        for partition in Partition
    )


@reachable
def request_is_taken_twice(model: RequestedReassignment) -> bool:
    """A crash can leave a request that has been taken, and is taken again, after it may even have been fulfilled."""
    return any(
        model.drop[request.partition] == Drop.NOTHING and model.pending[request.partition] is not None
        and request.target == model.wanted[request.partition]
        for request in model.requests
    )
