"""What must hold of throttles as Kafka keeps them (begin with kip236.py)."""

from __future__ import annotations

from floodmark import Set, implies, invariant, reachable, recoverable
from invariants.reassignment.kip236 import is_at_rest
from model.reassignment.replicas import Partition
from model.reassignment.throttle import ThrottledReassignment


@invariant
def pending_moves_are_throttled(model: ThrottledReassignment) -> bool:
    """While a partition is moved its brokers are in the lists, with a rate: else the move takes all that the network
    has.
    """
    return all(
        implies(
            model.is_pending(partition) and not model.was_taken_back(partition),
            model.before[partition] <= model.leaders[partition]
            and model.assigned[partition] <= model.leaders[partition] | model.followers[partition] <= model.rates,
        )
        for partition in Partition
    )


@invariant
def only_moves_are_throttled(model: ThrottledReassignment) -> bool:
    """No replica from before is slowed down as a follower: it may have to catch up, and is not being moved (KIP-73)."""
    return all(model.followers[partition].isdisjoint(model.before[partition]) for partition in Partition)


@invariant
def cancelled_batch_leaves_no_throttle(model: ThrottledReassignment) -> bool:
    """Once all of a batch is cancelled, no list and no rate is left, and nobody has to run ``--verify`` (KIP-236)."""
    return implies(
        len(model.batch) > 0
        and all(is_at_rest(model, partition) and partition in model.rolled_back for partition in model.batch),
        model.rates == Set() and model.listed() == Set(),
    )


@invariant
def what_is_left_is_remembered(model: ThrottledReassignment) -> bool:
    """A partition in a list, or a rate, is there for a partition whose throttle is still to be removed."""
    return all(
        implies(model.is_listed(partition), partition in model.throttled) for partition in Partition
    ) and implies(len(model.throttled) == 0, len(model.rates) == 0)


@recoverable
def throttles_can_be_removed(model: ThrottledReassignment) -> bool:
    """No reassignment is pending, and nothing is throttled any more: this can always be reached."""
    return (
        not any(model.is_pending(partition) for partition in Partition)
        and model.rates == Set()
        and model.listed() == Set()
    )


@reachable
def one_is_cancelled_and_one_goes_on(model: ThrottledReassignment) -> bool:
    """Of two partitions, one can be cancelled and keep nothing while the other one is skipped and stays throttled."""
    return any(
        is_at_rest(model, cancelled)
        and cancelled in model.rolled_back
        and model.is_pending(other)
        and model.is_free()
        and not model.cancelling
        for cancelled in Partition
        for other in Partition
        if other != cancelled
    )


@reachable
def completed_is_verified(model: ThrottledReassignment) -> bool:
    """Of two partitions, one can be cancelled and the other complete and be verified."""
    return any(
        is_at_rest(model, cancelled)
        and cancelled in model.rolled_back
        and is_at_rest(model, other)
        and other in model.batch - model.rolled_back
        and model.rates == Set()
        for cancelled in Partition
        for other in Partition
    )
