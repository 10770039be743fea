"""KIP-966 and KIP-455: a partition with eligible leader replicas whose replicas are added and removed.

Begin with partition.py. A request may override a reassignment or take it back. Whichever record changes the
partition also completes its reassignment, if it can (``PartitionChangeBuilder.completeReassignmentIfNeeded``). Brokers
that are no replicas have no log. How requests, leaders and deletions race is in model/alter_isr/reassignment.py.
"""

from __future__ import annotations

from floodmark import Constant, Set, action, initial, require, rule
from model import replica_sets
from model.elr.partition import Broker, EligibleLeaders


class ReassignedEligibleLeaders(EligibleLeaders):
    """``replication_factor`` of the brokers are replicas at first, and never fewer; their order plays no role for what
    is committed.
    """

    replication_factor = Constant(2)

    replicas: Set[Broker]
    adding: Set[Broker]
    removing: Set[Broker]

    @initial
    def start(self, leader: Broker, followers: Set[Broker]) -> None:
        super().start(leader, followers)
        self.replicas = followers | {leader}
        self.adding = Set()
        self.removing = Set()

    def may_begin(self, leader: Broker, followers: Set[Broker]) -> bool:
        return leader not in followers and len(followers) + 1 == self.replication_factor

    def assigned(self) -> Set[Broker]:
        return self.replicas

    def target_elr(self, isr: Set[Broker], unclean_shutdown: Set[Broker]) -> Set[Broker]:
        return self.of_replicas(super().target_elr(isr, unclean_shutdown))

    @rule
    def of_replicas(self, elr: Set[Broker]) -> Set[Broker]:
        """Only a replica is eligible: others delete their logs (KIP-966: "the ELR only contains replicas in the final
        replica set").
        """
        return elr & self.replicas

    @rule
    def may_elect_last_known_leader(self, isr: Set[Broker], elr: Set[Broker], active: Set[Broker]) -> bool:
        """A last known leader that has been removed since has no log. Kafka does not ask
        (``PartitionChangeBuilder.canElectLastKnownLeader``).
        """
        last = self.last_known_leader
        return last is not None and last in self.replicas and super().may_elect_last_known_leader(isr, elr, active)

    def change(
        self, isr: Set[Broker], unclean_shutdown: Set[Broker], active: Set[Broker], successor: Broker | None
    ) -> None:
        """The record also completes the reassignment, if it can."""
        target = replica_sets.target(self.replicas, self.removing)
        if self.is_reassigning() and self.may_complete(target, self.adding, isr & target):
            self.assign(target, Set[Broker](), Set[Broker]())
        self.complete = self.complete & self.replicas
        super().change(isr & self.replicas, unclean_shutdown, active, successor)

    def assign(self, replicas: Set[Broker], adding: Set[Broker], removing: Set[Broker]) -> None:
        self.replicas = replicas
        self.adding = adding
        self.removing = removing

    def is_reassigning(self) -> bool:
        return replica_sets.is_reassigning(self.adding, self.removing)

    @rule
    def may_complete(self, target: Set[Broker], adding: Set[Broker], isr: Set[Broker]) -> bool:
        """All who are added are in sync, and enough of the target (KIP-966, AlterPartitionReassignments)."""
        return adding <= isr and len(isr) >= self.min_isr_of(target)

    @action
    def operator_reassigns(self, wanted: Set[Broker], successor: Broker | None) -> None:
        """``ReplicationControlManager.changePartitionReassignment``, also while a reassignment is under way. Who is
        added may be fenced.
        """
        require(len(wanted) >= self.replication_factor)
        origin = replica_sets.origin(self.replicas, self.adding)
        require(self.may_override(origin | wanted))
        self.assign(origin | wanted, wanted - origin, origin - wanted)
        self.change(self.isr, Set[Broker](), self.active(), successor)

    @action
    def operator_cancels(self, successor: Broker | None) -> None:
        """``ReplicationControlManager.cancelPartitionReassignment``: back to the origin."""
        require(self.is_reassigning())
        origin = replica_sets.origin(self.replicas, self.adding)
        require(self.may_cancel(origin))
        self.assign(origin, Set[Broker](), Set[Broker]())
        self.change(self.isr, Set[Broker](), self.active(), successor)

    @rule
    def may_cancel(self, origin: Set[Broker]) -> bool:
        """Enough stay in sync (KIP-966: "This min ISR requirement is also enforced when the reassignment is
        canceled"), or nobody is stopped who has everything.
        """
        return self.may_stop(origin)

    @rule
    def may_override(self, replicas: Set[Broker]) -> bool:
        """A request that overrides another stops replicas as a cancellation does; KIP-966 has no rule for it."""
        return self.may_stop(replicas)

    def may_stop(self, replicas: Set[Broker]) -> bool:
        """Whether these replicas are enough to go on with."""
        return len(self.isr & replicas) >= self.min_isr_of(replicas) or self.isr | self.elr <= replicas

    def may_join(self, joining: Set[Broker]) -> bool:
        return super().may_join(joining) and joining <= self.replicas

    @action
    def follower_follows(self, follower: Broker) -> None:
        require(follower in self.replicas)
        super().follower_follows(follower)


class CountedElections(ReassignedEligibleLeaders):
    """The metric UncleanLeaderElectionsPerSec: which elections the controller counts as unclean."""

    alarm: bool = False
    """Whether the last election was counted as unclean."""

    def change(
        self, isr: Set[Broker], unclean_shutdown: Set[Broker], active: Set[Broker], successor: Broker | None
    ) -> None:
        leader = self.leader
        isr_before = self.isr
        elr_before = self.elr
        super().change(isr, unclean_shutdown, active, successor)
        self.alarm = (
            successor is not None
            and successor != leader
            and not self.election_was_clean(successor, isr_before, elr_before, isr)
        )

    @rule
    def election_was_clean(
        self, leader: Broker, isr_before: Set[Broker], elr_before: Set[Broker], isr: Set[Broker]
    ) -> bool:
        """The leader was in sync or eligible (KAFKA-18940), or joins the ISR in this very record (KAFKA-19212)."""
        return leader in isr_before | elr_before | isr
