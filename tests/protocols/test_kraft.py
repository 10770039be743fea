"""The models of KIP-595: runs that are played step by step, and agreement of compiled code with CPython."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from floodmark import Model, Seq, Set
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.modules import Project
from floodmark.checkers.project.spec import read
from floodmark.checkers.verdict.check import Check, CheckSettings, one_check
from floodmark.language.model import State
from floodmark.language.reference import Step, fire, holds, initial_states, successors
from floodmark.language.values import running
from model.kraft.batch import KraftBatch
from model.kraft.clusters import KraftClusters
from model.kraft.disk_loss import KraftDiskLoss
from model.kraft.end_quorum_epoch import KraftEndQuorumEpoch
from model.kraft.former_voter import KraftFormerVoter
from model.kraft.network import KraftNetwork
from model.kraft.observers import KraftObservers
from model.kraft.pre_vote import DisruptiveVoter, KraftPreVote
from model.kraft.quorum import Fate, Kind, Kraft, Position, QuorumState, Replica, Role
from model.kraft.reads import KraftObserverReads, KraftReads
from model.kraft.timely import KraftPreVoteTimely, KraftTimely
from tests.support.agreement import assert_agrees

SPECS = Path(__file__).parents[2] / "specs" / "kraft"
R1, R2, R3, R4 = Replica(1), Replica(2), Replica(3), Replica(4)


class Run:
    """A model that is taken through chosen steps; it must allow each of them."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.state: State = next(iter(initial_states(model)))[1]

    def after(self, action: str, **arguments: Any) -> State | None:
        return fire(self.model, self.state, Step(action, arguments))

    def step(self, action: str, **arguments: Any) -> Run:
        after = self.after(action, **arguments)
        assert after is not None, f"{action} is not enabled"
        self.state = after
        return self

    def elect(self, candidate: Replica, voter: Replica, fate: Fate = Fate.ANSWERED) -> Run:
        self.step("election_timeout", replica=candidate)
        return self.step("candidate_requests_vote", candidate=candidate, voter=voter, fate=fate)

    def announce(self, leader: Replica, voter: Replica) -> Run:
        return self.step("leader_sends_begin_quorum_epoch", leader=leader, voter=voter, fate=Fate.ANSWERED)

    def fetch(self, replica: Replica, source: Replica, fate: Fate = Fate.ANSWERED) -> Run:
        return self.step("replica_fetches", replica=replica, source=source, fate=fate)

    def view(self) -> Any:
        return self.model.at(self.state)


def flawed(file: str, name: str) -> Any:
    """A known-bad design of the specs."""
    return getattr(Project.of(SPECS / file).load(SPECS / file), name)


def commits(**constants: int) -> Run:
    """The first replica leads epoch 1, the second has its first record, and that is committed."""
    run = Run(Kraft(lossy_restarts=False, **constants)).elect(R1, R2).announce(R1, R2)
    return run.fetch(R2, R1).fetch(R2, R1)


def test_leader_appends_a_record_of_its_epoch_and_commits_with_it() -> None:
    now = commits().view()
    assert now.quorum_state[R1] == QuorumState(epoch=1, leader=R1, voted_key=None)
    assert now.logs[R1] == now.logs[R2] == now.committed == Seq([1])
    assert (now.high_watermark[R1], now.high_watermark[R2], now.high_watermark[R3]) == (1, 1, 0)


def test_unflushed_record_of_the_leader_does_not_count() -> None:
    run = Run(Kraft()).elect(R1, R2).announce(R1, R2).fetch(R2, R1).fetch(R2, R1)
    assert run.view().high_watermark[R1] == 0
    assert run.step("leader_flushes", leader=R1).view().high_watermark[R1] == 1


