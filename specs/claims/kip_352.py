"""KIP-352: four definitions of an under-replicated partition during a reassignment, and which implies which.

The replicas of a partition are those from before and those being added; ``adding`` and ``removing`` are KIP-455's.
"""

from __future__ import annotations

from floodmark import Identifier, Set, implies, require
from floodmark.claims import fails, holds
from model.replica_sets import is_consistent, origin, target


class Broker(Identifier, count=8, prefix=""):
    """One of up to eight brokers."""


def before_the_kip(replicas: Set[Broker], isr: Set[Broker]) -> bool:
    """Fewer in sync than there are replicas, including those that are being added."""
    return len(replicas) > len(isr)


def fourth_draft(replicas: Set[Broker], adding: Set[Broker], isr: Set[Broker]) -> bool:
    """Some current replica is not in sync."""
    return not origin(replicas, adding) <= isr


def later_draft(replicas: Set[Broker], adding: Set[Broker], isr: Set[Broker]) -> bool:
    """Fewer in sync than replicas, the added ones left out of both."""
    return len(replicas - adding) > len(isr - adding)


def as_adopted(replicas: Set[Broker], adding: Set[Broker], isr: Set[Broker]) -> bool:
    """Fewer in sync, whichever they are, than there were replicas (KAFKA-8834)."""
    return len(origin(replicas, adding)) > len(isr)


def against_the_target(replicas: Set[Broker], removing: Set[Broker], isr: Set[Broker]) -> bool:
    """Some replica of the new assignment is not in sync."""
    return not target(replicas, removing) <= isr


def is_partition(replicas: Set[Broker], adding: Set[Broker], removing: Set[Broker], isr: Set[Broker]) -> bool:
    return is_consistent(replicas, adding, removing) and len(isr) > 0 and isr <= replicas


@holds("KIP-352, fourth and later draft")
def drafts_are_one_definition(
    replicas: Set[Broker], adding: Set[Broker], removing: Set[Broker], isr: Set[Broker]
) -> bool:
    """The fourth draft and the later one say the same."""
    require(is_partition(replicas, adding, removing, isr))
    return fourth_draft(replicas, adding, isr) == later_draft(replicas, adding, isr)


@holds("KIP-352, as adopted")
def adopted_implies_draft(replicas: Set[Broker], adding: Set[Broker], removing: Set[Broker], isr: Set[Broker]) -> bool:
    require(is_partition(replicas, adding, removing, isr))
    return implies(as_adopted(replicas, adding, isr), fourth_draft(replicas, adding, isr))


@fails("KIP-352, as adopted: added replicas in sync hide a missing one")
def draft_implies_adopted(replicas: Set[Broker], adding: Set[Broker], removing: Set[Broker], isr: Set[Broker]) -> bool:
    require(is_partition(replicas, adding, removing, isr))
    return implies(fourth_draft(replicas, adding, isr), as_adopted(replicas, adding, isr))


@fails("KIP-352, Motivation")
def former_implies_adopted(replicas: Set[Broker], adding: Set[Broker], removing: Set[Broker], isr: Set[Broker]) -> bool:
    require(is_partition(replicas, adding, removing, isr))
    return implies(before_the_kip(replicas, isr), as_adopted(replicas, adding, isr))


@fails("KIP-352, Motivation")
def former_implies_draft(replicas: Set[Broker], adding: Set[Broker], removing: Set[Broker], isr: Set[Broker]) -> bool:
    require(is_partition(replicas, adding, removing, isr))
    return implies(before_the_kip(replicas, isr), fourth_draft(replicas, adding, isr))


@holds("KIP-352, fourth draft")
def draft_implies_former(replicas: Set[Broker], adding: Set[Broker], removing: Set[Broker], isr: Set[Broker]) -> bool:
    """No draft raises an alarm where the metric did not raise one before."""
    require(is_partition(replicas, adding, removing, isr))
    return implies(fourth_draft(replicas, adding, isr), before_the_kip(replicas, isr))


