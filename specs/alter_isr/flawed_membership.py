"""Known-bad designs of KIP-497 in which no replica joins the ISR, or leaves it, any more."""

from __future__ import annotations

from floodmark import action, require
from model.alter_isr.core import AlterIsrRequest, LeaderAndIsr
from model.alter_isr.membership import WatchedFollowers, WatchedFollowersByZooKeeper


class AsksOnce(WatchedFollowers):
    """A request that is lost is not sent again, and until it is answered there is no other."""

    @action
    def leader_asks_again(self) -> None:
        require(False)


class FencesRepeated(WatchedFollowersByZooKeeper):
    """A-M25: a request whose answer was lost is refused when it comes again, and stays pending (KAFKA-14144)."""

    def is_repeated(self, request: AlterIsrRequest) -> bool:
        return False


class IgnoresEqualPartitionEpoch(WatchedFollowers):
    """A-M20: an answer with the partition epoch that the leader has is no news to it, and the change stays pending
    (KAFKA-12751).
    """

    def heeds_equal_partition_epoch(self) -> bool:
        return False


class TakesHigherEpochsOnly(WatchedFollowers):
    """A-M29: the controller shrinks the ISR within a leader epoch, and a LeaderAndIsr of that epoch is no news to the
    leader (KAFKA-15109).
    """

    def is_news(self, update: LeaderAndIsr) -> bool:
        return update.leader_epoch > self.leader_epoch
