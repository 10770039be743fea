"""Known-bad designs of a leader's shutdown."""

from __future__ import annotations

from model.kraft.hand_over import HandOver, HandOverWithPreVotes
from model.kraft.quorum import Message, Replica


class RemembersFetches(HandOverWithPreVotes):
    """B-M29: followers that have fetched from the leader refuse the pre-vote, although it has resigned (KAFKA-20895).

    With three voters, the successor and the resigned leader are a majority; with five they are not.
    """

    def heeds_end_quorum_epoch(self) -> bool:
        return False


class AllStandAtOnce(HandOver):
    """EndQuorumEpoch does not name preferred successors, so every voter that receives it becomes a candidate."""

    def successor_rank(self, leader: Replica, voter: Replica) -> int:
        return 0


class WaitsForTimer(HandOver):
    """A successor that learns of the resignation waits until its election timer expires."""

    def handle_end_quorum_epoch(self, request: Message) -> Message:
        return self.handle_begin_quorum_epoch(request)
