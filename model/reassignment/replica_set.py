"""What KIP-236 is for, in one page: a replica set that is the old one, the new one, or on the way between them.

``Reassignment`` (kip236.py) reaches this with entries in ZooKeeper, numbered steps and a controller that fails over.
``as_changing_replica_set`` says which part of its state it is: every step of the protocol leaves that part as it is, or
changes it as one of these actions does.
"""

from __future__ import annotations

from floodmark import Constant, Map, Model, Set, action, initial, refines, require
from model.reassignment.kip236 import StepwiseReassignment
from model.reassignment.replicas import Broker, Partition


class ChangingReplicaSet(Model):
    """The replicas of each partition, and the target that an operator has asked for."""

    brokers = Constant(4)
    partitions = Constant(1)

    replicas: Map[Partition, Set[Broker]]
    target: Map[Partition, Set[Broker] | None]

    @initial
    def start(self, replicas: Set[Broker]) -> None:
        """All partitions have the same replicas, and nobody has asked for others."""
        require(len(replicas) > 0)
        self.replicas = Map({partition: replicas for partition in Partition})
        self.target = Map({partition: None for partition in Partition})

    @action
    def operator_asks(self, partition: Partition, target: Set[Broker]) -> None:
        """A target is wanted, where there is none yet. KIP-236, "Public Interfaces"."""
        require(self.target[partition] is None and len(target) > 0)
        self.target[partition] = target

    @action
    def replicas_are_added(self, partition: Partition) -> None:
        """The replicas of the target come to those that there are.

        ``KafkaController.onPartitionReassignment``, steps 1 to 3.
        """
        target = self.target[partition]
        require(target is not None)
        assert target is not None
        self.replicas[partition] = self.replicas[partition] | target

    @action
    def target_is_reached(self, partition: Partition) -> None:
        """Nothing but the target is left, all of which was there before.

        ``KafkaController.onPartitionReassignment``, steps 4 to 10.
        """
        target = self.target[partition]
        require(target is not None and target <= self.replicas[partition])
        assert target is not None
        self.replicas[partition] = target

    @action
    def replicas_are_rolled_back(self, partition: Partition, added: Set[Broker]) -> None:
        """Replicas that only the target has brought go away again. Somebody stays.

        KIP-236, "Reassignment Cancellation".
        """
        target = self.target[partition]
        require(target is not None and added <= target and added < self.replicas[partition])
        self.replicas[partition] = self.replicas[partition] - added

    @action
    def entry_is_dropped(self, partition: Partition) -> None:
        """The target is no longer wanted: it was reached, or the partition is back where it was.

        ``KafkaController.onPartitionReassignment``, step 11.
        """
        require(self.target[partition] is not None)
        self.target[partition] = None


@refines
def as_changing_replica_set(model: StepwiseReassignment) -> ChangingReplicaSet:
    """The assigned replicas in ZooKeeper, and the target of the entry there, are those of a changing replica set."""
    return ChangingReplicaSet(
        brokers=model.brokers,
        partitions=model.partitions,
        replicas=model.assigned,
        target=Map({partition: target_in_zookeeper(model, partition) for partition in Partition}),
    )


def target_in_zookeeper(model: StepwiseReassignment, partition: Partition) -> Set[Broker] | None:
    """The target of a partition's entry, if it has one."""
    entry = model.pending[partition]
    return None if entry is None else entry.target
