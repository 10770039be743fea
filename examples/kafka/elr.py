"""What a walk of ``model/elr/partition.py`` beside Kafka's controller has to know besides: which of several brokers is
elected, when a controlled shutdown is over at once, and that nobody takes one back. The model of KIP-966 leaves all
three open.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Capacity, Seq, Set, action, initial, require
from model.elr.partition import Broker, EligibleLeaders, Registration


class OrderedEligibleLeaders(EligibleLeaders):
    """Elections go by the order of the replicas."""

    replicas: Annotated[Seq[Broker], Capacity("brokers")]
    leaving: Set[Broker]
    """The brokers whose heartbeats ask for a controlled shutdown, until they register anew."""

    @initial
    def start(self, leader: Broker, followers: Set[Broker]) -> None:
        super().start(leader, followers)
        self.leaving = Set()
        self.replicas = Seq([leader])
        for broker in Broker:
            if broker != leader:
                self.replicas.append(broker)

    def change(
        self, isr: Set[Broker], unclean_shutdown: Set[Broker], active: Set[Broker], successor: Broker | None
    ) -> None:
        """The first replica that may lead is elected (``PartitionChangeBuilder.electAnyLeader``)."""
        candidates = self.electable(isr, self.target_elr(isr, unclean_shutdown)) & active
        stays = self.leader is not None and self.leader in candidates
        if not stays and len(candidates) > 0:
            require(successor == self.first_of(candidates))
        super().change(isr, unclean_shutdown, active, successor)

    def first_of(self, candidates: Set[Broker]) -> Broker | None:
        for broker in self.replicas:
            if broker in candidates:
                return broker
        return None

    @action
    def controller_starts_shutdown(self, broker: Broker, successor: Broker | None) -> None:
        """A broker that leads nothing may go at once, and is fenced (``BrokerHeartbeatManager``:
        ``calculateNextBrokerState``).
        """
        led = self.leader == broker
        self.leaving.add(broker)
        super().controller_starts_shutdown(broker, successor)
        if not led:
            self.registration[broker] = Registration.FENCED

    @action
    def controller_unfences(self, broker: Broker, successor: Broker | None) -> None:
        """A broker that is shutting down says so in each heartbeat, and stays fenced."""
        require(broker not in self.leaving)
        super().controller_unfences(broker, successor)

    @action
    def broker_registers(self, broker: Broker, successor: Broker | None) -> None:
        super().broker_registers(broker, successor)
        self.leaving.discard(broker)

    @action
    def controller_moves_leader(self, successor: Broker) -> None:
        """The preferred replica is the first one (``PartitionChangeBuilder.electPreferredLeader``)."""
        require(successor == self.replicas[0])
        super().controller_moves_leader(successor)
