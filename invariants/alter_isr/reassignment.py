"""What must hold of KIP-497 and KIP-455 together (model/alter_isr/reassignment.py), besides what failover.py says.

Begin with core.py.
"""

from __future__ import annotations

from floodmark import Set, implies, invariant, reachable, transition
from invariants.alter_isr.failover import leads_now
from model import replica_sets
from model.alter_isr.failover import Broker
from model.alter_isr.reassignment import ReassignedAlterIsr


@invariant
def isr_is_assigned(model: ReassignedAlterIsr) -> bool:
    """The ISR has replicas only, and at least one (KIP-455; KAFKA-9672)."""
    return Set() != model.current().isr and model.current().isr <= model.assignment()


@invariant
def assignment_is_consistent(model: ReassignedAlterIsr) -> bool:
    """No replica is both added and removed, and neither origin nor target is empty (KIP-455)."""
    return replica_sets.is_consistent(model.assignment(), model.adding, model.removing)


@invariant
def only_replicas_have_logs(model: ReassignedAlterIsr) -> bool:
    """A broker that knows that it has no replica has no records either (KAFKA-16120)."""
    return all(
        len(model.replicas[broker].log) == 0 for broker in Broker if broker not in model.known_replicas(broker)
    )


@invariant
def what_is_asked_for_can_be_written(model: ReassignedAlterIsr) -> bool:
    """A leader that knows the current partition epoch asks for replicas only: otherwise its request is refused as
    INVALID_REQUEST, no newer state is on its way, and the high watermark waits for a broker that never joins.
    """
    return all(
        model.replicas[broker].pending <= model.assignment()
        for broker in Broker
        if leads_now(model, broker) and model.replicas[broker].partition_epoch == model.partition_epoch
    )


@transition
def enough_replicas_stay_in_sync(old: ReassignedAlterIsr, new: ReassignedAlterIsr) -> bool:
    """When a request, a cancellation or a completion removes replicas, ``min.insync.replicas`` stay in the ISR, if as
    many were in it.
    """
    return implies(
        not old.assignment() <= new.assignment(),
        len(new.current().isr) >= min(new.min_insync_replicas, len(old.current().isr)),
    )


@transition
def reassignment_keeps_a_leader(old: ReassignedAlterIsr, new: ReassignedAlterIsr) -> bool:
    """Removing replicas leaves a live leader where there was one: only failures take a partition offline."""
    leader = old.current().leader
    return implies(
        old.assignment() != new.assignment() and leader is not None and leader not in old.fenced,
        new.current().leader is not None and new.current().leader not in new.fenced,
    )


@transition
def replicas_change_for_a_reason(old: ReassignedAlterIsr, new: ReassignedAlterIsr) -> bool:
    """Replicas are added by requests only. They are removed by a request, to the origin by a cancellation, or to the
    target, which is in sync then, by whatever completes the reassignment (KIP-455).
    """
    return implies(
        new.assignment() != old.assignment() and new.submitted == old.submitted,
        new.adding | new.removing == Set()
        and (
            new.assignment() == old.origin()
            or (new.assignment() == old.target() and new.assignment() <= new.current().isr)
        ),
    )


@invariant
def every_record_completes(model: ReassignedAlterIsr) -> bool:
    """A reassignment whose target is in sync is complete: nothing more has to happen for that (KIP-455)."""
    return implies(
        replica_sets.is_reassigning(model.adding, model.removing),
        not model.assignment() - model.removing <= model.current().isr,
    )


@transition
def every_partition_epoch_is_a_change(old: ReassignedAlterIsr, new: ReassignedAlterIsr) -> bool:
    """The controller refuses a request for the present assignment, and a cancellation without a reassignment
    (NO_REASSIGNMENT_IN_PROGRESS)."""
    return implies(
        new.partition_epoch != old.partition_epoch,
        new.current() != old.current()
        or new.assignment() != old.assignment()
        or new.adding != old.adding
        or new.removing != old.removing,
    )


@transition
def leader_epoch_counts_leaders_and_removals(old: ReassignedAlterIsr, new: ReassignedAlterIsr) -> bool:
    """A leader epoch begins when another broker leads, or none, and when replicas are removed; not otherwise
    (KAFKA-15021).
    """
    return (new.current().leader_epoch > old.current().leader_epoch) == (
        new.current().leader != old.current().leader or not old.assignment() <= new.assignment()
    )


@transition
def leader_stays_while_wanted(old: ReassignedAlterIsr, new: ReassignedAlterIsr) -> bool:
    """A leader that stays in sync when replicas change keeps leading (KIP-455)."""
    return implies(
        new.assignment() != old.assignment()
        and old.current().leader is not None
        and old.current().leader in new.current().isr,
        new.current().leader == old.current().leader,
    )


@invariant
def leader_counts_replicas_only(model: ReassignedAlterIsr) -> bool:
    """A leader remembers fetches of those that it knows as replicas, and counts no others (KAFKA-13837)."""
    return all(
        model.replicas[broker].fetch_offsets[other] == 0 and other not in model.maximal_isr(broker)
        for broker in Broker
        if model.leads(broker)
        for other in Broker
        if other not in model.known_replicas(broker)
    )


@reachable
def change_completes_a_reassignment(model: ReassignedAlterIsr) -> bool:
    """The ISR that a leader asked for can have become another one, without replicas that it still counts."""
    return any(
        model.request_in_flight(broker)
        and model.current().isr < model.replicas[broker].pending
        and model.assignment() < model.known_replicas(broker)
        for broker in Broker
    )


@reachable
def pending_change_is_rolled_back(model: ReassignedAlterIsr) -> bool:
    """A leader can be waiting for a replica that has been deleted meanwhile, after a cancellation."""
    return model.submitted == 1 and any(
        not model.replicas[broker].pending <= model.assignment()
        and model.adding | model.removing == Set()
        and model.assignment() == model.first_replicas()
        for broker in Broker
        if model.current().leader == broker
    )


@reachable
def partition_moves(model: ReassignedAlterIsr) -> bool:
    """A reassignment can end with another leader, which has what was committed, and without the first one's log."""
    return (
        len(model.committed) > 0
        and Broker(1) not in model.assignment() | model.current().isr
        and model.adding | model.removing == Set()
        and len(model.replicas[Broker(1)].log) == 0
    )
