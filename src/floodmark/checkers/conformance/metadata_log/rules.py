"""The rules for a partition and for each change of it, whichever controller wrote the log.

Each rule is a pure function that returns "" when it holds, else what is wrong. A reassignment's origin and target are
defined in model/replica_sets.py, as for the models; the tests check these rules on the models' runs. Sources: KIP-455
for reassignments, KIP-497 for the ISR, KIP-966 for eligible leader replicas, and ``PartitionChangeBuilder`` of Apache
Kafka for the changes that one record may combine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from typing import Any, cast

from floodmark.checkers.conformance.metadata_log.registration import NO_LEADER, Registration
from floodmark.checkers.project.modules import Project

replica_sets = Project.shipped().required("model.replica_sets")


class ReplicaChange(Enum):
    """The kinds of changes of a partition's replicas."""

    OTHER = "an election takes place, or the ISR or the order of replicas changes"
    REQUEST = "a reassignment begins or is replaced by another"
    COMPLETION = "a reassignment is completed"
    CANCELLATION = "a reassignment is cancelled"


def origin(partition: Registration) -> AbstractSet[int]:
    """The replicas that a cancellation restores."""
    return cast(AbstractSet[int], replica_sets.origin(*_sets(partition.replicas, partition.adding)))


def target(partition: Registration) -> AbstractSet[int]:
    """The replicas that the reassignment leads to."""
    return cast(AbstractSet[int], replica_sets.target(*_sets(partition.replicas, partition.removing)))


def _sets(*groups: Iterable[int]) -> Any:
    """Sets in the form that the functions of the models take."""
    return tuple(frozenset(group) for group in groups)


def kind_of(old: Registration, new: Registration) -> ReplicaChange:
    """The kind of a change. A request for replicas that are all in sync completes at once, whatever was in progress."""
    if old.replicas == new.replicas and old.adding == new.adding and old.removing == new.removing:
        return ReplicaChange.OTHER
    if new.is_reassigning:
        return ReplicaChange.REQUEST
    now = frozenset(new.replicas)
    if old.is_reassigning:
        return ReplicaChange.CANCELLATION if now == origin(old) and now != target(old) else ReplicaChange.COMPLETION
    return ReplicaChange.OTHER if now == frozenset(old.replicas) else ReplicaChange.COMPLETION


# Rules for every state.


def replicas_are_distinct(new: Registration) -> str:
    """There is at least one replica, and none is listed twice."""
    if not new.replicas:
        return "there are no replicas"
    if len(frozenset(new.replicas)) < len(new.replicas):
        return f"the replicas {_list(new.replicas)} name a broker twice"
    return ""


def isr_is_assigned(new: Registration) -> str:
    """The ISR has only replicas, each once (KIP-455; KAFKA-9672)."""
    isr = frozenset(new.isr)
    if len(isr) < len(new.isr):
        return f"the ISR {_list(new.isr)} names a broker twice"
    strangers = isr.difference(new.replicas)
    return f"{_list(sorted(strangers))} are in the ISR but are not replicas" if strangers else ""


def leader_is_in_isr(new: Registration) -> str:
    """The leader is in the ISR; an unclean election or one from the ELR puts the leader there."""
    if new.leader == NO_LEADER or new.leader in new.isr:
        return ""
    return f"the leader {new.leader} is not in the ISR {_list(new.isr)}"


def isr_is_empty_only_with_elr(new: Registration) -> str:
    """The ISR keeps its last member, unless eligible leader replicas are kept instead (KIP-966)."""
    if new.isr or (new.leader == NO_LEADER and (new.elr or new.last_known_elr)):
        return ""
    return "the ISR is empty, and no eligible leader is known"


def assignment_is_consistent(new: Registration) -> str:
    """No broker is both added and removed, all of them are replicas, and neither origin nor target is empty
    (KIP-455)."""
    if not new.is_reassigning or replica_sets.is_consistent(*_sets(new.replicas, new.adding, new.removing)):
        return ""
    return f"replicas {_list(new.replicas)}, adding {_list(new.adding)} and removing {_list(new.removing)} do not fit"


def recovering_leader_is_alone(new: Registration) -> str:
    """Until a leader that was elected uncleanly has recovered, no replica joins it (ReplicationControlManager)."""
    if new.recovering and len(new.isr) > 1:
        return f"the leader is still recovering, and the ISR is {_list(new.isr)}"
    return ""


# Rules for every change.


def partition_epoch_steps_by_one(old: Registration, new: Registration) -> str:
    """Every change of a partition increments the partition epoch."""
    if new.partition_epoch == old.partition_epoch + 1:
        return ""
    return f"the partition epoch goes from {old.partition_epoch} to {new.partition_epoch}"


def leader_epoch_rises_with_leader(old: Registration, new: Registration) -> str:
    """A new leader has a higher leader epoch, and the epoch never falls."""
    least = old.leader_epoch + (new.leader != old.leader)
    if new.leader_epoch >= least:
        return ""
    return f"the leader goes from {old.leader} to {new.leader}, its epoch from {old.leader_epoch} to {new.leader_epoch}"


def removal_raises_leader_epoch(old: Registration, new: Registration) -> str:
    """When a replica is removed, a new leader epoch fences the requests that it may still send
    (PartitionChangeBuilder).

    There it is ``triggerLeaderEpochBumpForReplicaReassignmentIfNeeded``.
    """
    if new.leader_epoch > old.leader_epoch or old.replicas == new.replicas:
        return ""
    gone = [broker for broker in old.replicas if broker not in new.replicas]
    return f"{_list(gone)} are no longer replicas, but the leader epoch stays {new.leader_epoch}" if gone else ""


