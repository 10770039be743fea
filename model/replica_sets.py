"""A partition's replicas while it is being reassigned: the one definition that the models share (KIP-455).

The controller keeps three things for each partition: ``replicas``, in order, the first being the preferred leader;
``adding``, those that the reassignment adds; ``removing``, those that it removes. The rest follows from these.
"""

from __future__ import annotations

from typing import TypeVar

from floodmark import Seq, Set

T = TypeVar("T")


def is_reassigning(adding: Set[T], removing: Set[T]) -> bool:
    """Whether a reassignment is in progress. One that only removes replicas counts too."""
    return len(adding) > 0 or len(removing) > 0


def origin(replicas: Set[T], adding: Set[T]) -> Set[T]:
    """The replicas before the reassignment, and again after a cancellation."""
    return replicas - adding


def target(replicas: Set[T], removing: Set[T]) -> Set[T]:
    """The replicas that the reassignment leads to."""
    return replicas - removing


def is_consistent(replicas: Set[T], adding: Set[T], removing: Set[T]) -> bool:
    """What the controller may store: no replica is both added and removed, and neither origin nor target is empty."""
    return (
        adding <= replicas
        and removing <= replicas
        and len(adding & removing) == 0
        and len(origin(replicas, adding)) > 0
        and len(target(replicas, removing)) > 0
    )


def members(replicas: Seq[T]) -> Set[T]:
    """Ordered replicas as a set."""
    return Set(replicas)


def without(replicas: Seq[T], left_out: Set[T]) -> Seq[T]:
    """``replicas`` in the same order, without those left out."""
    return Seq(replica for replica in replicas if replica not in left_out)


def followed_by(first: Seq[T], rest: Seq[T]) -> Seq[T]:
    """``first``, then the members of ``rest`` that it lacks: the replicas while both are wanted."""
    return first + without(rest, Set(first))
