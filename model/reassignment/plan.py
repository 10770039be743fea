"""One reassignment as an operator plans it, from its first step to its last, without a cancellation.

Before, the first ``replication_factor`` brokers have the partition; after, all but the first ``removed`` ones have it.
The first leader is the first of those that go, or of those that stay. At each point on the way,
invariants/reassignment/plan.py asks whether the plan could be cancelled. At any time, no more than ``failures`` brokers
are down or original replicas out of the ISR. What is committed plays no role here: every member of the ISR has it.

KIP-236's steps are in model/reassignment/kip236.py, where to begin, and KRaft's in model/reassignment/kraft.py.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Between, Constant, Seq, Set, action, initial, require
from model.reassignment.kip236 import Reassignment
from model.reassignment.kip455 import is_under_way
from model.reassignment.kraft import KraftReassignment
from model.reassignment.replicas import Broker, Partition, ReassignedReplicas

Failures = Annotated[int, Between(0, "brokers")]


class Plan(ReassignedReplicas):
    """What is planned, and how much may fail meanwhile, under either controller."""

    removed = Constant(1)
    leader_stays = Constant(False)
    failures = Constant(1)

    original: Set[Broker]
    target: Set[Broker]
    allowed: Failures

    def plan(self) -> None:
        self.original = self.first_brokers(self.replication_factor)
        self.target = Set(Broker) - self.first_brokers(self.removed)
        self.allowed = self.failures
        if self.leader_stays:
            for broker in Broker:
                if broker in self.original & self.target:
                    self.replication[Partition(1)].leader = broker
                    break

    def failed(self) -> Set[Broker]:
        """The brokers that are down, and the original replicas that are not in sync."""
        return (Set(Broker) - self.live) | (self.original - self.replication[Partition(1)].isr)

    def is_submitted(self) -> bool:
        """Whether the plan is in progress, or complete."""
        raise NotImplementedError

    def is_cancellable(self) -> bool:
        """Whether a cancellation would find something to cancel."""
        raise NotImplementedError

    def may_fail(self, broker: Broker) -> bool:
        """Whether no more fail than allowed if this one does, too."""
        return len(self.failed() | {broker}) <= self.allowed

    @action
    def leader_commits(self, partition: Partition) -> None:
        """Left out: every member of the ISR has all committed records."""
        require(False)

    @action
    def follower_leaves_isr(self, partition: Partition, follower: Broker) -> None:
        require(self.is_submitted())
        require(follower not in self.original or self.may_fail(follower))
        super().follower_leaves_isr(partition, follower)

    @action
    def broker_crashes(self, broker: Broker) -> None:
        require(self.is_submitted() and broker in self.live and self.may_fail(broker))
        self.live.discard(broker)


class PlannedKraftReassignment(Plan, KraftReassignment):
    """The plan under a KRaft controller (KIP-455)."""

    submissions = Constant(1)

    @initial
    def start(self) -> None:
        super().start()
        self.plan()

    def is_submitted(self) -> bool:
        return self.requests == 1

    def is_cancellable(self) -> bool:
        return is_under_way(self.assignment[Partition(1)])

    @action
    def controller_takes_request(self, partition: Partition, preferred: Broker, others: Set[Broker]) -> None:
        """The plan is submitted."""
        require(self.requests == 0 and preferred in self.target and others == self.target - {preferred})
        self.requests = 1
        self.take(partition, Seq(self.target))

    @action
    def controller_takes_cancellation(self, partition: Partition) -> None:
        """Nobody cancels."""
        require(False)


class PlannedKip236Reassignment(Plan, Reassignment):
    """The plan under KIP-236, with a controller that may crash between any two of its steps."""

    @initial
    def start(self) -> None:
        super().start()
        self.plan()

    def is_submitted(self) -> bool:
        return self.submitted == 1

    def is_cancellable(self) -> bool:
        """A cancellation is an event of its own, so it comes between two others."""
        pending = self.pending[Partition(1)]
        return self.is_free() and pending is not None and self.original <= self.assigned[Partition(1)]

    @action
    def client_submits(self, batch: Set[Partition], target: Set[Broker], throttle: bool, knows_original: bool) -> None:
        """The plan is submitted."""
        require(self.submitted == 0 and len(batch) == 1 and target == self.target and knows_original and not throttle)
        super().client_submits(batch, target, throttle, knows_original)

    @action
    def client_cancels(self) -> None:
        """Nobody cancels."""
        require(False)
