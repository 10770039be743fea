"""Known-bad designs of logs with remote storage. Begin with ``flawed.py``."""

from __future__ import annotations

from model.epoch_cache.partition import Broker, Offset
from model.epoch_cache.tiers import TieredLogs


class KeepsLocalLogStart(TieredLogs):
    """H-M7: KAFKA-15695: a follower that begins after what is in remote storage keeps its local log start offset. Once
    it leads, it looks for those records in its local log, where they are not.
    """

    def begin_locally(self, broker: Broker, offset: Offset) -> None:
        pass


class LooksForWatermarkInLog(TieredLogs):
    """H-M8: KAFKA-16452: a leader whose high watermark is below its local log start offset looks for it in the local
    log: each fetch fails with OFFSET_OUT_OF_RANGE, and the high watermark stays.
    """

    def finds_high_watermark(self) -> bool:
        return self.replicas[self.leader].high_watermark >= self.local_log_start_offset[self.leader]


class DeletesBeforeCopying(TieredLogs):
    """H-M9: what is committed is deleted locally, whether or not it is in remote storage."""

    def may_delete_locally(self, offset: Offset) -> bool:
        return True
