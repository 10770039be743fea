"""Known-bad designs of eligible leader replicas with real logs. Begin with ``flawed.py``."""

from __future__ import annotations

from floodmark import Set
from model.alter_isr.failover import Broker
from model.elr.logs import EligibleLeaderLogs


class CommitsByMaximalIsr(EligibleLeaderLogs):
    """F-M39: the high watermark advances when the maximal ISR is large enough, with a member that has been asked for
    and is not confirmed. The controller still counts somebody else as eligible (KIP-966: "the ISR size", not the
    maximal ISR's).
    """

    def may_advance(self, leader: Broker) -> bool:
        return len(self.maximal_isr(leader)) >= self.min_insync_replicas


class CommitsWithoutMinIsr(EligibleLeaderLogs):
    """F-M2: what that costs with real logs."""

    def may_advance(self, leader: Broker) -> bool:
        return True

    def under_min_isr(self, leader: Broker) -> bool:
        return False


class KeepsWholeElr(EligibleLeaderLogs):
    """F-M1: what that costs with real logs."""

    def target_elr(self, isr: Set[Broker], unclean_shutdown: Set[Broker]) -> Set[Broker]:
        return (self.elr | self.current().isr) - isr - unclean_shutdown


class KeepsItsPlace(EligibleLeaderLogs):
    """F-M11: what that costs with real logs: the broker stays in the ISR, and leads with an empty log."""

    def leave_at_registration(self, broker: Broker, successor: Broker | None) -> None:
        pass
