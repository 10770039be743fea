"""KIP-455 with a ZooKeeper controller: the design that replaced KIP-236.

A partition's znode holds its reassignment: the replicas, and which of them are being added and removed. So a request
may change a reassignment in progress, a cancellation is a request for the original replicas, and a new controller needs
nothing else. The phases U, A and B are those of ``KafkaController.onPartitionReassignment``. As in
model/reassignment/kip236.py, where to begin, a controller crash and the failover after it are one step. Where what
Kafka ships is not safe, it is a known-bad design, and the model has the repair:

* a request is refused if the replicas that it stops are needed in sync (``may_stop``, KAFKA-14424);
* a stopped replica leaves the ISR in the same write that removes it from the replicas (``isr_left_by_request``);
* a new controller makes the brokers delete what no partition has any more (``finds_strays``).

The znode ``/admin/reassign_partitions`` of older clients is read, too; a later request removes the partition from it.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import (
    Between,
    Capacity,
    Constant,
    Map,
    Record,
    Seq,
    Set,
    action,
    initial,
    require,
    rule,
)
from model.reassignment.replicas import Broker, Partition, ReassignedReplicas
from model.replica_sets import followed_by, is_reassigning, members, without

Replicas = Annotated[Seq[Broker], Capacity("brokers")]


class Assignment(Record):
    """A partition's replicas, the preferred leader first, and which of them a reassignment adds and removes."""

    replicas: Replicas
    adding: Set[Broker]
    removing: Set[Broker]


def is_under_way(assignment: Assignment) -> bool:
    return is_reassigning(assignment.adding, assignment.removing)


def origin_of(assignment: Assignment) -> Seq[Broker]:
    """The replicas that the reassignment started from. Their order may have changed on the way."""
    return without(assignment.replicas, assignment.adding)


def target_of(assignment: Assignment) -> Seq[Broker]:
    return without(assignment.replicas, assignment.removing)


def reassigned(old: Seq[Broker], target: Seq[Broker]) -> Assignment:
    """The assignment on the way from the replicas ``old`` to ``target``, whose order comes first."""
    replicas = followed_by(target, old)
    return Assignment(
        replicas=replicas,
        adding=members(replicas) - members(old),
        removing=members(replicas) - members(target),
    )


def listed(preferred: Broker, others: Set[Broker]) -> Seq[Broker]:
    """Replicas in order: the preferred leader, then the others."""
    return followed_by(Seq([preferred]), Seq(others))


