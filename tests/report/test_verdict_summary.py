"""Tests outcomes of every kind as report cases, in every report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import networkx
import pytest

from floodmark.checkers.commands.report import ReportKind
from floodmark.checkers.explanation.source_location import SourceLocation, action_location, source_location
from floodmark.checkers.report.text import about
from floodmark.checkers.report.verdict_summary import cases, check_case, status_of
from floodmark.checkers.search_result import Limits
from floodmark.checkers.verdict.check import CheckSettings
from floodmark.checkers.verdict.result import CheckResult, ExitCode
from floodmark.checkers.verdict.verdict import _main_violation, unreadable_spec
from floodmark.language.errors import SourceError
from tests.support.outcomes import check, inside, tank, write_all
from tests.support.projects import write

NO_DRAIN = {
    "specs/deadlock.py": """
        from floodmark import require
        from model.tank import Tank


        class Blocked(Tank):
            def drain(self) -> None:
                require(False)
    """
}


WRONGLY = '[expect]\nverdict = "violated"\nproperty = "below_size"\n'


def outcome(root: Path, kind: str) -> CheckResult:
    """A result of a kind, of the tank."""
    write(tank(root), NO_DRAIN)
    good = 'invariants = ["below_size"]\n'
    specs = {
        "holds": f'model = "model.tank:Tank"\n{good}',
        "violated": 'model = "model.tank:Tank"\n',
        "step": 'model = "flawed:Leaks"\ninvariants = ["one_step"]\n',
        "deadlock": f'model = "deadlock:Blocked"\ndeadlock = true\n{good}',
        "model error": f'model = "flawed:Overflows"\n{good}',
        "unreached": 'model = "flawed:Leaks"\ninvariants = ["gets_full"]\n',
        "unexpectedly good": f'model = "model.tank:Tank"\n{good}{WRONGLY}',
        "undetermined": f'model = "model.tank:Tank"\n{good}',
        "nothing": 'model = "model.tank:Tank"\ninvariants = []\n',
        "unknown": 'model = "model.tank:Tonk"\n',
        "symmetric": f'model = "model.tank:Tank"\nsymmetry = true\n{good}',
    }
    if kind == "unreadable":
        return unreadable_spec(root / "specs/tank.toml", SourceError("unknown key", str(root / "specs/tank.toml"), 2))
    (root / "specs/tank.toml").write_text(specs[kind])
    limits = Limits(states=1) if kind == "undetermined" else Limits()
    (result,) = check(root / "specs/tank.toml", CheckSettings(workers=1, limits=limits))
    return result


KINDS = {
    "holds": "passed",
    "violated": "failed",
    "step": "failed",
    "deadlock": "failed",
    "model error": "error",
    "unreached": "failed",
    "unexpectedly good": "failed",
    "undetermined": "error",
    "nothing": "error",
    "unknown": "error",
    "symmetric": "passed",
    "unreadable": "error",
}


@pytest.mark.parametrize(("kind", "status"), KINDS.items())
def test_an_outcome_of_every_kind_is_in_every_report(
    tmp_path: Path, kind: str, status: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    out = tmp_path / "out"
    out.mkdir()
    with inside(tmp_path):
        result = outcome(tmp_path, kind)
        (case,) = cases([result])
        assert case.status == status
        names: dict[ReportKind, str] = {"junit": "a.xml", "sarif": "a.sarif", "html": "a.html", "itf": "itf"}
        if result.subject is not None:
            names["graph"] = "a.graphml"
        write_all(out, names, [result])
    wrong = int(status != "passed")
    suites = ElementTree.parse(out / "a.xml").getroot()
    assert len([it for tag in ("failure", "error") for it in suites.iter(tag)]) == wrong
    (run,) = json.loads((out / "a.sarif").read_text())["runs"]
    assert len(run["results"]) == wrong
    assert capsys.readouterr().out.count("::error ") == wrong
    page = (out / "a.html").read_text()
    assert f"{1 - wrong} of 1 outcome is as expected" in page
    assert ("What needs attention" in page) == bool(wrong)
    assert (tmp_path / "summary.md").read_text().count("\n| :") == 1
    traces = list((out / "itf").iterdir()) if (out / "itf").exists() else []
    assert len(traces) == int(result.violation is not None)
    assert (out / "a.graphml").exists() == (result.subject is not None)
    if result.subject is not None:
        graph = networkx.read_graphml(out / "a.graphml", force_multigraph=True)
        assert graph.number_of_nodes() >= 1


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (ExitCode.AS_EXPECTED, "passed"),
        (ExitCode.NOT_AS_EXPECTED, "failed"),
        (ExitCode.DRIFT, "failed"),
        (ExitCode.UNDETERMINED, "error"),
        (ExitCode.NOTHING_CHECKED, "error"),
        (ExitCode.USER_ERROR, "error"),
        (ExitCode.INTERNAL_ERROR, "error"),
    ],
)
def test_only_what_is_as_expected_passes(code: ExitCode, status: str) -> None:
    assert status_of(code) == status


def test_places_are_relative_to_the_repository_wherever_the_command_runs(tmp_path: Path) -> None:
    with inside(tmp_path):
        result = outcome(tmp_path, "violated")
    assert result.subject is not None
    with inside(tmp_path / "specs"):
        assert check_case(result).place == SourceLocation("invariants/tank.py", 8)
        assert source_location("tank.toml", None) == SourceLocation("specs/tank.toml", 1)
        assert source_location("/usr/lib/x.py", 3) == SourceLocation("/usr/lib/x.py", 3)
        at = action_location(result.subject, "drain")
    assert at is not None
    assert (tmp_path / at.file).read_text().splitlines()[at.line - 1].strip() == "def drain(self) -> None:"


@pytest.mark.parametrize(
    ("doc", "sentence"),
    [
        ("It holds.", "It holds."),
        ("It holds\n    always. It must.", "It holds always."),
        ('So ("ideally ... Only then") it is. Or not.', 'So ("ideally ... Only then") it is.'),
        ("``a`` is 1.5 of ``b``", "a is 1.5 of b"),
    ],
)
def test_a_sentence_of_the_docstring_says_what_is_broken(tmp_path: Path, doc: str, sentence: str) -> None:
    with inside(tmp_path):
        result = outcome(tmp_path, "violated")
    prop = result.find_property(result.property)
    assert prop is not None
    result = replace(result, properties=[replace(prop, doc=doc)])
    assert about(result) == {"never_two": sentence}


@pytest.mark.parametrize(
    ("wanted", "found", "main"),
    [
        ("late", ["early", "late", "later"], 1),
        ("early", ["early", "late"], 0),
        ("late", ["early", "error late", "late"], 2),
        ("other", ["early", "error late", "late"], 1),
        (None, ["early", "late"], 0),
        ("late", [], None),
    ],
)
def test_of_several_violations_the_expected_one_decides(wanted: str | None, found: list[str], main: int | None) -> None:
    violations: list[Any] = [
        SimpleNamespace(property=text.rpartition(" ")[2], kind="error" if text.startswith("error") else "invariant")
        for text in found
    ]
    check: Any = SimpleNamespace(wanted_property=wanted)
    result: Any = SimpleNamespace(violations=violations)
    assert _main_violation(check, result) is (None if main is None else violations[main])