def new_leader_is_in_sync(old: Registration, new: Registration) -> str:
    """A leader comes from the ISR or the ELR, unless the election says that it was unclean.

    It may have joined the ISR by the same record, if that is the old leader's change of it or completes a
    reassignment.
    """
    leader = new.leader
    if leader in (old.leader, NO_LEADER) or leader in old.isr or leader in old.elr or new.recovering:
        return ""
    joined = leader in new.isr and old.leader != NO_LEADER
    if joined and (old.leader in new.isr or kind_of(old, new) is ReplicaChange.COMPLETION):
        return ""
    return f"the new leader {leader} was not in the ISR {_list(old.isr)}"


def isr_grows_by_its_leader(old: Registration, new: Registration) -> str:
    """Only a leader adds to the ISR, by AlterPartition (KIP-497); reassignment requests add no replica."""
    if old.isr == new.isr:
        return ""
    joined = [broker for broker in new.isr if broker not in old.isr and broker not in old.elr]
    if not joined or (new.recovering and new.isr == (new.leader,)):
        return ""
    kind = kind_of(old, new)
    if kind in (ReplicaChange.REQUEST, ReplicaChange.CANCELLATION):
        return f"{_list(joined)} join the ISR, in a record by which {kind.value}"
    if old.leader == NO_LEADER:
        return f"{_list(joined)} join the ISR, but there was no leader to add them"
    return ""


def who_comes_is_adding(old: Registration, new: Registration) -> str:
    """A new replica begins as an adding one (KIP-455)."""
    if old.replicas == new.replicas:
        return ""
    come = [broker for broker in new.replicas if broker not in old.replicas and broker not in new.adding]
    return f"{_list(come)} are replicas now, without having been added" if come else ""


def origin_stays(old: Registration, new: Registration) -> str:
    """Until a reassignment is completed, every replica from before it remains one (KIP-455)."""
    if kind_of(old, new) is not ReplicaChange.REQUEST:
        return ""
    lost = sorted(origin(old) - origin(new))
    return f"{_list(lost)} were replicas before the reassignment, and would not be after a cancellation" if lost else ""


def override_keeps_origin(old: Registration, new: Registration) -> str:
    """A request that replaces another starts from the origin, not from the target of the other (KIP-455).

    Apache Kafka's KRaft controller treats a replica that is still being added as an old one, so a cancellation does not
    restore the replicas; hence this rule is one of ``DEVIATIONS``.
    """
    if not old.is_reassigning or kind_of(old, new) is not ReplicaChange.REQUEST or origin(old) == origin(new):
        return ""
    before, after = sorted(origin(old)), sorted(origin(new))
    return f"a cancellation led to {_list(before)} before, and would lead to {_list(after)} now"


def target_comes_first(old: Registration, new: Registration) -> str:
    """The replicas are the target in its order, then those that leave (KIP-455): this preserves the order.

    From reading ReplicationControlManager.changePartitionReassignment, not reproduced: a request that replaces another
    and removes no replica leaves ``removingReplicas`` as it was, so those replicas still leave. This rule shows it.
    """
    if not new.removing or kind_of(old, new) is not ReplicaChange.REQUEST:
        return ""
    tail = new.replicas[len(new.replicas) - len(new.removing) :]
    if frozenset(tail) == frozenset(new.removing):
        return ""
    return f"{_list(new.removing)} leave, but do not come last in {_list(new.replicas)}"


def completion_waits_for_target(old: Registration, new: Registration) -> str:
    """A reassignment is completed only when its whole target is in sync (KIP-455; KAFKA-15665)."""
    if kind_of(old, new) is not ReplicaChange.COMPLETION:
        return ""
    missing = [broker for broker in new.replicas if broker not in new.isr]
    return f"the reassignment is completed, but {_list(missing)} are not in sync" if missing else ""


def cancellation_keeps_leader(old: Registration, new: Registration) -> str:
    """A cancellation takes no partition offline (KAFKA-14424)."""
    if old.leader == NO_LEADER or new.leader != NO_LEADER or kind_of(old, new) is not ReplicaChange.CANCELLATION:
        return ""
    return f"the reassignment is cancelled, and there is no leader; it was {old.leader}"


StateRule = Callable[[Registration], str]
ChangeRule = Callable[[Registration, Registration], str]

STATE_RULES: tuple[StateRule, ...] = (
    replicas_are_distinct,
    isr_is_assigned,
    leader_is_in_isr,
    isr_is_empty_only_with_elr,
    assignment_is_consistent,
    recovering_leader_is_alone,
)
CHANGE_RULES: tuple[ChangeRule, ...] = (
    partition_epoch_steps_by_one,
    leader_epoch_rises_with_leader,
    removal_raises_leader_epoch,
    new_leader_is_in_sync,
    isr_grows_by_its_leader,
    who_comes_is_adding,
    origin_stays,
    target_comes_first,
    completion_waits_for_target,
    cancellation_keeps_leader,
)
DEVIATIONS: tuple[ChangeRule, ...] = (override_keeps_origin,)
"""Rules of KIP-455 that Apache Kafka itself is known to break; they are applied only on request."""


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule that is broken."""

    rule: str
    message: str


def broken_rules(old: Registration | None, new: Registration, strict: bool = False) -> list[BrokenRule]:
    """The rules that a partition breaks, and those that its change from ``old`` breaks, if there is an old one."""
    found = [BrokenRule(rule.__name__, text) for rule in STATE_RULES if (text := rule(new))]
    if old is not None:
        rules = (*CHANGE_RULES, *DEVIATIONS) if strict else CHANGE_RULES
        found += [BrokenRule(rule.__name__, text) for rule in rules if (text := rule(old, new))]
    return found


def _list(brokers: Iterable[int]) -> str:
    return f"[{','.join(str(broker) for broker in brokers)}]"
