"""What must hold of KIP-455's reassignment with a KRaft controller, besides what holds of both forms (kip455.py; begin
with kip236.py).
"""

from __future__ import annotations

from floodmark import implies, invariant, transition
from invariants.reassignment.kip455 import knows_replicas
from model.reassignment.kraft import KraftReassignment
from model.reassignment.replicas import Partition
from model.replica_sets import members


@invariant
def no_broker_keeps_a_stray(model: KraftReassignment) -> bool:
    """Only replicas are on disk, except where a broker has yet to read that it no longer has one (KAFKA-16120)."""
    return all(
        model.replication[partition].on_disk - model.replication[partition].stops
        <= members(model.assignment[partition].replicas)
        for partition in Partition
    )


@invariant
def brokers_know_replicas(model: KraftReassignment) -> bool:
    """The leader knows the replicas that the record names, and each of those was started."""
    return all(knows_replicas(model, partition) for partition in Partition)


@transition
def every_record_completes(old: KraftReassignment, new: KraftReassignment) -> bool:
    """Whatever changes a partition also completes its reassignment, if the target is in sync (KIP-455)."""
    return all(
        implies(
            new.assignment[partition] != old.assignment[partition]
            or new.replication[partition].isr != old.replication[partition].isr
            or new.replication[partition].leader != old.replication[partition].leader,
            not could_complete(new, partition),
        )
        for partition in Partition
    )


def could_complete(model: KraftReassignment, partition: Partition) -> bool:
    """According to KIP-455's own words, not to what the model makes of them."""
    assignment = model.assignment[partition]
    wanted = members(assignment.replicas) - assignment.removing
    return (
        len(assignment.adding | assignment.removing) > 0
        and wanted <= model.replication[partition].isr
        and len(wanted & model.live) > 0
    )
