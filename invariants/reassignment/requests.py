"""What must hold of the per-partition protocol, besides what holds of KIP-236's forward steps (kip236.py)."""

from __future__ import annotations

from floodmark import implies, invariant, reachable, transition
from model.reassignment.kip236 import Step
from model.reassignment.replicas import Partition
from model.reassignment.requests import Drop, Request, RequestedReassignment


@invariant
def latest_request_wins(model: RequestedReassignment) -> bool:
    """What is in flight, and what is reached, is what the latest request asked for; no crash changes that (KIP-236)."""
    return all(has_wanted(model, partition) for partition in Partition)


def has_wanted(model: RequestedReassignment, partition: Partition) -> bool:
    entry = model.pending[partition]
    if entry is None:
        return model.assigned[partition] == model.wanted[partition]
    return entry.target == model.wanted[partition]


@transition
def route_stays(old: RequestedReassignment, new: RequestedReassignment) -> bool:
    """Nobody changes by one route what was started by the other (KIP-236: a request of the other route is ignored)."""
    return all(
        implies(
            old.is_pending(partition) and new.is_pending(partition),
            (partition in old.routed_legacy) == (partition in new.routed_legacy),
        )
        for partition in Partition
    )


@transition
def requests_are_answered(old: RequestedReassignment, new: RequestedReassignment) -> bool:
    """Requests are removed in order, each when it was taken or had to be refused; what is in flight comes after them.

    KIP-236, "The new znode protocol" and "On controller failover".
    """
    return (
        len(new.requests) >= len(old.requests) or (new.requests == old.requests[1:] and is_answered(old))
    ) and all(
        implies(
            old.drop[partition] == Drop.REFUSED and new.drop[partition] == Drop.NOTHING
            and new.step[partition] == Step.WAITING,
            len(new.requests) < len(old.requests),
        )
        and implies(
            old.drop[partition] == Drop.NOTHING and new.drop[partition] == Drop.OFFLINE,
            not any(request.partition == partition for request in old.requests),
        )
        for partition in Partition
    )


def is_answered(model: RequestedReassignment) -> bool:
    """The first request is now the one in flight, or is refused because of the other route or too few replicas."""
    request = model.requests[0]
    if model.drop[request.partition] == Drop.REFUSED:
        few = len(model.assigned[request.partition]) < model.min_insync_replicas
        other_route = (request.partition in model.routed_legacy) != request.legacy
        return (few and not model.is_pending(request.partition)) or (
            other_route and model.is_pending(request.partition)
        )
    return model.wanted[request.partition] == request.target and (
        (request.partition in model.routed_legacy) == request.legacy
    )


@transition
def old_clients_are_heard(old: RequestedReassignment, new: RequestedReassignment) -> bool:
    """What an old client has written is removed only when it is reached or refused (KIP-236, "the legacy znode
    protocol").

    Nobody writes the znode while it exists.
    """
    return all(
        implies(
            new.legacy_znode[partition] != old.legacy_znode[partition],
            may_forget(old, new, partition)
            if new.legacy_znode[partition] is None
            else all(old.legacy_znode[other] is None for other in Partition),
        )
        for partition in Partition
    )


def may_forget(old: RequestedReassignment, new: RequestedReassignment, partition: Partition) -> bool:
    """The partition has what its old client wanted, or this client's request is the one that is refused."""
    if new.drop[partition] == Drop.REFUSED:
        return old.requests[0].legacy
    return new.assigned[partition] == old.legacy_znode[partition]


@transition
def old_clients_are_heard_once(old: RequestedReassignment, new: RequestedReassignment) -> bool:
    """What an old client has written becomes a request if there is none yet, and is removed before that is done or
    refused.

    After a crash nothing else would say that it was taken (KIP-236, "the legacy znode protocol").
    """
    return all(is_new(old, request) for request in new.requests[len(old.requests):]) and not any(
        request.legacy and old.drop[request.partition] == Drop.NOTHING and new.drop[request.partition] == Drop.REFUSED
        and new.legacy_znode[request.partition] is not None
        for request in old.requests[:1]
    ) and all(
        implies(
            new.step[partition] == Step.DROP_ENTRY and partition in old.routed_legacy,
            old.step[partition] == Step.DROP_ENTRY
            or (old.step[partition] == Step.DROP_LEGACY and new.legacy_znode[partition] != new.assigned[partition]),
        )
        for partition in Partition
    )


def is_new(model: RequestedReassignment, request: Request) -> bool:
    return not request.legacy or (
        model.is_free()
        and request.target == model.legacy_znode[request.partition]
        and request.partition not in model.routed_legacy
        and not any(other.legacy and other.partition == request.partition for other in model.requests)
    )


@transition
def top_is_of_the_beginning(old: RequestedReassignment, new: RequestedReassignment) -> bool:
    """The number of replicas to keep is set when a reassignment is created, stays while it changes, and is removed with
    it.

    KIP-236: "At the point a new reassignment is created", and stored with it; so is its route.
    """
    return all(
        new.before[partition]
        == new.top[partition]
        == (old.top[partition] if old.is_pending(partition) else old.assigned[partition])
        if new.is_pending(partition)
        else len(new.top[partition]) == 0 and partition not in new.routed_legacy
        for partition in Partition
    )


@transition
def dropped_replicas_are_gone(old: RequestedReassignment, new: RequestedReassignment) -> bool:
    """The forward steps begin without the dropped replicas, in ZooKeeper and in memory (KIP-236, after the drop
    set).
    """
    return all(
        implies(
            old.drop[partition] == Drop.PERSIST and new.step[partition] == Step.PERSIST_BOTH,
            new.assigned[partition] == old.assigned[partition] - old.dropped[partition]
            and new.memory[partition] == new.assigned[partition],
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
        len(model.dropped[partition] - model.before[partition]) > 0
        and len(model.before[partition]) >= min(2, model.replication_factor)
        for partition in Partition
    )


@reachable
def old_client_is_served(model: RequestedReassignment) -> bool:
    """What the first client asked for by the old route can be fulfilled."""
    return not model.old_clients or (
        model.submitted == 1
        and any(
            model.step[partition] == Step.DROP_ENTRY and partition in model.routed_legacy for partition in Partition
        )
    )


@reachable
def request_is_taken_twice(model: RequestedReassignment) -> bool:
    """A crash can leave a request that has been taken, and is taken again, even after it was fulfilled."""
    return any(
        model.drop[request.partition] == Drop.NOTHING and model.pending[request.partition] is not None
        and request.target == model.wanted[request.partition]
        for request in model.requests
    )
