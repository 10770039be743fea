"""What must hold of quorums that share their requests (KIP-595, "Vote": multi-raft; begin with quorum.py)."""

from __future__ import annotations

from floodmark import implies, invariant, reachable, transition
from model.kraft.batch import KraftBatch, Partition, Replica


@transition
def election_safety(old: KraftBatch, new: KraftBatch) -> bool:
    """Each epoch of a partition has one leader, ever (Raft, "Election Safety")."""
    return all(
        old.elected[partition][epoch] is None or new.elected[partition][epoch] == old.elected[partition][epoch]
        for partition in Partition
        for epoch in range(new.max_epoch + 1)
    )


@transition
def votes_once(old: KraftBatch, new: KraftBatch) -> bool:
    """Within an epoch of a partition a vote is kept until the leader is known (Raft, section 5.2)."""
    return all(
        implies(
            old.quorum_state[partition][replica].epoch == new.quorum_state[partition][replica].epoch
            and old.quorum_state[partition][replica].voted_key is not None
            and new.quorum_state[partition][replica].leader is None,
            old.quorum_state[partition][replica].voted_key == new.quorum_state[partition][replica].voted_key,
        )
        for partition in Partition
        for replica in Replica
    )


@transition
def epochs_never_decrease(old: KraftBatch, new: KraftBatch) -> bool:
    """A replica's epoch never falls, in any partition (RaftEventSimulationTest, MonotonicEpoch)."""
    return all(
        old.quorum_state[partition][replica].epoch <= new.quorum_state[partition][replica].epoch
        for partition in Partition
        for replica in Replica
    )


@transition
def votes_go_to_good_logs(old: KraftBatch, new: KraftBatch) -> bool:
    """A replica that gets a vote is in the voter's epoch of that partition, and has at least the voter's log of it
    (KIP-595, "Vote Request Handling").
    """
    return all(
        implies(
            new.quorum_state[partition][voter].voted_key == candidate
            and old.quorum_state[partition][voter].voted_key != candidate,
            new.log_end_offsets[partition][candidate] >= new.log_end_offsets[partition][voter]
            and new.quorum_state[partition][candidate].epoch == new.quorum_state[partition][voter].epoch,
        )
        for partition in Partition
        for voter in Replica
        for candidate in Replica
    )


@transition
def epochs_begin_with_candidates(old: KraftBatch, new: KraftBatch) -> bool:
    """A partition's epoch grows by an election of that partition, in which its leader does not stand, or by hearing of
    one (KIP-595, "Vote").
    """
    return all(
        implies(
            new.quorum_state[partition][replica].epoch > old.quorum_state[partition][replica].epoch,
            (replica in new.candidates[partition] and old.quorum_state[partition][replica].leader != replica)
            or any(
                old.quorum_state[partition][other].epoch >= new.quorum_state[partition][replica].epoch
                for other in Replica
            ),
        )
        for partition in Partition
        for replica in Replica
    )


@invariant
def candidates_vote_for_themselves(model: KraftBatch) -> bool:
    """A candidate has no leader, and its own vote (Kafka's QuorumState)."""
    return all(
        model.quorum_state[partition][candidate].voted_key == candidate
        and model.quorum_state[partition][candidate].leader is None
        for partition in Partition
        for candidate in model.candidates[partition]
    )


@invariant
def known_leader_was_elected(model: KraftBatch) -> bool:
    """A replica takes only one that was elected in the epoch for the leader of a partition's epoch (Raft, section
    5.2).
    """
    return all(
        model.elected[partition][model.quorum_state[partition][replica].epoch]
        == model.quorum_state[partition][replica].leader
        for partition in Partition
        for replica in Replica
        if model.quorum_state[partition][replica].leader is not None
    )


@reachable
def partitions_have_different_leaders(model: KraftBatch) -> bool:
    """Two partitions can be led by different replicas, in different epochs."""
    return any(
        model.quorum_state[one][replica].leader == replica
        and model.quorum_state[other][second].leader == second
        and one != other
        and replica != second
        and model.quorum_state[one][replica].epoch != model.quorum_state[other][second].epoch
        for one in Partition
        for other in Partition
        for replica in Replica
        for second in Replica
    )


@reachable
def one_request_is_granted_and_refused(model: KraftBatch) -> bool:
    """A voter can refuse a candidate in one partition and vote for it in the other."""
    return any(
        model.quorum_state[one][voter].voted_key == candidate
        and model.quorum_state[other][voter].voted_key is None
        and model.quorum_state[other][voter].leader is None
        and candidate in model.candidates[other]
        and model.quorum_state[other][voter].epoch == model.quorum_state[other][candidate].epoch
        and candidate != voter
        for one in Partition
        for other in Partition
        for voter in Replica
        for candidate in Replica
    )


@reachable
def leads_without_the_other_partition(model: KraftBatch) -> bool:
    """A replica can lead one partition without ever standing in the other: a request need not cover all."""
    return any(
        model.quorum_state[one][replica].leader == replica and model.quorum_state[other][replica].epoch == 0
        for one in Partition
        for other in Partition
        for replica in Replica
    )


@reachable
def vote_is_lost(model: KraftBatch) -> bool:
    """A candidate can have a vote that it has not received."""
    return any(
        model.quorum_state[partition][voter].voted_key == candidate
        and model.quorum_state[partition][voter].epoch == model.quorum_state[partition][candidate].epoch
        and voter != candidate
        for partition in Partition
        for voter in Replica
        for candidate in model.candidates[partition]
    )


@reachable
def later_epoch_is_heard_of(model: KraftBatch) -> bool:
    """A replica can join an epoch by a response: it would have voted for any that stands in it, and has not."""
    return any(
        model.quorum_state[partition][replica].epoch > 0
        and model.quorum_state[partition][replica].voted_key is None
        and model.quorum_state[partition][replica].leader is None
        and all(
            has_voted_for_good_log(model, partition, other, replica) for other in Replica if other != replica
        )
        for partition in Partition
        for replica in Replica
    )


def has_voted_for_good_log(model: KraftBatch, partition: Partition, voter: Replica, other: Replica) -> bool:
    """The voter has voted in the other's epoch, for a candidate that the other might also vote for."""
    candidate = model.quorum_state[partition][voter].voted_key
    return (
        model.quorum_state[partition][voter].epoch == model.quorum_state[partition][other].epoch
        and candidate is not None
        and model.log_end_offsets[partition][candidate] >= model.log_end_offsets[partition][other]
    )
