"""KIP-595's observers: brokers that copy the log and are not counted, once a leader is established.

The first voter leads epoch 1, everyone follows it and has its first record, and everyone knows that this is committed;
how a first leader comes about is in model/kraft/quorum.py, where to begin. Leaders may be zombies, responses be lost
and replicas restart. As in Kafka, an observer whose fetches fail asks any voter who leads; without that, one that
follows a leader that has resigned would never hear of another.
"""

from __future__ import annotations

from floodmark import Map, Seq, Set, initial
from model.kraft.quorum import Kraft, LeaderState, QuorumState, Replica, Role


class KraftObservers(Kraft):
    """An established quorum with observers."""

    @initial
    def start(self) -> None:
        """Names do not matter, so the first replica is the leader."""
        super().start()
        leader = Replica(1)
        self.quorum_state = Map({replica: QuorumState(epoch=1, leader=leader, voted_key=None) for replica in Replica})
        self.logs = Map({replica: Seq([1]) for replica in Replica})
        self.flushed = Map({replica: 1 for replica in Replica})
        self.role = Map({replica: Role.LEADER if replica == leader else Role.FOLLOWER for replica in Replica})
        self.leader_state[leader] = LeaderState(
            epoch_start_offset=0, end_offsets=Map({replica: 1 for replica in Replica}), fetched_voters=Set()
        )
        self.high_watermark = Map({replica: 1 for replica in Replica})
        self.elected[1] = leader
        self.committed = Seq([1])

    def may_fetch(self, replica: Replica, source: Replica) -> bool:
        """An observer's fetch timer may expire whenever it runs, and then it asks any voter."""
        asks_around = replica not in self.current_voters and source in self.current_voters
        return asks_around or super().may_fetch(replica, source)
