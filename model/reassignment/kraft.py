"""KIP-455 with a KRaft controller: each change of a partition is one record in the metadata log.

A request, a cancellation or a completion is a single step, and a new controller replays the log, so it knows what its
predecessor knew. Whichever record changes a partition also completes its reassignment, if the target is in sync. Kafka
refuses a cancellation only if no replica would stay in the ISR; that is not enough, so the rule is the one of
model/reassignment/kip455.py. The file to begin with is model/reassignment/kip236.py.
"""

from __future__ import annotations

from floodmark import Seq, Set, action, require
from model.reassignment.kip455 import Assignment, ReassignedPartitions, is_under_way, listed, origin_of, target_of
from model.reassignment.replicas import Broker, Partition
from model.replica_sets import members


class KraftReassignment(ReassignedPartitions):
    """KIP-455 with a KRaft controller. An override starts from the origin, as KIP-455 says. Brokers that are added are
    registered, and may be fenced (``ReplicationControlManager.validateManualPartitionAssignment``).
    """

    def apply_assignment(self, partition: Partition, assignment: Assignment) -> None:
        """Every broker reads the record, and creates or deletes its replica."""
        replicas = members(assignment.replicas)
        self.assignment[partition] = assignment
        self.tell_leader(partition, replicas)
        self.stop_replicas_on(partition, self.replication[partition].on_disk - replicas)
        self.start_replicas_on(partition, replicas)

    def settle(self, partition: Partition) -> None:
        """Completes what can be completed: leader, ISR and replicas without those to be removed."""
        assignment = self.assignment[partition]
        if is_under_way(assignment) and self.is_to_complete(partition, assignment):
            self.shrink(partition, assignment.removing)
            target = Assignment(replicas=target_of(assignment), adding=Set[Broker](), removing=Set[Broker]())
            self.apply_assignment(partition, target)

    def take(self, partition: Partition, target: Seq[Broker]) -> None:
        assignment = self.reassigned_to(partition, target)
        self.shrink(partition, self.stopped_by(partition, target))
        self.apply_assignment(partition, assignment)
        self.wanted[partition] = target
        self.settle(partition)

    @action
    def controller_takes_request(self, partition: Partition, preferred: Broker, others: Set[Broker]) -> None:
        """AlterPartitionReassignments: a new target, even while a reassignment is in progress.

        ``ReplicationControlManager.changePartitionReassignment``.
        """
        require(self.may_request(preferred, others) and self.may_take(partition, listed(preferred, others)))
        self.requests += 1
        self.take(partition, listed(preferred, others))

    @action
    def controller_takes_cancellation(self, partition: Partition) -> None:
        """AlterPartitionReassignments without replicas: back to the origin.

        ``ReplicationControlManager.cancelPartitionReassignment``.
        """
        require(is_under_way(self.assignment[partition]))
        require(self.may_take(partition, origin_of(self.assignment[partition])))
        self.take(partition, origin_of(self.assignment[partition]))

    @action
    def follower_joins_isr(self, partition: Partition, follower: Broker) -> None:
        """``ReplicationControlManager.alterPartition``."""
        super().follower_joins_isr(partition, follower)
        self.settle(partition)

    @action
    def follower_leaves_isr(self, partition: Partition, follower: Broker) -> None:
        """``ReplicationControlManager.alterPartition``."""
        super().follower_leaves_isr(partition, follower)
        self.settle(partition)

    @action
    def controller_elects(self, partition: Partition) -> None:
        """A leader is fenced: a live member of the ISR leads instead.

        ``ReplicationControlManager.handleBrokerFenced``.
        """
        replicas = members(self.assignment[partition].replicas)
        require(not self.is_online(partition) and len(self.electable(partition, replicas)) > 0)
        self.elect(partition, replicas)
        self.settle(partition)
