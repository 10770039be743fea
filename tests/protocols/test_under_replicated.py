"""The under-replicated metric: the timeline of a reassignment, small witnesses, and CPython against native code."""

from __future__ import annotations

import pytest

from floodmark import Model, Set
from floodmark.language.values import running
from model.under_replicated.metric import (
    Assignment,
    Broker,
    BrokerViews,
    KRaftOverride,
    MiddleDraft,
    Partition,
    ShippedCommand,
    ShippedMetric,
    TopicCommand,
    UnderReplicated,
    told,
    understood,
)
from tests.support.agreement import assert_agrees

P = Partition(1)


def some(*numbers: int) -> Set[Broker]:
    return Set(Broker(number) for number in numbers)


def state(isr: Set[Broker], before: Set[Broker], after: Set[Broker]) -> Assignment:
    """A partition that is being reassigned from ``before`` to ``after``."""
    leader = next(iter(isr))
    return Assignment(leader=leader, isr=isr, replicas=before | after, adding=after - before, removing=before - after)


TIMELINE = [
    # the ISR while [1, 2, 3] becomes [4, 5, 6], whether the metric of old, of the drafts, as adopted raises the alarm
    (some(1, 2, 3), True, False, False),
    (some(1, 2, 3, 4), True, False, False),
    (some(1, 2, 4, 5), True, True, False),
    (some(1, 4, 5), True, True, False),
    (some(1, 2, 3, 4, 5, 6), False, False, False),
    (some(4, 5, 6), True, True, False),
    (some(1, 4), True, True, True),
]


@pytest.mark.parametrize(("isr", "old", "drafts", "adopted"), TIMELINE)
def test_the_metrics_follow_the_timeline_of_a_reassignment(
    isr: Set[Broker], old: bool, drafts: bool, adopted: bool
) -> None:
    now = state(isr, before=some(1, 2, 3), after=some(4, 5, 6))
    assert (len(now.replicas) > len(now.isr)) == old
    assert UnderReplicated(brokers=6).is_under_replicated(now) == drafts
    assert MiddleDraft(brokers=6).is_under_replicated(now) == drafts
    assert ShippedMetric(brokers=6).is_under_replicated(now) == adopted


def test_an_added_replica_makes_up_for_one_from_before() -> None:
    now = state(some(1, 2, 4), before=some(1, 2, 3), after=some(1, 2, 3, 4))
    assert UnderReplicated(brokers=4).is_under_replicated(now)
    assert not ShippedMetric(brokers=4).is_under_replicated(now)


def test_a_request_tells_what_is_reassigned() -> None:
    now = state(some(1, 2), before=some(1, 2), after=some(2, 3))
    request = told(now)
    assert (request.current, request.impending) == (some(1, 2), some(2, 3))
    assert understood(request) == now
    calm = Assignment(leader=Broker(1), isr=some(1, 2), replicas=some(1, 2), adding=Set(), removing=Set())
    assert told(calm).impending == Set()
    assert understood(told(calm)) == calm


def test_an_override_keeps_the_origin_but_in_kraft() -> None:
    for cls, origin in ((ShippedMetric, some(1)), (KRaftOverride, some(1, 2))):
        model = cls(brokers=3)
        model.reset()
        with running(model):
            model.start(some(1), Broker(1))
            model.reassignment_starts(P, some(2), Broker(1))
            model.reassignment_starts(P, some(3), Broker(1))
            assert model.assignments[P].replicas - model.assignments[P].adding == origin
            assert model.is_under_replicated(model.assignments[P]) == (cls is KRaftOverride)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cls", "constants"),
    [
        (UnderReplicated, {"brokers": 2}),
        (MiddleDraft, {"brokers": 2}),
        (KRaftOverride, {"brokers": 2}),
        (BrokerViews, {"brokers": 2, "max_version": 2}),
        pytest.param(TopicCommand, {"brokers": 2}, marks=pytest.mark.slow),
        pytest.param(KRaftOverride, {"brokers": 3}, marks=pytest.mark.slow),
        pytest.param(ShippedCommand, {"brokers": 2}, marks=pytest.mark.slow),
    ],
)
def test_native_code_agrees_with_cpython(cls: type[Model], constants: dict[str, int]) -> None:
    assert_agrees(cls, workers=(1,), **constants)
