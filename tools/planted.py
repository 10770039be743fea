"""Plants mistakes in the compiler and the engines, one at a time, and reports those that the tests do not notice.

    python -m tools.planted learn                        measures which default test runs which line, by folders
    python -m tools.planted try --seconds 10             tries the campaign's sample, or goes on with it
    python -m tools.planted notice TEST NAME             tries one of the survivors with a test, say one added for it
    python -m tools.planted thought                      tries those that somebody thought of, each with its test
    python -m tools.planted report                       lists the survivors, and those without a reason

A mistake is tried in a copy of the repository. The tests that run its line are run until one fails, or until they took
``--seconds`` of the processor. If no test was seen to run the line (because it runs in another process or is compiled),
the tests that import its module, or that run what imports it, are run. A test that also fails without the mistake says
nothing and is left out. What became of a mistake is kept in ``tools/planted.csv``.

``tools/planted.toml`` gives a reason for each survivor that no test has to notice. ``tools/thought.toml`` has mistakes
that nobody drew: people thought of them when they looked for wrong verdicts. Why not mutmut or cosmic-ray: the
former puts all mutants of a function into one source with a switch, but compiled loops and caches depend on the source;
the latter runs one fixed set of tests for each mutant, in the only copy of the sources.
"""

from __future__ import annotations

import argparse
import ast
import atexit
import compileall
import csv
import hashlib
import json
import py_compile
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from functools import cache, partial
from itertools import zip_longest
from pathlib import Path

from benchmarks.results import section
from floodmark.checkers.processes import run_each
from floodmark.checkers.resources import cores
from tools.forked_pytest import Answer, ForkedPytest
from tools.planting import BY_THOUGHT, Mistake, mistake_of_text, of_folder
from tools.reloading import outermost

ROOT = Path(__file__).parent.parent
REASONS = Path(__file__).with_suffix(".toml")
THOUGHT = Path(__file__).with_name("thought.toml")
FOLDERS = ("src/floodmark/language", "src/floodmark/compiler", "src/floodmark/checkers")
"""The default folders in which mistakes are planted."""


@dataclass(frozen=True)
class Knowledge:
    """The result of ``learn``: the tests that run each line of a file, and the seconds of each test."""

    lines: Mapping[str, Mapping[int, Sequence[str]]]
    seconds: dict[str, float]

    def tests_of(self, mistake: Mistake, every: Iterable[str]) -> dict[str, int]:
        """The tests to ask about a mistake, each with its distance: those that are known to run its line have none.

        Where none is known, the distance is that of the file of tests from the mistake's module by imports.
        """
        known = self.lines.get(mistake.file, {}).get(mistake.line, ())
        if known:
            return dict.fromkeys(known, 0)
        distances = {file: distance for distance, files in enumerate(importers(mistake.file)) for file in files}
        return {test: distances[file] for test in every if (file := test.partition("::")[0]) in distances}


@cache
def importers(file: str) -> list[set[str]]:
    """The files of this repository that import a module; then those that import one of these, and so on."""
    imported = _imports()
    steps = [{file}]
    while steps[-1]:
        before = set().union(*steps)
        modules = {_module(each) for each in steps[-1]}
        steps.append({each for each, names in imported.items() if each not in before and not names.isdisjoint(modules)})
    return steps[1:-1]


def _module(file: str) -> str:
    return file.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@cache
def _imports() -> dict[str, set[str]]:
    """The imports of each file."""
    paths = [path for folder in ("src", "tests", "tools") for path in (ROOT / folder).rglob("*.py")]
    return {path.relative_to(ROOT).as_posix(): _imported(path) for path in paths}


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


def learn(into: Path, places: Sequence[str]) -> None:
    """Runs the tests of one folder after the other, measured, and adds what they run and how long they take to what is
    kept of other folders. A test that fails says nothing of lines."""
    into.mkdir(parents=True, exist_ok=True)
    every = sorted({path.parent.relative_to(ROOT).as_posix() for path in ROOT.glob("tests/*/test_*.py")})
    for place in places or every:
        before = knowledge(into)
        lines, seconds = _measured([place])
        learned = {file: _joined(before.lines.get(file, {}), lines.get(file, {})) for file in {*before.lines, *lines}}
        known = {"lines": learned, "seconds": {**before.seconds, **seconds}}
        (into / "known.json").write_text(json.dumps(known))


