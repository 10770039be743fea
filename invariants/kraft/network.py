"""What must hold of KIP-595 over a bad network, and what such a network must be able to do (begin with quorum.py)."""

from __future__ import annotations

from floodmark import invariant, reachable
from model.kraft.network import KraftNetwork
from model.kraft.quorum import Kind, Replica, Role


@invariant
def epoch_is_stored_before_it_is_sent(model: KraftNetwork) -> bool:
    """No message has a later epoch than its sender has stored (Raft, figure 2: stored before responding)."""
    return all(message.epoch <= model.quorum_state[message.source].epoch for message in model.late)


@reachable
def vote_comes_too_late(model: KraftNetwork) -> bool:
    """A vote can be on its way to a candidate that stands in a later epoch."""
    return any(
        message.kind == Kind.VOTE_GRANTED
        and model.role[message.destination] == Role.CANDIDATE
        and message.epoch < model.quorum_state[message.destination].epoch
        for message in model.late
    ) or model.delays == 0


@reachable
def fetch_comes_too_late(model: KraftNetwork) -> bool:
    """A leader can receive a fetch that was overtaken by a later one, and take it for a log that has become shorter;
    its high watermark stays. The same fetch may arrive again (where messages do).
    """
    return any(
        message.kind == Kind.FETCH
        and model.role[leader] == Role.LEADER
        and message.destination == leader
        and model.majority_offset(leader) < model.high_watermark[leader]
        and message.position.offset < len(model.logs[message.source])
        for leader in Replica
        for message in model.late
    ) or model.delays == 0 or not model.duplicates


@reachable
def records_come_too_late(model: KraftNetwork) -> bool:
    """Records can be on their way to a follower that already has them."""
    return any(
        message.kind == Kind.RECORDS
        and message.position.offset < len(model.logs[message.destination])
        and message.epoch == model.quorum_state[message.destination].epoch
        for message in model.late
    ) or model.delays == 0