class ReassignedPartitions(ReassignedReplicas):
    """What the ZooKeeper and the KRaft form share: requests, and when they are refused."""

    submissions = Constant(2)
    smallest_target = Constant(1)
    largest_target = Constant(2)

    assignment: Map[Partition, Assignment]
    requests: Annotated[int, Between(0, "submissions")] = 0
    wanted: Map[Partition, Replicas]

    @initial
    def start(self) -> None:
        replicas = Seq(self.start_replicas())
        self.assignment = Map({
            partition: Assignment(replicas=replicas, adding=Set[Broker](), removing=Set[Broker]())
            for partition in Partition
        })
        self.wanted = Map({partition: replicas for partition in Partition})

    def elect(self, partition: Partition, wanted: Set[Broker]) -> None:
        """The leader stays if it is alive and wanted; otherwise the first eligible one in the order of the replicas
        leads.
        """
        leader = self.replication[partition].leader
        if leader is None or leader not in self.electable(partition, wanted):
            for successor in self.assignment[partition].replicas:
                if successor in self.electable(partition, wanted):
                    self.replication[partition].leader = successor
                    break

    @rule
    def changed_from(self, partition: Partition) -> Seq[Broker]:
        """A later request starts from the origin, not from where an earlier one was going (KIP-455)."""
        return origin_of(self.assignment[partition])

    def reassigned_to(self, partition: Partition, target: Seq[Broker]) -> Assignment:
        return reassigned(self.changed_from(partition), target)

    def stopped_by(self, partition: Partition, target: Seq[Broker]) -> Set[Broker]:
        """The brokers that are replicas now but not after the request: those that an earlier request was adding."""
        return members(self.assignment[partition].replicas) - members(self.reassigned_to(partition, target).replicas)

    @rule
    def leaves_leader(self, partition: Partition, stopped: Set[Broker]) -> bool:
        """Another member of the ISR is alive and can lead (KAFKA-14424)."""
        return len(self.electable(partition, self.replication[partition].isr - stopped)) > 0

    @rule
    def leaves_enough_in_sync(self, partition: Partition, stopped: Set[Broker]) -> bool:
        """As many stay in sync as producers need, or as there are."""
        isr = self.replication[partition].isr
        return len(isr - stopped) >= min(self.min_insync_replicas, len(isr))

    def may_stop(self, partition: Partition, stopped: Set[Broker]) -> bool:
        """Whether the partition can do without these replicas at once."""
        if stopped.isdisjoint(self.replication[partition].isr):
            return True
        return self.leaves_leader(partition, stopped) and self.leaves_enough_in_sync(partition, stopped)

    def may_request(self, preferred: Broker, others: Set[Broker]) -> bool:
        """The targets that are tried: of these sizes, with any preferred leader."""
        return (
            self.requests < self.submissions
            and preferred not in others
            and self.smallest_target <= len(others) + 1 <= self.largest_target
        )

    def may_take(self, partition: Partition, target: Seq[Broker]) -> bool:
        return self.may_stop(partition, self.stopped_by(partition, target))

    @rule
    def isr_left_by_request(self, partition: Partition, stopped: Set[Broker]) -> Set[Broker]:
        """The ISR that is written together with the assignment."""
        return self.replication[partition].isr - stopped

    def shrink(self, partition: Partition, stopped: Set[Broker]) -> None:
        """Leader and ISR without replicas that the partition can do without.

        The new leader epoch fences a leader that does not know yet which replicas are stopped.
        """
        self.elect(partition, self.replication[partition].isr - stopped)
        self.replication[partition].isr = self.isr_left_by_request(partition, stopped)
        leader = self.replication[partition].leader
        if leader is not None and leader in stopped:
            self.replication[partition].leader = None
        self.tell_leader(partition, self.replication[partition].known - stopped)

    def is_to_complete(self, partition: Partition, assignment: Assignment) -> bool:
        """The target is in sync, and one of its replicas can lead."""
        return self.is_in_sync(partition, assignment) and len(
            self.electable(partition, members(target_of(assignment)))
        ) > 0

    @rule
    def is_in_sync(self, partition: Partition, assignment: Assignment) -> bool:
        """The ISR has the whole target, including those that were replicas before (KAFKA-15665)."""
        return members(target_of(assignment)) <= self.replication[partition].isr


class Step(Enum):
    """What the controller does next for a partition."""

    IDLE = "idle"
    REMEMBER = "U2 memory as in ZooKeeper"
    STOP_UNNEEDED = "U3 stop who is no replica any more"
    TELL_BOTH = "A1 a new leader epoch, LeaderAndIsr to origin and adding"
    START_ADDING = "A2 start the adding replicas"
    RETARGET = "B1, B2 replicas := target, in memory"
    LEAD_FROM_TARGET = "B3 a leader from the target"
    TAKE_REMOVING_OFFLINE = "B4 the removing replicas go offline"
    DELETE_REMOVING = "B5 the removing replicas are deleted"
    PERSIST_TARGET = "B6 replicas := target, in ZooKeeper"
    DROP_LEGACY = "B7 out of /admin/reassign_partitions"
    SPREAD = "B8 UpdateMetadata to every broker"


