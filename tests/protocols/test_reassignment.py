"""The models of a reassignment: golden transitions, and agreement of compiled code with CPython."""

from __future__ import annotations

import re
from typing import Any

import pytest

from floodmark import Map, Model, Seq, Set
from floodmark.language.values import running
from model.reassignment.asked_isr import AskedIsr
from model.reassignment.kip236 import Entry, Reassignment, Step, StepwiseReassignment
from model.reassignment.kip455 import Kip455Reassignment, origin_of, reassigned, target_of
from model.reassignment.kraft import KraftReassignment
from model.reassignment.order import OrderedReassignment
from model.reassignment.plan import PlannedKip236Reassignment, PlannedKraftReassignment
from model.reassignment.queue import QueuedReassignment
from model.reassignment.replicas import Broker, Partition
from model.reassignment.requests import RequestedReassignment
from model.reassignment.submission import RecordedByController, SubmittedByTools, Tool
from model.reassignment.throttle import ThrottledReassignment
from model.replica_sets import followed_by, is_consistent, is_reassigning, members, origin, target, without
from tests.support.agreement import assert_agrees

P1 = Partition(1)


def seq(*numbers: int) -> Seq[Broker]:
    return Seq(Broker(number) for number in numbers)


def some(*numbers: int) -> Set[Broker]:
    return Set(Broker(number) for number in numbers)


class TestReplicaSets:
    """Sections of KIP-455; the order of a cancelled reassignment is not the original one."""

    def test_origin_and_target_follow_from_a_registration(self) -> None:
        replicas, adding, removing = some(1, 2, 3, 4), some(4), some(1)
        assert origin(replicas, adding) == some(1, 2, 3)
        assert target(replicas, removing) == some(2, 3, 4)
        assert is_reassigning(adding, removing)
        assert is_reassigning(some(), removing)
        assert not is_reassigning(some(), some())

    def test_an_inconsistent_registration_is_detected(self) -> None:
        assert is_consistent(some(1, 2, 3), some(3), some(1))
        assert not is_consistent(some(1, 2), some(1), some(1))
        assert not is_consistent(some(1, 2), some(3), some())
        assert not is_consistent(some(1, 2), some(1, 2), some())
        assert not is_consistent(some(1, 2), some(), some(1, 2))

    def test_target_and_origin_keep_their_order(self) -> None:
        assert followed_by(seq(3, 1), seq(1, 2)) == seq(3, 1, 2)
        assert without(seq(3, 1, 2), some(1)) == seq(3, 2)
        assert members(seq(3, 1)) == some(1, 3)

    def test_a_move_to_other_brokers_adds_and_removes_all(self) -> None:
        moved = reassigned(seq(1, 2, 3), seq(4, 5, 6))
        assert (moved.replicas, moved.adding, moved.removing) == (seq(4, 5, 6, 1, 2, 3), some(4, 5, 6), some(1, 2, 3))
        assert origin_of(moved) == seq(1, 2, 3)
        assert target_of(moved) == seq(4, 5, 6)

    def test_a_cancellation_does_not_restore_the_order(self) -> None:
        moved = reassigned(seq(1, 2, 3), seq(3, 4, 2))
        assert (moved.replicas, moved.adding, moved.removing) == (seq(3, 4, 2, 1), some(4), some(1))
        assert origin_of(moved) == seq(3, 2, 1)

    def test_an_override_starts_from_the_origin(self) -> None:
        again = reassigned(origin_of(reassigned(seq(1, 2, 3), seq(4, 5, 6))), seq(4, 5, 7))
        assert (again.replicas, again.adding, again.removing) == (seq(4, 5, 7, 1, 2, 3), some(4, 5, 7), some(1, 2, 3))

    def test_an_override_as_kraft_ships_it_does_not(self) -> None:
        again = reassigned(reassigned(seq(1, 2, 3), seq(4, 5, 6)).replicas, seq(4, 5, 7))
        assert (again.replicas, again.adding) == (seq(4, 5, 7, 6, 1, 2, 3), some(7))
        assert len(origin_of(again)) == 6


class Run:
    """A model that a test steps through in plain Python."""

    def __init__(self, model: Any) -> None:
        self.model = model
        model.reset()
        with running(model):
            self.model.start()

    def take(self, action: str, *arguments: Any) -> Run:
        with running(self.model):
            getattr(self.model, action)(*arguments)
        return self


