"""KIP-853 with KIP-996: pre-votes, and a voter that has been removed while it was away.

Kafka ships them together: a voter that does not know of its removal would raise the epoch again and again. voters.py is
where to begin; pre-votes over a bad network, and for a constant voter set, are in model/kraft/pre_vote.py.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Between, Set, action, initial, require, rule
from model.dynamic_quorum.voters import DynamicQuorum
from model.kraft.quorum import Epoch, Replica, Role


class DynamicPreVote(DynamicQuorum):
    """A replica that misses its leader is prospective first, and a candidate once a majority of its voters agrees.

    The quorum state keeps the vote of an epoch beside its leader (``ElectionState.withElectedLeader``).
    """

    has_fetched: Set[Replica]
    """The followers that have fetched from their leader since they started following it."""

    @initial
    def start(self, leader: Replica, first: Set[Replica]) -> None:
        super().start(leader, first)
        self.has_fetched = first - {leader}

    def take_role(self, replica: Replica, role: Role) -> None:
        super().take_role(replica, role)
        self.has_fetched.discard(replica)

    def transition_to_follower(self, replica: Replica, epoch: Epoch, leader: Replica) -> None:
        state = self.quorum_state[replica]
        voted = state.voted_key if state.epoch == epoch else None
        super().transition_to_follower(replica, epoch, leader)
        self.quorum_state[replica].voted_key = voted

    def may_stand(self, replica: Replica) -> bool:
        return super().may_stand(replica) and self.role[replica] != Role.PROSPECTIVE

    def stand(self, replica: Replica) -> None:
        """A leader that has resigned gives the others one epoch's time; everyone else asks at once, in its epoch."""
        if self.role[replica] == Role.RESIGNED:
            self.transition_to_unattached(replica, self.quorum_state[replica].epoch + 1)
        else:
            self.take_role(replica, Role.PROSPECTIVE)
            self.count_pre_vote(replica, replica)

    @action
    def prospective_requests_pre_vote(self, replica: Replica, voter: Replica) -> None:
        """A Vote request in the replica's epoch, with PreVote set. Nothing is stored but a higher epoch.

        ``KafkaRaftClient.pollProspective``; the voter: ``KafkaRaftClient.handleVoteRequest``.
        """
        require(self.role[replica] == Role.PROSPECTIVE)
        require(voter in self.voter_set[replica] - self.votes[replica])
        epoch = self.quorum_state[replica].epoch
        if epoch > self.quorum_state[voter].epoch:
            self.transition_to_unattached(voter, epoch)
        if self.grants_pre_vote(voter, replica):
            self.count_pre_vote(replica, voter)
        else:
            self.learn_leader(replica, self.quorum_state[voter].epoch, self.quorum_state[voter].leader)

    @rule
    def grants_pre_vote(self, voter: Replica, replica: Replica) -> bool:
        """``FollowerState.canGrantVote``: not a follower that has fetched from its leader."""
        return (
            self.quorum_state[voter].epoch == self.quorum_state[replica].epoch
            and self.role[voter] != Role.LEADER
            and voter not in self.has_fetched
            and self.heeds_stranger(voter, replica)
            and self.is_up_to_date(replica, voter)
        )

    def count_pre_vote(self, replica: Replica, voter: Replica) -> None:
        self.votes[replica].add(voter)
        if self.is_majority(self.votes[replica], self.voter_set[replica]):
            self.transition_to_candidate(replica)

    def grants_vote(self, voter: Replica, candidate: Replica) -> bool:
        """A prospective voter votes, too."""
        state = self.quorum_state[voter]
        if state.epoch != self.quorum_state[candidate].epoch:
            return False
        if self.role[voter] not in (Role.UNATTACHED, Role.PROSPECTIVE) or not self.heeds_stranger(voter, candidate):
            return False
        if state.voted_key is not None:
            return state.voted_key == candidate
        return state.leader is None and self.is_up_to_date(candidate, voter)

    @action
    def prospective_gives_up(self, replica: Replica) -> None:
        """A majority has refused, or not answered in time: back to its leader, or to waiting for one.

        ``KafkaRaftClient.pollProspective``.
        """
        require(self.role[replica] == Role.PROSPECTIVE)
        following = self.quorum_state[replica].leader is not None
        self.take_role(replica, Role.FOLLOWER if following else Role.UNATTACHED)

    def learn_leader(self, replica: Replica, epoch: Epoch, leader: Replica | None) -> None:
        """A prospective replica that is told the leader that it knows follows it again."""
        super().learn_leader(replica, epoch, leader)
        prospective = self.role[replica] == Role.PROSPECTIVE and self.quorum_state[replica].epoch == epoch
        if prospective and leader is not None and leader == self.quorum_state[replica].leader:
            self.take_role(replica, Role.FOLLOWER)

    @action
    def replica_fetches(
        self, replica: Replica, source: Replica, records: Annotated[int, Between(0, "max_batch")]
    ) -> None:
        answered = (
            self.role[source] == Role.LEADER and self.quorum_state[replica].epoch == self.quorum_state[source].epoch
        )
        super().replica_fetches(replica, source, records)
        if answered and self.role[replica] == Role.FOLLOWER:
            self.has_fetched.add(replica)


class RemovedWhileAway(DynamicPreVote):
    """A voter that is away is removed, and comes back. Only its own timer expires, and the others fetch.

    The first step is the network's: it decides who is away. That one hears nothing until it is removed.
    """

    away: Replica | None

    @initial
    def start(self, leader: Replica, first: Set[Replica]) -> None:
        super().start(leader, first)
        self.away = None

    @action
    def network_parts(self, replica: Replica) -> None:
        """The environment: a follower is partitioned from all others."""
        require(self.away is None and self.role[replica] == Role.FOLLOWER and self.is_voter(replica))
        require(all(epoch_state.epoch <= 1 for epoch_state in self.quorum_state.values()))
        self.away = replica

    def is_cut_off(self, replica: Replica) -> bool:
        """Until the others have committed its removal."""
        return replica == self.away and not any(
            self.role[leader] == Role.LEADER
            and replica not in self.voter_set[leader]
            and self.last_change(leader) <= self.high_watermark[leader]
            for leader in Replica
        )

    def may_stand(self, replica: Replica) -> bool:
        return replica == self.away and super().may_stand(replica)

    @action
    def leader_resigns(self, leader: Replica) -> None:
        """The others do fetch."""
        require(False)

    @action
    def leader_removes_voter(self, leader: Replica, voter: Replica) -> None:
        require(voter == self.away)
        super().leader_removes_voter(leader, voter)

    @action
    def leader_sends_begin_quorum_epoch(self, leader: Replica, voter: Replica) -> None:
        require(not self.is_cut_off(voter))
        super().leader_sends_begin_quorum_epoch(leader, voter)

    @action
    def prospective_requests_pre_vote(self, replica: Replica, voter: Replica) -> None:
        require(not self.is_cut_off(replica))
        super().prospective_requests_pre_vote(replica, voter)

    @action
    def candidate_requests_vote(self, candidate: Replica, voter: Replica) -> None:
        require(not self.is_cut_off(candidate))
        super().candidate_requests_vote(candidate, voter)

    @action
    def replica_fetches(
        self, replica: Replica, source: Replica, records: Annotated[int, Between(0, "max_batch")]
    ) -> None:
        require(not self.is_cut_off(replica) and not self.is_cut_off(source))
        super().replica_fetches(replica, source, records)
