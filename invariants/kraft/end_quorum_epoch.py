"""What must be reachable when candidates send EndQuorumEpoch (begin with quorum.py, which has the invariants)."""

from __future__ import annotations

from floodmark import reachable
from invariants.kraft.quorum import epoch_of
from model.kraft.end_quorum_epoch import KraftEndQuorumEpoch
from model.kraft.quorum import Replica, Role


@reachable
def candidate_wins_after_end_quorum_epoch(model: KraftEndQuorumEpoch) -> bool:
    """A candidate can still win the election that it has given up, and a voter stand in the next epoch."""
    return any(
        model.elected[1] == leader
        and model.role[voter] == Role.CANDIDATE
        and epoch_of(model, voter) == 2
        and all(epoch_of(model, other) <= 1 for other in Replica if other != voter)
        for leader in Replica
        for voter in Replica
        if leader != voter
    ) or model.max_epoch < 2
