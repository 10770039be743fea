"""What must hold of KIP-236 with KIP-497, besides what holds of the reassignments (begin with kip236.py)."""

from __future__ import annotations

from floodmark import invariant, reachable, transition
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
