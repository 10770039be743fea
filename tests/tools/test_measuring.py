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


def test_each_file_exists() -> None:
    files = {path.stem: path for path in TESTS.rglob("test_*.py")}
    assert files.keys() >= {*measuring.LONGEST, *measuring.ON_SPARK}


def test_each_test_that_is_traced_exists_and_is_a_quick_one() -> None:
    """Else whoever renames a test loses what it covers, and is told so only by the percentage of a whole run."""
    for name in measuring.TRACED:
        file, _, function = name.partition("::")
        before, found, _ = (TESTS.parent / file).read_text().partition(f"\ndef {function}(")
        assert found, name
        assert "@pytest.mark.slow" not in before.rpartition("\n\n")[2].split("\n"), name


def test_the_first_test_on_spark_is_traced() -> None:
    assert any(name.startswith(f"tests/spark/{measuring.ON_SPARK[0]}.py::") for name in measuring.TRACED)


def test_what_is_measured_is_imported_before_tests_are_collected() -> None:
    coverage = pytest.importorskip("coverage")
    modules = set(measuring.measured_modules(coverage.Coverage(config_file=str(TESTS.parent / "pyproject.toml"))))
    assert modules >= {"floodmark.language", "floodmark.compiler.ir", "floodmark.checkers.spark.search"}
    assert not modules & {"floodmark.checkers.kernel.loops", "floodmark.checkers.report.text", "floodmark"}


@pytest.mark.slow
@pytest.mark.parametrize("workers", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_only_what_is_listed_is_traced(tmp_path: Path, workers: int) -> None:
    """A test runs between two that are listed. Nothing of it is measured, in no process."""
    names = {"compiler/test_a": "before", "report/test_b": "between", "search/test_d": "after"}
    for name, each in names.items():
        file = tmp_path / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(FILE.format(name=each))
    listed = [f"{name}.py::test_it" for name, each in names.items() if each != "between"]
    (tmp_path / "here.py").write_text(f"from tests import measuring\nmeasuring.TRACED = {listed}\n")
    (tmp_path / "work.py").write_text("".join(map(function, names.values())))
    (tmp_path / "sitecustomize.py").write_text("import coverage\n\ncoverage.process_startup()\n")
    (tmp_path / "rc").write_text(RC)
    here = {name: value for name, value in os.environ.items() if not name.startswith(("COVERAGE_", "PYTEST_"))}
    here["PYTHONPATH"] = f"{TESTS.parent}{os.pathsep}{tmp_path}"
    measure = [sys.executable, "-m", "coverage"]
    plugins = ["-p", "tests.measuring", "-p", "here", "-n", str(workers)]
    run = [*measure, "run", "--rcfile=rc", "-m", "pytest", "-q", *plugins]
    subprocess.run(run, cwd=tmp_path, env=here, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*measure, "combine", "-q", "--rcfile=rc"], cwd=tmp_path, env=here, check=True)
    subprocess.run([*measure, "json", "-q", "--rcfile=rc"], cwd=tmp_path, env=here, check=True)
    (found,) = json.loads((tmp_path / "coverage.json").read_text())["files"].values()
    missing = {name: each["missing_lines"] for name, each in found["functions"].items() if name}
    assert missing["before"] == missing["after"] == []
    assert len(missing["between"]) == 6


def test_the_longest_tests_begin_first_and_those_that_are_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["test_a", measuring.LONGEST[1], measuring.LONGEST[0], "test_z"]
    monkeypatch.setattr(measuring, "TRACED", frozenset(f"{name}.py::2" for name in names[:2]))
    items: list[Any] = [
        SimpleNamespace(path=Path(f"{name}.py"), name=each, nodeid=f"{name}.py::{each}[a]")
        for name in names for each in "12"
    ]
    measuring.pytest_collection_modifyitems(items)
    order = [(measuring.LONGEST[0], "12"), (measuring.LONGEST[1], "21"), ("test_a", "21"), ("test_z", "12")]
    assert [(it.path.stem, it.name) for it in items] == [(name, each) for name, both in order for each in both]


def test_what_needs_spark_is_one_piece_of_work() -> None:
    pytest.importorskip("xdist")
    config: Any = SimpleNamespace(getvalue={"dist": "loadfile", "tx": ["popen"]}.get)
    scheduling = measuring.pytest_xdist_make_scheduler(config, None)
    assert scheduling is not None
    files = ["tests/spark/test_spark.py", "tests/spark/test_spark_runs.py", "tests/spark/test_spark_parts.py"]
    parts = [scheduling._split_scope(f"{file}::test_it[a/b.py]") for file in files]
    assert parts == ["Spark", "Spark", files[2]]


@pytest.mark.parametrize(("file", "reason", "outcome"), [
    (measuring.ON_SPARK[-1], "no such package", "failed"),
    (measuring.ON_SPARK[-1], "this user may not mount a small disk", "skipped"),
    ("test_kafka", "no such package", "skipped"),
])
def test_a_test_on_spark_that_is_skipped_fails(file: str, reason: str, outcome: str) -> None:
    item: Any = SimpleNamespace(path=Path(f"{file}.py"), nodeid=file)
    reporting = measuring.pytest_runtest_makereport(item)
    next(reporting)
    with pytest.raises(StopIteration) as ended:
        reporting.send(pytest.TestReport(file, ("", None, ""), {}, "skipped", reason, "call"))
    assert ended.value.value.outcome == outcome
