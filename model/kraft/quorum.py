"""KIP-595: a Raft quorum whose followers fetch, which is how Kafka keeps its metadata log.

Start here. Each part of the text, its model, its known-bad designs (specs/kraft/) and its specs; the properties of each
model are in the file of the same name in invariants/kraft/ (disk_loss.py: quorum.py's). It refines committed_log.py:

    KIP-595 "Vote", "Vote Request Handling",       quorum.py     flawed.py            quorum, restart, observer,
      "BeginQuorumEpoch", "EndQuorumEpoch",                                           two_voters, seven_voters
      "Leader Progress Timeout", "Fetch",                                             stands_at_once (word for word)
      "DescribeQuorum"                                                                completeness (a proof)
    KIP-595 "Vote": several partitions in          batch.py      flawed_batch.py      batch
      one request ("multi-raft")
    KIP-595, the requests' ClusterId               clusters.py   flawed_clusters.py   clusters
    KIP-595 "Fetch": whom a leader serves          quorum.py     flawed_serving.py    any_fetch_epoch, half_commits
      a deposed leader that leads again            returning_leader.py, flawed_serving.py  returning_leader
    KIP-996; KIP-595 "Leader Progress Timeout":    pre_vote.py   flawed_pre_vote.py   pre_vote, disruptive_voter,
      disruptive voters                                                               stores_both
    beyond the KIPs: a bad network                 network.py    flawed_network.py    late_messages, cut_off
    beyond the KIPs: a voter loses its disk        disk_loss.py  flawed_disk_loss.py  disk_loss
    KIP-595 "Leader Progress Timeout": observers,  observers.py  flawed_observers.py  observers
      and stale information that is served         reads.py      flawed_reads.py      reads, observer_reads
      a zombie that is no voter any more           former_voter.py, flawed_former_voter.py  former_voter
      disruptive leaders, with and without KIP-996 timely.py     flawed_timely.py     timely, timely_pre_vote
    KIP-595 "EndQuorumEpoch" from a candidate      end_quorum_epoch.py, flawed_end_quorum_epoch.py  end_quorum_epoch
    liveness: progress.py, elections.py,           flawed_progress.py, flawed_elections.py, flawed_hand_over.py
      hand_over.py, purgatory.py, high_watermark.py (KIP-1166)                        of the same names, *progress*

Voters elect a leader for an epoch, the leader appends, the others copy its log by fetching, and what a majority has is
committed. The state that a replica stores before it acts (its quorum-state file and its log) is kept separate from what
it forgets in a restart.

A request, its handling and its response are one step here; the response may be lost. network.py has messages that are
late, overtaken and duplicated. Timers have no clock: they may expire whenever they run. What must be reachable is in
invariants/kraft/quorum_scenarios.py. Snapshots (KIP-630) and changes of the voter set (KIP-853) are left out.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import (
    Between,
    Capacity,
    Constant,
    Identifier,
    Map,
    Model,
    Record,
    Seq,
    Set,
    action,
    initial,
    require,
    rule,
)
from model.replica_log import end_offset_for_epoch, epoch_up_to


class Replica(Identifier, count="voters + observers", prefix="r"):
    """A broker with a copy of the log: a voter, or an observer that only fetches."""


Epoch = Annotated[int, Between(0, "max_epoch")]
Offset = Annotated[int, Between(0, "max_log")]
Log = Annotated[Seq[Annotated[int, Between(1, "max_epoch")]], Capacity("max_log")]
"""A record is the epoch that it was written in: a leader writes an offset only once in its epoch."""


class Role(Enum):
    """What a replica does in its epoch."""

    UNATTACHED = "unattached"
    VOTED = "voted"
    PROSPECTIVE = "prospective"
    """Asks for pre-votes (KIP-996)."""
    CANDIDATE = "candidate"
    LEADER = "leader"
    RESIGNED = "resigned"
    FOLLOWER = "follower"


class QuorumState(Record):
    """The quorum-state file, which a replica writes before it acts on it. It names a leader or a vote, not both, up to
    Kafka 3.9; what has been stored since KIP-996 is ``KeepsVoteBesideLeader`` in pre_vote.py.
    """

    epoch: Epoch
    leader: Replica | None
    voted_key: Replica | None


class LeaderState(Record):
    """What a leader keeps in memory. A leader that has resigned still ranks its successors by it."""

    epoch_start_offset: Offset
    """The offset of the epoch's first record, which announces the leader (LeaderChange)."""
    end_offsets: Map[Replica, Offset]
    """The last fetch offset of each replica; 0 before its first fetch in this epoch (-1 in DescribeQuorum)."""
    fetched_voters: Set[Replica]
    """The voters that have fetched since the fetch timer was set."""


