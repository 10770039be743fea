"""What must hold of the under-replicated metric (model/under_replicated/metric.py). Start here. Liveness: progress.py.

O is the original replicas, from before a reassignment, R those while it is in progress, A the adding replicas, I the
ISR.
"""

from __future__ import annotations

from floodmark import Set, implies, invariant, reachable, transition
from model.replica_sets import is_consistent, is_reassigning, origin, target
from model.under_replicated.metric import (
    Assignment,
    Broker,
    BrokerViews,
    MiddleDraft,
    Partition,
    ShippedCommand,
    ShippedMetric,
    TopicCommand,
    UnderReplicated,
    understood,
)


@invariant
def assignment_is_consistent(model: UnderReplicated) -> bool:
    """What is stored makes sense: the leader is in the ISR, the ISR in the replicas (KIP-455)."""
    return all(
        is_consistent(
            model.assignments[partition].replicas,
            model.assignments[partition].adding,
            model.assignments[partition].removing,
        )
        and model.assignments[partition].isr <= model.assignments[partition].replicas
        and model.assignments[partition].leader in model.assignments[partition].isr
        for partition in Partition
    )


@invariant
def no_false_alarm(model: UnderReplicated) -> bool:
    """A partition that has every replica from before the reassignment in sync is not under-replicated (KIP-352,
    "Motivation").
    """
    return all(
        not model.is_under_replicated(model.assignments[partition])
        for partition in Partition
        if model.original[partition] <= model.assignments[partition].isr
    )


@invariant
def no_replica_is_masked(model: UnderReplicated) -> bool:
    """A replica from before the reassignment that is out of sync shows, whichever others are in (KIP-352,
    "Motivation").

    The adopted metric does not promise this: an added replica makes up for it.
    """
    return all(
        model.is_under_replicated(model.assignments[partition])
        for partition in Partition
        if not origin(model.assignments[partition].replicas, model.assignments[partition].adding)
        <= model.assignments[partition].isr
    )


@invariant
def as_ever_without_reassignment(model: UnderReplicated) -> bool:
    """Without a reassignment the metric is what it was: fewer in the ISR than replicas (KIP-352, "Metrics")."""
    return all(
        model.is_under_replicated(model.assignments[partition])
        == (len(model.assignments[partition].replicas) > len(model.assignments[partition].isr))
        for partition in Partition
        if not is_reassigning(model.assignments[partition].adding, model.assignments[partition].removing)
    )


@transition
def follows_the_isr(old: UnderReplicated, new: UnderReplicated) -> bool:
    """A replica that joins never turns the metric on; one that leaves never turns it off."""
    return all(
        implies(
            old.assignments[partition].isr < new.assignments[partition].isr,
            old.is_under_replicated(old.assignments[partition])
            or not new.is_under_replicated(new.assignments[partition]),
        )
        and implies(
            new.assignments[partition].isr < old.assignments[partition].isr,
            new.is_under_replicated(new.assignments[partition])
            or not old.is_under_replicated(old.assignments[partition]),
        )
        for partition in Partition
        if new.assignments[partition].replicas == old.assignments[partition].replicas
        and new.assignments[partition].adding == old.assignments[partition].adding
        and new.assignments[partition].removing == old.assignments[partition].removing
    )


@invariant
def counts_against_the_origin(model: ShippedMetric) -> bool:
    """The adopted metric compares how many are in sync with how many there were: |I| < |O| (KIP-352, as adopted)."""
    return all(
        model.is_under_replicated(model.assignments[partition])
        == (
            len(model.assignments[partition].isr)
            < len(model.assignments[partition].replicas) - len(model.assignments[partition].adding)
        )
        for partition in Partition
    )


@invariant
def drafts_agree(model: MiddleDraft) -> bool:
    """Leaving the added replicas out of both sizes is the same as requiring every current replica, since I is in R."""
    return all(
        model.is_under_replicated(model.assignments[partition])
        == (
            not origin(model.assignments[partition].replicas, model.assignments[partition].adding)
            <= model.assignments[partition].isr
        )
        for partition in Partition
    )


