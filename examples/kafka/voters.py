"""What ``KafkaRaftClient`` does with voters that change: ``DynamicPreVote`` (``model/dynamic_quorum/``), with what the
code adds to KIP-853.

It is held against the classes in a walk (``voters_adapter.py``). Each override says which method of Kafka decides so.
What is added:

* A replica may know who leads, and not where: the addresses of leaders are those of the voters, or come in answers.
* The leader waits for the change that it was asked for. It resigns as one that is no voter only if it still waits.
* A replica has caught up if it did so at some time in the leader's epoch, within the hour.
* A replica reads each offset of its log once: a VotersRecord that takes the place of a truncated record is not read.
* A leader that has resigned says so to its voters (EndQuorumEpoch), without its addresses. The one that had fetched
  most stands at once.
* A replica that throws stops; it may start again.
* A vote that is refused is counted, and a vote is kept beside the leader of its epoch.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import Between, Constant, Map, Seq, Set, action, initial, require, rule
from model.dynamic_quorum.pre_vote import DynamicPreVote
from model.dynamic_quorum.voters import Entry
from model.kraft.quorum import Epoch, Offset, Replica, Role


class Change(Enum):
    """What a leader waits for (``AddVoterHandlerState``, ``RemoveVoterHandlerState``)."""

    NONE = "none"
    ADD = "add"
    REMOVE = "remove"


class KafkaVoters(DynamicPreVote):
    """Controllers of Kafka whose voters change. Each log begins as ``kafka-storage format`` leaves it: kraft.version,
    and the first voters. One of them leads, and its first record is committed.
    """

    voters = Constant(3)
    max_strays = Constant(3)
    """How often a follower asks another replica than its leader, or the leader and a follower ask each other to no
    purpose, or an answer is lost.
    """
    max_resignations = Constant(2)
    max_timeouts = Constant(60)
    fresh = Constant(False)
    """Whether the observers have an empty log at first, and know nothing but addresses to ask."""

    strays: Annotated[int, Between(0, "max_strays")]
    resignations: Annotated[int, Between(0, "max_resignations")]
    timeouts: Annotated[int, Between(0, "max_timeouts")]
    refusals: Map[Replica, Set[Replica]]
    """Who has refused to vote for this prospective or candidate."""
    known: Map[Replica, Set[Replica]]
    """Of which other replicas a leader has an end offset."""
    seen_ends: Map[Replica, Map[Replica, Offset]]
    """Where the leader's log ended when a replica fetched last (``ReplicaState.lastFetchLeaderLogEndOffset``)."""
    caught_up: Map[Replica, Set[Replica]]
    """Whom a leader has seen catch up (``ReplicaState.lastCaughtUpTimestamp``)."""
    pending: Map[Replica, Change]
    awaited: Map[Replica, Offset]
    """The end of the record with that change."""
    read: Map[Replica, Offset]
    """How far a replica has read its log for voters (``KRaftControlRecordStateMachine.nextOffset``)."""
    missed: Map[Replica, Set[Offset]]
    """The ends of the VotersRecords in its log that it has not read."""
    unanswered: Map[Replica, Set[Replica]]
    """Whose answer to BeginQuorumEpoch is late, and waited for."""
    preferred_successor: Map[Replica, Replica | None]
    """Who is the first of a resigned leader's successors. After a restart it has none, and all are the first."""
    acknowledged: Map[Replica, Set[Replica]]
    """Who has answered the EndQuorumEpoch of this resigned leader."""
    nowhere: Set[Replica]
    """The replicas that know the id of their leader, and no address."""
    stopped: Set[Replica]
    """The replicas that have thrown: ``KafkaRaftClientDriver`` ends the process."""

    @initial
    def start(self, leader: Replica, first: Set[Replica]) -> None:
        require(leader == Replica(1))
        super().start(leader, first)
        log = Seq([Entry(epoch=0), Entry(epoch=0, voters=first)])
        here = first if self.fresh else Set(Replica)
        self.logs = Map({replica: log if replica in here else Seq() for replica in Replica})
        self.voter_set = Map({replica: first if replica in here else Set() for replica in Replica})
        self.high_watermark = Map({replica: 0 for replica in Replica})
        self.end_offsets = Map({replica: self.no_offsets() for replica in Replica})
        self.elected = Map({epoch: None for epoch in range(self.max_epoch + 1)})
        self.committed = Seq()
        self.refusals = Map({replica: Set() for replica in Replica})
        self.known = Map({replica: Set() for replica in Replica})
        self.seen_ends = Map({replica: self.no_offsets() for replica in Replica})
        self.caught_up = Map({replica: Set() for replica in Replica})
        self.pending = Map({replica: Change.NONE for replica in Replica})
        self.unanswered = Map({replica: Set() for replica in Replica})
        self.awaited = Map({replica: 0 for replica in Replica})
        self.read = Map({replica: len(self.logs[replica]) for replica in Replica})
        self.missed = Map({replica: Set() for replica in Replica})
        self.preferred_successor = Map({replica: None for replica in Replica})
        self.acknowledged = Map({replica: Set() for replica in Replica})
        self.nowhere = Set()
        self.stopped = Set()
        self.strays = 0
        self.resignations = 0
        self.timeouts = 0
        for replica in Replica:
            self.transition_to_unattached(replica, 0)
        self.elect(leader, here)

    def elect(self, first: Replica, here: Set[Replica]) -> None:
        """A voter is elected, and all who are here have its first record and know that it is committed."""
        self.stand(first)
        for voter in self.voter_set[first]:
            if self.role[first] == Role.PROSPECTIVE and voter != first:
                self.ask_for_pre_vote(first, voter)
        for voter in self.voter_set[first]:
            if self.role[first] == Role.CANDIDATE and voter != first:
                self.ask_for_vote(first, voter)
        for _ in range(3):
            for replica in here:
                if replica != first:
                    served = self.quorum_state[replica].epoch == self.quorum_state[first].epoch
                    more = len(self.logs[first]) > len(self.logs[replica])
                    self.fetch(replica, first, 1 if served and more else 0)

    @rule
    def are_up(self, one: Replica, other: Replica) -> bool:
        return one not in self.stopped and other not in self.stopped

    # The log, and the voters in it.

    @rule
    def reads(self, replica: Replica, end: Offset) -> bool:
        """``maybeLoadLog``: the next offset to be read is not set back when the log is truncated."""
        return end > self.read[replica]

    def append(self, replica: Replica, entry: Entry) -> None:
        """A VotersRecord that comes where another record was truncated is not read."""
        self.logs[replica].append(entry)
        end = len(self.logs[replica])
        if self.reads(replica, end):
            if entry.voters is not None:
                self.voter_set[replica] = entry.voters
        elif entry.voters is not None:
            self.missed[replica].add(end)
        self.read[replica] = max(self.read[replica], end)

    def truncate(self, replica: Replica, offset: Offset) -> None:
        self.missed[replica] = Set(end for end in self.missed[replica] if end <= offset)
        super().truncate(replica, offset)

    def voters_below(self, replica: Replica, end: Offset) -> Set[Replica]:
        voters = Set[Replica]()
        for offset, entry in enumerate(self.logs[replica][:end], 1):
            if entry.voters is not None and offset not in self.missed[replica]:
                voters = entry.voters
        return voters

    def last_change(self, replica: Replica) -> Offset:
        return max((offset for offset, entry in enumerate(self.logs[replica], 1)
                    if entry.voters is not None and offset not in self.missed[replica]), default=0)

    def read_from_the_start(self, replica: Replica) -> None:
        self.missed[replica] = Set()
        self.read[replica] = len(self.logs[replica])
        self.voter_set[replica] = self.voters_below(replica, len(self.logs[replica]))

    # Roles.

    def take_role(self, replica: Replica, role: Role) -> None:
        """``resetConnections``, and ``LeaderState.close``."""
        super().take_role(replica, role)
        self.refusals[replica] = Set()
        self.known[replica] = Set()
        self.seen_ends[replica] = self.no_offsets()
        self.caught_up[replica] = Set()
        self.pending[replica] = Change.NONE
        self.awaited[replica] = 0
        self.unanswered[replica] = Set()
        self.preferred_successor[replica] = None
        self.acknowledged[replica] = Set()

    def transition_to_unattached(self, replica: Replica, epoch: Epoch) -> None:
        super().transition_to_unattached(replica, epoch)
        self.nowhere.discard(replica)

    def transition_to_follower(self, replica: Replica, epoch: Epoch, leader: Replica) -> None:
        super().transition_to_follower(replica, epoch, leader)
        self.nowhere.discard(replica)

    def transition_to_candidate(self, replica: Replica) -> None:
        self.nowhere.discard(replica)
        super().transition_to_candidate(replica)

    @rule
    def give_up(self, replica: Replica) -> None:
        """``prospectiveTransitionAfterElectionLoss``: back to its leader if it knows where that one is."""
        following = self.quorum_state[replica].leader is not None and replica not in self.nowhere
        self.take_role(replica, Role.FOLLOWER if following else Role.UNATTACHED)

    # What a replica hears of the leader.

    @rule
    def knows_address(self, replica: Replica, leader: Replica, told: bool) -> bool:
        """An address comes with what says who leads, or from the voters (``VoterSet.listeners``)."""
        return told or leader in self.voter_set[replica]

    @rule
    def tells_address(self, source: Replica) -> bool:
        """``QuorumState.leaderEndpoints``."""
        return source not in self.nowhere

    def learn_leader(self, replica: Replica, epoch: Epoch, leader: Replica | None) -> None:
        """As told by BeginQuorumEpoch, which has the leader's address."""
        self.hear_of_leader(replica, epoch, leader, True)

    def hear_of_leader(self, replica: Replica, epoch: Epoch, leader: Replica | None, told: bool) -> None:
        """``maybeTransition``. Without an address ``transitionToFollower`` throws."""
        state = self.quorum_state[replica]
        if epoch < state.epoch:
            return
        if leader is None:
            if epoch > state.epoch:
                self.transition_to_unattached(replica, epoch)
        elif leader == replica or (epoch == state.epoch and state.leader is not None and state.leader != leader):
            self.illegal = self.illegal or self.role[replica] != Role.LEADER or epoch > state.epoch
        elif epoch > state.epoch or state.leader is None:
            if self.knows_address(replica, leader, told):
                self.transition_to_follower(replica, epoch, leader)
            else:
                self.stopped.add(replica)
        elif replica in self.nowhere and self.knows_address(replica, leader, told):
            self.transition_to_follower(replica, epoch, leader)

    def hear_without_error(self, replica: Replica, source: Replica) -> None:
        """``maybeHandleCommonResponse``, where the answer has no error: more than the leader's id is not wanted."""
        state = self.quorum_state[source]
        if state.epoch > self.quorum_state[replica].epoch or self.quorum_state[replica].leader is None:
            self.hear_of_leader(replica, state.epoch, state.leader, self.tells_address(source))

    # Elections.

    def may_stand(self, replica: Replica) -> bool:
        return super().may_stand(replica) and replica not in self.stopped

    @action
    def election_timeout(self, replica: Replica) -> None:
        require(self.timeouts < self.max_timeouts)
        super().election_timeout(replica)
        self.timeouts += 1

    @action
    def former_leader_leaves_epoch(self, replica: Replica) -> None:
        require(replica not in self.stopped)
        super().former_leader_leaves_epoch(replica)

    @rule
    def is_lost(self, replica: Replica) -> bool:
        """``EpochElection.isVoteRejected``."""
        voters = self.voter_set[replica]
        return not self.is_majority(voters - self.refusals[replica], voters)

    def may_ask(self, replica: Replica, voter: Replica) -> bool:
        """``EpochElection.unrecordedVoters``."""
        unheard = self.voter_set[replica] - self.votes[replica] - self.refusals[replica]
        return self.are_up(replica, voter) and voter in unheard and not self.is_lost(replica)

    @action
    def candidate_requests_vote(self, candidate: Replica, voter: Replica) -> None:
        require(self.role[candidate] == Role.CANDIDATE and self.may_ask(candidate, voter))
        self.ask_for_vote(candidate, voter)

    def ask_for_vote(self, candidate: Replica, voter: Replica) -> None:
        """``handleVoteRequest``. A prospective that gives its vote begins to count anew."""
        epoch = self.quorum_state[candidate].epoch
        if epoch > self.quorum_state[voter].epoch:
            self.transition_to_unattached(voter, epoch)
        if self.grants_vote(voter, candidate):
            if self.quorum_state[voter].voted_key is None and self.role[voter] == Role.PROSPECTIVE:
                self.votes[voter] = Set({voter})
                self.refusals[voter] = Set()
            self.quorum_state[voter].voted_key = candidate
            self.count_vote(candidate, voter)
        else:
            self.count_refusal(candidate, voter)

    @action
    def prospective_requests_pre_vote(self, replica: Replica, voter: Replica) -> None:
        require(self.role[replica] == Role.PROSPECTIVE and self.may_ask(replica, voter))
        self.ask_for_pre_vote(replica, voter)

    def ask_for_pre_vote(self, replica: Replica, voter: Replica) -> None:
        """``handleVoteRequest``. An answer also names the leader, whom a prospective without one then follows."""
        epoch = self.quorum_state[replica].epoch
        if epoch > self.quorum_state[voter].epoch:
            self.transition_to_unattached(voter, epoch)
        if self.grants_pre_vote(voter, replica):
            self.hear_without_error(replica, voter)
            if self.role[replica] == Role.PROSPECTIVE and replica not in self.stopped:
                self.count_pre_vote(replica, voter)
        else:
            self.count_refusal(replica, voter)

    def count_refusal(self, replica: Replica, voter: Replica) -> None:
        """``maybeHandleElectionLoss``: a prospective gives up at once, a candidate waits."""
        epoch = self.quorum_state[replica].epoch
        role = self.role[replica]
        self.hear_without_error(replica, voter)
        if self.quorum_state[voter].epoch == epoch and self.role[replica] == role and replica not in self.stopped:
            self.refusals[replica].add(voter)
            if role == Role.PROSPECTIVE and self.is_lost(replica):
                self.give_up(replica)

    @action
    def prospective_gives_up(self, replica: Replica) -> None:
        require(self.role[replica] == Role.PROSPECTIVE and replica not in self.stopped)
        self.give_up(replica)

    # The leader.

    @action
    def leader_sends_begin_quorum_epoch(self, leader: Replica, voter: Replica, late: bool) -> None:
        """The answer may be late, if it names the leader. A later request takes its place (``RequestManager``)."""
        require(self.role[leader] == Role.LEADER and voter in self.voter_set[leader] - {leader})
        require(self.are_up(leader, voter))
        epoch = self.quorum_state[leader].epoch
        require(not late or (self.quorum_state[voter].epoch <= epoch and voter not in self.unanswered[leader]))
        if self.quorum_state[voter].epoch == epoch and self.quorum_state[voter].leader == leader and not late:
            require(self.strays < self.max_strays)
            self.strays += 1
        self.unanswered[leader].discard(voter)
        self.learn_leader(voter, epoch, leader)
        if late:
            self.unanswered[leader].add(voter)
        else:
            self.hear_of_leader(leader, self.quorum_state[voter].epoch, self.quorum_state[voter].leader,
                                self.tells_address(voter))

    @action
    def late_acknowledgement_arrives(self, leader: Replica, voter: Replica) -> None:
        """``LeaderState.addAcknowledgementFrom``: of one that is no voter any more, it throws."""
        require(leader not in self.stopped and voter in self.unanswered[leader])
        self.unanswered[leader].discard(voter)
        if voter not in self.voter_set[leader]:
            self.stopped.add(leader)

    @action
    def leader_resigns(self, leader: Replica) -> None:
        """``KafkaRaftClient.resign``, which the controller calls."""
        require(leader not in self.stopped and self.resignations < self.max_resignations)
        self.resignations += 1
        super().leader_resigns(leader)

    @action
    def quorum_check_expires(self, leader: Replica) -> None:
        """``LeaderState.timeUntilCheckQuorumExpires``: with one voter never, whoever that is."""
        require(self.role[leader] == Role.LEADER and leader not in self.stopped and len(self.voter_set[leader]) > 1)
        require(self.resignations < self.max_resignations)
        self.resignations += 1
        self.resign(leader)

    def resign(self, leader: Replica) -> None:
        preferred = self.first_successor(leader)
        super().resign(leader)
        self.preferred_successor[leader] = preferred

    @rule
    def first_successor(self, leader: Replica) -> Replica | None:
        """``LeaderState.nonLeaderVotersByDescendingFetchOffset``: who has fetched most, then by id."""
        first: Replica | None = None
        for voter in self.voter_set[leader]:
            if voter != leader and (first is None or self.precedes(leader, voter, first)):
                first = voter
        return first

    @rule
    def precedes(self, leader: Replica, one: Replica, other: Replica) -> bool:
        """``ReplicaState.compareTo``, of two of which the other is before the one by id."""
        if one not in self.known[leader]:
            return False
        return other not in self.known[leader] or self.end_offsets[leader][one] > self.end_offsets[leader][other]

    @action
    def leader_sends_end_quorum_epoch(self, leader: Replica, voter: Replica) -> None:
        """``handleEndQuorumEpochRequest``. The request has no addresses. A voter that follows the leader, and is the
        first of its successors, stands at once.
        """
        require(self.role[leader] == Role.RESIGNED and self.are_up(leader, voter))
        require(voter in self.voter_set[leader] - {leader} - self.acknowledged[leader])
        epoch = self.quorum_state[leader].epoch
        self.hear_of_leader(voter, epoch, leader, self.tells_address_at_end())
        if voter not in self.stopped:
            if self.quorum_state[voter].epoch == epoch:
                self.acknowledged[leader].add(voter)
            else:
                self.hear_of_leader(leader, self.quorum_state[voter].epoch, self.quorum_state[voter].leader,
                                    self.tells_address(voter))
        following = self.role[voter] == Role.FOLLOWER and self.quorum_state[voter].leader == leader
        if following and self.is_voter(voter) and self.preferred_successor[leader] in (None, voter):
            require(self.may_campaign(voter))
            self.stand(voter)

    @rule
    def tells_address_at_end(self) -> bool:
        """``RaftUtil.singletonEndQuorumEpochRequest``, other than the one of BeginQuorumEpoch, sets none."""
        return False

    @action
    def client_writes(self, leader: Replica) -> None:
        require(self.role[leader] == Role.LEADER and leader not in self.stopped)
        require(len(self.logs[leader]) < self.max_log)
        self.append(leader, Entry(epoch=self.quorum_state[leader].epoch))
        self.advance_high_watermark(leader)

    # Changes.

    def may_change(self, leader: Replica) -> bool:
        """``LeaderState.isOperationPending``."""
        return leader not in self.stopped and self.pending[leader] == Change.NONE and super().may_change(leader)

    def has_caught_up(self, leader: Replica, replica: Replica) -> bool:
        """``LeaderState.isReplicaCaughtUp``: at some time within the hour."""
        return replica in self.caught_up[leader]

    @action
    def leader_adds_voter(self, leader: Replica, replica: Replica) -> None:
        """The leader asks the new voter for its versions, which takes the place of an earlier request."""
        require(replica not in self.stopped)
        super().leader_adds_voter(leader, replica)
        self.unanswered[leader].discard(replica)
        self.wait_for(leader, Change.ADD)

    @action
    def leader_removes_voter(self, leader: Replica, voter: Replica) -> None:
        super().leader_removes_voter(leader, voter)
        self.wait_for(leader, Change.REMOVE)

    @action
    def leader_updates_voter(self, leader: Replica, voter: Replica) -> None:
        """A voter asks for it itself, and the leader writes its own entry when its epoch begins."""
        require(voter != leader and voter not in self.stopped)
        super().leader_updates_voter(leader, voter)

    def wait_for(self, leader: Replica, change: Change) -> None:
        """``highWatermarkUpdated`` of the handlers."""
        if self.role[leader] == Role.LEADER and len(self.logs[leader]) > self.high_watermark[leader]:
            self.pending[leader] = change
            self.awaited[leader] = len(self.logs[leader])

    def advance_high_watermark(self, leader: Replica) -> None:
        super().advance_high_watermark(leader)
        if self.role[leader] == Role.LEADER and self.awaited[leader] <= self.high_watermark[leader]:
            self.pending[leader] = Change.NONE
            self.awaited[leader] = 0

    @rule
    def resigns_when_removed(self, leader: Replica) -> bool:
        """``RemoveVoterHandler.highWatermarkUpdated``: only a handler that still waits."""
        committed = self.awaited[leader] <= self.high_watermark[leader]
        return self.pending[leader] == Change.REMOVE and committed and not self.is_voter(leader)

    @action
    def change_times_out(self, leader: Replica) -> None:
        """``LeaderState.maybeExpirePendingOperation``. Requests of the leader's own time out as well."""
        require(self.role[leader] == Role.LEADER and leader not in self.stopped)
        require(self.pending[leader] != Change.NONE)
        self.pending[leader] = Change.NONE
        self.awaited[leader] = 0
        self.unanswered[leader] = Set()

    # Fetches.

    def may_fetch(self, replica: Replica, source: Replica) -> bool:
        """``maybeSendFetchToBestNode``, and ``maybeSendFetchToAnyBootstrap`` where there is no leader, or none
        answers.
        """
        return self.role[replica] in (Role.FOLLOWER, Role.UNATTACHED)

    @action
    def replica_fetches(
        self, replica: Replica, source: Replica, records: Annotated[int, Between(0, "max_batch")]
    ) -> None:
        require(replica != source and self.are_up(replica, source) and self.may_fetch(replica, source))
        if records == 0 and self.learns_nothing(replica, source):
            require(self.strays < self.max_strays)
            self.strays += 1
        self.fetch(replica, source, records)

    @rule
    def learns_nothing(self, replica: Replica, source: Replica) -> bool:
        """Whether neither of the two is any other after a fetch."""
        own = self.quorum_state[replica]
        told = self.quorum_state[source]
        end = len(self.logs[replica])
        if self.role[source] != Role.LEADER or own.epoch != told.epoch:
            knows = told.leader is None or own.leader is not None
            return told.epoch < own.epoch or (told.epoch == own.epoch and knows)
        return self.role[replica] == Role.FOLLOWER and replica in self.known[source] and (
            self.end_offsets[source][replica] == end
            and (
                end < len(self.logs[source])
                or (self.high_watermark[replica] == self.high_watermark[source] and replica in self.has_fetched)
            )
        )

    def fetch(self, replica: Replica, source: Replica, records: int) -> None:
        """``tryCompleteFetchRequest`` and ``handleFetchResponse``."""
        epoch = self.quorum_state[source].epoch
        if self.role[source] != Role.LEADER or self.quorum_state[replica].epoch != epoch:
            require(records == 0)
            self.hear_of_leader(replica, epoch, self.quorum_state[source].leader, self.tells_address(source))
        else:
            diverges = self.is_diverging(source, replica)
            more = len(self.logs[source]) - len(self.logs[replica])
            require(records == 0 if diverges else records <= more and (records > 0 or more == 0 or self.loss))
            if not diverges:
                self.record_fetch(source, replica)
            if diverges or records > 0 or more == 0:
                self.take_fetched(replica, source, records)

    def record_fetch(self, leader: Replica, replica: Replica) -> None:
        """``ReplicaState.updateFollowerState``."""
        offset = len(self.logs[replica])
        end = len(self.logs[leader])
        if offset >= end or (self.seen_ends[leader][replica] > 0 and offset >= self.seen_ends[leader][replica]):
            self.caught_up[leader].add(replica)
        self.seen_ends[leader][replica] = end
        self.end_offsets[leader][replica] = offset
        self.known[leader].add(replica)
        self.advance_high_watermark(leader)

    def take_fetched(self, replica: Replica, leader: Replica, records: int) -> None:
        """Whoever did not know the leader follows it first. Whoever knows it, and not where it is, is no follower, and
        throws (``followerStateOrThrow``).
        """
        if self.role[replica] == Role.UNATTACHED and self.quorum_state[replica].leader is None:
            self.transition_to_follower(replica, self.quorum_state[leader].epoch, leader)
        if self.role[replica] != Role.FOLLOWER:
            self.stopped.add(replica)
        else:
            self.has_fetched.add(replica)
            if self.is_diverging(leader, replica):
                self.truncate_to(replica, leader)
            else:
                self.copy_records(replica, leader, len(self.logs[replica]) + records)

    # Restarts.

    @action
    def replica_restarts(self, replica: Replica) -> None:
        """``QuorumState.initialize``. A vote of its own is looked at before the leader, and a candidate has to be a
        voter. Who is the only voter leads at once.
        """
        self.read_from_the_start(replica)
        require(self.voter_set[replica] != Set({replica}) or self.may_campaign(replica))
        self.stopped.discard(replica)
        self.nowhere.discard(replica)
        stands = self.stands_again(replica)
        if stands and not self.is_voter(replica):
            require(self.restarts < self.max_restarts)
            self.restarts += 1
            self.high_watermark[replica] = 0
            self.take_role(replica, Role.UNATTACHED)
            self.stopped.add(replica)
        else:
            if stands:
                self.quorum_state[replica].leader = None
            super().replica_restarts(replica)
            self.begin_again(replica)

    @rule
    def stands_again(self, replica: Replica) -> bool:
        """``ElectionState.isVotedCandidate`` of what is stored."""
        state = self.quorum_state[replica]
        return state.voted_key == replica and state.leader != replica

    def begin_again(self, replica: Replica) -> None:
        leader = self.quorum_state[replica].leader
        if self.role[replica] == Role.FOLLOWER and leader is not None and leader not in self.voter_set[replica]:
            self.take_role(replica, Role.UNATTACHED)
            self.nowhere.add(replica)
        if self.voter_set[replica] == Set({replica}):
            if self.role[replica] == Role.CANDIDATE:
                self.count_vote(replica, replica)
            else:
                self.take_role(replica, Role.PROSPECTIVE)
                self.count_pre_vote(replica, replica)


WALKED = {
    "max_epoch": 6, "max_log": 20, "max_adds": 20, "max_removes": 20, "max_updates": 20, "max_restarts": 4,
    "loss": True,
}
"""Epochs, restarts, resignations and idle fetches are few, so that there is more of the rest. A walk does not come to
the other bounds.
"""
