"""What KIP-1166 promises: a follower need not wait for a record to hear of the high watermark. Begin with quorum.py."""

from __future__ import annotations

from floodmark import always_eventually, invariant
from model.kraft.high_watermark import HighWatermark


@always_eventually
def follower_learns_high_watermark(model: HighWatermark) -> bool:
    """The follower knows that all of the log is committed, once nothing more is written."""
    return model.follower_high_watermark == model.log_end_offset


@invariant
def follower_knows_no_more_than_leader(model: HighWatermark) -> bool:
    """No follower's high watermark is above the leader's."""
    return model.follower_high_watermark <= model.high_watermark <= model.log_end_offset
