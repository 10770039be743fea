"""KIP-853: voter sets of which one follows the other, and what their majorities have in common."""

from __future__ import annotations

from floodmark import Identifier, Set, require
from floodmark.claims import fails, holds


class Voter(Identifier, count=5, prefix=""):
    """One of up to five replica keys."""


def majority(voters: int) -> int:
    return voters // 2 + 1


@holds("KIP-853, AddVoter and RemoveVoter")
def majorities_around_one_change_meet(voters: int, before: int, after: int) -> bool:
    """One voter more, for every number of voters; or, read backwards, one fewer. All of them together are the larger
    set, and a majority of each is more than that.
    """
    require(voters > 0 and before >= majority(voters) and after >= majority(voters + 1))
    return before + after > voters + 1


@holds("KIP-853, AddVoter and RemoveVoter")
def majorities_around_one_change_share_a_voter(
    voters: Set[Voter], changed: Voter, before: Set[Voter], after: Set[Voter]
) -> bool:
    """The same for sets."""
    require(changed not in voters and before <= voters and after <= voters | {changed})
    require(len(before) >= majority(len(voters)) and len(after) >= majority(len(voters) + 1))
    return len(before & after) > 0


@fails("KIP-853, rejected alternatives: two changes at once")
def majorities_around_two_changes_share_a_voter(
    voters: Set[Voter], first: Voter, second: Voter, before: Set[Voter], after: Set[Voter]
) -> bool:
    require(first not in voters and second not in voters and first != second and len(voters) > 0)
    require(before <= voters and after <= voters | {first, second})
    require(len(before) >= majority(len(voters)) and len(after) >= majority(len(voters) + 2))
    return len(before & after) > 0


@fails("KIP-853: two leaders that each add or remove a voter of one set (Ongaro on raft-dev)")
def majorities_of_two_changes_share_a_voter(
    voters: Set[Voter], first: Voter, second: Voter, one: Set[Voter], other: Set[Voter]
) -> bool:
    """Each of the two sets is one change away from the same set."""
    require(first in voters and second in voters and first != second)
    require(one <= voters - {first} and other <= voters - {second})
    require(len(one) >= majority(len(voters) - 1) and len(other) >= majority(len(voters) - 1))
    return len(one & other) > 0


def has_overlapping_majority(one: Set[Voter], other: Set[Voter]) -> bool:
    """``VoterSet.hasOverlappingMajority`` of Kafka: each set has at most one voter that the other lacks."""
    return len(one - other) <= 1 and len(other - one) <= 1


@fails("Kafka, VoterSet.hasOverlappingMajority: one voter replaced by another")
def overlapping_majorities_share_a_voter(
    one: Set[Voter], other: Set[Voter], first: Set[Voter], second: Set[Voter]
) -> bool:
    """Its comment says: "for all majorities in this set of voters and for all majority in that set of voters, they have
    at least one voter in common".
    """
    require(len(one) >= 3 and len(other) >= 3 and has_overlapping_majority(one, other))
    require(first <= one and len(first) >= majority(len(one)))
    require(second <= other and len(second) >= majority(len(other)))
    return len(first & second) > 0


@holds("KIP-853, a change that is taken back")
def what_a_changed_set_committed_reaches_every_majority(
    voters: Set[Voter], changed: Voter, holders: Set[Voter], electors: Set[Voter]
) -> bool:
    """A record that a majority of the changed voters has, with a voter fewer, is known to every majority of the voters
    before: the change may be taken back.
    """
    require(changed in voters and len(voters) > 1)
    require(holders <= voters - {changed} and len(holders) >= majority(len(voters) - 1))
    require(electors <= voters and len(electors) >= majority(len(voters)))
    return len(holders & electors) > 0


@fails("KIP-853, a change that is taken back: a majority has every committed record")
def what_a_changed_set_committed_has_a_majority(voters: Set[Voter], changed: Voter, holders: Set[Voter]) -> bool:
    """It need not be a majority of them: half of an even number is enough."""
    require(changed in voters and len(voters) > 1)
    require(holders <= voters - {changed} and len(holders) >= majority(len(voters) - 1))
    return len(holders) >= majority(len(voters))
