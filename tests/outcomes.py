"""Results of real checks of a tiny repository, for the tests of reports."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from floodmark.checkers.check import Settings, checks
from floodmark.checkers.report.outputs import Reports
from floodmark.checkers.report.verdict_summary import Case, cases
from floodmark.checkers.result import CheckResult
from floodmark.checkers.run import run_check
from floodmark.checkers.spec import read
from tests.projects import INVARIANTS, tank_project

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


def check(spec: Path, settings: Settings | None = None) -> list[CheckResult]:
    """The results of a spec's checks."""
    return [run_check(it) for it in checks(read(spec), settings or Settings(workers=1))]


def reports_in(folder: Path, names: Mapping[str, str]) -> Reports:
    """The reports of these kinds, in files of these names."""
    files: dict[str, Any] = {kind: folder / name for kind, name in names.items()}
    return Reports(**files)


def tank_cases(root: Path, spec: str = FLAWED) -> list[Case]:
    """The cases of the tank; to be asked inside of ``root``."""
    return cases(check(tank(root, spec) / "specs/tank.toml"))
