"""Known-bad designs of KIP-853 that get stuck."""

from __future__ import annotations

from floodmark import Set, action, initial, require
from model.dynamic_quorum.progress import RemovedLeaderStands
from model.kraft.quorum import Replica, Role


class RefusesStrangers(RemovedLeaderStands):
    """A replica votes only for voters that it knows, as in KIP-595 (G-M9). KIP-853, "Vote": "This check will be
    removed".
    """

    def heeds_stranger(self, voter: Replica, candidate: Replica) -> bool:
        return candidate in self.voter_set[voter]


class ObserversDoNotVote(RemovedLeaderStands):
    """A replica that does not know yet that it is a voter does not vote (G-M10)."""

    def heeds_stranger(self, voter: Replica, candidate: Replica) -> bool:
        return self.is_voter(voter)


class RefusesRemovedVoters(RemovedLeaderStands):
    """A leader does not answer a voter that it has removed, which never learns of it (G-M11; Vanlightly's README)."""

    def serves(self, leader: Replica, replica: Replica) -> bool:
        return replica in self.voter_set[leader] or not self.is_voter(replica)


class LeadsWhenRemoved(RemovedLeaderStands):
    """A leader that has committed its own removal goes on to lead (G-M12)."""

    def resigns_when_removed(self, leader: Replica) -> bool:
        return False


class ResignsWhileAsked(RemovedLeaderStands):
    """A leader that has committed its own removal resigns only if the request has not timed out before (G-M13;
    ``LeaderState.maybeExpirePendingOperation`` of Kafka forgets it).
    """

    timed_out: bool

    @initial
    def start(self, leader: Replica, first: Set[Replica]) -> None:
        super().start(leader, first)
        self.timed_out = False

    @action
    def request_times_out(self) -> None:
        require(any(self.role[leader] == Role.LEADER and not self.is_voter(leader) for leader in Replica))
        self.timed_out = True

    def resigns_when_removed(self, leader: Replica) -> bool:
        return super().resigns_when_removed(leader) and not self.timed_out


class VotersAskNobody(RemovedLeaderStands):
    """Only observers ask who leads, not a voter that has been removed and does not know it (G-M14, KAFKA-17030)."""

    def asks_others(self, replica: Replica) -> bool:
        return not self.is_voter(replica)


class StaysResigned(RemovedLeaderStands):
    """A leader that has resigned, and is a voter by its own log, waits until it is elected (G-M27). If its successor
    removes it, it never asks who leads.
    """

    @action
    def former_leader_leaves_epoch(self, replica: Replica) -> None:
        require(not self.is_voter(replica))
        super().former_leader_leaves_epoch(replica)


class AddsWithoutCatchingUp(RemovedLeaderStands):
    """A replica is added that has never fetched (G-M15): a voter that is far behind, which breaks nothing."""

    def has_caught_up(self, leader: Replica, replica: Replica) -> bool:
        return True


class JoinerWaitsForCommit(RemovedLeaderStands):
    """A replica that has asked to be added sends no fetch until the answer comes, which waits for the commit (G-M24,
    KIP-1186).

    If the commit needs the new voter, neither comes before the request times out.
    """

    waiting: Replica | None

    @initial
    def start(self, leader: Replica, first: Set[Replica]) -> None:
        super().start(leader, first)
        self.waiting = None

    @action
    def leader_adds_voter(self, leader: Replica, replica: Replica) -> None:
        super().leader_adds_voter(leader, replica)
        self.waiting = replica

    def advance_high_watermark(self, leader: Replica) -> None:
        super().advance_high_watermark(leader)
        if self.last_change_is_committed(leader):
            self.waiting = None

    def may_fetch(self, replica: Replica, source: Replica) -> bool:
        return replica != self.waiting and super().may_fetch(replica, source)
