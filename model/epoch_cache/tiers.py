"""KIP-405: a log whose older records are in remote storage, so that its local part begins later than the log.

Begin with partition.py. The leader copies committed records to remote storage; each replica may then delete them. What
a consumer asks for below the local log start offset is read from remote storage. So a high watermark, which is at least
the log start offset, may be below the local one.
"""

from __future__ import annotations

from floodmark import Map, action, initial, require, rule
from model.epoch_cache.partition import Broker, EpochCaches, Offset


class TieredLogs(EpochCaches):
    """Remote storage keeps what it has got. What is below the log start offset is of no interest there either."""

    local_log_start_offset: Map[Broker, Offset]
    remote_end: Offset = 0
    """The committed records below it are in remote storage."""

    @initial
    def start(self) -> None:
        super().start()
        self.local_log_start_offset = Map({broker: 0 for broker in Broker})

    @action
    def leader_copies(self) -> None:
        """``RLMCopyTask.copyLogSegmentsToRemote``: the next committed record."""
        require(self.remote_end < self.replicas[self.leader].high_watermark)
        self.remote_end += 1

    @action
    def local_records_are_deleted(self, broker: Broker, offset: Offset) -> None:
        """``UnifiedLog.deleteOldSegments`` by local.retention.ms."""
        require(offset > self.local_log_start_offset[broker] and offset <= self.replicas[broker].high_watermark)
        require(self.may_delete_locally(offset))
        self.local_log_start_offset[broker] = offset
        self.replicas[broker].log = self.without(broker, offset)

    @rule
    def may_delete_locally(self, offset: Offset) -> bool:
        """Only what is in remote storage (``UnifiedLog.highestOffsetInRemoteStorage``)."""
        return offset <= self.remote_end

    def delete_up_to(self, broker: Broker, offset: Offset) -> None:
        super().delete_up_to(broker, offset)
        self.local_log_start_offset[broker] = max(self.local_log_start_offset[broker], offset)

    def truncate_fully_and_start_at(self, broker: Broker, offset: Offset, log_start_offset: Offset) -> None:
        super().truncate_fully_and_start_at(broker, offset, log_start_offset)
        self.begin_locally(broker, offset)

    @rule
    def begin_locally(self, broker: Broker, offset: Offset) -> None:
        """The local log start offset is that of the new, empty log (KAFKA-15695)."""
        self.local_log_start_offset[broker] = offset

    def holds(self, broker: Broker, offset: Offset) -> bool:
        """A record below the local log start offset is looked for in remote storage, any other in the local log."""
        if offset < self.local_log_start_offset[broker]:
            return offset < self.remote_end or offset < self.replicas[broker].log_start_offset
        return super().holds(broker, offset)

    # Followers.

    def is_out_of_range(self, offset: Offset) -> bool:
        return super().is_out_of_range(offset) or not self.finds_high_watermark()

    def may_advance(self) -> bool:
        return self.finds_high_watermark()

    @rule
    def finds_high_watermark(self) -> bool:
        """``UnifiedLog.fetchHighWatermarkMetadata``: a high watermark below the local log start offset is an offset
        like any other (KAFKA-16452).
        """
        return True

    def read(self, follower: Broker) -> None:
        """OFFSET_MOVED_TO_TIERED_STORAGE if the record is not in the leader's local log."""
        if len(self.replicas[follower].log) < self.local_log_start_offset[self.leader]:
            self.build_remote_log_aux_state(follower)
        else:
            super().read(follower)

    def build_remote_log_aux_state(self, follower: Broker) -> None:
        """``TierStateMachine.start``: the follower begins at the start of the leader's local log, with the epochs of
        what is before it from remote storage.
        """
        start = self.replicas[self.leader].log_start_offset
        offset = self.local_log_start_offset[self.leader]
        self.truncate_fully_and_start_at(follower, offset, start)
        self.read_cache_from_remote_storage(follower, offset)

    @rule
    def read_cache_from_remote_storage(self, follower: Broker, offset: Offset) -> None:
        """``TierStateMachine.buildRemoteLogAuxState``."""
        for at in range(offset):
            if at >= self.replicas[follower].log_start_offset:
                self.assign(follower, self.committed[at], at)