class Position(Record):
    """Where a log ends: the epoch of the last record, and the log end offset. Both are 0 for an empty log."""

    epoch: Epoch
    offset: Offset


class Kind(Enum):
    """The requests, and below them what a response may say. Pre-votes are those of KIP-996."""

    VOTE = "Vote"
    PRE_VOTE = "PreVote"
    BEGIN_QUORUM_EPOCH = "BeginQuorumEpoch"
    END_QUORUM_EPOCH = "EndQuorumEpoch"
    FETCH = "Fetch"
    VOTE_GRANTED = "vote granted"
    PRE_VOTE_GRANTED = "pre-vote granted"
    RECORDS = "records"
    DIVERGING = "diverging epoch"
    CURRENT_LEADER = "current leader"
    """Nothing but the epoch and leader that the responder knows, which every response carries: a refused vote, the
    answer to BeginQuorumEpoch and EndQuorumEpoch, FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, NOT_LEADER_OR_FOLLOWER.
    """


class Message(Record):
    """A request or a response. Fields that its kind does not use are None or 0."""

    kind: Kind
    source: Replica
    destination: Replica
    epoch: Epoch
    leader: Replica | None = None
    position: Position
    """The end of the sender's log, in Vote and Fetch. The response to a fetch repeats it, in place of a
    correlation id.
    """
    rank: Annotated[int, Between(0, "voters")] = 0
    """In EndQuorumEpoch: the receiver's place among the preferred successors, starting at 0."""
    next_epoch: Epoch = 0
    """RECORDS: the epoch of the next record, 0 at the end of the log. DIVERGING: the diverging epoch."""
    bound: Offset = 0
    """RECORDS: the high watermark. DIVERGING: the offset where that epoch ends."""


class Fate(Enum):
    """What happens to a request that is not lost, and to its response. Only in KraftNetwork are messages late."""

    ANSWERED = "answered"
    RESPONSE_LOST = "response lost"
    RESPONSE_LATE = "response late"
    REQUEST_LATE = "request late"


class QuorumInfo(Record):
    """The response to DescribeQuorum."""

    leader: Replica
    leader_epoch: Epoch
    high_watermark: Offset
    current_voters: Map[Replica, Offset | None]
    observers: Map[Replica, Offset | None]