@fails("KIP-352: the impending replicas")
def adopted_implies_target_view(
    replicas: Set[Broker], adding: Set[Broker], removing: Set[Broker], isr: Set[Broker]
) -> bool:
    require(is_partition(replicas, adding, removing, isr))
    return implies(as_adopted(replicas, adding, isr), against_the_target(replicas, removing, isr))


@fails("KIP-352: the impending replicas")
def target_view_implies_adopted(
    replicas: Set[Broker], adding: Set[Broker], removing: Set[Broker], isr: Set[Broker]
) -> bool:
    require(is_partition(replicas, adding, removing, isr))
    return implies(against_the_target(replicas, removing, isr), as_adopted(replicas, adding, isr))


@holds("KIP-352, as adopted")
def adopted_implies_former(replicas: Set[Broker], adding: Set[Broker], removing: Set[Broker], isr: Set[Broker]) -> bool:
    require(is_partition(replicas, adding, removing, isr))
    return implies(as_adopted(replicas, adding, isr), before_the_kip(replicas, isr))


@holds("KIP-352: the impending replicas")
def target_view_implies_former(
    replicas: Set[Broker], adding: Set[Broker], removing: Set[Broker], isr: Set[Broker]
) -> bool:
    require(is_partition(replicas, adding, removing, isr))
    return implies(against_the_target(replicas, removing, isr), before_the_kip(replicas, isr))


@fails("KIP-352: the impending replicas")
def former_implies_target_view(
    replicas: Set[Broker], adding: Set[Broker], removing: Set[Broker], isr: Set[Broker]
) -> bool:
    require(is_partition(replicas, adding, removing, isr))
    return implies(before_the_kip(replicas, isr), against_the_target(replicas, removing, isr))


@fails("KIP-352: current and impending replicas")
def draft_implies_target_view(
    replicas: Set[Broker], adding: Set[Broker], removing: Set[Broker], isr: Set[Broker]
) -> bool:
    require(is_partition(replicas, adding, removing, isr))
    return implies(fourth_draft(replicas, adding, isr), against_the_target(replicas, removing, isr))


@fails("KIP-352: current and impending replicas")
def target_view_implies_draft(
    replicas: Set[Broker], adding: Set[Broker], removing: Set[Broker], isr: Set[Broker]
) -> bool:
    require(is_partition(replicas, adding, removing, isr))
    return implies(against_the_target(replicas, removing, isr), fourth_draft(replicas, adding, isr))


@holds("KIP-352, later draft: the added replicas are left out of both")
def later_draft_masks_nothing(
    replicas: Set[Broker], adding: Set[Broker], removing: Set[Broker], isr: Set[Broker]
) -> bool:
    require(is_partition(replicas, adding, removing, isr))
    return implies(not origin(replicas, adding) <= isr, later_draft(replicas, adding, isr))


@fails("KIP-352, Motivation: the problem that the KIP solves")
def former_gives_no_false_alarm(
    replicas: Set[Broker], adding: Set[Broker], removing: Set[Broker], isr: Set[Broker]
) -> bool:
    """While every replica from before is in sync, the partition does not count."""
    require(is_partition(replicas, adding, removing, isr) and origin(replicas, adding) <= isr)
    return not before_the_kip(replicas, isr)


@holds("KIP-352, all drafts")
def kip_gives_no_false_alarm(
    replicas: Set[Broker], adding: Set[Broker], removing: Set[Broker], isr: Set[Broker]
) -> bool:
    require(is_partition(replicas, adding, removing, isr) and origin(replicas, adding) <= isr)
    return not (
        fourth_draft(replicas, adding, isr) or later_draft(replicas, adding, isr) or as_adopted(replicas, adding, isr)
    )


@fails("KIP-352, as adopted: the smallest case that shows it with every new replica added, not exchanged")
def adopted_masks_nothing(replicas: Set[Broker], adding: Set[Broker], removing: Set[Broker], isr: Set[Broker]) -> bool:
    """Three replicas, one more being added: if an original one is out of sync, the partition counts."""
    require(is_partition(replicas, adding, removing, isr) and len(origin(replicas, adding)) == 3)
    return implies(not origin(replicas, adding) <= isr, as_adopted(replicas, adding, isr))


