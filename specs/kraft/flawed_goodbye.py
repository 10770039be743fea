"""Known-bad designs of KIP-595's EndQuorumEpoch from a candidate."""

from __future__ import annotations

from model.kraft.goodbye import KraftGoodbye
from model.kraft.quorum import Message, Replica


class CandidateNamesItself(KraftGoodbye):
    """LeaderId is always the sender: a candidate is taken for the leader, and told so."""

    def leader_id(self, source: Replica) -> Replica | None:
        return source


class ForgetsVoteAfterGoodbye(KraftGoodbye):
    """A voter takes its vote back when its candidate gives up; the candidate may have counted it."""

    def end_election(self, request: Message) -> None:
        self.become_unattached(request.destination, request.epoch)