def test_kip455_from_1_2_3_to_4_5_6() -> None:
    """The golden transitions: both sets, all in sync, a leader of the target, its ISR, the target alone."""
    run = Run(Kip455Reassignment(brokers=6, replication_factor=3, largest_target=3))
    run.take("controller_takes_request", P1, Broker(4), some(5, 6))
    for step in ("u2_remembers", "u3_stops_unneeded", "a1_tells_both", "a2_starts_adding"):
        run.take(step, P1)
    assert run.model.assignment[P1].replicas == seq(4, 5, 6, 1, 2, 3)
    for number in (4, 5, 6):
        run.take("follower_catches_up", P1, Broker(number)).take("follower_joins_isr", P1, Broker(number))
    assert run.model.replication[P1].isr == some(1, 2, 3, 4, 5, 6)
    run.take("b_sees_target_in_sync", P1).take("b2_retargets", P1).take("b3_leads_from_target", P1)
    assert run.model.replication[P1].leader == Broker(4)
    assert run.model.replication[P1].isr == some(4, 5, 6)
    for step in ("b4_takes_removing_offline", "b5_deletes_removing", "b6_persists_target"):
        run.take(step, P1)
    assignment = run.model.assignment[P1]
    assert (assignment.replicas, assignment.adding, assignment.removing) == (seq(4, 5, 6), some(), some())
    assert run.model.replication[P1].stops == some(1, 2, 3)


def test_kraft_completes_in_one_record() -> None:
    run = Run(KraftReassignment(brokers=4, submissions=1))
    run.take("controller_takes_request", P1, Broker(3), some(4))
    for number in (3, 4):
        run.take("follower_catches_up", P1, Broker(number)).take("follower_joins_isr", P1, Broker(number))
    assert run.model.assignment[P1].replicas == seq(3, 4)
    assert run.model.replication[P1].leader == Broker(3)
    assert run.model.replication[P1].isr == some(3, 4)


def test_the_example_of_kip_236_has_the_same_steps() -> None:
    """[1,2] to [2,3], changed to [2,4]: broker 3, which neither wants, is dropped."""
    model = RequestedReassignment(brokers=4)
    run = Run(model)
    run.take("client_requests", P1, some(2, 3)).take("request_1_is_taken").take("request_2_is_deleted", P1)
    for step in ("drop_1_offline", "drop_2_deleted", "drop_3_persisted"):
        run.take(step, P1)
    for step in ("step_1_persists_both", "step_2_tells_both", "step_3_starts_added"):
        run.take(step, P1)
    run.take("client_requests", P1, some(2, 4)).take("request_1_is_taken").take("request_2_is_deleted", P1)
    with running(model):
        assert run.model.existing(P1) == seq(1, 2, 3)
        assert run.model.to_drop(P1) == some(3)


@pytest.mark.parametrize(
    ("assigned", "isr", "leader", "top", "inclusive", "exclusive"),
    [
        ((1, 2), (1, 2), 1, 2, (), (2,)),
        ((1, 2, 3), (1, 2), 1, 2, (3,), (2, 3)),
        ((1,), (1,), 1, 1, (), (1,)),
        ((1, 2), (1,), 2, 1, (1,), (1, 2)),
    ],
)
def test_the_drop_set_is_what_the_target_lacks(
    assigned: tuple[int, ...], isr: tuple[int, ...], leader: int, top: int, inclusive: tuple[int, ...],
    exclusive: tuple[int, ...],
) -> None:
    """Both readings of ``existing[0:top-1]``."""
    model = RequestedReassignment(brokers=3)
    run = Run(model)
    with running(model):
        run.model.assigned[P1] = some(*assigned)
        run.model.replication[P1] = run.model.replication[P1].replace(isr=some(*isr), leader=Broker(leader))
        existing = run.model.existing(P1)
    assert some(*assigned) - members(existing[:top]) == some(*inclusive)
    assert some(*assigned) - members(existing[: top - 1]) == some(*exclusive)


