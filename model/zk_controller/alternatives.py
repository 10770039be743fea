"""Kafka's controller on ZooKeeper, third draft: alternatives where the draft leaves something open.

``UncleanElections`` section A, step 3.2 as written: without a live member of the ISR any live replica leads
``Transactions``     section A, the draft's wish: a decision is written and published in one ``multi``
``WatchesFollowers`` what Kafka does besides: dead followers leave the ISR, as dead leaders do
``WelcomesBrokers``  the other answer to question A.2: a starting broker reads nothing and is told everything
``SubscribesLast``   section E in the draft's order, with a subscription that reads what is queued
``FailingReplicas``  question A.3: a partition's replica fails while its broker lives on

All extend ``ZkController`` (model/zk_controller/controller.py, where to begin).
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Between, Map, Seq, Set, action, initial, require, rule
from model.zk_controller.controller import Batch, Broker, LeaderAndIsr, Partition, Phase, Stage, Watch, ZkController


class UncleanElections(ZkController):
    """Step 3.2 as written: without a live member of the ISR another replica leads (unclean.leader.election.enable)."""

    def eligible(self, partition: Partition) -> Set[Broker]:
        return self.replicas(partition)

    def is_unclean(self, broker: Broker, partition: Partition) -> bool:
        return len(super().candidates(broker, partition)) == 0

    def candidates(self, broker: Broker, partition: Partition) -> Set[Broker]:
        clean = super().candidates(broker, partition)
        return clean if len(clean) > 0 else self.available(broker, partition)


class Transactions(ZkController):
    """The draft's wish: one transaction writes a decision and publishes it to the brokers registered at the time.

    A transaction has room for a few thousand partitions (1 MB), not for all; here it has room for one, so that a crash
    can come between any two. What was written was also published, so a new controller has nothing to repeat.
    """

    @rule
    def repeats_decisions(self) -> bool:
        return False

    @rule
    def publishes_with_write(self) -> bool:
        """Whether the transaction that writes a decision also publishes it."""
        return True

    def may_decide(self, partition: Partition) -> bool:
        return super().may_decide(partition) and all(
            len(self.queues[broker]) < self.queue_length for broker in self.ids
        )

    def write(self, partition: Partition, decision: LeaderAndIsr) -> None:
        super().write(partition, decision)
        if self.publishes_with_write():
            decisions = Map({each: decision if each == partition else self.none() for each in Partition})
            for broker in self.ids:
                self.publish(broker, Batch(decisions=decisions, stops=Set()))

    def has_news(self, broker: Broker) -> bool:
        return super().has_news(broker) and not self.publishes_with_write()


class WatchesFollowers(ZkController):
    """What Kafka does besides: the controller removes dead followers from the ISR, too (KAFKA-948, KAFKA-3143)."""

    def is_affected(self, broker: Broker, partition: Partition) -> bool:
        dead = self.replicas(partition) - self.controllers[broker].live
        return super().is_affected(broker, partition) or len(dead) > 0

    def may_join(self, broker: Broker, member: Broker, partition: Partition) -> bool:
        """A leader adds only registered brokers: the controller would not hear about the others again."""
        return super().may_join(broker, member, partition) and member in self.ids

    def has_live_leader(self, broker: Broker, partition: Partition) -> bool:
        return self.controllers[broker].decisions[partition].leader in super().candidates(broker, partition)

    def candidates(self, broker: Broker, partition: Partition) -> Set[Broker]:
        """A leader that is live stays the leader."""
        live = super().candidates(broker, partition)
        if not self.has_live_leader(broker, partition):
            return live
        return live & {self.controllers[broker].decisions[partition].leader}

    def is_as_it_should_be(self, broker: Broker, partition: Partition) -> bool:
        isr = self.controllers[broker].decisions[partition].isr
        return self.has_live_leader(broker, partition) and isr <= self.available(broker, partition)

    @action
    def controller_elects(self, broker: Broker, partition: Partition, leader: Broker) -> None:
        require(not self.is_as_it_should_be(broker, partition))
        super().controller_elects(broker, partition, leader)

    @action
    def controller_changes_nothing(self, broker: Broker, partition: Partition) -> None:
        """The leader is live, and the dead brokers have already left the ISR. Section A, step 3."""
        require(self.has_read(broker, partition) and self.is_as_it_should_be(broker, partition))
        self.controllers[broker].todo.discard(partition)
        self.controllers[broker].decisions[partition] = self.none()
        self.proceed(broker)


Session = Annotated[int, Between(0, "max_faults + 1")]


class WelcomesBrokers(ZkController):
    """The other answer to question A.2, and Kafka's: a starting broker waits until the controller tells it everything.

    So the controller must notice every start. It compares the sessions that created the brokers' znodes (KIP-380):
    between two looks a broker can go and come back.
    """

    sessions: Map[Broker, Session]
    seen: Map[Broker, Map[Broker, Session]]
    """The sessions that each broker saw when it last looked as the controller; 0 if there was none."""

    @initial
    def start(self) -> None:
        super().start()
        self.sessions = Map({broker: 1 for broker in Broker})
        self.seen = Map({broker: Map({other: 0 for other in Broker}) for broker in Broker})

    @action
    def broker_registers(self, broker: Broker) -> None:
        """Empties its queue first: what comes from now on is for this session."""
        super().broker_registers(broker)
        self.queues[broker] = Seq()
        self.sessions[broker] += 1

    def subscribe(self, broker: Broker) -> None:
        """Entries that are in the queue already are news."""
        self.processes[broker].queue_watch = Watch.FIRED if len(self.queues[broker]) > 0 else Watch.ARMED

    def read_decisions(self, broker: Broker) -> None:
        """Reads nothing: it will be told."""

    @rule
    def is_newcomer(self, broker: Broker, other: Broker) -> bool:
        """Whether ``other``'s session differs from the one that the controller ``broker`` saw last."""
        return self.sessions[other] != self.seen[broker][other]

    @action
    def on_broker_change(self, broker: Broker) -> None:
        """Publishes all decisions again if there are newcomers, then looks again."""
        require(self.controllers[broker].phase == Phase.IDLE and self.controllers[broker].brokers_watch == Watch.FIRED)
        if any(self.is_newcomer(broker, other) for other in self.ids):
            self.controllers[broker].phase = Phase.READING
        else:
            super().on_broker_change(broker)
        self.seen[broker] = Map({other: self.sessions[other] if other in self.ids else 0 for other in Broker})


