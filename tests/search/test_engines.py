"""Which engine searches a check: the one that is named, else what the spec or an option asks for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import click
import pytest

from floodmark.checkers.command_line.check import check as command
from floodmark.checkers.engine import Engine
from floodmark.checkers.native.engine import NativeEngine
from floodmark.checkers.project.spec import read
from floodmark.checkers.project.spec_entries import ExpectedVerdict
from floodmark.checkers.reference.engine import ReferenceEngine
from floodmark.checkers.run.engines import cluster_of, engine_of
from floodmark.checkers.spark.engine import SparkEngine
from floodmark.checkers.verdict.check import MIN_STATES_FOR_CLUSTER, Check, CheckSettings, EngineName
from tests.support.projects import tank_project


@pytest.fixture
def check(tmp_path: Path) -> Check:
    return Check(read(tank_project(tmp_path) / "specs/tank.toml"), None, CheckSettings())


def test_the_command_offers_every_engine(check: Check) -> None:
    (option,) = [option for option in command.params if option.name == "engine"]
    assert isinstance(option.type, click.Choice)
    assert list(option.type.choices) == list(get_args(EngineName))
    for name in get_args(EngineName):
        assert isinstance(engine_of(replace(check, settings=CheckSettings(engine=name))), Engine)


@pytest.mark.parametrize(
    ("settings", "engine"),
    [
        ({"engine": "native", "keep_results": "there"}, NativeEngine),
        ({"engine": "reference"}, ReferenceEngine),
        ({"engine": "spark"}, SparkEngine),
        ({}, NativeEngine),
        ({"engine": "spark", "master": "local[1]", "distribute": "always"}, SparkEngine),
        ({"checkpoint": "there", "partitions": 2}, NativeEngine),
    ],
)
def test_what_is_named_comes_before_what_is_asked_for(
    check: Check, settings: dict[str, Any], engine: type[Engine]
) -> None:
    asked = replace(check, settings=CheckSettings(**settings))
    assert type(engine_of(asked)) is engine
    assert (cluster_of(asked) is not None) == (engine is SparkEngine)


def test_a_deep_search_is_for_a_cluster_and_one_beside_others_stays_in_its_process(check: Check) -> None:
    def deep(expected: int | None) -> Check:
        return replace(check, spec=replace(check.spec, tier="deep", expect=ExpectedVerdict(distinct=expected)))

    assert type(engine_of(deep(None))) is SparkEngine
    assert type(engine_of(deep(MIN_STATES_FOR_CLUSTER))) is SparkEngine
    assert type(engine_of(deep(MIN_STATES_FOR_CLUSTER - 1))) is NativeEngine
    assert type(engine_of(check.beside(2))) is NativeEngine


def test_without_pyspark_a_deep_search_is_native(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    expect = ExpectedVerdict(distinct=MIN_STATES_FOR_CLUSTER)
    deep = replace(check, spec=replace(check.spec, tier="deep", expect=expect))
    assert type(engine_of(deep)) is SparkEngine
    monkeypatch.setattr("floodmark.checkers.spark.engine.available", lambda: False)
    assert type(engine_of(deep)) is NativeEngine
