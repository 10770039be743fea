"""What must hold of KIP-853's snapshots. Begin with voters.py."""

from __future__ import annotations

from floodmark import invariant, reachable
from model.dynamic_quorum.snapshots import DynamicSnapshots
from model.kraft.quorum import Replica


@invariant
def snapshots_are_committed(model: DynamicSnapshots) -> bool:
    """What is left to a snapshot is committed (simulation, SnapshotAtLogStart)."""
    return all(
        model.logs[replica][: model.log_start[replica]] == model.committed[: model.log_start[replica]]
        for replica in Replica
    )


@reachable
def snapshot_makes_a_voter(model: DynamicSnapshots) -> bool:
    """A replica can learn from a snapshot alone that it is a voter."""
    return any(
        model.log_start[replica] == len(model.logs[replica])
        and model.is_voter(replica)
        and len(model.logs[replica]) > 1
        for replica in Replica
    )
