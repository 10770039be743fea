"""Known-bad designs about the cluster id in KIP-595's requests."""

from __future__ import annotations

from model.kraft.clusters import Cluster, KraftClusters


class ChecksNoClusterId(KraftClusters):
    """Requests are accepted from any cluster (B-M20, KAFKA-12440)."""

    def is_of_this_cluster(self, cluster: Cluster | None) -> bool:
        return True


class WantsClusterId(KraftClusters):
    """A request without a cluster id is refused (B-M20, KAFKA-10817)."""

    def is_of_this_cluster(self, cluster: Cluster | None) -> bool:
        return cluster == Cluster.OURS