def test_describe_quorum_is_answered_by_the_leader_only() -> None:
    now = commits(observers=1).view()
    with running(now):
        info = now.describe_quorum(R1)
        assert now.describe_quorum(R2) is None
    assert info is not None
    assert (info.leader, info.leader_epoch, info.high_watermark) == (R1, 1, 1)
    assert dict(info.current_voters) == {R1: 1, R2: 1, R3: 0, Replica(4): None}
    assert dict(info.observers) == {R1: None, R2: None, R3: None, Replica(4): 0}


@pytest.mark.parametrize(
    ("candidate", "voter", "granted"),
    [((1, 1), [1], True), ((1, 1), [1, 1], False), ((2, 1), [1, 1], True), ((1, 2), [2], False), ((0, 0), [], True)],
)
def test_later_last_epoch_wins_then_the_longer_log(
    candidate: tuple[int, int], voter: list[int], granted: bool
) -> None:
    run = Run(Kraft())
    with running(run.model):
        run.model.load(run.state)
        assert isinstance(run.model, Kraft)
        run.model.logs[R2] = Seq(voter)
        assert run.model.is_up_to_date(Position(epoch=candidate[0], offset=candidate[1]), R2) == granted


@pytest.mark.parametrize(
    ("leader", "follower", "answer", "after"),
    [
        ([1, 1, 2, 2], [1, 1], None, [1, 1]),
        ([1, 1], [1, 1, 1, 1], (1, 2), [1, 1]),
        ([1, 1], [1, 1, 2], (1, 2), [1, 1]),
        ([1, 1, 3], [1, 1, 2, 2], (1, 2), [1, 1]),
        ([1, 1, 1, 3], [1, 2, 2], (1, 3), [1]),
        ([1, 3, 3], [2, 2], (1, 1), []),
        ([1, 1, 4], [1, 2, 3], (1, 2), [1]),
    ],
)
def test_one_fetch_response_truncates_as_kip_279_says(
    leader: list[int], follower: list[int], answer: tuple[int, int] | None, after: list[int]
) -> None:
    """The golden values of KIP-279's tables, by way of a fetch."""
    model = Kraft(max_log=4, max_epoch=4, lossy_restarts=False)
    with running(model):
        model.load(Run(model).state)
        model.logs[R1], model.logs[R2] = Seq(leader), Seq(follower)
        for replica in (R1, R2):
            model.quorum_state[replica] = QuorumState(epoch=4, leader=R1, voted_key=None)
            model.role[replica] = Role.LEADER if replica == R1 else Role.FOLLOWER
        response = model.handle_fetch(model.request(Kind.FETCH, R2, R1))
        if answer is None:
            assert response.kind == Kind.RECORDS
        else:
            assert (response.kind, response.next_epoch, response.bound) == (Kind.DIVERGING, *answer)
            model.handle_response(Kind.FETCH, response)
        assert list(model.logs[R2]) == after


def test_first_preferred_successor_stands_at_once() -> None:
    run = commits().announce(R1, R3).step("fetch_timer_expires", leader=R1)
    assert run.view().role[R1] == Role.LEADER  # r2 has fetched in time
    run.step("fetch_timer_expires", leader=R1)
    assert run.view().role[R1] == Role.RESIGNED
    waiting = run.after("leader_sends_end_quorum_epoch", leader=R1, voter=R3, fate=Fate.ANSWERED)
    assert waiting is not None
    assert run.model.at(waiting).role[R3] == Role.FOLLOWER  # type: ignore[attr-defined]
    run.step("leader_sends_end_quorum_epoch", leader=R1, voter=R2, fate=Fate.ANSWERED)
    assert run.view().role[R2] == Role.CANDIDATE


def test_restarted_leader_resigns_and_does_not_vote_in_its_epoch() -> None:
    run = Run(Kraft()).elect(R1, R2).step("replica_restarts", replica=R1, kept=0)
    assert run.view().role[R1] == Role.RESIGNED
    run.step("election_timeout", replica=R3)
    run.step("candidate_requests_vote", candidate=R3, voter=R1, fate=Fate.ANSWERED)
    assert run.view().role[R3] == Role.FOLLOWER


