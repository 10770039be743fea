"""Planned moves under which more brokers fail than were counted on: what the plan command finds without --failures."""

from __future__ import annotations

from floodmark import Set, action, require
from model.reassignment.plan import PlannedKip236Reassignment, PlannedKraftReassignment
from model.reassignment.replicas import Broker


class LetsAnyFail(PlannedKraftReassignment):
    """Nobody counts the failures, so fewer than min.insync.replicas of the original replicas can be left."""

    def failed(self) -> Set[Broker]:
        return Set[Broker]()


class LetsAllFail(LetsAnyFail):
    """With min.insync.replicas = 1, all original replicas have to fail; a cancellation would then leave nobody to
    lead.
    """


class LetsAnyFailUnderKip236(PlannedKip236Reassignment):
    """The same under KIP-236."""

    def failed(self) -> Set[Broker]:
        return Set[Broker]()


class FailsBeforehand(PlannedKraftReassignment):
    """A broker is already down when the plan is submitted; whoever plans should have noticed."""

    @action
    def broker_crashes(self, broker: Broker) -> None:
        require(broker in self.live and self.may_fail(broker))
        self.live.discard(broker)


class FailsBeforehandUnderKip236(PlannedKip236Reassignment):
    """The same, for a plan under KIP-236."""

    @action
    def broker_crashes(self, broker: Broker) -> None:
        require(broker in self.live and self.may_fail(broker))
        self.live.discard(broker)
