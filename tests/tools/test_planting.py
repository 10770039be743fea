"""Tests the planting tool: which mistakes a text offers, which tests it runs, and that it reports survivors."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import subprocess
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from tools import planted
from tools.forked_pytest import ForkedPytest
from tools.planted import FOLDERS, ROOT, Entry, Knowledge, importers, sample_of_mistakes
from tools.planting import Mistake, mistakes, of_folder
from tools.reloading import LoadedFunctions

SOURCE = '''
"""A text with - in it."""

LIMIT = 3


def below(a: int, b: int = 2) -> bool:
    """Says whether a < b."""
    if a < b and not hidden(a):
        count = min(a, -b)
        self.seen[a] += 1
        note(count)
        return builder.select(a, "<", b)
    return a < b


class Of:
    def any_of(self) -> None:
        while self.left:
            break
        self.left = self.high if self.low is None else [x for x in self.all if x]

    def cached(self, rounds: list[int]) -> int:
        for round in rounds:
            if round < 0:
                continue
            found = self.known[round]
        return self.known[round, found]
'''


def test_a_text_has_the_expected_mistakes() -> None:
    found = mistakes("a.py", SOURCE.encode())
    assert [(mistake.kind, mistake.name.removeprefix("a.py ")) for mistake in found] == [
        ("number", "module: 3 -> 2"),
        ("number", "module: 3 -> 4"),
        ("number", "below: 2 -> 1"),
        ("number", "below: 2 -> 3"),
        ("operator", "below: a < b -> (a <= b)"),
        ("operator", "below: a < b and not hidden(a) -> (a < b or not hidden(a))"),
        ("conjunct", "below: a < b and not hidden(a) -> (a < b)"),
        ("negation", "below: a < b and not hidden(a) -> (not (a < b and (not hidden(a))))"),
        ("conjunct", "below: a < b and not hidden(a) -> (not hidden(a))"),
        ("negation", "below: not hidden(a) -> hidden(a)"),
        ("choice", "below: min -> max"),
        ("negation", "below: -b -> b"),
        ("statement", "below: self.seen[a] += 1 -> pass"),
        ("operator", "below: self.seen[a] += 1 -> self.seen[a] -= 1"),
        ("number", "below: 1 -> 0"),
        ("number", "below: 1 -> 2"),
        ("statement", "below: note(count) -> pass"),
        ("choice", 'below: builder.select(a, "<", b) -> builder.select(a, b, \'<\')'),
        ("operator", 'below: "<" -> \'<=\''),
        ("operator", "below: a < b -> (a <= b) #2"),
        ("negation", "Of.any_of: self.left -> (not self.left)"),
        ("choice", "Of.any_of: self.left -> self.right"),
        ("exit", "Of.any_of: break -> pass"),
        ("statement", "Of.any_of: self.left = self.high if self.low is None else [x for x in self.all if x] -> pass"),
        ("choice", "Of.any_of: self.high -> self.low"),
        ("choice",
         "Of.any_of: self.high if self.low is None else [x for x in self.all if x] -> ([x "
         "for x in self.all if x] if self.low is None else self.high)"),
        ("choice", "Of.any_of: self.low -> self.high"),
        ("operator", "Of.any_of: self.low is None -> (self.low is not None)"),
        ("choice", "Of.any_of: self.all -> self.any"),
        ("negation", "Of.any_of: x -> (not x)"),
        ("guard", "Of.cached: if round < 0: continue -> pass"),
        ("operator", "Of.cached: round < 0 -> (round <= 0)"),
        ("number", "Of.cached: 0 -> 1"),
        ("exit", "Of.cached: continue -> pass"),
        ("exit", "Of.cached: found = self.known[round] -> found = self.known[round] break"),
        ("index", "Of.cached: self.known[round] -> (self.known[round - 1])"),
        ("key", "Of.cached: round, found -> ((found,))"),
        ("key", "Of.cached: round, found -> ((round,))"),
    ]


def test_a_sample_has_a_share_of_each_room_and_of_each_kind() -> None:
    every = list(of_folder(ROOT, ["src/floodmark/compiler", "src/floodmark/checkers/mutation"]))
    sample = sample_of_mistakes(every, 200, seed=3)
    assert len(set(sample)) == len(sample) == 200
    assert sample == sample_of_mistakes(every, 200, seed=3) != sample_of_mistakes(every, 200, seed=4)
    rooms = Counter(str(Path(mistake.file).parent) for mistake in sample)
    whole = Counter(str(Path(mistake.file).parent) for mistake in every)
    assert all(abs(rooms[room] - 200 * count / len(every)) <= 1 for room, count in whole.items())
    kinds = Counter(mistake.kind for mistake in sample if mistake.file.startswith("src/floodmark/compiler"))
    assert set(kinds) == {mistake.kind for mistake in every}
    assert max(kinds.values()) - min(kinds[kind] for kind in kinds if kind != "key") <= 1  # there are few keys


@pytest.mark.slow
def test_every_mistake_is_in_its_place_and_is_python() -> None:
    files = ["compiler/joins.py", "checkers/kernel/loops.py", "checkers/disk_cache.py"]
    every = list(of_folder(ROOT, [f"src/floodmark/{file}" for file in files]))
    assert len({mistake.name for mistake in every}) == len(every) > 100
    for mistake in every[::3]:
        source = (ROOT / mistake.file).read_bytes()
        changed = mistake.planted(source)
        ast.parse(changed)
        assert source[mistake.start : mistake.stop].decode() == mistake.old
        assert changed != source
        assert mistake.line == source[: mistake.start].count(b"\n") + 1


def test_what_somebody_thought_of_can_be_planted_and_names_its_test() -> None:
    for it in planted.handmade_mistakes():
        source = (ROOT / it.mistake.file).read_bytes()
        ast.parse(changed := it.mistake.planted(source))
        assert changed != source
        assert it.mistake.where != "module"
        assert bool(it.test) != bool(it.reason)
        if it.test:
            file, _, name = it.test.partition("::")
            assert f"def {name}(" in (ROOT / file).read_text()


def test_there_is_something_to_plant_in_every_folder() -> None:
    for place in FOLDERS:
        assert next(of_folder(ROOT, [place]), None) is not None


@pytest.mark.slow
def test_a_beginning_of_a_sample_is_spread_over_rooms_and_kinds() -> None:
    rooms = ["src/floodmark/compiler", "src/floodmark/checkers/spark", "src/floodmark/checkers/mutation"]
    sample = sample_of_mistakes(list(of_folder(ROOT, rooms)), 1000, seed=1)
    first = sample[:200]
    for count in (Counter(it.kind for it in sample), Counter(str(Path(it.file).parent) for it in sample)):
        for name, whole in count.items():
            part = sum(1 for it in first if name in (it.kind, str(Path(it.file).parent)))
            assert abs(part - whole / 5) <= 4 * (whole / 5) ** 0.5 + 1


@pytest.mark.slow
def test_tests_that_run_a_line_are_asked_about_it_and_otherwise_those_that_import_its_file() -> None:
    (first, *_) = of_folder(ROOT, ["src/floodmark/compiler/joins.py"])
    test = "tests/test_x.py::test_quick"
    known = Knowledge({first.file: {first.line: [test], first.line + 1: ["tests/test_x.py::test_other"]}}, {})
    assert known.tests_of(first, []) == {test: 0}
    (loop, *_) = of_folder(ROOT, ["src/floodmark/checkers/kernel/partitioned.py"])
    beside = "tests/agreement/test_meaning.py::test_what_lately_was_sent_is_compared_by_all_of_its_words"
    assert "tests/agreement/test_meaning.py" in importers(loop.file)[0]
    assert Knowledge({}, {}).tests_of(loop, [beside, "tests/gone.py::test_x"]) == {beside: 0}


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two files of code and one of tests."""
    for name, text in {
        "src/part/__init__.py": "",
        "src/part/code.py": "LEAST = 2\n\n\ndef larger(a: int, b: int) -> int:\n    return a if a > b else b\n",
        "tests/__init__.py": "",
        "tests/test_code.py": "import os\nfrom part.code import LEAST, larger\n\n\ndef test_larger() -> None:\n"
                              "    assert larger(1, 2) == larger(2, 1) == LEAST\n\n\ndef test_of_elsewhere() -> None:\n"
                              "    assert larger(1, 2) == 3\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(text)
    for name in ("__init__", "forked_pytest", "reloading"):
        (tmp_path / "tools").mkdir(exist_ok=True)
        (tmp_path / f"tools/{name}.py").write_bytes((ROOT / f"tools/{name}.py").read_bytes())
    monkeypatch.setattr(planted, "ROOT", tmp_path)
    monkeypatch.setattr(planted, "FOLDERS", ("src/part",))
    monkeypatch.setattr(planted, "REASONS", tmp_path / "planted.toml")
    monkeypatch.setattr(planted, "RECORD", tmp_path / "planted.csv")
    monkeypatch.setattr(planted, "THOUGHT", tmp_path / "thought.toml")
    (tmp_path / "thought.toml").write_text("mistakes = []\n")
    monkeypatch.setattr(planted, "_files", lambda: [str(it.relative_to(tmp_path)) for it in tmp_path.rglob("*.py")])
    planted._imports.cache_clear()
    importers.cache_clear()
    return tmp_path


def test_a_mistake_is_settled_or_survives_and_is_not_tried_twice(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--into", str(small), "try", "src/part", "--jobs", "1"]
    planted.main(command)
    said = sorted(line.strip().split(None, 3)[::3] for line in capsys.readouterr().out.splitlines())
    test = "tests/test_code.py::test_larger"  # the other one fails without a mistake, too
    assert said == [
        ["noticed", f"src/part/code.py larger: a if a > b else b -> (b if a > b else a)  {test}"],
        ["noticed", f"src/part/code.py module: 2 -> 1  {test}"],
        ["noticed", f"src/part/code.py module: 2 -> 3  {test}"],
        ["survived", "src/part/code.py larger: a > b -> (a >= b)"],
    ]

    def again(known: Knowledge, most: float, mistake: Mistake) -> Entry:
        raise AssertionError

    monkeypatch.setattr(planted, "attempt", again)
    planted.main(command)
    assert capsys.readouterr().out == ""
    assert "4 mistakes: 3 noticed, 1 not and without a reason" in "\n".join(planted.report())
    (small / "planted.toml").write_text(
        '[[survivors]]\nreason = "equal numbers are equal"\n'
        'mistakes = ["src/part/code.py larger: a > b -> (a >= b)", "src/part/code.py larger: gone"]\n'
    )
    told = list(planted.report())
    assert "survived  src/part/code.py larger: a > b -> (a >= b)  (equal numbers are equal)" in told
    assert "stale reason: src/part/code.py larger: gone" in told
    assert told[-1].startswith("4 mistakes: 3 noticed, 0 not and without a reason;")
    assert "| part | 4 | 3 | 0 | 0 | 0 | 1 | 0 |" in planted.table()


def test_a_test_of_a_file_that_is_committed_was_not_added(small: Path) -> None:
    git = partial(subprocess.run, cwd=small, check=True, capture_output=True)
    git(["git", "init"])
    assert not planted._is_committed("tests/test_code.py::test_larger")
    git(["git", "add", "."])
    git(["git", "-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "-m", "all"])
    assert planted._is_committed("tests/test_code.py::test_larger[a]")
    (small / "tests/test_code.py").write_text("def test_larger() -> None:\n    pass\n")
    assert not planted._is_committed("tests/test_code.py::test_larger")


@pytest.mark.parametrize("committed", [False, True])
def test_a_test_that_is_added_is_recorded_as_such(
    small: Path, monkeypatch: pytest.MonkeyPatch, committed: bool
) -> None:
    monkeypatch.setattr(planted, "_is_committed", lambda _: committed)
    test = "tests/test_more.py::test_two_numbers"
    (small / "tests/test_more.py").write_text(
        "from part.code import larger\n\n\ndef test_two_numbers() -> None:\n    assert larger(1, 2) == 2\n"
    )
    (entry,) = planted.notice(test, ["src/part/code.py larger: a if a > b else b -> (b if a > b else a)"])
    assert entry.is_settled
    assert [row.fate for row in planted.record().values()] == ["noticed" if committed else "noticed since"]
    with pytest.raises(SystemExit, match="no such mistake: gone"):
        list(planted.notice(test, ["gone"]))


@pytest.mark.slow
def test_what_somebody_thought_of_is_tried_with_its_test(small: Path) -> None:
    (small / "thought.toml").write_text(
        '[[mistakes]]\nabout = "the smaller one"\nfile = "src/part/code.py"\nold = "a if a > b else b"\n'
        'new = "min(a, b)"\ntest = "tests/test_code.py::test_larger"\n\n'
        '[[mistakes]]\nabout = "the other one"\nfile = "src/part/code.py"\nold = "a > b"\nnew = "a >= b"\n'
        'reason = "equal numbers are equal"\n'
    )
    (entry,) = planted.try_thought()
    assert entry.is_settled
    assert list(planted.report())[-1].startswith("0 mistakes")
    told = planted.table()
    assert "| the smaller one | `src/part/code.py` | `test_larger` |" in told
    assert "| the other one | `src/part/code.py` | equal numbers are equal |" in told


def test_a_mistake_that_never_ends_is_settled_by_the_time_of_the_processor(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it is another process that never ends."""
    (small / "tests/test_code.py").write_text(
        "import subprocess, sys\n\n\ndef test_an_end() -> None:\n"
        "    assert subprocess.run([sys.executable, '-c', 'while True: pass']).returncode == 0\n"
    )
    monkeypatch.setattr("tools.forked_pytest.LEAST", 0.5)
    own = small / "own"
    (own / "tmp").mkdir(parents=True)
    text = (small / "tools/forked_pytest.py").read_text()
    (small / "tools/forked_pytest.py").write_text(text.replace("LEAST, TIMES = 8.0", "LEAST, TIMES = 0.5"))
    runs = ForkedPytest(small, own, ["tests"])
    test = "tests/test_code.py::test_an_end"
    assert runs.tests == [test]
    answer = runs.run([test], {}, 60)
    assert answer.overdue == test
    assert answer.processor >= 0.5


def test_a_file_is_read_again_only_where_that_is_as_an_import(tmp_path: Path) -> None:
    file = tmp_path / "planted_code.py"
    old = (
        "def ran():\n    return 1\n\n\ndef other():\n    return [x for x in (1, 2)]\n\n\n"
        "class Of:\n    def one(self):\n        return 1\n\n\nKNOWN = ran()\n"
    )
    file.write_text(old)
    spec = importlib.util.spec_from_file_location("planted_code", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    loaded = LoadedFunctions({str(file): {1, 2, 5, 9, 10, 14}})
    for changed, again in {
        old.replace("(1, 2)", "(1, 3)"): True,
        old.replace("return [", "pass\n    return ["): True,  # what follows has other lines
        old.replace("        return 1", "        return 2"): True,
        old.replace("\n    return 1\n\n\ndef other", "\n    return 2\n\n\ndef other"): False,  # it ran
        old.replace("KNOWN = ran()", "KNOWN = 3"): False,
    }.items():
        assert changed != old
        file.write_text(changed)
        assert loaded.read_again(file) is again
    file.write_text(old.replace("(1, 2)", "(1, 3)").replace("        return 1", "        return 2"))
    assert loaded.read_again(file)
    assert module.other() == [1, 3]
    assert module.Of().one() == 2
    assert inspect.getsource(module.Of.one).strip().endswith("return 2")


def test_the_page_of_results_says_what_the_record_says() -> None:
    page = (ROOT / "benchmarks" / "RESULTS.md").read_text()
    assert "\n".join(planted.table()) in page


def test_the_tests_that_noticed_a_planted_mistake_are_quick() -> None:
    """Otherwise the default run would no longer notice it."""
    noticed = {entry.by.partition("[")[0] for entry in planted.record().values() if "::" in entry.by}
    marked = {
        f"{file.relative_to(ROOT).as_posix()}::{node.name}"
        for file in ROOT.glob("tests/*/test_*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(decorator) == "pytest.mark.slow" for decorator in node.decorator_list)
    }
    assert len(marked) > 100
    assert not noticed & marked


def test_reasons_are_about_mistakes_that_there_are() -> None:
    reasons = set(planted.reasons())
    files = sorted({name.partition(" ")[0] for name in reasons})
    assert all(file.startswith(FOLDERS) for file in files)
    assert not reasons - {mistake.name for mistake in of_folder(ROOT, files)}