def _joined(one: Mapping[int, Sequence[str]], other: Mapping[int, Sequence[str]]) -> dict[int, list[str]]:
    """The tests of each line, from two runs."""
    return {line: sorted({*one.get(line, ()), *other.get(line, ())}) for line in {*one, *other}}


def _measured(tests: Sequence[str]) -> tuple[dict[str, dict[int, list[str]]], dict[str, float]]:
    """The tests that run each line of a file, and the seconds of each test."""
    with tempfile.TemporaryDirectory() as folder:
        rc, times = Path(folder) / "rc", Path(folder) / "times.xml"
        rc.write_text(_RC.format(sources="src", data=Path(folder) / "data"))
        run = [sys.executable, "-m", "coverage", "run", f"--rcfile={rc}", "-m", "pytest", "-q", f"--junit-xml={times}"]
        subprocess.run([*run, *tests], cwd=ROOT, check=False)
        subprocess.run([sys.executable, "-m", "coverage", "combine", "-q", f"--rcfile={rc}"], cwd=ROOT, check=True)
        seconds = _seconds(times)
        lines = _lines(Path(folder) / "data", seconds)
    if not lines:
        raise SystemExit("the tests ran unmeasured: coverage does not start in new processes of this environment")
    return lines, seconds


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
    """The stored result of ``learn``; empty before it has run."""
    path = into / "known.json"
    known = json.loads(path.read_text()) if path.exists() else {"lines": {}, "seconds": {}}
    lines = {file: {int(line): tests for line, tests in each.items()} for file, each in known["lines"].items()}
    return Knowledge(lines, known["seconds"])


# Trying.

FILES = 8
"""The number of test files that are tried for a mistake that every import runs."""
COUNT, SEED = 2000, 1
"""The campaign's sample."""
RECORD = Path(__file__).with_suffix(".csv")
"""The results for the mistakes that were tried. It is committed, so that a campaign continues where it stopped."""


def sample_of_mistakes(every: Sequence[Mistake], count: int, seed: int) -> list[Mistake]:
    """A random sample in which each room has a share by its size, and within a room each kind has the same share.

    Chance is a hash of what a mistake is, so the sample outlives changes elsewhere. It comes in a random order: each
    beginning of it is a fair sample, too. A larger sample has all of a smaller one, but for the rounding of the shares.
    """

    def chance(use: str, mistake: Mistake) -> str:
        return _digest(f"{seed} {use} {mistake.where} {mistake.change}")

    rooms: dict[str, dict[str, list[Mistake]]] = defaultdict(lambda: defaultdict(list))
    for mistake in every:
        rooms[str(Path(mistake.file).parent)][mistake.kind].append(mistake)
    found = []
    before = 0
    for _, kinds in sorted(rooms.items()):
        after = before + sum(len(of_kind) for of_kind in kinds.values())
        share = round(count * after / len(every)) - round(count * before / len(every))
        shuffled = [sorted(of_kind, key=partial(chance, "choice")) for _, of_kind in sorted(kinds.items())]
        in_turn = [mistake for each in zip_longest(*shuffled) for mistake in each if mistake is not None]
        found += in_turn[:share]
        before = after
    return sorted(found, key=partial(chance, "order"))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:10]


@dataclass(frozen=True)
class Entry:
    """A row of the record: a mistake, and what became of it.

    ``text`` hashes the code of the function that the mistake is in, so a row is valid until that changes, wherever the
    function is moved. ``fate`` is ``noticed``, ``noticed since`` a test was added, ``time limit``, ``survived``,
    ``not run``, or ``code gone``, as it was superfluous. ``by`` names the test. ``allowed`` are the seconds of tests
    that it was given at most, ``taken`` those that it took.
    """

    file: str
    where: str
    change: str
    kind: str
    text: str
    fate: str
    by: str
    asked: int
    allowed: float
    taken: float

    @property
    def name(self) -> str:
        return f"{self.file} {self.where}: {self.change}"

    @property
    def identity(self) -> tuple[str, str, str]:
        return self.where, self.change, self.text

    @property
    def is_settled(self) -> bool:
        return self.fate not in (SURVIVED, NOT_RUN)


