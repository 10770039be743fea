"""Known-bad designs of KIP-595 that a voter with an empty disk reveals."""

from __future__ import annotations

from model.kraft.disk_loss import KraftDiskLoss
from model.kraft.quorum import Message, Offset, Replica


class RefusesLowerOffset(KraftDiskLoss):
    """A fetch at a lower offset than the one before is an error, and the leader stops (B-M19, KAFKA-12181)."""

    def record_fetch(self, leader: Replica, replica: Replica, offset: Offset) -> None:
        if offset < self.leader_state[leader].end_offsets[replica]:
            self.illegal = True
        super().record_fetch(leader, replica, offset)


class TruncatesCommittedRecords(KraftDiskLoss):
    """A follower gives up committed records that its leader lacks, and nobody notices (B-M11, KAFKA-12460)."""

    def refuses_to_truncate(self) -> bool:
        return False


class ForgetsWhatWasCommitted(KraftDiskLoss):
    """A follower lowers its high watermark to where its leader's log diverges, and then need not refuse to truncate
    committed records (B-M11).
    """

    def handle_diverging(self, response: Message) -> None:
        follower = response.destination
        offset = self.truncation_offset(follower, response.next_epoch, response.bound)
        self.high_watermark[follower] = min(self.high_watermark[follower], offset)
        super().handle_diverging(response)


class LowersHighWatermark(KraftDiskLoss):
    """The high watermark follows the fetch offsets down as well as up."""

    def advance_high_watermark(self, leader: Replica) -> None:
        super().advance_high_watermark(leader)
        self.high_watermark[leader] = min(self.high_watermark[leader], self.majority_offset(leader))
