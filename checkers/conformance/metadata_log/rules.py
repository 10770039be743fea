"""What has to hold of a partition and of each change of it, whatever controller wrote the log.

Each rule is a pure function that gives "" when it holds, else what is wrong. What a reassignment is, its origin and
its target, is model/replica_sets.py, as in the models; the tests hold these rules against the models' runs. Sources:
KIP-455 for reassignments, KIP-497 for the ISR, KIP-966 for eligible leader replicas, and ``PartitionChangeBuilder`` of
Apache Kafka for what one record may do at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from typing import Any, cast

from floodmark.checkers.conformance.metadata_log.registration import NO_LEADER, Registration
from floodmark.checkers.project import Project

replica_sets = Project.shipped().required("model.replica_sets")


class Kind(Enum):
    """What a record does to a partition's replicas."""

    OTHER = "an election, or a change of the ISR or of the order of replicas"
    REQUEST = "a reassignment begins, or another takes its place"
    COMPLETION = "a reassignment is completed"
    CANCELLATION = "a reassignment is cancelled"


def origin(partition: Registration) -> AbstractSet[int]:
    """The replicas that a cancellation goes back to."""
    return cast(AbstractSet[int], replica_sets.origin(*_sets(partition.replicas, partition.adding)))


def target(partition: Registration) -> AbstractSet[int]:
    """The replicas that the reassignment leads to."""
    return cast(AbstractSet[int], replica_sets.target(*_sets(partition.replicas, partition.removing)))


def _sets(*groups: Iterable[int]) -> Any:
    """Sets that the functions of the models take."""
    return tuple(frozenset(group) for group in groups)


def kind_of(old: Registration, new: Registration) -> Kind:
    """What a change is. One to replicas that are all in sync completes at once, whatever was under way before."""
    if old.replicas == new.replicas and old.adding == new.adding and old.removing == new.removing:
        return Kind.OTHER
    if new.is_reassigning:
        return Kind.REQUEST
    now = frozenset(new.replicas)
    if old.is_reassigning:
        return Kind.CANCELLATION if now == origin(old) and now != target(old) else Kind.COMPLETION
    return Kind.OTHER if now == frozenset(old.replicas) else Kind.COMPLETION


# Of every state.


def replicas_are_distinct(new: Registration) -> str:
    """There is a replica, and none twice."""
    if not new.replicas:
        return "there are no replicas"
    if len(frozenset(new.replicas)) < len(new.replicas):
        return f"a broker is twice among the replicas {_list(new.replicas)}"
    return ""


def isr_is_assigned(new: Registration) -> str:
    """The ISR has replicas only, each once (KIP-455; KAFKA-9672)."""
    isr = frozenset(new.isr)
    if len(isr) < len(new.isr):
        return f"a broker is twice in the ISR {_list(new.isr)}"
    strangers = isr.difference(new.replicas)
    return f"{_list(sorted(strangers))} in the ISR are no replicas" if strangers else ""


def leader_is_in_isr(new: Registration) -> str:
    """Who leads is in the ISR; an unclean election or one from the ELR puts the leader there."""
    if new.leader == NO_LEADER or new.leader in new.isr:
        return ""
    return f"the leader {new.leader} is not in the ISR {_list(new.isr)}"


def isr_is_empty_only_with_elr(new: Registration) -> str:
    """The ISR keeps its last member, unless eligible leader replicas are kept instead (KIP-966)."""
    if new.isr or (new.leader == NO_LEADER and (new.elr or new.last_known_elr)):
        return ""
    return "the ISR is empty, and nobody is known who could lead"


def assignment_is_consistent(new: Registration) -> str:
    """Nobody comes and goes at once, who does is a replica, and neither origin nor target is empty (KIP-455)."""
    if not new.is_reassigning or replica_sets.is_consistent(*_sets(new.replicas, new.adding, new.removing)):
        return ""
    return f"replicas {_list(new.replicas)}, adding {_list(new.adding)} and removing {_list(new.removing)} do not fit"


def recovering_leader_is_alone(new: Registration) -> str:
    """Until a leader that was elected uncleanly has recovered, nobody joins it (ReplicationControlManager)."""
    if new.recovering and len(new.isr) > 1:
        return f"the leader is still recovering, and the ISR is {_list(new.isr)}"
    return ""


# Of every change.


def partition_epoch_steps_by_one(old: Registration, new: Registration) -> str:
    """Every change of a partition has the next partition epoch."""
    if new.partition_epoch == old.partition_epoch + 1:
        return ""
    return f"the partition epoch goes from {old.partition_epoch} to {new.partition_epoch}"


def leader_epoch_rises_with_leader(old: Registration, new: Registration) -> str:
    """Another leader has a higher leader epoch, and the epoch never falls."""
    least = old.leader_epoch + (new.leader != old.leader)
    if new.leader_epoch >= least:
        return ""
    return f"the leader goes from {old.leader} to {new.leader}, its epoch from {old.leader_epoch} to {new.leader_epoch}"


