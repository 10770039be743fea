"""What must hold of KIP-853's snapshots. Begin with voters.py."""

from __future__ import annotations

from floodmark import implies, invariant, reachable, transition
from invariants.dynamic_quorum.voters import leads
from model.dynamic_quorum.snapshots import DynamicSnapshots
from model.kraft.quorum import Replica


@invariant
def snapshots_are_committed(model: DynamicSnapshots) -> bool:
    """What is left to a snapshot is committed (simulation, SnapshotAtLogStart)."""
    return all(
        model.logs[replica][: model.log_start[replica]] == model.committed[: model.log_start[replica]]
        for replica in Replica
    )


@transition
def log_start_never_decreases(old: DynamicSnapshots, new: DynamicSnapshots) -> bool:
    """What a log has left to a snapshot does not come back (KIP-630)."""
    return all(new.log_start[replica] >= old.log_start[replica] for replica in Replica)


@transition
def records_come_from_a_log_that_has_them(old: DynamicSnapshots, new: DynamicSnapshots) -> bool:
    """A follower whose log changes where its leader's begins, or later, fetched records; one whose log changes before
    has got a snapshot, and begins where that ends (``ReplicatedLog.validateOffsetAndEpoch``).
    """
    return all(
        implies(
            old.log_start[leader] > 0
            and new.quorum_state[replica].leader == leader
            and new.log_start[replica] == old.log_start[replica],
            old.logs[replica][: old.log_start[leader]] == new.logs[replica][: old.log_start[leader]],
        )
        for replica in Replica
        for leader in Replica
    )


@transition
def snapshot_comes_from_the_leader(old: DynamicSnapshots, new: DynamicSnapshots) -> bool:
    """A follower fetches a snapshot from the leader of its epoch, if it lacks something in it, and knows then that what
    is in it is committed (``KafkaRaftClient.handleFetchSnapshotResponse``).
    """
    return all(
        implies(
            new.log_start[replica] > old.log_start[replica] and not leads(old, replica),
            old.logs[replica][: new.log_start[replica]] != new.logs[replica][: new.log_start[replica]]
            and new.high_watermark[replica] >= new.log_start[replica]
            and any(
                leads(old, leader)
                and old.quorum_state[replica].leader == leader
                and old.log_start[leader] == new.log_start[replica]
                for leader in Replica
            ),
        )
        for replica in Replica
    )


@reachable
def snapshot_makes_a_voter(model: DynamicSnapshots) -> bool:
    """A replica can learn from a snapshot alone that it is a voter."""
    return any(
        model.log_start[replica] == len(model.logs[replica])
        and model.is_voter(replica)
        and len(model.logs[replica]) > 1
        for replica in Replica
    )
