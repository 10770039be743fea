"""Known-bad designs of pre-votes among voters that change."""

from __future__ import annotations

from model.dynamic_quorum.pre_vote import DynamicPreVote, RemovedWhileAway
from model.kraft.quorum import Replica


class WithoutPreVote(RemovedWhileAway):
    """KIP-853 as in Kafka 3.9, before KIP-996: a replica stands as soon as it misses its leader (G-M21,
    G-M22).
    """

    def stand(self, replica: Replica) -> None:
        self.transition_to_candidate(replica)


class CandidatesDoNotAsk(DynamicPreVote):
    """A replica stands without having asked for pre-votes (G-M22)."""

    def stand(self, replica: Replica) -> None:
        self.transition_to_candidate(replica)


class ForgetsVote(DynamicPreVote):
    """A replica that becomes prospective forgets its vote (G-M23)."""

    def stand(self, replica: Replica) -> None:
        self.quorum_state[replica].voted_key = None
        super().stand(replica)
