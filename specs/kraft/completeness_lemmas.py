"""Lemmas for proving that KIP-595's leaders have what was committed, besides invariants/kraft/quorum_lemmas.py.

The argument is Raft's (Ongaro and Ousterhout, section 5.4.3), said of single states. What a leader may still commit, a
later leader has: for it needs the vote of somebody who has acknowledged it, and who votes for no log that is behind its
own. If it does not have it, a majority has moved on without acknowledging it, so it is never committed. What is
committed is known in the same way, whether or not the leader that committed it still leads.
"""

from __future__ import annotations

from floodmark import Set, implies, lemma
from invariants.kraft.quorum import agree, epoch_of, holds_committed, last_committed_epoch, leads
from model.kraft.quorum import Kraft, Replica, Role


def acknowledged(model: Kraft, leader: Replica, voter: Replica, end: int) -> bool:
    """As far as the leader knows, the voter has flushed its log up to there."""
    return model.end_offset(leader, voter) >= end


def is_overtaken(model: Kraft, leader: Replica, end: int) -> bool:
    """A majority has joined a later epoch without having acknowledged so much, so the leader never commits it."""
    return model.is_majority(
        Set(
            voter
            for voter in Replica
            if epoch_of(model, voter) > epoch_of(model, leader) and not acknowledged(model, leader, voter, end)
        )
    )


def has_voted_for(model: Kraft, voter: Replica, candidate: Replica) -> bool:
    """The candidate has the voter's vote, or will have it when it asks again."""
    state = model.quorum_state[voter]
    return voter in model.votes[candidate] or (
        state.voted_key == candidate and state.epoch == epoch_of(model, candidate)
    )


@lemma
def leaders_write_from_the_start_of_their_epoch(model: Kraft) -> bool:
    """A leader's log ends with the records of its epoch, which begin where it says."""
    return all(
        model.leader_state[leader].epoch_start_offset < len(model.logs[leader])
        and all(
            (offset >= model.leader_state[leader].epoch_start_offset)
            == (model.logs[leader][offset] == epoch_of(model, leader))
            for offset in range(len(model.logs[leader]))
        )
        for leader in Replica
        if leads(model, leader)
    )


@lemma
def leaders_know_of_no_more_than_they_have(model: Kraft) -> bool:
    """Nobody has acknowledged to a leader what it does not have."""
    return all(
        model.end_offset(leader, voter) <= len(model.logs[leader])
        for leader in Replica
        if leads(model, leader)
        for voter in Replica
    )


@lemma
def acknowledged_records_are_flushed(model: Kraft) -> bool:
    """What a voter has acknowledged of a leader's own records it has flushed, unless the leader is overtaken."""
    return all(
        implies(
            model.leader_state[leader].epoch_start_offset < end and acknowledged(model, leader, voter, end),
            (agree(model, voter, leader, end) and model.flushed[voter] >= end) or is_overtaken(model, leader, end),
        )
        for leader in Replica
        if leads(model, leader)
        for voter in Replica
        for end in range(1, len(model.logs[leader]) + 1)
    )


@lemma
def later_candidates_have_what_their_voters_acknowledged(model: Kraft) -> bool:
    """A voter of a later candidate has acknowledged only records that the candidate has, unless the leader is
    overtaken."""
    return all(
        implies(
            model.role[candidate] == Role.CANDIDATE
            and epoch_of(model, candidate) > epoch_of(model, leader)
            and has_voted_for(model, voter, candidate)
            and end > model.leader_state[leader].epoch_start_offset
            and acknowledged(model, leader, voter, end),
            agree(model, candidate, leader, end) or is_overtaken(model, leader, end),
        )
        for leader in Replica
        if leads(model, leader)
        for candidate in Replica
        for voter in Replica
        for end in range(1, len(model.logs[leader]) + 1)
    )


@lemma
def later_records_follow_what_may_be_committed(model: Kraft) -> bool:
    """A log with a later record has all of a leader's log, as far as that is not overtaken."""
    return all(
        implies(
            model.log_position(replica).epoch > epoch_of(model, leader)
            and end > model.leader_state[leader].epoch_start_offset,
            agree(model, replica, leader, end) or is_overtaken(model, leader, end),
        )
        for leader in Replica
        if leads(model, leader)
        for replica in Replica
        for end in range(1, len(model.logs[leader]) + 1)
    )


@lemma
def later_commits_follow_what_may_be_committed(model: Kraft) -> bool:
    """So has what was committed, if it ends with a later record."""
    return all(
        implies(
            last_committed_epoch(model) > epoch_of(model, leader)
            and end > model.leader_state[leader].epoch_start_offset,
            (len(model.committed) >= end and model.committed[:end] == model.logs[leader][:end])
            or is_overtaken(model, leader, end),
        )
        for leader in Replica
        if leads(model, leader)
        for end in range(1, len(model.logs[leader]) + 1)
    )


@lemma
def later_records_follow_what_is_committed(model: Kraft) -> bool:
    """A log with a later record than was committed has everything committed."""
    return all(
        holds_committed(model, replica)
        for replica in Replica
        if len(model.committed) > 0 and model.log_position(replica).epoch > last_committed_epoch(model)
    )


@lemma
def later_candidates_hold_committed_or_lose(model: Kraft) -> bool:
    """A later candidate that lacks what was committed gets no vote from a majority that has flushed it."""
    return all(
        holds_committed(model, candidate)
        or model.is_majority(
            Set(
                voter
                for voter in model.current_voters
                if not has_voted_for(model, voter, candidate)
                and holds_committed(model, voter)
                and model.flushed[voter] >= len(model.committed)
            )
        )
        for candidate in Replica
        if model.role[candidate] == Role.CANDIDATE
        and len(model.committed) > 0
        and epoch_of(model, candidate) > last_committed_epoch(model)
    )
