"""The models of KIP-853: runs that are played step by step, and voter sets beside what majorities are."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

import pytest

from floodmark import Model, Set
from floodmark.language.model import State
from floodmark.language.reference import Step, fire, initial_states
from floodmark.language.values import running
from model.dynamic_quorum.disks import DynamicDisks
from model.dynamic_quorum.pre_vote import DynamicPreVote
from model.dynamic_quorum.snapshots import DynamicSnapshots
from model.dynamic_quorum.voters import DynamicQuorum
from model.kraft.quorum import Replica, Role
from tests.support.command import REPOSITORY, floodmark

R1, R2, R3, R4 = Replica(1), Replica(2), Replica(3), Replica(4)


class Run:
    """A model that is taken through chosen steps, from the state in which r1 leads the first replicas."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.state: State = next(
            state
            for step, state in initial_states(model)
            if step.arguments["leader"] == R1 and set(step.arguments["first"]) == set(list(Replica)[: model.voters])  # type: ignore[attr-defined]
        )

    def after(self, action: str, **arguments: Any) -> State | None:
        return fire(self.model, self.state, Step(action, arguments))

    def step(self, action: str, **arguments: Any) -> Run:
        after = self.after(action, **arguments)
        assert after is not None, f"{action} is not enabled"
        self.state = after
        return self

    def fetch(self, replica: Replica, source: Replica, records: int = 0) -> Run:
        return self.step("replica_fetches", replica=replica, source=source, records=records)

    def view(self) -> Any:
        return self.model.at(self.state)


def joined() -> Run:
    """r3 has caught up with r1, which has added it."""
    run = Run(DynamicQuorum())
    run.fetch(R3, R1).fetch(R3, R1, records=1).fetch(R3, R1)
    return run.step("leader_adds_voter", leader=R1, replica=R3)


def test_an_added_voter_counts_before_the_change_is_committed() -> None:
    now = joined().view()
    assert now.voter_set[R1] == Set({R1, R2, R3})
    assert now.voter_set[R2] == now.voter_set[R3] == Set({R1, R2})
    assert now.high_watermark[R1] == 1
    assert joined().fetch(R3, R1, records=1).fetch(R3, R1).view().high_watermark[R1] == 2


def test_no_second_change_begins_before_the_first_is_committed() -> None:
    run = joined()
    assert run.after("leader_removes_voter", leader=R1, voter=R2) is None
    run.fetch(R3, R1, records=1).fetch(R3, R1)
    assert run.after("leader_removes_voter", leader=R1, voter=R2) is not None


def test_who_has_not_caught_up_is_not_added() -> None:
    run = Run(DynamicQuorum()).fetch(R3, R1).fetch(R3, R1, records=1)
    assert run.after("leader_adds_voter", leader=R1, replica=R3) is None


def test_a_leader_that_removes_itself_does_not_count_itself_and_resigns_once_that_is_committed() -> None:
    run = Run(DynamicQuorum(voters=3, observers=0, max_adds=0)).step("leader_removes_voter", leader=R1, voter=R1)
    run.fetch(R2, R1, records=1).fetch(R2, R1)
    assert run.view().role[R1] == Role.LEADER
    assert run.view().high_watermark[R1] == 1
    run.fetch(R3, R1, records=1).fetch(R3, R1)
    assert run.view().role[R1] == Role.RESIGNED
    assert len(run.view().committed) == 2
    assert run.after("election_timeout", replica=R1) is None
    assert run.step("former_leader_leaves_epoch", replica=R1).view().quorum_state[R1].epoch == 2


def test_truncating_the_log_takes_the_voters_back() -> None:
    run = Run(DynamicQuorum(voters=3, observers=0, max_adds=0)).step("leader_removes_voter", leader=R1, voter=R3)
    run.step("election_timeout", replica=R2).step("candidate_requests_vote", candidate=R2, voter=R3)
    run.step("leader_sends_begin_quorum_epoch", leader=R2, voter=R1)
    assert run.view().voter_set[R1] == Set({R1, R2})
    run.fetch(R1, R2)
    assert run.view().voter_set[R1] == Set({R1, R2, R3})
    assert len(run.view().logs[R1]) == 1