@invariant
def adopted_metric_implies_the_draft(model: ShippedMetric) -> bool:
    """What the adopted metric shows, the draft's shows too: fewer in sync than there were means that one is out."""
    return all(
        not origin(model.assignments[partition].replicas, model.assignments[partition].adding)
        <= model.assignments[partition].isr
        for partition in Partition
        if model.is_under_replicated(model.assignments[partition])
    )


@invariant
def too_few_for_producers_shows(model: UnderReplicated) -> bool:
    """A partition that refuses acks=all is under-replicated, unless more replicas are required than there were."""
    return all(
        model.is_under_replicated(model.assignments[partition])
        for partition in Partition
        if model.is_under_min_isr(model.assignments[partition])
        and model.min_insync_replicas
        <= len(origin(model.assignments[partition].replicas, model.assignments[partition].adding))
    )


@invariant
def complete_isr_is_enough(model: UnderReplicated) -> bool:
    """With every replica in sync no partition has too few, however large min.insync.replicas is."""
    return all(
        not model.is_under_min_isr(model.assignments[partition])
        for partition in Partition
        if model.assignments[partition].replicas <= model.assignments[partition].isr
    )


@invariant
def removal_shows_until_complete(model: UnderReplicated) -> bool:
    """While replicas are only removed, one that is out of sync shows; removing it does not hide it."""
    return all(
        model.is_under_replicated(model.assignments[partition])
        for partition in Partition
        if len(model.assignments[partition].adding) == 0
        and not model.assignments[partition].removing <= model.assignments[partition].isr
    )


@invariant
def reassigned_replicas_are_counted(model: UnderReplicated) -> bool:
    """The count is of the replicas in which origin and target differ, including those that are only removed
    (KIP-455).
    """
    return all(
        model.reassigned(model.assignments[partition])
        == origin(model.assignments[partition].replicas, model.assignments[partition].adding)
        ^ target(model.assignments[partition].replicas, model.assignments[partition].removing)
        for partition in Partition
    )


@transition
def leader_stays_while_in_sync(old: UnderReplicated, new: UnderReplicated) -> bool:
    """The leader changes by an election that changes nothing else, or because it is out of the ISR (KIP-455)."""
    return all(
        implies(
            new.assignments[partition].leader != old.assignments[partition].leader
            and old.assignments[partition].leader in new.assignments[partition].isr,
            new.assignments[partition]
            == old.assignments[partition].replace(leader=new.assignments[partition].leader),
        )
        for partition in Partition
    )


@transition
def reassignment_ends_as_asked(old: UnderReplicated, new: UnderReplicated) -> bool:
    """A reassignment ends at its target when that is in sync, or where it began; nothing else changes the replicas.

    KIP-455; the metric counts against the replicas from before until then (KIP-352, "Proposed Changes").
    """
    return all(
        implies(
            not is_reassigning(new.assignments[partition].adding, new.assignments[partition].removing),
            ends_as_asked(old.assignments[partition], new.assignments[partition].replicas),
        )
        for partition in Partition
    )


def ends_as_asked(old: Assignment, replicas: Set[Broker]) -> bool:
    return replicas == origin(old.replicas, old.adding) or (
        replicas == target(old.replicas, old.removing) and replicas <= old.isr
    )


@invariant
def request_tells_everything(model: UnderReplicated) -> bool:
    """Current and impending replicas say as much as replicas, adding and removing (KIP-352, "Request APIs").

    There are impending ones exactly as long as a reassignment is in progress.
    """
    return all(
        understood(model.tell(model.assignments[partition])) == model.assignments[partition]
        and (len(model.tell(model.assignments[partition]).impending) > 0)
        == is_reassigning(model.assignments[partition].adding, model.assignments[partition].removing)
        for partition in Partition
    )


