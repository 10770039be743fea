"""What must hold of eligible leader replicas while replicas are added and removed (begin with partition.py)."""

from __future__ import annotations

from floodmark import implies, invariant, reachable, transition
from model import replica_sets
from model.elr.reassignment import CountedElections, ReassignedEligibleLeaders


@invariant
def elr_is_within_replicas(model: ReassignedEligibleLeaders) -> bool:
    """The ISR and the ELR are of replicas (Vanlightly, ValidControllerIsrAndElr)."""
    return model.isr | model.elr <= model.replicas


@invariant
def assignment_is_consistent(model: ReassignedEligibleLeaders) -> bool:
    """Nobody is added and removed, and there are replicas before and after (KIP-455)."""
    return replica_sets.is_consistent(model.replicas, model.adding, model.removing)


@invariant
def only_replicas_have_logs(model: ReassignedEligibleLeaders) -> bool:
    """Who is no replica any more has no record (KIP-966: "the ELR only contains replicas in the final replica set")."""
    return model.complete <= model.replicas


@transition
def completion_leaves_enough_in_sync(old: ReassignedEligibleLeaders, new: ReassignedEligibleLeaders) -> bool:
    """Once replicas are removed, enough are in sync, or nobody was removed who has everything (KIP-966)."""
    return (
        old.replicas <= new.replicas
        or len(new.isr) >= new.controller_min_isr()
        or (old.isr | old.elr) <= new.replicas
    )


@invariant
def every_record_completes(model: ReassignedEligibleLeaders) -> bool:
    """No reassignment waits for another record: what is added is not in sync, or too little of the target is
    (``completeReassignmentIfNeeded``).
    """
    target = replica_sets.target(model.replicas, model.removing)
    return (
        not replica_sets.is_reassigning(model.adding, model.removing)
        or not model.adding <= model.isr
        or len(model.isr & target) < model.min_isr_of(target)
    )


@transition
def added_replicas_catch_up_first(old: ReassignedEligibleLeaders, new: ReassignedEligibleLeaders) -> bool:
    """Who was being added is a replica for good only once it is in sync (KIP-455)."""
    return old.adding & new.replicas - new.adding <= new.isr


@reachable
def removed_replica_had_been_eligible(model: ReassignedEligibleLeaders) -> bool:
    """Somebody who is being removed is in the ELR."""
    return not model.removing.isdisjoint(model.elr)


@transition
def alarm_means_loss(old: CountedElections, new: CountedElections) -> bool:
    """An election is counted as unclean if and only if enough brokers shut down uncleanly for records to be lost, and
    one that is not counted elects somebody who has everything, unless that broker has just crashed.
    """
    if new.leader is None or new.leader == old.leader:
        return True
    if new.alarm:
        return len(old.unclean) >= old.promised_copies()
    return new.leader in old.complete or new.leader not in old.running


@invariant
def only_elections_are_counted(model: CountedElections) -> bool:
    """A partition that is left without a leader has had no election."""
    return implies(model.alarm, model.leader is not None)


@reachable
def unclean_election_is_counted(model: CountedElections) -> bool:
    return model.alarm