@holds("KIP-352, Proposed Changes")
def definitions_agree_without_reassignment(replicas: Set[Broker], isr: Set[Broker]) -> bool:
    require(is_partition(replicas, Set[Broker](), Set[Broker](), isr))
    former = before_the_kip(replicas, isr)
    return (
        fourth_draft(replicas, Set[Broker](), isr) == former
        and later_draft(replicas, Set[Broker](), isr) == former
        and as_adopted(replicas, Set[Broker](), isr) == former
    )


@holds("KIP-352, Proposed Changes")
def losing_a_member_never_ends_the_alarm(
    replicas: Set[Broker], adding: Set[Broker], removing: Set[Broker], isr: Set[Broker], lost: Broker
) -> bool:
    require(is_partition(replicas, adding, removing, isr) and len(isr - {lost}) > 0)
    left = isr - {lost}
    return (
        implies(before_the_kip(replicas, isr), before_the_kip(replicas, left))
        and implies(fourth_draft(replicas, adding, isr), fourth_draft(replicas, adding, left))
        and implies(later_draft(replicas, adding, isr), later_draft(replicas, adding, left))
        and implies(as_adopted(replicas, adding, isr), as_adopted(replicas, adding, left))
    )


@holds("KIP-352, Proposed Changes")
def gaining_a_member_never_starts_the_alarm(
    replicas: Set[Broker], adding: Set[Broker], removing: Set[Broker], isr: Set[Broker], gained: Broker
) -> bool:
    require(is_partition(replicas, adding, removing, isr) and gained in replicas)
    more = isr | {gained}
    return (
        implies(before_the_kip(replicas, more), before_the_kip(replicas, isr))
        and implies(fourth_draft(replicas, adding, more), fourth_draft(replicas, adding, isr))
        and implies(later_draft(replicas, adding, more), later_draft(replicas, adding, isr))
        and implies(as_adopted(replicas, adding, more), as_adopted(replicas, adding, isr))
    )


@holds("KIP-352: a smaller replication factor")
def missing_replica_counts_until_it_is_removed(replicas: Set[Broker], removing: Set[Broker], isr: Set[Broker]) -> bool:
    """While replicas are only removed, one that is out of sync counts, although the target no longer needs it."""
    require(is_partition(replicas, Set[Broker](), removing, isr) and len(removing) > 0)
    require(target(replicas, removing) <= isr and isr < replicas)
    return (
        as_adopted(replicas, Set[Broker](), isr)
        and fourth_draft(replicas, Set[Broker](), isr)
        and not against_the_target(replicas, removing, isr)
    )


@holds("KIP-352, Metrics")
def under_min_isr_means_under_replicated(
    replicas: Set[Broker], adding: Set[Broker], removing: Set[Broker], isr: Set[Broker], min_insync_replicas: int
) -> bool:
    """A partition below min.insync.replicas is under-replicated, by every definition."""
    require(is_partition(replicas, adding, removing, isr))
    require(len(isr) < min_insync_replicas and min_insync_replicas <= len(origin(replicas, adding)))
    return (
        before_the_kip(replicas, isr)
        and fourth_draft(replicas, adding, isr)
        and later_draft(replicas, adding, isr)
        and as_adopted(replicas, adding, isr)
    )


@fails("KIP-352 under KRaft: a second reassignment takes every replica for the origin")
def kraft_override_gives_no_false_alarm(
    replicas: Set[Broker], adding: Set[Broker], removing: Set[Broker], isr: Set[Broker], wanted: Set[Broker]
) -> bool:
    """After a second reassignment the partition does not count while the replicas from before the first are in sync."""
    require(is_partition(replicas, adding, removing, isr) and origin(replicas, adding) <= isr and len(wanted) > 0)
    again = wanted - replicas
    return not as_adopted(replicas | wanted, again, isr)