def test_zombie_steps_down_when_it_hears_of_a_later_leader() -> None:
    run = commits().step("fetch_timer_expires", leader=R1).elect(R2, R3)
    assert run.view().role[R1] == run.view().role[R2] == Role.LEADER
    run.announce(R2, R1)
    assert run.view().quorum_state[R1] == QuorumState(epoch=2, leader=R2, voted_key=None)


def commits_at_epoch_start(model: Kraft) -> Run:
    """KAFKA-12619: a record of epoch 1 gets a second copy in epoch 3, before a record of epoch 3 has one."""
    run = Run(model).elect(R1, R2).elect(R2, R3).announce(R2, R1)
    run.step("election_timeout", replica=R1)
    run.step("candidate_requests_vote", candidate=R1, voter=R3, fate=Fate.ANSWERED).announce(R1, R3)
    return run.fetch(R3, R1).fetch(R3, R1, Fate.RESPONSE_LOST)


def test_record_of_an_earlier_epoch_is_not_committed_by_copies_alone() -> None:
    constants = {"max_epoch": 4, "max_log": 3, "max_restarts": 0, "lossy_restarts": False}
    good = commits_at_epoch_start(Kraft(**constants)).view()
    bad = commits_at_epoch_start(flawed("flawed.py", "CommitsAtEpochStart")(**constants))
    assert good.logs[R1] == Seq([1, 3])
    assert good.logs[R3] == Seq([1])
    assert good.committed == Seq()
    assert bad.view().committed == Seq([1])
    bad.announce(R1, R2).elect(R2, R3)
    assert bad.view().role[R2] == Role.LEADER
    assert bad.view().logs[R2] == Seq([2, 4])


def test_late_vote_does_not_count_in_another_election() -> None:
    run = Run(KraftNetwork()).elect(R1, R2, Fate.RESPONSE_LATE).step("election_timeout", replica=R1)
    (vote,) = run.view().late
    run.step("late_response_arrives", message=vote, again=True)
    assert run.view().role[R1] == Role.CANDIDATE
    assert run.view().late == Set({vote})


def test_follower_that_fetches_refuses_pre_votes() -> None:
    run = Run(DisruptiveVoter(partitions=True, max_restarts=0)).step("network_parts", replica=R3)
    run.step("network_heals").step("election_timeout", replica=R3)
    run.step("prospective_requests_pre_vote", replica=R3, voter=R2, fate=Fate.ANSWERED)
    assert run.view().role[R3] == Role.PROSPECTIVE
    assert run.view().quorum_state[R3] == QuorumState(epoch=1, leader=R1, voted_key=None)
    assert run.step("prospective_gives_up", replica=R3).view().role[R3] == Role.FOLLOWER


def test_stray_messages_change_nothing() -> None:
    run = Run(KraftClusters(max_epoch=1))
    before = run.state
    strays = [after for step, after in successors(run.model, before) if step.action == "stray_request_arrives"]
    assert strays
    assert all(after == before for after in strays)


ESTABLISHED = {"max_epoch": 2, "max_restarts": 0, "lossy_restarts": False}


def second_leader(model: Model) -> Run:
    """The first replica is a zombie in epoch 1; the second has committed a record in epoch 2."""
    return Run(model).elect(R2, R3).announce(R2, R3).fetch(R3, R2).fetch(R3, R2)


def test_client_refuses_what_a_zombie_answers() -> None:
    run = second_leader(KraftReads(**ESTABLISHED)).step("controller_answers", replica=R1)
    assert run.view().answered == Seq([1])
    run.step("controller_answers", replica=R2)
    assert run.view().answered == Seq([1, 2])
    now = run.view()
    with running(now):
        assert now.is_active_controller(R1)
    assert run.after("controller_answers", replica=R1) is None


