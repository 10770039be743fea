"""Known-bad designs of KIP-497 that are safe and get nowhere."""

from __future__ import annotations

from floodmark import Set, action, require
from model.alter_isr.core import AlterIsrRequest, Broker, Error
from model.alter_isr.progress import RetriedAlterIsr


class NeverAsksAgain(RetriedAlterIsr):
    """The leader waits for an answer without a time-out, however long it takes."""

    @action
    def leader_asks_again(self) -> None:
        require(False)


class FencesRetries(RetriedAlterIsr):
    """The controller refuses a request that it has granted before, whose answer was lost (KAFKA-14144)."""

    def is_repeated(self, request: AlterIsrRequest) -> bool:
        return False


class KeepsIneligible(RetriedAlterIsr):
    """A change that the controller refuses, because a member may not join, stays pending."""

    def withdraws(self, error: Error) -> bool:
        return False


class AdvancesOnFetchOnly(RetriedAlterIsr):
    """The high watermark is looked at when a follower fetches, not when the ISR has become smaller (KAFKA-13091)."""

    @action
    def leader_advances_high_watermark(self) -> None:
        require(False)

    @action
    def follower_fetches(self, follower: Broker) -> None:
        require(self.leading)
        super().follower_fetches(follower)
        if self.may_advance() and self.replicated_offset() > self.high_watermark:
            self.high_watermark = self.replicated_offset()


class WaitsForWhoeverHasCaughtUp(RetriedAlterIsr):
    """The high watermark waits for followers that may not join the ISR, if they are near enough (KAFKA-15021)."""

    def replicated_offset(self) -> int:
        near = Set({broker for broker in Broker if self.caught_up(broker)})
        return min(self.log_end[broker] for broker in self.maximal_isr() | near)
