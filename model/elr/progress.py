"""KIP-966 for liveness: a partition gets a leader once failures have stopped. Begin with partition.py.

Failures may be as many as they like until they stop. From then on the controller notices who is down, and unfences who
runs. Brokers that are down may register or not, followers may join the ISR and leave it, and another of its members may
lead.
"""

from __future__ import annotations

from floodmark import action, fair, require
from model.elr.partition import Broker, EligibleLeaders, Registration


class CalmEligibleLeaders(EligibleLeaders):
    """From some point on no broker stops, and none is fenced; a broker that is down may be back or not."""

    calm: bool = False

    @action
    def failures_stop(self) -> None:
        """The environment: from now on nothing fails."""
        require(not self.calm)
        self.calm = True

    @action
    def controller_fences(self, broker: Broker, successor: Broker | None) -> None:
        """A session expires though the broker runs."""
        require(not self.calm)
        super().controller_fences(broker, successor)

    @fair(each="broker")
    @action
    def session_expires(self, broker: Broker, successor: Broker | None) -> None:
        """A broker that is down sends no heartbeats (``ReplicationControlManager.maybeFenceOneStaleBroker``)."""
        require(broker not in self.running)
        super().controller_fences(broker, successor)

    @fair(each="broker")
    @action
    def controller_unfences(self, broker: Broker, successor: Broker | None) -> None:
        super().controller_unfences(broker, successor)

    @action
    def controller_starts_shutdown(self, broker: Broker, successor: Broker | None) -> None:
        require(not self.calm)
        super().controller_starts_shutdown(broker, successor)

    @action
    def broker_stops(self, broker: Broker) -> None:
        require(not self.calm)
        super().broker_stops(broker)

    @action
    def broker_crashes(self, broker: Broker) -> None:
        require(not self.calm)
        super().broker_crashes(broker)

    def may_be_active(self, broker: Broker) -> bool:
        """It runs, and need not register again first, as after a controlled shutdown."""
        return broker in self.running and self.registration[broker] != Registration.SHUTTING_DOWN
