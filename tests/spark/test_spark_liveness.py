"""Liveness of searches that are distributed: the verdicts of the native engine."""

from __future__ import annotations

import random
from typing import Any

import pytest

from floodmark.checkers.liveness import check
from floodmark.checkers.native import search as native
from floodmark.checkers.project.properties import collect
from floodmark.checkers.search_result import Limit, LimitReached, Limits, Options, SearchResult, Stop
from floodmark.checkers.spark import search
from floodmark.checkers.spark.search import Distribution, search_states
from floodmark.language.fairness import Fairness
from floodmark.language.model import Model
from specs.examples.flawed_progress import CoordinatorFails
from specs.examples.two_phase_commit_progress import DecidesSomeDay
from tests.support.fair_graphs import as_model, random_graph

pytestmark = pytest.mark.usefixtures("spark")

FAIR = {
    "coordinator_aborts": Fairness(),
    "manager_learns_of_commit": Fairness(each=("manager",)),
    "manager_learns_of_abort": Fairness(each=("manager",)),
}


def judged(found: SearchResult) -> list[tuple[Any, ...]]:
    return [(it.name, it.verdict, len(it.trace), it.loop, it.bounds, it.needs) for it in found.liveness]


def assert_judged_as_natively(model: Model, options: Options) -> SearchResult:
    properties = list(collect(type(model), []).values())
    found = search_states(model, properties, options, None, Distribution(partitions=2, wide=0))
    assert found.engine == "spark" and found.complete
    assert judged(found) == judged(native.search_states(model, properties, options))
    return found


@pytest.mark.parametrize("cls", [DecidesSomeDay, pytest.param(CoordinatorFails, marks=pytest.mark.slow)])
def test_a_distributed_search_is_judged_as_natively(cls: type[Model]) -> None:
    found = assert_judged_as_natively(cls(managers=3), Options(workers=1, fairness=FAIR))
    verdicts = {it.property: it.verdict for it in found.liveness}
    assert verdicts["everybody_decides"] == ("holds" if cls is DecidesSomeDay else "violated")


@pytest.mark.slow
@pytest.mark.parametrize("cls", [DecidesSomeDay, CoordinatorFails])
def test_the_workers_judge_without_a_graph_at_the_driver(
    cls: type[Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As ``tests/spark/test_elimination.py``, but with Spark."""
    monkeypatch.setattr(search, "MAX_STATES_FOR_DRIVER", 0)
    monkeypatch.setattr(check, "NativeSolver", lambda: None)
    monkeypatch.setattr(check, "GraphMaker", lambda *given: pytest.fail("the driver makes a graph"))
    properties = list(collect(cls, []).values())
    options = Options(workers=1, fairness=FAIR)
    found = search_states(cls(managers=2), properties, options, None, Distribution(partitions=2, wide=0))
    monkeypatch.undo()
    natively = native.search_states(cls(managers=2), properties, options)
    verdicts = {it.name: (it.verdict, it.needs) for it in natively.liveness}
    assert {it.name: (it.verdict, it.needs) for it in found.liveness} == verdicts
    assert not found.notes


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_distributed_random_graphs_are_judged_as_natively(seed: int) -> None:
    with as_model(random_graph(random.Random(seed))) as cls:
        assert_judged_as_natively(cls(), Options(workers=1))


def test_a_limit_that_ends_the_judgement_leaves_it_open(monkeypatch: pytest.MonkeyPatch) -> None:
    model = DecidesSomeDay(managers=3)
    options = Options(workers=1, fairness=FAIR, limits=Limits(seconds=60.0))
    monkeypatch.setattr("floodmark.checkers.liveness.check.budget", lambda started, limits: _ended)
    properties = list(collect(DecidesSomeDay, []).values())
    found = search_states(model, properties, options, None, Distribution(partitions=2, wide=0))
    assert not found.complete and found.stopped == Stop(Limit.MEMORY)


def _ended() -> None:
    raise LimitReached(Stop(Limit.MEMORY))
