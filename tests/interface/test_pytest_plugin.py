"""``pytest specs/``: specs and claims as items; and nothing at all in a project that has none."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.outcomes import tank
from tests.support.projects import write

ROOT = Path(__file__).parents[2]
CLAIMS = """
    from floodmark.claims import fails, holds
    from floodmark import require


    @holds("rule 1")
    def sums_grow(x: int, y: int) -> bool:
        require(y > 0)
        return x + y > x


    @fails("rule 2")
    def squares_grow(x: int) -> bool:
        return x + x > x


    @holds("rule 3")
    def doubles_grow(x: int) -> bool:
        return x + x > x
"""


PROVED = """
    model = "model.tank:Tank"
    invariants = ["below_size", "never_two"]
    [[prove]]
    properties = ["below_size"]
    [[prove]]
    method = "bmc"
    properties = ["gets_full"]
    [[prove]]
    method = "bmc"
    depth = 4
    properties = ["never_two"]
"""


def run_pytest(root: Path, *arguments: str) -> str:
    """What pytest prints in a repository."""
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False).stdout


def outcomes(printed: str) -> dict[str, str]:
    """The outcome of each item."""
    return dict(re.findall(r"^(specs\S+?::.+?|\S+\.toml\S+|test_\S+) (PASSED|FAILED)", printed, re.MULTILINE))


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run over specs and claims of every kind."""
    root = tank(tmp_path_factory.mktemp("repository"))
    specs = {
        "specs/large.toml": 'model = "model.tank:Tank"\ntier = "deep"\n[[prove]]\ntier = "deep"\n',
        "specs/proved.toml": PROVED,
        "specs/cut.toml": 'model = "model.tank:Tank"\ninvariants = ["below_size"]\n[limits]\nstates = 1\n',
        "specs/unknown.toml": 'model = "model.tank:Tonk"\n',
        "specs/misspelt.toml": 'model = "model.tank:Tank"\ntite = 1\n',
        "specs/invalid.toml": 'model = "model.tank:Tank"\n[\n',
        "specs/api.toml": 'title = "an API"\n[paths]\nmodel = "a:B"\n',
        "specs/claims/sums.py": CLAIMS,
        "specs/claims/plain.py": "x = 1\n",
        "other.toml": 'model = "model.tank:Tank"\n',
    }
    return run_pytest(write(root, specs), "--continue-on-collection-errors", ".")


@pytest.mark.slow
def test_models_known_bad_designs_and_claims_are_items(printed: str) -> None:
    assert outcomes(printed) == {
        "specs/tank.toml::Tank": "FAILED",
        "specs/tank.toml::StopsHalf": "PASSED",
        "specs/tank.toml::Leaks": "PASSED",
        "specs/cut.toml::Tank": "FAILED",
        "specs/proved.toml::Tank": "FAILED",
        "specs/proved.toml::induction below_size": "PASSED",
        "specs/proved.toml::bmc gets_full": "FAILED",
        "specs/proved.toml::bmc never_two": "FAILED",
        "specs/unknown.toml::Tonk": "FAILED",
        "specs/claims/sums.py::sums_grow": "PASSED",
        "specs/claims/sums.py::squares_grow": "PASSED",
        "specs/claims/sums.py::doubles_grow": "FAILED",
    }


def test_a_failure_shows_the_trace_and_no_traceback(printed: str) -> None:
    assert (
        "Tank violates never_two (invariants/tank.py:8) after 3 steps\n  never_two: The level is never two.\n\n"
        "1  start()\n     level: 0\n2  fill()\n"
        "     level: 0 -> 1\n3  fill()\n     level: 1 -> 2\n\nwhy never_two is false:\n"
        "  false: tank.level != 2, that is 2 != 2\n\nreproduce: floodmark check specs/tank.toml --only-variant Tank\n"
    ) in printed
    assert "smallest case: x = 0" in printed
    assert "reproduce: floodmark prove specs/proved.toml --proof 'bmc never_two'" in printed
    assert "specs/proved.toml:5: there is no property 'gets_full'" in printed
    assert "undetermined" in printed
    assert "Traceback" not in printed
    assert "pytest_plugin.py" not in printed


