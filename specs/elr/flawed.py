"""Known-bad designs of eligible leader replicas. Each breaks one rule, and the property that its spec names."""

from __future__ import annotations

from floodmark import Set
from model.elr.partition import Broker, EligibleLeaders

# Who is eligible.


class KeepsElrWithMinIsr(EligibleLeaders):
    """F-M1: the ELR is kept when enough are in sync again. They commit, and an eligible broker lacks it."""

    def target_elr(self, isr: Set[Broker], unclean_shutdown: Set[Broker]) -> Set[Broker]:
        return (self.elr | self.isr) - isr - unclean_shutdown

    def settled(self, isr: Set[Broker], elr: Set[Broker]) -> Set[Broker]:
        return elr


class CommitsBelowMinIsr(EligibleLeaders):
    """F-M2: the high watermark advances with fewer in sync than min.insync.replicas, as before KAFKA-15583."""

    def may_commit(self) -> bool:
        return True


class MakesLaggardsEligible(EligibleLeaders):
    """F-M3: every replica outside the ISR is eligible once the ISR is too small, not only those that leave it then."""

    def target_elr(self, isr: Set[Broker], unclean_shutdown: Set[Broker]) -> Set[Broker]:
        return Set[Broker]() if self.has_min_isr(isr) else Set(Broker) - isr - unclean_shutdown


class ForgetsWhoLeaves(EligibleLeaders):
    """F-M4: who leaves a small ISR is not eligible: the ISR may be empty, and nobody may lead."""

    def target_elr(self, isr: Set[Broker], unclean_shutdown: Set[Broker]) -> Set[Broker]:
        return Set[Broker]()


class DropsFencedMembers(EligibleLeaders):
    """F-M5: a member of the ELR leaves it when it is fenced, though its log is intact."""

    def target_elr(self, isr: Set[Broker], unclean_shutdown: Set[Broker]) -> Set[Broker]:
        return super().target_elr(isr, unclean_shutdown) & self.active()


class CountsOneTooMany(EligibleLeaders):
    """F-M6: the ELR is emptied one member too early: the ISR is not yet large enough to commit."""

    def has_min_isr(self, isr: Set[Broker]) -> bool:
        return len(isr) + 1 >= self.controller_min_isr()


class LastReplicaStands(EligibleLeaders):
    """F-M7: before KIP-966 the ISR keeps its last member, which leads again though it has lost records. Expected:
    this is what the text is for ("last replica standing").
    """

    def isr_without(self, broker: Broker) -> Set[Broker]:
        return self.isr if self.isr == Set([broker]) else self.isr - {broker}

    def target_elr(self, isr: Set[Broker], unclean_shutdown: Set[Broker]) -> Set[Broker]:
        return Set[Broker]()


# Clean and unclean shutdowns.


class TakesAllForClean(EligibleLeaders):
    """F-M8: unclean shutdowns are not detected, as long as KAFKA-18635 was open."""

    def was_clean(self, broker: Broker) -> bool:
        return True


class KeepsSuspects(EligibleLeaders):
    """F-M9: the ELR keeps a broker that shut down uncleanly."""

    def target_elr(self, isr: Set[Broker], unclean_shutdown: Set[Broker]) -> Set[Broker]:
        return super().target_elr(isr, Set[Broker]())


class TrustsAnyFile(EligibleLeaders):
    """F-M10: the broker epoch in the clean shutdown file is not compared, and the file of an earlier shutdown is still
    there.
    """

    def remove_file(self, broker: Broker) -> None:
        pass


class RegistersInPlace(EligibleLeaders):
    """F-M11: a broker registers before the controller has fenced the incarnation before it, and no partition changes:
    it stays in the ISR and leads (KAFKA-18106).
    """

    def leave_at_registration(self, broker: Broker, suspect: Set[Broker], successor: Broker | None) -> None:
        pass


class LeavesElrAlone(EligibleLeaders):
    """F-M12: a registration changes the partition only if the broker is in the ISR."""

    def leave_at_registration(self, broker: Broker, suspect: Set[Broker], successor: Broker | None) -> None:
        if broker in self.isr:
            super().leave_at_registration(broker, suspect, successor)


# Who may lead.


class ElectsFencedLastKnownLeader(EligibleLeaders):
    """F-M13: the last known leader is elected, fenced or not (KAFKA-19522)."""

    def may_elect_last_known_leader(self, isr: Set[Broker], elr: Set[Broker], active: Set[Broker]) -> bool:
        return len(isr) == 0 and len(elr) == 0 and self.last_known_leader is not None


class DoesNotWaitForElr(EligibleLeaders):
    """F-M14: the last known leader is elected while members of the ELR are only fenced."""

    def may_elect_last_known_leader(self, isr: Set[Broker], elr: Set[Broker], active: Set[Broker]) -> bool:
        last = self.last_known_leader
        return len(isr) == 0 and last is not None and last in active


class ElectsAnybody(EligibleLeaders):
    """F-M15: with an empty ISR anybody is electable (unclean.leader.election.enable)."""

    def electable(self, isr: Set[Broker], elr: Set[Broker]) -> Set[Broker]:
        return isr if len(isr) > 0 else Set(Broker)


class NeverElectsFromElr(EligibleLeaders):
    """F-M16: only the ISR is electable. Nobody leads, though somebody who has everything is back."""

    def electable(self, isr: Set[Broker], elr: Set[Broker]) -> Set[Broker]:
        return isr


class ForgetsTheOthers(EligibleLeaders):
    """F-M40: an election from the ELR empties it. Whoever else was eligible is not any more."""

    def settled(self, isr: Set[Broker], elr: Set[Broker]) -> Set[Broker]:
        return Set[Broker]() if len(isr) > 0 and isr <= self.elr else super().settled(isr, elr)


class LetsSuspectsJoin(EligibleLeaders):
    """F-M17: a follower joins the ISR without having caught up."""

    def may_join(self, joining: Set[Broker]) -> bool:
        return joining <= self.running & self.active()


# min.insync.replicas


class LeaderNeedsLess(EligibleLeaders):
    """F-M35: a broker has a min.insync.replicas of its own, which is less than the controller's (KAFKA-16540)."""

    def leader_min_isr(self) -> int:
        return 1


class CountsReplicasOfPartitionZero(EligibleLeaders):
    """F-M36: the controller caps min.insync.replicas by the replicas of the topic's partition 0, here one, and so has
    less than the brokers (``getTopicEffectiveMinIsr``). Nobody is eligible while the leader waits for more.
    """

    def controller_min_isr(self) -> int:
        return 1
