"""Tests that reports say what was never taken, and show the source with its counts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from floodmark.checkers.coverage.places import OutcomeCoverage
from tests.support.command import floodmark
from tests.support.projects import write

PUMP = '''
from enum import Enum
from typing import Annotated

from floodmark import Between, Constant, Model, action, invariant, require


class Mode(Enum):
    OFF = 0
    ON = 1
    BROKEN = 2


class Pump(Model):
    """A pump that breaks down in no step."""

    most = Constant(2)
    level: Annotated[int, Between(0, "most")] = 0
    mode: Mode = Mode.OFF

    @action
    def turns(self, to: Mode) -> None:
        require(to != Mode.BROKEN)
        require(self.mode != to and self.level >= 0)
        self.mode = to

    @action
    def pumps(self) -> None:
        require(self.mode == Mode.ON)
        if self.level == self.most:
            self.level = 0
        elif self.mode == Mode.BROKEN:
            self.level = 1 if self.level == 0 else 0
            require(self.level == 1)
        else:
            self.level = self.level + 1

    @invariant
    def pump_is_whole(self) -> bool:
        return self.mode != Mode.BROKEN
'''
SAID = """\
holds         pump  6 states, 10 generated, depth 5, T
              coverage: 9 of 11 lines, 3 of 6 branches, 3 of 5 guards refused something, 5 of 6 values
              never taken:
                pump.py:32-33  self.level = 1 if self.level == 0 else 0
                pump.py:31  self.mode == Mode.BROKEN: never true
              guards that never refuse:
                pump.py:23  self.level >= 0
              arguments that no step has:
                turns: to = BROKEN
              values that no state has:
                mode = BROKEN
              all counts: add --json FILE, then floodmark report FILE --as html --into PAGE
1 check, each as expected
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path, {"pump.py": PUMP, "pump.toml": 'model = "pump.py:Pump"\n'})


def test_a_check_says_what_was_never_taken(project: Path) -> None:
    ended = floodmark("check", "pump.toml", "--coverage", at=project)
    assert re.sub(r"[\d.]+ m?s$", "T", ended.out, flags=re.MULTILINE) == SAID


def test_a_check_says_nothing_of_coverage_unless_asked(project: Path) -> None:
    assert "coverage" not in floodmark("check", "pump.toml", at=project).out


def test_the_page_shows_the_source_with_its_counts(project: Path) -> None:
    assert floodmark("check", "pump.toml", "--coverage", "--json", "pump.json", at=project).code == 0
    found = json.loads((project / "pump.json").read_text())["results"][0]["coverage"]
    assert found["states"] == 6
    assert found["whole"] == {"action turns": 6, "action pumps": 3, "invariant pump_is_whole": 6}
    assert floodmark("report", "pump.json", "--as", "html", "--into", "pump.html", at=project).code == 0
    rows = re.findall(r'<tr[^>]*><th scope="row">\d+</th>.*?</tr>', (project / "pump.html").read_text())
    shown = {re.sub("<[^>]*>", "|", row).replace("||", "|") for row in rows}
    assert {it for it in shown if re.match(r"\|(23|32|39)\|", it)} == {
        "|23|6|||        require(self.mode != to and self.level &gt;= 0)"
        "|self.mode != to refused: 6|self.level &gt;= 0 refused: never||",
        "|32||||            self.level = 1 if self.level == 0 else 0|self.level == 0 true: never"
        "|self.level == 0 false: never||",
        "|39||6||        return self.mode != Mode.BROKEN||",
    }


def test_cpython_counts_nothing(project: Path) -> None:
    ended = floodmark("check", "pump.toml", "--coverage", "--engine", "reference", at=project)
    assert ended.code == 2
    assert "--coverage counts in compiled code; leave out --engine reference" in ended.err


VALVE = '''
from typing import Annotated

from floodmark import Between, Model, action, require


class Valve(Model):
    """A valve that is never closed."""

    level: Annotated[int, Between(0, 3)] = 1

    @action
    def moves(self) -> None:
        require(self.level < 3)
        if self.level == 0:
            self.level = 1
        elif self.level == 3:
            self.level = 2
        else:
            self.level = self.level + 1
'''


def test_a_line_that_was_taken_is_not_among_those_that_never_were(tmp_path: Path) -> None:
    project = write(tmp_path, {"valve.py": VALVE, "valve.toml": 'model = "valve.py:Valve"\n[expect]\ndistinct = 3\n'})
    said = floodmark("check", "valve.toml", "--coverage", at=project).out
    assert "valve.py:15  self.level = 1\n" in said
    assert "valve.py:17  self.level = 2\n" in said
    assert "valve.py:16  self.level == 3: never true" in said


@pytest.mark.parametrize(
    ("kind", "outcome", "in_actions", "counts"),
    [
        ("line", None, True, False), ("guard", False, True, False), ("if", False, False, True),
        ("choice", True, False, True), ("and", False, True, True), ("and", False, False, False),
        ("premise", True, False, True), ("premise", False, False, False), ("premise", False, True, True),
        ("condition", True, False, True), ("condition", False, False, False), ("value", None, True, False),
    ],
)
def test_what_a_property_that_holds_never_shows_is_no_branch(
    kind: str, outcome: bool | None, in_actions: bool, counts: bool
) -> None:
    assert OutcomeCoverage(kind, "pump.py", 1, 0, outcome, "", 0, 0, in_actions).is_branch == counts
