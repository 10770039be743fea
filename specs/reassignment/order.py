"""What a cancellation does not restore: the order of the replicas, and with it the preferred leader."""

from __future__ import annotations

from floodmark import Seq, implies, invariant
from model.reassignment.kip455 import ReassignedPartitions, is_under_way, origin_of
from model.reassignment.replicas import Broker, Partition


@invariant
def cancellation_restores_order(model: ReassignedPartitions) -> bool:
    """While a first reassignment is in progress, a cancellation would restore the replicas in their former order.

    It would not: the target comes first, and the origin is the rest of that list (KIP-455).
    """
    return all(
        implies(
            is_under_way(model.assignment[partition]),
            origin_of(model.assignment[partition]) == Seq([Broker(1), Broker(2)]),
        )
        for partition in Partition
    )
