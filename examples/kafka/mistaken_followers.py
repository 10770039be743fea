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
)
from specs.epoch_cache.remedies import ForgetsDeletedEpochs


class TellsHighWatermarkAfterFetch(EpochCaches):
    """The answer to a fetch has the high watermark that the fetch itself leads to."""

    def follower_high_watermark(self, follower: Broker, told: Offset) -> Offset:
        return super().follower_high_watermark(follower, self.replicas[self.leader].high_watermark)


class KeepsCacheWhenRestarted(EpochCaches):
    """A replica that restarts has the epochs that it had."""

    def load_cache(self, broker: Broker) -> None:
        pass


BELIEFS: dict[type[EpochCaches], dict[str, int]] = {
    AssignsEpochWithRecords: {}, DropsEpochAtStart: {}, KeepsCacheWhenTruncating: {}, KeepsLogBelowStart: {},
    ForgetsDeletedEpochs: {}, TellsHighWatermarkAfterFetch: {}, KeepsCacheWhenRestarted: {},
}
