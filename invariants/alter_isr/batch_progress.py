"""What must come of the changes on a leader's list (KIP-497, "Public Interfaces"; KAFKA-12686). Begin with core.py."""

from __future__ import annotations

from floodmark import invariant, recoverable
from model.alter_isr.batch import AlterIsrBatch, Partition


def names_leader(model: AlterIsrBatch, partition: Partition) -> bool:
    """Whether a change is pending that is not malformed from the start."""
    pending = model.pending[partition]
    return pending is not None and model.leader in pending


@invariant
def pending_change_can_be_settled(model: AlterIsrBatch) -> bool:
    """While a change is pending, it is on the list, and so will be asked for, or a newer state is on its way. Else the
    high watermark waits, and the ISR stays as it is, until the next election (KAFKA-12686).

    A leader that leaves itself out has only itself to blame.
    """
    return all(
        model.waiting[partition] is not None
        or model.controller[partition].partition_epoch > model.known[partition].partition_epoch
        for partition in Partition
        if names_leader(model, partition) and partition not in model.deleted
    )


@recoverable
def list_can_be_emptied(model: AlterIsrBatch) -> bool:
    """Whatever was asked for, the leader can come to ask for something else (KAFKA-12367)."""
    return all(model.waiting[partition] is None for partition in Partition)
