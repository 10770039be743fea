"""The controller on ZooKeeper for liveness: failures and changes of the ISR come to an end.

controller.py is where to begin. A run has at most ``max_faults`` failures, which is all that is assumed of them.
Versions and controller epochs are enough for what they and the leaders cause, which is asserted, so no run ends for
want of them. Of brokers and controllers, only that they take their next step is assumed, whichever it is.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Between, Constant, Set, action, fair, require
from model.zk_controller.controller import Broker, LeaderAndIsr, Partition, Phase, Stage, Watch, ZkController
from model.zk_controller.topics import Reassignments, TopicChanges


class ZkProgress(ZkController):
    """Sections A, B, D and E. ``isr_changes`` bounds how often leaders change the ISR."""

    brokers = Constant(2)
    max_version = Constant(6)
    max_controller_epoch = Constant(3)
    isr_changes = Constant(1)

    isr_changes_left: Annotated[int, Between(0, "isr_changes")]

    def start(self) -> None:
        super().start()
        self.isr_changes_left = self.isr_changes

    @action
    def leader_updates_isr(self, broker: Broker, partition: Partition, member: Broker, answered: bool) -> None:
        require(self.isr_changes_left > 0 and self.may_decide(partition))
        self.isr_changes_left -= 1
        super().leader_updates_isr(broker, partition, member, answered)

    def may_decide(self, partition: Partition) -> bool:
        assert self.leader_and_isr[partition].version < self.max_version
        return True

    @action
    def on_controller_failover(self, broker: Broker) -> None:
        assert self.controller is not None or self.controller_epoch < self.max_controller_epoch
        super().on_controller_failover(broker)

    @fair(each="broker")
    @action
    def lost_session_expires(self, broker: Broker) -> None:
        """The environment: the session of a broker that has abandoned it expires: this is no failure, and it happens
        eventually.
        """
        require(broker in self.ids and self.processes[broker].stage in (Stage.DOWN, Stage.STARTING))
        self.session_expires(broker)

    @fair(each="broker")
    @action
    def broker_goes_on(self, broker: Broker) -> None:
        """The next step of section E, or of section B where the watch on the queue has fired."""
        stage = self.processes[broker].stage
        if stage == Stage.STARTING:
            self.broker_registers(broker)
        elif stage == Stage.REGISTERED:
            self.broker_subscribes(broker)
        elif stage == Stage.SUBSCRIBED:
            self.broker_reads_decisions(broker)
        else:
            self.on_leader_assignment_change(broker)

    @fair(each="broker")
    @action
    def controller_goes_on(self, broker: Broker, partition: Partition, other: Broker) -> None:
        """The next step of section A or of section D, with whichever leader, or recipient."""
        phase = self.controllers[broker].phase
        if phase == Phase.READING:
            self.controller_reads_decisions(broker)
        elif phase == Phase.CHANGING:
            self.change_goes_on(broker, partition, other)
        elif phase == Phase.PUBLISHING:
            self.controller_publishes(broker, other)
        else:
            self.event_is_handled(broker, partition)

    def change_goes_on(self, broker: Broker, partition: Partition, leader: Broker) -> None:
        if self.controllers[broker].decisions[partition].version == 0:
            self.controller_reads_isr(broker, partition)
        elif len(self.candidates(broker, partition)) == 0:
            self.controller_finds_nobody(broker, partition)
        else:
            self.controller_elects(broker, partition, leader)

    def event_is_handled(self, broker: Broker, partition: Partition) -> None:
        self.on_broker_change(broker)


class TopicProgress(ZkProgress, TopicChanges):
    """Section C: topics are created and deleted."""

    def change_goes_on(self, broker: Broker, partition: Partition, leader: Broker) -> None:
        if partition not in self.known_topics[broker]:
            self.controller_forgets_topic(broker, partition)
        elif self.leader_and_isr[partition].version == 0:
            self.controller_inits_leader(broker, partition, leader)
        else:
            super().change_goes_on(broker, partition, leader)

    def event_is_handled(self, broker: Broker, partition: Partition) -> None:
        if self.controllers[broker].brokers_watch == Watch.FIRED:
            super().event_is_handled(broker, partition)
        else:
            self.on_topic_change(broker)


class MoveProgress(TopicProgress, Reassignments):
    """Section F: partitions move to brokers that fetch, and so are added to the ISR.

    Each topic exists from the start, on the first broker, and is not deleted.
    """

    def start(self) -> None:
        super().start()
        first = LeaderAndIsr(leader=Broker(1), isr=Set({Broker(1)}), version=1)
        self.topics = Set(Partition)
        self.unused = Set()
        for partition in Partition:
            self.leader_and_isr[partition] = first
            self.follow(Broker(1), partition, first)

    @action
    def topic_is_deleted(self, partition: Partition) -> None:
        require(False)

    def event_is_handled(self, broker: Broker, partition: Partition) -> None:
        if self.controllers[broker].brokers_watch == Watch.FIRED or self.topics_watch[broker] == Watch.FIRED:
            super().event_is_handled(broker, partition)
        elif self.requests_watch[broker] == Watch.FIRED:
            self.on_partitions_reassigned(broker)
        elif self.is_installed(partition):
            self.controller_removes_request(broker, partition)
        else:
            self.controller_checks_isr(broker, partition)

    @fair(each="member")
    @action
    def requested_broker_joins(self, broker: Broker, partition: Partition, member: Broker) -> None:
        """A member of RAR has caught up. That it joins is not one of the changes that are counted.

        Section F, step 3.
        """
        require(member in self.requested[partition] and member not in self.leader_and_isr[partition].isr)
        require(self.may_decide(partition))
        ZkController.leader_updates_isr(self, broker, partition, member, True)
