"""What a cancellation does not restore: the order of the replicas, and with it the preferred leader."""

from __future__ import annotations

from model.language import Seq, implies, invariant
from model.reassignment_kip455 import ReassignedPartitions, is_under_way
from model.reassignment_replicas import Broker, Partition
from model.replica_sets import members


@invariant
def cancellation_restores_order(model: ReassignedPartitions) -> bool:
    """Whoever has the original replicas again has them in their original order (not so; KIP-455, "Cancellation").

    With one request there is no other way back than a cancellation.
    """
    original = Seq([Broker(1), Broker(2)])
    return all(
        implies(
            not is_under_way(model.assignment[partition])
            and model.wanted[partition] != Seq([Broker(2), Broker(1)])
            and members(model.assignment[partition].replicas) == members(original),
            model.assignment[partition].replicas == original,
        )
        for partition in Partition
    )