def test_a_cancellation_takes_seven_steps() -> None:
    run = Run(Reassignment(brokers=4))
    run.take("client_submits", Set({P1}), some(3, 4), False, True).take("controller_begins", P1)
    for step in ("step_1_persists_both", "step_2_tells_both", "step_3_starts_added"):
        run.take(step, P1)
    run.take("follower_catches_up", P1, Broker(3)).take("follower_joins_isr", P1, Broker(3))
    assert run.model.pending[P1] == Entry(target=some(3, 4), original=some(1, 2))
    run.take("client_cancels").take("controller_reads_cancel").take("controller_begins_cancel", P1)
    steps = [name for name in vars(Reassignment) if name.startswith("cancel_") and name[7].isdigit()]
    assert len(steps) == 7
    for step in steps:
        run.take(step, P1)
    assert run.model.step[P1] == Step.IDLE
    assert run.model.assigned[P1] == some(1, 2)
    assert run.model.replication[P1].isr == some(1, 2)
    assert run.model.replication[P1].stops == some(3, 4)
    assert run.model.pending == Map({P1: None})
    run.take("controller_drops_cancel")
    assert not run.model.cancel_requested


def test_a_rollback_restores_the_order() -> None:
    """(2,3,1) => (3,1,2), which waits for a replica that is out of sync, and back."""
    run = Run(OrderedReassignment(brokers=3, replication_factor=3, largest_target=3))
    assert run.model.order[P1] == seq(2, 3, 1)
    run.take("follower_leaves_isr", P1, Broker(2)).take("client_submits_list", Set({P1}), Broker(3), some(1, 2))
    assert run.model.pending[P1] == Entry(target=some(1, 2, 3), original=some(1, 2, 3))
    for step in ("controller_begins", "step_1_persists_both", "step_2_tells_both", "step_3_starts_added"):
        run.take(step, P1)
    assert run.model.order[P1] == seq(3, 1, 2)
    run.take("client_cancels").take("controller_reads_cancel").take("controller_begins_cancel", P1)
    for step in [name for name in vars(Reassignment) if name.startswith("cancel_") and name[7].isdigit()]:
        run.take(step, P1)
    assert run.model.order[P1] == seq(2, 3, 1)
    assert run.model.replication[P1].leader == Broker(1)
    run.take("follower_joins_isr", P1, Broker(2)).take("controller_drops_cancel")
    run.take("controller_elects_preferred", P1)
    assert run.model.replication[P1].leader == Broker(2)


def test_a_tool_that_has_read_before_another_one_is_refused() -> None:
    first, second = Tool(1), Tool(2)
    model = SubmittedByTools(brokers=2, replication_factor=1, submissions=2)
    run = Run(model)
    run.take("tool_reads", first, P1, some(1)).take("tool_reads", second, P1, some(1, 2)).take("tool_writes", second)
    with running(model):
        assert not run.model.may_write(first, P1)
    for step in ("controller_begins", "step_1_persists_both", "step_2_tells_both", "step_3_starts_added"):
        run.take(step, P1)
    run.take("follower_catches_up", P1, Broker(2)).take("follower_joins_isr", P1, Broker(2))
    run.take("step_4_sees_target_in_sync", P1)
    for step in [name for name in vars(StepwiseReassignment) if re.match(r"step_([6-9]|1\d)_", name)]:
        run.take(step, P1)
    with running(model):
        assert run.model.finds_no_znode()
        assert not run.model.may_write(first, P1)
    run.take("tool_starts_over", first).take("tool_reads", first, P1, some(1)).take("tool_writes", first)
    assert run.model.pending[P1] == Entry(target=some(1), original=some(1, 2))


def test_a_controller_writes_no_entry_that_it_has_not_read() -> None:
    run = Run(RecordedByController(brokers=2, replication_factor=1, submissions=2))
    run.take("tool_reads", Tool(1), P1, some(1, 2)).take("tool_writes", Tool(1)).take("controller_reads_entry", P1)
    run.take("tool_reads", Tool(2), P1, some(2)).take("tool_writes", Tool(2)).take("controller_adds_original", P1)
    assert run.model.pending[P1] == Entry(target=some(2), original=None)
    run.take("controller_reads_entry", P1).take("controller_adds_original", P1)
    assert run.model.pending[P1] == Entry(target=some(2), original=some(1))


