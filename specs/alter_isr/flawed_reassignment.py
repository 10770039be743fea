"""Known-bad designs of KIP-497 and KIP-455 together: each takes both to do harm to records."""

from __future__ import annotations

from floodmark import Set
from model.alter_isr.failover import AlterIsrFailover, Broker
from model.alter_isr.reassignment import ReassignedAlterIsr

# High watermark and pending changes, while replicas change.


class LeavesOutAdding(ReassignedAlterIsr):
    """The high watermark does not wait for replicas that are being added, in the ISR or not; the record that completes
    the reassignment makes one of them the leader.
    """

    def maximal_isr(self, leader: Broker) -> Set[Broker]:
        return super().maximal_isr(leader) - self.adding


class LeavesOutRemoving(ReassignedAlterIsr):
    """The high watermark does not wait for replicas that are being removed, although the reassignment may be cancelled.
    """

    def maximal_isr(self, leader: Broker) -> Set[Broker]:
        return super().maximal_isr(leader) - (self.removing - {leader})


class JudgesByIsr(ReassignedAlterIsr):
    """A-M4: the controller compares ISRs instead of partition epochs. A reassignment begins with a partition epoch of
    its own and the same ISR; the leader that learns of it discards its pending change, which is accepted nevertheless.
    """

    def request_is_current(self, leader: Broker) -> bool:
        return self.current().leader == leader and self.known(leader).isr == self.current().isr


class JoinsByRememberedOffset(ReassignedAlterIsr):
    """A-M7, C-M19: a leader that is elected again lets a follower join by what it remembers of it, without a fetch; the
    follower was removed and added again, empty, between the two elections (Vanlightly, ResetFollowerStateOfAllButISR).
    """

    def hear_from(self, leader: Broker, follower: Broker) -> None:
        pass


class KeepsRemovedReplica(ReassignedAlterIsr):
    """A-M33: a replica that is removed stays in the ISR (KAFKA-9672), although it is deleted. It may be elected."""

    def isr_without(self, isr: Set[Broker], removed: Set[Broker]) -> Set[Broker]:
        return isr


class CountsAnyFetcher(ReassignedAlterIsr):
    """A-M34: any broker that fetches may join, replica or not (KAFKA-13837)."""

    def is_replica(self, leader: Broker, follower: Broker) -> bool:
        return True

    def asks(self, follower: Broker, leader: Broker) -> bool:
        return AlterIsrFailover.asks(self, follower, leader)


class AcceptsAnyMember(CountsAnyFetcher):
    """A-M34: in addition the controller does not check who is a replica."""

    def members_are_replicas(self, leader: Broker) -> bool:
        return True


# Reassignment, while records are written and changes of the ISR are pending.


class CompletesWithAdding(ReassignedAlterIsr):
    """C-M3: the controller waits for the adding replicas, but not for the ones that stay (KAFKA-15665)."""

    def is_in_sync(self, wanted: Set[Broker], adding: Set[Broker], isr: Set[Broker]) -> bool:
        return adding <= isr


class CancelsWithoutLeader(ReassignedAlterIsr):
    """C-M1: a cancellation does not ask who is left to lead: a replica that was being added led, alone in the ISR."""

    def may_stop(self, stopped: Set[Broker]) -> bool:
        return True

    def isr_without(self, isr: Set[Broker], removed: Set[Broker]) -> Set[Broker]:
        return isr if isr <= removed else isr - removed


class CancelsBelowMinIsr(ReassignedAlterIsr):
    """C-M2: the controller does not check min.insync.replicas."""

    def may_stop(self, stopped: Set[Broker]) -> bool:
        return len(self.current().isr - stopped - self.fenced) > 0


class KeepsLeaderEpoch(ReassignedAlterIsr):
    """C-M16: the leader epoch stays when replicas are removed. A leader that learns at once of a removal and of what
    came after it takes the new, empty replica for the one that it knew.
    """

    def begins_leader_epoch(self, removed: Set[Broker]) -> bool:
        return False
