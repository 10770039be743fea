"""Changes to a design that remove a known weakness."""

from __future__ import annotations

from model.alter_isr.core import Broker, Error, ShippedAlterIsr
from model.alter_isr.membership import WatchedFollowers


class StaysPendingWhenIneligible(ShippedAlterIsr):
    """INELIGIBLE_REPLICA leaves the change pending too, so that a later acceptance of a copy of the request does no
    harm.

    The price is progress: nothing is on its way that would settle the change.
    """

    def withdraws(self, error: Error) -> bool:
        return False


class JoinsAtTheEndBelowMinIsr(WatchedFollowers):
    """KAFKA-19996: while fewer than min.insync.replicas are in sync, the high watermark stands still, and a follower
    that has reached it may be as far behind as before. It joins only if it is at the end of the leader's log.
    """

    def may_join(self, follower: Broker) -> bool:
        return super().may_join(follower) and (self.may_advance() or self.is_level(follower))
