"""Schedules of voters that change, which a walk seldom comes across: those after which a member throws, and those at
whose end Kafka contradicts a belief of ``mistaken_voters.py``.
"""

from __future__ import annotations

from typing import Any

from mistaken_voters import (
    AsksForAddress,
    CatchesUpNow,
    CountsFormerVoters,
    FollowsFromFetch,
    HeedsVotersOnly,
    IgnoresFormerVoters,
    KeepsTruncatedVoters,
    KnowsAddresses,
    ReadsAgain,
    ResignsWheneverRemoved,
    RestartsAsObserver,
    TellsAddressAtEnd,
)
from voters import KafkaVoters

Call = tuple[str, dict[str, Any]]
PRE_VOTE, VOTE = "prospective_requests_pre_vote", "candidate_requests_vote"


def begins(*first: int) -> Call:
    return "start", {"leader": "r1", "first": [f"r{voter}" for voter in first]}


def fetches(replica: int, source: int, records: int = 0) -> Call:
    return "replica_fetches", {"replica": f"r{replica}", "source": f"r{source}", "records": records}


def asks(action: str, replica: int, voter: int) -> Call:
    return action, {"candidate" if action == VOTE else "replica": f"r{replica}", "voter": f"r{voter}"}


def tells(leader: int, voter: int, late: bool = False) -> Call:
    return "leader_sends_begin_quorum_epoch", {"leader": f"r{leader}", "voter": f"r{voter}", "late": late}


def of(action: str, **replicas: int) -> Call:
    return action, {name: f"r{replica}" for name, replica in replicas.items()}


ADDED = [begins(1, 2), of("leader_adds_voter", leader=1, replica=3), fetches(3, 1, 1)]
STOOD = [*ADDED, of("leader_resigns", leader=1), of("election_timeout", replica=3), asks(PRE_VOTE, 3, 1)]
LED = [*STOOD, asks(VOTE, 3, 1)]
STOPS: dict[type[KafkaVoters], tuple[str, list[Call]]] = {
    IgnoresFormerVoters: ("r1", [
        begins(1, 2), tells(1, 2, late=True), of("leader_removes_voter", leader=1, voter=2),
        of("late_acknowledgement_arrives", leader=1, voter=2),
    ]),
    FollowsFromFetch: ("r3", [
        begins(1, 2), of("leader_removes_voter", leader=1, voter=1), fetches(3, 1, 1),
        of("replica_restarts", replica=3), fetches(3, 1),
    ]),
    AsksForAddress: ("r4", [*LED, tells(3, 2), of("replica_restarts", replica=2), fetches(4, 2)]),
    TellsAddressAtEnd: ("r2", [
        *LED, of("leader_resigns", leader=3), of("leader_sends_end_quorum_epoch", leader=3, voter=2),
    ]),
    RestartsAsObserver: ("r3", [
        begins(1, 2, 4), *ADDED[1:], *(of("election_timeout", replica=replica) for replica in (2, 4, 3)),
        asks(PRE_VOTE, 3, 2), asks(PRE_VOTE, 3, 4), asks(PRE_VOTE, 2, 4), asks(VOTE, 2, 4), asks(VOTE, 3, 2),
        fetches(3, 2), of("replica_restarts", replica=3),
    ]),
}
"""Who throws at the end, by the belief that it does not."""

TOURS: dict[type[KafkaVoters], list[Call]] = {
    **{belief: calls for belief, (_, calls) in STOPS.items()},
    ReadsAgain: [
        begins(1, 2, 3), of("leader_resigns", leader=1), of("leader_sends_end_quorum_epoch", leader=1, voter=2),
        asks(PRE_VOTE, 2, 1), asks(VOTE, 2, 1), of("client_writes", leader=2), of("leader_resigns", leader=2),
        of("leader_sends_end_quorum_epoch", leader=2, voter=1), asks(PRE_VOTE, 1, 3), asks(VOTE, 1, 2),
        asks(VOTE, 1, 3), fetches(2, 1), fetches(2, 1, 1), fetches(2, 1),
        of("leader_removes_voter", leader=1, voter=3), fetches(2, 1, 1),
    ],
    KnowsAddresses: STOPS[FollowsFromFetch][1],
    KeepsTruncatedVoters: STOPS[RestartsAsObserver][1],
    HeedsVotersOnly: [*STOOD, asks(VOTE, 3, 2)],
    CatchesUpNow: [begins(1, 2), of("client_writes", leader=1), of("leader_adds_voter", leader=1, replica=3)],
    ResignsWheneverRemoved: [
        begins(1, 2), of("leader_removes_voter", leader=1, voter=1), of("change_times_out", leader=1),
        fetches(2, 1, 1), fetches(2, 1),
    ],
    CountsFormerVoters: [
        begins(1, 2, 3), of("leader_removes_voter", leader=1, voter=3), fetches(3, 1, 1), fetches(3, 1),
    ],
}
"""At the last step or before, the belief and Kafka decide differently."""
