"""Timers that expire for a reason: who may depose a leader from which a majority fetches?

Elsewhere a timer may expire whenever it runs. Here every timeout is longer than a fetch takes, so a follower's expires
only where it cannot fetch from its leader, and a leader's only once all have fetched that can. One replica at a time
may be partitioned: a follower, or the leader itself, which comes back as a zombie (KIP-595, "Leader Progress Timeout":
disruptive voters). The protocol itself is in model/kraft/quorum.py, where to begin.
"""

from __future__ import annotations

from floodmark import Constant, action, initial, require, rule
from model.kraft.network import KraftNetwork
from model.kraft.observers import KraftObservers
from model.kraft.pre_vote import KraftPreVote
from model.kraft.quorum import Replica, Role


class KraftTimely(KraftObservers, KraftNetwork):
    """KIP-595. Observers have lost their leader, and look for it."""

    max_restarts = Constant(0)
    lossy_restarts = Constant(False)
    loss = Constant(False)
    delays = Constant(0)

    @initial
    def start(self) -> None:
        super().start()
        for replica in Replica:
            if replica not in self.current_voters:
                self.transition_to_unattached(replica, 1)

    def can_fetch(self, replica: Replica, leader: Replica) -> bool:
        """Whether the replica follows the leader in its epoch, and reaches it."""
        return (
            self.role[leader] == Role.LEADER
            and self.quorum_state[replica] == self.quorum_state[leader]
            and self.reaches(replica, leader)
        )

    def has_news(self, replica: Replica) -> bool:
        """Whether a replica that follows has had an answer from its leader."""
        return True

    @rule
    def may_stand(self, replica: Replica) -> bool:
        """Only a voter that has no leader to fetch from (``KafkaRaftClient.pollFollowerAsVoter``)."""
        return super().may_stand(replica) and not any(self.can_fetch(replica, leader) for leader in Replica)

    @action
    def fetch_timer_expires(self, leader: Replica) -> None:
        """Once a majority has fetched, or every replica that can: after that, there is no fetch left to wait for
        (``LeaderState.timeUntilCheckQuorumExpires``).
        """
        waits = any(
            voter not in self.leader_state[leader].fetched_voters
            for voter in self.current_voters
            if self.can_fetch(voter, leader)
        )
        require(not waits or self.majority_fetched(leader))
        super().fetch_timer_expires(leader)


class KraftPreVoteTimely(KraftTimely, KraftPreVote):
    """KIP-996."""

    @initial
    def start(self) -> None:
        super().start()
        self.has_fetched = self.current_voters - {Replica(1)}

    def has_news(self, replica: Replica) -> bool:
        """A follower that has not fetched yet still grants pre-votes."""
        return replica in self.has_fetched
