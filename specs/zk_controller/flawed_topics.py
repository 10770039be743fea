"""Known-bad designs of topic changes and reassignments under the controller on ZooKeeper."""

from __future__ import annotations

from floodmark import Set
from model.zk_controller.controller import Broker, LeaderAndIsr, Partition
from model.zk_controller.topics import Reassignments, TopicChanges


class PublishesAfterReplacement(TopicChanges):
    """E-M5: a replaced controller still publishes to brokers, and a deleted topic has no version to compare.

    KAFKA-1188: brokers accept a LeaderAndIsr of an earlier controller.
    """

    def may_publish(self, broker: Broker) -> bool:
        return True


class ForgetsNewTopics(TopicChanges):
    """A new controller chooses no leader for topics that nobody had got to yet (draft, section D, step 2.3)."""

    def initializes_leaders(self) -> bool:
        return False


class ForgetsDeletedTopics(TopicChanges):
    """A new controller does not repeat what is to be stopped: the draft repeats only leaders and ISRs (step 2.1)."""

    def stops_at_failover(self) -> Set[Partition]:
        return Set()


class ReadsDecisionsOnly(TopicChanges):
    """A broker whose session was gone starts what it is assigned and stops nothing (draft, section E, step 3)."""

    def read_decisions(self, broker: Broker) -> None:
        for partition in Partition:
            self.follow(broker, partition, self.leader_and_isr[partition])


class StopsWithoutLooking(TopicChanges):
    """E-M23: a broker stops a replica when it is told to, however late (KAFKA-9539).

    A new controller has every replica without a topic stopped. Meanwhile the topic is created, and the broker reads
    that first.
    """

    def is_to_stop(self, broker: Broker, partition: Partition) -> bool:
        return True


class DeletesLate(Reassignments):
    """E-M23 again: the partition was given back to the broker before the order to stop arrives (KAFKA-9539)."""

    def is_to_stop(self, broker: Broker, partition: Partition) -> bool:
        return True


class WaitsForOldReplicas(Reassignments):
    """E-M20: the ISR must be AR and RAR together (draft, section F, step 3.1: "ISR == AR+RAR").

    A dead broker, the usual reason to move its partitions, blocks that forever.
    """

    def is_complete(self, partition: Partition, isr: Set[Broker]) -> bool:
        return isr == self.assigned[partition] | self.requested[partition]


class DeletesBeforeAssigning(Reassignments):
    """E-M21: replicas are stopped once the ISR is RAR's, before RAR is AR (draft, section F, steps 3.1 and 3.2)."""

    def write(self, partition: Partition, decision: LeaderAndIsr) -> None:
        self.leader_and_isr[partition] = decision

    def is_stray(self, broker: Broker, partition: Partition) -> bool:
        isr = self.leader_and_isr[partition].isr
        moved = self.is_pending(partition) and isr <= self.requested[partition]
        return super().is_stray(broker, partition) or (moved and broker not in self.requested[partition])


class InstallsBeforeShrinking(Reassignments):
    """RAR becomes AR while the ISR is still that of both (draft, section F, steps 3.1 and 3.2 in reverse order)."""

    def write(self, partition: Partition, decision: LeaderAndIsr) -> None:
        super().write(partition, decision)
        if self.is_pending(partition) and self.requested[partition] <= decision.isr:
            self.assigned[partition] = self.requested[partition]

    def new_isr(self, broker: Broker, partition: Partition, leader: Broker) -> Set[Broker]:
        return self.controllers[broker].decisions[partition].isr


class StopsOnlyDeletedTopics(Reassignments):
    """A broker keeps the replica of a partition that has moved to others (draft, section F, StopReplica)."""

    def is_to_stop(self, broker: Broker, partition: Partition) -> bool:
        return partition not in self.topics


class DeletesTopicMeanwhile(Reassignments):
    """E-M22: a topic is deleted while a request exists, and the controller continues with the request."""

    def is_free(self, partition: Partition) -> bool:
        return True


class KeepsTopics(TopicChanges):
    """A controller that resigns keeps the topics that it knew (KAFKA-5310)."""

    def resign(self, broker: Broker) -> None:
        known = self.known_topics[broker]
        super().resign(broker)
        self.known_topics[broker] = known


class KeepsRequestsWatch(Reassignments):
    """A controller that resigns keeps watching the requests."""

    def resign(self, broker: Broker) -> None:
        watch = self.requests_watch[broker]
        super().resign(broker)
        self.requests_watch[broker] = watch


class RemovesRequestWithWrite(Reassignments):
    """The transaction that installs RAR removes the request as well, before the brokers are told (draft, section F)."""

    def write(self, partition: Partition, decision: LeaderAndIsr) -> None:
        super().write(partition, decision)
        if self.is_installed(partition):
            self.requested[partition] = Set()


class LeavesIsrToLeader(Reassignments):
    """The controller elects among the new replicas and leaves the old ones in the ISR, so the move is not complete."""

    def new_isr(self, broker: Broker, partition: Partition, leader: Broker) -> Set[Broker]:
        return self.controllers[broker].decisions[partition].isr & self.available(broker, partition)
