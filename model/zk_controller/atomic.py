"""What replication V3 is for, in one page: decisions that are made at once, and that brokers follow in their order.

``ZkController`` (controller.py) and what extends it reach this with sessions, watches, conditional writes, queues and
controllers that are replaced without knowing. ``as_atomic_controller`` says which part of their state it is: every step
of theirs leaves that part as it is, or changes it as one of these actions does. There is no controller here: whoever
decides, a decision is made from the one before.
"""

from __future__ import annotations

from floodmark import Constant, Map, Model, Set, action, initial, refines, require
from model.zk_controller.controller import Broker, LeaderAndIsr, Partition, Version, ZkController


class AtomicController(Model):
    """The decision on each partition, and the version of the decision that each broker follows."""

    brokers = Constant(3)
    partitions = Constant(1)
    max_version = Constant(3)

    decisions: Map[Partition, LeaderAndIsr]
    followed: Map[Broker, Map[Partition, Version]]

    @initial
    def start(self) -> None:
        """The first broker leads, all are in the ISR, and all know it."""
        first = LeaderAndIsr(leader=Broker(1), isr=Set(Broker), version=1)
        self.decisions = Map({partition: first for partition in Partition})
        self.followed = Map({broker: Map({partition: 1 for partition in Partition}) for broker in Broker})

    def decide(self, partition: Partition, leader: Broker | None, isr: Set[Broker]) -> None:
        """A decision has the version after the one that it replaces."""
        version = self.decisions[partition].version
        require(version < self.max_version)
        self.decisions[partition] = LeaderAndIsr(leader=leader, isr=isr, version=version + 1)

    @action
    def leader_is_elected(self, partition: Partition, leader: Broker, isr: Set[Broker]) -> None:
        """Another member of the ISR leads, or the last leader again. Others may leave the ISR with that, none joins.

        Section A, step 3.2.
        """
        require(leader in isr and isr <= self.decisions[partition].isr)
        self.decide(partition, leader, isr)

    @action
    def nobody_leads(self, partition: Partition) -> None:
        """The ISR waits for a leader as it is. Section A, question A.1."""
        require(self.decisions[partition].leader is not None)
        self.decide(partition, None, self.decisions[partition].isr)

    @action
    def leader_changes_isr(self, partition: Partition, member: Broker, broker: Broker) -> None:
        """A leader that follows the latest decision adds one member to the ISR or removes it. Section B, step 2.1.2."""
        decision = self.decisions[partition]
        require(broker == decision.leader and member != broker)
        require(self.followed[broker][partition] == decision.version)
        self.decide(partition, broker, decision.isr ^ {member})

    @action
    def broker_follows(self, broker: Broker, partition: Partition, version: Version) -> None:
        """A broker learns of a decision, not necessarily of the latest, and never goes back. Section B."""
        require(self.followed[broker][partition] < version and version <= self.decisions[partition].version)
        self.followed[broker][partition] = version

    @action
    def broker_forgets(self, broker: Broker) -> None:
        """A broker crashes, and knows nothing. The environment: a broker crashes."""
        self.followed[broker] = Map({partition: 0 for partition in Partition})


@refines(steps=2)
def as_atomic_controller(model: ZkController) -> AtomicController:
    """The decisions in ZooKeeper and the versions that brokers know are those of an atomic controller."""
    return AtomicController(
        brokers=model.brokers,
        partitions=model.partitions,
        max_version=model.max_version,
        decisions=model.leader_and_isr,
        followed=Map(
            {
                broker: Map({partition: model.processes[broker].known[partition].version for partition in Partition})
                for broker in Broker
            }
        ),
    )
