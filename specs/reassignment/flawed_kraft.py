"""Known-bad designs of KIP-455's reassignment with a KRaft controller, including the shipped ones."""

from __future__ import annotations

from floodmark import Seq, Set, action
from model.reassignment.kip455 import Assignment
from model.reassignment.kraft import KraftReassignment
from model.reassignment.replicas import Broker, Partition, ReassignedReplicas


class MergesAdding(KraftReassignment):
    """C-M21: as shipped, an override takes a replica that is still being added for an old replica.

    A cancellation then ends with more replicas than there were: two become four.
    """

    def changed_from(self, partition: Partition) -> Seq[Broker]:
        return self.assignment[partition].replicas


class CompletesWithAdding(MergesAdding):
    """C-M3: the controller waits for the adding replicas only. One that an override keeps is no longer adding
    (KAFKA-15665).
    """

    def is_in_sync(self, partition: Partition, assignment: Assignment) -> bool:
        return assignment.adding <= self.replication[partition].isr


class CancelsWithoutLeader(KraftReassignment):
    """C-M1: as shipped, a cancellation requires a member of the ISR, but not a live one."""

    def leaves_leader(self, partition: Partition, stopped: Set[Broker]) -> bool:
        return len(self.replication[partition].isr - stopped) > 0


class CancelsBelowMinIsr(KraftReassignment):
    """C-M2: as shipped, the controller does not check min.insync.replicas."""

    def leaves_enough_in_sync(self, partition: Partition, stopped: Set[Broker]) -> bool:
        return True


class CancelsUncleanly(KraftReassignment):
    """As shipped with unclean leader election: if nobody stays in the ISR, the first replica is put there."""

    def leaves_leader(self, partition: Partition, stopped: Set[Broker]) -> bool:
        return True

    def leaves_enough_in_sync(self, partition: Partition, stopped: Set[Broker]) -> bool:
        return True

    def isr_left_by_request(self, partition: Partition, stopped: Set[Broker]) -> Set[Broker]:
        isr = self.replication[partition].isr
        return isr - stopped if not isr <= stopped else Set({self.changed_from(partition)[0]})


class KeepsStoppedReplica(KraftReassignment):
    """C-M15: brokers do not delete partitions that they are no longer replicas of (KAFKA-16120)."""

    def deletes_stopped(self) -> bool:
        return False


class CompletesOnRequest(KraftReassignment):
    """A change of the ISR completes nothing; only what the controller writes by itself does."""

    @action
    def follower_joins_isr(self, partition: Partition, follower: Broker) -> None:
        ReassignedReplicas.follower_joins_isr(self, partition, follower)


class TellsNobody(KraftReassignment):
    """The record changes the replicas, and the leader continues with those that it knew."""

    def apply_assignment(self, partition: Partition, assignment: Assignment) -> None:
        known = self.replication[partition].known
        super().apply_assignment(partition, assignment)
        self.tell_leader(partition, known)
