"""Tests the planting tool: which mistakes a text offers, which tests it runs, and that it reports survivors."""

from __future__ import annotations

import ast
import json
from collections import Counter
from pathlib import Path

import pytest

from tools import planted
from tools.planted import FOLDERS, ROOT, Knowledge, Trial, drawn, importers
from tools.planting import mistakes, of_folder

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
    sample = drawn(every, 200, seed=3)
    assert len(set(sample)) == len(sample) == 200
    assert sample == drawn(every, 200, seed=3) != drawn(every, 200, seed=4)
    rooms = Counter(str(Path(mistake.file).parent) for mistake in sample)
    whole = Counter(str(Path(mistake.file).parent) for mistake in every)
    assert all(abs(rooms[room] - 200 * count / len(every)) <= 1 for room, count in whole.items())
    kinds = Counter(mistake.kind for mistake in sample if mistake.file.startswith("src/floodmark/compiler"))
    assert set(kinds) == {mistake.kind for mistake in every}
    assert max(kinds.values()) - min(kinds[kind] for kind in kinds if kind != "key") <= 1  # there are few keys


def test_every_mistake_is_in_its_place_and_is_python() -> None:
    files = ["compiler/joins.py", "checkers/kernel/loops.py", "checkers/disk_cache.py"]
    every = list(of_folder(ROOT, [f"src/floodmark/{file}" for file in files]))
    assert len({mistake.name for mistake in every}) == len(every) > 100
    for mistake in every:
        source = (ROOT / mistake.file).read_bytes()
        changed = mistake.planted(source)
        ast.parse(changed)
        assert source[mistake.start : mistake.stop].decode() == mistake.old
        assert changed != source
        assert mistake.line == source[: mistake.start].count(b"\n") + 1


def test_there_is_something_to_plant_in_every_folder() -> None:
    for place in FOLDERS:
        assert next(of_folder(ROOT, [place]), None) is not None


def test_the_quickest_tests_of_a_line_run_first() -> None:
    (first, *_) = of_folder(ROOT, ["src/floodmark/compiler/joins.py"])
    quick, slow, other = (f"tests/test_x.py::test_{name}" for name in ("quick", "slow", "other"))
    known = Knowledge({first.file: {first.line: [slow, quick], first.line + 1: [other]}}, {quick: 1, slow: 5, other: 2})
    assert known.tests_of(first, 10) == [quick, slow]
    assert known.tests_of(first, 3) == [quick]
    elsewhere = Knowledge({first.file: {first.line + 1: [other]}}, {quick: 1, slow: 5, other: 2})
    assert known.tests_of(first, 0.5) == [quick]
    assert elsewhere.tests_of(first, 10) == [other]
    (loop, *_) = of_folder(ROOT, ["src/floodmark/checkers/kernel/partitioned.py"])
    beside = "tests/agreement/test_meaning.py::test_what_lately_was_sent_is_compared_by_all_of_its_words"
    assert "tests/agreement/test_meaning.py" in importers(loop.file)
    assert Knowledge({}, {beside: 1.0, quick: 0.1}).tests_of(loop, 10) == [beside]


def test_a_mistake_is_noticed_or_survives_and_is_not_tried_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a repository of two files: one of its two mistakes is noticed by the test that there is."""
    for name, text in {
        "part/__init__.py": "",
        "part/code.py": "def larger(a: int, b: int) -> int:\n    return a if a > b else b\n",
        "tests/__init__.py": "",
        "tests/test_code.py": "from part.code import larger\n\n\ndef test_larger() -> None:\n"
                              "    assert larger(1, 2) == larger(2, 1) == 2\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(planted, "ROOT", tmp_path)
    monkeypatch.setattr(planted, "FOLDERS", ("part",))
    monkeypatch.setattr(planted, "REASONS", tmp_path / "planted.toml")
    monkeypatch.setattr(planted, "_files", lambda: [str(it.relative_to(tmp_path)) for it in tmp_path.rglob("*.py")])
    test = "tests/test_code.py::test_larger"
    into = tmp_path / "found"
    into.mkdir()
    (into / "known.json").write_text(json.dumps({"lines": {"part/code.py": {"2": [test]}}, "seconds": {test: 0.1}}))
    command = ["--into", str(into), "try", "part", "--jobs", "2"]
    planted.main(command)
    said = sorted(line.strip().split(None, 3)[::3] for line in capsys.readouterr().out.splitlines())
    assert said == [
        ["killed", f"part/code.py larger: a if a > b else b -> (b if a > b else a)  {test}"],
        ["survived", "part/code.py larger: a > b -> (a >= b)"],
    ]

    def again(folder: Path, trial: Trial) -> dict[str, object]:
        raise AssertionError

    monkeypatch.setattr(planted, "attempt", again)
    planted.main(command)
    assert len(capsys.readouterr().out.splitlines()) == 2
    planted.main(["--into", str(into), "report"])
    assert "1 noticed, 1 not and without a reason" in capsys.readouterr().out
    (tmp_path / "planted.toml").write_text(
        '[[survivors]]\nreason = "equal numbers are equal"\n'
        'mistakes = ["part/code.py larger: a > b -> (a >= b)", "part/code.py larger: gone"]\n'
    )
    planted.main(["--into", str(into), "report"])
    told = capsys.readouterr().out.splitlines()
    assert "survived  line 2  part/code.py larger: a > b -> (a >= b)  (equal numbers are equal)" in told
    assert "stale reason: part/code.py larger: gone" in told
    assert told[-1].startswith("2 mistakes: 1 noticed, 0 not and without a reason;")


def test_it_says_what_has_to_be_done_first(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="planted learn"):
        planted.knowledge(tmp_path)


def test_reasons_are_about_mistakes_that_there_are() -> None:
    present = {mistake.name for mistake in of_folder(ROOT, FOLDERS)}
    assert not set(planted.reasons()) - present
