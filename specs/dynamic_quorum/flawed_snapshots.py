"""Known-bad designs of snapshots that carry voters."""

from __future__ import annotations

from floodmark import Set, action
from model.dynamic_quorum.snapshots import DynamicSnapshots
from model.kraft.quorum import Replica


class SnapshotWithoutVoters(DynamicSnapshots):
    """A snapshot has no voters, so whoever loads it keeps those that it knows (G-M19)."""

    def voters_of_snapshot(self, leader: Replica, replica: Replica) -> Set[Replica]:
        return self.voter_set[replica]


class SnapshotWithLatestVoters(DynamicSnapshots):
    """A snapshot has the voters that its writer uses, of a record after its end that may be taken back (G-M20)."""

    def voters_of_snapshot(self, leader: Replica, replica: Replica) -> Set[Replica]:
        return self.voter_set[leader]


class SnapshotOfUncommitted(DynamicSnapshots):
    """A snapshot reaches beyond the high watermark."""

    @action
    def leader_takes_snapshot(self, leader: Replica) -> None:
        super().leader_takes_snapshot(leader)
        self.log_start[leader] = len(self.logs[leader])
