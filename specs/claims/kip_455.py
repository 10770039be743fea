"""KIP-455: reassignments that change while they are in progress, with ZooKeeper and with KRaft."""

from __future__ import annotations

from floodmark import Identifier, Set, require
from floodmark.claims import fails, holds
from model.replica_sets import is_consistent, origin, target


class Broker(Identifier, count=8, prefix=""):
    """One of up to eight brokers."""


@holds("KIP-455: replicas, adding and removing of a reassignment")
def reassignment_is_what_was_asked_for(replicas: Set[Broker], wanted: Set[Broker]) -> bool:
    """Origin and target follow from what is stored, and no replica is both added and removed."""
    require(len(replicas) > 0 and len(wanted) > 0)
    both = wanted | replicas
    adding = wanted - replicas
    removing = replicas - wanted
    return (
        is_consistent(both, adding, removing) and origin(both, adding) == replicas and target(both, removing) == wanted
    )


@holds("KIP-455: a second reassignment starts from the origin of the first")
def origin_survives_an_override(replicas: Set[Broker], first: Set[Broker], second: Set[Broker]) -> bool:
    require(len(replicas) > 0 and len(first) > 0 and len(second) > 0)
    start = origin(first | replicas, first - replicas)
    return origin(second | start, second - start) == replicas


@fails("KRaft: a second reassignment starts from all replicas, those that are being added included")
def origin_survives_an_override_in_kraft(replicas: Set[Broker], first: Set[Broker], second: Set[Broker]) -> bool:
    require(len(replicas) > 0 and len(first) > 0 and len(second) > 0)
    start = first | replicas
    return origin(second | start, second - start) == replicas


@fails("KRaft before KAFKA-15665: only the added replicas had to be in sync")
def reassignment_completes_in_sync(
    replicas: Set[Broker], first: Set[Broker], second: Set[Broker], isr: Set[Broker]
) -> bool:
    """When the replicas that the second reassignment adds are in sync, so are all that it wants."""
    require(len(replicas) > 0 and len(first) > 0 and len(second) > 0)
    start = first | replicas
    require(len(isr) > 0 and isr <= start | second and second - start <= isr)
    return second <= isr


@holds("KRaft: a reassignment completes when the new replicas are in the new ISR")
def completed_partition_is_in_sync(replicas: Set[Broker], removing: Set[Broker], isr: Set[Broker]) -> bool:
    """The ISR is then exactly the replicas."""
    require(isr <= replicas and removing <= replicas)
    new_isr = isr - removing
    new_replicas = replicas - removing
    require(new_replicas <= new_isr)
    return new_isr == new_replicas


@fails("KIP-455: a cancelled reassignment is complete at once")
def cancelling_keeps_a_replica_in_sync(replicas: Set[Broker], wanted: Set[Broker], isr: Set[Broker]) -> bool:
    """A cancellation that deletes the added replicas leaves a member of the ISR."""
    require(len(replicas) > 0 and len(wanted) > 0 and len(isr) > 0 and isr <= replicas | wanted)
    return len(isr - (wanted - replicas)) > 0