@transition
def change_takes_next_version(old: BrokerViews, new: BrokerViews) -> bool:
    """The version counts the changes of what is stored, and nothing else (KIP-497)."""
    return new.version == old.version + (1 if new.assignments != old.assignments else 0)


@transition
def isr_grows_as_its_leader_asks(old: BrokerViews, new: BrokerViews) -> bool:
    """Only replicas that the leader has asked for, by what it knew, since the last change, enter the ISR (KIP-497).

    A request that quotes an earlier version is refused.
    """
    return all(
        new.assignments[partition].isr - old.assignments[partition].isr <= old.joining[partition]
        and implies(new.assignments[partition] != old.assignments[partition], len(new.joining[partition]) == 0)
        and new.joining[partition] - old.joining[partition] <= leader_may_ask_for(old, partition)
        for partition in Partition
    )


def leader_may_ask_for(model: BrokerViews, partition: Partition) -> Set[Broker]:
    leader = model.assignments[partition].leader
    if not model.leads(leader, partition):
        return Set()
    return model.view(leader, partition).replicas & (
        model.assignments[partition].replicas - model.assignments[partition].isr
    )


@invariant
def brokers_add_up(model: BrokerViews) -> bool:
    """When every LeaderAndIsr has arrived, the brokers' counts add up to the controller's (KIP-352, "Metrics")."""
    return implies(
        model.is_settled(),
        sum(1 for broker in Broker for partition in Partition if model.reports_under_replicated(broker, partition))
        == sum(1 for partition in Partition if model.is_under_replicated(model.assignments[partition]))
        and sum(model.reports_reassigned(broker, partition) for broker in Broker for partition in Partition)
        == sum(len(model.reassigned(model.assignments[partition])) for partition in Partition),
    )


@invariant
def leader_counts_itself(model: BrokerViews) -> bool:
    """A leader is itself in the ISR by which it counts, at every moment (KIP-352, "Metrics")."""
    return all(
        broker in model.counted_isr(broker, partition)
        for broker in Broker
        for partition in Partition
        if model.leads(broker, partition)
    )


@invariant
def command_gives_no_false_alarm(model: TopicCommand) -> bool:
    """The command does not list a partition whose description has every replica from before the reassignment in sync.

    KIP-352, "Motivation". The description is of one moment, whatever else the command asks for.
    """
    return all(
        not model.shows_under_replicated(partition)
        for partition in Partition
        if origin(model.shown(partition).replicas, model.shown(partition).adding) <= model.shown(partition).isr
    )


@invariant
def removal_gives_no_false_alarm(model: ShippedCommand) -> bool:
    """Nor when replicas that were only to be removed are gone from the description but not yet from the list."""
    return all(
        not model.shows_under_replicated(partition)
        for partition in Partition
        if len(model.listed[partition].adding) == 0
        and len(model.listed[partition].removing & model.shown(partition).replicas) == 0
        and model.shown(partition).replicas <= model.shown(partition).isr
    )


@reachable
def alarm_during_reassignment(model: UnderReplicated) -> bool:
    """A real problem can show while a reassignment is in progress."""
    return any(
        model.is_under_replicated(model.assignments[partition]) and len(model.assignments[partition].adding) > 0
        for partition in Partition
    )


@reachable
def no_alarm_while_replicas_join(model: UnderReplicated) -> bool:
    """A partition can have added replicas that are not in sync, and no alarm."""
    return any(
        not model.is_under_replicated(model.assignments[partition])
        and not model.assignments[partition].adding <= model.assignments[partition].isr
        for partition in Partition
    )


@reachable
def stale_leader_counts_too(model: BrokerViews) -> bool:
    """For a while two brokers can count one partition, because both believe that they lead it."""
    return any(
        model.reports_under_replicated(one, partition) and model.reports_under_replicated(other, partition)
        for partition in Partition
        for one in Broker
        for other in Broker
        if other != one
    )
