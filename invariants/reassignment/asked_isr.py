"""What must hold of KIP-236 with KIP-497, besides what holds of the reassignments (begin with kip236.py)."""

from __future__ import annotations

from floodmark import implies, invariant, reachable, transition
from model.reassignment.asked_isr import AskedIsr
from model.reassignment.kip236 import Step
from model.reassignment.replicas import Partition


@invariant
def leader_assumes_superset(model: AskedIsr) -> bool:
    """The leader counts every member of the controller's ISR (KIP-497, "Proposed Changes"), in the midst of a rollback,
    too.
    """
    return all(model.replication[partition].isr <= model.assumed(partition) for partition in Partition)


@transition
def isr_changes_as_its_leader_asks(old: AskedIsr, new: AskedIsr) -> bool:
    """The ISR grows only to what the present leader has asked for and does not know to be written (KIP-497)."""
    return all(
        new.replication[partition].isr <= old.replication[partition].isr
        or new.replication[partition].isr == old.asked[partition]
        for partition in Partition
    )


@transition
def records_are_committed_by_all_assumed(old: AskedIsr, new: AskedIsr) -> bool:
    """A live leader commits a record when all that it counts are alive to store it, ``min.insync.replicas`` or more."""
    return all(
        implies(
            len((old.replication[partition].complete - new.replication[partition].complete)
                & new.replication[partition].on_disk) > 0,
            old.is_online(partition)
            and old.assumed(partition) <= old.live
            and len(old.assumed(partition)) >= old.min_insync_replicas,
        )
        for partition in Partition
    )


@transition
def leaders_ask_for_one_change(old: AskedIsr, new: AskedIsr) -> bool:
    """A live leader asks for one more member, a live replica that has caught up, or for one less, not itself (KIP-497).

    It asks again only when it knows the outcome.
    """
    return all(
        implies(
            new.asked[partition] is not None and new.asked[partition] != old.asked[partition],
            old.asked[partition] is None and old.is_online(partition) and is_one_change(old, new, partition),
        )
        for partition in Partition
    )


def is_one_change(old: AskedIsr, new: AskedIsr, partition: Partition) -> bool:
    asked = new.asked[partition]
    if asked is None:
        return True
    state = old.replication[partition]
    held = old.held[partition]
    joins = asked - held
    leaves = held - asked
    return (
        len(joins) + len(leaves) == 1
        and joins <= state.complete & state.known & old.live
        and all(broker != state.leader for broker in leaves)
    )


@transition
def controller_answers_between_events(old: AskedIsr, new: AskedIsr) -> bool:
    """A request is judged like any other event, not in the midst of one (KAFKA-5028)."""
    return all(
        implies(
            partition in new.accepted - old.accepted
            or (old.late[partition] is not None and new.late[partition] is None),
            old.is_free(),
        )
        for partition in Partition
    )


@reachable
def rolled_back_while_pending(model: AskedIsr) -> bool:
    """A rollback can find a request for an added replica on its way."""
    return any(is_rolled_back_while_pending(model, partition) for partition in Partition)


def is_rolled_back_while_pending(model: AskedIsr, partition: Partition) -> bool:
    late = model.late[partition]
    return (
        model.step[partition] == Step.DELETE_ADDED
        and late is not None
        and not late <= model.replication[partition].known
    )


@reachable
def completed_before_the_answer(model: AskedIsr) -> bool:
    """The controller can complete a reassignment by an ISR of which its leader has not heard yet."""
    return any(
        model.step[partition] == Step.LEAD_FROM_TARGET and partition in model.accepted for partition in Partition
    )
