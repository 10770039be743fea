"""A voter of KIP-595's quorum that comes back with an empty disk, so that it has forgotten its votes as well.

A quorum does not survive this at an arbitrary time. It does if all the others have everything committed and the
election of the voter's epoch is over; Kafka's simulation waits for such a moment, too (RaftEventSimulationTest). The
protocol itself is in model/kraft/quorum.py, where to begin.
"""

from __future__ import annotations

from floodmark import Constant, Seq, action, require
from model.kraft.quorum import Kraft, QuorumState, Replica, Role


class KraftDiskLoss(Kraft):
    """The quorum with disks that can be lost. Each loss counts as a restart."""

    at_any_time = Constant(False)
    """Whether the disk may be lost at any time, even when that loses committed records."""

    @action
    def replica_loses_disk(self, replica: Replica) -> None:
        """The environment: a voter starts with an empty disk."""
        require(self.restarts < self.max_restarts)
        require(self.at_any_time or self.can_spare(replica))
        self.restarts += 1
        self.logs[replica] = Seq()
        self.high_watermark[replica] = 0
        self.quorum_state[replica] = QuorumState(epoch=0, leader=None, voted_key=None)
        self.take_role(replica, Role.UNATTACHED)

    def can_spare(self, replica: Replica) -> bool:
        """The others have every committed record and know the leader of the replica's epoch, or a later one."""
        return self.role[replica] != Role.LEADER and all(
            self.quorum_state[voter].leader is not None
            and self.quorum_state[voter].leader != replica
            and self.quorum_state[voter].epoch >= self.quorum_state[replica].epoch
            and self.logs[voter][: len(self.committed)] == self.committed
            for voter in self.current_voters - {replica}
        )