class SubscribesLast(ZkController):
    """Section E in the draft's order: a starting broker reads the decisions and starts its replicas, and subscribes
    last. The subscription reads the queue as it arms the watch, as ZooKeeper's getChildren does.

    Nothing is missed: what was published before the broker read is included in what it read, and what was published
    since is in the queue. ``Stage.SUBSCRIBED`` is the stage in between, here before the subscription.
    """

    @action
    def broker_reads_decisions(self, broker: Broker) -> None:
        """Steps 1 to 3."""
        require(self.processes[broker].stage == Stage.REGISTERED)
        self.processes[broker].stage = Stage.SUBSCRIBED
        self.read_decisions(broker)

    @action
    def broker_subscribes(self, broker: Broker) -> None:
        """Step 4."""
        require(self.processes[broker].stage == Stage.SUBSCRIBED)
        self.processes[broker].stage = Stage.UP
        self.subscribe(broker)

    @rule
    def subscribe(self, broker: Broker) -> None:
        """What is in the queue is read like what comes later, including what was left from an earlier life."""
        self.processes[broker].queue_watch = Watch.FIRED if len(self.queues[broker]) > 0 else Watch.ARMED


class FailingReplicas(ZkController):
    """Question A.3: a replica can fail, with its log directory, while its broker lives on (KIP-112).

    The broker reports the failure in ZooKeeper, and the controller counts the replica as dead. One watch covers both
    brokers and reports.
    """

    failed: Map[Partition, Set[Broker]]
    reported: Map[Partition, Set[Broker]]

    @initial
    def start(self) -> None:
        super().start()
        self.failed = Map({partition: Set() for partition in Partition})
        self.reported = Map({partition: Set() for partition in Partition})

    @action
    def replica_fails(self, broker: Broker, partition: Partition) -> None:
        """The replica neither leads nor follows any more.

        The environment: a log directory fails (``ReplicaManager.handleLogDirFailure``).
        """
        require(self.processes[broker].stage == Stage.UP and broker not in self.failed[partition])
        require(self.faults < self.max_faults)
        self.faults += 1
        self.failed[partition].add(broker)

    @action
    def broker_reports_failure(self, broker: Broker, partition: Partition) -> None:
        """``KafkaZkClient.propagateLogDirEvent``."""
        require(broker in self.failed[partition] - self.reported[partition])
        require(self.processes[broker].stage == Stage.UP)
        self.reported[partition].add(broker)
        self.brokers_changed()

    def broker_is_settled(self, broker: Broker) -> bool:
        return super().broker_is_settled(broker) and (
            broker not in self.ids
            or all(broker in self.reported[partition] for partition in Partition if broker in self.failed[partition])
        )

    def leads(self, broker: Broker, partition: Partition) -> bool:
        return super().leads(broker, partition) and broker not in self.failed[partition]

    def may_join(self, broker: Broker, member: Broker, partition: Partition) -> bool:
        return super().may_join(broker, member, partition) and member not in self.failed[partition]

    @rule
    def counts_as_dead(self, partition: Partition) -> Set[Broker]:
        """The replicas that the controller cannot rely on, even if their brokers are live."""
        return self.reported[partition]

    def is_affected(self, broker: Broker, partition: Partition) -> bool:
        leader = self.controllers[broker].leaders[partition]
        return super().is_affected(broker, partition) or leader in self.counts_as_dead(partition)

    def available(self, broker: Broker, partition: Partition) -> Set[Broker]:
        return super().available(broker, partition) - self.counts_as_dead(partition)

    def eligible(self, partition: Partition) -> Set[Broker]:
        return super().eligible(partition) - self.failed[partition]
