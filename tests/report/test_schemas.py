"""Tests the JSON schemas: each is one, refuses what no command writes, and is printed by the command."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jsonschema", reason="jsonschema is not installed")

from jsonschema import ValidationError

from floodmark.checkers.report.schemas import KINDS, schema_of
from tests.support.command import REPOSITORY, floodmark
from tests.support.json_schemas import require_schema, validator

SPEC = "specs/alter_isr/core.toml"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    file = tmp_path_factory.mktemp("results") / "results.json"
    assert floodmark("check", SPEC, "--json", file, at=REPOSITORY).code == 0
    found: dict[str, Any] = json.loads(file.read_text())
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_output_has_a_schema_that_the_command_prints(kind: str, tmp_path: Path) -> None:
    printed = json.loads(floodmark("schema", kind, at=tmp_path).out)
    assert printed == schema_of(f"floodmark.{kind}/1") == validator(f"floodmark.{kind}/1").schema


@pytest.mark.parametrize("name", ["floodmark.results/2", "floodmark.nothing/1", "other"])
def test_another_version_has_no_schema(name: str) -> None:
    with pytest.raises(KeyError):
        schema_of(name)


def test_results_keep_to_their_schema(results: dict[str, Any]) -> None:
    require_schema(json.dumps(results, indent=1))
    assert any(each["violation"] is not None for each in results["results"])


def without(entry: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != key}


@pytest.mark.parametrize("key", ["distinct", "trace", "verdict", "scenarios", "reproduce"])
def test_a_result_that_lacks_a_key_or_has_a_new_one_is_noticed(results: dict[str, Any], key: str) -> None:
    for changed in (without(results["results"][0], key), {**results["results"][0], f"{key}_too": 1}):
        broken = copy.deepcopy(results)
        broken["results"][0] = changed
        with pytest.raises(ValidationError):
            require_schema(json.dumps(broken, indent=1))
