"""KIP-853 for liveness: leaders resign and replicas stop for good, but only so often; then nothing fails any more.

voters.py is where to begin. A timer expires only for a reason, and an election is one step: a replica that misses its
leader asks whether it would win (KIP-996), and if so nobody else stands until it has won. How replicas come to such an
election in spite of split votes is in model/kraft/elections.py.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Between, Constant, Set, action, fair, initial, require, rule
from model.dynamic_quorum.voters import DynamicQuorum
from model.kraft.quorum import Epoch, Replica, Role


class DynamicProgress(DynamicQuorum):
    """The constants leave room for every run: no bound ends one."""

    max_epoch = Constant(6)
    max_log = Constant(7)
    max_values = Constant(0)
    max_failures = Constant(1)
    """How many leaders resign, or replicas stop."""

    stopped: Set[Replica]
    """The replicas that have stopped for good."""
    failures: Annotated[int, Between(0, "max_failures")]

    @initial
    def start(self, leader: Replica, first: Set[Replica]) -> None:
        super().start(leader, first)
        self.stopped = Set()
        self.failures = 0

    @action
    def replica_stops(self, replica: Replica) -> None:
        """The environment: a replica stops for good."""
        require(self.failures < self.max_failures and replica not in self.stopped)
        self.failures += 1
        self.stopped.add(replica)
        self.take_role(replica, Role.UNATTACHED)

    @action
    def leader_resigns(self, leader: Replica) -> None:
        require(self.failures < self.max_failures)
        super().leader_resigns(leader)
        self.failures += 1

    def misses_leader(self, replica: Replica) -> bool:
        """Whether it does not lead, and nobody answers its fetches."""
        leader = self.quorum_state[replica].leader
        return self.role[replica] != Role.LEADER and (
            leader is None
            or self.role[leader] != Role.LEADER
            or self.quorum_state[leader].epoch != self.quorum_state[replica].epoch
            or not self.serves(leader, replica)
        )

    def would_vote(self, voter: Replica, candidate: Replica) -> bool:
        return voter == candidate or (
            voter not in self.stopped
            and self.misses_leader(voter)
            and self.heeds_stranger(voter, candidate)
            and self.is_up_to_date(candidate, voter)
        )

    @fair(each="replica")
    @action
    def election_timeout(self, replica: Replica) -> None:
        """It asks for pre-votes, stands, asks for votes and announces itself to who has voted for it."""
        require(replica not in self.stopped and self.misses_leader(replica) and self.may_stand(replica))
        granted = Set(voter for voter in self.voter_set[replica] if self.would_vote(voter, replica))
        require(self.is_majority(granted, self.voter_set[replica]))
        epoch: Epoch = 1 + max(self.quorum_state[voter].epoch for voter in granted)
        for voter in Replica:
            if voter in granted - {replica}:
                self.transition_to_follower(voter, epoch, replica)
        self.quorum_state[replica].epoch = epoch
        self.transition_to_leader(replica)

    @action
    def candidate_requests_vote(self, candidate: Replica, voter: Replica) -> None:
        require(False)

    @fair(each="replica")
    @action
    def former_leader_leaves_epoch(self, replica: Replica) -> None:
        """Also a voter, since KIP-996: it may not win an election, and asks who leads."""
        require(self.role[replica] == Role.RESIGNED and replica not in self.stopped)
        require(self.quorum_state[replica].epoch < self.max_epoch)
        self.transition_to_unattached(replica, self.quorum_state[replica].epoch + 1)

    @fair(each=("leader", "voter"))
    @action
    def leader_sends_begin_quorum_epoch(self, leader: Replica, voter: Replica) -> None:
        require(voter not in self.stopped)
        super().leader_sends_begin_quorum_epoch(leader, voter)

    @fair(each=("replica", "source"))
    @action
    def replica_fetches(
        self, replica: Replica, source: Replica, records: Annotated[int, Between(0, "max_batch")]
    ) -> None:
        require(replica not in self.stopped and source not in self.stopped)
        super().replica_fetches(replica, source, records)

    def may_fetch(self, replica: Replica, source: Replica) -> bool:
        """Only a replica whose leader does not answer asks another."""
        if self.misses_leader(replica):
            return self.asks_others(replica) and self.role[replica] != Role.RESIGNED
        return self.quorum_state[replica].leader == source

    @rule
    def asks_others(self, replica: Replica) -> bool:
        """Voters do so, too: a voter that was removed may not know it (KAFKA-17030)."""
        return True


class RemovedLeaderStands(DynamicProgress):
    """A replica that its last VotersRecord leaves out may stand, as it may be needed to commit that record (Ongaro's
    thesis, section 4.2.2). In KIP-853 and in Kafka (``KafkaRaftClient.pollResigned``) only voters do.
    """

    def may_stand(self, replica: Replica) -> bool:
        change = self.last_change(replica)
        return self.is_voter(replica) or (
            change > self.high_watermark[replica] and replica in self.voters_below(replica, change - 1)
        )

    def resign(self, leader: Replica) -> None:
        """It remembers that its removal is committed, so that it does not stand again."""
        self.take_role(leader, Role.RESIGNED)