def test_client_without_epochs_reads_backwards() -> None:
    run = second_leader(flawed("flawed_reads.py", "TakesAnyAnswer")(**ESTABLISHED))
    run.step("controller_answers", replica=R2).step("controller_answers", replica=R1)
    assert run.view().answered == Seq([1])


def test_observer_leaves_a_leader_that_has_resigned() -> None:
    run = second_leader(KraftObservers(observers=1, progress_timeout=False, **ESTABLISHED))
    run.step("fetch_timer_expires", leader=R1).fetch(R4, R1)
    assert run.view().quorum_state[R4].leader == R1  # which goes on naming itself
    assert run.fetch(R4, R3).view().quorum_state[R4] == QuorumState(epoch=2, leader=R2, voted_key=None)


def test_former_voter_hears_of_the_leader_in_answer_to_its_vote_only() -> None:
    run = second_leader(KraftFormerVoter(max_log=2)).step("zombie_is_removed", leader=R2, zombie=R1)
    assert run.after("leader_sends_begin_quorum_epoch", leader=R2, voter=R1, fate=Fate.ANSWERED) is None
    run.step("fetch_timer_expires", leader=R1).step("election_timeout", replica=R1)
    assert run.view().former == R1
    run.step("candidate_requests_vote", candidate=R1, voter=R3, fate=Fate.ANSWERED)
    assert run.view().quorum_state[R1] == QuorumState(epoch=2, leader=R2, voted_key=None)
    assert run.view().former is None
    assert run.after("election_timeout", replica=R1) is None


def test_follower_that_can_fetch_does_not_stand() -> None:
    run = Run(KraftPreVoteTimely(partitions=True))
    assert all(run.after("election_timeout", replica=replica) is None for replica in (R1, R2, R3))
    run.step("network_parts", replica=R1)
    assert run.after("election_timeout", replica=R2) is not None


def test_voter_that_hears_a_candidate_give_up_keeps_its_vote() -> None:
    """And stands for the next epoch; the candidate still wins the election that it gave up."""
    run = Run(KraftEndQuorumEpoch(voters=5, lossy_restarts=False)).elect(R1, R2)
    goodbye = {"candidate": R1, "voter": R2, "fate": Fate.RESPONSE_LOST}
    assert run.step("candidate_sends_end_quorum_epoch", **goodbye).view().role[R2] == Role.CANDIDATE
    assert run.view().quorum_state[R2] == QuorumState(epoch=2, leader=None, voted_key=R2)
    run.step("candidate_requests_vote", candidate=R1, voter=R3, fate=Fate.ANSWERED)
    assert run.view().elected[1] == R1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "design", "noticed"),
    [
        ("reads.toml", "TakesAnyAnswer", {"no_read_goes_back"}),
        ("reads.toml", "AnswersToLogEnd", {"no_read_goes_back", "what_was_read_is_kept"}),
        ("observer_reads.toml@restart", "ServesAtOnce", {"no_observer_goes_back"}),
        (
            "observers.toml@restart",
            "TakesLowerHighWatermark",
            {"followers_never_forget_what_is_committed", "followers_learn_from_their_leader"},
        ),
        ("observers.toml@restart", "LearnsBeforeItAppends", {"followers_learn_from_their_leader"}),
    ],
)
def test_only_the_named_property_notices_the_mistake(spec: str, design: str, noticed: set[str]) -> None:
    """Whatever else must hold of KIP-595 holds of the design as well."""
    check = one_check(SPECS / spec, design, CheckSettings())
    found = check.spec.properties(check.cls())
    assert noticed < set(found)
    others = [prop for name, prop in found.items() if name not in noticed and prop.kind != "reachable"]
    result = search_states(check.cls()(**check.constants), others, check.options)
    assert result.complete
    assert not result.violations


