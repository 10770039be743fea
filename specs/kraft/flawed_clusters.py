"""Known-bad designs about the cluster id in KIP-595's requests."""

from __future__ import annotations

from floodmark import action
from model.kraft.clusters import Cluster, KraftClusters
from model.kraft.quorum import Epoch, Kind, Replica


class ChecksNoClusterId(KraftClusters):
    """Requests are accepted from any cluster (B-M20, KAFKA-12440)."""

    def is_of_this_cluster(self, cluster: Cluster | None) -> bool:
        return True


class ChecksClusterIdLast(KraftClusters):
    """A voter takes over the epoch of a request before it looks at the cluster id (B-M20, KAFKA-12440)."""

    @action
    def stray_request_arrives(self, kind: Kind, source: Replica, voter: Replica, epoch: Epoch) -> None:
        super().stray_request_arrives(kind, source, voter, epoch)
        self.learn_leader(voter, epoch, None)


class WantsClusterId(KraftClusters):
    """A request without a cluster id is refused (B-M20, KAFKA-10817)."""

    def is_of_this_cluster(self, cluster: Cluster | None) -> bool:
        return cluster == Cluster.OURS
