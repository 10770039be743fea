"""Tests the controller on ZooKeeper: CPython and native code agree, and the draft's sentences are checked."""

from __future__ import annotations

from typing import Generic, TypeVar

import pytest

from floodmark import Map, Model, Set
from floodmark.language.errors import ActionDisabled
from floodmark.language.values import running
from model.zk_controller.alternatives import (
    FailingReplicas,
    Transactions,
    UncleanElections,
    WatchesFollowers,
    WelcomesBrokers,
)
from model.zk_controller.controller import Broker, LeaderAndIsr, Partition, Phase, Stage, Watch, ZkController
from model.zk_controller.logs import ReplicatedLogs
from model.zk_controller.topics import Reassignments, TopicChanges
from tests.support.agreement import assert_agrees

P = Partition(1)
B1, B2, B3 = Broker(1), Broker(2), Broker(3)

SMALL = {"brokers": 2, "max_version": 2, "max_controller_epoch": 1, "max_faults": 1, "queue_length": 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cls", "constants"),
    [
        pytest.param(ZkController, SMALL, marks=pytest.mark.slow),
        (Transactions, SMALL),
        (WelcomesBrokers, {**SMALL, "max_faults": 0}),
        pytest.param(UncleanElections, SMALL, marks=pytest.mark.slow),
        pytest.param(WatchesFollowers, SMALL, marks=pytest.mark.slow),
        pytest.param(FailingReplicas, SMALL, marks=pytest.mark.slow),
        pytest.param(TopicChanges, {**SMALL, "max_faults": 0}, marks=pytest.mark.slow),
        pytest.param(Reassignments, {**SMALL, "max_faults": 0, "max_version": 3}, marks=pytest.mark.slow),
        pytest.param(ReplicatedLogs, SMALL, marks=pytest.mark.slow),
    ],
)
def test_native_code_agrees_with_cpython(cls: type[Model], constants: dict[str, int]) -> None:
    assert_agrees(cls, workers=(1,), **constants)


M = TypeVar("M", bound=ZkController)


class Walk(Generic[M]):
    """A model in its initial state, whose steps are taken by name."""

    def __init__(self, model: M) -> None:
        self.model = model
        model.reset()
        with running(model):
            model.start()

    def take(self, *steps: str) -> None:
        """``"controller_publishes b1 b2"`` fires that action with these arguments."""
        names = {"b1": B1, "b2": B2, "b3": B3, "p1": P, "yes": True, "no": False}
        for step in steps:
            action, *arguments = step.split()
            with running(self.model):
                getattr(self.model, action)(*(names[argument] for argument in arguments))

    def refuses(self, step: str) -> bool:
        try:
            self.take(step)
        except ActionDisabled:
            return True
        return False


def elected(controller: str = "b2") -> tuple[str, ...]:
    """The steps from the start to a controller that has repeated its decisions and looked at the brokers."""
    return (
        f"on_controller_failover {controller}",
        f"controller_reads_decisions {controller}",
        f"controller_publishes {controller} b1",
        f"controller_publishes {controller} b2",
        "on_leader_assignment_change b1",
        "on_leader_assignment_change b2",
        f"on_broker_change {controller}",
    )


def leader_dies() -> tuple[str, ...]:
    return ("broker_crashes b1", "session_expires b1", "on_broker_change b2", "controller_reads_isr b2 p1")


def test_a_dead_leader_is_replaced_and_everybody_is_told() -> None:
    walk = Walk(ZkController(brokers=2))
    walk.take(*elected(), *leader_dies(), "controller_elects b2 p1 b2")
    assert walk.model.leader_and_isr[P] == LeaderAndIsr(leader=B2, isr=Set({B2}), version=2)
    assert not walk.model.leads(B2, P)
    walk.take("controller_publishes b2 b2", "controller_publishes b2 b1", "on_leader_assignment_change b2")
    assert walk.model.leads(B2, P)
    assert walk.model.queues[B1] == []
    with running(walk.model):
        assert walk.model.is_settled()


def test_a_session_outlives_a_crash() -> None:
    walk = Walk(ZkController(brokers=2))
    walk.take(*elected(), "broker_crashes b1", "broker_starts b1")
    assert B1 in walk.model.ids
    assert walk.refuses("broker_registers b1")
    walk.take("session_expires b1", "broker_registers b1")
    assert walk.model.processes[B1].stage == Stage.REGISTERED


def test_a_watch_fires_once() -> None:
    walk = Walk(ZkController(brokers=2))
    walk.take(*elected())
    assert walk.model.controllers[B2].brokers_watch == Watch.ARMED
    walk.take("broker_crashes b1", "session_expires b1")
    assert walk.model.controllers[B2].brokers_watch == Watch.FIRED
    walk.take("on_broker_change b2")
    assert walk.refuses("on_broker_change b2")


def test_the_write_fails_when_the_leader_was_faster() -> None:
    """The leader is slow, not dead: its session expires, and it still changes the ISR before the controller does."""
    walk = Walk(ZkController(brokers=2))
    walk.take(*elected(), "session_expires b1", "on_broker_change b2", "controller_reads_isr b2 p1")
    walk.take("leader_updates_isr b1 p1 b2 yes", "controller_elects b2 p1 b2")
    assert walk.model.leader_and_isr[P] == LeaderAndIsr(leader=B1, isr=Set({B1}), version=2)
    walk.take("controller_reads_isr b2 p1", "controller_finds_nobody b2 p1")
    assert walk.model.leader_and_isr[P] == LeaderAndIsr(leader=None, isr=Set({B1}), version=3)