def removal_raises_leader_epoch(old: Registration, new: Registration) -> str:
    """Where a replica goes, a new leader epoch fences what it may still send (PartitionChangeBuilder).

    There it is ``triggerLeaderEpochBumpForReplicaReassignmentIfNeeded``.
    """
    if new.leader_epoch > old.leader_epoch or old.replicas == new.replicas:
        return ""
    gone = [broker for broker in old.replicas if broker not in new.replicas]
    return f"{_list(gone)} are replicas no more, and the leader epoch stays {new.leader_epoch}" if gone else ""


def new_leader_is_in_sync(old: Registration, new: Registration) -> str:
    """A leader comes from the ISR or the ELR, unless the election says that it was unclean.

    It may have come into the ISR by the same record, if that is the old leader's change of it or completes a
    reassignment.
    """
    leader = new.leader
    if leader in (old.leader, NO_LEADER) or leader in old.isr or leader in old.elr or new.recovering:
        return ""
    joined = leader in new.isr and old.leader != NO_LEADER
    if joined and (old.leader in new.isr or kind_of(old, new) is Kind.COMPLETION):
        return ""
    return f"the new leader {leader} was not in the ISR {_list(old.isr)}"


def isr_grows_by_its_leader(old: Registration, new: Registration) -> str:
    """Only a leader adds to the ISR, by AlterPartition (KIP-497); requests for reassignments add nobody."""
    if old.isr == new.isr:
        return ""
    joined = [broker for broker in new.isr if broker not in old.isr and broker not in old.elr]
    if not joined or (new.recovering and new.isr == (new.leader,)):
        return ""
    kind = kind_of(old, new)
    if kind in (Kind.REQUEST, Kind.CANCELLATION):
        return f"{_list(joined)} come into the ISR, by a record with which {kind.value}"
    if old.leader == NO_LEADER:
        return f"{_list(joined)} come into the ISR, and there was no leader to add them"
    return ""


def who_comes_is_adding(old: Registration, new: Registration) -> str:
    """Another replica begins as an adding one (KIP-455)."""
    if old.replicas == new.replicas:
        return ""
    come = [broker for broker in new.replicas if broker not in old.replicas and broker not in new.adding]
    return f"{_list(come)} are replicas now, without having been added" if come else ""


def origin_stays(old: Registration, new: Registration) -> str:
    """Until a reassignment is completed, whoever was a replica before it remains one (KIP-455)."""
    if kind_of(old, new) is not Kind.REQUEST:
        return ""
    lost = sorted(origin(old) - origin(new))
    return f"{_list(lost)} were replicas before the reassignment, and would not be after a cancellation" if lost else ""


def override_keeps_origin(old: Registration, new: Registration) -> str:
    """A request that takes the place of another starts from the origin, not from where that was going (KIP-455).

    Apache Kafka's KRaft controller takes who is still being added for an old replica, so a cancellation does not
    restore the replicas; hence this rule is one of ``DEVIATIONS``.
    """
    if not old.is_reassigning or kind_of(old, new) is not Kind.REQUEST or origin(old) == origin(new):
        return ""
    before, after = sorted(origin(old)), sorted(origin(new))
    return f"a cancellation led to {_list(before)} before, and would lead to {_list(after)} now"


def target_comes_first(old: Registration, new: Registration) -> str:
    """The replicas are the target in its order, then those that leave (KIP-455): that is how its order is kept.

    Read in ReplicationControlManager.changePartitionReassignment, not reproduced: a request that takes the place of
    another and removes nobody leaves ``removingReplicas`` as it was, so who was to leave still does. It shows here.
    """
    if not new.removing or kind_of(old, new) is not Kind.REQUEST:
        return ""
    tail = new.replicas[len(new.replicas) - len(new.removing) :]
    if frozenset(tail) == frozenset(new.removing):
        return ""
    return f"{_list(new.removing)} leave, but do not come last in {_list(new.replicas)}"


def completion_waits_for_target(old: Registration, new: Registration) -> str:
    """A reassignment is completed when its whole target is in sync (KIP-455; KAFKA-15665)."""
    if kind_of(old, new) is not Kind.COMPLETION:
        return ""
    missing = [broker for broker in new.replicas if broker not in new.isr]
    return f"the reassignment is completed, and {_list(missing)} are not in sync" if missing else ""


def cancellation_keeps_leader(old: Registration, new: Registration) -> str:
    """A cancellation takes no partition offline (KAFKA-14424)."""
    if old.leader == NO_LEADER or new.leader != NO_LEADER or kind_of(old, new) is not Kind.CANCELLATION:
        return ""
    return f"the reassignment is cancelled, and nobody leads; the leader was {old.leader}"


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
"""Rules of KIP-455 that Apache Kafka itself is known not to keep; they count only where one asks for it."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule that does not hold."""

    rule: str
    message: str


def broken(old: Registration | None, new: Registration, strict: bool = False) -> list[Broken]:
    """The rules that a partition breaks, and those that its change from ``old`` breaks, when there is an old one."""
    found = [Broken(rule.__name__, text) for rule in STATE_RULES if (text := rule(new))]
    if old is not None:
        rules = (*CHANGE_RULES, *DEVIATIONS) if strict else CHANGE_RULES
        found += [Broken(rule.__name__, text) for rule in rules if (text := rule(old, new))]
    return found


def _list(brokers: Iterable[int]) -> str:
    return f"[{','.join(str(broker) for broker in brokers)}]"
