"""What must hold of KIP-853 with KIP-996. Begin with voters.py."""

from __future__ import annotations

from floodmark import Set, implies, invariant, reachable, transition
from invariants.dynamic_quorum.voters import epoch_of, leads
from model.dynamic_quorum.pre_vote import DynamicPreVote, RemovedWhileAway
from model.kraft.quorum import Replica, Role


@transition
def candidates_have_asked(old: DynamicPreVote, new: DynamicPreVote) -> bool:
    """Only a prospective replica becomes a candidate, or one that is its only voter, except by a restart (KIP-996)."""
    return all(
        old.role[replica] in (Role.PROSPECTIVE, Role.CANDIDATE, Role.LEADER)
        or len(old.voter_set[replica]) == 1
        or new.restarts > old.restarts
        for replica in Replica
        if new.role[replica] in (Role.CANDIDATE, Role.LEADER)
    )


@transition
def votes_once(old: DynamicPreVote, new: DynamicPreVote) -> bool:
    """A vote is kept for its epoch, also beside the leader and across restarts."""
    return all(
        epoch_of(new, replica) != epoch_of(old, replica)
        or old.quorum_state[replica].voted_key is None
        or new.quorum_state[replica].voted_key == old.quorum_state[replica].voted_key
        or leads(new, replica)
        for replica in Replica
    )


@transition
def candidates_could_win(old: DynamicPreVote, new: DynamicPreVote) -> bool:
    """Who becomes a candidate is no staler than a majority of its voters, all of whom miss their leader, too (KIP-996).

    Among up to three voters: with more, those that agreed earlier may have moved on.
    """
    return all(
        implies(
            old.role[replica] == Role.PROSPECTIVE
            and new.role[replica] in (Role.CANDIDATE, Role.LEADER)
            and new.restarts == old.restarts
            and len(old.voter_set[replica]) <= 3,
            new.is_majority(
                Set(
                    voter
                    for voter in Replica
                    if voter == replica
                    or (
                        old.is_up_to_date(replica, voter)
                        and epoch_of(new, voter) <= epoch_of(old, replica)
                        and not leads(new, voter)
                        and voter not in new.has_fetched
                    )
                ),
                old.voter_set[replica],
            ),
        )
        for replica in Replica
    )


@transition
def followers_remember_their_fetches(old: DynamicPreVote, new: DynamicPreVote) -> bool:
    """A follower whose log has changed has fetched, and no longer misses its leader while it follows it; only followers
    have, from the leader that they know (KIP-996; KAFKA-17641).
    """
    return all(
        implies(
            new.role[replica] == Role.FOLLOWER
            and new.logs[replica] != old.logs[replica]
            and new.restarts == old.restarts,
            replica in new.has_fetched,
        )
        and implies(replica in new.has_fetched, new.role[replica] == Role.FOLLOWER)
        and implies(
            replica in old.has_fetched
            and new.role[replica] == Role.FOLLOWER
            and epoch_of(new, replica) == epoch_of(old, replica)
            and new.restarts == old.restarts,
            replica in new.has_fetched,
        )
        and implies(
            replica in new.has_fetched - old.has_fetched,
            any(
                leads(old, leader)
                and old.quorum_state[replica].leader == leader
                and epoch_of(old, leader) == epoch_of(old, replica)
                for leader in Replica
            ),
        )
        for replica in Replica
    )


@invariant
def removed_voter_deposes_nobody(model: RemovedWhileAway) -> bool:
    """A voter that was removed while it was away does not depose the leader that the others follow (KIP-853)."""
    return all(epoch_of(model, replica) <= 1 for replica in Replica if replica != model.away)


@reachable
def removed_voter_asks(model: RemovedWhileAway) -> bool:
    """It can be back before it knows of its removal, and miss its leader."""
    return any(
        replica == model.away and model.role[replica] == Role.PROSPECTIVE and not model.is_cut_off(replica)
        for replica in Replica
    )
