"""The liveness that KIP-352 promises. Begin with metric.py."""

from __future__ import annotations

from floodmark import always_eventually, leads_to
from model.replica_sets import target
from model.under_replicated.metric import Broker, BrokerViews, Partition, UnderReplicated


@always_eventually
def counts_converge(model: BrokerViews) -> bool:
    """Once nothing changes any more, the brokers' counts add up to the controller's, however late each learns of it
    (KIP-352, "Metrics").
    """
    counted = sum(
        1 for broker in Broker for partition in Partition if model.reports_under_replicated(broker, partition)
    )
    reassigned = sum(model.reports_reassigned(broker, partition) for broker in Broker for partition in Partition)
    return counted == sum(
        1 for partition in Partition if model.is_under_replicated(model.assignments[partition])
    ) and reassigned == sum(len(model.reassigned(model.assignments[partition])) for partition in Partition)


@leads_to
def replicas_in_sync_end_reassignment(model: UnderReplicated, partition: Partition) -> tuple[bool, bool]:
    """A reassignment whose target is in sync is completed, or something changes (KIP-455)."""
    state = model.assignments[partition]
    complete = model.is_reassigned(partition) and target(state.replicas, state.removing) <= state.isr
    return complete, not complete
