"""KIP-595's ClusterId: requests from another cluster's brokers that were given our addresses by mistake (KAFKA-12440).

Vote, BeginQuorumEpoch and EndQuorumEpoch carry the sender's cluster id. It may be missing, and is then not checked
(KAFKA-10817); the first of our brokers leaves it out. The protocol itself is in model/kraft/quorum.py, where to begin.
"""

from __future__ import annotations

from enum import Enum

from floodmark import Set, action, initial, require, rule
from model.kraft.quorum import Epoch, Fate, Kind, Kraft, Message, Position, Replica


class Cluster(Enum):
    """Which cluster a broker belongs to."""

    OURS = "ours"
    ANOTHER = "another"


class KraftClusters(Kraft):
    """Our quorum, and stray requests from another cluster whose brokers have the same ids."""

    silent: Set[Replica]
    """Our brokers that leave the cluster id out."""
    begun: Epoch
    """History: the highest epoch that a candidate of our cluster began."""
    refused: bool
    """History: one of our own requests was refused because of its cluster id (INCONSISTENT_CLUSTER_ID)."""

    @initial
    def start(self) -> None:
        super().start()
        self.silent = Set({Replica(1)})
        self.begun = 0
        self.refused = False

    def transition_to_candidate(self, replica: Replica) -> None:
        super().transition_to_candidate(replica)
        self.begun = max(self.begun, self.quorum_state[replica].epoch)

    @rule
    def is_of_this_cluster(self, cluster: Cluster | None) -> bool:
        """Whether a request passes the cluster id check (``KafkaRaftClient.hasValidClusterId``)."""
        return cluster is None or cluster == Cluster.OURS

    def send(self, kind: Kind, request: Message, fate: Fate) -> None:
        cluster = None if request.source in self.silent else Cluster.OURS
        if self.is_of_this_cluster(cluster):
            super().send(kind, request, fate)
        else:
            self.refused = True

    @action
    def stray_request_arrives(self, kind: Kind, source: Replica, voter: Replica, epoch: Epoch) -> None:
        """A request of the other cluster's candidate or leader. Its response goes back to that cluster.

        ``KafkaRaftClient.hasValidClusterId``.
        """
        require(kind in (Kind.VOTE, Kind.BEGIN_QUORUM_EPOCH, Kind.END_QUORUM_EPOCH) and source != voter and epoch > 0)
        if self.is_of_this_cluster(Cluster.ANOTHER):
            nowhere = Position(epoch=0, offset=0)
            request = Message(kind=kind, source=source, destination=voter, epoch=epoch, position=nowhere)
            super().send(kind, request, Fate.RESPONSE_LOST)
