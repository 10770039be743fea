"""Whether a planned reassignment can be cancelled at every point, which is the question its model asks.

A cancellation removes every replica that is not an original one from the ISR. It is in trouble where that leaves nobody
to lead (KAFKA-14424), or fewer in sync than ``min.insync.replicas`` where there were enough (linkedin/kafka#442). The
protocols' own properties are in kip236.py, where to begin.
"""

from __future__ import annotations

from floodmark import Set, implies, invariant, reachable
from model.reassignment.plan import Plan, PlannedKip236Reassignment, PlannedKraftReassignment
from model.reassignment.replicas import Broker, Partition, Replication


def keeps_leader(replication: Replication, original: Set[Broker], live: Set[Broker]) -> bool:
    """If any replica can lead now, one of the original replicas can."""
    return implies(len(replication.isr & live) > 0, len(replication.isr & original & live) > 0)


def keeps_min_isr(replication: Replication, original: Set[Broker], min_insync_replicas: int) -> bool:
    """As many as producers need, or as there are, stay in sync. If there are fewer replicas, Kafka requires all of
    them.
    """
    return len(replication.isr & original) >= min(min_insync_replicas, len(original), len(replication.isr))


@invariant
def cancellation_keeps_leader(model: Plan) -> bool:
    """A cancellation at this point leaves the partition a leader."""
    return implies(
        model.is_cancellable(), keeps_leader(model.replication[Partition(1)], model.original, model.live)
    )


@invariant
def cancellation_keeps_min_isr(model: Plan) -> bool:
    """A cancellation at this point leaves as many in sync as producers need."""
    return implies(
        model.is_cancellable(),
        keeps_min_isr(model.replication[Partition(1)], model.original, model.min_insync_replicas),
    )


@invariant
def plan_begins_well(model: Plan) -> bool:
    """What fails, fails on the way: before the plan is submitted everything is up and in sync."""
    return implies(not model.is_submitted(), len(model.failed()) == 0)


def lags_as_allowed(replication: Replication, original: Set[Broker], live: Set[Broker], allowed: int) -> bool:
    """As many original replicas as may fail are out of sync, and every broker is up."""
    return live == Set(Broker) and len(original - replication.isr) == allowed


@reachable
def replicas_lag_on_the_way(model: PlannedKraftReassignment) -> bool:
    """Original replicas can be out of sync while the plan could still be cancelled."""
    return model.is_cancellable() and lags_as_allowed(
        model.replication[Partition(1)], model.original, model.live, model.allowed
    )


@reachable
def brokers_fail_on_the_way(model: PlannedKraftReassignment) -> bool:
    """As many brokers as may fail can be down while the plan could still be cancelled, with no replica lagging."""
    return model.is_cancellable() and len(model.failed()) == model.allowed == len(Set(Broker) - model.live)


@reachable
def plan_completes(model: PlannedKraftReassignment) -> bool:
    """The plan reaches its target."""
    return model.requests == 1 and not model.is_cancellable()


@reachable
def replicas_lag_before_rollback(model: PlannedKip236Reassignment) -> bool:
    """Original replicas can be out of sync before the plan has changed anything."""
    return (
        model.is_cancellable()
        and model.assigned[Partition(1)] == model.original
        and lags_as_allowed(model.replication[Partition(1)], model.original, model.live, model.allowed)
    )


@reachable
def brokers_fail_before_rollback(model: PlannedKip236Reassignment) -> bool:
    """As many brokers as may fail can be down before the plan has changed anything, with no replica lagging."""
    return (
        model.is_cancellable()
        and model.assigned[Partition(1)] == model.original
        and len(model.failed()) == model.allowed == len(Set(Broker) - model.live)
    )


@reachable
def rollback_is_not_needed(model: PlannedKip236Reassignment) -> bool:
    """The plan reaches its target."""
    return model.submitted == 1 and model.pending[Partition(1)] is None
