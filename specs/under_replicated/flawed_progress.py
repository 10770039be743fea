"""Known-bad designs of KIP-352 whose counts, or reassignments, never come to rest."""

from __future__ import annotations

from floodmark import action, require
from model.replica_sets import target
from model.under_replicated.metric import Broker, BrokerViews, LeaderAndIsr, Partition, UnderReplicated


class HearsOfItsLeadershipOnly(BrokerViews):
    """A broker applies the decision that makes it the leader, and keeps counting when another one leads."""

    def install(self, broker: Broker, partition: Partition, request: LeaderAndIsr) -> None:
        require(request.leader == broker)
        self.views[broker][partition] = request


class IgnoresSameLeader(BrokerViews):
    """A broker that leads already does not look at what else a request says, such as which replicas are added."""

    def install(self, broker: Broker, partition: Partition, request: LeaderAndIsr) -> None:
        require(not (self.leads(broker, partition) and request.leader == broker))
        super().install(broker, partition, request)


class WaitsForMoreThanTarget(UnderReplicated):
    """A reassignment is completed when the ISR has more than the target, and where nothing is removed it never has."""

    @action
    def reassignment_completes(self, partition: Partition, leader: Broker) -> None:
        state = self.assignments[partition]
        wanted = target(state.replicas, state.removing)
        require(wanted <= state.isr and len(state.isr - wanted) > 0)
        super().reassignment_completes(partition, leader)
