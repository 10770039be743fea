"""Known-bad designs of the leader epoch cache. Each breaks one rule of model/epoch_cache/partition.py."""

from __future__ import annotations

from model.epoch_cache.partition import Broker, Epoch, EpochCache, EpochCaches, EpochEndOffset, Offset


class LosesEpochsWithDirectory(EpochCaches):
    """H-M1: KAFKA-15608 and KAFKA-20961, as shipped: the cache of the log in the other directory has the epochs of the
    records that were copied into it, and not the epoch that its leader has only begun. A follower that has led since
    then reports an epoch that this leader can say nothing about; its answer, OFFSET_OUT_OF_RANGE, changes nothing, and
    so on for ever on a partition that nobody writes to.
    """

    def carry_over(self, broker: Broker, current: EpochCache, latest: Epoch) -> None:
        pass


class AssignsEpochWithRecords(EpochCaches):
    """H-M2: KAFKA-7415: an epoch is in the cache once it has a record."""

    def begin_epoch(self) -> None:
        pass


class KeepsCacheWhenTruncating(EpochCaches):
    """H-M3: truncating the log leaves the cache as it is: the follower goes on to ask for an epoch that it no longer
    has.
    """

    def truncate_cache_from_end(self, broker: Broker, offset: Offset) -> None:
        pass


class DropsEpochAtStart(EpochCaches):
    """H-M4: deletion drops the epoch that goes on at the new start of the log, with those before it."""

    def truncate_cache_from_start(self, broker: Broker, offset: Offset) -> None:
        for epoch in self.cached(broker):
            if self.start_offset(broker, epoch) < offset:
                self.replicas[broker].epoch_cache[epoch] = None


class KeepsLogBelowStart(EpochCaches):
    """H-M5: a follower whose whole log is below the start of the leader's keeps it, and asks again."""

    def start_anew(self, follower: Broker, offset: Offset) -> None:
        pass


class TrustsUnknownEpochs(LosesEpochsWithDirectory):
    """H-M6: this repairs nothing: to an epoch that its cache does not have, a leader answers with the end of
    its log, so that the follower keeps what it has (KIP-101 as it was at first).
    """

    def end_offset_for(self, broker: Broker, epoch: Epoch) -> EpochEndOffset | None:
        found = super().end_offset_for(broker, epoch)
        end = len(self.replicas[broker].log)
        return EpochEndOffset(leader_epoch=epoch, end_offset=end) if found is None else found
