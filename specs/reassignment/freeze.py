"""What KIP-236's earlier goal, disabling reassignments, asks of the cancel znode."""

from __future__ import annotations

from floodmark import implies, transition
from model.reassignment.kip236 import Reassignment, Step
from model.reassignment.replicas import Partition


@transition
def cancel_znode_freezes(old: Reassignment, new: Reassignment) -> bool:
    """While the znode exists, no reassignment is started or completed (KIP-236, "Motivation")."""
    return all(
        implies(
            old.cancel_requested and old.step[partition] in (Step.IDLE, Step.WAITING),
            new.step[partition] not in (Step.PERSIST_BOTH, Step.RETARGET),
        )
        for partition in Partition
    )
