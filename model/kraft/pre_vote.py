"""KIP-996: a replica asks whether it could win before it raises its epoch, so that it does not disturb the others if it
could not.

Also here is the scenario that shows why: one voter is partitioned and returns, while all the others are healthy.
KIP-595, "Leader Progress Timeout", calls it a disruptive voter and leaves it to a later KIP, which is this one. The
protocol without pre-votes is in model/kraft/quorum.py, where to begin.
"""

from __future__ import annotations

from floodmark import Map, Seq, Set, action, initial, require, rule
from model.kraft.network import KraftNetwork
from model.kraft.quorum import Epoch, Fate, Kind, LeaderState, Message, QuorumState, Replica, Role


class KraftPreVote(KraftNetwork):
    """A replica that misses its leader first becomes prospective, in its epoch, and a candidate once a majority
    agrees.
    """

    has_fetched: Set[Replica]
    """The followers that have fetched from their leader since they started following it."""

    @initial
    def start(self) -> None:
        super().start()
        self.has_fetched = Set()

    def take_role(self, replica: Replica, role: Role) -> None:
        super().take_role(replica, role)
        self.has_fetched.discard(replica)

    @rule
    def may_stand(self, replica: Replica) -> bool:
        """``KafkaRaftClient.pollProspective`` asks on, and does not begin again (KIP-996)."""
        return super().may_stand(replica) and self.role[replica] != Role.PROSPECTIVE

    @rule
    def stand(self, replica: Replica) -> None:
        """A resigned leader gives the others one epoch's time (``KafkaRaftClient.pollResigned``); everyone else asks at
        once (``QuorumState.transitionToProspective``).
        """
        if self.role[replica] == Role.RESIGNED:
            self.transition_to_unattached(replica, self.quorum_state[replica].epoch + 1)
        else:
            self.transition_to_prospective(replica)

    def transition_to_prospective(self, replica: Replica) -> None:
        """Asks in its own epoch, and forgets neither its leader nor its vote."""
        self.take_role(replica, Role.PROSPECTIVE)
        self.count_pre_vote(replica, replica)

    @action
    def prospective_requests_pre_vote(self, replica: Replica, voter: Replica, fate: Fate) -> None:
        """A Vote request in the replica's current epoch, with PreVote set (``KafkaRaftClient.handleVoteRequest``)."""
        require(self.role[replica] == Role.PROSPECTIVE and voter in self.current_voters - self.votes[replica])
        require(self.reaches(replica, voter) and self.may_happen(fate))
        self.call(Kind.PRE_VOTE, replica, voter, fate)

    @action
    def prospective_gives_up(self, replica: Replica) -> None:
        """A majority refused, or did not answer in time (``KafkaRaftClient.pollProspective``)."""
        require(self.role[replica] == Role.PROSPECTIVE)
        self.give_up(replica)

    @rule
    def give_up(self, replica: Replica) -> None:
        """Back to following the leader, if one is known, or to waiting for one (``KafkaRaftClient.pollProspective``). A
        vote given in this epoch stays given.
        """
        state = self.quorum_state[replica]
        if state.leader is not None:
            self.take_role(replica, Role.FOLLOWER)
        elif state.voted_key is not None:
            self.take_role(replica, Role.VOTED)
        else:
            self.take_role(replica, Role.UNATTACHED)

    @rule
    def misses_leader(self, voter: Replica) -> bool:
        """A follower that has fetched does not. One that has not does; otherwise two voters that know only a leader
        that they cannot reach would refuse each other forever (KAFKA-17641).
        """
        if self.role[voter] == Role.FOLLOWER:
            return voter not in self.has_fetched
        return self.role[voter] != Role.LEADER

    def handle_pre_vote(self, request: Message) -> Message:
        """Nothing is stored, and several replicas may be granted a pre-vote. A higher epoch is taken over."""
        voter = request.destination
        if request.epoch > self.quorum_state[voter].epoch:
            self.transition_to_unattached(voter, request.epoch)
        granted = request.epoch == self.quorum_state[voter].epoch and self.misses_leader(voter)
        if granted and self.is_up_to_date(request.position, voter):
            return self.response(Kind.PRE_VOTE_GRANTED, request)
        return self.response(Kind.CURRENT_LEADER, request)

    def count_pre_vote(self, replica: Replica, voter: Replica) -> None:
        self.votes[replica].add(voter)
        if self.is_majority(self.votes[replica]):
            self.transition_to_candidate(replica)

    @rule
    def pre_vote_counts(self, response: Message) -> bool:
        """A pre-vote counts only in the epoch that it was given for (``KafkaRaftClient.handleVoteResponse``)."""
        replica = response.destination
        return self.role[replica] == Role.PROSPECTIVE and response.epoch == self.quorum_state[replica].epoch

    def handle_records(self, response: Message) -> None:
        super().handle_records(response)
        self.has_fetched.add(response.destination)

    def handle_diverging(self, response: Message) -> None:
        super().handle_diverging(response)
        self.has_fetched.add(response.destination)

    def handle_request(self, kind: Kind, request: Message) -> Message:
        if kind == Kind.PRE_VOTE:
            return self.handle_pre_vote(request)
        return super().handle_request(kind, request)

    def handle_response(self, kind: Kind, response: Message) -> None:
        if kind == Kind.PRE_VOTE and response.kind == Kind.PRE_VOTE_GRANTED:
            if self.pre_vote_counts(response):
                self.count_pre_vote(response.destination, response.source)
        else:
            super().handle_response(kind, response)

    def answered_kind(self, kind: Kind) -> Kind:
        return Kind.PRE_VOTE if kind == Kind.PRE_VOTE_GRANTED else super().answered_kind(kind)