class Kip455Reassignment(ReassignedPartitions):
    """KIP-455 with the repairs."""

    old_clients = Constant(False)

    memory: Map[Partition, Assignment]
    unneeded: Map[Partition, Set[Broker]]
    step: Map[Partition, Step]
    legacy: Map[Partition, Replicas | None]
    legacy_taken: Set[Partition] = Set()

    @initial
    def start(self) -> None:
        super().start()
        self.memory = self.assignment
        self.unneeded = Map({partition: Set[Broker]() for partition in Partition})
        self.step = Map({partition: Step.IDLE for partition in Partition})
        self.legacy = Map({partition: None for partition in Partition})

    def is_free(self) -> bool:
        return all(self.step[partition] == Step.IDLE for partition in Partition)

    # Requests. U1 accepts them.

    def is_valid(self, partition: Partition, target: Seq[Broker]) -> bool:
        """The added brokers are alive; otherwise the error is INVALID_REPLICA_ASSIGNMENT."""
        return members(target) - members(self.assignment[partition].replicas) <= self.live

    def may_take(self, partition: Partition, target: Seq[Broker]) -> bool:
        return self.is_valid(partition, target) and super().may_take(partition, target)

    def take(self, partition: Partition, target: Seq[Broker]) -> None:
        """U1: the assignment is written, together with the ISR without the stopped replicas."""
        self.unneeded[partition] = self.stopped_by(partition, target)
        assignment = self.reassigned_to(partition, target)
        self.shrink(partition, self.unneeded[partition])
        self.assignment[partition] = assignment
        self.step[partition] = Step.REMEMBER

    def forget_legacy(self, partition: Partition) -> None:
        self.legacy[partition] = None
        self.legacy_taken.discard(partition)

    @action
    def controller_makes_way(self, partition: Partition) -> None:
        """On a request, the partition is first removed from the old znode; a crash at this point loses the request.

        ``KafkaController.maybeRemoveFromZkReassignment``.
        """
        require(self.is_free() and self.legacy[partition] is not None)
        require(self.requests < self.submissions or is_under_way(self.assignment[partition]))
        self.forget_legacy(partition)

    @rule
    def has_way(self, partition: Partition) -> bool:
        """The old znode has no entry for the partition, which a new controller would follow (KAFKA-9089)."""
        return self.legacy[partition] is None

    @action
    def controller_takes_request(self, partition: Partition, preferred: Broker, others: Set[Broker]) -> None:
        """AlterPartitionReassignments: a new target, even while a reassignment is in progress.

        ``KafkaController.processApiPartitionReassignment``.
        """
        require(self.is_free() and self.may_request(preferred, others) and self.has_way(partition))
        require(self.may_take(partition, listed(preferred, others)))
        target = listed(preferred, others)
        self.requests += 1
        self.take(partition, target)
        self.wanted[partition] = target

    @action
    def controller_takes_cancellation(self, partition: Partition) -> None:
        """AlterPartitionReassignments without replicas: back to the origin.

        ``KafkaController.processApiPartitionReassignment``.
        """
        require(self.is_free() and is_under_way(self.assignment[partition]) and self.has_way(partition))
        require(self.may_take(partition, origin_of(self.assignment[partition])))
        self.wanted[partition] = origin_of(self.assignment[partition])
        self.take(partition, origin_of(self.assignment[partition]))

    @rule
    def on_failed_write(self, partition: Partition, target: Seq[Broker]) -> None:
        """Memory follows ZooKeeper, so if the write fails, nothing has happened (KAFKA-9089)."""

    @action
    def controller_fails_to_write(self, partition: Partition, preferred: Broker, others: Set[Broker]) -> None:
        """``KafkaController.updateReplicaAssignmentForPartition`` throws."""
        require(self.is_free() and self.may_request(preferred, others))
        require(self.may_take(partition, listed(preferred, others)))
        self.on_failed_write(partition, listed(preferred, others))

    @action
    def client_writes_legacy(self, partition: Partition, preferred: Broker, others: Set[Broker]) -> None:
        """An old client writes ``/admin/reassign_partitions``, if it is not there.

        ``ReassignPartitionsCommand.executeAssignment``.
        """
        require(self.old_clients and self.may_request(preferred, others))
        require(all(self.legacy[other] is None for other in Partition))
        self.requests += 1
        self.legacy[partition] = listed(preferred, others)

    def legacy_target(self, partition: Partition) -> Seq[Broker]:
        target = self.legacy[partition]
        assert target is not None
        return target

    @action
    def controller_reads_legacy(self, partition: Partition) -> None:
        """The watch fires, or a new controller looks: a partition that has another target there is reassigned.

        ``KafkaController.processZkPartitionReassignment``.
        """
        require(self.is_free() and self.legacy[partition] is not None)
        require(target_of(self.assignment[partition]) != self.legacy_target(partition))
        require(self.may_take(partition, self.legacy_target(partition)))
        target = self.legacy_target(partition)
        self.take(partition, target)
        if partition not in self.legacy_taken:
            self.wanted[partition] = target
            self.legacy_taken.add(partition)

    @action
    def controller_drops_legacy(self, partition: Partition) -> None:
        """Drops an entry that is already fulfilled, or not valid.

        ``KafkaController.processZkPartitionReassignment``.
        """
        require(self.is_free() and self.legacy[partition] is not None)
        target = self.legacy_target(partition)
        require(self.assignment[partition].replicas == target or not self.is_valid(partition, target))
        self.forget_legacy(partition)

    # The rest of U, and A.

    @action
    def u2_remembers(self, partition: Partition) -> None:
        """``KafkaController.updateCurrentReassignment``."""
        require(self.step[partition] == Step.REMEMBER)
        self.memory[partition] = self.assignment[partition]
        self.step[partition] = Step.STOP_UNNEEDED

    @action
    def u3_stops_unneeded(self, partition: Partition) -> None:
        """A cancellation counts as complete by definition, so phase B follows at once.

        ``KafkaController.updateCurrentReassignment``.
        """
        require(self.step[partition] == Step.STOP_UNNEEDED)
        self.take_offline(partition, self.unneeded[partition])
        self.stop_replicas_on(partition, self.unneeded[partition])
        self.unneeded[partition] = Set()
        if is_under_way(self.memory[partition]):
            self.step[partition] = Step.TELL_BOTH
        else:
            self.step[partition] = Step.RETARGET

    @action
    def a1_tells_both(self, partition: Partition) -> None:
        """``KafkaController.updateLeaderEpochAndSendRequest``."""
        require(self.step[partition] == Step.TELL_BOTH)
        replicas = members(self.memory[partition].replicas)
        self.tell_leader(partition, replicas)
        self.start_replicas_on(partition, replicas & self.replication[partition].on_disk)
        self.step[partition] = Step.START_ADDING

    @action
    def a2_starts_adding(self, partition: Partition) -> None:
        """``KafkaController.startNewReplicasForReassignedPartition``."""
        require(self.step[partition] == Step.START_ADDING)
        self.start_replicas_on(partition, members(self.memory[partition].replicas))
        self.step[partition] = Step.IDLE

    # B.

    @action
    def b_sees_target_in_sync(self, partition: Partition) -> None:
        """The ISR has changed, or a new controller finds that it has.

        ``KafkaController.processPartitionReassignmentIsrChange``.
        """
        require(self.is_free() and is_under_way(self.memory[partition]))
        require(self.is_to_complete(partition, self.memory[partition]))
        self.step[partition] = Step.RETARGET

    @action
    def b2_retargets(self, partition: Partition) -> None:
        """``KafkaController.onPartitionReassignment``."""
        require(self.step[partition] == Step.RETARGET)
        self.memory[partition] = Assignment(
            replicas=target_of(self.memory[partition]), adding=Set[Broker](), removing=Set[Broker]()
        )
        self.step[partition] = Step.LEAD_FROM_TARGET

    @rule
    def isr_led_by(self, partition: Partition, target: Set[Broker]) -> Set[Broker]:
        """The ISR that is written together with the leader: without the replicas to be removed."""
        return self.replication[partition].isr & target

    def lead_from(self, partition: Partition, target: Set[Broker]) -> None:
        self.elect(partition, target)
        self.replication[partition].isr = self.isr_led_by(partition, target)
        self.tell_leader(partition, target)
        self.start_replicas_on(partition, target)

    @action
    def b3_leads_from_target(self, partition: Partition) -> None:
        """If the target is no longer in sync, the controller keeps waiting. After a cancellation that does not
        matter.

        ``KafkaController.moveReassignedPartitionLeaderIfRequired``.
        """
        require(self.step[partition] == Step.LEAD_FROM_TARGET)
        persisted = self.assignment[partition]
        if is_under_way(persisted) and not self.is_to_complete(partition, persisted):
            self.memory[partition] = persisted
            self.step[partition] = Step.IDLE
        else:
            self.lead_from(partition, members(self.memory[partition].replicas))
            self.step[partition] = Step.TAKE_REMOVING_OFFLINE

    @action
    def b4_takes_removing_offline(self, partition: Partition) -> None:
        """``KafkaController.stopRemovedReplicasOfReassignedPartition``: OfflineReplica."""
        require(self.step[partition] == Step.TAKE_REMOVING_OFFLINE)
        self.take_offline(partition, self.assignment[partition].removing)
        self.step[partition] = Step.DELETE_REMOVING

    @action
    def b5_deletes_removing(self, partition: Partition) -> None:
        """``KafkaController.stopRemovedReplicasOfReassignedPartition``: NonExistentReplica."""
        require(self.step[partition] == Step.DELETE_REMOVING)
        self.stop_replicas_on(partition, self.assignment[partition].removing)
        self.step[partition] = Step.PERSIST_TARGET

    @action
    def b6_persists_target(self, partition: Partition) -> None:
        """Last: until then ZooKeeper knows both origin and target.

        ``KafkaController.updateReplicaAssignmentForPartition``.
        """
        require(self.step[partition] == Step.PERSIST_TARGET)
        self.assignment[partition] = self.memory[partition]
        self.step[partition] = Step.DROP_LEGACY

    @action
    def b7_drops_legacy(self, partition: Partition) -> None:
        """Only if the old znode asked for what was reached; a different entry is a different request.

        ``KafkaController.maybeRemoveFromZkReassignment``.
        """
        require(self.step[partition] == Step.DROP_LEGACY)
        if self.legacy[partition] == self.assignment[partition].replicas:
            self.forget_legacy(partition)
        self.step[partition] = Step.SPREAD

    @action
    def b8_spreads_metadata(self, partition: Partition) -> None:
        """``KafkaController.sendUpdateMetadataRequest``."""
        require(self.step[partition] == Step.SPREAD)
        self.step[partition] = Step.IDLE

    # Other events.

    @action
    def controller_elects(self, partition: Partition) -> None:
        """A leader is down: a live member of the ISR leads instead.

        ``PartitionStateMachine.electLeaderForPartitions``.
        """
        replicas = members(self.memory[partition].replicas)
        require(self.is_free() and not self.is_online(partition) and len(self.electable(partition, replicas)) > 0)
        self.elect(partition, replicas)
        self.tell_leader(partition, replicas)

    @rule
    def finds_strays(self) -> bool:
        """A LeaderAndIsr that names all replicas of a broker makes it delete the others (its ``Type`` is FULL)."""
        return True

    @action
    def controller_fails_over(self) -> None:
        """Another controller reads ZooKeeper, and tells every broker which replicas it has.

        ``KafkaController.onControllerFailover``.
        """
        for partition in Partition:
            replicas = members(self.assignment[partition].replicas)
            self.memory[partition] = self.assignment[partition]
            self.unneeded[partition] = Set()
            self.step[partition] = Step.IDLE
            self.tell_leader(partition, replicas)
            self.start_replicas_on(partition, replicas)
            if self.finds_strays():
                self.stop_replicas_on(partition, self.replication[partition].on_disk - replicas)