NOTICED, SINCE, LATE, GONE = "noticed", "noticed since", "time limit", "code gone"
SURVIVED, NOT_RUN = "survived", "not run"


def record() -> dict[tuple[str, str, str], Entry]:
    """The rows by what they are about; of two about the same, the later one."""
    if not RECORD.exists():
        return {}
    with RECORD.open(newline="") as file:
        rows = [
            Entry(path, where, change, kind, text, fate, by, int(asked), float(allowed), float(taken))
            for path, where, change, kind, text, fate, by, asked, allowed, taken in list(csv.reader(file))[1:]
        ]
    return {row.identity: row for row in rows}


def keep(entry: Entry) -> None:
    """Adds a row to the record, or puts it in the place of the one about the same mistake."""
    rows = {**record(), entry.identity: entry}
    with RECORD.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(field.name for field in fields(Entry))
        out.writerows(astuple(row) for row in rows.values())


def text_of(mistake: Mistake) -> str:
    """A hash of the outermost function that a mistake is in, or of the file where it is in none."""
    source = (ROOT / mistake.file).read_text()
    return next((text for lines, text in _texts(source) if mistake.line in lines), _digest(source))


@cache
def _texts(source: str) -> list[tuple[range, str]]:
    return [
        (range(function.lineno, (function.end_lineno or 0) + 1), _digest(ast.unparse(_without_docstring(function))))
        for function in outermost(ast.parse(source))
    ]


def _without_docstring(function: ast.AST) -> ast.AST:
    for node in ast.walk(function):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return function


class Copy:
    """A copy of the repository with the processes that run its tests, of one process of a campaign."""

    def __init__(self, folder: Path, known: Knowledge, files: Sequence[str] = ("tests",)) -> None:
        self.known = known
        self.root, self.own = folder / "copy", folder / "own"
        (self.own / "tmp").mkdir(parents=True)
        for name in _files():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, self.root / name, follow_symlinks=False)
        checked = py_compile.PycInvalidationMode.CHECKED_HASH  # a changed file is compiled again, whatever its time is
        compileall.compile_dir(self.root / "src", quiet=2, invalidation_mode=checked)
        self.warm, self.cold = ForkedPytest(self.root, self.own, files), ForkedPytest(self.root, self.own)
        self.sound: dict[str, bool] = {}
        self.noticed: Counter[tuple[str, str]] = Counter()
        for entry in record().values():
            self._learn(entry)

    def attempt(self, mistake: Mistake, most: float) -> Entry:
        """Plants a mistake and asks the tests that may notice it, for so many seconds of the processor."""
        tests = self._in_order(mistake)
        path = self.root / mistake.file
        source = path.read_bytes()
        taken, asked = 0.0, 0
        while True:
            tests = [test for test in tests if self.sound.get(test, True)]
            if not tests:
                return self._entry(mistake, NOT_RUN, "", 0, most, taken)
            try:
                path.write_bytes(mistake.planted(source))
                answer = self._ask(tests, most, mistake)
            finally:
                path.write_bytes(source)
            asked = max(asked, answer.asked)
            taken += answer.processor
            fate, by = _meaning(answer)
            if fate == SURVIVED or self._passes(by):
                return self._entry(mistake, fate, by, asked, most, taken)

    def _entry(self, mistake: Mistake, fate: str, by: str, asked: int, most: float, taken: float) -> Entry:
        found = Entry(mistake.file, mistake.where, mistake.change, mistake.kind, text_of(mistake), fate, by, asked,
                      most, round(taken, 1))
        self._learn(found)
        return found

    def _learn(self, entry: Entry) -> None:
        """Tests that noticed a mistake are asked sooner about those beside it."""
        test = entry.by.partition("[")[0]
        for weight, place in enumerate((str(Path(entry.file).parent), entry.file, f"{entry.file} {entry.where}"), 1):
            self.noticed[test, place] += weight * weight

    def _in_order(self, mistake: Mistake) -> list[str]:
        """The tests of a mistake: first what is quick and near, and has noticed mistakes beside it."""
        room = str(Path(mistake.file).parent)
        places = (room, mistake.file, f"{mistake.file} {mistake.where}")

        def rank(test: str) -> tuple[float, str]:
            often = sum(self.noticed[test, place] for place in places)
            near = 2 if f"/{Path(room).name}/" in test else 1
            return (self.known.seconds.get(test, 1.0) + 0.05) * 2.0 ** distances[test] / (1 + often) / near, test

        distances = self.known.tests_of(mistake, self.warm.tests)
        return sorted(distances, key=rank)

    def _ask(self, tests: Sequence[str], most: float, mistake: Mistake | None = None) -> Answer:
        for part in self.own.iterdir():
            if part.name in ("tmp", "cache", "pytest"):
                shutil.rmtree(part, ignore_errors=True)
        (self.own / "tmp").mkdir(exist_ok=True)
        limits = {test: self.known.seconds.get(test.partition("[")[0], 5.0) for test in tests}
        answer = self.warm.run(tests, limits, most, mistake.file if mistake is not None else "")
        if answer.refused:  # each file of tests takes time to collect
            files = list(dict.fromkeys(test.partition("::")[0] for test in tests))[:FILES]
            answer = self.cold.run([test for test in tests if test.partition("::")[0] in files], limits, most)
        if mistake is None:
            self.known.seconds.update(answer.seconds)
        else:
            for test, seconds in answer.seconds.items():
                self.known.seconds.setdefault(test, seconds)
        return answer

    def _passes(self, test: str) -> bool:
        """Whether a test that failed, or took too long, passes without a mistake: otherwise it says nothing."""
        function = test.partition("[")[0]
        if "::" not in test:
            return True  # a file that cannot be imported
        if function not in self.sound:
            self.sound[function] = _meaning(self._ask([test], 600.0))[0] == SURVIVED
        return self.sound[function]


