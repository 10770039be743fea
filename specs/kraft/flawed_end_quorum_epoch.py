"""Known-bad designs of KIP-595's EndQuorumEpoch from a candidate."""

from __future__ import annotations

from model.kraft.end_quorum_epoch import KraftEndQuorumEpoch
from model.kraft.quorum import Message, Replica


class CandidateNamesItself(KraftEndQuorumEpoch):
    """LeaderId is always the sender: a candidate is taken for the leader, and told so."""

    def leader_id(self, source: Replica) -> Replica | None:
        return source


class ForgetsVoteAfterEndQuorumEpoch(KraftEndQuorumEpoch):
    """A voter takes its vote back when its candidate gives up; the candidate may have counted it."""

    def end_election(self, request: Message) -> None:
        self.transition_to_unattached(request.destination, request.epoch)
