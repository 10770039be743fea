"""What must hold of KIP-455's reassignment, in both of its forms (begin with kip236.py)."""

from __future__ import annotations

from floodmark import implies, invariant, reachable, transition
from invariants.reassignment.replicas import another_leads, lags
from model.reassignment.kip455 import (
    Kip455Reassignment,
    ReassignedPartitions,
    Step,
    is_under_way,
    origin_of,
    target_of,
)
from model.reassignment.replicas import Broker, Partition
from model.replica_sets import is_consistent, members


@invariant
def assignment_is_consistent(model: ReassignedPartitions) -> bool:
    """No replica is both added and removed, and neither origin nor target is empty (KIP-455)."""
    return all(
        is_consistent(
            members(model.assignment[partition].replicas),
            model.assignment[partition].adding,
            model.assignment[partition].removing,
        )
        for partition in Partition
    )


@invariant
def latest_request_wins(model: ReassignedPartitions) -> bool:
    """The target is what the latest request asked for, in its order, whatever crashes (KIP-455; KAFKA-9089)."""
    return all(
        target_of(model.assignment[partition]) == model.wanted[partition] for partition in Partition
    )


@transition
def origin_changes_only_by_completion(old: ReassignedPartitions, new: ReassignedPartitions) -> bool:
    """What a cancellation goes back to stays the same until the target is reached (KIP-455)."""
    return all(
        implies(
            members(origin_of(new.assignment[partition])) != members(origin_of(old.assignment[partition])),
            not is_under_way(new.assignment[partition])
            and members(new.assignment[partition].replicas) == members(new.wanted[partition]),
        )
        for partition in Partition
    )


@invariant
def isr_is_assigned(model: ReassignedPartitions) -> bool:
    """The ISR has replicas of the partition only (KIP-455; KAFKA-9672)."""
    return all(
        model.replication[partition].isr <= members(model.assignment[partition].replicas) for partition in Partition
    )


@transition
def enough_replicas_stay_in_sync(old: ReassignedPartitions, new: ReassignedPartitions) -> bool:
    """When a request or a completion shrinks the ISR, ``min.insync.replicas`` stay in it, if as many were."""
    return all(
        implies(
            new.replication[partition].isr < old.replication[partition].isr
            and (
                new.assignment[partition] != old.assignment[partition]
                or new.replication[partition].known != old.replication[partition].known
            ),
            len(new.replication[partition].isr)
            >= min(
                new.min_insync_replicas,
                len(old.replication[partition].isr),
                len(new.wanted[partition]),
            ),
        )
        for partition in Partition
    )


@transition
def deleted_replicas_are_not_counted(old: ReassignedPartitions, new: ReassignedPartitions) -> bool:
    """A replica is deleted only when the leader knows that it is no longer one; else it could rejoin the ISR empty."""
    return all(
        (old.replication[partition].on_disk - new.replication[partition].on_disk).isdisjoint(
            old.replication[partition].known
        )
        for partition in Partition
    )


@invariant
def memory_follows_zookeeper(model: Kip455Reassignment) -> bool:
    """Between two events the controller knows exactly what is persisted (KAFKA-9089)."""
    return implies(
        model.is_free(),
        all(model.memory[partition] == model.assignment[partition] for partition in Partition),
    )


@invariant
def brokers_know_replicas(model: Kip455Reassignment) -> bool:
    """Between two events the leader knows the persisted replicas, and each of those was started (A1, A2)."""
    return implies(model.is_free(), all(knows_replicas(model, partition) for partition in Partition))


def knows_replicas(model: ReassignedPartitions, partition: Partition) -> bool:
    replicas = members(model.assignment[partition].replicas)
    return (
        model.replication[partition].known == replicas
        and replicas <= model.replication[partition].on_disk - model.replication[partition].stops
    )


@transition
def controller_handles_one_event(old: Kip455Reassignment, new: Kip455Reassignment) -> bool:
    """The controller starts nothing unasked, and nothing in the middle of another event: it has one thread
    (KAFKA-5028).
    """
    return all(
        implies(
            new.step[partition] != old.step[partition]
            and (old.step[partition] == Step.IDLE or new.step[partition] == Step.REMEMBER),
            new.requests > 0 and is_idle(old),
        )
        for partition in Partition
    )


@transition
def old_clients_are_heard(old: Kip455Reassignment, new: Kip455Reassignment) -> bool:
    """What an old client wrote is removed between two events, or in B7 if it was reached; nobody overwrites it.

    KIP-455; KAFKA-9089 is about entries that stay there.
    """
    return all(
        implies(
            old.legacy[partition] is not None and new.legacy[partition] != old.legacy[partition],
            new.legacy[partition] is None and (is_idle(old) or old.step[partition] == Step.DROP_LEGACY),
        )
        and implies(
            old.legacy[partition] is not None and new.legacy[partition] is None
            and old.step[partition] == Step.DROP_LEGACY,
            old.legacy[partition] == old.assignment[partition].replicas,
        )
        for partition in Partition
    )


