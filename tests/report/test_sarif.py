"""Tests SARIF 2.1.0: the output satisfies the standard's schema, and places are right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from floodmark.checkers.report.sarif import sarif
from floodmark.checkers.report.verdict_summary import SummaryLine, cases
from floodmark.checkers.search_result import Limits
from floodmark.checkers.verdict.check import CheckSettings
from tests.support.outcomes import check, inside, tank, tank_cases


def run_of(every: list[SummaryLine]) -> dict[str, Any]:
    log = json.loads(sarif(every))
    assert set(log) == {"$schema", "version", "runs"}
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    return dict(run)


def locations(result: dict[str, Any]) -> list[dict[str, Any]]:
    (flow,) = result["codeFlows"]
    (thread,) = flow["threadFlows"]
    return list(thread["locations"])


def test_the_log_is_well_formed(tmp_path: Path) -> None:
    """The required properties and the enumerations of the schema."""
    with inside(tmp_path):
        run = run_of(tank_cases(tmp_path))
    driver = run["tool"]["driver"]
    assert driver["name"] == "floodmark"
    assert driver["version"]
    identifiers = [rule["id"] for rule in driver["rules"]]
    assert len(set(identifiers)) == len(identifiers)
    assert all(isinstance(rule["shortDescription"]["text"], str) for rule in driver["rules"])
    assert all(isinstance(invocation["executionSuccessful"], bool) for invocation in run["invocations"])
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
        assert isinstance(result["message"]["text"], str)
        assert all(isinstance(value, str) for value in result["partialFingerprints"].values())
        for location in [*result["locations"], *(step["location"] for step in locations(result))]:
            artifact = location["physicalLocation"]["artifactLocation"]
            assert artifact["uriBaseId"] in run["originalUriBaseIds"]
            assert not artifact["uri"].startswith(("/", "file:"))
            assert location["physicalLocation"]["region"]["startLine"] >= 1
        for step in locations(result):
            assert step.get("importance", "important") in ("important", "essential", "unimportant")
            assert all(isinstance(value["text"], str) for value in step.get("state", {}).values())
    for base in run["originalUriBaseIds"].values():
        assert base["uri"].startswith("file:///")
        assert base["uri"].endswith("/")


def test_only_what_is_not_as_expected_is_listed(tmp_path: Path) -> None:
    with inside(tmp_path):
        run = run_of(tank_cases(tmp_path))
    assert [result["ruleId"] for result in run["results"]] == ["never_two"]
    assert run["tool"]["driver"]["rules"][0]["shortDescription"]["text"] == "The level is never two."


def test_the_places_are_the_lines_of_the_property_and_of_each_action(tmp_path: Path) -> None:
    with inside(tmp_path):
        run = run_of(tank_cases(tmp_path))
    base = Path(run["originalUriBaseIds"]["%SRCROOT%"]["uri"].removeprefix("file://"))
    (result,) = run["results"]

    def line(location: dict[str, Any]) -> str:
        physical = location["physicalLocation"]
        lines = (base / physical["artifactLocation"]["uri"]).read_text().splitlines()
        return str(lines[physical["region"]["startLine"] - 1].strip())

    assert [line(location) for location in result["locations"]] == ["def never_two(tank: Tank) -> bool:"]
    flow = locations(result)
    assert [line(step["location"]) for step in flow] == [
        "def start(self) -> None:",
        "def fill(self) -> None:",
        "def fill(self) -> None:",
        "def never_two(tank: Tank) -> bool:",
    ]
    assert [step["location"]["message"]["text"] for step in flow[:3]] == ["start()", "fill()", "fill()"]
    assert [step["state"] for step in flow[:3]] == [{"level": {"text": text}} for text in "012"]
    assert [step["executionOrder"] for step in flow] == [1, 2, 3, 4]


def test_a_step_that_fails_is_in_the_flow(tmp_path: Path) -> None:
    with inside(tmp_path):
        spec = tank(tmp_path, "") / "specs/tank.toml"
        spec.write_text('model = "flawed:Overflows"\ninvariants = ["below_size"]\nconstants = {size = 1}\n')
        (result,) = run_of(cases(check(spec)))["results"]
    assert [step["location"]["message"]["text"] for step in locations(result)][:-1] == ["start()", "fill()", "fill()"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "model/tank.py"


def test_undetermined_is_an_error(tmp_path: Path) -> None:
    with inside(tmp_path):
        spec = tank(tmp_path, "") / "specs/tank.toml"
        run = run_of(cases(check(spec, CheckSettings(workers=1, limits=Limits(states=1)))))
    assert [(result["ruleId"], result["level"]) for result in run["results"]] == [("undetermined", "error")]


def test_a_broken_spec_is_an_error_at_its_line_and_the_run_did_not_succeed(tmp_path: Path) -> None:
    with inside(tmp_path):
        spec = tank(tmp_path, "") / "specs/tank.toml"
        spec.write_text('title = "a"\nmodel = "model.tank:Tonk"\n')
        run = run_of(cases(check(spec)))
    (result,) = run["results"]
    physical = result["locations"][0]["physicalLocation"]
    assert (physical["artifactLocation"]["uri"], physical["region"]["startLine"]) == ("specs/tank.toml", 2)
    assert run["invocations"] == [{"executionSuccessful": False, "exitCode": 2}]
