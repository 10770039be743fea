"""What must hold of KIP-853's directory ids. Begin with voters.py."""

from __future__ import annotations

from floodmark import invariant, reachable, transition
from invariants.dynamic_quorum.voters import committed_voters
from model.dynamic_quorum.disks import DynamicDisks
from model.kraft.quorum import Replica


@invariant
def node_votes_with_one_key(model: DynamicDisks) -> bool:
    """A voter set has one key of a node (``VoterSet``)."""
    return all(
        one == other or model.node[one] != model.node[other]
        for replica in Replica
        for one in model.voter_set[replica]
        for other in model.voter_set[replica]
    )


@transition
def removed_voter_stays_out(old: DynamicDisks, new: DynamicDisks) -> bool:
    """A replica that was removed becomes a voter again only if an operator adds it (KAFKA-19850)."""
    return all(
        replica not in new.voter_set[leader]
        or replica in old.voter_set[leader]
        or new.joins == old.joins
        or all(entry.voters is None or replica not in entry.voters for entry in old.logs[leader])
        for leader in Replica
        for replica in Replica
    )


@reachable
def node_is_voter_again(model: DynamicDisks) -> bool:
    """A node that has lost its disk can be a voter again."""
    return any(model.node[replica] != replica for replica in committed_voters(model))
