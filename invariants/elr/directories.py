"""What must hold of eligible leader replicas when a directory is lost (begin with partition.py)."""

from __future__ import annotations

from floodmark import invariant, reachable
from model.elr.directories import LostDirectories


@invariant
def leader_has_its_directory(model: LostDirectories) -> bool:
    """A broker that has reported that its replica is lost does not lead."""
    return model.leader is None or model.leader not in model.reported


@reachable
def lost_replica_is_eligible(model: LostDirectories) -> bool:
    """A replica whose directory has failed stays in the ELR, and is not electable."""
    return not model.elr.isdisjoint(model.reported)
