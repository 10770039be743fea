"""What must hold of KIP-236 when the order of replicas counts (begin with kip236.py)."""

from __future__ import annotations

from floodmark import implies, invariant, reachable, transition
from invariants.reassignment.kip236 import is_at_rest
from model.reassignment.order import OrderedReassignment
from model.reassignment.replicas import Broker, Partition
from model.replica_sets import members


@invariant
def lists_name_each_replica_once(model: OrderedReassignment) -> bool:
    """The lists have the members of the sets, each once, and no list outlives its entry."""
    return all(
        members(model.order[partition]) == model.assigned[partition]
        and len(model.order[partition]) == len(model.assigned[partition])
        and len(model.wanted[partition]) == len(members(model.wanted[partition]))
        and model.is_pending(partition) == (len(model.wanted[partition]) > 0)
        and model.is_pending(partition) == (len(model.recorded[partition]) > 0)
        for partition in Partition
    )


@transition
def reassignment_ends_in_order(old: OrderedReassignment, new: OrderedReassignment) -> bool:
    """A reassignment ends with the list that was asked for, or with the one from before (KIP-236, "Motivation":
    "reverted back to original replicas [1,2,3]").
    """
    return all(
        implies(
            old.is_pending(partition) and not new.is_pending(partition),
            new.order[partition]
            == (new.former[partition] if new.was_taken_back(partition) else old.wanted[partition]),
        )
        for partition in Partition
    )


@transition
def order_rests_unasked(old: OrderedReassignment, new: OrderedReassignment) -> bool:
    """Without a pending reassignment the order does not change; nor does the list from before, while one is pending."""
    return all(
        implies(
            not old.is_pending(partition) and not new.is_pending(partition),
            new.order[partition] == old.order[partition],
        )
        and implies(
            old.is_pending(partition) and new.is_pending(partition),
            new.former[partition] == old.former[partition],
        )
        and implies(
            not old.is_pending(partition) and new.is_pending(partition),
            new.former[partition] == old.order[partition],
        )
        for partition in Partition
    )


@transition
def preferred_leader_was_asked_for(old: OrderedReassignment, new: OrderedReassignment) -> bool:
    """A leader that could keep leading is replaced only by the first replica of a list that an operator has asked for,
    once that list is reached (KIP-236, "Public Interfaces": "the preferred leadership is changed").

    Until then, and after a rollback, that is the list from before.
    """
    return all(
        implies(
            replaces_a_leader(old, new, partition),
            new.replication[partition].leader == asked_to_lead(old, partition),
        )
        for partition in Partition
    )


def replaces_a_leader(old: OrderedReassignment, new: OrderedReassignment, partition: Partition) -> bool:
    """Another replica leads, although the leader is alive, in sync and still a replica."""
    leader = old.replication[partition].leader
    return (
        leader is not None
        and leader in new.replication[partition].isr & new.replication[partition].known & new.live
        and new.replication[partition].leader != leader
    )


def asked_to_lead(model: OrderedReassignment, partition: Partition) -> Broker:
    """The first of the present list, or of the one before that if the present one was not asked for as such."""
    on_the_way = model.is_pending(partition) and model.order[partition] != model.wanted[partition]
    return model.former[partition][0] if on_the_way or model.was_taken_back(partition) else model.order[partition][0]


@reachable
def order_alone_is_reassigned(model: OrderedReassignment) -> bool:
    """(1,2) => (2,1) can complete."""
    return any(
        is_at_rest(model, partition)
        and not model.was_taken_back(partition)
        and members(model.former[partition]) == model.assigned[partition]
        and model.former[partition] != model.order[partition]
        for partition in Partition
    )


@reachable
def order_alone_is_rolled_back(model: OrderedReassignment) -> bool:
    """It can also be pending, with a replica out of sync, and be cancelled: not all of these "complete almost
    instantly".
    """
    return any(
        model.was_taken_back(partition)
        and model.is_pending(partition)
        and members(model.wanted[partition]) == members(model.recorded[partition])
        and model.wanted[partition] != model.recorded[partition]
        for partition in Partition
    )


@reachable
def preferred_leader_leads_again(model: OrderedReassignment) -> bool:
    """After a rollback the former preferred leader can lead, whoever led when the reassignment was cancelled."""
    return any(
        is_at_rest(model, partition)
        and model.was_taken_back(partition)
        and model.replication[partition].leader == model.former[partition][0]
        for partition in Partition
    )
