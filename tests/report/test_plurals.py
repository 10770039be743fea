"""Tests that messages say ``1 state`` and ``2 states``: numbers come with their word from ``counted``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from floodmark.checkers.command_line.cli import command
from floodmark.language.plurals import counted, counted_seconds, plural
from tests.support.outcomes import inside
from tests.support.projects import tank_project

REPOSITORY = Path(__file__).parents[2]
FOLDERS = ("src",)
NOUNS = re.compile(
    r"actions|arguments|bits|branches|bytes|cases|cells|checks|choices|claims|classes|clauses|"
    r"constants|designs|differences|digits|elements|entries|events|files|folders|headers|holes|"
    r"identifiers|keys|lemmas|levels|lines|models|moves|mutants|names|obligations|orbits|"
    r"outcomes|parameters|partitions|processes|proofs|properties|questions|records|replicas|rows|"
    r"rules|runs|seconds|shapes|specs|states|steps|successors|times|traces|values|variables|"
    r"verdicts|violations|words|workers"
)
ALWAYS_MANY = (
    "{} of {} generated",
    "{} of {} states are in",  # a search with levels to distribute
    "{} different states",  # k of k-induction, of which 1 is plain induction
    "{} -> {} replicas",
    "takes {} bits, more than",
    "has {} levels, which",
    "{} levels; the widest",
    "needs a value for each of the {} keys",
    "of the {} values",
    "with its {} choices",
    "for {} of {} choices",
    "would be {} properties",
    "in its {} bits",
    "found {} states and gives",
    "visits about {} states",  # an average
    "{} steps/s",  # a rate
    "may hold {} elements",
    "involves {} brokers",
    "all {} lines",
    "all {} reachable states",
    "has {} possible values",
    "so for {} choices",
    "has {} possible elements",
    "names a broker twice",
    "{} checks less",  # the name of a spec
)
"""Messages about numbers that are never 1 where the message appears."""


def texts(file: Path) -> Iterator[tuple[int, str]]:
    """The f-strings of a file, with ``{}`` for each value, except for constants, which are chosen with their word."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{constant}" if _is_constant(part) else "{}"
                for part in node.values
            )


def _is_constant(part: ast.expr) -> bool:
    return isinstance(part, ast.FormattedValue) and bool(re.fullmatch(r"[A-Z_]+( >> \d+)?", ast.unparse(part.value)))


def test_no_message_has_a_word_of_its_own_after_a_number() -> None:
    found = []
    for folder in FOLDERS:
        for file in sorted((REPOSITORY / folder).rglob("*.py")):
            for line, text in texts(file):
                words = re.findall(r"\{\} (?:(?:possible|inferred|distinct|reachable) )?([a-z]+s)\b", text)
                if any(map(NOUNS.fullmatch, words)) and not any(each in text for each in ALWAYS_MANY):
                    found.append(f"{file.relative_to(REPOSITORY)}:{line}: {text}")
    assert found == []


def test_words_agree_with_their_numbers() -> None:
    assert [counted(number, "state") for number in (0, 1, 1204)] == ["0 states", "1 state", "1,204 states"]
    assert [counted(number, "property") for number in (1, 2)] == ["1 property", "2 properties"]
    assert (counted(2, "class"), plural(1, "is", "are"), plural(3, "is", "are")) == ("2 classes", "is", "are")
    assert [counted_seconds(seconds) for seconds in (1, 0.5, 60.0)] == ["1 second", "0.5 seconds", "60 seconds"]


def test_one_state_is_in_the_singular(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with inside(tank_project(tmp_path)):
        for more in (["--set", "size=0"], ["--max-states", "1"]):
            command.main(["check", "--engine", "reference", *more], standalone_mode=False)
        for name in ("prove", "show"):
            command.main([name, "tank"], standalone_mode=False)
    said = capsys.readouterr().out
    assert not re.search(rf"(?<![\d,.])1 ({NOUNS.pattern})\b", said)
    for text in ("1 state, 1 generated", "at the limit of 1 state;", "inductive: 1 property with 0 lemmas"):
        assert text in said
