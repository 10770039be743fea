"""KIP-595, EndQuorumEpochRequest: "If the replica is a candidate in a current election, then LeaderId will be -1."

A candidate that shuts down tells the voters that they need not wait for it; in Kafka only leaders do (KAFKA-10661).
What a voter does then is not in the text: it joins that epoch and keeps its vote in it, and if it knows no leader
either, it stands for the next. A candidate has not seen the others' logs, so it prefers no successor. The protocol
itself is in model/kraft/quorum.py, where to begin.
"""

from __future__ import annotations

from floodmark import action, require, rule
from model.kraft.quorum import Fate, Kind, Kraft, Message, Replica, Role


class KraftEndQuorumEpoch(Kraft):
    """Candidates, too, send EndQuorumEpoch."""

    @action
    def candidate_sends_end_quorum_epoch(self, candidate: Replica, voter: Replica, fate: Fate) -> None:
        """KIP-595, "EndQuorumEpoch Request Handling"; in Kafka only a leader that has resigned does so
        (``KafkaRaftClient.pollResigned``).
        """
        require(self.role[candidate] == Role.CANDIDATE and voter in self.current_voters - {candidate})
        require(self.reaches(candidate, voter) and self.may_happen(fate))
        self.call(Kind.END_QUORUM_EPOCH, candidate, voter, fate)

    def request(self, kind: Kind, source: Replica, destination: Replica) -> Message:
        request = super().request(kind, source, destination)
        return request.replace(leader=self.leader_id(source)) if kind == Kind.END_QUORUM_EPOCH else request

    @rule
    def leader_id(self, source: Replica) -> Replica | None:
        """LeaderId, whose ReplicaId is the source: the same for a leader, and none for a candidate (KIP-595,
        "EndQuorumEpoch").
        """
        return self.quorum_state[source].leader

    def handle_end_quorum_epoch(self, request: Message) -> Message:
        if request.leader is not None:
            return super().handle_end_quorum_epoch(request)
        voter = request.destination
        self.learn_leader(voter, request.epoch, None)
        response = self.response(Kind.CURRENT_LEADER, request)
        if self.waits_for_candidate(request):
            self.end_election(request)
        return response

    def waits_for_candidate(self, request: Message) -> bool:
        """Whether the voter is in the candidate's epoch and knows no leader, nor stands itself."""
        voter = request.destination
        waits = self.role[voter] in (Role.UNATTACHED, Role.VOTED)
        return waits and self.quorum_state[voter].epoch == request.epoch

    @rule
    def end_election(self, request: Message) -> None:
        """Another candidate may still win this election, so a candidate keeps its vote (KIP-595, "EndQuorumEpoch")."""
        if self.may_campaign(request.destination):
            self.stand(request.destination)
