"""What followers, observers among them, know to be committed (begin with quorum.py).

That it is committed is `committed_records_agree` in quorum.py. Here is how they learn it, and that they do not forget.
"""

from __future__ import annotations

from floodmark import implies, reachable, transition
from invariants.kraft.quorum import epoch_of, leads, was_elected_later
from model.kraft.observers import KraftObservers
from model.kraft.quorum import Kraft, Replica, Role


@transition
def followers_never_forget_what_is_committed(old: Kraft, new: Kraft) -> bool:
    """The high watermark of a replica that does not lead falls only in a restart or a resignation (Kafka's
    FollowerState).
    """
    return all(
        implies(
            new.role[replica] not in (Role.LEADER, Role.RESIGNED) and new.restarts == old.restarts,
            new.high_watermark[replica] >= old.high_watermark[replica],
        )
        for replica in Replica
    )


@transition
def followers_learn_from_their_leader(old: Kraft, new: Kraft) -> bool:
    """A follower's high watermark rises no further than its leader's, in their epoch, and to that with each record
    that is committed already (KIP-595, "Fetch"). Where answers are late, the leader may have moved on meanwhile.
    """
    return all(
        implies(
            not leads(new, replica)
            and (
                new.high_watermark[replica] > old.high_watermark[replica]
                or len(new.logs[replica]) > len(old.logs[replica])
            ),
            knows_what_its_leader_knows(old, new, replica),
        )
        for replica in Replica
    )


def knows_what_its_leader_knows(old: Kraft, new: Kraft, follower: Replica) -> bool:
    """The follower's high watermark is its leader's, as far as its own log goes, or what it knew before."""
    return any(
        leads(new, leader)
        and new.quorum_state[follower] == new.quorum_state[leader]
        and new.high_watermark[follower]
        == max(old.high_watermark[follower], min(new.high_watermark[leader], len(new.logs[follower])))
        for leader in Replica
        if leader != follower
    )


@reachable
def observer_follows_a_zombie(model: KraftObservers) -> bool:
    """An observer can follow a leader that does not know of a later one, which has committed records (where there are
    observers)."""
    return model.observers == 0 or any(
        leads(model, leader)
        and was_elected_later(model, epoch_of(model, leader))
        and len(model.committed) > model.high_watermark[leader]
        and model.quorum_state[observer] == model.quorum_state[leader]
        for leader in Replica
        for observer in Replica
        if observer not in model.current_voters
    )


@reachable
def observer_leaves_a_leader_that_resigned(model: KraftObservers) -> bool:
    """An observer can follow the leader of a later epoch while its last one has only resigned (where there are
    observers)."""
    return model.observers == 0 or any(
        model.role[replica] == Role.RESIGNED
        and epoch_of(model, replica) < epoch_of(model, observer)
        and model.role[observer] == Role.FOLLOWER
        for replica in Replica
        for observer in Replica
        if observer not in model.current_voters
    )
