"""Every spec file of the repository can be checked alone: nothing is missing that another spec would bring."""

from __future__ import annotations

from pathlib import Path

import pytest

from floodmark.checkers.commands.check import planned
from floodmark.checkers.native.engine import NativeEngine
from floodmark.checkers.project.spec import selected_specs
from floodmark.checkers.run.engines import engine_of
from floodmark.checkers.verdict.check import MIN_STATES_FOR_CLUSTER, CheckSettings

SPECS = Path(__file__).parents[2] / "specs"
FILES = sorted(path for path in SPECS.rglob("*.toml"))
LISTED_ELSEWHERE = {"alter_isr/batch.toml", "kraft/batch.toml", "under_replicated/draft.toml", "kraft/progress.toml"}
"""Specs of models of which another spec lists properties, and one with a single known-bad design in the deep tier."""


def _needs_nothing_else(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken, every = planned(selected_specs([path]), CheckSettings())
    assert [result.message for result in broken] == []
    assert every
    for check in every:
        small = check.flawed is not None or (
            check.spec.expect.distinct or MIN_STATES_FOR_CLUSTER
        ) < MIN_STATES_FOR_CLUSTER
        assert not small or type(engine_of(check)) is NativeEngine
    with monkeypatch.context() as without_pyspark:
        without_pyspark.setattr("floodmark.checkers.spark.engine.available", lambda: False)
        assert {type(engine_of(check)) for check in every} == {NativeEngine}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(LISTED_ELSEWHERE))
def test_a_spec_needs_no_other_and_no_cluster(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _needs_nothing_else(SPECS / name, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SPECS).as_posix())
def test_every_spec_needs_no_other_and_no_cluster(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _needs_nothing_else(path, monkeypatch)
