"""Walks on Spark are the walks of one machine: the same seed finds the same, whoever takes them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from floodmark.checkers.coverage.places import shares
from floodmark.checkers.project.spec_entries import SimulationSettings
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.search_result import Limits, Progress, Proportion, Watcher
from floodmark.checkers.simulation.sample import Sample
from floodmark.checkers.simulation.totals import Counts, Totals
from floodmark.checkers.spark import walks
from floodmark.checkers.spark.check_run import results_frame
from floodmark.checkers.verdict.check import Check, CheckSettings, one_check
from floodmark.checkers.verdict.result import CheckResult
from floodmark.language.widths import FIRST_WIDTHS

pytest.importorskip("pyspark")
CORE, COMMIT = Path("specs/alter_isr/core.toml"), Path("specs/examples/two_phase_commit.toml")


def walking(spec: Path, variant: str, count: int, coverage: bool = False) -> Check:
    settings = CheckSettings(
        engine="spark", only_variant=variant, walks=SimulationSettings(count, 30, 4, "actions"), coverage=coverage
    )
    return replace(one_check(spec, variant, CheckSettings()), settings=settings)


def both(check: Check, watch: Watcher | None = None) -> tuple[CheckResult, CheckResult]:
    """The results of a cluster, which is watched, and of this machine."""
    alone = replace(check, settings=replace(check.settings, engine="auto", workers=1))
    return run_check(check, watch), run_check(alone)


def figures(result: CheckResult) -> object:
    found = result.search_result
    assert found is not None
    return replace(found, engine="", seconds=0, compile_seconds=0, memory=0, workers=0)


NOTHING = Totals(
    Counts(0, 0, 0, 0, 0, np.zeros(64, np.uint64), np.zeros(1, np.uint64), None),
    Sample.of_table(np.zeros(1, np.uint64), 0),
)


@pytest.mark.parametrize(("last", "waves"), [({"hit": (40, 2)}, 2), ({"is_late": True}, 2), ({}, 6)])
def test_no_wave_follows_a_problem_or_the_end_of_the_time(
    last: dict[str, Any], waves: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the groups 0 to 999 a first wave has 2 times 16, the next ones twice as many each."""
    check = walking(COMMIT, "TwoPhaseCommit", 1000)
    context: Any = SimpleNamespace(defaultParallelism=2, master="local[2]")
    taken: list[Any] = []

    def wave(self: Any, files: Any, widths: Any, parts: Any) -> list[Totals]:
        taken.append(parts)
        return [NOTHING, replace(NOTHING, **(last if len(taken) == 2 else {}))]

    monkeypatch.setattr(walks, "broadcast_files", lambda *given: SimpleNamespace(destroy=lambda: None))
    monkeypatch.setattr(walks._Waves, "_wave", wave)
    simulation: Any = SimpleNamespace(show=lambda *given: None, walking=SimpleNamespace(walks=10**6))
    found = walks._Waves(context, check, None).take(simulation, FIRST_WIDTHS, 0, 1000)
    assert len(taken) == waves
    assert taken[:2] == [[(0, 16), (16, 32)], [(32, 64), (64, 96)]]
    assert (found.hit, found.is_late) == (last.get("hit"), last.get("is_late", False))


def test_walks_are_over_after_their_limit_and_not_before() -> None:
    check = walking(COMMIT, "TwoPhaseCommit", 1000)
    context: Any = SimpleNamespace(defaultParallelism=2)
    unlimited = walks._Waves(context, check, None)
    limited = walks._Waves(context, replace(check, settings=replace(check.settings, limits=Limits(seconds=60))), None)
    assert not unlimited._is_over() and not limited._is_over()
    for each in (unlimited, limited):
        each.began -= 61
    assert not unlimited._is_over() and limited._is_over()


@pytest.mark.usefixtures("spark")
def test_a_cluster_counts_what_one_machine_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walks, "FIRST_GROUPS", 2)  # so that there are several waves
    waves: list[Progress] = []
    there, here = both(walking(COMMIT, "TwoPhaseCommit", 700, coverage=True), waves.append)
    assert here.search_result is not None and here.search_result.walked is not None
    assert here.search_result.walked.walks == 700
    assert here.search_result.coverage is not None
    assert figures(there) == figures(here)
    last = [it.walked for it in waves if it.walked is not None][-1]
    assert last.walks == Proportion(700, 700)
    assert last.actions == here.search_result.actions
    assert last.covered == shares(here.search_result.coverage)


@pytest.mark.usefixtures("spark")
def test_a_cluster_finds_the_counterexample_of_one_machine() -> None:
    there, here = both(walking(CORE, "IgnoresPendingExpand", 100_000))
    assert there.verdict == here.verdict == "violated"
    assert there.violation == here.violation
    assert there.search_result is not None and here.search_result is not None
    assert there.search_result.notes == here.search_result.notes


def test_a_table_of_results_says_which_walks_they_are_of(spark: object) -> None:
    from pyspark.sql import SparkSession

    assert isinstance(spark, SparkSession)
    check = walking(COMMIT, "TwoPhaseCommit", 64)
    walked = run_check(replace(check, settings=replace(check.settings, engine="auto")))
    (row,) = results_frame(spark, [walked]).select("verdict", "walks", "walk_steps", "seed", "strategy").collect()
    assert tuple(row) == ("undetermined", 64, 30, 4, "actions")