class Kraft(Model):
    """One partition, the voters of its quorum and its observers."""

    voters = Constant(3)
    observers = Constant(0)
    max_epoch = Constant(3)
    max_log = Constant(2)
    max_restarts = Constant(2)
    lossy_restarts = Constant(True)
    """Whether a restart loses what was not flushed."""
    loss = Constant(True)
    """Whether responses may be lost. A request that is lost changes nothing."""
    progress_timeout = Constant(True)
    """Whether leaders track who fetches. If not, they may resign at any time, which reaches the same logs and elections
    in a smaller state space.
    """

    current_voters: Set[Replica]
    quorum_state: Map[Replica, QuorumState]
    logs: Map[Replica, Log]
    flushed: Map[Replica, Offset]
    """How much of the log survives a crash."""

    role: Map[Replica, Role]
    votes: Map[Replica, Set[Replica]]
    """Who has voted for this candidate."""
    leader_state: Map[Replica, LeaderState]
    high_watermark: Map[Replica, Offset]
    """0 while unknown, that is until a record of the leader's own epoch is committed."""

    restarts: Annotated[int, Between(0, "max_restarts")]

    elected: Map[Epoch, Replica | None]
    """History: who became the leader of each epoch."""
    committed: Log
    """History: the records below the highest high watermark of any leader so far. A leader that commits a different
    record at the same offset overwrites it.
    """
    illegal: bool
    """History: a replica found itself in a state that the protocol rules out, and stopped."""

    @initial
    def start(self) -> None:
        """An empty log, and nobody leads."""
        voters = Set[Replica]()
        for replica in Replica:
            if len(voters) < self.voters:
                voters = voters | {replica}
        self.current_voters = voters
        self.quorum_state = Map({replica: QuorumState(epoch=0, leader=None, voted_key=None) for replica in Replica})
        self.logs = Map({replica: Seq() for replica in Replica})
        self.flushed = Map({replica: 0 for replica in Replica})
        self.role = Map({replica: Role.UNATTACHED for replica in Replica})
        self.votes = Map({replica: Set() for replica in Replica})
        self.leader_state = Map({replica: self.no_leader_state() for replica in Replica})
        self.high_watermark = Map({replica: 0 for replica in Replica})
        self.restarts = 0
        self.elected = Map({epoch: None for epoch in range(self.max_epoch + 1)})
        self.committed = Seq()
        self.illegal = False

    # The log.

    def log_position(self, replica: Replica) -> Position:
        """Where the replica's log ends."""
        log = self.logs[replica]
        return Position(epoch=log[len(log) - 1] if len(log) > 0 else 0, offset=len(log))

    def flush(self, replica: Replica) -> None:
        self.flushed[replica] = len(self.logs[replica])

    def append_as_leader(self, leader: Replica) -> None:
        """The leader serves what it appended before flushing it."""
        self.logs[leader].append(self.quorum_state[leader].epoch)
        if not self.lossy_restarts:
            self.flush(leader)

    @rule
    def append_as_follower(self, follower: Replica, epoch: Epoch) -> None:
        """A follower flushes before it fetches again: its fetch offset says what it will not lose (KAFKA-10533)."""
        self.logs[follower].append(epoch)
        self.flush(follower)

    # Roles.

    def take_role(self, replica: Replica, role: Role) -> None:
        """Takes a role in its epoch, and forgets what belonged to the last one."""
        self.flush_before_stepping_down(replica)
        self.role[replica] = role
        self.votes[replica] = Set()
        self.leader_state[replica] = self.no_leader_state()

    @rule
    def flush_before_stepping_down(self, replica: Replica) -> None:
        """One thread appends, flushes and does everything else except serving fetches (``KafkaRaftClient.poll``)."""
        self.flush(replica)

    def no_leader_state(self) -> LeaderState:
        return LeaderState(
            epoch_start_offset=0, end_offsets=Map({replica: 0 for replica in Replica}), fetched_voters=Set()
        )

    def transition_to_unattached(self, replica: Replica, epoch: Epoch) -> None:
        """Enters an epoch without knowing its leader."""
        self.take_role(replica, Role.UNATTACHED)
        self.quorum_state[replica] = QuorumState(epoch=epoch, leader=None, voted_key=None)

    def transition_to_follower(self, replica: Replica, epoch: Epoch, leader: Replica) -> None:
        """Follows the leader of an epoch. The vote is no longer needed: a replica that knows the leader votes for
        nobody.
        """
        self.take_role(replica, Role.FOLLOWER)
        self.quorum_state[replica] = QuorumState(epoch=epoch, leader=leader, voted_key=None)

    def transition_to_candidate(self, replica: Replica) -> None:
        """Begins the next epoch and votes for itself."""
        self.take_role(replica, Role.CANDIDATE)
        self.quorum_state[replica] = QuorumState(
            epoch=self.quorum_state[replica].epoch + 1, leader=None, voted_key=replica
        )
        self.count_vote(replica, replica)

    def may_campaign(self, replica: Replica) -> bool:
        """The bounds leave room for another epoch and its first record."""
        return self.quorum_state[replica].epoch < self.max_epoch and len(self.logs[replica]) < self.max_log

    def transition_to_leader(self, replica: Replica) -> None:
        """Leads its epoch, and appends a record that announces it; once that record can be committed, so can all before
        it.
        """
        epoch = self.quorum_state[replica].epoch
        self.take_role(replica, Role.LEADER)
        self.quorum_state[replica] = QuorumState(epoch=epoch, leader=replica, voted_key=None)
        self.leader_state[replica].epoch_start_offset = len(self.logs[replica])
        self.forget_high_watermark(replica)
        self.append_as_leader(replica)
        self.elected[epoch] = replica
        self.advance_high_watermark(replica)

    @rule
    def forget_high_watermark(self, leader: Replica) -> None:
        """A new leader cannot tell how much of its high watermark its own count of replicas supports
        (``LeaderState.highWatermark``).
        """
        self.high_watermark[leader] = 0

    def resign(self, leader: Replica) -> None:
        """Stops leading. It must not vote in this epoch either, so it keeps naming itself as the leader."""
        self.flush_before_stepping_down(leader)
        self.role[leader] = Role.RESIGNED
        self.leader_state[leader].fetched_voters = Set()
        self.high_watermark[leader] = 0

    @rule
    def is_majority(self, replicas: Set[Replica]) -> bool:
        """``CandidateState.isVoteGranted``."""
        return len(replicas & self.current_voters) > len(self.current_voters) // 2

    # Elections (KIP-595, "Vote").

    @rule
    def may_stand(self, replica: Replica) -> bool:
        """Observers never stand (KAFKA-17067)."""
        return replica in self.current_voters

    @action
    def election_timeout(self, replica: Replica) -> None:
        """A follower has not heard from its leader, an election produced no leader, or the leader has resigned.

        ``QuorumState.transitionToCandidate``.
        """
        require(self.role[replica] != Role.LEADER and self.may_stand(replica) and self.may_campaign(replica))
        self.stand(replica)

    @rule
    def stand(self, replica: Replica) -> None:
        """What a replica without a leader does (``KafkaRaftClient.transitionToCandidate``)."""
        self.transition_to_candidate(replica)

    @action
    def candidate_requests_vote(self, candidate: Replica, voter: Replica, fate: Fate) -> None:
        """``KafkaRaftClient.handleVoteRequest``."""
        require(self.role[candidate] == Role.CANDIDATE and voter in self.current_voters - self.votes[candidate])
        require(self.reaches(candidate, voter) and self.may_happen(fate))
        self.call(Kind.VOTE, candidate, voter, fate)

    @rule
    def is_up_to_date(self, position: Position, voter: Replica) -> bool:
        """The later last epoch wins; between equal ones, the longer log (KIP-595, "Vote Request Handling")."""
        own = self.log_position(voter)
        return position.epoch > own.epoch or (position.epoch == own.epoch and position.offset >= own.offset)

    @rule
    def grants_vote(self, request: Message) -> bool:
        """One vote per epoch, and none once the epoch's leader is known. The same candidate may ask again
        (``UnattachedState.canGrantVote``).
        """
        voter = request.destination
        state = self.quorum_state[voter]
        if request.epoch < state.epoch or self.role[voter] not in (Role.UNATTACHED, Role.VOTED, Role.PROSPECTIVE):
            return False
        if state.voted_key is not None:
            return state.voted_key == request.source
        return state.leader is None and self.is_up_to_date(request.position, voter)

    @rule
    def store_vote(self, voter: Replica, candidate: Replica) -> None:
        """The vote is stored before it is sent (``QuorumState.durableTransitionTo``)."""
        self.quorum_state[voter].voted_key = candidate

    def handle_vote(self, request: Message) -> Message:
        """A higher epoch is taken over even if the vote is then refused."""
        voter = request.destination
        if request.epoch > self.quorum_state[voter].epoch:
            self.transition_to_unattached(voter, request.epoch)
        if not self.grants_vote(request):
            return self.response(Kind.CURRENT_LEADER, request)
        self.store_vote(voter, request.source)
        if self.role[voter] == Role.UNATTACHED:
            self.take_role(voter, Role.VOTED)
        return self.response(Kind.VOTE_GRANTED, request)

    def count_vote(self, candidate: Replica, voter: Replica) -> None:
        self.votes[candidate].add(voter)
        if self.is_majority(self.votes[candidate]):
            self.transition_to_leader(candidate)

    @rule
    def vote_counts(self, response: Message) -> bool:
        """A vote counts only in the election that it was given for (``KafkaRaftClient.handleVoteResponse``)."""
        candidate = response.destination
        return self.role[candidate] == Role.CANDIDATE and response.epoch == self.quorum_state[candidate].epoch

    # The leader announces itself and its resignation.

    @action
    def leader_sends_begin_quorum_epoch(self, leader: Replica, voter: Replica, fate: Fate) -> None:
        """BeginQuorumEpoch, until every voter has answered; since KAFKA-16536 also as a heartbeat.

        ``KafkaRaftClient.handleBeginQuorumEpochRequest``.
        """
        require(self.role[leader] == Role.LEADER and voter in self.current_voters and voter != leader)
        require(self.reaches(leader, voter) and self.may_happen(fate))
        self.call(Kind.BEGIN_QUORUM_EPOCH, leader, voter, fate)

    def handle_begin_quorum_epoch(self, request: Message) -> Message:
        self.learn_leader(request.destination, request.epoch, request.source)
        return self.response(Kind.CURRENT_LEADER, request)

    @rule
    def majority_fetched(self, leader: Replica) -> bool:
        """Whether a majority of the voters, counting the leader, fetched within quorum.fetch.timeout.ms
        (``LeaderState.updateCheckQuorumForFollowingVoter``).
        """
        return self.is_majority(self.leader_state[leader].fetched_voters | {leader})

    @action
    def fetch_timer_expires(self, leader: Replica) -> None:
        """A leader that a majority does not fetch from may be a zombie.

        KIP-595, "Leader Progress Timeout"; implemented in Kafka by KAFKA-15489.

        ``LeaderState.timeUntilCheckQuorumExpires``.
        """
        require(self.role[leader] == Role.LEADER)
        if self.progress_timeout and self.majority_fetched(leader):
            self.leader_state[leader].fetched_voters = Set()
        else:
            self.lose_majority(leader)

    @rule
    def lose_majority(self, leader: Replica) -> None:
        """It resigns first, and stands for election when its timer expires (``KafkaRaftClient.pollLeader``)."""
        self.resign(leader)

    @action
    def leader_sends_end_quorum_epoch(self, leader: Replica, voter: Replica, fate: Fate) -> None:
        """EndQuorumEpoch. Its PreferredSuccessors lists the voters, starting with those that fetched furthest.

        ``KafkaRaftClient.handleEndQuorumEpochRequest``.
        """
        require(self.role[leader] == Role.RESIGNED and voter in self.current_voters and voter != leader)
        require(self.reaches(leader, voter) and self.may_happen(fate))
        self.call(Kind.END_QUORUM_EPOCH, leader, voter, fate)

    def successor_rank(self, leader: Replica, voter: Replica) -> int:
        """How many voters the leader prefers to this one."""
        offsets = self.leader_state[leader].end_offsets
        return sum(1 for other in self.current_voters - {leader} if offsets[other] > offsets[voter])

    def handle_end_quorum_epoch(self, request: Message) -> Message:
        """The first successor stands at once. The others wait, longer the further down the list they are."""
        voter = request.destination
        self.learn_leader(voter, request.epoch, request.source)
        response = self.response(Kind.CURRENT_LEADER, request)
        follows = self.role[voter] == Role.FOLLOWER and self.quorum_state[voter].epoch == request.epoch
        if follows and request.rank == 0 and self.may_campaign(voter):
            self.stand(voter)
        return response

    # Replication (KIP-595, "Fetch").

    @action
    def client_writes(self, leader: Replica) -> None:
        """``KafkaRaftClient.prepareAppend``."""
        require(self.role[leader] == Role.LEADER and len(self.logs[leader]) < self.max_log)
        self.append_as_leader(leader)
        self.advance_high_watermark(leader)

    @action
    def leader_flushes(self, leader: Replica) -> None:
        """``KafkaRaftClient.flushLeaderLog``."""
        require(self.role[leader] == Role.LEADER and self.flushed[leader] < len(self.logs[leader]))
        self.flush(leader)
        self.advance_high_watermark(leader)

    @action
    def replica_fetches(self, replica: Replica, source: Replica, fate: Fate) -> None:
        """A follower fetches from its leader. An observer asks any voter who the leader is.

        ``KafkaRaftClient.handleFetchRequest``.
        """
        require(replica != source and self.may_fetch(replica, source))
        require(self.reaches(replica, source) and self.may_happen(fate))
        self.call(Kind.FETCH, replica, source, fate)

    def may_fetch(self, replica: Replica, source: Replica) -> bool:
        if self.role[replica] == Role.FOLLOWER:
            return self.quorum_state[replica].leader == source
        return replica not in self.current_voters and source in self.current_voters

    @rule
    def is_diverging(self, leader: Replica, position: Position) -> bool:
        """Whether a log that ends at this position cannot be a prefix of the leader's
        (``ReplicatedLog.validateOffsetAndEpoch``).
        """
        log = self.logs[leader]
        return position.offset > 0 and (
            epoch_up_to(log, position.epoch) != position.epoch
            or end_offset_for_epoch(log, position.epoch) < position.offset
        )

    def handle_fetch(self, request: Message) -> Message:
        """A fetch in the leader's own epoch tells it the follower's log end offset, if that log is a prefix of its
        own.
        """
        leader = request.destination
        if self.role[leader] != Role.LEADER or request.epoch != self.quorum_state[leader].epoch:
            return self.response(Kind.CURRENT_LEADER, request)
        log = self.logs[leader]
        asked = request.position
        if self.is_diverging(leader, asked):
            return self.response(Kind.DIVERGING, request).replace(
                next_epoch=epoch_up_to(log, asked.epoch), bound=end_offset_for_epoch(log, asked.epoch)
            )
        self.record_fetch(leader, request.source, asked.offset)
        self.advance_high_watermark(leader)
        return self.response(Kind.RECORDS, request).replace(
            next_epoch=log[asked.offset] if asked.offset < len(log) else 0, bound=self.high_watermark[leader]
        )

    @rule
    def record_fetch(self, leader: Replica, replica: Replica, offset: Offset) -> None:
        """The offset may be lower than before: a replica may have lost its disk (KAFKA-12181)."""
        self.leader_state[leader].end_offsets[replica] = offset
        if self.progress_timeout and replica in self.current_voters and not self.majority_fetched(leader):
            self.leader_state[leader].fetched_voters.add(replica)

    @rule
    def own_end_offset(self, leader: Replica) -> Offset:
        """The leader counts itself as it counts a follower: by what it will not lose
        (``KafkaRaftClient.updateLeaderEndOffsetAndTimestamp``).
        """
        return self.flushed[leader]

    def majority_offset(self, leader: Replica) -> Offset:
        """The offset up to which, as far as the leader knows, a majority of the voters has its log."""
        ends = sorted((self.end_offset(leader, voter) for voter in self.counted_replicas()), reverse=True)
        return ends[len(self.current_voters) // 2]

    @rule
    def counted_replicas(self) -> Set[Replica]:
        """Whose copies commit a record (``LeaderState.maybeUpdateHighWatermark``)."""
        return self.current_voters

    def end_offset(self, leader: Replica, replica: Replica) -> Offset:
        """The offset up to which a replica has the leader's log, as far as the leader knows."""
        return self.own_end_offset(leader) if replica == leader else self.leader_state[leader].end_offsets[replica]

    @rule
    def may_commit(self, leader: Replica, offset: Offset) -> bool:
        """Only together with a record of the leader's own epoch: earlier records may still be replaced
        (KAFKA-12619).
        """
        return offset > self.leader_state[leader].epoch_start_offset

    def advance_high_watermark(self, leader: Replica) -> None:
        offset = self.majority_offset(leader)
        if offset > self.high_watermark[leader] and self.may_commit(leader, offset):
            self.high_watermark[leader] = offset
            if self.logs[leader][:offset] != self.committed[:offset]:
                self.committed = self.logs[leader][:offset]

    @rule
    def answers_current_fetch(self, response: Message) -> bool:
        """The response is of the follower's epoch and answers the last fetch that it sent
        (``KafkaRaftClient.maybeHandleCommonResponse``).
        """
        follower = response.destination
        return (
            self.role[follower] == Role.FOLLOWER
            and response.epoch == self.quorum_state[follower].epoch
            and response.position == self.log_position(follower)
        )

    def handle_records(self, response: Message) -> None:
        follower = response.destination
        if response.next_epoch != 0:
            self.append_as_follower(follower, response.next_epoch)
        known = self.known_committed(follower, response.bound)
        self.high_watermark[follower] = max(self.high_watermark[follower], known)

    @rule
    def known_committed(self, follower: Replica, bound: Offset) -> Offset:
        """How much of its log a follower knows to be committed, from its leader's high watermark
        (``KafkaRaftClient.updateFollowerHighWatermark``).
        """
        return min(bound, len(self.logs[follower]))

    @rule
    def truncation_offset(self, follower: Replica, epoch: Epoch, end: Offset) -> Offset:
        """The end of the last epoch that both logs may share, as far as one answer tells
        (``ReplicatedLog.truncateToEndOffset``).
        """
        log = self.logs[follower]
        own_end = end_offset_for_epoch(log, epoch)
        return min(own_end, end) if epoch_up_to(log, epoch) == epoch else own_end

    def handle_diverging(self, response: Message) -> None:
        """Truncates the log. Having to truncate committed records is a fatal error (KAFKA-12460)."""
        follower = response.destination
        offset = self.truncation_offset(follower, response.next_epoch, response.bound)
        if offset < self.high_watermark[follower] and self.refuses_to_truncate():
            self.illegal = True
        else:
            self.logs[follower] = self.logs[follower][:offset]
            self.flush(follower)

    @rule
    def refuses_to_truncate(self) -> bool:
        """Whether a follower stops rather than truncate below its high watermark
        (``KafkaRaftClient.handleFetchResponse``).
        """
        return True

    # Every response carries the epoch and the leader that its sender knows.

    def learn_leader(self, replica: Replica, epoch: Epoch, leader: Replica | None) -> None:
        """Joins another epoch, or follows the leader of its own. Used to judge requests, too."""
        if self.is_outdated(replica, epoch):
            return
        state = self.quorum_state[replica]
        if leader is None:
            if epoch != state.epoch:
                self.transition_to_unattached(replica, epoch)
        elif not self.is_consistent_leader(replica, epoch, leader):
            self.illegal = True
        elif epoch != state.epoch or state.leader is None:
            self.transition_to_follower(replica, epoch, leader)

    @rule
    def is_outdated(self, replica: Replica, epoch: Epoch) -> bool:
        """Messages of earlier epochs are ignored (``KafkaRaftClient.maybeHandleCommonResponse``); a request of one is
        refused with FENCED_LEADER_EPOCH (``KafkaRaftClient.validateVoterOnlyRequest``).
        """
        return epoch < self.quorum_state[replica].epoch

    @rule
    def is_consistent_leader(self, replica: Replica, epoch: Epoch, leader: Replica) -> bool:
        """An epoch has one leader, and a replica knows which epochs it led itself
        (``KafkaRaftClient.hasConsistentLeader``).
        """
        state = self.quorum_state[replica]
        return state.leader == leader if epoch == state.epoch and state.leader is not None else leader != replica

    # What clients see.

    def describe_quorum(self, replica: Replica) -> QuorumInfo | None:
        """DescribeQuorum, as the leader knows the quorum; others answer NOT_LEADER_OR_FOLLOWER (KAFKA-13940)."""
        if self.role[replica] != Role.LEADER:
            return None
        return QuorumInfo(
            leader=replica,
            leader_epoch=self.quorum_state[replica].epoch,
            high_watermark=self.high_watermark[replica],
            current_voters=Map(
                {other: self.end_offset(replica, other) if other in self.current_voters else None for other in Replica}
            ),
            observers=Map(
                {other: None if other in self.current_voters else self.end_offset(replica, other) for other in Replica}
            ),
        )

    @rule
    def is_active_controller(self, replica: Replica) -> bool:
        """Whether the controller on this replica may act: it leads, and has every record from before its epoch
        (KAFKA-15345).
        """
        return self.role[replica] == Role.LEADER and self.high_watermark[replica] > 0

    # Messages.

    def request(self, kind: Kind, source: Replica, destination: Replica) -> Message:
        """A request, in the sender's epoch."""
        asks = kind in (Kind.VOTE, Kind.PRE_VOTE, Kind.FETCH)
        return Message(
            kind=kind,
            source=source,
            destination=destination,
            epoch=self.quorum_state[source].epoch,
            position=self.log_position(source) if asks else Position(epoch=0, offset=0),
            rank=self.successor_rank(source, destination) if kind == Kind.END_QUORUM_EPOCH else 0,
        )

    def response(self, kind: Kind, request: Message) -> Message:
        """A response, in the responder's epoch."""
        state = self.quorum_state[request.destination]
        fetched = kind in (Kind.RECORDS, Kind.DIVERGING)
        return Message(
            kind=kind,
            source=request.destination,
            destination=request.source,
            epoch=state.epoch,
            leader=state.leader if kind == Kind.CURRENT_LEADER else None,
            position=request.position if fetched else Position(epoch=0, offset=0),
        )

    @rule
    def reaches(self, source: Replica, destination: Replica) -> bool:
        """Whether a request, and its response, can get from one replica to another."""
        return source != destination

    @rule
    def may_happen(self, fate: Fate) -> bool:
        return fate == Fate.ANSWERED or (fate == Fate.RESPONSE_LOST and self.loss)

    def call(self, kind: Kind, source: Replica, destination: Replica, fate: Fate) -> None:
        self.send(kind, self.request(kind, source, destination), fate)

    @rule
    def send(self, kind: Kind, request: Message, fate: Fate) -> None:
        self.answer(kind, self.handle_request(kind, request), fate)

    @rule
    def answer(self, kind: Kind, response: Message, fate: Fate) -> None:
        if fate == Fate.ANSWERED:
            self.handle_response(kind, response)

    def handle_request(self, kind: Kind, request: Message) -> Message:
        if kind == Kind.VOTE:
            return self.handle_vote(request)
        if kind == Kind.BEGIN_QUORUM_EPOCH:
            return self.handle_begin_quorum_epoch(request)
        if kind == Kind.END_QUORUM_EPOCH:
            return self.handle_end_quorum_epoch(request)
        return self.handle_fetch(request)

    def handle_response(self, kind: Kind, response: Message) -> None:
        """The response to a request of this kind."""
        if response.kind == Kind.CURRENT_LEADER:
            self.learn_leader(response.destination, response.epoch, response.leader)
        elif kind == Kind.VOTE:
            if self.vote_counts(response):
                self.count_vote(response.destination, response.source)
        elif kind == Kind.FETCH and self.answers_current_fetch(response):
            if response.kind == Kind.RECORDS:
                self.handle_records(response)
            else:
                self.handle_diverging(response)

    # Restarts.

    @action
    def replica_restarts(self, replica: Replica, kept: Offset) -> None:
        """A crash or a clean restart, and what the replica then finds on its disk (``QuorumState.initialize``)."""
        require(self.restarts < self.max_restarts)
        require(kept <= len(self.logs[replica]) and kept >= self.kept_at_least(replica))
        self.restarts += 1
        self.logs[replica] = self.logs[replica][:kept]
        self.high_watermark[replica] = 0
        self.take_role(replica, Role.UNATTACHED)
        self.resume(replica)

    def kept_at_least(self, replica: Replica) -> Offset:
        return self.flushed[replica] if self.lossy_restarts else len(self.logs[replica])

    @rule
    def resume(self, replica: Replica) -> None:
        """The role after a restart (``QuorumState.initialize``). A leader may have lost records of its epoch, so it
        must not lead that epoch again.
        """
        state = self.quorum_state[replica]
        if state.leader == replica:
            self.role[replica] = Role.RESIGNED
        elif state.leader is not None:
            self.role[replica] = Role.FOLLOWER
        elif state.voted_key == replica:
            self.role[replica] = Role.CANDIDATE
            self.votes[replica] = Set({replica})
        elif state.voted_key is not None:
            self.role[replica] = Role.VOTED


class StandsAtOnce(Kraft):
    """KIP-595, "Leader Progress Timeout", word for word: a leader from which no majority fetches "would begin a new
    election and start sending VoteRequest".
    """

    def lose_majority(self, leader: Replica) -> None:
        """Where the bounds leave no room for another epoch, it resigns."""
        if self.may_campaign(leader):
            self.transition_to_candidate(leader)
        else:
            self.resign(leader)