def _meaning(answer: Answer) -> tuple[str, str]:
    if answer.failed:
        return NOTICED, answer.failed
    if answer.overdue:
        return LATE, answer.overdue
    if answer.code == 0:
        return SURVIVED, ""
    return NOTICED, answer.last or "the import"


_copy: Copy | None = None


def attempt(known: Knowledge, most: float, mistake: Mistake) -> Entry:
    """The result for a mistake, in the copy of this process."""
    global _copy
    if _copy is None:
        _copy = Copy(Path(tempfile.mkdtemp(prefix="planted")), known)
        atexit.register(shutil.rmtree, _copy.root.parent, ignore_errors=True)
    return _copy.attempt(mistake, most)


def _files() -> list[str]:
    """The files of the repository, those included that are not committed yet."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
    return [name for name in listed if (ROOT / name).is_file() or (ROOT / name).is_symlink()]


def try_all(every: Sequence[Mistake], known: Knowledge, most: float, jobs: int) -> Iterator[Entry]:
    """Tries each mistake that the record does not tell of, and keeps what became of it at once."""
    rows = record()
    left = []
    for mistake in every:
        row = rows.get((mistake.where, mistake.change, text_of(mistake)))
        if row is None or (not row.is_settled and row.allowed < most):
            left.append(mistake)
    for _, found in run_each(partial(attempt, known, most), left, jobs):
        if isinstance(found, Exception):
            raise found
        keep(found)
        yield found


@dataclass(frozen=True)
class HandmadeMistake:
    """A mistake that somebody thought of: the ``test`` that notices it, or the ``reason`` why none has to."""

    about: str
    mistake: Mistake
    test: str
    reason: str


def handmade_mistakes() -> list[HandmadeMistake]:
    """The mistakes that people thought of. Raises ValueError where the text that one of them changes is gone."""
    return [
        HandmadeMistake(
            it["about"], mistake_of_text(it["file"], (ROOT / it["file"]).read_bytes(), it["old"], it["new"]),
            it.get("test", ""), it.get("reason", ""),
        )
        for it in tomllib.loads(THOUGHT.read_text())["mistakes"]
    ]


def try_thought() -> Iterator[Entry]:
    """Tries each mistake that somebody thought of with its test, and keeps what became of it."""
    wanted = [it for it in handmade_mistakes() if it.test]
    seconds = {it.test: 60.0 for it in wanted}
    files = sorted({it.test.partition("::")[0] for it in wanted})
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder), Knowledge({}, seconds), files)
        for it in wanted:  # several may stand in one line
            copy.known = Knowledge({it.mistake.file: {it.mistake.line: [it.test]}}, seconds)
            found = copy.attempt(it.mistake, 600.0)
            keep(found)
            yield found


def notice(test: str, names: Sequence[str]) -> Iterator[Entry]:
    """Tries mistakes with one test, and keeps those that it notices. It was added for them unless its file is committed
    as it is: then they survived for lack of time only."""
    fate = NOTICED if _is_committed(test) else SINCE
    wanted = [mistake for mistake in of_folder(ROOT, FOLDERS) if mistake.name in names]
    if len(wanted) < len(names):
        raise SystemExit(f"there is no such mistake: {', '.join(set(names) - {it.name for it in wanted})}")
    lines: dict[str, dict[int, list[str]]] = defaultdict(dict)
    for mistake in wanted:
        lines[mistake.file][mistake.line] = [test]
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder), Knowledge(lines, {test: 60.0}), [test.partition("::")[0]])
        for mistake in wanted:
            found = copy.attempt(mistake, 600.0)
            if found.is_settled:
                keep(replace(found, fate=fate))
            yield found


def _is_committed(test: str) -> bool:
    """Whether the file of a test is as it was committed."""
    command = ["git", "status", "--porcelain", "--untracked-files=all", "--", test.partition("::")[0]]
    return not subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout


# Reporting.


def reasons() -> dict[str, str]:
    """Why each explained survivor needs no test, by the mistake's name."""
    content = tomllib.loads(REASONS.read_text()) if REASONS.exists() else {}
    return {name: entry["reason"] for entry in content.get("survivors", []) for name in entry["mistakes"]}


