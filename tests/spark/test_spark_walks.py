"""Walks on Spark are the walks of one machine: the same seed finds the same, whoever takes them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from floodmark.checkers.coverage.places import shares
from floodmark.checkers.project.spec_entries import Simulate
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.search_result import Progress, Share, Watcher
from floodmark.checkers.spark import walks
from floodmark.checkers.spark.results_frame import results_frame
from floodmark.checkers.verdict.check import Check, CheckSettings, one_check
from floodmark.checkers.verdict.result import CheckResult

pytest.importorskip("pyspark")
CORE, COMMIT = Path("specs/alter_isr/core.toml"), Path("specs/examples/two_phase_commit.toml")


def walking(spec: Path, variant: str, count: int, coverage: bool = False) -> Check:
    settings = CheckSettings(
        engine="spark", only_variant=variant, walks=Simulate(count, 30, 4, "actions"), coverage=coverage
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
    assert last.walks == Share(700, 700)
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