def test_a_controller_that_was_replaced_resigns_when_it_writes() -> None:
    walk = Walk(ZkController(brokers=2))
    walk.take(*elected("b1"), "broker_crashes b2", "session_expires b2", "broker_starts b2", "session_expires b1")
    walk.take("on_broker_change b1", "controller_reads_isr b1 p1")
    walk.take("broker_registers b2", "broker_subscribes b2", "broker_reads_decisions b2", "on_controller_failover b2")
    walk.take("controller_finds_nobody b1 p1")
    assert walk.model.leader_and_isr[P].version == 1
    assert walk.model.controllers[B1].phase == Phase.RESIGNED


def test_unclean_elections_take_any_live_replica() -> None:
    for cls, leader in ((ZkController, None), (UncleanElections, B2)):
        walk = Walk(cls(brokers=2))
        walk.take(*elected(), "leader_updates_isr b1 p1 b2 yes", *leader_dies())
        walk.take("controller_finds_nobody b2 p1" if leader is None else "controller_elects b2 p1 b2")
        assert walk.model.leader_and_isr[P].leader == leader
        assert walk.model.leader_and_isr[P].isr == Set({leader or B1})


def test_a_topic_gets_its_first_leader_and_leaves_nothing() -> None:
    walk = Walk(TopicChanges(brokers=2))
    walk.take("on_controller_failover b2", "controller_reads_decisions b2", "controller_publishes b2 b1")
    walk.take("controller_publishes b2 b2", "on_leader_assignment_change b1", "on_leader_assignment_change b2")
    walk.take("topic_is_created p1", "on_topic_change b2", "controller_inits_leader b2 p1 b1")
    assert walk.model.leader_and_isr[P] == LeaderAndIsr(leader=B1, isr=Set({B1, B2}), version=1)
    walk.take("controller_publishes b2 b1", "controller_publishes b2 b2", "on_leader_assignment_change b1")
    walk.take("topic_is_deleted p1", "on_topic_change b2", "controller_forgets_topic b2 p1")
    assert walk.model.leads(B1, P)
    walk.take("controller_publishes b2 b1", "on_leader_assignment_change b1")
    assert not walk.model.leads(B1, P)


def test_a_partition_moves_step_by_step_to_its_new_replicas() -> None:
    walk = Walk(Reassignments(brokers=2))
    walk.take("topic_is_created p1", "on_controller_failover b1", "controller_reads_decisions b1")
    walk.take("on_broker_change b1", "controller_inits_leader b1 p1 b1", "controller_publishes b1 b1")
    walk.take("controller_publishes b1 b2", "on_leader_assignment_change b1", "on_leader_assignment_change b2")
    assert walk.model.stored == Map({P: Set({B1})})
    with running(walk.model):
        walk.model.reassignment_is_requested(P, Set({B2}))
    walk.take("on_topic_change b1", "on_partitions_reassigned b1", "controller_publishes b1 b2")
    walk.take("controller_publishes b1 b1", "on_leader_assignment_change b2", "leader_updates_isr b1 p1 b2 yes")
    assert walk.model.stored == Map({P: Set({B1, B2})})
    walk.take("controller_checks_isr b1 p1", "controller_reads_isr b1 p1", "controller_elects b1 p1 b2")
    assert walk.model.leader_and_isr[P] == LeaderAndIsr(leader=B2, isr=Set({B2}), version=3)
    assert walk.model.assigned == Map({P: Set({B2})})
    walk.take("controller_publishes b1 b2", "controller_publishes b1 b1", "controller_removes_request b1 p1")
    walk.take("on_leader_assignment_change b1", "on_leader_assignment_change b1", "on_leader_assignment_change b2")
    assert walk.model.stored == Map({P: Set({B2})})


def test_a_record_is_committed_by_the_isr_that_the_leader_knows() -> None:
    walk = Walk(ReplicatedLogs(brokers=2))
    walk.take("leader_writes b1 p1")
    assert walk.refuses("leader_commits b1 p1")
    walk.take("follower_fetches b2 b1 p1", "leader_commits b1 p1")
    assert walk.model.committed == Map({P: 1})


def test_a_leader_that_does_not_know_its_isr_commits_nothing() -> None:
    """It has asked to add a broker, which is elected before the leader hears that it was added."""
    walk = Walk(ReplicatedLogs(brokers=2, max_version=4))
    walk.take("leader_updates_isr b1 p1 b2 yes", *elected(), "session_expires b1", "on_broker_change b2")
    walk.take("leader_updates_isr b1 p1 b2 no", "leader_writes b1 p1")
    assert walk.refuses("leader_commits b1 p1")
    walk.take("controller_reads_isr b2 p1", "controller_elects b2 p1 b2", "leader_retries b1 p1")
    assert not walk.model.leads(B1, P)
    assert walk.refuses("leader_commits b1 p1")


def test_a_follower_truncates_what_its_leader_does_not_have() -> None:
    walk = Walk(ReplicatedLogs(brokers=2))
    walk.take("leader_writes b1 p1", *elected(), *leader_dies(), "controller_elects b2 p1 b2")
    walk.take("controller_publishes b2 b2", "on_leader_assignment_change b2", "broker_starts b1", "broker_registers b1")
    walk.take("broker_subscribes b1", "broker_reads_decisions b1", "follower_fetches b1 b2 p1")
    assert walk.model.logs == Map({P: Map({B1: 0, B2: 0})})
