"""KIP-595's elections alone, any number of them: with a connected majority there is eventually a leader.

Epochs are counted from the lowest one that anybody is in, so that a run may go through any number of them and come back
to where it was; a log is only one of those that end last, or not. What these leave out is in quorum.py, where to begin.

Until the network settles, it may partition one voter at a time, and a timer may expire for no reason. Then a majority
is connected, and, as Raft requires (broadcast time << election timeout), a follower that hears from its leader does not
stand. That does not yet elect anybody: candidates may split the votes again and again, or depose a leader of whom they
have not heard, whatever is assumed of each message. ``election`` is a timer that expires so long before any other that
the candidate can ask all voters and announce itself, which is the purpose of random timeouts.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import Between, Constant, Identifier, Map, Model, Record, Set, action, initial, require, rule

Epoch = Annotated[int, Between(0, "window")]
"""Counted from the lowest epoch that anybody is in."""


class Voter(Identifier, count="voters", prefix="v"):
    """A voter of the quorum."""


class Role(Enum):
    """What a voter does in its epoch."""

    UNATTACHED = "unattached"
    CANDIDATE = "candidate"
    LEADER = "leader"
    RESIGNED = "resigned"
    FOLLOWER = "follower"


class State(Record):
    """A voter's epoch, and what it knows of it. A candidate's ``votes`` are those that it has."""

    epoch: Epoch
    role: Role
    leader: Voter | None
    voted_key: Voter | None
    votes: Set[Voter]


class Elections(Model):
    """Votes, announcements, resignations; nothing is written."""

    voters = Constant(3)
    window = Constant(2, bound=True)

    states: Map[Voter, State]
    ahead: Set[Voter]
    """The voters whose logs end last."""
    away: Voter | None
    """The voter that the network has partitioned from the others."""
    settled: bool

    @initial
    def start(self, count: Annotated[int, Between(1, "voters")]) -> None:
        """Voters are alike, so it does not matter which of them are ahead, only how many."""
        self.states = Map({voter: self.unattached(0) for voter in Voter})
        self.ahead = Set()
        for voter in Voter:
            if len(self.ahead) < count:
                self.ahead.add(voter)
        self.away = None
        self.settled = False

    def unattached(self, epoch: Epoch) -> State:
        return State(epoch=epoch, role=Role.UNATTACHED, leader=None, voted_key=None, votes=Set())

    def is_majority(self, some: Set[Voter]) -> bool:
        return len(some) > self.voters // 2

    # The network.

    @action
    def network_parts(self, voter: Voter) -> None:
        """The environment: one voter is partitioned from all others."""
        require(not self.settled and self.away is None and self.is_majority(Set(Voter) - {voter}))
        self.away = voter

    @action
    def network_heals(self) -> None:
        """The environment: the partitioned voter is back."""
        require(not self.settled and self.away is not None)
        self.away = None

    @action
    def network_settles(self) -> None:
        """A voter that is partitioned now stays so, and takes no part any more.

        The environment: from now on nothing changes.
        """
        require(not self.settled)
        self.settled = True
        if self.away is not None:
            self.states[self.away] = self.unattached(0)
        self.count_epochs_anew()

    def takes_part(self, voter: Voter) -> bool:
        return not self.settled or voter != self.away

    def reached_by(self, voter: Voter) -> Set[Voter]:
        return Set(other for other in Voter if self.away not in (voter, other)) - {voter}

    def count_epochs_anew(self) -> None:
        lowest = min(self.states[voter].epoch for voter in Voter if self.takes_part(voter))
        for voter in Voter:
            if self.takes_part(voter):
                self.states[voter].epoch -= lowest

    # Elections.

    @rule
    def hears_leader(self, voter: Voter) -> bool:
        """Whether the leader that it follows is there (``KafkaRaftClient.pollFollowerAsVoter``). Before the network has
        settled, a timer may expire anyway.
        """
        leader = self.states[voter].leader
        return (
            self.settled
            and leader is not None
            and leader in self.reached_by(voter)
            and self.states[leader].role == Role.LEADER
            and self.states[leader].epoch == self.states[voter].epoch
        )

    def may_stand(self, voter: Voter) -> bool:
        return self.takes_part(voter) and self.states[voter].role != Role.LEADER and not self.hears_leader(voter)

    def stand(self, candidate: Voter) -> None:
        require(self.states[candidate].epoch < self.window)
        self.states[candidate] = State(
            epoch=self.states[candidate].epoch + 1, role=Role.CANDIDATE, leader=None, voted_key=candidate, votes=Set()
        )
        self.count_vote(candidate, candidate)

    def count_vote(self, candidate: Voter, voter: Voter) -> None:
        self.states[candidate].votes.add(voter)
        if self.is_majority(self.states[candidate].votes):
            self.states[candidate] = State(
                epoch=self.states[candidate].epoch, role=Role.LEADER, leader=candidate, voted_key=None, votes=Set()
            )

    @rule
    def is_up_to_date(self, candidate: Voter, voter: Voter) -> bool:
        """``KafkaRaftClient.handleVoteRequest``, as far as elections alone need logs."""
        return candidate in self.ahead or voter not in self.ahead

    def ask(self, candidate: Voter, voter: Voter) -> None:
        """A Vote request and its response."""
        state = self.states[candidate]
        if state.epoch > self.states[voter].epoch:
            self.states[voter] = self.unattached(state.epoch)
        own = self.states[voter]
        if own.epoch > state.epoch or own.leader is not None:
            self.learn(candidate, voter)
        elif own.voted_key == candidate or (own.voted_key is None and self.is_up_to_date(candidate, voter)):
            self.states[voter].voted_key = candidate
            self.count_vote(candidate, voter)

    def learn(self, voter: Voter, other: Voter) -> None:
        """What every message says: the epoch that its sender is in, and its leader."""
        told = self.states[other]
        own = self.states[voter]
        if told.epoch > own.epoch or (told.epoch == own.epoch and own.leader is None and told.leader is not None):
            if told.leader is None or told.leader == voter:
                self.states[voter] = self.unattached(told.epoch)
            else:
                self.states[voter] = State(
                    epoch=told.epoch, role=Role.FOLLOWER, leader=told.leader, voted_key=None, votes=Set()
                )

    @action
    def election_timeout(self, candidate: Voter) -> None:
        """``QuorumState.transitionToCandidate``."""
        require(self.may_stand(candidate))
        self.stand(candidate)
        self.count_epochs_anew()

    @action
    def candidate_requests_vote(self, candidate: Voter, voter: Voter) -> None:
        """``KafkaRaftClient.handleVoteRequest``, and ``handleVoteResponse``."""
        require(self.takes_part(candidate) and self.states[candidate].role == Role.CANDIDATE)
        require(voter in self.reached_by(candidate))
        self.ask(candidate, voter)
        self.count_epochs_anew()

    @action
    def election(self, candidate: Voter) -> None:
        """The timer of a voter in the latest epoch expires, and before another one does, the candidate has asked all
        voters, and announced itself if it won.

        ``KafkaRaftClient.pollCandidate``.
        """
        require(self.may_stand(candidate))
        require(all(self.states[voter].epoch <= self.states[candidate].epoch for voter in self.reached_by(candidate)))
        self.stand(candidate)
        for voter in Voter:
            if voter in self.reached_by(candidate) and self.states[candidate].role == Role.CANDIDATE:
                self.ask(candidate, voter)
        for voter in Voter:
            if voter in self.reached_by(candidate) and self.states[candidate].role == Role.LEADER:
                self.announce(candidate, voter)
        self.count_epochs_anew()

    # The leader.

    @action
    def leader_sends_begin_quorum_epoch(self, leader: Voter, voter: Voter) -> None:
        """BeginQuorumEpoch, and the response to it. ``KafkaRaftClient.handleBeginQuorumEpochRequest``."""
        require(self.states[leader].role == Role.LEADER and voter in self.reached_by(leader))
        self.announce(leader, voter)
        self.count_epochs_anew()

    def announce(self, leader: Voter, voter: Voter) -> None:
        self.learn(voter, leader)
        self.learn(leader, voter)

    @action
    def follower_fetches(self, voter: Voter) -> None:
        """From the leader that it knows, which may be in another epoch by now.

        ``KafkaRaftClient.handleFetchRequest``.
        """
        leader = self.states[voter].leader
        require(self.states[voter].role == Role.FOLLOWER and leader is not None and leader in self.reached_by(voter))
        if leader is not None:
            self.learn(leader, voter)
            self.learn(voter, leader)
        self.count_epochs_anew()

    @rule
    def may_lead(self, leader: Voter) -> bool:
        """Whether a majority, counting the leader, can fetch from it (KIP-595, "Leader Progress Timeout")."""
        return self.is_majority(self.reached_by(leader) | {leader})

    @action
    def fetch_timer_expires(self, leader: Voter) -> None:
        """KIP-595, "Leader Progress Timeout" (``LeaderState.timeUntilCheckQuorumExpires``)."""
        require(self.takes_part(leader) and self.states[leader].role == Role.LEADER and not self.may_lead(leader))
        self.states[leader].role = Role.RESIGNED
