"""Known-bad designs of KIP-497 that are safe and get nowhere."""

from __future__ import annotations

from floodmark import Set, action, fair, require
from model.alter_isr.core import AlterIsrRequest, Broker, Error
from model.alter_isr.progress import KRaftAlterIsr, RetractedAlterIsr, ZooKeeperAlterIsr


class NeverRetracts(RetractedAlterIsr):
    """KIP-497 as it stands: the leader sends each request once and waits for a LeaderAndIsr with a newer partition
    epoch.
    """

    def may_retract(self) -> bool:
        return False


class TrustsThatNewsComes(NeverRetracts):
    """KIP-497 as it stands, over a network that loses nothing: a LeaderAndIsr with the new partition epoch will come.

    An acknowledged change is lost with its controller. The new one has nothing new to send, even though it sends what
    it has, and the high watermark waits for the replica that was to join for as long as that one is away.
    """

    @action
    def network_loses_request(self, request: AlterIsrRequest) -> None:
        require(False)


class AsksAgainOnly(NeverRetracts):
    """The leader sends its requests again after a time-out (KIP-497, comments, 2).

    Enough if the change can be made. A broker that went away meanwhile is refused each time, and no partition epoch is
    taken.
    """

    @fair
    @action
    def leader_asks_again(self, isr: Set[Broker]) -> None:
        request = AlterIsrRequest(leader_epoch=self.leader_epoch, isr=isr, partition_epoch=self.partition_epoch)
        require(self.leading and isr in self.pending and request not in self.requests)
        require(len(self.requests) < self.in_flight)
        self.requests.add(request)


class TakesOverWithNewPartitionEpoch(NeverRetracts):
    """A new controller takes a new partition epoch, so that what it sends is news. A lost request brings no new
    controller.
    """

    @action
    def controller_fails_over(self) -> None:
        require(len(self.acknowledged) > 0 and self.may_change())
        self.acknowledged = Set()
        self.change(self.controller)


class NeverAsksAgain(ZooKeeperAlterIsr):
    """The leader waits for an answer without a time-out, however long it takes."""

    @action
    def leader_asks_again(self) -> None:
        require(False)


class FencesRetries(ZooKeeperAlterIsr):
    """A-M25: ``KafkaController`` refuses a request that it has granted before, whose answer was lost (KAFKA-14144)."""

    def is_repeated(self, request: AlterIsrRequest) -> bool:
        return False


class TellsNobody(KRaftAlterIsr):
    """A-M25: the controller refuses a request that it has granted before, and does not tell the leader of the change by
    metadata either: a design of ZooKeeper's and one of KRaft's, each without its other half.
    """

    @action
    def controller_accepts(self, request: AlterIsrRequest, again: bool) -> None:
        require(request in self.requests)
        super().controller_accepts(request, again)
        self.updates.discard(self.controller)


class KeepsIneligible(ZooKeeperAlterIsr):
    """A change that the controller refuses, because a member may not join, stays pending."""

    def withdraws(self, error: Error) -> bool:
        return False


class AdvancesOnFetchOnly(ZooKeeperAlterIsr):
    """A-M19: the high watermark is looked at when a follower fetches, not when the ISR has become smaller
    (KAFKA-13091).
    """

    @action
    def leader_advances_high_watermark(self) -> None:
        require(False)

    @action
    def follower_fetches(self, follower: Broker) -> None:
        require(self.leading)
        super().follower_fetches(follower)
        if self.may_advance() and self.replicated_offset() > self.high_watermark:
            self.high_watermark = self.replicated_offset()


class WaitsForWhoeverHasCaughtUp(ZooKeeperAlterIsr):
    """A-M28: the high watermark waits for followers that may not join the ISR, if they are near enough (KAFKA-15021).
    """

    def replicated_offset(self) -> int:
        near = Set({broker for broker in Broker if self.caught_up(broker)})
        return min(self.log_end_offset[broker] for broker in self.maximal_isr() | near)
