"""Known-bad designs that tell a producer what is not so."""

from __future__ import annotations

from model.alter_isr.acknowledgement import AcknowledgedWrites, Write
from model.alter_isr.failover import Broker, Offset


class CompletesAtFollower(AcknowledgedWrites):
    """A-M37: a write waits on at a leader that has been deposed, and is acknowledged when the high watermark that the
    follower hears of passes it. By then the follower has another record at that offset (of the kind of KAFKA-20634).
    """

    def fails_with_leadership(self) -> bool:
        return False


class AcknowledgesAppended(AcknowledgedWrites):
    """A-M38: a write with acks=all is acknowledged once the leader has it, as with acks=1."""

    def is_complete(self, write: Write) -> bool:
        return len(self.replicas[write.leader].log) > write.offset


class AdvancesBelowMinIsr(AcknowledgedWrites):
    """A-M27: neither the high watermark nor the acknowledgement asks how many are in sync (KAFKA-15583)."""

    def may_advance(self, leader: Broker) -> bool:
        return True

    def acks_succeed(self, leader: Broker) -> bool:
        return True


class CountsWhatItHasSent(AcknowledgedWrites):
    """A-M39: a leader counts records as soon as it has sent them to a follower, whether or not they arrive."""

    def record_fetch(self, leader: Broker, follower: Broker, fetch_offset: Offset) -> None:
        super().record_fetch(leader, follower, min(fetch_offset + 1, len(self.replicas[leader].log)))
