"""Known-bad designs of the under-replicated metric, each one rule away from a good one.

The numbers are those of docs/properties.md, which says what each mistake breaks.
"""

from __future__ import annotations

from floodmark import Set, action, require
from model.replica_sets import target
from model.under_replicated.metric import (
    Assignment,
    Broker,
    BrokerViews,
    LeaderAndIsr,
    MiddleDraft,
    Partition,
    ShippedCommand,
    ShippedMetric,
    TopicCommand,
    UnderReplicated,
)


class CountsEveryReplica(UnderReplicated):
    """D-M1: the metric from before the KIP: fewer in the ISR than replicas, the added ones included (KIP-352)."""

    def is_under_replicated(self, state: Assignment) -> bool:
        return len(state.replicas) > len(state.isr)


class LeavesOutRemoved(ShippedMetric):
    """D-M2: the removed replicas are left out instead of the added ones: measured against the target."""

    def is_under_replicated(self, state: Assignment) -> bool:
        return len(target(state.replicas, state.removing)) > len(state.isr)


class ComparesSizes(UnderReplicated):
    """Any number of in-sync replicas other than the expected one is an alarm, so one that joins can raise it."""

    def is_under_replicated(self, state: Assignment) -> bool:
        return len(state.isr) != len(state.replicas - state.adding)


class WaitsForTarget(UnderReplicated):
    """Measured against the impending replicas alone: a replica to be removed may be out of sync before the others are
    in.
    """

    def is_under_replicated(self, state: Assignment) -> bool:
        return not target(state.replicas, state.removing) <= state.isr


class ToleratesOne(UnderReplicated):
    """One replica out of sync is no alarm, so producers can be refused without any."""

    def is_under_replicated(self, state: Assignment) -> bool:
        return len(state.replicas - state.adding - state.isr) > 1


class CountsAdded(ShippedMetric):
    """D-M1 in the terms of the adopted metric: the added replicas count among those from before."""

    def is_under_replicated(self, state: Assignment) -> bool:
        return len(state.replicas) > len(state.isr)


class CountsOriginInSync(ShippedMetric):
    """The later draft for the adopted metric: an added replica in sync does not make up for another."""

    def is_under_replicated(self, state: Assignment) -> bool:
        return len(state.replicas - state.adding) > len(state.isr - state.adding)


class CountsCurrentInSync(MiddleDraft):
    """The added replicas are left out of the replicas alone, and an added one in sync makes up for another."""

    def is_under_replicated(self, state: Assignment) -> bool:
        return len(state.replicas - state.adding) > len(state.isr)


class AsksForMinIsr(UnderReplicated):
    """A partition is under-replicated if producers cannot write to it: that is another metric, UnderMinIsr."""

    def is_under_replicated(self, state: Assignment) -> bool:
        return self.is_under_min_isr(state)


class KeepsReassignmentToItself(BrokerViews):
    """Only the controller knows of a reassignment; leaders see one set of replicas (KIP-352, "Proposed Changes")."""

    def tell(self, state: Assignment) -> LeaderAndIsr:
        return LeaderAndIsr(leader=state.leader, isr=state.isr, current=state.replicas, impending=Set())


class KeepsRemovedInSync(UnderReplicated):
    """A reassignment completes and the removed replicas stay in the ISR (KAFKA-9672)."""

    def store(self, partition: Partition, state: Assignment) -> None:
        super().store(partition, state.replace(isr=state.isr | self.assignments[partition].removing))


class ElectsAnew(UnderReplicated):
    """Every change elects a leader, although the current one stays in sync."""

    def change(self, partition: Partition, state: Assignment, leader: Broker) -> None:
        require(leader in state.isr)
        self.store(partition, state.replace(leader=leader))


class CompletesEarly(UnderReplicated):
    """A reassignment is complete when its leader is in the target, whether or not the others are in sync."""

    @action
    def reassignment_completes(self, partition: Partition, leader: Broker) -> None:
        state = self.assignments[partition]
        wanted = target(state.replicas, state.removing)
        require(self.is_reassigned(partition) and leader in wanted)
        new = Assignment(leader=leader, isr=state.isr & wanted, replicas=wanted, adding=Set(), removing=Set())
        self.change(partition, new, leader)
        self.original[partition] = wanted


class KeepsVersion(BrokerViews):
    """A change keeps its version, so what the leader asked for before still counts (KIP-497)."""

    def store(self, partition: Partition, state: Assignment) -> None:
        version = self.version
        super().store(partition, state)
        self.version = version


class HonoursEarlierRequests(BrokerViews):
    """A request that quotes an earlier version is accepted although the ISR has changed meanwhile (KIP-497)."""

    def store(self, partition: Partition, state: Assignment) -> None:
        joining = self.joining[partition]
        super().store(partition, state)
        self.joining[partition] = joining


class OverlooksRemovals(BrokerViews):
    """D-M3: a partition counts as reassigned when replicas are added, not when some are only removed (Kafka's PR
    8364).
    """

    def reassigned(self, state: Assignment) -> Set[Broker]:
        return state.adding


class CountsJoining(BrokerViews):
    """D-M4: replicas that the leader has only asked to add count as in sync, and the alarm ends too early (KIP-497)."""

    def counted_isr(self, broker: Broker, partition: Partition) -> Set[Broker]:
        return self.view(broker, partition).isr | self.joining[partition]


class CountsAsFollower(BrokerViews):
    """D-M5: a broker counts each partition that it has a replica of, since followers do not forget what they were
    told.
    """

    def install(self, broker: Broker, partition: Partition, request: LeaderAndIsr) -> None:
        self.views[broker][partition] = request if broker in request.current | request.impending else None

    def is_settled(self) -> bool:
        return all(
            self.views[broker][partition] is None
            or self.views[broker][partition] == self.tell(self.assignments[partition])
            for broker in Broker
            for partition in Partition
        )


class TrustsList(ShippedCommand):
    """D-M6: a listed reassignment counts as in progress, whatever the description shows: removed replicas may be
    gone."""

    def seems_reassigned(self, partition: Partition) -> bool:
        return len(self.listed[partition].adding | self.listed[partition].removing) > 0


class IgnoresReassignment(TopicCommand):
    """The topic command goes by replicas and ISR only, as before the KIP."""

    def shows_under_replicated(self, partition: Partition) -> bool:
        return len(self.shown(partition).replicas) > len(self.shown(partition).isr)


class TakesLeadBeforeIsr(BrokerViews):
    """D-M7: a broker that becomes the leader counts by an ISR that it has not set yet (KAFKA commit 5a67b080c7d)."""

    def install(self, broker: Broker, partition: Partition, request: LeaderAndIsr) -> None:
        first = self.views[broker][partition] is None
        super().install(broker, partition, request.replace(isr=Set()) if first else request)


class AsksForTooMany(UnderReplicated):
    """D-M8: min.insync.replicas is not capped by the number of replicas (Kafka commit edc7e10a745)."""

    def is_under_min_isr(self, state: Assignment) -> bool:
        return len(state.isr) < self.min_insync_replicas
