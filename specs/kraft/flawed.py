"""Known-bad designs of KIP-595, each one rule away from the good one.

The numbers are those of docs/properties.md, which says what each mistake breaks and why some are not here. "Raft" is
Ongaro and Ousterhout's paper, "VRAFT" Jack Vanlightly's KRaft.tla. KIP-279's mistake, a follower that truncates to the
answered offset whether or not it has that epoch, is left out: its next fetch diverges again.
"""

from __future__ import annotations

from floodmark import Set
from model.kraft.quorum import Epoch, Kind, Kraft, Message, Offset, Position, QuorumState, Replica, Role

# Commitment.


class CommitsAtEpochStart(Kraft):
    """The high watermark may reach the start of the leader's epoch, without a record of it (B-M1, KAFKA-12619).

    Three leaders, of which the first is elected again, commit a record that the second's successor replaces; the
    response to a fetch is lost.
    """

    def may_commit(self, leader: Replica, offset: Offset) -> bool:
        return offset >= self.leader_state[leader].epoch_start_offset


class CommitsEarlierEpochs(Kraft):
    """Whatever a majority has is committed (B-M2; Raft, figure 8)."""

    def may_commit(self, leader: Replica, offset: Offset) -> bool:
        return True


class CountsUnflushedRecords(Kraft):
    """The leader counts its own log to the end, flushed or not (B-M5, KAFKA-10533)."""

    def own_end_offset(self, leader: Replica) -> Offset:
        return len(self.logs[leader])


class FetchesBeforeFlush(Kraft):
    """A follower asks for the next record before it has flushed the last one (B-M5, KAFKA-10533)."""

    def append_as_follower(self, follower: Replica, epoch: Epoch) -> None:
        self.logs[follower].append(epoch)


class KeepsHighWatermark(Kraft):
    """A new leader keeps the high watermark that it had as a follower (B-M9; Kafka, transitionToLeader)."""

    def forget_high_watermark(self, leader: Replica) -> None:
        pass


class CountsDivergedFollowers(Kraft):
    """A fetch offset counts, and is answered, whether or not the follower's log is a prefix of the leader's (B-M10)."""

    def is_diverging(self, leader: Replica, position: Position) -> bool:
        return False


class ComparesLengthsOnly(Kraft):
    """A fetch counts as diverging only if the follower's log is longer than the leader's (B-M10)."""

    def is_diverging(self, leader: Replica, position: Position) -> bool:
        return position.offset > len(self.logs[leader])


class CountsSentRecords(Kraft):
    """What a leader sends counts as copied, before the follower's next fetch confirms it."""

    def record_fetch(self, leader: Replica, replica: Replica, offset: Offset) -> None:
        super().record_fetch(leader, replica, min(offset + 1, len(self.logs[leader])))


class TrustsLeadersHighWatermark(Kraft):
    """A follower takes over its leader's high watermark, however short its own log is."""

    def known_committed(self, follower: Replica, bound: Offset) -> Offset:
        return bound


class CountsObservers(Kraft):
    """Copies on replicas that are not voters count towards a majority (B-M15, as in KAFKA-16530)."""

    def counted_replicas(self) -> Set[Replica]:
        return Set(Replica)


# Restarts.


class ForgetsLeadership(Kraft):
    """A restarted leader is unattached, and free to vote in the epoch that it led (B-M3, KAFKA-10661).

    As long as it has the first record of its epoch, it refuses all others of that epoch; so it must have lost that
    record.
    """

    def resume(self, replica: Replica) -> None:
        if self.quorum_state[replica].leader == replica:
            self.transition_to_unattached(replica, self.quorum_state[replica].epoch)
        else:
            super().resume(replica)


class ResumesLeadership(Kraft):
    """A restarted leader keeps leading its epoch, and writes again what it lost (B-M4, KAFKA-10527)."""

    def resume(self, replica: Replica) -> None:
        super().resume(replica)
        if self.quorum_state[replica].leader == replica:
            self.role[replica] = Role.LEADER
            self.leader_state[replica].epoch_start_offset = len(self.logs[replica])


class ForgetsVote(Kraft):
    """The vote is kept in memory only (B-M8; Raft, section 5.2)."""

    def resume(self, replica: Replica) -> None:
        if self.quorum_state[replica].leader is None:
            self.quorum_state[replica].voted_key = None
        super().resume(replica)


class ForgetsCandidacy(Kraft):
    """A candidate that restarts keeps its vote for itself, and no longer stands in that epoch."""

    def resume(self, replica: Replica) -> None:
        super().resume(replica)
        if self.role[replica] == Role.CANDIDATE:
            self.take_role(replica, Role.VOTED)


class ForgetsEpoch(Kraft):
    """The quorum-state file is written when an election is over, not when it begins."""

    def resume(self, replica: Replica) -> None:
        state = self.quorum_state[replica]
        if state.leader is None:
            self.quorum_state[replica] = QuorumState(
                epoch=self.log_position(replica).epoch, leader=None, voted_key=None
            )
        else:
            super().resume(replica)


class LosesQuorumState(Kraft):
    """The quorum-state file does not survive a restart, although the log does (Kafka then uses the log's last
    epoch).
    """

    def resume(self, replica: Replica) -> None:
        self.quorum_state[replica] = QuorumState(epoch=0, leader=None, voted_key=None)


