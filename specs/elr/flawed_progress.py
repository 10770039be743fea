"""Known-bad designs of eligible leader replicas that never get a leader. Begin with ``flawed.py``."""

from __future__ import annotations

from floodmark import Set, require
from model.elr.partition import Broker, Registration
from model.elr.progress import CalmEligibleLeaders


class WaitsForIsr(CalmEligibleLeaders):
    """F-M16: what that costs: a partition whose ISR is empty stays without a leader."""

    def electable(self, isr: Set[Broker], elr: Set[Broker]) -> Set[Broker]:
        return isr


class UnfencesOnly(CalmEligibleLeaders):
    """F-M37: a broker that is back is unfenced, and no partition without a leader is looked at
    (``handleBrokerUnfenced``).
    """

    def controller_unfences(self, broker: Broker, successor: Broker | None) -> None:
        require(self.registration[broker] == Registration.FENCED and broker in self.running)
        require(successor == self.leader)
        self.registration[broker] = Registration.ACTIVE


class ForgetsLastKnownLeader(CalmEligibleLeaders):
    """F-M38: nobody leads once nobody is eligible any more, not even who led last."""

    def may_elect_last_known_leader(self, isr: Set[Broker], elr: Set[Broker], active: Set[Broker]) -> bool:
        return False