def explained(rows: Iterable[Entry]) -> dict[tuple[str, str, str], str]:
    """The reasons of survivors, also of those whose file has another name by now."""
    known = reasons()
    files = {name.partition(" ")[0] for name in known}
    present = {
        (mistake.where, mistake.change, text_of(mistake)): known[mistake.name]
        for mistake in of_folder(ROOT, sorted(file for file in files if (ROOT / file).exists()))
        if mistake.name in known
    }
    return {row.identity: known.get(row.name) or present[row.identity] for row in rows
            if not row.is_settled and (row.name in known or row.identity in present)}


def _drawn_rows() -> list[Entry]:
    return [row for row in record().values() if row.kind != BY_THOUGHT]


def report() -> Iterator[str]:
    """Each survivor with its reason, and how many were noticed."""
    present = {mistake.name for mistake in of_folder(ROOT, FOLDERS)}
    rows = _drawn_rows()
    reason = explained(rows)
    for entry in sorted(rows, key=lambda it: (it.file, it.where, it.change)):
        if not entry.is_settled:
            yield f"{entry.fate}  {entry.name}  ({reason.get(entry.identity, 'no reason yet')})"
    yield from (f"stale reason: {name}" for name in reasons() if name not in present)
    noticed = sum(1 for entry in rows if entry.is_settled)  # or in code that is gone
    each = sum(entry.taken for entry in rows) / max(len(rows), 1)
    unknown = len(rows) - noticed - len(reason)
    yield f"{len(rows)} mistakes: {noticed} noticed, {unknown} not and without a reason; {each:.1f} s each"


_COLUMNS = (NOTICED, SINCE, LATE, GONE, "explained", "open")