class StepsDownUnflushed(Kraft):
    """A leader stands for election with records in its log that it has not flushed.

    It loses them in a restart, asks again, and a voter grants its request again without checking the log. The record
    had been committed by the others. No ticket known: in Kafka one thread appends, flushes and does all the rest.
    """

    def flush_before_stepping_down(self, replica: Replica) -> None:
        pass


class ResignsUnflushed(Kraft):
    """A leader that resigns leaves it to its next role to flush what it wrote."""

    def resign(self, leader: Replica) -> None:
        flushed = self.flushed[leader]
        super().resign(leader)
        self.flushed[leader] = flushed


class ResignsWithHighWatermark(Kraft):
    """A leader that resigns keeps reporting its high watermark."""

    def resign(self, leader: Replica) -> None:
        known = self.high_watermark[leader]
        super().resign(leader)
        self.high_watermark[leader] = known


# Elections.


class VotesForAnyLog(Kraft):
    """A vote does not depend on the logs (B-M6; KIP-595, "Vote Request Handling")."""

    def is_up_to_date(self, position: Position, voter: Replica) -> bool:
        return True


class VotesForLongerLog(Kraft):
    """The longer log wins, whatever its last epoch (B-M7; KIP-595, "Vote Request Handling")."""

    def is_up_to_date(self, position: Position, voter: Replica) -> bool:
        return position.offset >= len(self.logs[voter])


class VotesTwice(Kraft):
    """A voter grants every request of its epoch (B-M8; Raft, section 5.2)."""

    def grants_vote(self, request: Message) -> bool:
        voter = request.destination
        return request.epoch == self.quorum_state[voter].epoch and self.is_up_to_date(request.position, voter)


class ChangesVote(Kraft):
    """A voter switches to a later candidate of its epoch (B-M8)."""

    def grants_vote(self, request: Message) -> bool:
        voter = request.destination
        later = request.epoch == self.quorum_state[voter].epoch and self.role[voter] == Role.VOTED
        return super().grants_vote(request) or (later and self.is_up_to_date(request.position, voter))


class TellsVoteOnly(Kraft):
    """A vote is sent but not stored (B-M8)."""

    def store_vote(self, voter: Replica, candidate: Replica) -> None:
        pass


class TakesCandidateForLeader(Kraft):
    """A replica that votes for a candidate follows it, whether or not it wins."""

    def handle_vote(self, request: Message) -> Message:
        response = super().handle_vote(request)
        if response.kind == Kind.VOTE_GRANTED:
            self.transition_to_follower(request.destination, request.epoch, request.source)
        return response


class LargestEpochWins(Kraft):
    """The candidate's epoch is used as the epoch of its last record.

    KIP-595, "Leader Progress Timeout", fears that a leader that was partitioned wins by its large epoch: here it would.
    """

    def grants_vote(self, request: Message) -> bool:
        position = Position(epoch=request.epoch, offset=request.position.offset)
        return super().grants_vote(request.replace(position=position))


class HalfIsEnough(Kraft):
    """Half of the voters are a majority."""

    def is_majority(self, replicas: Set[Replica]) -> bool:
        return 2 * len(replicas & self.current_voters) >= len(self.current_voters)


class KeepsVotes(Kraft):
    """A candidate that did not win keeps the votes for its next election."""

    def take_role(self, replica: Replica, role: Role) -> None:
        votes = self.votes[replica]
        super().take_role(replica, role)
        self.votes[replica] = votes


class ObserversStand(Kraft):
    """A replica that is not a voter may become a candidate (B-M16, KAFKA-17067)."""

    def may_stand(self, replica: Replica) -> bool:
        return True


class FollowsEarlierEpochs(Kraft):
    """A replica joins the epoch of any message, not only of later ones (FENCED_LEADER_EPOCH)."""

    def is_outdated(self, replica: Replica, epoch: Epoch) -> bool:
        return False


class DeniesLeadership(Kraft):
    """A resigned leader that hears that it leads the epoch treats this as a contradiction (B-M21; VRAFT, Kafka 3.2)."""

    def is_consistent_leader(self, replica: Replica, epoch: Epoch, leader: Replica) -> bool:
        return leader != replica and super().is_consistent_leader(replica, epoch, leader)


# The leader's fetch timer, and what others are told.


class CountsOnlyOthers(Kraft):
    """A leader requires fetches from a majority besides itself (B-M13).

    KIP-595, "Leader Progress Timeout", taken literally: one dead follower of three deposes a healthy leader.
    """

    def majority_fetched(self, leader: Replica) -> bool:
        return self.is_majority(self.leader_state[leader].fetched_voters - {leader})


class ExpectsFetchesOfNobody(Kraft):
    """The fetch timer runs even if the leader is the only voter (B-M14, KAFKA-16144)."""

    def majority_fetched(self, leader: Replica) -> bool:
        return len(self.leader_state[leader].fetched_voters) > 0 and super().majority_fetched(leader)


class ResignedControllerActs(Kraft):
    """A resigned leader still tells its controller that it leads (B-M17, KAFKA-17333)."""

    def is_active_controller(self, replica: Replica) -> bool:
        return self.quorum_state[replica].leader == replica


class ControllerActsAtOnce(Kraft):
    """A controller acts as soon as its replica leads, before it has everything committed earlier (B-M17,
    KAFKA-15345).
    """

    def is_active_controller(self, replica: Replica) -> bool:
        return self.role[replica] == Role.LEADER
