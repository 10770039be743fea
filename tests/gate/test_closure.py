"""Tests source closures: what belongs to one, and which edits its two hashes notice."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import floodmark.language.reference
from floodmark.checkers.gate.closure import _LANGUAGE, Closure, Numbering, _order
from floodmark.checkers.project.modules import Project
from tests.support.projects import TANK, write

IMPORTS = "from lib.helpers import Size as Amount, larger as above\nfrom floodmark"
MODEL = f"""
{TANK.replace("from floodmark", IMPORTS)}
    @invariant
    def above_nothing(self) -> bool:
        amount = Amount(self.level)
        return above(amount, -1)

    def unused(self) -> bool:
        return self.full()


def not_reached() -> int:
    return 1
"""
HELPERS = '''
import math
from operator import gt as compare

LIMIT = 3
COUNTS = {}
COUNTS["a"] = LIMIT


def Size(value):
    """The size."""
    return math.floor(value)


def larger(left, right):
    return compare(left, right)


def never_used():
    return LIMIT
'''
_numbers = itertools.count()


def closure(tmp_path: Path, *edits: tuple[str, str]) -> Closure:
    """The closure of the edited model, loaded from a folder of its own."""
    texts = {"model/tank.py": MODEL, "lib/helpers.py": HELPERS}
    for old, new in edits:
        assert any(old in text for text in texts.values()), old
        texts = {name: text.replace(old, new) for name, text in texts.items()}
    root = write(tmp_path / str(next(_numbers)), {**texts, "pyproject.toml": ""})
    found = Closure()
    found.add([next(value for value in vars(Project.of(root / "x").load(root / "model/tank.py")).values()
                    if isinstance(value, type) and value.__module__.endswith("model.tank"))])
    return found


def meaning(tmp_path: Path, *edits: tuple[str, str]) -> str:
    return Numbering().hash(closure(tmp_path, *edits).definitions)


def test_it_has_what_is_reached_and_nothing_else(tmp_path: Path) -> None:
    found = closure(tmp_path)
    firsts = {each.file.read_text().splitlines()[each.line - 1] for each in found.definitions}
    assert firsts == {
        "class Tank(Model):", "def Size(value):", "def larger(left, right):", 'COUNTS["a"] = LIMIT', "COUNTS = {}",
        "LIMIT = 3",
    }


@pytest.mark.parametrize(
    "edit",
    [
        ("self.level += 1", "self.level += 1  # more"),
        ('"""The size."""', '"""How large it is."""'),
        ('"""A tank that is filled and drained."""', ""),
        ("return self.level == self.size", "return (\n            self.level\n            == self.size)"),
        ("full(", "is_full("),
        ("LIMIT", "BOUND"),
        ("amount", "quantity"),
        ("def larger(left, right):\n    return compare(left, right)", "def larger(a, b):\n    return compare(a, b)"),
        ("gt as compare", "gt as compare, lt"),
        ("larger as above", "larger as over"),
        ("class Tank(", "class Vessel("),
        ("def not_reached() -> int:\n    return 1", ""),
        ("Amount", "Volume"),
        ("level", "height"),
        ("size", "height_of_it"),
    ],
)
def test_equivalent_sources_have_the_same_hash(tmp_path: Path, edit: tuple[str, str]) -> None:
    edits = [edit]
    if edit[0] == "larger as above":
        edits.append(("return above(", "return over("))
    assert meaning(tmp_path, *edits) == meaning(tmp_path)


@pytest.mark.parametrize(
    "edit",
    [
        ("self.level += 1", "self.level += 2"),
        ("require(self.level > 0)\n", "\n"),
        ("self.level > 0", "self.level >= 0"),
        ("not self.full()", "self.full()"),
        ("compare(left, right)", "compare(right, left)"),
        ("gt as compare", "ge as compare"),
        ("math.floor", "math.ceil"),
        ("LIMIT = 3", "LIMIT = 4"),
        ('COUNTS["a"]', 'COUNTS["b"]'),
        ("Constant(3)", "Constant(4)"),
        ('Between(0, "size")', 'Between(1, "size")'),
        ("@action\n    def drain", "def drain"),
        ("@invariant\n    def below_size", "def below_size"),
        ("larger as above", "never_used as above"),
        ("self.level < self.size + 1", "self.level < self.size + 1 or True"),
    ],
)
def test_different_meanings_have_different_hashes(tmp_path: Path, edit: tuple[str, str]) -> None:
    assert meaning(tmp_path, edit) != meaning(tmp_path)


ROUND = {
    "lib/one.py": "LIMIT = 1\nfrom lib.two import *\n\ndef unused():\n    return LIMIT\n",
    "lib/two.py": "from lib.one import LIMIT\n",
}
"""Two modules that import a name from each other; the second only passes it on."""


def reached(root: Path, **texts: str) -> str:
    """The hash of what a function reaches that names ``lib.one.LIMIT``."""
    text = "from lib.one import LIMIT\ndef limit():\n    return LIMIT\n"
    write(root, {"pyproject.toml": "", "lib/use.py": text, **texts})
    return Numbering().hash(Closure().add([Project.of(root / "x").load(root / "lib/use.py").limit]))


def test_a_name_that_two_modules_import_from_each_other_is_where_it_is_defined(tmp_path: Path) -> None:
    """No more of a module counts because a name leads back to it."""
    without = {**ROUND, "lib/one.py": ROUND["lib/one.py"].partition("def unused")[0]}
    other = {**ROUND, "lib/one.py": ROUND["lib/one.py"].replace("= 1", "= 2")}
    assert reached(tmp_path / "one", **ROUND) == reached(tmp_path / "two", **without)
    assert reached(tmp_path / "one", **ROUND) != reached(tmp_path / "three", **other)


def test_exchanging_two_names_changes_the_hash(tmp_path: Path) -> None:
    """Numbers follow the order of mention, so exchanging two names that stand for different things is noticed."""
    two = ("level: Annotated", "other: Annotated[int, Between(0, 1)] = 0\n    level: Annotated")
    assert meaning(tmp_path, two, ("require(self.level > 0)", "require(self.other > 0)")) != meaning(tmp_path, two)


def test_a_hash_does_not_depend_on_what_else_is_loaded() -> None:
    """KRaft calls something ``source``; so is a module of the language called, which not every command loads."""
    assert {"source", "reference"} <= vars(floodmark.language).keys()
    assert not {"source", "reference"} & _LANGUAGE


def test_statements_run_by_files_as_they_are_met_and_then_by_lines() -> None:
    met = [("b", 7, True), ("a", 3, True), ("b", 2, True), ("a", 9, False), ("a", 1, True), ("b", 5, True)]
    definitions: list[Any] = [SimpleNamespace(file=file, place=(line, 0), runs=runs) for file, line, runs in met]
    assert _order(definitions) == [2, 5, 0, 4, 1]
