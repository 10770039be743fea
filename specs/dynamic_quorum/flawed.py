"""Known-bad designs of KIP-853, each one rule away from the good one.

The numbers are those of docs/properties.md. "Ongaro" is his message to raft-dev, "bug in single-server membership
changes", about his own thesis.
"""

from __future__ import annotations

from floodmark import Set, action, require
from model.dynamic_quorum.voters import DynamicQuorum, Entry
from model.kraft.quorum import Offset, Replica

# When a change may begin.


class ChangesBeforeCommit(DynamicQuorum):
    """A leader changes the voters before it has committed a record of its own epoch (G-M1; Ongaro).

    The change of an earlier leader may be uncommitted in other logs. Each of the two changes is one away from the set
    that both leaders know, but they are two away from each other.
    """

    def has_committed_in_epoch(self, leader: Replica) -> bool:
        return True

    def last_change_is_committed(self, leader: Replica) -> bool:
        """With an unknown high watermark, what is known is that its own log has no later change."""
        return self.high_watermark[leader] == 0 or super().last_change_is_committed(leader)


class ChangesTwoAtOnce(DynamicQuorum):
    """A change does not wait until the last one is committed (G-M2)."""

    def last_change_is_committed(self, leader: Replica) -> bool:
        return True


class ReplacesVoter(DynamicQuorum):
    """One record takes a voter out and another one in (G-M25): ``VoterSet.hasOverlappingMajority`` would accept it."""

    @action
    def leader_removes_voter(self, leader: Replica, voter: Replica) -> None:
        voters = self.voter_set[leader]
        joining = Set(replica for replica in Replica if replica not in voters and self.has_caught_up(leader, replica))
        require(self.removes < self.max_removes and self.may_change(leader))
        require(voter in voters and len(joining) > 0)
        self.removes += 1
        self.write_voters(leader, (voters - {voter}) | joining)


# Which voters count.


class UsesCommittedVoters(DynamicQuorum):
    """A replica uses a voter set only once it knows that the record is committed (G-M3; the KIP: "Voters will not wait
    for these records to get committed").
    """

    def append(self, replica: Replica, entry: Entry) -> None:
        self.logs[replica].append(entry)

    def truncate(self, replica: Replica, offset: Offset) -> None:
        self.logs[replica] = self.logs[replica][:offset]

    def heed_committed(self, replica: Replica) -> None:
        if self.high_watermark[replica] > 0:
            self.voter_set[replica] = self.voters_below(replica, self.high_watermark[replica])

    def advance_high_watermark(self, leader: Replica) -> None:
        super().advance_high_watermark(leader)
        self.heed_committed(leader)

    def copy_records(self, follower: Replica, leader: Replica, end: Offset) -> None:
        super().copy_records(follower, leader, end)
        self.heed_committed(follower)

    @action
    def replica_restarts(self, replica: Replica) -> None:
        """It has stored its log, but not how much of it is committed: the first record is, the bootstrap checkpoint."""
        super().replica_restarts(replica)
        self.voter_set[replica] = self.voters_below(replica, 1)


class KeepsTruncatedVoters(DynamicQuorum):
    """Truncating the log does not take the voter set back (G-M4)."""

    def truncate(self, replica: Replica, offset: Offset) -> None:
        self.logs[replica] = self.logs[replica][:offset]


class CountsRemovedLeader(DynamicQuorum):
    """A leader that has removed itself goes on to count itself (G-M5, KAFKA-16530).

    With an odd number of voters, no record is lost: half of the new ones and the leader are a majority of the former
    ones.
    """

    def majority_offset(self, leader: Replica) -> Offset:
        voters = self.voter_set[leader]
        return self.offset_of_majority(leader, voters | {leader}, len(voters))


class AddsWithoutCatchingUp(DynamicQuorum):
    """A replica is added that has never fetched (G-M15)."""

    def has_caught_up(self, leader: Replica, replica: Replica) -> bool:
        return True


class ObserversStand(DynamicQuorum):
    """A replica stands for election although its own log does not name it (G-M8, KAFKA-17067).

    It does not vote for itself, in effect: its vote is not one of the voters'.
    """

    def may_stand(self, replica: Replica) -> bool:
        return True


class CountsObservers(DynamicQuorum):
    """Whoever fetches is counted, in place of a voter that has not fetched (G-M6)."""

    def majority_offset(self, leader: Replica) -> Offset:
        return self.offset_of_majority(leader, Set(Replica), len(self.voter_set[leader]))


class CountsFormerVoters(DynamicQuorum):
    """Until a change is committed, a majority of the voters before it commits (G-M7).

    Nothing is lost by that: either majority has a voter in common with every other that may elect a leader.
    """

    def majority_offset(self, leader: Replica) -> Offset:
        change = self.last_change(leader)
        voters = self.voter_set[leader]
        if change > max(1, self.high_watermark[leader]):
            voters = self.voters_below(leader, change - 1)
        return self.offset_of_majority(leader, voters, len(voters))
