"""Plants mistakes in the compiler and the engines, one at a time, and reports those that the tests do not notice.

    python -m tools.planted learn                        measures once which default test runs which line
    python -m tools.planted try src/floodmark/compiler --sample 100 --seed 1
    python -m tools.planted report                       lists the survivors, and those without a reason

A mistake is tried in a copy of the repository. The tests that run its line are run, the quickest first, until one
fails, for at most ``--seconds`` in all. If no test was seen to run the line (because it runs in another process or is
compiled), the tests that import its module, or that run what imports it, are run. A result stays valid as long as the
file and those tests are unchanged: an interrupted run continues where it stopped.

``tools/planted.toml`` gives a reason for each survivor that no test has to notice. Why not mutmut or cosmic-ray: the
former puts all mutants of a function into one source with a switch, but compiled loops and caches depend on the source;
the latter runs one fixed set of tests for each mutant, in the only copy of the sources.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

from benchmarks.results import section
from floodmark.checkers.processes import run_each
from floodmark.checkers.resources import cores
from tools.forked_pytest import OVERDUE, ForkedPytest
from tools.planting import Mistake, of_folder

ROOT = Path(__file__).parent.parent
REASONS = Path(__file__).with_suffix(".toml")
FOLDERS = ("src/floodmark/language", "src/floodmark/compiler", "src/floodmark/checkers")
"""Where mistakes are planted unless it is said."""
START = 20.0
"""Seconds that a test process may take beyond what its tests took when all was well, and as long again."""


@dataclass(frozen=True)
class Knowledge:
    """What ``learn`` found: the tests that run each line of a file, and how many seconds each test takes."""

    lines: Mapping[str, Mapping[int, Sequence[str]]]
    seconds: Mapping[str, float]

    def tests_of(self, mistake: Mistake, most: float) -> list[str]:
        """The tests to ask about a mistake, the quickest first, for so many seconds of tests."""
        known = set(self.lines.get(mistake.file, {}).get(mistake.line, ())) or self._near(mistake.file)
        chosen: list[str] = []
        total = 0.0
        for test in sorted(known, key=lambda it: (self.seconds.get(it, 0.0), it)):
            total += self.seconds.get(test, 0.0)
            if total > most and chosen:
                break
            chosen.append(test)
        return chosen

    def _near(self, file: str) -> set[str]:
        """The tests that run any line of what imports a file, or of the file, and those beside which it is imported."""
        every = {test for lines in self.lines.get(file, {}).values() for test in lines}
        for other in importers(file):
            every |= {test for lines in self.lines.get(other, {}).values() for test in lines}
            every |= {test for test in self.seconds if test.startswith(f"{other}::")}
        return every


@cache
def importers(file: str) -> set[str]:
    """The files of this repository that import a module."""
    module = file.removeprefix("src/").removesuffix(".py").replace("/", ".")
    found = set()
    for folder in ("src", "tests", "tools"):
        for path in (ROOT / folder).rglob("*.py"):
            if module in _imported(path):
                found.add(path.relative_to(ROOT).as_posix())
    return found


@cache
def _imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


# Learning.

_RC = """[run]
source = {sources}
dynamic_context = test_function
concurrency = thread,multiprocessing
parallel = true
data_file = {data}
patch = subprocess
"""


def learn(into: Path, tests: Sequence[str]) -> None:
    """Runs tests, measured; keeps what they run and how long they take."""
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        rc, times = Path(folder) / "rc", Path(folder) / "times.xml"
        rc.write_text(_RC.format(sources="src", data=Path(folder) / "data"))
        run = [sys.executable, "-m", "coverage", "run", f"--rcfile={rc}", "-m", "pytest", "-q", f"--junit-xml={times}"]
        subprocess.run([*run, *tests], cwd=ROOT, check=True)
        subprocess.run([sys.executable, "-m", "coverage", "combine", "-q", f"--rcfile={rc}"], cwd=ROOT, check=True)
        seconds = _seconds(times)
        known = {"lines": _lines(Path(folder) / "data", seconds), "seconds": seconds}
    (into / "known.json").write_text(json.dumps(known))


def _seconds(times: Path) -> dict[str, float]:
    """The seconds of each test function, of all its parameters together, by its name for pytest."""
    found: dict[str, float] = defaultdict(float)
    for case in ElementTree.parse(times).iter("testcase"):
        test = _test(f"{case.get('classname')}.{str(case.get('name')).partition('[')[0]}")
        if test is not None:
            found[test] += float(case.get("time") or 0.0)
    return dict(found)


def _lines(data: Path, tests: Mapping[str, float]) -> dict[str, dict[int, list[str]]]:
    import coverage

    measured = coverage.CoverageData(str(data))
    measured.read()
    found: dict[str, dict[int, list[str]]] = {}
    for file in measured.measured_files():
        lines = {
            line: sorted({test for context in contexts if (test := _test(context)) in tests and test is not None})
            for line, contexts in measured.contexts_by_lineno(file).items()
        }
        found[Path(file).relative_to(ROOT).as_posix()] = {line: known for line, known in lines.items() if known}
    return found


def _test(dotted: str) -> str | None:
    """``tests.room.test_x.test_y`` as pytest wants it; None of what is no test of a file of tests."""
    found = re.match(r"(tests(?:\.\w+)*?\.test_\w+)\.(.+)", dotted)
    if found is None:
        return None
    return "::".join([f"{found[1].replace('.', '/')}.py", *found[2].split(".")])


def knowledge(into: Path) -> Knowledge:
    """What ``learn`` kept. Raises SystemExit where it has not run."""
    try:
        known = json.loads((into / "known.json").read_text())
    except OSError:
        raise SystemExit("which tests run which lines is not known yet: python -m tools.planted learn") from None
    lines = {file: {int(line): tests for line, tests in each.items()} for file, each in known["lines"].items()}
    return Knowledge(lines, known["seconds"])


# Trying.


def drawn(every: Sequence[Mistake], count: int, seed: int) -> list[Mistake]:
    """A random sample in which each room has a share by its size, and within a room each kind has the same share.

    A longer sample of the same seed begins with the shorter one, but for the rounding of the shares.
    """
    rooms: dict[str, dict[str, list[Mistake]]] = defaultdict(lambda: defaultdict(list))
    for mistake in every:
        rooms[str(Path(mistake.file).parent)][mistake.kind].append(mistake)
    chance = random.Random(seed)
    found = []
    for _, kinds in sorted(rooms.items()):
        total = sum(len(of_kind) for of_kind in kinds.values())
        shuffled = [chance.sample(of_kind, len(of_kind)) for _, of_kind in sorted(kinds.items())]
        in_turn = [mistake for each in zip_longest(*shuffled) for mistake in each if mistake is not None]
        found += in_turn[: round(count * total / len(every))]
    return chance.sample(found, len(found))


@dataclass(frozen=True)
class Trial:
    """A mistake and the tests that are asked about it."""

    mistake: Mistake
    tests: tuple[str, ...]
    allowed: float


def trials(mistakes: Sequence[Mistake], known: Knowledge, most: float) -> list[Trial]:
    made = []
    for mistake in mistakes:
        tests = tuple(known.tests_of(mistake, most))
        made.append(Trial(mistake, tests, 2 * sum(known.seconds.get(test, 0.0) for test in tests) + START))
    return made


def key(trial: Trial) -> str:
    """What the outcome of a trial depends on, hashed."""
    files = sorted({trial.mistake.file, *(test.partition("::")[0] for test in trial.tests)})
    hashes = [hashlib.sha256((ROOT / file).read_bytes()).hexdigest() for file in files]
    content = [trial.mistake.name, *trial.tests, *hashes]
    return hashlib.sha256("\0".join(content).encode()).hexdigest()[:20]


def attempt(folder: Path, trial: Trial) -> dict[str, Any]:
    """Plants a mistake into the copy of this process and asks the tests."""
    copy = _copy(folder)
    path = copy / trial.mistake.file
    source = path.read_bytes()
    started = time.perf_counter()
    try:
        path.write_bytes(trial.mistake.planted(source))
        fate, by = _asked(copy, trial)
    finally:
        path.write_bytes(source)
    return {"fate": fate, "by": by, "seconds": round(time.perf_counter() - started, 1)}


def _copy(folder: Path) -> Path:
    """The copy of the repository that belongs to this process."""
    copy = folder / str(os.getpid())
    if not copy.exists():
        for name in _files():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name, follow_symlinks=False)
    return copy


def _files() -> list[str]:
    """The files of the repository, those included that are not committed yet."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
    return [name for name in listed if (ROOT / name).is_file() or (ROOT / name).is_symlink()]


