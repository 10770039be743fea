"""What one might believe of Kafka's controller instead: each design differs from ``ObservedPartition`` by one rule.

Kafka's classes contradict each of them in a walk (``tests/systems/test_kafka.py``); so a walk that finds no difference
says something about these rules.
"""

from __future__ import annotations

from observed import ObservedPartition
from partition import Broker, Election, Error, Field, PartitionControl, Status

from floodmark import Seq, Set


class OnlyReplicasAreEligible(ObservedPartition):
    """The ELR is a part of the replicas (KIP-966)."""

    def eligible(self, elr: Set[Broker], replicas: Seq[Broker]) -> Set[Broker]:
        return PartitionControl.eligible(self, elr, replicas)


class StartsFromOrigin(ObservedPartition):
    """An override starts from the origin (KIP-455)."""

    def changed_from(self) -> Set[Broker]:
        return PartitionControl.changed_from(self)

    def staying(self, replicas: Set[Broker]) -> Set[Broker]:
        return PartitionControl.staying(self, replicas)


class DoesWhatIsAsked(ObservedPartition):
    """Adding and removing are those of the last request."""

    def assigned(self, asked: Set[Broker], before: Set[Broker]) -> Set[Broker]:
        return asked


class OnlySomebodyIsLastKnown(ObservedPartition):
    """The last known leader is a broker."""

    def names_nobody(self) -> bool:
        return False


class RefusesFencedTargets(ObservedPartition):
    """Who is added has to be alive (KafkaController)."""

    def assignment_error(self, target: Seq[Broker]) -> Error:
        if any(self.status[broker] != Status.ACTIVE for broker in target):
            return Error.INVALID_REPLICA_ASSIGNMENT
        return super().assignment_error(target)


class KeepsFencedInIsr(ObservedPartition):
    """A broker that is fenced stays in the ISR until the leader removes it."""

    def is_listed(self, broker: Broker) -> int:
        return 1 if self.leader is not None and self.leader == broker else 0


class ListsEligible(ObservedPartition):
    """``BrokersToElrs`` lists who is in the ELR."""

    def times_listed(self, broker: Broker) -> int:
        return 1 if broker in self.elr else 0


class CountsNoReplicas(ObservedPartition):
    """The minimum ISR is what the topic says, however few replicas there are."""

    def effective_min_isr(self) -> int:
        return self.min_isr


class CountsEveryRecord(ObservedPartition):
    """Every change of a partition begins a leader epoch (before KAFKA-15021 was mended, every shrink did)."""

    def write_change(self, fields: Set[Field], copies: int) -> None:
        super().write_change(fields | {Field.LEADER}, copies)


class ElectsInOrder(ObservedPartition):
    """The first replica that may lead is elected, even if the leader could stay."""

    def elected_cleanly(self, replicas: Seq[Broker], valid: Set[Broker], election: Election) -> Broker | None:
        for replica in replicas:
            if replica in valid:
                return replica
        return None


BELIEFS: dict[type[ObservedPartition], dict[str, bool | int]] = {
    OnlyReplicasAreEligible: {}, StartsFromOrigin: {}, DoesWhatIsAsked: {},
    OnlySomebodyIsLastKnown: {"unclean_elections": True}, RefusesFencedTargets: {},
    KeepsFencedInIsr: {}, ListsEligible: {"brokers": 2}, CountsNoReplicas: {}, CountsEveryRecord: {}, ElectsInOrder: {},
}
"""With the constants of a cluster in which the difference shows soon."""
