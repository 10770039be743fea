"""The liveness that KIP-595 and KIP-996 promise. Begin with quorum.py."""

from __future__ import annotations

from floodmark import leads_to
from model.kraft.progress import KraftPreVoteProgress, KraftProgress
from model.kraft.quorum import Kraft, Replica, Role


@leads_to
def leader_that_is_cut_off_stops(model: KraftProgress, replica: Replica) -> tuple[bool, bool]:
    """A leader that no majority can fetch from resigns (KIP-595, "Leader Progress Timeout"; KAFKA-15489)."""
    cut_off = model.cut_off == replica and model.role[replica] == Role.LEADER
    return cut_off, not cut_off


@leads_to
def voter_learns_of_leader(model: KraftProgress, leader: Replica, voter: Replica) -> tuple[bool, bool]:
    """A leader announces itself until every voter that it reaches has answered (KIP-595, "BeginQuorumEpoch")."""
    reigns = model.role[leader] == Role.LEADER and model.cut_off is None and voter != leader
    return reigns and not knows(model, leader, voter), not reigns or knows(model, leader, voter)


def knows(model: Kraft, leader: Replica, voter: Replica) -> bool:
    """Whether a voter follows a leader, or has gone on to a later epoch."""
    epoch = model.quorum_state[leader].epoch
    state = model.quorum_state[voter]
    return state.epoch > epoch or (state.epoch == epoch and state.leader == leader)


@leads_to
def nobody_is_prospective_for_ever(model: KraftPreVoteProgress, replica: Replica) -> tuple[bool, bool]:
    """A replica that asks for pre-votes becomes a candidate, or gives up (KIP-996)."""
    return model.role[replica] == Role.PROSPECTIVE, model.role[replica] != Role.PROSPECTIVE


@leads_to
def majority_without_leader_campaigns(model: KraftPreVoteProgress) -> tuple[bool, bool]:
    """Voters whose leader is partitioned do not refuse each other forever (KIP-996; KAFKA-17641)."""
    return waits_in_vain(model), not waits_in_vain(model)


def waits_in_vain(model: KraftPreVoteProgress) -> bool:
    """The leader of the first epoch is partitioned, all others still name it, and there is room for another epoch."""
    return all(
        model.role[replica] != Role.LEADER
        and model.quorum_state[replica].epoch == 1
        and model.quorum_state[replica].leader == model.cut_off
        and len(model.logs[replica]) < model.max_log
        for replica in Replica
        if replica != model.cut_off
    ) and model.cut_off is not None


@leads_to
def record_is_committed_or_dropped(model: KraftProgress, leader: Replica) -> tuple[bool, bool]:
    """While a leader keeps its epoch, every record in any log is eventually committed or truncated (KIP-595,
    "Fetch")."""
    reigns = model.role[leader] == Role.LEADER and model.cut_off is None
    settled = all(model.logs[replica] == model.committed[: len(model.logs[replica])] for replica in Replica)
    return reigns and not settled, not reigns or settled


@leads_to
def observer_finds_leader(model: KraftProgress, leader: Replica, observer: Replica) -> tuple[bool, bool]:
    """An observer asks voters until one of them tells it who leads (KIP-595, "Fetch"; KAFKA-16530)."""
    reigns = model.role[leader] == Role.LEADER and model.cut_off is None and observer not in model.current_voters
    return reigns and not knows(model, leader, observer), not reigns or knows(model, leader, observer)
