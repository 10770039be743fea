"""Planned moves under which more brokers fail than were counted on: what the plan command finds without --failures."""

from __future__ import annotations

from floodmark import Set, action, require
from model.reassignment.plan import PlannedKip236Reassignment, PlannedKraftReassignment
from model.reassignment.replicas import Broker


class LetsAnyFail(PlannedKraftReassignment):
    """Nobody counts who has failed, so fewer than min.insync.replicas of the original ones can be left."""

    def failed(self) -> Set[Broker]:
        return Set[Broker]()


class LetsAllFail(LetsAnyFail):
    """With min.insync.replicas = 1 it takes all original replicas, and a cancellation would leave nobody to lead."""


class LetsAnyFailUnderKip236(PlannedKip236Reassignment):
    """The same under KIP-236."""

    def failed(self) -> Set[Broker]:
        return Set[Broker]()


class FailsBeforehand(PlannedKraftReassignment):
    """A broker is down already when the plan is submitted; who plans should have seen that."""

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
