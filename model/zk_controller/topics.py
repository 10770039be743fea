"""Kafka's controller on ZooKeeper, third draft: topics are created and deleted, partitions are reassigned.

``TopicChanges``   section C of the draft (on_topic_change, init_leaders), whose text is elided in the source
``Reassignments``  section F (on_partitions_reassigned)

Both extend ``ZkController`` (model/zk_controller/controller.py, where to begin), in which versions order all decisions.
A deleted topic no longer has a version, and only the condition on the controller epoch keeps an earlier controller from
starting its replicas again.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Between, Constant, Map, Set, action, initial, require, rule
from model.zk_controller.controller import (
    Batch,
    Broker,
    LeaderAndIsr,
    Partition,
    Phase,
    Watch,
    ZkController,
)


class TopicChanges(ZkController):
    """Section C: topics are created, once each, and deleted, while brokers and controllers come and go.

    A deleted topic leaves no record of who had its replicas. So a broker that learns which topics exist stops the
    replicas of all others: when it starts, and when a new controller sends it all decisions.
    """

    topics: Set[Partition]
    """/brokers/topics: the partitions of the existing topics."""
    unused: Set[Partition]
    """Topics that have not been created yet."""
    topics_watch: Map[Broker, Watch]
    known_topics: Map[Broker, Set[Partition]]
    """The topics that each controller knows."""
    stops: Map[Broker, Set[Partition]]
    """The partitions whose replicas each controller has yet to stop."""

    @initial
    def start(self) -> None:
        """Every broker is up, and there is no topic."""
        super().start()
        for partition in Partition:
            self.leader_and_isr[partition] = self.none()
            for broker in Broker:
                self.processes[broker].known[partition] = self.none()
        self.topics = Set()
        self.unused = Set(Partition)
        self.topics_watch = Map({broker: Watch.UNARMED for broker in Broker})
        self.known_topics = Map({broker: Set() for broker in Broker})
        self.stops = Map({broker: Set() for broker in Broker})

    def is_settled(self) -> bool:
        return super().is_settled() and all(
            self.topics_watch[broker] == Watch.ARMED for broker in Broker if broker == self.controller
        )

    def resign(self, broker: Broker) -> None:
        super().resign(broker)
        self.topics_watch[broker] = Watch.UNARMED
        self.known_topics[broker] = Set()
        self.stops[broker] = Set()

    def lose_watches(self, broker: Broker) -> None:
        super().lose_watches(broker)
        if self.topics_watch[broker] == Watch.ARMED:
            self.topics_watch[broker] = Watch.UNARMED

    # Users.

    @action
    def topic_is_created(self, partition: Partition) -> None:
        """Section C: a user creates a topic."""
        require(partition in self.unused)
        self.unused.discard(partition)
        self.topics.add(partition)
        self.topics_changed()

    @rule
    def may_be_deleted(self, partition: Partition) -> bool:
        return partition in self.topics

    @action
    def topic_is_deleted(self, partition: Partition) -> None:
        """Section C: a user deletes a topic."""
        require(self.may_be_deleted(partition))
        self.topics.discard(partition)
        self.topics_changed()

    def topics_changed(self) -> None:
        for broker in Broker:
            if self.topics_watch[broker] == Watch.ARMED:
                self.topics_watch[broker] = Watch.FIRED

    # The controller.

    def idles(self, broker: Broker) -> bool:
        return self.controllers[broker].phase == Phase.IDLE

    @action
    def on_topic_change(self, broker: Broker) -> None:
        """Reads the topics, arms the watch again, and finds the new and the deleted ones. Section C."""
        require(self.idles(broker) and self.topics_watch[broker] == Watch.FIRED)
        self.topics_watch[broker] = Watch.ARMED
        self.controllers[broker].live = self.ids
        self.controllers[broker].todo = self.topics ^ self.known_topics[broker]
        self.known_topics[broker] = self.topics
        self.controllers[broker].phase = Phase.CHANGING
        self.proceed(broker)

    @action
    def controller_reads_isr(self, broker: Broker, partition: Partition) -> None:
        """Only for topics that exist."""
        require(partition in self.known_topics[broker])
        super().controller_reads_isr(broker, partition)

    @rule
    def isr_of_new_topic(self, broker: Broker, partition: Partition) -> Set[Broker]:
        """Every live replica is in sync, because the logs are empty."""
        return self.available(broker, partition)

    def is_undecided(self, broker: Broker, partition: Partition) -> bool:
        controller = self.controllers[broker]
        return controller.phase == Phase.CHANGING and partition in controller.todo

    @action
    def controller_inits_leader(self, broker: Broker, partition: Partition, leader: Broker) -> None:
        """init_leaders: writes the first decision, unless there already is one. Section D, step 2.3."""
        require(self.is_undecided(broker, partition) and partition in self.known_topics[broker])
        require(self.leader_and_isr[partition].version == 0 and leader in self.available(broker, partition))
        self.decide(broker, partition, leader, self.isr_of_new_topic(broker, partition))

    @action
    def controller_forgets_topic(self, broker: Broker, partition: Partition) -> None:
        """Removes the decision for a deleted topic; its replicas are to be stopped. Section C."""
        require(self.is_undecided(broker, partition) and partition not in self.known_topics[broker])
        if self.is_replaced(broker):
            self.resign(broker)
        else:
            self.leader_and_isr[partition] = self.none()
            self.controllers[broker].leaders[partition] = None
            self.controllers[broker].todo.discard(partition)
            self.stops[broker].add(partition)
            self.proceed(broker)

    @rule
    def initializes_leaders(self) -> bool:
        """A new controller handles topics whose leader its predecessor did not choose (section D, step 2.3)."""
        return True

    def is_affected(self, broker: Broker, partition: Partition) -> bool:
        return (
            partition in self.known_topics[broker]
            and super().is_affected(broker, partition)
            and (self.initializes_leaders() or self.leader_and_isr[partition].version != 0)
        )

    @rule
    def stops_at_failover(self) -> Set[Partition]:
        """What a new controller tells the brokers to stop: every replica without a topic, since it does not know what
        its predecessors sent.
        """
        return Set(Partition) - self.topics

    @action
    def controller_reads_decisions(self, broker: Broker) -> None:
        """Reads the topics as well. A topic that has only a decision left counts as known, so that on_topic_change
        removes it.
        """
        require(self.controllers[broker].phase == Phase.READING)
        self.known_topics[broker] = self.topics | {
            partition for partition in Partition if self.leader_and_isr[partition].version != 0
        }
        self.stops[broker] = self.stops_at_failover()
        self.topics_watch[broker] = Watch.FIRED
        super().controller_reads_decisions(broker)

    @rule
    def may_publish(self, broker: Broker) -> bool:
        """The condition on the controller epoch applies to queues as it does to decisions."""
        return not self.is_replaced(broker)

    def has_news(self, broker: Broker) -> bool:
        return super().has_news(broker) or len(self.stops[broker]) > 0

    def rest(self, broker: Broker) -> None:
        super().rest(broker)
        self.stops[broker] = Set()

    def news(self, broker: Broker, recipient: Broker) -> Batch:
        return super().news(broker, recipient).replace(stops=self.stops[broker])

    # Brokers.

    @rule
    def is_to_stop(self, broker: Broker, partition: Partition) -> bool:
        """A broker that receives a request to stop a replica checks the topics itself, since the message can be late.

        KAFKA-9539: Kafka gives StopReplica requests a leader epoch. Here there is none to compare with.
        """
        return partition not in self.topics

    def stop_replica(self, broker: Broker, partition: Partition, decision: LeaderAndIsr) -> None:
        if self.is_to_stop(broker, partition):
            self.drop(broker, partition)

    def drop(self, broker: Broker, partition: Partition) -> None:
        self.processes[broker].known[partition] = self.none()
        self.processes[broker].unanswered.discard(partition)

    @rule
    def read_decisions(self, broker: Broker) -> None:
        """A broker that starts, or was away, stops its replicas of deleted topics."""
        super().read_decisions(broker)
        for partition in Partition:
            if partition not in self.topics:
                self.drop(broker, partition)


class Reassignments(TopicChanges):
    """Section F: a new topic is on the first broker alone, and users ask for others (RAR), perhaps more than once.

    StartReplica is the unchanged decision, published to AR and RAR. Once RAR is in the ISR, one transaction shrinks the
    ISR to it and makes it AR, so that no crash leaves an unassigned replica in the ISR; then the controller informs the
    brokers, and removes the request last. A broker whose replica is no longer assigned deletes it.
    """

    max_reassignments = Constant(1)

    reassignments: Annotated[int, Between(0, "max_reassignments")]
    assigned: Map[Partition, Set[Broker]]
    """AR, in /brokers/topics."""
    requested: Map[Partition, Set[Broker]]
    """RAR, in /brokers/partitions_reassigned; empty if there is no request."""
    requests_watch: Map[Broker, Watch]
    stored: Map[Partition, Set[Broker]]
    """The brokers that have a replica on disk."""

    @initial
    def start(self) -> None:
        """There is no topic yet. Each one will be on the first broker."""
        super().start()
        self.reassignments = 0
        self.assigned = Map({partition: Set({Broker(1)}) for partition in Partition})
        self.requested = Map({partition: Set() for partition in Partition})
        self.requests_watch = Map({broker: Watch.UNARMED for broker in Broker})
        self.stored = Map({partition: Set() for partition in Partition})

    def replicas(self, partition: Partition) -> Set[Broker]:
        """As long as a request exists, its brokers are replicas, too."""
        return self.assigned[partition] | self.requested[partition]

    def is_settled(self) -> bool:
        return (
            super().is_settled()
            and all(self.requests_watch[broker] == Watch.ARMED for broker in Broker if broker == self.controller)
            and not any(self.can_complete(partition) or self.is_installed(partition) for partition in Partition)
        )

    def resign(self, broker: Broker) -> None:
        super().resign(broker)
        self.requests_watch[broker] = Watch.UNARMED

    def lose_watches(self, broker: Broker) -> None:
        super().lose_watches(broker)
        if self.requests_watch[broker] == Watch.ARMED:
            self.requests_watch[broker] = Watch.UNARMED

    # Users.

    @action
    def reassignment_is_requested(self, partition: Partition, brokers: Set[Broker]) -> None:
        """One request at a time, for an existing topic. Section F."""
        require(len(brokers) > 0 and brokers != self.assigned[partition] and partition in self.topics)
        require(len(self.requested[partition]) == 0 and self.reassignments < self.max_reassignments)
        self.reassignments += 1
        self.requested[partition] = brokers
        for broker in Broker:
            if self.requests_watch[broker] == Watch.ARMED:
                self.requests_watch[broker] = Watch.FIRED

    def may_be_deleted(self, partition: Partition) -> bool:
        """Not while a request exists: the controller would continue with it (Kafka waits as well)."""
        return super().may_be_deleted(partition) and self.is_free(partition)

    @rule
    def is_free(self, partition: Partition) -> bool:
        return len(self.requested[partition]) == 0

    # The controller.

    @action
    def controller_reads_decisions(self, broker: Broker) -> None:
        super().controller_reads_decisions(broker)
        self.requests_watch[broker] = Watch.FIRED

    @action
    def on_partitions_reassigned(self, broker: Broker) -> None:
        """Section F, steps 1 and 2: reads the requests and has the new replicas started."""
        require(self.idles(broker) and self.requests_watch[broker] == Watch.FIRED)
        self.requests_watch[broker] = Watch.ARMED
        for partition in Partition:
            if len(self.requested[partition]) > 0:
                self.controllers[broker].decisions[partition] = self.leader_and_isr[partition]
        self.proceed(broker)

    @rule
    def is_complete(self, partition: Partition, isr: Set[Broker]) -> bool:
        """Step 3.1: the new replicas are in sync. The old ones need not be; they may be why the partition moves."""
        return self.requested[partition] <= isr

    def is_pending(self, partition: Partition) -> bool:
        """A request whose brokers are not the assigned ones yet."""
        return len(self.requested[partition]) > 0 and self.requested[partition] != self.assigned[partition]

    def is_installed(self, partition: Partition) -> bool:
        return len(self.requested[partition]) > 0 and self.requested[partition] == self.assigned[partition]

    def can_complete(self, partition: Partition) -> bool:
        isr = self.leader_and_isr[partition].isr
        return (
            self.is_pending(partition)
            and self.is_complete(partition, isr)
            and len(isr & self.requested[partition] & self.ids) > 0
        )

    @action
    def controller_checks_isr(self, broker: Broker, partition: Partition) -> None:
        """Section F, step 3: checks the ISR from time to time, and continues when a member of RAR can lead."""
        require(self.idles(broker) and self.can_complete(partition))
        self.controllers[broker].live = self.ids
        self.controllers[broker].todo = Set({partition})
        self.controllers[broker].phase = Phase.CHANGING

    def successors(self, broker: Broker, partition: Partition) -> Set[Broker]:
        """The members of RAR that can lead; none as long as the reassignment is not complete."""
        if self.is_pending(partition) and self.is_complete(
            partition, self.controllers[broker].decisions[partition].isr
        ):
            return super().candidates(broker, partition) & self.requested[partition]
        return Set()

    def is_moving(self, broker: Broker, partition: Partition) -> bool:
        return self.is_pending(partition)

    def candidates(self, broker: Broker, partition: Partition) -> Set[Broker]:
        successors = self.successors(broker, partition)
        return successors if len(successors) > 0 else super().candidates(broker, partition)

    def new_isr(self, broker: Broker, partition: Partition, leader: Broker) -> Set[Broker]:
        isr = super().new_isr(broker, partition, leader)
        return isr & self.requested[partition] if leader in self.successors(broker, partition) else isr

    @rule
    def write(self, partition: Partition, decision: LeaderAndIsr) -> None:
        """Steps 3.1 and 3.2 in one transaction: the ISR becomes RAR's, and RAR becomes AR."""
        super().write(partition, decision)
        if self.is_pending(partition) and decision.isr <= self.requested[partition]:
            self.assigned[partition] = self.requested[partition]

    @action
    def controller_removes_request(self, broker: Broker, partition: Partition) -> None:
        """Section F, step 3.3, once all brokers have been informed."""
        require(self.idles(broker) and self.is_installed(partition))
        if self.is_replaced(broker):
            self.resign(broker)
        else:
            self.requested[partition] = Set()

    @rule
    def is_stray(self, broker: Broker, partition: Partition) -> bool:
        """Whether a broker's replica is neither assigned nor requested."""
        return partition not in self.topics or broker not in self.replicas(partition)

    def news(self, broker: Broker, recipient: Broker) -> Batch:
        """A broker that learns of a partition it is not assigned to must stop its replica."""
        batch = super().news(broker, recipient)
        strays = Set(
            partition
            for partition in Partition
            if batch.decisions[partition].version != 0 and self.is_stray(recipient, partition)
        )
        return batch.replace(stops=batch.stops | strays)

    # Brokers.

    def follow(self, broker: Broker, partition: Partition, decision: LeaderAndIsr) -> None:
        super().follow(broker, partition, decision)
        if self.processes[broker].known[partition].version != 0:
            self.stored[partition].add(broker)

    def is_to_stop(self, broker: Broker, partition: Partition) -> bool:
        return self.is_stray(broker, partition)

    def drop(self, broker: Broker, partition: Partition) -> None:
        super().drop(broker, partition)
        self.stored[partition].discard(broker)

    def read_decisions(self, broker: Broker) -> None:
        super().read_decisions(broker)
        for partition in Partition:
            if self.is_stray(broker, partition):
                self.drop(broker, partition)