def cancelled(run: Run) -> None:
    """The steps of a cancellation of the one partition that is pending, but for the last two."""
    run.take("client_cancels").take("controller_reads_cancel").take("controller_begins_cancel", P1)
    for step in [name for name in vars(Reassignment) if re.match(r"cancel_[1-5]_", name)]:
        run.take(step, P1)


def test_a_throttle_is_lists_of_a_topic_and_rates_of_brokers() -> None:
    """(1) => (2) and back, while the same topic's other partition goes on."""
    other = Partition(2)
    model = ThrottledReassignment(brokers=3, partitions=2, replication_factor=1)
    run = Run(model).take("client_submits", Set({P1, other}), some(2), True, True)
    assert run.model.leaders == Map({P1: some(1), other: some(1)})
    assert run.model.followers == Map({P1: some(2), other: some(2)})
    assert run.model.rates == some(1, 2)
    cancelled(run)
    run.take("cancelled_is_unthrottled", P1)
    assert run.model.followers == Map({P1: some(), other: some(2)})
    run.take("cancelled_is_unthrottled", P1)
    assert run.model.rates == some(1, 2)
    assert run.model.step[P1] == Step.DROP_CANCELLED


def test_a_request_that_a_rollback_has_overtaken_is_refused() -> None:
    run = Run(AskedIsr(brokers=2, replication_factor=1)).take("client_submits", Set({P1}), some(2), False, True)
    run.take("controller_begins", P1)
    for step in ("step_1_persists_both", "step_2_tells_both", "step_3_starts_added"):
        run.take(step, P1)
    run.take("follower_catches_up", P1, Broker(2)).take("follower_joins_isr", P1, Broker(2))
    with running(run.model):
        assert run.model.assumed(P1) == some(1, 2)
    cancelled(run)
    run.take("cancel_6_drops_entry", P1).take("cancel_7_spreads_metadata", P1)
    run.take("controller_hears_late_request", P1)
    assert run.model.replication[P1].isr == some(1)
    with running(run.model):
        assert run.model.assumed(P1) == some(1)


_SMALL: list[tuple[type[Model], dict[str, int]]] = [
    (PlannedKraftReassignment, {"brokers": 3, "replication_factor": 2, "removed": 1, "failures": 1}),
    (PlannedKip236Reassignment, {"brokers": 2, "replication_factor": 1, "removed": 1, "failures": 0}),
]
_LARGER: list[tuple[type[Model], dict[str, int]]] = [
    (Reassignment, {"brokers": 2, "replication_factor": 1, "brokers_down": 0, "largest_target": 1}),
    (RequestedReassignment, {"brokers": 2, "replication_factor": 1, "brokers_down": 0, "submissions": 1}),
    (Kip455Reassignment, {"brokers": 2, "replication_factor": 1, "brokers_down": 0, "submissions": 1}),
    (KraftReassignment, {"brokers": 2, "replication_factor": 1, "submissions": 2}),
    (QueuedReassignment, {"brokers": 2, "replication_factor": 1, "brokers_down": 0, "largest_target": 1}),
    (KraftReassignment, {"brokers": 3, "submissions": 1}),
    (OrderedReassignment, {"brokers": 2, "brokers_down": 0, "smallest_target": 2}),
    (SubmittedByTools, {"brokers": 2, "replication_factor": 1, "brokers_down": 0, "largest_target": 1}),
    (RecordedByController, {"brokers": 2, "replication_factor": 1, "brokers_down": 0, "largest_target": 1}),
    (ThrottledReassignment, {"brokers": 2, "replication_factor": 1, "brokers_down": 0, "largest_target": 1}),
    (AskedIsr, {"brokers": 2, "replication_factor": 1, "brokers_down": 0, "largest_target": 1}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("cls", "constants"), _SMALL, ids=[cls.__name__ for cls, _ in _SMALL])
def test_compiled_code_agrees_with_cpython(cls: type[Model], constants: dict[str, int]) -> None:
    assert_agrees(cls, workers=(1,), **constants)


@pytest.mark.slow
@pytest.mark.parametrize(("cls", "constants"), _LARGER, ids=[cls.__name__ for cls, _ in _LARGER])
def test_compiled_code_agrees_with_cpython_at_length(cls: type[Model], constants: dict[str, int]) -> None:
    assert_agrees(cls, workers=(1,), **constants)
