"""The mistakes of Kafka's controller, each a rule of ``PartitionControl`` that it decides otherwise."""

from __future__ import annotations

from partition import Broker, PartitionControl

from floodmark import Seq, Set


class KeepsStrangers(PartitionControl):
    """``maybePopulateTargetElr`` does not ask whether a broker is a replica."""

    def eligible(self, elr: Set[Broker], replicas: Seq[Broker]) -> Set[Broker]:
        return elr


class KeepsEarlierTarget(PartitionControl):
    """``changePartitionReassignment`` sets adding and removing only where they are not empty, and starts from all
    replicas that there are.
    """

    def changed_from(self) -> Set[Broker]:
        return Set(self.replicas)

    def staying(self, replicas: Set[Broker]) -> Set[Broker]:
        return self.isr

    def assigned(self, asked: Set[Broker], before: Set[Broker]) -> Set[Broker]:
        return asked if len(asked) > 0 else before


class NamesNobody(PartitionControl):
    """``maybeUpdateLastKnownLeader`` takes down -1, if there was no leader before either."""

    def names_nobody(self) -> bool:
        return True


class ElectsFormerReplica(PartitionControl):
    """``canElectLastKnownLeader`` does not ask whether the last known leader is a replica."""

    def may_lead_again(self, broker: Broker) -> bool:
        return True


class KeepsElrWhileOff(PartitionControl):
    """A FeatureLevelRecord changes no partition: the ELR that there is stays until the next change of the partition,
    and a new min.insync.replicas clears it only while the ELR is on.
    """

    def forget_elr(self) -> None:
        """Nothing."""


class KafkaPartition(KeepsStrangers, KeepsEarlierTarget, NamesNobody, ElectsFormerReplica, KeepsElrWhileOff):
    """What Kafka does."""
