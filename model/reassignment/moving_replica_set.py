"""What KIP-455 is for, in one page: replicas that move from an origin to a target, and an ISR that never breaks off.

``Kip455Reassignment`` (kip455.py) and ``KraftReassignment`` (kraft.py) reach this with lists of adding and removing
replicas, requests to brokers and a controller that fails over. ``as_moving_replica_set`` says which part of their state
it is: every step of theirs leaves that part as it is, or changes it as one or two of these actions do. KIP-236
(kip236.py) has no origin of its own, and drops its entry last: replica_set.py.
"""

from __future__ import annotations

from floodmark import Constant, Map, Model, Set, action, initial, refines, require
from model.reassignment.kip455 import (
    Kip455Reassignment,
    ReassignedPartitions,
    Step,
    is_under_way,
    origin_of,
    target_of,
)
from model.reassignment.replicas import Broker, Partition
from model.replica_sets import members


class MovingReplicaSet(Model):
    """The replicas of each partition are those of its origin and, while it moves, those of its target."""

    brokers = Constant(4)
    partitions = Constant(1)

    origin: Map[Partition, Set[Broker]]
    target: Map[Partition, Set[Broker] | None]
    isr: Map[Partition, Set[Broker]]

    @initial
    def start(self, replicas: Set[Broker]) -> None:
        """All partitions have the same replicas, which are in sync, and none of them moves."""
        require(len(replicas) > 0)
        self.origin = Map({partition: replicas for partition in Partition})
        self.target = Map({partition: None for partition in Partition})
        self.isr = self.origin

    @action
    def isr_changes(self, partition: Partition, isr: Set[Broker]) -> None:
        """Any replica may leave, and any may join. Somebody stays. ``ReplicationControlManager.alterPartition``."""
        target = self.target[partition]
        require(len(isr & self.isr[partition]) > 0)
        require(isr <= self.origin[partition] or (target is not None and isr <= self.origin[partition] | target))
        self.isr[partition] = isr

    @action
    def target_is_set(self, partition: Partition, target: Set[Broker]) -> None:
        """An operator wants the partition to move, wherever it was going before. It sets out from the origin again, and
        replicas of an earlier target leave the ISR, in which somebody stays.

        ``ReplicationControlManager.changePartitionReassignment``.
        """
        require(len(target) > 0 and len(self.isr[partition] & (self.origin[partition] | target)) > 0)
        self.isr[partition] = self.isr[partition] & (self.origin[partition] | target)
        self.target[partition] = target

    @action
    def move_is_cancelled(self, partition: Partition) -> None:
        """The partition stays at the origin, where somebody is in sync.

        ``ReplicationControlManager.cancelPartitionReassignment``.
        """
        require(self.target[partition] is not None and len(self.isr[partition] & self.origin[partition]) > 0)
        self.isr[partition] = self.isr[partition] & self.origin[partition]
        self.target[partition] = None

    @action
    def move_is_completed(self, partition: Partition) -> None:
        """All of the target is in sync, and becomes the origin.

        ``PartitionReassignmentReplicas.maybeCompleteReassignment``.
        """
        target = self.target[partition]
        require(target is not None and self.is_reached(partition, target))
        assert target is not None
        self.origin[partition] = target
        self.isr[partition] = self.isr[partition] & target
        self.target[partition] = None

    def is_reached(self, partition: Partition, target: Set[Broker]) -> bool:
        return target <= self.isr[partition]


class SlowlyMovingReplicaSet(MovingReplicaSet):
    """The same with a controller that needs several writes for a completion. In between, a member of the target may
    leave the ISR again.
    """

    reached: Set[Partition] = Set()
    """Where all of the target has been in sync, and is led from."""

    @action
    def target_is_reached(self, partition: Partition) -> None:
        """All of the target is in sync, and nobody else counts any more.

        ``KafkaController.moveReassignedPartitionLeaderIfRequired``.
        """
        target = self.target[partition]
        require(target is not None and super().is_reached(partition, target))
        assert target is not None
        self.isr[partition] = self.isr[partition] & target
        self.reached.add(partition)

    @action
    def completion_is_forgotten(self, partition: Partition) -> None:
        """Another controller does not know of it. ``KafkaController.onControllerFailover``."""
        require(partition in self.reached)
        self.reached.discard(partition)

    def is_reached(self, partition: Partition, target: Set[Broker]) -> bool:
        return partition in self.reached

    @action
    def move_is_completed(self, partition: Partition) -> None:
        super().move_is_completed(partition)
        self.reached.discard(partition)


@refines(steps=2)
def as_moving_replica_set(model: ReassignedPartitions) -> MovingReplicaSet:
    """The persisted assignment and the ISR, whatever the brokers have been told, are those of a moving replica set."""
    return MovingReplicaSet(
        brokers=model.brokers,
        partitions=model.partitions,
        origin=origins(model),
        target=targets(model),
        isr=Map({partition: model.replication[partition].isr for partition in Partition}),
    )


@refines(steps=2)
def as_slowly_moving_replica_set(model: Kip455Reassignment) -> SlowlyMovingReplicaSet:
    """The same, and the target is reached from step B3 on, until B6 has persisted it."""
    return SlowlyMovingReplicaSet(
        brokers=model.brokers,
        partitions=model.partitions,
        origin=origins(model),
        target=targets(model),
        isr=Map({partition: model.replication[partition].isr for partition in Partition}),
        reached=Set(
            partition
            for partition in Partition
            if is_under_way(model.assignment[partition])
            and model.step[partition] in (Step.TAKE_REMOVING_OFFLINE, Step.DELETE_REMOVING, Step.PERSIST_TARGET)
        ),
    )


def origins(model: ReassignedPartitions) -> Map[Partition, Set[Broker]]:
    return Map({partition: members(origin_of(model.assignment[partition])) for partition in Partition})


def targets(model: ReassignedPartitions) -> Map[Partition, Set[Broker] | None]:
    return Map({partition: target_if_moving(model, partition) for partition in Partition})


def target_if_moving(model: ReassignedPartitions, partition: Partition) -> Set[Broker] | None:
    """The target of a reassignment that is under way."""
    assignment = model.assignment[partition]
    return members(target_of(assignment)) if is_under_way(assignment) else None
