"""What one might believe of followers and leader epoch caches instead: known-bad designs and a remedy, none of which
Kafka is. Kafka's classes contradict each of them in a walk.
"""

from __future__ import annotations

from model.epoch_cache.partition import Broker, EpochCaches, Offset
from specs.epoch_cache.flawed import (
    AssignsEpochWithRecords,
    DropsEpochAtStart,
    KeepsCacheWhenTruncating,
    KeepsLogBelowStart,
    LosesEpochsWithDirectory,
)
from specs.epoch_cache.remedies import CarriesLatestEpoch, ForgetsDeletedEpochs


class TellsHighWatermarkAfterFetch(EpochCaches):
    """The answer to a fetch has the high watermark that the fetch itself leads to."""

    def follower_high_watermark(self, follower: Broker, told: Offset) -> Offset:
        return super().follower_high_watermark(follower, self.replicas[self.leader].high_watermark)


class KeepsCacheWhenRestarted(EpochCaches):
    """A replica that restarts has the epochs that it had."""

    def load_cache(self, broker: Broker) -> None:
        pass


_NOBODY_MOVES = {"max_moves": 0}
BELIEFS: dict[type[EpochCaches], dict[str, int]] = {
    AssignsEpochWithRecords: _NOBODY_MOVES, DropsEpochAtStart: _NOBODY_MOVES, KeepsCacheWhenTruncating: _NOBODY_MOVES,
    KeepsLogBelowStart: _NOBODY_MOVES, ForgetsDeletedEpochs: _NOBODY_MOVES, TellsHighWatermarkAfterFetch: _NOBODY_MOVES,
    KeepsCacheWhenRestarted: _NOBODY_MOVES, EpochCaches: {}, CarriesLatestEpoch: {},
    LosesEpochsWithDirectory: {"brokers": 3},
}
"""``EpochCaches`` and ``CarriesLatestEpoch`` carry epochs over into another log directory, as repairs do; the last one
reads the epoch that a follower has fetched last off its cache.
"""
