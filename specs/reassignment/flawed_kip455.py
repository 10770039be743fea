"""Known-bad designs of KIP-455's reassignment, including what Kafka shipped with a ZooKeeper controller."""

from __future__ import annotations

from floodmark import Seq, Set, action, require
from model.reassignment.kip455 import Assignment, Kip455Reassignment
from model.reassignment.replicas import Broker, Partition
from model.replica_sets import members, without


class CancelsWithoutLeader(Kip455Reassignment):
    """C-M1: a request is accepted although nobody else in the ISR is alive (KAFKA-14424)."""

    def leaves_leader(self, partition: Partition, stopped: Set[Broker]) -> bool:
        return True


class CancelsBelowMinIsr(Kip455Reassignment):
    """C-M2: the controller does not check min.insync.replicas; LinkedIn's Kafka does (linkedin/kafka#442)."""

    def leaves_enough_in_sync(self, partition: Partition, stopped: Set[Broker]) -> bool:
        return True


class ShrinksIsrLater(Kip455Reassignment):
    """As shipped, phase U: the replicas are written first, and a removed one leaves the ISR two steps later.

    A controller that crashes in between leaves it there.
    """

    def shrink(self, partition: Partition, stopped: Set[Broker]) -> None:
        pass


class DeletesLastInSync(ShrinksIsrLater):
    """As shipped, a cancellation while the ISR is a single added replica: it is deleted, and the ISR still names it.

    KAFKA-14424 is about the outage; this is the data loss.
    """

    def leaves_leader(self, partition: Partition, stopped: Set[Broker]) -> bool:
        return True

    def leaves_enough_in_sync(self, partition: Partition, stopped: Set[Broker]) -> bool:
        return True


class LeavesStrays(Kip455Reassignment):
    """A controller crashes between U1 and U3, and nobody tells the brokers which replicas they no longer need."""

    def finds_strays(self) -> bool:
        return False


class CompletesWithAdding(Kip455Reassignment):
    """C-M3: the controller waits for the adding replicas, but not for the ones that stay (KAFKA-15665)."""

    def is_in_sync(self, partition: Partition, assignment: Assignment) -> bool:
        return assignment.adding <= self.replication[partition].isr


class PersistsTargetFirst(LeavesStrays):
    """C-M5: the target is persisted with the new leader, and after a crash nobody knows which replicas to stop."""

    def b3_leads_from_target(self, partition: Partition) -> None:
        super().b3_leads_from_target(partition)
        self.assignment[partition] = self.memory[partition]


class KeepsLegacyEntry(Kip455Reassignment):
    """C-M9: a request leaves the entry of the old znode, and a new controller follows that (KAFKA-9089)."""

    def has_way(self, partition: Partition) -> bool:
        return True


class RemembersFirst(Kip455Reassignment):
    """C-M10: memory is changed before ZooKeeper, whose write fails (KAFKA-9089)."""

    def on_failed_write(self, partition: Partition, target: Seq[Broker]) -> None:
        self.memory[partition] = self.reassigned_to(partition, target)


class MergesAdding(Kip455Reassignment):
    """C-M20: the origin is taken from all replicas, including those that are still being added (KIP-236's record)."""

    def changed_from(self, partition: Partition) -> Seq[Broker]:
        return self.assignment[partition].replicas


class HeedsLateStop(Kip455Reassignment):
    """C-M14: StopReplica has no epoch, so a late one deletes a replica that was given back (KAFKA-9539, KIP-570)."""

    def heeds_late_stop(self) -> bool:
        return True


class KeepsStoppedReplica(Kip455Reassignment):
    """C-M15: a removed replica is only stopped, not deleted (KAFKA-16120)."""

    def deletes_stopped(self) -> bool:
        return False


class TellsBothAgain(Kip455Reassignment):
    """C-M17: the LeaderAndIsr of B3 still names origin and target, so the leader adds a leaving replica back."""

    def lead_from(self, partition: Partition, target: Set[Broker]) -> None:
        known = self.replication[partition].known
        super().lead_from(partition, target)
        self.tell_leader(partition, known)


class KeepsAdding(Kip455Reassignment):
    """The target is persisted, but added replicas stay marked as adding: a cancellation would now leave none
    (KIP-455).
    """

    def b6_persists_target(self, partition: Partition) -> None:
        adding = self.assignment[partition].adding
        super().b6_persists_target(partition)
        self.assignment[partition] = self.assignment[partition].replace(adding=adding)


class HandlesEventsAtOnce(Kip455Reassignment):
    """Each kind of event has a thread of its own (before KAFKA-5028)."""

    def is_free(self) -> bool:
        return True


class AddsDeadBrokers(Kip455Reassignment):
    """A request is accepted even for brokers that are down: the reassignment waits for one that may never come back."""

    def is_valid(self, partition: Partition, target: Seq[Broker]) -> bool:
        return True


class ReplacesDeadBrokers(Kip455Reassignment):
    """The controller moves a partition off brokers that are down, although nobody has asked for that."""

    @action
    def controller_replaces(self, partition: Partition) -> None:
        replicas = self.assignment[partition].replicas
        require(self.is_free() and len(members(replicas) & self.live) > 0 and not members(replicas) <= self.live)
        self.take(partition, without(replicas, Set(Broker) - self.live))


class ForgetsLegacy(Kip455Reassignment):
    """Every completion removes the partition from the old znode, although that asks for something else by now."""

    def b7_drops_legacy(self, partition: Partition) -> None:
        super().b7_drops_legacy(partition)
        self.forget_legacy(partition)


class EmptiesOldZnode(Kip455Reassignment):
    """The controller empties the old znode without any request, and what an old client wrote is never read."""

    def controller_makes_way(self, partition: Partition) -> None:
        require(self.is_free() and self.legacy[partition] is not None)
        self.forget_legacy(partition)