def test_known_bad_design_is_seen_by_its_property() -> None:
    from invariants.kraft.quorum import majority_holds_committed

    bad = flawed("flawed.py", "CountsUnflushedRecords")()
    run = Run(bad).elect(R1, R2).announce(R1, R2).fetch(R2, R1).fetch(R2, R1)
    assert not holds(bad, majority_holds_committed, run.state)
    assert holds(Kraft(), majority_holds_committed, commits().state)


SMALL = {"voters": 2, "max_epoch": 1, "max_log": 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cls", "constants"),
    [
        (Kraft, {"voters": 1}),
        (Kraft, {**SMALL, "max_restarts": 1}),
        pytest.param(Kraft, {**SMALL, "observers": 1, "loss": False, "max_restarts": 0}, marks=pytest.mark.slow),
        pytest.param(
            KraftNetwork,
            {**SMALL, "duplicates": False, "loss": False, "max_restarts": 0, "progress_timeout": False},
            marks=pytest.mark.slow,
        ),
        pytest.param(KraftPreVote, {**SMALL, "delays": 0, "loss": False, "max_restarts": 0}, marks=pytest.mark.slow),
        pytest.param(KraftClusters, {**SMALL, "max_restarts": 0}, marks=pytest.mark.slow),
        pytest.param(KraftDiskLoss, {**SMALL, "max_restarts": 1, "at_any_time": True}, marks=pytest.mark.slow),
        (KraftBatch, {"max_epoch": 1, "partitions": 1}),
        (KraftReads, {**SMALL, "max_log": 2, "max_restarts": 1}),
    ],
)
def test_compiled_code_agrees_with_cpython(cls: type[Model], constants: dict[str, int]) -> None:
    assert_agrees(cls, workers=(1,), **constants)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cls", "constants"),
    [
        (Kraft, {"max_epoch": 1, "max_restarts": 0}),
        (Kraft, {"max_epoch": 1, "max_log": 1, "max_restarts": 1}),
        (Kraft, {**SMALL, "max_epoch": 2, "max_log": 2}),
        (KraftNetwork, {**SMALL, "duplicates": False, "max_restarts": 0, "progress_timeout": False}),
        (KraftNetwork, {**SMALL, "partitions": True, "max_restarts": 1}),
        (KraftPreVote, {"max_epoch": 1, "max_log": 1, "max_restarts": 0, "delays": 0}),
        (DisruptiveVoter, {"max_epoch": 2, "delays": 0, "partitions": True, "max_restarts": 0}),
        (KraftObserverReads, {**SMALL, "observers": 1, "max_log": 2, "max_restarts": 1, "progress_timeout": False}),
        (KraftFormerVoter, {"max_epoch": 2, "max_log": 1, "observers": 0}),
        (KraftTimely, {"max_epoch": 2, "max_log": 2, "observers": 1}),
        (KraftPreVoteTimely, {"voters": 2, "max_epoch": 2, "max_log": 2, "partitions": True}),
        (KraftEndQuorumEpoch, {**SMALL, "max_epoch": 2, "max_restarts": 0}),
    ],
)
def test_compiled_code_agrees_with_cpython_at_length(cls: type[Model], constants: dict[str, int]) -> None:
    assert_agrees(cls, workers=(1,), **constants)


@pytest.mark.slow
def test_four_epochs_and_logs_of_three_are_the_same_states_on_spark() -> None:
    pytest.importorskip("pyspark")
    from floodmark.checkers.spark.search import Distribution
    from floodmark.checkers.spark.search import search_states as explore_on_spark

    check = Check(read(SPECS / "sizes.toml@four_epochs"), None, CheckSettings())
    model, properties = check.cls()(**check.constants), check.properties()
    native = search_states(model, properties, check.options)
    distributed = explore_on_spark(model, properties, check.options, None, Distribution(wide=100_000))
    assert (native.complete, native.engine, distributed.engine) == (True, "native", "spark")
    assert (distributed.distinct, distributed.generated) == (native.distinct, native.generated)
    assert distributed.digest == native.digest
