"""What Kafka's ``KafkaRaftClient`` does: ``KraftPreVote`` (``model/kraft/``), with what the code adds to the KIPs.

It is held against the classes in a walk (``quorum_adapter.py``). Each override says which method of Kafka decides so.
What is added:

* A client waits for one answer from each other member: that to its last request, and none once its state has changed
  (``RequestManager``). So late answers are often not taken: ``stale`` says which of the late messages are no longer
  waited for.
* A vote that is refused is counted, and so is a resignation that a voter has heard of.
* A vote is kept beside the leader of its epoch, and decides the role after a restart.
* Whoever knows of no leader asks any voter for it by fetching, and a fetch that reaches the leader counts.
* A leader flushes in the step in which it appends, and may stop in between.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Capacity, Constant, Map, Seq, Set, action, initial, require, rule
from model.kraft.pre_vote import KraftPreVote
from model.kraft.quorum import Fate, Kind, Message, Offset, QuorumState, Replica, Role


class KafkaQuorum(KraftPreVote):
    """Voters that are clients of Kafka."""

    led = Constant(False)
    """Whether a run begins when the first voter leads and its first record is committed."""
    rivals = Constant(False)
    """Whether it begins when, besides, two more records are written, and the second voter leads the next epoch."""

    stale: Annotated[Set[Message], Capacity("delays")]
    """The late answers that nobody waits for any more, and the late requests whose answer nobody waits for."""
    refusals: Map[Replica, Set[Replica]]
    """Who has refused to vote for this prospective or candidate."""
    acknowledged: Map[Replica, Set[Replica]]
    """Who has answered the EndQuorumEpoch of this resigned leader."""
    known: Map[Replica, Set[Replica]]
    """Of which members a leader has an end offset: itself, and those that have fetched."""

    @initial
    def start(self) -> None:
        super().start()
        self.stale = Set()
        self.refusals = Map({replica: Set() for replica in Replica})
        self.acknowledged = Map({replica: Set() for replica in Replica})
        self.known = Map({replica: Set() for replica in Replica})
        if self.led or self.rivals:
            self.elect(Replica(1))
        if self.rivals:
            self.depose(Replica(1), Replica(2), Replica(3))

    def elect(self, first: Replica) -> None:
        """A replica is elected, and its first record is committed, which everybody hears of."""
        self.transition_to_prospective(first)
        for voter in Replica:
            if self.role[first] == Role.PROSPECTIVE and voter != first:
                self.call(Kind.PRE_VOTE, first, voter, Fate.ANSWERED)
        for voter in Replica:
            if self.role[first] == Role.CANDIDATE and voter != first:
                self.call(Kind.VOTE, first, voter, Fate.ANSWERED)
        for voter in Replica:
            if voter != first:
                self.call(Kind.BEGIN_QUORUM_EPOCH, first, voter, Fate.ANSWERED)
                self.call(Kind.FETCH, voter, first, Fate.ANSWERED)
        for voter in Replica:
            if voter != first:
                self.call(Kind.FETCH, voter, first, Fate.ANSWERED)

    def depose(self, former: Replica, leader: Replica, voter: Replica) -> None:
        """Of three, one is cut off from the others, and writes two records."""
        self.append_as_leader(former)
        self.append_as_leader(former)
        self.transition_to_prospective(voter)
        self.transition_to_prospective(leader)
        self.call(Kind.PRE_VOTE, leader, voter, Fate.ANSWERED)
        self.call(Kind.VOTE, leader, voter, Fate.ANSWERED)

    # Connections.

    def is_between(self, message: Message, replica: Replica, other: Replica) -> bool:
        """Whether a message belongs to what a replica has asked another one."""
        if self.is_request(message.kind):
            return message.source == replica and message.destination == other
        return message.destination == replica and message.source == other

    def forget(self, replica: Replica, other: Replica) -> None:
        """``RequestManager.onRequestSent`` and ``reset``: nothing that was asked before is waited for."""
        self.stale = self.stale | Set(message for message in self.late if self.is_between(message, replica, other))

    def forget_all(self, replica: Replica) -> None:
        """``resetConnections``."""
        for other in Replica:
            self.forget(replica, other)

    def call(self, kind: Kind, source: Replica, destination: Replica, fate: Fate) -> None:
        """A fetch is sent only when no other one is under way: all have timed out."""
        if kind == Kind.FETCH:
            self.forget_all(source)
        else:
            self.forget(source, destination)
        super().call(kind, source, destination, fate)

    def send(self, kind: Kind, request: Message, fate: Fate) -> None:
        super().send(kind, request, fate)
        if fate == Fate.REQUEST_LATE:
            self.stale.discard(request)

    def answer(self, kind: Kind, response: Message, fate: Fate) -> None:
        super().answer(kind, response, fate)
        if fate == Fate.RESPONSE_LATE:
            self.stale.discard(response)

    def response(self, kind: Kind, request: Message) -> Message:
        """Every response names the leader, also one that grants a pre-vote or brings records."""
        return super().response(kind, request).replace(leader=self.quorum_state[request.destination].leader)

    @action
    def late_request_arrives(self, message: Message, fate: Fate, again: bool) -> None:
        require(message in self.late and self.is_request(message.kind) and (self.duplicates or not again))
        require(message.kind != Kind.END_QUORUM_EPOCH or self.may_campaign(message.destination))
        is_stale = message in self.stale
        require(fate != Fate.REQUEST_LATE and (fate != Fate.RESPONSE_LATE or not (again or is_stale)))
        self.take(message, again)
        response = self.handle_request(message.kind, message)
        if not is_stale:
            self.answer(message.kind, response, fate)

    @action
    def late_response_arrives(self, message: Message, again: bool) -> None:
        require(message in self.late and not self.is_request(message.kind) and (self.duplicates or not again))
        is_stale = message in self.stale
        self.take(message, again)
        if not is_stale:
            self.handle_response(self.answered_kind(message.kind), message)

    @action
    def late_message_is_lost(self, message: Message) -> None:
        require(message in self.late)
        super().late_message_is_lost(message)
        self.stale.discard(message)

    def take(self, message: Message, again: bool) -> None:
        super().take(message, again)
        self.stale = self.stale & self.late

    # Roles.

    def take_role(self, replica: Replica, role: Role) -> None:
        super().take_role(replica, role)
        self.refusals[replica] = Set()
        self.acknowledged[replica] = Set()
        self.known[replica] = Set()
        self.forget_all(replica)

    def transition_to_follower(self, replica: Replica, epoch: int, leader: Replica) -> None:
        """``QuorumState.transitionToFollower`` keeps the vote of the epoch."""
        state = self.quorum_state[replica]
        voted = state.voted_key if state.epoch == epoch else None
        super().transition_to_follower(replica, epoch, leader)
        self.quorum_state[replica] = QuorumState(epoch=epoch, leader=leader, voted_key=voted)

    def transition_to_leader(self, replica: Replica) -> None:
        super().transition_to_leader(replica)
        self.known[replica] = Set({replica})

    def append_as_leader(self, leader: Replica) -> None:
        """``maybeAppendBatches``: one thread appends, flushes, and serves fetches."""
        super().append_as_leader(leader)
        self.flush(leader)

    def resign(self, leader: Replica) -> None:
        """``transitionToResigned`` takes along whom it prefers as a successor."""
        super().resign(leader)
        self.forget_all(leader)

    @rule
    def resume(self, replica: Replica) -> None:
        """``QuorumState.initialize``. Who has voted for itself is a candidate, even if it knew the leader."""
        state = self.quorum_state[replica]
        if state.leader == replica:
            self.role[replica] = Role.RESIGNED
        elif state.voted_key == replica:
            self.role[replica] = Role.CANDIDATE
            self.votes[replica] = Set({replica})
            self.quorum_state[replica] = QuorumState(epoch=state.epoch, leader=None, voted_key=replica)
        elif state.leader is not None:
            self.role[replica] = Role.FOLLOWER
        elif state.voted_key is not None:
            self.role[replica] = Role.VOTED

    @action
    def replica_restarts(self, replica: Replica, kept: Offset) -> None:
        super().replica_restarts(replica, kept)
        self.stale = self.stale & self.late

    @action
    def leader_stops_while_writing(self, leader: Replica, kept: Offset) -> None:
        """It has appended a record, and not flushed it."""
        require(self.role[leader] == Role.LEADER and len(self.logs[leader]) < self.max_log)
        require(kept == len(self.logs[leader]) or kept == len(self.logs[leader]) + 1)
        require(self.restarts < self.max_restarts)
        self.restarts += 1
        if kept > len(self.logs[leader]):
            self.logs[leader].append(self.quorum_state[leader].epoch)
        self.high_watermark[leader] = 0
        self.take_role(leader, Role.UNATTACHED)
        self.resume(leader)
        self.late = Set(
            message for message in self.late if self.is_request(message.kind) or message.destination != leader
        )
        self.stale = self.stale & self.late

    # Elections.

    @rule
    def is_lost(self, replica: Replica) -> bool:
        """``EpochElection.isVoteRejected``."""
        return not self.is_majority(self.current_voters - self.refusals[replica])

    @action
    def candidate_requests_vote(self, candidate: Replica, voter: Replica, fate: Fate) -> None:
        require(voter not in self.refusals[candidate] and not self.is_lost(candidate))
        super().candidate_requests_vote(candidate, voter, fate)

    @action
    def prospective_requests_pre_vote(self, replica: Replica, voter: Replica, fate: Fate) -> None:
        require(voter not in self.refusals[replica] and not self.is_lost(replica))
        super().prospective_requests_pre_vote(replica, voter, fate)

    def handle_vote(self, request: Message) -> Message:
        """A prospective that gives its vote begins to count anew (``prospectiveAddVotedState``)."""
        voter = request.destination
        if request.epoch > self.quorum_state[voter].epoch:
            self.transition_to_unattached(voter, request.epoch)
        if not self.grants_vote(request):
            return self.response(Kind.CURRENT_LEADER, request)
        if self.quorum_state[voter].voted_key is None:
            self.store_vote(voter, request.source)
            if self.role[voter] == Role.UNATTACHED:
                self.role[voter] = Role.VOTED
            else:
                self.votes[voter] = Set({voter})
                self.refusals[voter] = Set()
        return self.response(Kind.VOTE_GRANTED, request)

    @rule
    def count_refusal(self, replica: Replica, voter: Replica) -> None:
        """``maybeHandleElectionLoss``: a prospective gives up at once, a candidate waits."""
        self.refusals[replica].add(voter)
        if self.role[replica] == Role.PROSPECTIVE and self.is_lost(replica):
            self.give_up(replica)

    # The leader and its successors.

    @action
    def fetch_timer_expires(self, leader: Replica) -> None:
        """``timeUntilCheckQuorumExpires``. The timer starts anew whenever a majority has fetched."""
        require(self.role[leader] == Role.LEADER)
        self.lose_majority(leader)

    def record_fetch(self, leader: Replica, replica: Replica, offset: Offset) -> None:
        """``updateReplicaState`` and ``updateCheckQuorumForFollowingVoter``."""
        self.leader_state[leader].end_offsets[replica] = offset
        self.known[leader].add(replica)
        fetched = self.leader_state[leader].fetched_voters | {replica}
        self.leader_state[leader].fetched_voters = Set[Replica]() if self.is_majority(fetched | {leader}) else fetched

    @action
    def leader_sends_end_quorum_epoch(self, leader: Replica, voter: Replica, fate: Fate) -> None:
        require(voter not in self.acknowledged[leader] and self.may_campaign(voter))
        super().leader_sends_end_quorum_epoch(leader, voter, fate)

    def successor_rank(self, leader: Replica, voter: Replica) -> int:
        """``nonLeaderVotersByDescendingFetchOffset``: then by id; whoever has not fetched is last. A leader that has
        restarted names nobody, and everybody stands at once (``endEpochElectionBackoff``).
        """
        if len(self.known[leader]) == 0:
            return 0
        return sum(1 for other in self.current_voters - {leader} if self.precedes(leader, other, voter))

    def precedes(self, leader: Replica, one: Replica, other: Replica) -> bool:
        """Whether the leader prefers one voter to another one."""
        known = self.known[leader]
        if one in known and other not in known:
            return True
        if one not in known and other in known:
            return False
        offsets = self.leader_state[leader].end_offsets
        return offsets[one] > offsets[other] or (offsets[one] == offsets[other] and self.is_before(one, other))

    def is_before(self, one: Replica, other: Replica) -> bool:
        """By id: a sequence made of a set is in that order."""
        return one != other and Seq(Set({one, other}))[0] == one

    # Fetches.

    def may_fetch(self, replica: Replica, source: Replica) -> bool:
        """``maybeSendFetchToBestNode``, and ``maybeSendFetchToAnyBootstrap`` where there is no leader, or none
        answers.
        """
        return self.role[replica] in (Role.FOLLOWER, Role.UNATTACHED, Role.VOTED)

    def handle_records(self, response: Message) -> None:
        follower = response.destination
        self.has_fetched.add(follower)
        if response.next_epoch != 0:
            self.append_as_follower(follower, response.next_epoch)
        known = self.known_committed(follower, response.bound)
        if response.bound > 0 and known < self.high_watermark[follower]:
            self.illegal = True
        self.high_watermark[follower] = max(self.high_watermark[follower], known)

    def handle_diverging(self, response: Message) -> None:
        """``handleFetchResponse`` judges by what the leader says, and ``truncateTo`` by what is truncated."""
        follower = response.destination
        self.has_fetched.add(follower)
        offset = self.truncation_offset(follower, response.next_epoch, response.bound)
        if response.bound < self.high_watermark[follower] or offset < self.high_watermark[follower]:
            self.illegal = True
        else:
            self.logs[follower] = self.logs[follower][:offset]
            self.flush(follower)

    # Answers.

    def handle_response(self, kind: Kind, response: Message) -> None:
        """``maybeHandleCommonResponse``, and then what belongs to the request, unless the state has changed."""
        replica = response.destination
        role = self.role[replica]
        epoch = self.quorum_state[replica].epoch
        self.forget(replica, response.source)
        self.learn_leader(replica, response.epoch, response.leader)
        if response.epoch == epoch:
            if response.kind in (Kind.RECORDS, Kind.DIVERGING):
                self.handle_fetched(response)
            elif self.role[replica] == role:
                self.handle_vote_response(response)

    def handle_fetched(self, response: Message) -> None:
        if self.answers_current_fetch(response):
            if response.kind == Kind.RECORDS:
                self.handle_records(response)
            else:
                self.handle_diverging(response)

    def handle_vote_response(self, response: Message) -> None:
        """A vote, a pre-vote, a refusal, or an acknowledged resignation; who waits for what is in its role."""
        replica = response.destination
        if response.kind == Kind.VOTE_GRANTED:
            self.count_vote(replica, response.source)
        elif response.kind == Kind.PRE_VOTE_GRANTED:
            self.count_pre_vote(replica, response.source)
        elif self.role[replica] in (Role.PROSPECTIVE, Role.CANDIDATE):
            self.count_refusal(replica, response.source)
        elif self.role[replica] == Role.RESIGNED:
            self.acknowledged[replica].add(response.source)
