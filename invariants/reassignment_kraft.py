"""What must hold of KIP-455's reassignment with a KRaft controller, beside what holds of both forms."""

from __future__ import annotations

from model.language import invariant
from model.reassignment_kraft import KraftReassignment
from model.reassignment_replicas import Partition
from model.replica_sets import members


@invariant
def no_broker_keeps_a_stray(model: KraftReassignment) -> bool:
    """Only replicas are on disk, save where a broker has still to read that it has none any more (KAFKA-16120)."""
    return all(
        model.replication[partition].on_disk - model.replication[partition].stops
        <= members(model.assignment[partition].replicas)
        for partition in Partition
    )
