"""Reassignments for liveness, once failures have stopped.

kip236.py is where to begin. Failures may be as many as the spec's constants allow, until they stop; nothing forces them
to, and what is promised is promised of the time after. Endless failures delay endlessly: a controller that is always
replaced before its next step finishes nothing, in any of these designs.
"""

from __future__ import annotations

from floodmark import Set, action, require
from model.reassignment.continuing import ContinuingKip455, ContinuingReassignment
from model.reassignment.kraft import KraftReassignment
from model.reassignment.queue import QueuedReassignment
from model.reassignment.replicas import Broker, Partition, ReassignedReplicas
from model.reassignment.throttle import ThrottledReassignment


class Calm(ReassignedReplicas):
    """Eventually failures stop; the classes below say which."""

    calm: bool = False

    @action
    def failures_stop(self) -> None:
        """The environment: from now on nothing fails."""
        require(not self.calm)
        self.calm = True


class CalmControllers(Calm, ContinuingReassignment):
    """KIP-236: from some point on no controller fails. Brokers may continue to crash, and to lag."""

    @action
    def controller_fails_over(self) -> None:
        require(not self.calm)
        super().controller_fails_over()


class CalmBrokers(Calm):
    """From some point on no broker crashes, and no follower falls behind."""

    @action
    def broker_crashes(self, broker: Broker) -> None:
        require(not self.calm)
        super().broker_crashes(broker)

    @action
    def follower_leaves_isr(self, partition: Partition, follower: Broker) -> None:
        require(not self.calm)
        super().follower_leaves_isr(partition, follower)

    @action
    def leader_commits(self, partition: Partition) -> None:
        """What a follower must fetch to catch up comes to an end."""
        require(not self.calm)
        super().leader_commits(partition)


class CalmReassignment(CalmBrokers, CalmControllers):
    """KIP-236 once nothing fails any more."""


class CalmThrottles(CalmControllers, ThrottledReassignment):
    """The same controllers, which take off a throttle in two steps."""


class CalmQueue(CalmReassignment, QueuedReassignment):
    """The same, and requests are queued while a reassignment is pending."""


class CalmKip455(CalmBrokers, ContinuingKip455):
    """KIP-455 with a ZooKeeper controller."""

    @action
    def controller_fails_over(self) -> None:
        require(not self.calm)
        super().controller_fails_over()


class CalmKraft(CalmBrokers, KraftReassignment):
    """KIP-455 with a KRaft controller, which fences a broker that crashes: it leaves the ISR, as KIP-841 has it.

    Otherwise a broker could come back before anybody has noticed, no record would be written for it, and no record is
    what completes a reassignment here.
    """

    @action
    def broker_crashes(self, broker: Broker) -> None:
        super().broker_crashes(broker)
        for partition in Partition:
            if broker in self.replication[partition].isr:
                self.take_offline(partition, Set({broker}))
                self.settle(partition)
