"""Results of real checks of a tiny repository, for the tests of reports."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from floodmark.checkers.commands.report import ReportKind, report
from floodmark.checkers.project.spec import read
from floodmark.checkers.report.outputs import Reports, write_reports
from floodmark.checkers.report.verdict_summary import SummaryLine, cases
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.verdict.check import CheckSettings, checks
from floodmark.checkers.verdict.gate_outcome import Drift
from floodmark.checkers.verdict.result import CheckResult, ExitCode
from tests.support.projects import INVARIANTS, tank_project

FLAWED = """
[[flawed]]
class = "flawed:StopsHalf"
property = "never_two"

[[flawed]]
class = "flawed:Leaks"
property = "one_step"
"""
"""The tank itself breaks ``never_two``, which no spec expects; of two known-bad designs one is found, one is not."""


@contextmanager
def inside(folder: Path) -> Iterator[Path]:
    """While it lasts, the current folder is ``folder``: reports name files from there."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield folder
    finally:
        os.chdir(before)


def tank(root: Path, spec: str = FLAWED) -> Path:
    """A repository of a tank whose own model breaks an invariant, with .git at its root."""
    (root / ".git").mkdir(parents=True, exist_ok=True)
    return tank_project(root, spec, **{"invariants/tank.py": INVARIANTS})


def check(spec: Path, settings: CheckSettings | None = None) -> list[CheckResult]:
    """The results of a spec's checks."""
    return [run_check(it) for it in checks(read(spec), settings or CheckSettings(workers=1))]


def write_all(
    folder: Path, names: Mapping[ReportKind, str], results: Sequence[CheckResult], drift: Sequence[Drift] = ()
) -> ExitCode:
    """Writes ``a.json``, as ``check`` does, and makes of it the reports of these kinds, in files of these names; asked
    inside of the folder in which it was checked. The exit code is that of writing the results."""
    code = write_reports(Reports(json=folder / "a.json"), results, drift=drift)
    for kind, name in names.items():
        report(folder / "a.json", kind, folder / name)
    return code


def tank_cases(root: Path, spec: str = FLAWED) -> list[SummaryLine]:
    """The cases of the tank; to be asked inside of ``root``."""
    return cases(check(tank(root, spec) / "specs/tank.toml"))
