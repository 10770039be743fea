"""What must hold of records that every member of the ISR has (model/alter_isr/replicated.py; begin with core.py)."""

from __future__ import annotations

from floodmark import invariant, reachable, transition
from invariants.alter_isr.failover import agree
from model.alter_isr.failover import Broker
from model.alter_isr.replicated import ReplicatedRecords


@invariant
def replicated_records_survive(model: ReplicatedRecords) -> bool:
    """Every member of the ISR, and so every possible leader, keeps the records that all of them have had, exposed or
    not.

    ``leader_candidate_completeness`` states this for records that a leader has exposed.
    """
    return all(
        model.replicas[broker].log[: len(model.replicated)] == model.replicated for broker in model.current().isr
    )


@invariant
def replicated_is_what_the_isr_shares(model: ReplicatedRecords) -> bool:
    """Where every member of the ISR is in the current leader epoch, it is all that their logs have in common."""
    isr = model.current().isr
    return all(
        (end <= len(model.replicated)) == all(agree(model, one, other, end) for one in isr for other in isr)
        for end in range(1, model.max_offset + 1)
        if all(model.known(broker).leader_epoch == model.current().leader_epoch for broker in isr)
    )


@transition
def only_joins_make_records_uncommitted(old: ReplicatedRecords, new: ReplicatedRecords) -> bool:
    """Records cease to be replicated only from the offset on at which a replica that joins the ISR diverges."""
    end = len(new.replicated)
    return new.replicated == old.replicated[:end] and any(
        new.replicas[broker].log[: end + 1] != old.replicated[: end + 1]
        for broker in new.current().isr - old.current().isr
    ) if end < len(old.replicated) else new.replicated[: len(old.replicated)] == old.replicated


@reachable
def replicated_before_exposed(model: ReplicatedRecords) -> bool:
    """Every member of the ISR can have a record that no leader has exposed."""
    return len(model.replicated) > len(model.committed)


@reachable
def join_makes_records_uncommitted(model: ReplicatedRecords) -> bool:
    """A replica can join without a record that all other members have."""
    return len(model.replicated) == 0 and any(
        len(model.replicas[broker].log) == 0
        and len(model.current().isr) > 2
        and all(len(model.replicas[other].log) > 0 for other in model.current().isr if other != broker)
        for broker in Broker
        if broker in model.current().isr
    )