class KeepsVoteBesideLeader(KraftPreVote):
    """What Kafka stores since KIP-996: the leader of an epoch and the vote in it
    (``ElectionState.withElectedLeader(epoch, leaderId, votedKey, voters)``). Up to 3.9 one replaced the other.
    """

    def transition_to_follower(self, replica: Replica, epoch: Epoch, leader: Replica) -> None:
        """``QuorumState.transitionToFollower`` keeps the vote of the epoch."""
        state = self.quorum_state[replica]
        voted = state.voted_key if state.epoch == epoch else None
        super().transition_to_follower(replica, epoch, leader)
        self.quorum_state[replica].voted_key = voted

    def resume(self, replica: Replica) -> None:
        """``QuorumState.initialize`` looks at the vote first: who has voted for itself stands again, and forgets the
        leader that it has followed since.
        """
        state = self.quorum_state[replica]
        if state.voted_key == replica:
            self.quorum_state[replica].leader = None
        super().resume(replica)


class DisruptiveVoter(KraftPreVote):
    """The first voter leads, all others follow it, and then another voter is partitioned for a while.

    Nobody else has a reason to miss the leader, so only that voter's timer expires, and the others fetch from the
    leader.
    """

    troubled: Replica | None
    """The voter that is, or was, partitioned."""

    @initial
    def start(self) -> None:
        super().start()
        self.quorum_state = Map(
            {replica: QuorumState(epoch=1, leader=Replica(1), voted_key=None) for replica in Replica}
        )
        self.logs = Map({replica: Seq([1]) for replica in Replica})
        self.flushed = Map({replica: 1 for replica in Replica})
        self.high_watermark = Map({replica: 1 for replica in Replica})
        self.role = Map({replica: Role.LEADER if replica == Replica(1) else Role.FOLLOWER for replica in Replica})
        self.leader_state[Replica(1)] = LeaderState(
            epoch_start_offset=0, end_offsets=Map({replica: 1 for replica in Replica}), fetched_voters=Set()
        )
        self.elected[1] = Replica(1)
        self.committed = Seq([1])
        self.has_fetched = Set(replica for replica in Replica if replica != Replica(1))
        self.troubled = None

    @action
    def network_parts(self, replica: Replica) -> None:
        require(self.troubled is None and self.role[replica] == Role.FOLLOWER)
        super().network_parts(replica)
        self.troubled = replica

    def may_stand(self, replica: Replica) -> bool:
        return replica == self.troubled and super().may_stand(replica)

    @rule
    def majority_fetched(self, leader: Replica) -> bool:
        """The others do fetch."""
        return True
