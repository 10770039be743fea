"""What must hold when brokers of another cluster send requests (KAFKA-12440, KAFKA-10817; begin with quorum.py)."""

from __future__ import annotations

from floodmark import invariant, reachable
from model.kraft.clusters import KraftClusters
from model.kraft.quorum import Replica


@invariant
def epochs_are_our_own(model: KraftClusters) -> bool:
    """No epoch of another cluster gets in, and so no leader or vote of such an epoch."""
    return all(model.quorum_state[replica].epoch <= model.begun for replica in Replica)


@invariant
def our_own_requests_are_heard(model: KraftClusters) -> bool:
    """A request without a cluster id is accepted as one of ours (KAFKA-10817)."""
    return not model.refused


@reachable
def silent_broker_leads(model: KraftClusters) -> bool:
    """Brokers that leave the cluster id out can take part."""
    return any(
        model.quorum_state[replica].leader == leader and leader != replica
        for replica in Replica
        for leader in model.silent
    )
