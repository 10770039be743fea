"""The liveness that KIP-497 promises (KIP-497, "Proposed Changes"; KAFKA-14144). Begin with core.py."""

from __future__ import annotations

from floodmark import always_eventually, leads_to, recoverable
from model.alter_isr.progress import KRaftAlterIsr, LossyNetwork


@leads_to
def pending_change_is_settled(model: LossyNetwork) -> tuple[bool, bool]:
    """The leader learns the outcome of each change that it asked for."""
    return len(model.pending) > 0, len(model.pending) == 0


@leads_to
def change_is_settled_while_partition_epochs_last(model: LossyNetwork) -> tuple[bool, bool]:
    """The same, said for every number of partition epochs: of changes that the controller may still have to make."""
    return len(model.pending) > 0, len(
        model.pending
    ) == 0 or model.controller.partition_epoch == model.max_partition_epoch


@leads_to
def request_is_answered(model: KRaftAlterIsr) -> tuple[bool, bool]:
    """The next request may go out."""
    return model.awaited is not None, model.awaited is None


@always_eventually
def high_watermark_follows(model: LossyNetwork) -> bool:
    """Once the whole maximal ISR has the log, all of it is committed."""
    waits = model.leading and all(
        model.log_end_offset[member] == model.log_end_offset[model.leader] for member in model.maximal_isr()
    )
    return not waits or model.high_watermark == model.log_end_offset[model.leader]


@always_eventually
def isr_is_enough_to_commit(model: LossyNetwork) -> bool:
    """A record that every member of the ISR has, which is all that replication promises, is committed.

    A leader that waits for a broker which never joined, and may be down, blocks its producers meanwhile.
    """
    held = min(model.log_end_offset[member] for member in model.controller.isr)
    return not model.leading or model.high_watermark >= held


@always_eventually
def leader_learns_the_partition_epoch(model: LossyNetwork) -> bool:
    """The leader knows the state that the controller has."""
    return model.partition_epoch == model.controller.partition_epoch


@recoverable
def no_pending_change_is_stuck(model: LossyNetwork) -> bool:
    """Whatever was lost, the change can still be settled."""
    return len(model.pending) == 0
