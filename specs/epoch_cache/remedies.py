"""Smaller repairs of the leader epoch cache that are enough."""

from __future__ import annotations

from model.epoch_cache.partition import Broker, Epoch, EpochCache, EpochCaches, Offset


class CarriesLatestEpoch(EpochCaches):
    """The closed pull request for KAFKA-15608: of the epochs in the cache, only the latest is carried over to the other
    directory. It is the only one that may have no records there.
    """

    def carry_over(self, broker: Broker, current: EpochCache, latest: Epoch) -> None:
        offset = current[latest]
        if offset is not None:
            self.assign(broker, latest, offset)


class ForgetsDeletedEpochs(EpochCaches):
    """A follower that has deleted its last record has no last epoch either: what it asks for next is checked by offset
    alone, and its log is not compared with one that begins earlier.
    """

    def truncate_cache_from_start(self, broker: Broker, offset: Offset) -> None:
        super().truncate_cache_from_start(broker, offset)
        if broker != self.leader and offset == len(self.replicas[broker].log):
            self.replicas[broker].epoch_cache = self.no_epochs()
