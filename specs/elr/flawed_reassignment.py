"""Known-bad designs of eligible leader replicas while replicas are added and removed. Begin with ``flawed.py``."""

from __future__ import annotations

from floodmark import Set
from model.elr.partition import Broker
from model.elr.reassignment import CountedElections, ReassignedEligibleLeaders


class CompletesBelowMinIsr(ReassignedEligibleLeaders):
    """F-M19: a reassignment ends when all who are added are in sync, however few that are (KIP-966 on what was before
    it; 4.3 has this again, KAFKA-19975).
    """

    def may_complete(self, target: Set[Broker], adding: Set[Broker], isr: Set[Broker]) -> bool:
        return adding <= isr and len(isr) > 0


class CancelsBelowMinIsr(ReassignedEligibleLeaders):
    """F-M20: a cancellation needs only one replica that stays in sync (``cancelPartitionReassignment``)."""

    def may_cancel(self, origin: Set[Broker]) -> bool:
        return len(self.isr & origin) > 0


class OverridesBelowMinIsr(ReassignedEligibleLeaders):
    """F-M21: what the text says of a cancellation is not applied to a request that overrides another
    (``changePartitionReassignment``).
    """

    def may_override(self, replicas: Set[Broker]) -> bool:
        return len(self.isr & replicas) > 0 or len(self.isr) == 0


class KeepsStrangers(CancelsBelowMinIsr):
    """F-M18: neither a cancellation asks for enough in sync, nor is the ELR intersected with the replicas. A broker
    that has deleted its log is elected once it is a replica again (``maybePopulateTargetElr``; docs/kafka.md).
    """

    def of_replicas(self, elr: Set[Broker]) -> Set[Broker]:
        return elr


class ElectsFormerReplica(ReassignedEligibleLeaders):
    """F-M22: the last known leader is elected though it is no replica any more."""

    def may_elect_last_known_leader(self, isr: Set[Broker], elr: Set[Broker], active: Set[Broker]) -> bool:
        last = self.last_known_leader
        return len(isr) == 0 and len(elr) == 0 and last is not None and last in active


class CountsElectionsFromElr(CountedElections):
    """F-M23: an election from the ELR is counted as unclean (KAFKA-18940)."""

    def election_was_clean(
        self, leader: Broker, isr_before: Set[Broker], elr_before: Set[Broker], isr: Set[Broker]
    ) -> bool:
        return leader in isr_before | isr


class CountsJoiningLeader(CountedElections):
    """F-M24: a leader that joins the ISR in the record that elects it, as that completes a reassignment, is counted as
    unclean (KAFKA-19212).
    """

    def election_was_clean(
        self, leader: Broker, isr_before: Set[Broker], elr_before: Set[Broker], isr: Set[Broker]
    ) -> bool:
        return leader in isr_before | elr_before


class CountsNothing(CountedElections):
    """F-M25: every election is counted as clean, also that of a last known leader who lost records."""

    def election_was_clean(
        self, leader: Broker, isr_before: Set[Broker], elr_before: Set[Broker], isr: Set[Broker]
    ) -> bool:
        return True
