"""Known-bad designs of the controller on ZooKeeper that write nothing wrong and get nowhere."""

from __future__ import annotations

from floodmark import Set, action, require
from model.zk_controller.controller import Broker, Partition, Watch
from model.zk_controller.progress import MoveProgress, TopicProgress, ZkProgress


class IgnoresItsOwnZnode(ZkProgress):
    """E-M14: a broker finds its own id in /controller, and waits for that controller to fail (KAFKA-13407)."""

    def take_office(self, broker: Broker) -> None:
        pass


class QuotesOldVersion(ZkProgress):
    """A controller whose write is refused writes again what it has read before, instead of reading again."""

    def decide(self, broker: Broker, partition: Partition, leader: Broker | None, isr: Set[Broker]) -> None:
        require(self.is_replaced(broker) or not self.is_outdated(broker, partition))
        super().decide(broker, partition, leader, isr)


class ElectsOnce(ZkProgress):
    """A partition that nobody could lead is not looked at again when brokers come back (draft, question A.1)."""

    def is_affected(self, broker: Broker, partition: Partition) -> bool:
        leader = self.controllers[broker].leaders[partition]
        return leader is not None and leader not in self.controllers[broker].live


class TellsNobodyAgain(ZkProgress):
    """A new controller does not publish again what its predecessor may not have (draft, section D, step 2.1)."""

    def repeats_decisions(self) -> bool:
        return False


class LooksAtNewTopicsOnce(TopicProgress):
    """A topic whose controller fails before it has chosen a leader never gets one (draft, section D, step 2.3)."""

    def initializes_leaders(self) -> bool:
        return False


class ReturnsWithoutLooking(TopicProgress):
    """A broker that was away when a topic was deleted does not look which topics exist."""

    def read_decisions(self, broker: Broker) -> None:
        ZkProgress.read_decisions(self, broker)


class WaitsToBeTold(MoveProgress):
    """The controller looks at the ISR when the request is made, and then waits for news of it, which nobody sends."""

    @action
    def controller_checks_isr(self, broker: Broker, partition: Partition) -> None:
        require(self.requests_watch[broker] == Watch.FIRED)
        super().controller_checks_isr(broker, partition)


class LeavesRequest(MoveProgress):
    """The request stays once the partition has moved, and no other can be made."""

    @action
    def controller_removes_request(self, broker: Broker, partition: Partition) -> None:
        require(False)
