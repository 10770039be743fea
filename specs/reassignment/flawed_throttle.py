"""Known-bad designs of KIP-236 with throttles as Kafka keeps them."""

from __future__ import annotations

from floodmark import Set
from model.reassignment.kip236 import Step
from model.reassignment.replicas import Broker, Partition
from model.reassignment.throttle import ThrottledReassignment


class ClearsTopic(ThrottledReassignment):
    """C-M31: the lists of the topic are removed as a whole, as ``--verify`` does it, with another partition pending."""

    def taken_off_lists(self, partition: Partition) -> Set[Partition]:
        return Set(Partition)


class ClearsBrokers(ThrottledReassignment):
    """C-M32: the rates of all brokers are removed, as ``--verify`` does it, with another partition pending."""

    def spared(self) -> Set[Broker]:
        return Set[Broker]()


class RemovesListsOnly(ThrottledReassignment):
    """C-M33: the throttle that KIP-236 removes is that of the topic, and the rates stay."""

    def spared(self) -> Set[Broker]:
        return self.rates


class ForgetsRates(ThrottledReassignment):
    """C-M33 again: a controller that finds no lists takes the throttle for removed, and so leaves the rates when the
    one before it has crashed in between.
    """

    def cancel_5_persists_original(self, partition: Partition) -> None:
        super().cancel_5_persists_original(partition)
        if not self.is_listed(partition):
            self.step[partition] = Step.DROP_CANCELLED


class VerifiesWholeBatch(ThrottledReassignment):
    """C-M34: ``--verify`` removes throttles only if every partition of the file has its target, as in Kafka.

    One that was cancelled counts as failed, so the others keep their throttles forever.
    """

    def is_over(self, partition: Partition) -> bool:
        return all(not self.is_pending(each) and each not in self.rolled_back for each in self.batch)