def test_a_replica_that_does_not_know_that_it_is_a_voter_votes() -> None:
    run = joined().step("leader_resigns", leader=R1).step("election_timeout", replica=R1)
    assert R3 not in run.view().voter_set[R3]
    run.step("candidate_requests_vote", candidate=R1, voter=R3)
    assert run.view().elected[2] == R1


def test_a_node_with_another_disk_is_another_replica() -> None:
    run = Run(DynamicDisks(max_adds=0, max_removes=0)).step("node_loses_disk", replica=R2, fresh=R3)
    assert (run.view().node[R3], run.view().lost) == (R2, Set({R2}))
    run.fetch(R3, R1).fetch(R3, R1, records=1).fetch(R3, R1)
    assert run.after("replica_joins", leader=R1, replica=R3) is None
    run.step("replica_removes_former_key", leader=R1, replica=R3, former=R2)
    assert run.view().high_watermark[R1] == 2
    run.fetch(R3, R1, records=1).fetch(R3, R1).step("replica_joins", leader=R1, replica=R3)
    assert run.view().voter_set[R1] == Set({R1, R3})


def test_a_snapshot_carries_the_voters() -> None:
    run = Run(DynamicSnapshots(voters=1, observers=1)).step("leader_takes_snapshot", leader=R1).fetch(R2, R1)
    assert run.after("replica_fetches", replica=R2, source=R1, records=1) is None
    now = run.step("replica_fetches_snapshot", replica=R2, leader=R1).view()
    assert now.voter_set[R2] == Set({R1})
    assert now.log_start[R2] == now.high_watermark[R2] == 1


def test_a_follower_that_has_fetched_refuses_a_pre_vote() -> None:
    run = Run(DynamicPreVote(voters=3, observers=0)).step("election_timeout", replica=R2)
    run.step("prospective_requests_pre_vote", replica=R2, voter=R3)
    assert run.view().quorum_state[R2].epoch == 1
    assert run.view().role[R2] == Role.FOLLOWER


SETS = [frozenset(some) for size in (1, 2, 3, 4) for some in combinations((R1, R2, R3, R4), size)]


@pytest.mark.parametrize("voters", SETS, ids=lambda voters: "".join(map(str, sorted(voters, key=str))))
def test_a_majority_is_more_than_half_of_the_voters(voters: frozenset[Replica]) -> None:
    model = DynamicQuorum(voters=4, observers=0)
    with running(model):
        for some in SETS:
            half = sum(1 for replica in some if replica in voters) * 2 > len(voters)
            assert model.is_majority(Set(some), Set(voters)) == half


def test_the_high_watermark_is_the_largest_offset_that_a_majority_has() -> None:
    """Of any voters, with three different log ends."""
    run = Run(DynamicQuorum(voters=4, observers=0, max_values=2))
    run.step("client_writes", leader=R1).fetch(R2, R1, records=1).fetch(R2, R1).step("client_writes", leader=R1)
    now = run.view()
    with running(now):
        assert [now.end_offset(R1, replica) for replica in (R1, R2, R3, R4)] == [3, 2, 1, 1]
        for voters in SETS:
            ends = [now.end_offset(R1, replica) for replica in voters]
            reached = [end for end in ends if sum(1 for other in ends if other >= end) * 2 > len(ends)]
            assert now.offset_of_majority(R1, Set(voters), len(voters)) == max(reached)


@pytest.mark.slow
def test_walks_at_the_published_constants_of_pre_votes_show_no_violation() -> None:
    page = (REPOSITORY / "docs" / "protocols.md").read_text(encoding="utf-8")
    found = re.search(r"floodmark (simulate .*?) +# ([0-9,]+) states", page.replace("\\\n", " "))
    assert found is not None
    run = floodmark(*found[1].split(), at=REPOSITORY)
    assert run.code == 3
    assert f"{found[2]} states" in run.out and "violated" not in run.out