def _asked(copy: Path, trial: Trial) -> tuple[str, str]:
    if not trial.tests:
        return "not run", ""
    with tempfile.TemporaryDirectory(dir=copy.parent) as own:
        env = {**os.environ, "PYTHONPATH": str(copy / "src"), "FLOODMARK_CACHE": f"{own}/cache",
               "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": own}
        arguments = ["-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=no", f"--basetemp={own}/pytest",
                     *trial.tests]
        said = Path(own) / "said"
        code = _pytest().run(copy, arguments, env, trial.allowed, said)
        lines = said.read_text(errors="replace").splitlines()
    if code == OVERDUE:
        return "killed", "the time limit"
    if code == 0:
        return "survived", ""
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return "killed", failed[0].split(" ")[1] if failed else f"pytest, which ended with {code}"


@cache
def _pytest() -> ForkedPytest:
    """What runs the tests for this process."""
    return ForkedPytest()


def results(into: Path) -> dict[str, dict[str, Any]]:
    """What is known of trials, by their keys."""
    path = into / "tried.jsonl"
    if not path.exists():
        return {}
    return {entry["key"]: entry for line in path.read_text().splitlines() if (entry := json.loads(line))}


def try_all(into: Path, every: Sequence[Trial], jobs: int) -> Iterator[dict[str, Any]]:
    """The outcome of each trial, new ones as they come; each is kept at once."""
    known = results(into)
    keys = [key(trial) for trial in every]
    yield from (known[each] for each in keys if each in known)
    left = [(trial, each) for trial, each in zip(every, keys, strict=True) if each not in known]
    with tempfile.TemporaryDirectory() as folder, (into / "tried.jsonl").open("a") as kept:
        for position, found in run_each(partial(attempt, Path(folder)), [trial for trial, _ in left], jobs):
            trial, each = left[position]
            if isinstance(found, Exception):
                raise found
            mistake = trial.mistake
            entry = {"key": each, "file": mistake.file, "line": mistake.line, "name": mistake.name,
                     "kind": mistake.kind, "tests": len(trial.tests), **found}
            kept.write(json.dumps(entry) + "\n")
            kept.flush()
            yield entry


