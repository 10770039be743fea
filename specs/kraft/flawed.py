"""Known-bad designs of KIP-595, each one rule away from the good one.

"Raft" is Ongaro and Ousterhout's paper, "VRAFT" Jack Vanlightly's KRaft.tla. Left out, as they only keep a quorum from
getting on, which takes a liveness property to see: a leader that never resigns (KAFKA-15489), fetches that stay parked
after a resignation (KAFKA-10677), removed voters that never fetch (KAFKA-17030), a follower that truncates to the
answered offset whether or not it has that epoch (KIP-279; here its next fetch diverges again). Left out, as the model
has no such part: changes of the voter set (KAFKA-16530, KAFKA-16531), the epoch cache beside the log (KAFKA-10511), a
second thread that completes fetches (KAFKA-15100).
"""

from __future__ import annotations

from model.kraft import Epoch, Kraft, Message, Offset, Position, QuorumState, Replica, Role
from model.language import Set

# Commitment.


class CommitsAtEpochStart(Kraft):
    """The high watermark may reach the start of the leader's epoch, without a record of it (KAFKA-12619).

    Three leaders, of which the first is elected again, commit a record that the second's successor replaces; the
    response to a fetch is lost.
    """

    def may_commit(self, leader: Replica, offset: Offset) -> bool:
        return offset >= self.leadership[leader].epoch_start


class CommitsEarlierEpochs(Kraft):
    """Whatever a majority has is committed (Raft, figure 8)."""

    def may_commit(self, leader: Replica, offset: Offset) -> bool:
        return True


class CountsUnflushedRecords(Kraft):
    """The leader counts its own log up to its end, flushed or not (KAFKA-10533)."""

    def own_end_offset(self, leader: Replica) -> Offset:
        return len(self.logs[leader])


class FetchesBeforeFlush(Kraft):
    """A follower asks for the next record before it has flushed the last one (KAFKA-10533)."""

    def append_as_follower(self, follower: Replica, epoch: Epoch) -> None:
        self.logs[follower].append(epoch)


class KeepsHighWatermark(Kraft):
    """A new leader goes on with the high watermark of its time as a follower (Kafka, transitionToLeader)."""

    def forget_high_watermark(self, leader: Replica) -> None:
        pass


class CountsDivergedFollowers(Kraft):
    """A fetch offset counts, and is answered, whether or not the follower's log is a prefix of the leader's."""

    def is_diverging(self, leader: Replica, position: Position) -> bool:
        return False


class CountsObservers(Kraft):
    """Copies of replicas outside of the voters count towards a majority (as in KAFKA-16530)."""

    def counted_replicas(self) -> Set[Replica]:
        return Set(Replica)


# Restarts.


class ForgetsLeadership(Kraft):
    """A restarted leader is unattached, and free to vote in the epoch that it led (KAFKA-10661).

    As long as it has the first record of its epoch, it refuses all others of that epoch; so it must have lost it.
    """

    def resume(self, replica: Replica) -> None:
        if self.quorum_state[replica].leader == replica:
            self.become_unattached(replica, self.quorum_state[replica].epoch)
        else:
            super().resume(replica)


class ResumesLeadership(Kraft):
    """A restarted leader leads on in its epoch, and writes again what it lost (KAFKA-10527)."""

    def resume(self, replica: Replica) -> None:
        super().resume(replica)
        if self.quorum_state[replica].leader == replica:
            self.role[replica] = Role.LEADER
            self.leadership[replica].epoch_start = len(self.logs[replica])


class ForgetsVote(Kraft):
    """The vote is kept in memory only (Raft, section 5.2)."""

    def resume(self, replica: Replica) -> None:
        if self.quorum_state[replica].leader is None:
            self.quorum_state[replica].voted = None
        super().resume(replica)


class ForgetsEpoch(Kraft):
    """The quorum-state file is written when an election is over, not when it begins."""

    def resume(self, replica: Replica) -> None:
        state = self.quorum_state[replica]
        if state.leader is None:
            self.quorum_state[replica] = QuorumState(
                epoch=self.log_position(replica).epoch, leader=None, voted=None
            )
        else:
            super().resume(replica)


class StepsDownUnflushed(Kraft):
    """A leader stands for election with records in its log that it has not flushed.

    It loses them in a restart, asks again, and a voter grants its request again without a look at the log. The record
    had been committed by the others. No ticket known: in Kafka one thread appends, flushes and does all the rest.
    """

    def flush_before_stepping_down(self, replica: Replica) -> None:
        pass


# Elections.


class VotesForAnyLog(Kraft):
    """A vote does not depend on the logs (KIP-595, "Vote Request Handling")."""

    def is_up_to_date(self, position: Position, voter: Replica) -> bool:
        return True


class VotesForLongerLog(Kraft):
    """The longer log wins, whatever its last epoch (KIP-595, "Vote Request Handling")."""

    def is_up_to_date(self, position: Position, voter: Replica) -> bool:
        return position.offset >= len(self.logs[voter])


class VotesTwice(Kraft):
    """A voter grants every request of its epoch (Raft, section 5.2)."""

    def grants_vote(self, request: Message) -> bool:
        voter = request.destination
        return request.epoch == self.quorum_state[voter].epoch and self.is_up_to_date(request.position, voter)


class ObserversStand(Kraft):
    """A replica that is no voter may become a candidate (KAFKA-17067)."""

    def may_stand(self, replica: Replica) -> bool:
        return True


class FollowsEarlierEpochs(Kraft):
    """A replica joins the epoch of any message, and not of later ones only (FENCED_LEADER_EPOCH)."""

    def is_outdated(self, replica: Replica, epoch: Epoch) -> bool:
        return False


class DeniesLeadership(Kraft):
    """A resigned leader that hears that it leads the epoch takes this for a contradiction (VRAFT, on Kafka 3.2)."""

    def is_consistent_leader(self, replica: Replica, epoch: Epoch, leader: Replica) -> bool:
        return leader != replica and super().is_consistent_leader(replica, epoch, leader)


# The leader's fetch timer, and what others are told.


class CountsOnlyOthers(Kraft):
    """A leader wants fetches from a majority besides itself.

    KIP-595, "Leader Progress Timeout", taken at its word: one dead follower of three deposes a healthy leader.
    """

    def majority_fetched(self, leader: Replica) -> bool:
        return self.is_majority(self.leadership[leader].fetched - {leader})


class ExpectsFetchesOfNobody(Kraft):
    """The fetch timer runs even where the leader is the only voter (KAFKA-16144)."""

    def majority_fetched(self, leader: Replica) -> bool:
        return len(self.leadership[leader].fetched) > 0 and super().majority_fetched(leader)


class ResignedControllerActs(Kraft):
    """A resigned leader still tells its controller that it leads (KAFKA-17333)."""

    def is_active_controller(self, replica: Replica) -> bool:
        return self.quorum_state[replica].leader == replica


class ControllerActsAtOnce(Kraft):
    """A controller acts as soon as its replica leads, before it has what was committed earlier (KAFKA-15345)."""

    def is_active_controller(self, replica: Replica) -> bool:
        return self.role[replica] == Role.LEADER
