"""Tests the report options: which files they write, when, and what happens when that fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from floodmark.checkers.check import Settings
from floodmark.checkers.commands.cli import command
from floodmark.checkers.exploration import Limits
from floodmark.checkers.gate.outcome import Drift
from floodmark.checkers.report import atomic_file
from floodmark.checkers.report.outputs import Reports, write_reports
from floodmark.checkers.result import ExitCode
from floodmark.checkers.spec import wanted
from floodmark.language.errors import SourceError
from tests.outcomes import check, inside, reports_in, tank


def floodmark(root: Path, *arguments: str, **names: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "floodmark", "check", "specs/tank.toml", *arguments]
    known = {key: value for key, value in os.environ.items() if not key.startswith("GITHUB_")}
    return subprocess.run(command, cwd=root, env={**known, **names}, capture_output=True, text=True, check=False)


def test_one_run_writes_every_report(tmp_path: Path) -> None:
    root = tank(tmp_path)
    names = {"--json": "a.json", "--junit": "a.xml", "--sarif": "a.sarif", "--html": "a.html", "--graph": "a.dot",
             "--itf": "traces/of/today"}
    ran = floodmark(root, *(word for pair in names.items() for word in pair))
    assert ran.returncode == ExitCode.NOT_AS_EXPECTED
    beginnings = {"a.json": '{"results": [', "a.xml": "<?xml", "a.sarif": "{", "a.html": "<!doctype html>",
                  "a.dot": "digraph"}
    for name, beginning in beginnings.items():
        text = (root / name).read_text().replace("{\n ", "{")
        assert text.startswith(beginning)
        assert text.endswith("\n")
    assert len(json.loads((root / "a.json").read_text())["results"]) == 3
    assert sorted(path.name for path in (root / names["--itf"]).iterdir()) == [
        "tank-Leaks.itf.json",
        "tank-StopsHalf.itf.json",
        "tank-Tank.itf.json",
    ]
    assert "::error" not in ran.stdout
    assert not [path for path in root.iterdir() if path.name.startswith(".a.")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--html", "no/such/folder.html"], "no/such/folder.html: cannot be written: there is no folder no/such"),
        (["--junit", "specs"], "specs: cannot be written: it is a folder"),
        (["--itf", "specs/tank.toml"], "specs/tank.toml: cannot be written: File exists"),
        (["--graph", "a.svg"], "a.svg ends neither in .dot nor in .graphml"),
    ],
)
def test_a_path_that_cannot_be_written_is_refused_before_the_search(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    ran = floodmark(tank(tmp_path), *arguments)
    assert ran.returncode == ExitCode.USER_ERROR
    assert message in ran.stderr
    assert ran.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "specs/tank.toml", "--html", "specs/tank.toml"], "would be overwritten: it is an input"),
        (["check", "specs/tank.toml", "--json", "model/tank.py"], "would be overwritten: a .py file is a source"),
        (["check", "specs/tank.toml", "--itf", "model/tank.py"], "model/tank.py: cannot be written: File exists"),
        (["gate", "--update-lock", "--json", "specs/floodmark.lock"], "would be overwritten: a .lock file is a source"),
        (["plan", "a.json", "--current", "b.json", "--json", "a.json"], "a.json: would be overwritten: it is"),
        (["plan", "a.json", "--current", "b.json", "--json", "c.json"], "c.json: would be overwritten: it is"),
        (["prove", "specs/tank.toml", "--json", "specs/tank.toml"], "would be overwritten: it is an input"),
        (["conform", "specs/tank.toml", "--trace", "a.json", "--json", "a.json"], "would be overwritten: it is an in"),
        (["mutate", "specs/tank.toml", "--json", "specs/tank.toml"], "would be overwritten: it is an input"),
    ],
)
def test_neither_inputs_nor_sources_are_overwritten(tmp_path: Path, arguments: list[str], message: str) -> None:
    root = tank(tmp_path)
    for name in ("a.json", "b.json"):
        (root / name).write_text("{}")
    (root / "c.json").symlink_to("b.json")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    ran = subprocess.run([sys.executable, "-m", "floodmark", *arguments], cwd=root, capture_output=True, text=True)
    assert ran.returncode == ExitCode.USER_ERROR
    assert message in ran.stderr
    assert ran.stdout == ""
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_a_report_that_fails_costs_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> str:
        raise TypeError("'NoneType' object is not iterable")

    monkeypatch.setattr("floodmark.checkers.report.html.document.html", broken)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    with inside(tank(tmp_path)):
        Path("a.html").write_text("of an earlier run")
        options = ["--html", "a.html", "--junit", "a.xml", "--json", "a.json"]
        code = command.main(["check", *options], standalone_mode=False)
        said = capsys.readouterr()
        assert code == ExitCode.INTERNAL_ERROR
        assert "never_two" in said.out
        assert said.out.endswith("(exit 1: a property is violated, or an expected violation did not happen)\n")
        assert "internal error in floodmark, in the HTML report: TypeError: 'NoneType' object is not iter" in said.err
        assert not Path("a.html").exists()
        assert Path("a.xml").exists()
        assert len(json.loads(Path("a.json").read_text())["results"]) == 3


REPOSITORY = Path(__file__).parent.parent
QUICK = [
    each.address.relative_to(REPOSITORY / "specs").as_posix()
    for each in wanted([REPOSITORY / "specs"], "quick")
    if each.is_there
]
ALWAYS = (
    "alter_isr/batch.toml", "reassignment/kip236_queue.toml", "reassignment/requests.toml", "zk_controller/topics.toml",
)
"""Specs whose traces have optional sets in maps, maps that are keyed by other identifiers than who acts, and queues."""
FEW = Limits(states=20_000)
"""Searches that end here are undetermined; known-bad designs mostly break before."""


@pytest.mark.parametrize(
    "spec", [pytest.param(each, marks=() if each in ALWAYS else pytest.mark.slow) for each in QUICK]
)
def test_every_report_is_written_for_every_spec(spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    results = check(REPOSITORY / "specs" / spec, Settings(engine="native", workers=1, limits=FEW))
    names = {"json": "a.json", "junit": "a.xml", "sarif": "a.sarif", "html": "a.html", "graph": "a.graphml",
             "itf": "itf"}
    assert write_reports(reports_in(tmp_path, names), results) == 0
    assert {path.name for path in tmp_path.iterdir()} >= {*names.values(), "summary.md"} - {"itf"}


def test_a_file_is_written_as_a_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(SourceError, match="cannot be written: No space left on device"):
        atomic_file.write(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    atomic_file.write(tmp_path / "written", "")
    assert (tmp_path / "written").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_report_may_go_to_a_device(tmp_path: Path) -> None:
    ran = floodmark(tank(tmp_path), "--json", "/dev/stdout")
    assert '"results": [' in ran.stdout
    assert ran.returncode == ExitCode.NOT_AS_EXPECTED


def test_github_is_told_without_being_asked(tmp_path: Path) -> None:
    root = tank(tmp_path)
    (root / "summary.md").write_text("before\n")
    ran = floodmark(root, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(root / "summary.md"))
    assert "::error file=invariants/tank.py,line=8,title=tank Tank::violated: never_two" in ran.stdout
    assert (root / "summary.md").read_text().startswith("before\n## Floodmark: a property is violated")
    ran = floodmark(root, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(root / "no/such/file"))
    assert ran.returncode == ExitCode.USER_ERROR


def test_elsewhere_it_is_silent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with inside(tmp_path), pytest.MonkeyPatch.context() as patch:
        patch.delenv("GITHUB_ACTIONS", raising=False)
        patch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
        write_reports(Reports(), check(tank(tmp_path) / "specs/tank.toml"))
    assert capsys.readouterr().out == ""
    assert not (tmp_path / "summary.md").exists()


def test_drift_from_the_lock_is_a_failure_in_every_report(tmp_path: Path) -> None:
    drift = Drift("alter_isr/core", "distinct", "663,218", "12", "the state space shrank", "specs/tank.toml", 1)
    names = {"json": "a.json", "junit": "a.xml", "sarif": "a.sarif", "html": "a.html"}
    with inside(tmp_path):
        results = check(tank(tmp_path, 'invariants = ["below_size"]\n') / "specs/tank.toml")
        write_reports(reports_in(tmp_path, names), results, drift=[drift])
    assert json.loads((tmp_path / "a.json").read_text())["drift"][0]["note"] == "the state space shrank"
    (failure,) = ElementTree.parse(tmp_path / "a.xml").getroot().iter("failure")
    assert failure.get("message") == "drift: distinct: was 663,218 | now 12"
    (run,) = json.loads((tmp_path / "a.sarif").read_text())["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["floodmark.lock"]
    assert run["invocations"][0]["exitCode"] == ExitCode.DRIFT
    page = (tmp_path / "a.html").read_text()
    assert "1 of 2 outcomes is as expected" in page
    assert "the state space shrank" in page