# Reporting.


def reasons() -> dict[str, str]:
    """Why each explained survivor needs no test, by the mistake's name."""
    content = tomllib.loads(REASONS.read_text()) if REASONS.exists() else {}
    return {name: entry["reason"] for entry in content.get("survivors", []) for name in entry["mistakes"]}


def report(into: Path) -> Iterator[str]:
    """How many were noticed, by file, and each survivor with its reason."""
    present = {mistake.name for mistake in of_folder(ROOT, FOLDERS)}
    latest = {entry["name"]: entry for entry in results(into).values() if entry["name"] in present}
    explained = reasons()
    by_file: dict[str, Counter[str]] = defaultdict(Counter)
    for entry in latest.values():
        by_file[entry["file"]][entry["fate"]] += 1
    for file, fates in sorted(by_file.items()):
        yield f"{file}: " + ", ".join(f"{count} {fate}" for fate, count in sorted(fates.items()))
    open_ones = 0
    for entry in sorted(latest.values(), key=lambda it: (it["file"], it["line"])):
        if entry["fate"] != "killed":
            reason = explained.get(entry["name"])
            open_ones += reason is None
            yield f"{entry['fate']}  line {entry['line']}  {entry['name']}  ({reason or 'no reason yet'})"
    yield from (f"stale reason: {name}" for name in explained if name not in present)
    total = sum(sum(fates.values()) for fates in by_file.values())
    killed = sum(fates["killed"] for fates in by_file.values())
    seconds = sum(entry["seconds"] for entry in latest.values())
    each = seconds / max(total, 1)
    yield f"{total} mistakes: {killed} noticed, {open_ones} not and without a reason; {each:.1f} s each"


