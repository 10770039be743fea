"""What KIP-595 promises of elections, once a majority is connected for good. Begin with quorum.py."""

from __future__ import annotations

from floodmark import Set, eventually_always, invariant
from model.kraft.elections import Elections, Role, Voter


@eventually_always
def majority_knows_leader(model: Elections) -> bool:
    """There is a leader, for good, and a majority follows it."""
    return not model.settled or any(
        model.states[leader].role == Role.LEADER and model.is_majority(followers(model, leader)) for leader in Voter
    )


def followers(model: Elections, leader: Voter) -> Set[Voter]:
    """Who knows a leader in its epoch, itself included."""
    epoch = model.states[leader].epoch
    return Set(voter for voter in Voter if model.states[voter].leader == leader and model.states[voter].epoch == epoch)


@eventually_always
def nobody_stands_for_ever(model: Elections) -> bool:
    """Every connected voter eventually leads or follows."""
    return not model.settled or all(
        model.states[voter].role in (Role.LEADER, Role.FOLLOWER) for voter in Voter if model.takes_part(voter)
    )


@invariant
def epoch_has_one_leader(model: Elections) -> bool:
    """As in quorum.py: no two lead in one epoch."""
    return all(
        not (model.states[first].role == Role.LEADER and model.states[second].role == Role.LEADER)
        or model.states[first].epoch != model.states[second].epoch
        for first in Voter
        for second in Voter
        if first != second
    )
