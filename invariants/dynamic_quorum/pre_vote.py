"""What must hold of KIP-853 with KIP-996. Begin with voters.py."""

from __future__ import annotations

from floodmark import invariant, reachable, transition
from invariants.dynamic_quorum.voters import epoch_of, leads
from model.dynamic_quorum.pre_vote import DynamicPreVote, RemovedWhileAway
from model.kraft.quorum import Replica, Role


@transition
def candidates_have_asked(old: DynamicPreVote, new: DynamicPreVote) -> bool:
    """Only a prospective replica becomes a candidate, or one that is its only voter (KIP-996)."""
    return all(
        old.role[replica] in (Role.PROSPECTIVE, Role.CANDIDATE, Role.LEADER) or len(old.voter_set[replica]) == 1
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