def test_a_spec_that_cannot_be_read_is_an_error_at_its_line(printed: str) -> None:
    assert re.search(r"specs/misspelt\.toml:2: unknown key 'tite'", printed)
    assert re.search(r"specs/invalid\.toml:2: this is not valid TOML", printed)
    assert re.search(r"specs/unknown\.toml:1: Tonk is not defined", printed)
    assert "2 errors" in printed


@pytest.mark.slow
def test_deep_specs_are_for_those_who_ask(tmp_path: Path) -> None:
    specs = {"specs/large.toml": 'model = "model.tank:Tank"\ntier = "deep"\ninvariants = ["below_size"]\n'}
    root = write(tank(tmp_path, 'invariants = ["below_size"]\n'), specs)
    quick, deep = {"specs/tank.toml::Tank": "PASSED"}, {"specs/large.toml::Tank": "PASSED"}
    assert outcomes(run_pytest(root, "specs")) == quick
    assert outcomes(run_pytest(root, "specs", "--floodmark-tier", "deep")) == deep
    (root / "pytest.ini").write_text("[pytest]\nfloodmark_tier = all\n")
    assert outcomes(run_pytest(root, "specs")) == quick | deep


@pytest.mark.slow
def test_a_spec_elsewhere_is_collected_when_it_is_named(tmp_path: Path) -> None:
    root = tank(tmp_path, 'invariants = ["below_size"]\n')
    (root / "specs/tank.toml").rename(root / "tank.toml")
    assert outcomes(run_pytest(root, "tank.toml")) == {"tank.toml::Tank": "PASSED"}
    assert "no tests ran" in run_pytest(root, ".")


PLACES = """
    def pytest_collection_modifyitems(items):
        for item in items:
            print("\\nitem", item.location[1] + 1, item.nodeid)
"""
ROWS = """model = "model.tank:Tank"
    [[row]]
    name = "small"
    constants = {size = 2}
    [[row]]
    name = "large"
    constants = {size = 5}
"""


def test_every_row_is_collected_and_every_item_is_at_its_line(tmp_path: Path) -> None:
    root = write(tank(tmp_path), {"specs/rows.toml": ROWS, "conftest.py": PLACES})
    said = run_pytest(root, "--collect-only", "-s", "specs")
    assert re.findall(r"^item (\d+) (.*)$", said, re.MULTILINE) == [
        ("2", "specs/rows.toml::small::Tank"),
        ("5", "specs/rows.toml::large::Tank"),
        ("1", "specs/tank.toml::Tank"),
        ("3", "specs/tank.toml::StopsHalf"),
        ("7", "specs/tank.toml::Leaks"),
    ]


def test_other_projects_are_left_alone(tmp_path: Path) -> None:
    """Their TOML files are not collected, and nothing of the checkers is imported."""
    files = {
        "pyproject.toml": '[project]\nname = "other"\nversion = "1"\n',
        "config.toml": 'model = "gpt:Large"\n',
        "specs/openapi.toml": 'title = "an API"\n[paths]\nmodel = "a:B"\n',
        "claims/paper.py": "x = 1\n",
        "test_nothing.py": """
            import sys


            def test_nothing() -> None:
                heavy = ("floodmark.checkers.", "floodmark.compiler", "llvmlite", "numpy", "z3")
                assert [name for name in sys.modules if name.startswith(heavy)] == ["floodmark.checkers.pytest_plugin"]
        """,
    }
    assert outcomes(run_pytest(write(tmp_path, files), ".")) == {"test_nothing.py::test_nothing": "PASSED"}


@pytest.mark.slow
def test_our_own_specs_pass_under_pytest() -> None:
    said = run_pytest(ROOT, "specs/examples/two_phase_commit.toml", "specs/claims/kip_595.py")
    assert len(outcomes(said)) > 3
    assert set(outcomes(said).values()) == {"PASSED"}
