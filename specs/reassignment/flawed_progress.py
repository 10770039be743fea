"""Known-bad designs of KIP-236 and KIP-455 that are safe and get nowhere."""

from __future__ import annotations

from floodmark import Set, action, require
from model.reassignment.kip236 import Step
from model.reassignment.progress import CalmControllers, CalmKip455, CalmKraft, CalmReassignment
from model.reassignment.replicas import Broker, Partition, ReassignedReplicas


class WaitsToCancel(CalmControllers):
    """A reassignment that cannot be cancelled is kept until it can be, and no other continues meanwhile."""

    @action
    def controller_skips(self, partition: Partition) -> None:
        require(False)


class TriesToCancelAgain(CalmControllers):
    """What turns out too late to be cancelled is tried again, however often."""

    @action
    def cancel_2_leads_from_original(self, partition: Partition) -> None:
        to_cancel = self.to_cancel
        super().cancel_2_leads_from_original(partition)
        self.to_cancel = to_cancel


class GivesUpOfflineTarget(CalmReassignment):
    """C-M12: a new controller fails a reassignment if a broker of its target is down just then (KAFKA-4214).

    It does not look again when the broker is back.
    """

    given_up: Set[Partition] = Set()

    @action
    def controller_fails_over(self) -> None:
        super().controller_fails_over()
        self.given_up = Set({partition for partition in Partition if not self.reaches_target(partition)})

    def reaches_target(self, partition: Partition) -> bool:
        entry = self.pending[partition]
        return entry is None or entry.target <= self.live

    @action
    def controller_begins(self, partition: Partition) -> None:
        require(partition not in self.given_up)
        super().controller_begins(partition)


class VerifiesSuccessOnly(CalmReassignment):
    """A throttle is removed by ``--verify`` alone, once the partition has its target: never after a cancellation."""

    def unthrottled_with(self, partition: Partition) -> Set[Partition]:
        return Set[Partition]()

    @action
    def client_verifies(self, partition: Partition) -> None:
        require(partition not in self.rolled_back)
        super().client_verifies(partition)


class StopsAtThrottle(CalmReassignment):
    """Once the throttle is off, the controller does not come back to the cancellation."""

    @action
    def cancelled_is_unthrottled(self, partition: Partition) -> None:
        require(self.step[partition] == Step.UNTHROTTLE)
        self.throttled -= self.unthrottled_with(partition)


class WaitsForIsrChange(CalmKip455):
    """A new controller looks at a reassignment when the ISR changes, which it may have done before (KAFKA-4214)."""

    unseen: Set[Partition] = Set()

    @action
    def controller_fails_over(self) -> None:
        super().controller_fails_over()
        self.unseen = Set(Partition)

    @action
    def follower_joins_isr(self, partition: Partition, follower: Broker) -> None:
        super().follower_joins_isr(partition, follower)
        self.unseen.discard(partition)

    @action
    def follower_leaves_isr(self, partition: Partition, follower: Broker) -> None:
        super().follower_leaves_isr(partition, follower)
        self.unseen.discard(partition)

    @action
    def b_sees_target_in_sync(self, partition: Partition) -> None:
        require(partition not in self.unseen)
        super().b_sees_target_in_sync(partition)


class WaitsForRequest(CalmKraft):
    """A change of the ISR completes nothing; only what the controller writes by itself does."""

    @action
    def follower_joins_isr(self, partition: Partition, follower: Broker) -> None:
        ReassignedReplicas.follower_joins_isr(self, partition, follower)


class KeepsFulfilledEntries(CalmKip455):
    """An entry in the old znode that asks for what is already so is left there, and blocks it."""

    @action
    def controller_drops_legacy(self, partition: Partition) -> None:
        require(self.legacy[partition] is not None)
        require(not self.is_valid(partition, self.legacy_target(partition)))
        super().controller_drops_legacy(partition)
