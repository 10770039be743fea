"""Tests the limits of a whole run of the gate: what has no verdict when they are reached is never green."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from floodmark.checkers.commands.gate import GateRequest, gate
from floodmark.checkers.gate.job import CheckJob, ClaimJob, ProofJob, overdue
from floodmark.checkers.gate.limits import RunDeadline, limits_of, seconds_left
from floodmark.checkers.gate.plan import plan_of
from floodmark.checkers.gate.scope import GateScope
from floodmark.checkers.processes import OverdueJob, run_each
from floodmark.checkers.report.outputs import Reports
from floodmark.checkers.search_result import Limits
from floodmark.checkers.verdict.check import CheckSettings
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language.errors import SourceError
from tests.gate.test_gate import CLAIMS
from tests.support.gates import SPEC, Ended, locked, repository

PROVED = f'{SPEC}\n[[prove]]\nmethod = "induction"\nproperties = ["below_size"]\n'
FILES = {"specs/claims/sums.py": CLAIMS.format("fails")}


def run(root: Path, limits: Limits = Limits(), update: bool = False) -> Ended:
    said: list[str] = []
    settings = CheckSettings(engine="native", workers=1, limits=limits)
    code = gate(GateRequest(root, "quick", update, False, settings), Reports(), said.append)
    return Ended(int(code), said)


def test_what_has_no_verdict_in_time_is_undetermined(tmp_path: Path) -> None:
    root = repository(tmp_path, spec=PROVED, files=FILES)
    locked(root)
    ended = run(root, Limits(seconds=0.0))
    assert ended.code == ExitCode.UNDETERMINED, ended.text
    assert "1 spec, 1 known-bad design, 1 proof, 1 claim: 4 undetermined" in ended.text
    assert ended.text.count("the gate's limit of 0 seconds was reached before this had a verdict") >= 3
    assert "--max-seconds 0" in ended.lines[-1]
    assert run(root, Limits(seconds=0.0), update=True).code == ExitCode.UNDETERMINED
    assert run(root, Limits(seconds=600.0)).code == 0


def test_a_project_may_state_them(tmp_path: Path) -> None:
    root = repository(tmp_path, spec=SPEC)
    locked(root)
    (root / "pyproject.toml").write_text('[tool.floodmark.gate.limits]\nseconds = 0\nmemory = "8G"\n')
    assert limits_of(root, Limits()) == Limits(seconds=0.0, memory=8 << 30)
    assert limits_of(root, Limits(seconds=9.0)) == Limits(seconds=9.0, memory=8 << 30)
    assert run(root).code == ExitCode.UNDETERMINED
    assert run(root, Limits(seconds=600.0)).code == 0


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("[tool.floodmark.gate.limits]\nsecond = 9\n", 2, "unknown key 'second'; did you mean 'seconds'?"),
        ("\n[tool.floodmark.gate.limits]\nstates = 9\n", 3, "unknown key 'states'"),
        ("[tool.floodmark.gate.limits]\nmemory = 'much'\n", 2, "'much' is not an amount of memory"),
        ("[tool.floodmark.gat.limits]\nseconds = 9\n", 1, "unknown key 'gat'; did you mean 'gate'?"),
        ("[tool.floodmark.gate]\nseconds = 9\n", 2, "unknown key 'seconds'"),
    ],
)
def test_mistakes_in_limits_are_reported_with_their_line(tmp_path: Path, text: str, line: int, said: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(SourceError) as error:
        limits_of(tmp_path, Limits())
    assert said in error.value.message
    assert (error.value.file, error.value.line) == (str(tmp_path / "pyproject.toml"), line)


def test_the_sooner_limit_counts() -> None:
    assert seconds_left(None) is None
    assert seconds_left(None, 3.0) == 3.0
    assert seconds_left(RunDeadline.after(100.0), 3.0) == 3.0
    left = seconds_left(RunDeadline.after(2.0), 3.0)
    assert left is not None
    assert left <= 2.0


def test_a_job_that_goes_on_and_on_is_killed_and_undetermined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("floodmark.checkers.processes.GRACE", 0.1)
    ((_, lost),) = run_each(time.sleep, [60.0], 1, seconds=0.1)
    assert isinstance(lost, OverdueJob)
    root = repository(tmp_path, spec=PROVED, files=FILES)
    plan = plan_of(GateScope.of(root), "quick", CheckSettings(), None)
    jobs = [*plan.checks, *plan.others]
    assert {type(job) for job in jobs} == {CheckJob, ProofJob, ClaimJob}
    for job in jobs:
        result, sources = overdue(job, RunDeadline(5.0, 0.0))
        assert (result.exit_code, result.verdict, sources) == (ExitCode.UNDETERMINED, "undetermined", {})
