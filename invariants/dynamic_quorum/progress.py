"""The liveness of KIP-853. Begin with voters.py."""

from __future__ import annotations

from floodmark import Set, leads_to
from invariants.dynamic_quorum.voters import committed_voters, leads
from model.dynamic_quorum.progress import DynamicProgress
from model.kraft.quorum import Replica


def alive(model: DynamicProgress) -> Set[Replica]:
    return Set(Replica) - model.stopped


def enough_are_alive(model: DynamicProgress) -> bool:
    """A majority of every voter set that a running replica knows, committed or not."""
    return model.is_majority(alive(model), committed_voters(model)) and all(
        model.is_majority(alive(model), model.voter_set[replica])
        for replica in Replica
        if replica not in model.stopped and len(model.voter_set[replica]) > 0
    )


def is_followed(model: DynamicProgress, leader: Replica) -> bool:
    """The replica leads, and a majority of the voters that it knows fetch from it."""
    followers = Set(
        replica
        for replica in Replica
        if replica == leader
        or (
            replica not in model.stopped
            and model.quorum_state[replica].leader == leader
            and model.quorum_state[replica].epoch == model.quorum_state[leader].epoch
        )
    )
    return leads(model, leader) and model.is_majority(followers, model.voter_set[leader])


@leads_to
def quorum_gets_leader(model: DynamicProgress) -> tuple[bool, bool]:
    """While a majority of the voters is alive, there is eventually a leader, also in the middle of a change (V853,
    EventuallyLeaderElected).
    """
    followed = any(is_followed(model, replica) for replica in Replica)
    return enough_are_alive(model) and not followed, not enough_are_alive(model) or followed


def is_settled(model: DynamicProgress) -> bool:
    """Every VotersRecord in the log of a running replica is committed, and known to be so by the leader."""
    return all(
        entry.voters is None or (offset < len(model.committed) and model.committed[offset] == entry)
        for replica in Replica
        if replica not in model.stopped
        for offset, entry in enumerate(model.logs[replica])
    )


@leads_to
def change_is_settled(model: DynamicProgress) -> tuple[bool, bool]:
    """A change that a leader has accepted is committed, or it is taken back (V853, ReconfigurationNotStuck)."""
    return enough_are_alive(model) and not is_settled(model), not enough_are_alive(model) or is_settled(model)


@leads_to
def removed_leader_stops(model: DynamicProgress, leader: Replica) -> tuple[bool, bool]:
    """A leader that has removed itself does not lead for ever."""
    removed = enough_are_alive(model) and leads(model, leader) and not model.is_voter(leader)
    return removed, not removed


@leads_to
def removed_voter_learns_of_it(model: DynamicProgress, replica: Replica) -> tuple[bool, bool]:
    """Who is no voter any more learns it from the log (KAFKA-17030)."""
    mistaken = (
        enough_are_alive(model)
        and replica not in model.stopped
        and model.is_voter(replica)
        and replica not in committed_voters(model)
    )
    return mistaken, not mistaken


@leads_to
def added_voter_learns_of_it(model: DynamicProgress, replica: Replica) -> tuple[bool, bool]:
    """Who has become a voter learns it from the log."""
    unaware = (
        enough_are_alive(model)
        and replica not in model.stopped
        and not model.is_voter(replica)
        and replica in committed_voters(model)
    )
    return unaware, not unaware
