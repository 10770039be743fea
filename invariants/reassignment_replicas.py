"""What must hold of every design of a reassignment, whoever its controller is."""

from __future__ import annotations

from model.language import implies, invariant, reachable, transition
from model.reassignment_replicas import Partition, ReassignedReplicas


@invariant
def isr_holds_committed(model: ReassignedReplicas) -> bool:
    """Whoever is in the ISR, and may be elected, has everything that is committed (KIP-497, "Motivation")."""
    return all(
        model.replication[partition].isr <= model.replication[partition].complete for partition in Partition
    )


@invariant
def isr_is_never_empty(model: ReassignedReplicas) -> bool:
    """The ISR keeps its last member: it is the only one that is sure to have what is committed."""
    return all(len(model.replication[partition].isr) > 0 for partition in Partition)


@invariant
def leader_is_in_isr(model: ReassignedReplicas) -> bool:
    """A leader is a member of the ISR, and of the replicas that it was told of."""
    return all(
        implies(
            model.replication[partition].leader is not None,
            model.replication[partition].leader in model.replication[partition].isr,
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
    """Into the ISR come only followers that a live leader knows and that have caught up; no reassignment puts one in.

    Jack Vanlightly's specification of Kafka 3.5's replication, section 6.7.
    """
    return all(
        implies(
            not new.replication[partition].isr <= old.replication[partition].isr,
            old.is_online(partition)
            and new.replication[partition].isr - old.replication[partition].isr
            <= old.replication[partition].complete & old.replication[partition].known,
        )
        for partition in Partition
    )


@reachable
def replica_misses_committed(model: ReassignedReplicas) -> bool:
    """A replica outside of the ISR can lack what is committed."""
    return any(
        not model.replication[partition].on_disk <= model.replication[partition].complete for partition in Partition
    )
