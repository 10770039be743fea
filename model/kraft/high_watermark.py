"""KIP-1166: a fetch says which high watermark the follower knows, so that news of it need not wait for a record.

A leader parks a fetch that has nothing to get. What a follower has fetched raises the high watermark only with its next
fetch, which the leader then parks: with no further record, the follower learns the new high watermark when the fetch
times out, and here that takes forever (KIP-595 itself is in quorum.py). One leader and the follower whose copy makes a
majority.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Between, Constant, Model, Record, action, fair, initial, require, rule

Offset = Annotated[int, Between(0, "max_log")]


class Fetch(Record):
    """What the follower asks for: the records from an offset on, and a higher high watermark than it knows."""

    offset: Offset
    high_watermark: Offset


class HighWatermark(Model):
    """The leader's log and high watermark, the follower's, and the fetch that the leader has parked."""

    max_log = Constant(3, bound=True)

    log_end_offset: Offset
    high_watermark: Offset
    follower_log_end_offset: Offset
    follower_high_watermark: Offset
    parked: Fetch | None

    @initial
    def start(self) -> None:
        self.log_end_offset = 0
        self.high_watermark = 0
        self.follower_log_end_offset = 0
        self.follower_high_watermark = 0
        self.parked = None

    @action
    def client_writes(self) -> None:
        """``KafkaRaftClient.prepareAppend``."""
        require(self.log_end_offset < self.max_log)
        self.log_end_offset += 1

    @fair
    @action
    def follower_fetches(self) -> None:
        """The fetch tells how far the follower's log goes, and with it what a majority has.

        ``KafkaRaftClient.handleFetchRequest``.
        """
        require(self.parked is None)
        self.parked = Fetch(offset=self.follower_log_end_offset, high_watermark=self.follower_high_watermark)
        self.high_watermark = max(self.high_watermark, self.follower_log_end_offset)

    @rule
    def has_news(self, fetch: Fetch) -> bool:
        """A record, or a higher high watermark (KIP-1166)."""
        return fetch.offset < self.log_end_offset or fetch.high_watermark < self.high_watermark

    @fair
    @action
    def leader_answers(self) -> None:
        """Completes the parked fetch, with the next record if there is one.

        ``KafkaRaftClient.onUpdateLeaderHighWatermark``.
        """
        fetch = self.parked
        require(fetch is not None and self.has_news(fetch))
        if self.follower_log_end_offset < self.log_end_offset:
            self.follower_log_end_offset += 1
        self.follower_high_watermark = min(self.high_watermark, self.follower_log_end_offset)
        self.parked = None
