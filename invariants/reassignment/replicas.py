"""What must hold of every design of a reassignment, whichever its controller is (begin with kip236.py)."""

from __future__ import annotations

from floodmark import Set, implies, invariant, reachable, transition
from model.reassignment.replicas import Broker, Partition, ReassignedReplicas


def lags(model: ReassignedReplicas) -> bool:
    """A replica outside the ISR lacks committed records, or none can because every replica has to be in sync."""
    return model.min_insync_replicas >= model.replication_factor or any(
        not model.replication[partition].on_disk <= model.replication[partition].complete for partition in Partition
    )


def another_leads(model: ReassignedReplicas) -> bool:
    """After a crash another replica leads, with all of them up again; or none can, because there is no other or nobody
    crashes.
    """
    return (
        (model.live == Set(Broker) and any(model.replication[each].leader != Broker(1) for each in Partition))
        or model.replication_factor == 1
        or model.brokers_down == 0
    )


@invariant
def isr_holds_committed(model: ReassignedReplicas) -> bool:
    """Every member of the ISR, which may be elected, has everything committed (KIP-497, "Motivation")."""
    return all(
        model.replication[partition].isr <= model.replication[partition].complete for partition in Partition
    )


@invariant
def isr_is_never_empty(model: ReassignedReplicas) -> bool:
    """The ISR keeps its last member: only it is certain to have everything committed."""
    return all(len(model.replication[partition].isr) > 0 for partition in Partition)


@invariant
def leader_is_in_isr(model: ReassignedReplicas) -> bool:
    """A leader is a member of the ISR, and of the replicas that it was told of."""
    return all(
        implies(
            model.replication[partition].leader is not None,
            model.replication[partition].leader
            in model.replication[partition].isr & model.replication[partition].known,
        )
        for partition in Partition
    )


@transition
def only_crashes_take_partitions_offline(old: ReassignedReplicas, new: ReassignedReplicas) -> bool:
    """A partition with a live leader keeps one as long as nobody crashes (KIP-236: else "it will become offline")."""
    return implies(
        old.live <= new.live,
        all(implies(old.is_online(partition), new.is_online(partition)) for partition in Partition),
    )


@transition
def replicas_join_isr_only_by_catching_up(old: ReassignedReplicas, new: ReassignedReplicas) -> bool:
    """Only live followers that a live leader knows and that have caught up enter the ISR, not by a reassignment.

    Jack Vanlightly's specification of Kafka 3.5's replication, section 6.7.
    """
    return all(
        implies(
            not new.replication[partition].isr <= old.replication[partition].isr,
            old.is_online(partition)
            and new.replication[partition].isr - old.replication[partition].isr
            <= old.replication[partition].complete & old.replication[partition].known & old.live,
        )
        for partition in Partition
    )


@transition
def records_are_committed_by_all_in_sync(old: ReassignedReplicas, new: ReassignedReplicas) -> bool:
    """A live leader commits a record when the whole ISR is alive to store it, and has at least ``min.insync.replicas``.

    A replica that has a log and is no longer complete lacks such a record.
    """
    return all(
        implies(
            len((old.replication[partition].complete - new.replication[partition].complete)
                & new.replication[partition].on_disk) > 0,
            old.is_online(partition)
            and old.replication[partition].isr <= old.live
            and len(old.replication[partition].isr) >= old.min_insync_replicas,
        )
        for partition in Partition
    )


@transition
def followers_catch_up_with_a_live_leader(old: ReassignedReplicas, new: ReassignedReplicas) -> bool:
    """A replica that is alive, with a log to write to, fetches what it lacks from a live leader that knows it."""
    return all(
        implies(
            not new.replication[partition].complete <= old.replication[partition].complete,
            old.is_online(partition)
            and new.replication[partition].complete - old.replication[partition].complete
            <= old.replication[partition].known & old.replication[partition].on_disk & old.live,
        )
        for partition in Partition
    )


@transition
def offline_partition_keeps_isr(old: ReassignedReplicas, new: ReassignedReplicas) -> bool:
    """Without a live leader the ISR shrinks only by a controller that removes replicas (KIP-497, "Motivation")."""
    return all(
        implies(
            not old.replication[partition].isr <= new.replication[partition].isr,
            old.is_online(partition) or new.replication[partition].known != old.replication[partition].known,
        )
        for partition in Partition
    )


@transition
def leader_stays_while_wanted(old: ReassignedReplicas, new: ReassignedReplicas) -> bool:
    """A leader that is alive, in sync and still a replica keeps leading: elections are for the other cases
    (KIP-455).
    """
    return all(
        implies(
            old.replication[partition].leader is not None
            and old.replication[partition].leader
            in new.replication[partition].isr & new.replication[partition].known & new.live,
            new.replication[partition].leader == old.replication[partition].leader,
        )
        for partition in Partition
    )


@transition
def stops_are_carried_out_or_overtaken(old: ReassignedReplicas, new: ReassignedReplicas) -> bool:
    """A StopReplica makes a live broker delete its replica, unless the broker was given the replica again: then it is
    late.

    KIP-570 has it dropped then (KAFKA-9539).
    """
    return all(
        deleted(old, new, partition) <= (old.replication[partition].stops - new.replication[partition].stops) & old.live
        and old.replication[partition].stops - new.replication[partition].stops
        <= deleted(old, new, partition) | new.replication[partition].late_stops
        and new.replication[partition].late_stops - old.replication[partition].late_stops
        <= old.replication[partition].stops
        and old.replication[partition].late_stops - new.replication[partition].late_stops <= old.live
        for partition in Partition
    )


def deleted(old: ReassignedReplicas, new: ReassignedReplicas, partition: Partition) -> Set[Broker]:
    return old.replication[partition].on_disk - new.replication[partition].on_disk


@invariant
def complete_replicas_are_on_disk(model: ReassignedReplicas) -> bool:
    """A replica that is complete, or that is to be deleted, is on disk."""
    return all(
        model.replication[partition].complete | model.replication[partition].stops
        <= model.replication[partition].on_disk
        for partition in Partition
    )


@invariant
def no_more_are_down_than_assumed(model: ReassignedReplicas) -> bool:
    """What holds is shown for as many brokers down at once as a spec says, and for no more."""
    return len(Set(Broker) - model.live) <= model.brokers_down


@reachable
def replica_misses_committed(model: ReassignedReplicas) -> bool:
    """A replica outside the ISR can lack committed records."""
    return any(
        not model.replication[partition].on_disk <= model.replication[partition].complete for partition in Partition
    )
