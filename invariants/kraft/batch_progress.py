"""What must come of a vote in quorums that share their requests (KIP-595, "Vote"). Begin with quorum.py."""

from __future__ import annotations

from floodmark import leads_to
from model.kraft.batch import KraftBatch, Partition, Replica


def stand_together(model: KraftBatch, partition: Partition, candidate: Replica, voter: Replica) -> bool:
    """Whether a voter is in the epoch in which another replica is a candidate."""
    states = model.quorum_state[partition]
    return (
        candidate in model.candidates[partition]
        and candidate != voter
        and states[candidate].epoch == states[voter].epoch
    )


@leads_to
def vote_is_heard_of(
    model: KraftBatch, partition: Partition, candidate: Replica, voter: Replica
) -> tuple[bool, bool]:
    """A voter repeats its vote to a candidate that asks again, because the answer was lost."""
    unheard = (
        stand_together(model, partition, candidate, voter)
        and model.quorum_state[partition][voter].voted_key == candidate
    )
    return unheard, not unheard


@leads_to
def free_vote_is_given(
    model: KraftBatch, partition: Partition, candidate: Replica, voter: Replica
) -> tuple[bool, bool]:
    """A voter that has joined an epoch, and knows no leader in it, votes in it."""
    state = model.quorum_state[partition][voter]
    free = (
        stand_together(model, partition, candidate, voter)
        and state.leader is None
        and state.voted_key is None
        and model.log_end_offsets[partition][candidate] >= model.log_end_offsets[partition][voter]
    )
    return free, not free
