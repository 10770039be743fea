"""A leader that shuts down and hands over (KIP-595, "EndQuorumEpoch"), without and with pre-votes (KIP-996).

quorum.py is where to begin. The first voter leads, the others follow it and have fetched everything. It resigns and
says so to each of them; nothing fails, and all of it takes less time than any timer. Then its preferred successor is to
be elected, in the next epoch.
"""

from __future__ import annotations

from floodmark import Constant, Set, action, initial, require, rule
from model.kraft.network import KraftNetwork
from model.kraft.observers import KraftObservers
from model.kraft.pre_vote import KraftPreVote
from model.kraft.quorum import Message, QuorumState, Replica, Role


class HandOver(KraftObservers, KraftNetwork):
    """KIP-595: the preferred successor stands at once."""

    voters = Constant(5)
    max_epoch = Constant(2)
    max_log = Constant(2)
    max_restarts = Constant(0)
    lossy_restarts = Constant(False)
    loss = Constant(False)
    delays = Constant(0)
    progress_timeout = Constant(False)

    @action
    def leader_shuts_down(self, leader: Replica) -> None:
        """``KafkaRaftClient.shutdown``."""
        require(self.role[leader] == Role.LEADER and self.quorum_state[leader].epoch == 1)
        self.resign(leader)

    def successor_rank(self, leader: Replica, voter: Replica) -> int:
        """A list has an order, also of voters that fetched equally far."""
        rank = super().successor_rank(leader, voter)
        for other in Replica:
            if other == voter:
                break
            if other != leader and self.leader_state[leader].end_offsets[other] == self.end_offset(leader, voter):
                rank += 1
        return rank

    @action
    def election_timeout(self, replica: Replica) -> None:
        require(False)

    @action
    def fetch_timer_expires(self, leader: Replica) -> None:
        require(False)

    @action
    def client_writes(self, leader: Replica) -> None:
        require(False)


class HandOverWithPreVotes(HandOver, KraftPreVote):
    """KIP-996: the preferred successor asks for pre-votes, which a follower that has fetched would refuse.

    A follower whose leader has said that it resigns grants them (KAFKA-20895); KIP-996 does not say so. A candidate
    keeps asking, since the others may receive the request later.
    """

    @initial
    def start(self) -> None:
        super().start()
        self.has_fetched = Set(replica for replica in Replica if replica != Replica(1))

    @rule
    def heeds_end_quorum_epoch(self) -> bool:
        """Whether a follower takes a leader that has resigned for one that it misses
        (``KafkaRaftClient.handleEndQuorumEpochRequest``).
        """
        return True

    def handle_end_quorum_epoch(self, request: Message) -> Message:
        voter = request.destination
        follows = self.quorum_state[voter] == QuorumState(epoch=request.epoch, leader=request.source, voted_key=None)
        if self.heeds_end_quorum_epoch() and follows:
            self.has_fetched.discard(voter)
        return super().handle_end_quorum_epoch(request)

    @action
    def prospective_gives_up(self, replica: Replica) -> None:
        require(False)
