"""Known-bad designs of whom a leader serves, and what it counts. Two of them lose nothing, which has its reason."""

from __future__ import annotations

from floodmark import action
from model.kraft.network import KraftNetwork
from model.kraft.progress import KraftProgress
from model.kraft.quorum import Kraft, Message, Offset, Replica, Role
from model.kraft.returning_leader import ReturningLeader


class ServesWhenResigned(Kraft):
    """A leader that has resigned goes on answering fetches in its epoch (B-M31). One that has restarted has lost what
    it had not flushed, and tells followers that have committed it to truncate.
    """

    def handle_fetch(self, request: Message) -> Message:
        leader = request.destination
        resigned = self.role[leader] == Role.RESIGNED
        if resigned:
            self.role[leader] = Role.LEADER
        response = super().handle_fetch(request)
        if resigned:
            self.role[leader] = Role.RESIGNED
        return response


class WritesNoLeaderChange(KraftProgress):
    """A new leader does not write a record of its own epoch (B-M32). What its predecessor left is not committed until a
    client writes, perhaps never.
    """

    def transition_to_leader(self, replica: Replica) -> None:
        before = len(self.logs[replica])
        super().transition_to_leader(replica)
        self.logs[replica] = self.logs[replica][:before]
        self.flush(replica)


class CommitsByLowerIndex(Kraft):
    """The high watermark is the offset at index (n - 1) / 2 (B-M33): half of an even number of voters is enough.

    It loses nothing by itself: any half and any majority have a voter in common, so who is elected has the record. What
    is lost is what a majority is for: with two voters, a committed record is on one disk.
    """

    def majority_offset(self, leader: Replica) -> Offset:
        ends = sorted((self.end_offset(leader, voter) for voter in self.counted_replicas()), reverse=True)
        return ends[(len(self.current_voters) - 1) // 2]


class AnswersAnyEpoch(KraftNetwork):
    """A leader answers fetches of any epoch (B-M34).

    It loses nothing: a log of an earlier epoch that is a prefix of the leader's ends where the leader's epoch starts,
    or before, and what counts is a record of the leader's own epoch.
    """

    def handle_fetch(self, request: Message) -> Message:
        return super().handle_fetch(request.replace(epoch=self.quorum_state[request.destination].epoch))


class KeepsEndOffsets(Kraft):
    """A replica that leads again counts what it knew of the others when it led before (B-M35); a restart forgets that.

    Among three voters nothing is lost within the bounds: one fetch beside the leader's own copy commits a record, so a
    log does not get shorter than an offset that counted. Among five voters one fetch commits nothing, the follower's
    log is truncated by the next leader, and what it no longer has is counted: ``ReturnsWithEndOffsets``.
    """

    def take_role(self, replica: Replica, role: Role) -> None:
        kept = self.leader_state[replica].end_offsets
        super().take_role(replica, role)
        self.leader_state[replica].end_offsets = kept

    @action
    def replica_restarts(self, replica: Replica, kept: Offset) -> None:
        super().replica_restarts(replica, kept)
        self.leader_state[replica] = self.no_leader_state()


class ReturnsWithEndOffsets(KeepsEndOffsets, ReturningLeader):
    """The same among five voters (B-M35): what the follower had is not in the leader's log any more, and is counted."""
