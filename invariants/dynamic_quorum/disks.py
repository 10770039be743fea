"""What must hold of KIP-853's directory ids. Begin with voters.py."""

from __future__ import annotations

from floodmark import invariant, reachable, transition
from invariants.dynamic_quorum.voters import committed_voters, leads
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


@transition
def lost_directory_is_silent(old: DynamicDisks, new: DynamicDisks) -> bool:
    """What a lost directory knew changes no more: a node that has another directory id answers INVALID_VOTER_KEY."""
    return all(
        new.quorum_state[replica] == old.quorum_state[replica]
        and new.logs[replica] == old.logs[replica]
        and new.role[replica] == old.role[replica]
        for replica in old.lost
    )


@transition
def joining_replica_follows_and_has_caught_up(old: DynamicDisks, new: DynamicDisks) -> bool:
    """Who joins by itself follows the leader that adds it, and has everything that this knows to be committed
    (``KafkaRaftClient.pollFollowerAsObserver``, ``LeaderState.isReplicaCaughtUp``).
    """
    return all(
        old.quorum_state[replica].leader == leader
        and old.logs[replica][: old.high_watermark[leader]] == old.logs[leader][: old.high_watermark[leader]]
        for leader in Replica
        for replica in Replica
        if new.joins > old.joins and replica in new.voter_set[leader] - old.voter_set[leader]
    )


@transition
def only_former_keys_are_removed_unasked(old: DynamicDisks, new: DynamicDisks) -> bool:
    """A leader removes a voter because an operator asks for it, or for another replica of the same node, which follows
    the leader and has found the former key among its own voters (``KafkaRaftClient.pollFollowerAsObserver``).
    """
    return all(
        any(
            replica != former
            and new.node[replica] == new.node[former]
            and old.quorum_state[replica].leader == leader
            and former in old.voter_set[replica]
            for replica in Replica
        )
        for leader in Replica
        for former in Replica
        if new.removes == old.removes
        and leads(old, leader)
        and leads(new, leader)
        and former in old.voter_set[leader] - new.voter_set[leader]
    )


@reachable
def node_is_voter_again(model: DynamicDisks) -> bool:
    """A node that has lost its disk can be a voter again."""
    return any(model.node[replica] != replica for replica in committed_voters(model))