def is_idle(model: Kip455Reassignment) -> bool:
    return all(model.step[partition] == Step.IDLE for partition in Partition)


@transition
def old_clients_make_way(old: Kip455Reassignment, new: Kip455Reassignment) -> bool:
    """What an old client wrote is removed unfulfilled if it is not valid, or for a later request or cancellation
    (KIP-455).

    It is said three times, since each of these has to occur without the others.
    """
    return all(
        implies(
            goes_unfulfilled(old, new, partition) and old.requests == old.submissions
            and not is_under_way(old.assignment[partition]),
            adds_dead_broker(old, partition),
        )
        and implies(
            goes_unfulfilled(old, new, partition) and not adds_dead_broker(old, partition)
            and not is_under_way(old.assignment[partition]),
            old.requests < old.submissions,
        )
        and implies(
            goes_unfulfilled(old, new, partition) and not adds_dead_broker(old, partition)
            and old.requests == old.submissions,
            is_under_way(old.assignment[partition]),
        )
        for partition in Partition
    )


def goes_unfulfilled(old: Kip455Reassignment, new: Kip455Reassignment, partition: Partition) -> bool:
    return (
        old.legacy[partition] is not None
        and new.legacy[partition] is None
        and old.legacy[partition] != old.assignment[partition].replicas
    )


def adds_dead_broker(model: Kip455Reassignment, partition: Partition) -> bool:
    target = model.legacy[partition]
    return target is not None and not members(target) - members(model.assignment[partition].replicas) <= model.live


@invariant
def nothing_moves_unasked(model: ReassignedPartitions) -> bool:
    """Before the first request no reassignment is in progress, and there are as many replicas as at first."""
    return implies(
        model.requests == 0,
        all(
            not is_under_way(model.assignment[partition])
            and len(model.assignment[partition].replicas) == model.replication_factor
            for partition in Partition
        ),
    )


@transition
def only_live_brokers_are_added(old: Kip455Reassignment, new: Kip455Reassignment) -> bool:
    """A request for a broker that is down is refused, with INVALID_REPLICA_ASSIGNMENT (``KafkaController``; KRaft asks
    only whether it is registered).
    """
    return all(
        members(new.assignment[partition].replicas) - members(old.assignment[partition].replicas) <= old.live
        for partition in Partition
    )


@invariant
def no_replica_is_stray(model: Kip455Reassignment) -> bool:
    """Between two events only replicas are on disk, except where a StopReplica has yet to arrive (KAFKA-16120).

    Nobody is left that has yet to be sent one.
    """
    return implies(
        model.is_free(),
        all(
            len(model.unneeded[partition]) == 0
            and model.replication[partition].on_disk - model.replication[partition].stops
            <= members(model.assignment[partition].replicas)
            for partition in Partition
        ),
    )


@reachable
def replica_falls_behind(model: ReassignedPartitions) -> bool:
    """A replica can lag without a reassignment."""
    return model.requests == 0 and lags(model)


@reachable
def leader_is_replaced(model: ReassignedPartitions) -> bool:
    """And another one can lead."""
    return model.requests == 0 and another_leads(model)


@reachable
def reassignment_completes(model: ReassignedPartitions) -> bool:
    """Everything that moves can arrive, and nothing is left where it was."""
    return all(
        not is_under_way(model.assignment[partition])
        and model.replication[partition].on_disk == members(model.wanted[partition])
        and Broker(1) not in model.replication[partition].on_disk
        for partition in Partition
    )


@reachable
def reassignment_is_cancelled(model: ReassignedPartitions) -> bool:
    """After one request a partition can be back where it was, with the replicas that were added about to be deleted."""
    return model.requests == 1 and any(
        not is_under_way(model.assignment[partition])
        and not model.replication[partition].stops <= model.first_brokers(model.replication_factor)
        for partition in Partition
    )


@reachable
def cancellation_runs_phase_b(model: Kip455Reassignment) -> bool:
    """With no reassignment in progress any more, phase B can follow: a cancellation is complete by definition
    (KIP-455)."""
    return any(
        model.step[partition] == Step.LEAD_FROM_TARGET and not is_under_way(model.assignment[partition])
        for partition in Partition
    )


@reachable
def request_overrides(model: ReassignedPartitions) -> bool:
    """A replica that an earlier request was adding can still have its data while a later reassignment is in
    progress."""
    return any(
        is_under_way(model.assignment[partition])
        and not model.replication[partition].on_disk <= members(model.assignment[partition].replicas)
        for partition in Partition
    )


@reachable
def adding_replica_leads(model: ReassignedPartitions) -> bool:
    """A replica can lead before the reassignment that brings it is complete."""
    return any(model.replication[partition].leader in model.assignment[partition].adding for partition in Partition)
