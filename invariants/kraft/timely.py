"""Who may depose a leader, where timers expire for a reason (begin with quorum.py)."""

from __future__ import annotations

from floodmark import Set, implies, reachable, transition
from invariants.kraft.quorum import epoch_of, leads, was_elected_later
from model.kraft.quorum import Epoch, Replica, Role
from model.kraft.timely import KraftTimely


def is_followed(model: KraftTimely, leader: Replica) -> bool:
    """A majority of the voters, the leader counted, fetches from it, and none of these has a reason to stop."""
    followers = Set(voter for voter in Replica if model.can_fetch(voter, leader) and model.has_news(voter))
    return leads(model, leader) and model.is_majority(followers | {leader})


def latest_epoch(model: KraftTimely) -> Epoch:
    """The latest epoch that anybody is in."""
    return max(epoch_of(model, replica) for replica in Replica)


@transition
def followed_leader_stays(old: KraftTimely, new: KraftTimely) -> bool:
    """While a majority fetches from the leader of the latest epoch, it leads, and no replica begins a later epoch,
    which would depose it: not a voter that was partitioned, not an earlier leader, not an observer (KIP-996; KIP-595,
    "Leader Progress Timeout").
    """
    return all(
        implies(
            is_followed(old, leader) and epoch_of(old, leader) == latest_epoch(old),
            leads(new, leader) and latest_epoch(new) == latest_epoch(old),
        )
        for leader in Replica
    )


@reachable
def earlier_leader_is_back(model: KraftTimely) -> bool:
    """A leader that was partitioned can return, as a zombie, while a later leader has followers (where the network
    partitions)."""
    return not model.partitions or any(
        model.role[zombie] in (Role.LEADER, Role.RESIGNED)
        and was_elected_later(model, epoch_of(model, zombie))
        and model.cut_off is None
        and any(is_followed(model, leader) for leader in Replica)
        for zombie in Replica
    )


@reachable
def later_leader_is_followed(model: KraftTimely) -> bool:
    """The leader of the last epoch can have followers (where the network partitions)."""
    return not model.partitions or any(
        is_followed(model, leader) and epoch_of(model, leader) == model.max_epoch for leader in Replica
    )


@reachable
def observer_has_found_the_leader(model: KraftTimely) -> bool:
    """An observer can find the leader, and have all that is committed (where there are observers)."""
    return model.observers == 0 or any(
        model.role[observer] == Role.FOLLOWER and model.high_watermark[observer] == model.max_log
        for observer in Replica
        if observer not in model.current_voters
    )
