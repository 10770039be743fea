"""KIP-853: a quorum whose voters are added and removed while it runs, one at a time, by records in its own log.

Start here. Each part of the text, its model, its known-bad designs and its specs (specs/dynamic_quorum/); the
properties of each model are in the file of the same name in invariants/dynamic_quorum/:

    KIP-853 "AddVoter", "RemoveVoter",    voters.py      flawed.py            voters, half_holds, former_voters_commit,
      "UpdateVoter", "Vote"                                                     observers_stand
      what all of this refines            committed_voters.py  flawed_committed.py  committed_voters, committed_log
    directory ids, automatic joining      disks.py       flawed_disks.py      disks
    snapshots (with KIP-630)              snapshots.py   flawed_snapshots.py  snapshots, latest_voters_in_snapshots
    pre-votes (KIP-996)                   pre_vote.py    flawed_pre_vote.py   pre_vote, removed_while_away
    liveness                              progress.py    flawed_progress.py   progress, needed_leader,
                                                                                adds_without_catching_up

A replica is a voter if the last VotersRecord in its own log names it, whether or not that record is committed. So every
replica has a voter set of its own, and truncating its log takes the set back. In model/kraft/quorum.py there is one set
for all, a constant that nearly every rule reads, so this model does not extend that one. It shares its types and
repeats its rules, without what voters need not change for: late messages, unflushed records, the leader's timer,
EndQuorumEpoch.

A request, its handling and its response are one step. The first epoch has its leader, whose first record names the
voters and is committed: in Kafka the bootstrap checkpoint, in Vanlightly's kip_853 the InitClusterCommand.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import (
    Between,
    Capacity,
    Constant,
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
from model.kraft.quorum import Epoch, Offset, QuorumState, Replica, Role
from model.replica_log import end_offset_for_epoch, epoch_up_to


class Entry(Record):
    """A record: the epoch that it was written in, and the voters if it is a VotersRecord."""

    epoch: Epoch
    voters: Set[Replica] | None = None


Log = Annotated[Seq[Entry], Capacity("max_log")]


class DynamicQuorum(Model):
    """A ``Replica`` is a replica key, a node id with a directory id: a voter, or an observer that may become one."""

    voters = Constant(2)
    """How many voters there are at first."""
    observers = Constant(1)
    max_epoch = Constant(2)
    max_log = Constant(4)
    max_values = Constant(1)
    """How many records a client writes in an epoch."""
    max_adds = Constant(1)
    max_removes = Constant(1)
    max_updates = Constant(0)
    max_restarts = Constant(0)
    max_batch = Constant(1)
    """How many records a response to a fetch holds at most."""
    loss = Constant(False)
    """Whether it may be lost."""

    quorum_state: Map[Replica, QuorumState]
    logs: Map[Replica, Log]

    role: Map[Replica, Role]
    voter_set: Map[Replica, Set[Replica]]
    """The voters of the last VotersRecord in each log (``KRaftControlRecordStateMachine.lastVoterSet``)."""
    votes: Map[Replica, Set[Replica]]
    end_offsets: Map[Replica, Map[Replica, Offset]]
    """A leader's memory: the last fetch offset of each replica, 0 before its first fetch."""
    high_watermark: Map[Replica, Offset]
    """0 while unknown."""

    adds: Annotated[int, Between(0, "max_adds")]
    removes: Annotated[int, Between(0, "max_removes")]
    updates: Annotated[int, Between(0, "max_updates")]
    restarts: Annotated[int, Between(0, "max_restarts")]

    elected: Map[Epoch, Replica | None]
    """History: who became the leader of each epoch."""
    committed: Log
    """History: the records below the highest high watermark of any leader so far."""
    illegal: bool
    """History: a replica saw what the protocol rules out, and stopped."""

    @initial
    def start(self, leader: Replica, first: Set[Replica]) -> None:
        """A leader, and followers that have its first record. Observers know nothing."""
        require(leader in first and len(first) == self.voters)
        log = Seq([Entry(epoch=1, voters=first)])
        self.quorum_state = Map(
            {
                replica: QuorumState(epoch=1, leader=leader, voted_key=None)
                if replica in first
                else QuorumState(epoch=0, leader=None, voted_key=None)
                for replica in Replica
            }
        )
        self.logs = Map({replica: log if replica in first else Seq() for replica in Replica})
        self.role = Map(
            {
                replica: (Role.LEADER if replica == leader else Role.FOLLOWER) if replica in first else Role.UNATTACHED
                for replica in Replica
            }
        )
        self.voter_set = Map({replica: first if replica in first else Set() for replica in Replica})
        self.votes = Map({replica: Set() for replica in Replica})
        self.end_offsets = Map({replica: self.no_offsets() for replica in Replica})
        self.end_offsets[leader] = Map(
            {replica: 1 if replica in first and replica != leader else 0 for replica in Replica}
        )
        self.high_watermark = Map({replica: 1 if replica in first else 0 for replica in Replica})
        self.adds = 0
        self.removes = 0
        self.updates = 0
        self.restarts = 0
        self.elected = Map({epoch: leader if epoch == 1 else None for epoch in range(self.max_epoch + 1)})
        self.committed = log
        self.illegal = False

    # The log, and the voters in it.

    def epochs(self, replica: Replica) -> Seq[Epoch]:
        return Seq(entry.epoch for entry in self.logs[replica])

    def last_epoch(self, replica: Replica) -> Epoch:
        """The epoch of the last record, 0 if there is none."""
        log = self.logs[replica]
        return log[len(log) - 1].epoch if len(log) > 0 else 0

    @rule
    def append(self, replica: Replica, entry: Entry) -> None:
        """``KRaftControlRecordStateMachine.updateState``: a VotersRecord is heeded as soon as it is in the log."""
        self.logs[replica].append(entry)
        if entry.voters is not None:
            self.voter_set[replica] = entry.voters

    @rule
    def truncate(self, replica: Replica, offset: Offset) -> None:
        """``KRaftControlRecordStateMachine.truncateNewEntries``: the voters are again what they were before."""
        self.logs[replica] = self.logs[replica][:offset]
        self.voter_set[replica] = self.voters_below(replica, offset)

    def voters_below(self, replica: Replica, end: Offset) -> Set[Replica]:
        """The voters of the last VotersRecord below an offset; none before the first."""
        voters = Set[Replica]()
        for entry in self.logs[replica][:end]:
            if entry.voters is not None:
                voters = entry.voters
        return voters

    def last_change(self, replica: Replica) -> Offset:
        """The offset after the last VotersRecord, 0 if there is none."""
        return max(
            (offset for offset, entry in enumerate(self.logs[replica], 1) if entry.voters is not None), default=0
        )

    @rule
    def is_voter(self, replica: Replica) -> bool:
        """``QuorumState.isVoter``: as far as the replica knows."""
        return replica in self.voter_set[replica]

    @rule
    def is_majority(self, replicas: Set[Replica], voters: Set[Replica]) -> bool:
        """``CandidateState.isVoteGranted``."""
        return len(replicas & voters) > len(voters) // 2

    # Roles.

    def no_offsets(self) -> Map[Replica, Offset]:
        return Map({replica: 0 for replica in Replica})

    def take_role(self, replica: Replica, role: Role) -> None:
        self.role[replica] = role
        self.votes[replica] = Set()
        self.end_offsets[replica] = self.no_offsets()

    def transition_to_unattached(self, replica: Replica, epoch: Epoch) -> None:
        self.take_role(replica, Role.UNATTACHED)
        self.quorum_state[replica] = QuorumState(epoch=epoch, leader=None, voted_key=None)

    def transition_to_follower(self, replica: Replica, epoch: Epoch, leader: Replica) -> None:
        self.take_role(replica, Role.FOLLOWER)
        self.quorum_state[replica] = QuorumState(epoch=epoch, leader=leader, voted_key=None)

    def transition_to_candidate(self, replica: Replica) -> None:
        self.take_role(replica, Role.CANDIDATE)
        self.quorum_state[replica] = QuorumState(
            epoch=self.quorum_state[replica].epoch + 1, leader=None, voted_key=replica
        )
        self.count_vote(replica, replica)

    def transition_to_leader(self, replica: Replica) -> None:
        """Its first record announces it (LeaderChange)."""
        epoch = self.quorum_state[replica].epoch
        self.take_role(replica, Role.LEADER)
        self.quorum_state[replica] = QuorumState(epoch=epoch, leader=replica, voted_key=None)
        self.high_watermark[replica] = 0
        self.elected[epoch] = replica
        self.append(replica, Entry(epoch=epoch))
        self.advance_high_watermark(replica)

    def resign(self, leader: Replica) -> None:
        """``KafkaRaftClient.transitionToResigned``. It goes on to name itself as the leader of its epoch."""
        self.take_role(leader, Role.RESIGNED)
        self.high_watermark[leader] = 0

    # Elections (KIP-853, "Vote").

    def may_campaign(self, replica: Replica) -> bool:
        """The bounds leave room for another epoch and its first record."""
        return self.quorum_state[replica].epoch < self.max_epoch and len(self.logs[replica]) < self.max_log

    @rule
    def may_stand(self, replica: Replica) -> bool:
        """An observer has no election timer (``KafkaRaftClient.pollUnattachedAsObserver``, KAFKA-17067)."""
        return self.is_voter(replica)

    @action
    def election_timeout(self, replica: Replica) -> None:
        """A follower has not heard from its leader, an election produced none, or the leader has resigned.

        ``QuorumState.transitionToCandidate``.
        """
        require(self.role[replica] != Role.LEADER and self.may_stand(replica) and self.may_campaign(replica))
        self.stand(replica)

    @rule
    def stand(self, replica: Replica) -> None:
        """``KafkaRaftClient.transitionToCandidate``."""
        self.transition_to_candidate(replica)

    @action
    def former_leader_leaves_epoch(self, replica: Replica) -> None:
        """``KafkaRaftClient.pollResigned``: a leader that has resigned and is no voter goes to the next epoch, so that
        nobody is told any more that it leads.
        """
        require(self.role[replica] == Role.RESIGNED and not self.is_voter(replica))
        require(self.quorum_state[replica].epoch < self.max_epoch)
        self.transition_to_unattached(replica, self.quorum_state[replica].epoch + 1)

    @action
    def candidate_requests_vote(self, candidate: Replica, voter: Replica) -> None:
        """A candidate asks the voters that it knows (``KafkaRaftClient.handleVoteRequest``)."""
        require(self.role[candidate] == Role.CANDIDATE)
        require(voter in self.voter_set[candidate] - self.votes[candidate])
        epoch = self.quorum_state[candidate].epoch
        if epoch > self.quorum_state[voter].epoch:
            self.transition_to_unattached(voter, epoch)
        if self.grants_vote(voter, candidate):
            self.quorum_state[voter].voted_key = candidate
            self.count_vote(candidate, voter)
        else:
            self.learn_leader(candidate, self.quorum_state[voter].epoch, self.quorum_state[voter].leader)

    @rule
    def is_up_to_date(self, candidate: Replica, voter: Replica) -> bool:
        """The later last epoch wins; between equal ones, the longer log (``KafkaRaftClient.handleVoteRequest``)."""
        theirs = self.last_epoch(candidate)
        own = self.last_epoch(voter)
        return theirs > own or (theirs == own and len(self.logs[candidate]) >= len(self.logs[voter]))

    @rule
    def heeds_stranger(self, voter: Replica, candidate: Replica) -> bool:
        """Whether a replica answers a candidate whatever its own voter set says: the candidate may know of a later
        VotersRecord (KIP-853, "Vote").
        """
        return True

    def grants_vote(self, voter: Replica, candidate: Replica) -> bool:
        """``UnattachedState.canGrantVote``. An observer grants a vote like any other."""
        state = self.quorum_state[voter]
        if state.epoch != self.quorum_state[candidate].epoch or self.role[voter] != Role.UNATTACHED:
            return False
        if not self.heeds_stranger(voter, candidate):
            return False
        if state.voted_key is not None:
            return state.voted_key == candidate
        return self.is_up_to_date(candidate, voter)

    def count_vote(self, candidate: Replica, voter: Replica) -> None:
        self.votes[candidate].add(voter)
        if self.is_majority(self.votes[candidate], self.voter_set[candidate]):
            self.transition_to_leader(candidate)

    # The leader.

    @action
    def leader_sends_begin_quorum_epoch(self, leader: Replica, voter: Replica) -> None:
        """BeginQuorumEpoch goes to the voters that the leader knows. One that has just been added need not know that
        it is a voter.

        ``KafkaRaftClient.handleBeginQuorumEpochRequest``.
        """
        require(self.role[leader] == Role.LEADER and voter in self.voter_set[leader] - {leader})
        self.learn_leader(voter, self.quorum_state[leader].epoch, leader)

    @action
    def leader_resigns(self, leader: Replica) -> None:
        """It shuts down, a majority has not fetched in time (``LeaderState.timeUntilCheckQuorumExpires``), or it is no
        voter any more.
        """
        require(self.role[leader] == Role.LEADER)
        self.resign(leader)

    @action
    def client_writes(self, leader: Replica) -> None:
        """``KafkaRaftClient.prepareAppend``."""
        require(self.role[leader] == Role.LEADER and len(self.logs[leader]) < self.max_log)
        epoch = self.quorum_state[leader].epoch
        announcements = 0 if epoch == 1 else 1
        written = sum(1 for entry in self.logs[leader] if entry.epoch == epoch and entry.voters is None)
        require(written < self.max_values + announcements)
        self.append(leader, Entry(epoch=epoch))
        self.advance_high_watermark(leader)

    # Changes (KIP-853, "AddVoter", "RemoveVoter", "UpdateVoter").

    @rule
    def has_committed_in_epoch(self, leader: Replica) -> bool:
        """``AddVoterHandler``: the high watermark is known, so a record of the leader's own epoch is committed.

        Without that, an earlier leader may have another change that is still uncommitted (Ongaro on raft-dev).
        """
        return self.high_watermark[leader] > 0

    @rule
    def last_change_is_committed(self, leader: Replica) -> bool:
        """``AddVoterHandler``: one change at a time."""
        return self.last_change(leader) <= self.high_watermark[leader]

    def may_change(self, leader: Replica) -> bool:
        return (
            self.role[leader] == Role.LEADER
            and len(self.logs[leader]) < self.max_log
            and self.has_committed_in_epoch(leader)
            and self.last_change_is_committed(leader)
        )

    @rule
    def has_caught_up(self, leader: Replica, replica: Replica) -> bool:
        """``LeaderState.isReplicaCaughtUp``, as in the text: up to the leader's log end offset."""
        return self.end_offsets[leader][replica] == len(self.logs[leader])

    @action
    def leader_adds_voter(self, leader: Replica, replica: Replica) -> None:
        """``AddVoterHandler.handleAddVoterRequest``: an operator asks for it, or the replica itself, which joins as
        soon as it can.
        """
        require(self.adds < self.max_adds and self.may_change(leader))
        require(replica not in self.voter_set[leader] and self.has_caught_up(leader, replica))
        self.adds += 1
        self.write_voters(leader, self.voter_set[leader] | {replica})

    @action
    def leader_removes_voter(self, leader: Replica, voter: Replica) -> None:
        """``RemoveVoterHandler``. The leader may remove itself, but not the last voter (``VoterSet.removeVoter``)."""
        require(self.removes < self.max_removes and self.may_change(leader))
        require(voter in self.voter_set[leader] and self.leaves_voters(leader))
        self.removes += 1
        self.write_voters(leader, self.voter_set[leader] - {voter})

    @rule
    def leaves_voters(self, leader: Replica) -> bool:
        """The last voter stays (``VoterSet.removeVoter``)."""
        return len(self.voter_set[leader]) > 1

    @action
    def leader_updates_voter(self, leader: Replica, voter: Replica) -> None:
        """``UpdateVoterHandler``: a voter has other endpoints or versions. They are not modelled, so the record names
        the same voters. A replica with another directory id is no voter (``VoterSet.updateVoter``).
        """
        require(self.updates < self.max_updates and self.may_change(leader))
        require(voter in self.voter_set[leader])
        self.updates += 1
        self.write_voters(leader, self.voter_set[leader])

    def write_voters(self, leader: Replica, voters: Set[Replica]) -> None:
        """``LeaderState.appendVotersRecord``. From here on the leader counts the new voters."""
        self.append(leader, Entry(epoch=self.quorum_state[leader].epoch, voters=voters))
        self.advance_high_watermark(leader)

    # Replication.

    @action
    def replica_fetches(
        self, replica: Replica, source: Replica, records: Annotated[int, Between(0, "max_batch")]
    ) -> None:
        """A replica fetches from its leader, and asks any other one who leads if it knows none. The leader answers with
        some records, if there are more; the response with none is lost.

        ``KafkaRaftClient.handleFetchRequest``.
        """
        require(replica != source and self.may_fetch(replica, source))
        epoch = self.quorum_state[source].epoch
        if self.role[source] != Role.LEADER or self.quorum_state[replica].epoch != epoch:
            require(records == 0)
            self.learn_leader(replica, epoch, self.quorum_state[source].leader)
        elif self.is_diverging(source, replica):
            require(records == 0 and self.serves(source, replica))
            self.truncate_to(replica, source)
        else:
            end = len(self.logs[replica]) + records
            more = len(self.logs[source]) - len(self.logs[replica])
            require(self.serves(source, replica) and records <= more and (records > 0 or more == 0 or self.loss))
            self.end_offsets[source][replica] = len(self.logs[replica])
            self.advance_high_watermark(source)
            if records > 0 or more == 0:
                self.copy_records(replica, source, end)

    def may_fetch(self, replica: Replica, source: Replica) -> bool:
        """An observer whose fetches fail asks another replica (controller.quorum.bootstrap.servers)."""
        if self.role[replica] == Role.FOLLOWER and self.quorum_state[replica].leader == source:
            return True
        return self.role[replica] in (Role.UNATTACHED, Role.FOLLOWER) and not self.is_voter(replica)

    @rule
    def serves(self, leader: Replica, replica: Replica) -> bool:
        """A leader answers whoever fetches, also a voter that it has removed: that one may not know it yet
        (``KafkaRaftClient.tryCompleteFetchRequest``).
        """
        return True

    def is_diverging(self, leader: Replica, replica: Replica) -> bool:
        log = self.epochs(leader)
        last = self.last_epoch(replica)
        end = len(self.logs[replica])
        return end > 0 and (epoch_up_to(log, last) != last or end_offset_for_epoch(log, last) < end)

    def truncate_to(self, follower: Replica, leader: Replica) -> None:
        """The end of the last epoch that both logs may share. Committed records are never given up."""
        last = self.last_epoch(follower)
        log = self.epochs(follower)
        epoch = epoch_up_to(self.epochs(leader), last)
        own_end = end_offset_for_epoch(log, epoch)
        end = end_offset_for_epoch(self.epochs(leader), last)
        offset = min(own_end, end) if epoch_up_to(log, epoch) == epoch else own_end
        if offset < self.high_watermark[follower]:
            self.illegal = True
        else:
            self.truncate(follower, offset)

    def copy_records(self, follower: Replica, leader: Replica, end: Offset) -> None:
        for entry in self.logs[leader][len(self.logs[follower]) : end]:
            self.append(follower, entry)
        self.high_watermark[follower] = max(self.high_watermark[follower], min(self.high_watermark[leader], end))

    @rule
    def majority_offset(self, leader: Replica) -> Offset:
        """What a majority of the voters has, also of records that are older than the voter set. A leader that has
        removed itself does not count itself (KAFKA-16530).
        """
        return self.offset_of_majority(leader, self.voter_set[leader], len(self.voter_set[leader]))

    def offset_of_majority(self, leader: Replica, counted: Set[Replica], size: int) -> Offset:
        """What a majority of ``size`` has, if these replicas are counted (``LeaderState.voterStates``)."""
        return sorted((self.end_offset(leader, replica) for replica in counted), reverse=True)[size // 2]

    def end_offset(self, leader: Replica, replica: Replica) -> Offset:
        return len(self.logs[leader]) if replica == leader else self.end_offsets[leader][replica]

    def advance_high_watermark(self, leader: Replica) -> None:
        """``LeaderState.maybeUpdateHighWatermark``: never down, and only together with a record of the leader's own
        epoch.
        """
        offset = self.majority_offset(leader)
        log = self.logs[leader]
        if offset > self.high_watermark[leader] and log[offset - 1].epoch == self.quorum_state[leader].epoch:
            self.high_watermark[leader] = offset
            if log[:offset] != self.committed[:offset]:
                self.committed = log[:offset]
            if self.resigns_when_removed(leader):
                self.resign(leader)

    @rule
    def resigns_when_removed(self, leader: Replica) -> bool:
        """``RemoveVoterHandler.highWatermarkUpdated``: a leader that is no voter any more, once that is committed."""
        return not self.is_voter(leader) and self.last_change(leader) <= self.high_watermark[leader]

    def learn_leader(self, replica: Replica, epoch: Epoch, leader: Replica | None) -> None:
        """Joins a later epoch, or follows the leader of its own (``KafkaRaftClient.maybeTransition``)."""
        state = self.quorum_state[replica]
        if epoch < state.epoch:
            return
        if leader is None:
            if epoch != state.epoch:
                self.transition_to_unattached(replica, epoch)
        elif state.epoch == epoch and state.leader is not None:
            if state.leader != leader:
                self.illegal = True
        elif leader == replica:
            self.illegal = True
        else:
            self.transition_to_follower(replica, epoch, leader)

    # Restarts.

    @action
    def replica_restarts(self, replica: Replica) -> None:
        """``QuorumState.initialize``. A leader must not lead its epoch again, whether or not it is still a voter."""
        require(self.restarts < self.max_restarts)
        self.restarts += 1
        self.high_watermark[replica] = 0
        state = self.quorum_state[replica]
        if state.leader == replica:
            self.take_role(replica, Role.RESIGNED)
        elif state.leader is not None:
            self.take_role(replica, Role.FOLLOWER)
        elif state.voted_key == replica:
            self.take_role(replica, Role.CANDIDATE)
            self.votes[replica] = Set({replica})
        else:
            self.take_role(replica, Role.UNATTACHED)
