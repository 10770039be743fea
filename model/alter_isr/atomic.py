"""What KIP-497 is for, in one page: an ISR that changes at once, and a high watermark that each of its members has.

``AlterIsr`` and the other designs (core.py) reach this with messages that are late or lost. ``as_atomic_isr`` says
which part of their state it is: every step of theirs leaves that part as it is, or changes it as one of these actions
does.
"""

from __future__ import annotations

from floodmark import Constant, Map, Model, Set, action, initial, refines, require
from model.alter_isr.core import Broker, Offset, PartitionIsr


class AtomicIsr(Model):
    """A partition whose ISR and high watermark everybody knows at once. A log is its log end offset."""

    brokers = Constant(3)
    max_offset = Constant(2)

    isr: Set[Broker]
    high_watermark: Offset
    log_end_offset: Map[Broker, Offset]

    @initial
    def start(self, isr: Set[Broker]) -> None:
        """The logs are empty."""
        require(len(isr) > 0)
        self.isr = isr
        self.high_watermark = 0
        self.log_end_offset = Map({broker: 0 for broker in Broker})

    @action
    def replica_appends(self, broker: Broker) -> None:
        """A replica has one record more, as the leader or as a follower.

        ``Partition.appendRecordsToLeader``, ``Partition.appendRecordsToFollowerOrFutureReplica``.
        """
        require(self.log_end_offset[broker] < self.max_offset)
        self.log_end_offset[broker] += 1

    @action
    def high_watermark_advances(self, offset: Offset) -> None:
        """What every member of the ISR has is committed. ``Partition.maybeIncrementLeaderHW``."""
        require(offset > self.high_watermark)
        require(all(self.log_end_offset[broker] >= offset for broker in self.isr))
        self.high_watermark = offset

    @action
    def isr_changes(self, isr: Set[Broker]) -> None:
        """Any broker may leave, and one with every committed record may join. Somebody stays.

        KIP-497, "Proposed Changes".
        """
        require(len(isr) > 0 and len(isr & self.isr) > 0)
        require(all(self.log_end_offset[broker] >= self.high_watermark for broker in isr))
        self.isr = isr


@refines
def as_atomic_isr(model: PartitionIsr) -> AtomicIsr:
    """The controller's ISR, the leader's high watermark and the logs are those of an atomic ISR."""
    return AtomicIsr(
        brokers=model.brokers,
        max_offset=model.max_offset,
        isr=model.controller.isr,
        high_watermark=model.high_watermark,
        log_end_offset=model.log_end_offset,
    )