def table(into: Path) -> list[str]:
    """What became of the mistakes that were tried, by room, for benchmarks/RESULTS.md."""
    present = {mistake.name for mistake in of_folder(ROOT, FOLDERS)}
    latest = {entry["name"]: entry for entry in results(into).values() if entry["name"] in present}
    explained = reasons()
    rooms: dict[str, Counter[str]] = defaultdict(Counter)
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for entry in latest.values():
        known = "explained" if entry["name"] in explained else "unexplained"
        fate = "noticed" if entry["fate"] == "killed" else known
        rooms[str(Path(entry["file"]).parent)][fate] += 1
        kinds[entry["kind"]][fate] += 1
    totals = sum(rooms.values(), Counter())
    survived = {entry["name"] for entry in results(into).values() if entry["fate"] != "killed"}
    mended = sum(1 for name, entry in latest.items() if entry["fate"] == "killed" and name in survived)
    lines = [
        f"{totals.total():,} mistakes of {len(present):,} that can be planted, a random sample. The tests noticed "
        f"{totals['noticed']:,}, {mended:,} of them only after a test was added for them; {totals['explained']:,} "
        "change nothing that a test has to notice, each with its reason in `tools/planted.toml`; "
        f"{totals['unexplained']:,} are unexplained.",
    ]
    for title, counted in (("room", rooms), ("kind", kinds)):
        lines += ["", f"| {title} | tried | noticed | explained | unexplained |", "|---|---|---|---|---|"]
        for name, fates in sorted(counted.items()):
            said = " | ".join(str(fates[fate]) for fate in ("noticed", "explained", "unexplained"))
            lines.append(f"| {name} | {fates.total()} | {said} |")
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=str(__doc__), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, default=ROOT / "build" / "planted", help="where what is found is kept")
    commands = parser.add_subparsers(dest="command", required=True)
    learning = commands.add_parser("learn")
    learning.add_argument("tests", nargs="*", help="the tests to learn of; all that run by default")
    trying = commands.add_parser("try")
    trying.add_argument("places", nargs="*", default=list(FOLDERS), help="folders and files")
    trying.add_argument("--sample", type=int, help="only so many mistakes, chosen by --seed")
    trying.add_argument("--seed", type=int, default=0)
    trying.add_argument("--jobs", type=int, default=cores(), help="how many at once")
    trying.add_argument("--seconds", type=float, default=60.0, help="of tests for each mistake, at most")
    reporting = commands.add_parser("report")
    reporting.add_argument("--write", action="store_true", help="puts the figures into benchmarks/RESULTS.md")
    asked = parser.parse_args(arguments)
    if asked.command == "learn":
        learn(asked.into, asked.tests)
    if asked.command == "try":
        every = list(of_folder(ROOT, asked.places))
        if asked.sample is not None and asked.sample < len(every):
            every = drawn(every, asked.sample, asked.seed)
        for entry in try_all(asked.into, trials(every, knowledge(asked.into), asked.seconds), asked.jobs):
            print(f"{entry['fate']:<9} {entry['seconds']:>6} s  {entry['name']}  {entry['by']}", flush=True)
    if asked.command == "report":
        for line in report(asked.into):
            print(line)
        if asked.write:
            section("planted", "python -m tools.planted report --write", table(asked.into))


if __name__ == "__main__":
    main()
