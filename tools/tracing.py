"""Chooses the tests that a whole run traces (``tests/measuring.py``).

    python -m tools.tracing                 runs the default tests, all of them traced, and writes tests/traced.txt

The choice is a greedy set cover. Coverage records arcs, the jumps from line to line that were taken. The next test is
the one that adds the most arcs for each second that it takes, until the chosen tests have all but a few of the arcs of
all tests together. A test function is chosen with all its parameters.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from coverage import CoverageData

ROOT = Path(__file__).parents[1]
CHOSEN = ROOT / "tests" / "traced.txt"
SHARE = 0.997
"""The part of all arcs that is wanted. The tests for the last of them take as long as those for all others."""
_STARTED = 0.1
"""Seconds that it takes to begin to trace, and to stop."""


class Arc(NamedTuple):
    """A jump from one line of a file to another."""

    file: str
    start: int
    end: int


Arcs = dict[str, set[Arc]]
"""The arcs that each test takes."""


def choose_tests(arcs: Mapping[str, Set[Arc]], seconds: Mapping[str, float], share: float = SHARE) -> list[str]:
    """Tests that together take a share of the arcs, chosen greedily by arcs for a second."""
    left = set().union(*arcs.values())
    enough = len(left) * (1 - share)
    found: list[str] = []
    while len(left) > enough:
        best = max(arcs, key=lambda name: (len(arcs[name] & left) / (seconds.get(name, 0) + _STARTED), name))
        left -= arcs[best]
        found.append(best)
    return sorted(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, default=ROOT / "build" / "tracing", help="where measurements are kept")
    into: Path = parser.parse_args().into
    into.mkdir(parents=True, exist_ok=True)
    _measure(into)
    names = choose_tests(_arcs(into / "measured"), _seconds(into / "times.xml"))
    CHOSEN.write_text("".join(f"{name}\n" for name in names))
    print(f"{len(names)} tests are traced")


def _measure(into: Path) -> None:
    """Runs the default tests, and records the arcs of each."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["coverage"]["run"]
    lines = [f"{key} = {_value(value)}" for key, value in {**settings, "dynamic_context": "test_function"}.items()]
    (into / "coveragerc").write_text("\n".join(["[run]", *lines]))
    here = {**os.environ, "COVERAGE_FILE": str(into / "measured")}
    coverage = [sys.executable, "-m", "coverage"]
    options = [f"--rcfile={into / 'coveragerc'}"]
    tests = ["-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", f"--junitxml={into / 'times.xml'}"]
    subprocess.run([*coverage, "erase", *options], cwd=ROOT, env=here, check=True)
    subprocess.run([*coverage, "run", *options, *tests], cwd=ROOT, env=here, check=True)
    subprocess.run([*coverage, "combine", "-q", *options], cwd=ROOT, env=here, check=True)


def _value(value: object) -> str:
    return "\n    ".join(["", *value]) if isinstance(value, list) else str(value)


def _arcs(measured: Path) -> Arcs:
    """The arcs of each test in its own process; those of processes that it starts have no test's name."""
    data = CoverageData(str(measured))
    data.read()
    names = _names()
    found: Arcs = defaultdict(set)
    for context in data.measured_contexts():
        if context in names:
            data.set_query_context(context)
            for file in data.measured_files():
                found[names[context]].update(Arc(file, *arc) for arc in data.arcs(file) or ())
    return dict(found)


def _names() -> dict[str, str]:
    """The names that pytest gives to tests, by those of coverage's contexts."""
    return {name.replace(".py::", ".").replace("/", "."): name for name in _functions()}


def _functions() -> Iterator[str]:
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        for line in file.read_text().splitlines():
            if line.startswith("def test_"):
                yield f"{file.relative_to(ROOT).as_posix()}::{line.removeprefix('def ').partition('(')[0]}"


def _seconds(times: Path) -> dict[str, float]:
    """The total seconds of all cases of each test."""
    taken: defaultdict[str, float] = defaultdict(float)
    names = _names()
    for case in ElementTree.parse(times).iter("testcase"):
        context = f"{case.get('classname')}.{(case.get('name') or '').partition('[')[0]}"
        taken[names.get(context, context)] += float(case.get("time") or 0)
    return taken


if __name__ == "__main__":
    main()