def table() -> list[str]:
    """The results for the mistakes that were tried, by room and by kind, for benchmarks/RESULTS.md."""
    rows = _drawn_rows()
    reason = explained(rows)
    rooms: dict[str, Counter[str]] = defaultdict(Counter)
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for entry in rows:
        fate = entry.fate if entry.is_settled else "explained" if entry.identity in reason else "open"
        rooms[str(Path(entry.file).parent).removeprefix("src/")][fate] += 1
        kinds[entry.kind][fate] += 1
    totals = sum(rooms.values(), Counter())
    lines = [
        f"{totals.total():,} mistakes have been tried. A campaign draws {COUNT:,} from the sources as they are; "
        "those that were drawn from earlier sources count as well. The tests noticed "
        f"{totals[NOTICED] + totals[SINCE] + totals[LATE]:,}: {totals[LATE]:,} of them only because a test took too "
        f"much of the processor's time, {totals[SINCE]:,} only after a test was added for them. "
        f"{totals['explained']:,} change nothing that a test has to notice, each with its reason in "
        f"`tools/planted.toml`, and {totals[GONE]:,} stood in code that was superfluous and is gone. "
        f"{totals['open']:,} are open: no test noticed them within the time that it was given, "
        "and none has a reason yet.",
    ]
    for title, counted in (("room", rooms), ("kind", kinds)):
        lines += ["", f"| {title} | tried | {' | '.join(_COLUMNS)} |", "|---" * (len(_COLUMNS) + 2) + "|"]
        for name, fates in sorted(counted.items()):
            lines.append(f"| {name} | {fates.total()} | {' | '.join(str(fates[fate]) for fate in _COLUMNS)} |")
    return [*lines, *_of_thought()]


def _of_thought() -> Iterator[str]:
    """The results of the last trial of the mistakes that people thought of."""
    rows = {(row.where, row.change): row for row in record().values() if row.kind == BY_THOUGHT}
    every = handmade_mistakes()
    found = [rows.get((it.mistake.where, it.mistake.change)) for it in every]
    noticed = sum(row is not None and row.is_settled for row in found)
    explained = sum(1 for it in every if it.reason)
    yield from ("", f"Of {len(every)} more, which somebody thought of who looked for wrong verdicts, the test that is "
                    f"named notices {noticed}; {explained} change nothing (`python -m tools.planted thought`).", "")
    yield from ("| mistake | file | noticed by |", "|---|---|---|")
    for it, row in zip(every, found, strict=True):
        by = f"`{row.by.partition('::')[2]}`" if row is not None and row.is_settled else it.reason or "nothing yet"
        yield f"| {it.about} | `{it.mistake.file.removeprefix('src/floodmark/')}` | {by} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=str(__doc__), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, default=ROOT / "build" / "planted", help="where what is learned is kept")
    commands = parser.add_subparsers(dest="command", required=True)
    learning = commands.add_parser("learn")
    learning.add_argument("tests", nargs="*", help="the tests to learn of; those of all folders by default")
    trying = commands.add_parser("try")
    trying.add_argument("places", nargs="*", default=list(FOLDERS), help="folders and files")
    trying.add_argument("--sample", type=int, default=COUNT, help="so many mistakes, chosen by --seed")
    trying.add_argument("--seed", type=int, default=SEED)
    trying.add_argument("--jobs", type=int, default=cores(), help="how many at once")
    trying.add_argument("--seconds", type=float, default=60.0, help="of tests for each mistake, at most")
    noticing = commands.add_parser("notice")
    noticing.add_argument("test")
    noticing.add_argument("mistakes", nargs="+", help="their names")
    commands.add_parser("thought")
    reporting = commands.add_parser("report")
    reporting.add_argument("--write", action="store_true", help="puts the figures into benchmarks/RESULTS.md")
    asked = parser.parse_args(arguments)
    if asked.command == "learn":
        learn(asked.into, asked.tests)
    if asked.command == "try":
        every = list(of_folder(ROOT, asked.places))
        sample = sample_of_mistakes(every, min(asked.sample, len(every)), asked.seed)
        for entry in try_all(sample, knowledge(asked.into), asked.seconds, asked.jobs):
            print(f"{entry.fate:<9} {entry.taken:>6} s  {entry.name}  {entry.by}", flush=True)
    if asked.command == "notice":
        for entry in notice(asked.test, asked.mistakes):
            print(f"{entry.fate:<9} {entry.taken:>6} s  {entry.name}", flush=True)
    if asked.command == "thought":
        for entry in try_thought():
            print(f"{entry.fate:<9} {entry.taken:>6} s  {entry.name}  {entry.by}", flush=True)
    if asked.command == "report":
        for line in report():
            print(line)
        if asked.write:
            section("planted", "python -m tools.planted report --write", table())


if __name__ == "__main__":
    main()
