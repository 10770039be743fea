"""What KIP-497 promises to happen some day (KIP-497, "Proposed Changes"; KAFKA-14144). Begin with core.py."""

from __future__ import annotations

from floodmark import always_eventually, leads_to, recoverable
from model.alter_isr.progress import RetriedAlterIsr


@leads_to
def pending_change_is_settled(model: RetriedAlterIsr) -> tuple[bool, bool]:
    """The leader learns what became of a change that it asked for."""
    return len(model.pending) > 0, len(model.pending) == 0


@leads_to
def request_is_answered(model: RetriedAlterIsr) -> tuple[bool, bool]:
    """The next request may go out."""
    return model.awaited is not None, model.awaited is None


@always_eventually
def high_watermark_follows(model: RetriedAlterIsr) -> bool:
    """Once the whole maximal ISR has the log, all of it is committed."""
    waits = model.leading and all(
        model.log_end[member] == model.log_end[model.leader] for member in model.maximal_isr()
    )
    return not waits or model.high_watermark == model.log_end[model.leader]


@always_eventually
def leader_learns_the_version(model: RetriedAlterIsr) -> bool:
    """The leader knows the state that the controller has."""
    return model.version == model.controller.version


@recoverable
def no_pending_change_is_stuck(model: RetriedAlterIsr) -> bool:
    """Whatever was lost, the change can still be settled."""
    return len(model.pending) == 0
