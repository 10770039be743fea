"""Tests how a whole run is measured: what is traced, and what begins first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import measuring

TESTS = Path(__file__).parents[1]

RC = """
[run]
parallel = true
concurrency = thread,multiprocessing
patch = subprocess,_exit
include = */work.py
disable_warnings = already-imported
"""

FILE = """
import os
import subprocess
import sys
from multiprocessing import get_context

import pytest

from work import {name}


def ask(pipe):
    pipe.send({name}("fork"))


{mark}
def test_it():
    context = get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=ask, args=(theirs,))
    process.start()
    assert ours.recv() == "fork"
    process.join()
    subprocess.run([sys.executable, "-c", "import work; work.{name}('new')"], check=True)
    assert {name}("here") == "here"
"""


def function(name: str) -> str:
    branches = [f"    if how == '{how}':\n        return '{how}'\n" for how in ("fork", "new", "here")]
    return f"def {name}(how):\n{''.join(branches)}\n\n"


def test_each_room_and_file_exists() -> None:
    files = {path.stem: path for path in TESTS.rglob("test_*.py")}
    assert files.keys() >= {*measuring.LONGEST, *measuring.ON_SPARK}
    assert {path.parent.name for path in files.values()} > measuring.OF_OTHER_THINGS
    repeating = {files[f"test_{name}"].parent.name for name in measuring.REPEATING}
    assert not repeating & measuring.OF_OTHER_THINGS


def test_what_is_measured_is_imported_before_tests_are_collected() -> None:
    coverage = pytest.importorskip("coverage")
    modules = set(measuring.measured_modules(coverage.Coverage(config_file=str(TESTS.parent / "pyproject.toml"))))
    assert modules >= {"floodmark.language", "floodmark.compiler.ir", "floodmark.checkers.spark.search"}
    assert not modules & {"floodmark.checkers.kernel.loops", "floodmark.checkers.report.text", "floodmark"}


@pytest.mark.slow
@pytest.mark.parametrize("workers", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_only_tests_of_the_engines_are_traced(tmp_path: Path, workers: int) -> None:
    """Tests of the page, and one that is marked, run between two of the engine's. Nothing of theirs is measured, in
    no process."""
    names = {"compiler/test_a": "before", "report/test_b": "page", "search/test_c": "marked", "search/test_d": "after"}
    for name, each in names.items():
        file = tmp_path / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(FILE.format(name=each, mark="@pytest.mark.untraced" if each == "marked" else ""))
    (tmp_path / "work.py").write_text("".join(map(function, names.values())))
    (tmp_path / "sitecustomize.py").write_text("import coverage\n\ncoverage.process_startup()\n")
    (tmp_path / "rc").write_text(RC)
    here = {name: value for name, value in os.environ.items() if not name.startswith(("COVERAGE_", "PYTEST_"))}
    here["PYTHONPATH"] = f"{TESTS.parent}{os.pathsep}{tmp_path}"
    measure = [sys.executable, "-m", "coverage"]
    run = [*measure, "run", "--rcfile=rc", "-m", "pytest", "-q", "-p", "tests.measuring", "-n", str(workers)]
    subprocess.run(run, cwd=tmp_path, env=here, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*measure, "combine", "-q", "--rcfile=rc"], cwd=tmp_path, env=here, check=True)
    subprocess.run([*measure, "json", "-q", "--rcfile=rc"], cwd=tmp_path, env=here, check=True)
    (found,) = json.loads((tmp_path / "coverage.json").read_text())["files"].values()
    missing = {name: each["missing_lines"] for name, each in found["functions"].items() if name}
    assert missing["before"] == missing["after"] == []
    assert len(missing["page"]) == len(missing["marked"]) == 6


def test_the_longest_tests_begin_first() -> None:
    names = ["test_a", measuring.LONGEST[1], measuring.LONGEST[0], "test_z"]
    items: list[Any] = [SimpleNamespace(path=Path(f"{name}.py"), name=each) for name in names for each in "12"]
    measuring.pytest_collection_modifyitems(items)
    order = [measuring.LONGEST[0], measuring.LONGEST[1], "test_a", "test_z"]
    assert [(it.path.stem, it.name) for it in items] == [(name, each) for name in order for each in "12"]


def test_what_needs_spark_is_one_piece_of_work() -> None:
    pytest.importorskip("xdist")
    config: Any = SimpleNamespace(getvalue={"dist": "loadfile", "tx": ["popen"]}.get)
    scheduling = measuring.pytest_xdist_make_scheduler(config, None)
    assert scheduling is not None
    files = ["tests/spark/test_spark.py", "tests/spark/test_spark_runs.py", "tests/spark/test_spark_parts.py"]
    parts = [scheduling._split_scope(f"{file}::test_it[a/b.py]") for file in files]
    assert parts == ["Spark", "Spark", files[2]]
