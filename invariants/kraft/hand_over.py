"""What KIP-595 and KIP-996 promise when a leader shuts down. Begin with quorum.py."""

from __future__ import annotations

from floodmark import leads_to
from model.kraft.hand_over import HandOver
from model.kraft.quorum import Replica, Role


@leads_to
def successor_is_elected_at_once(model: HandOver) -> tuple[bool, bool]:
    """A leader that resigns is succeeded in the next epoch, by whom it prefers (KIP-595, "EndQuorumEpoch")."""
    resigned = any(model.role[replica] == Role.RESIGNED for replica in Replica)
    return resigned, model.elected[2] == Replica(2)
