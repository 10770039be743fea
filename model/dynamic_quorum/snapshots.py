"""KIP-853 with KIP-630: a snapshot carries the voters up to its end, and replaces the log before it.

A log keeps its records here, also those below its start, which only properties read; ``log_start`` says what is left.
voters.py is where to begin.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Between, Constant, Map, Set, action, initial, require, rule
from model.dynamic_quorum.voters import DynamicQuorum
from model.kraft.quorum import Offset, Replica, Role
from model.replica_log import end_offset_for_epoch


class DynamicSnapshots(DynamicQuorum):
    """Replicas that truncate the start of their logs."""

    max_snapshots = Constant(1)

    log_start: Map[Replica, Offset]
    snapshots: Annotated[int, Between(0, "max_snapshots")]

    @initial
    def start(self, leader: Replica, first: Set[Replica]) -> None:
        super().start(leader, first)
        self.log_start = Map({replica: 0 for replica in Replica})
        self.snapshots = 0

    @action
    def leader_takes_snapshot(self, leader: Replica) -> None:
        """Of everything that is committed. A follower's snapshot would change nothing for others.

        ``KafkaRaftClient.createSnapshot``.
        """
        require(self.snapshots < self.max_snapshots and self.role[leader] == Role.LEADER)
        require(self.high_watermark[leader] > self.log_start[leader])
        self.snapshots += 1
        self.log_start[leader] = self.high_watermark[leader]

    def lacks_start(self, leader: Replica, replica: Replica) -> bool:
        """``ReplicatedLog.validateOffsetAndEpoch``: the position, or where the logs diverge, is not in the
        leader's log.
        """
        shared = min(len(self.logs[replica]), end_offset_for_epoch(self.epochs(leader), self.last_epoch(replica)))
        return shared < self.log_start[leader]

    @action
    def replica_fetches(
        self, replica: Replica, source: Replica, records: Annotated[int, Between(0, "max_batch")]
    ) -> None:
        served = (
            self.role[source] == Role.LEADER and self.quorum_state[replica].epoch == self.quorum_state[source].epoch
        )
        require(not served or not self.lacks_start(source, replica))
        super().replica_fetches(replica, source, records)

    @action
    def replica_fetches_snapshot(self, replica: Replica, leader: Replica) -> None:
        """FetchSnapshot. The snapshot takes the place of the whole log (``KafkaRaftClient:
        handleFetchSnapshotResponse``).
        """
        require(self.role[leader] == Role.LEADER and self.role[replica] == Role.FOLLOWER)
        require(self.quorum_state[replica] == self.quorum_state[leader])
        require(self.lacks_start(leader, replica))
        end = self.log_start[leader]
        self.voter_set[replica] = self.voters_of_snapshot(leader, replica)
        self.logs[replica] = self.logs[leader][:end]
        self.log_start[replica] = end
        self.high_watermark[replica] = max(self.high_watermark[replica], end)

    @rule
    def voters_of_snapshot(self, leader: Replica, replica: Replica) -> Set[Replica]:
        """``VoterSetHistory.valueAtOrBefore``: those at the snapshot's end, which later changes do not concern."""
        return self.voters_below(leader, self.log_start[leader])
