"""Tests the tables of docs/kafka.md about mistakes that name Kafka, and about models that are called shipped."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "kafka.md").read_text(encoding="utf-8")
PROPERTIES = (ROOT / "docs" / "properties.md").read_text(encoding="utf-8")
NAMES_KAFKA = re.compile(r"KAFKA-\d+|[Pp]ull request \d+|\bKafka (?:at )?\w*\d")
STATE = re.compile(
    r"(?:not so|reproduced|repaired in|candidate|ended with|compared)\b.*|not a mistake of Kafka"
)


def table(header: str) -> list[list[str]]:
    """The rows of a table of the page."""
    lines = PAGE.partition(f"{header}\n")[2].splitlines()[1:]
    rows: list[list[str]] = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return rows


MISTAKES = table("| mistake | state | why |")
SHIPPED = table("| model | state | why |")
CASES = {row[0]: row[1:] for row in table("| case | 4.0.0 | 4.1.1 | 4.2.0 | 4.3.0 |")}


def named() -> dict[str, str]:
    """The mistakes of docs/properties.md that name Kafka, by their numbers."""
    rows = re.findall(r"^\| ([A-H]-M\d+) \| (.*) \|$", PROPERTIES, re.MULTILINE)
    return {number: text for number, text in rows if NAMES_KAFKA.search(text)}


def test_each_mistake_that_names_kafka_has_a_state() -> None:
    assert [row[0] for row in MISTAKES] == list(named())


@pytest.mark.parametrize("row", [*MISTAKES, *SHIPPED], ids=lambda row: row[0])
def test_a_state_is_one_of_those_that_there_are_and_its_case_exists(row: list[str]) -> None:
    _, state, why = row
    assert STATE.fullmatch(state)
    assert all(title in CASES for title in re.findall(r'"([^"]+)"', why))


@pytest.mark.parametrize("row", MISTAKES, ids=lambda row: row[0])
def test_a_ticket_of_a_row_is_one_of_its_mistake(row: list[str]) -> None:
    number, _, why = row
    for ticket in re.findall(r"KAFKA-\d+", re.sub(r'"[^"]*"', "", why)):
        assert ticket in named()[number]


@pytest.mark.parametrize("row", [row for row in MISTAKES if "`" in row[2]], ids=lambda row: row[0])
def test_a_contradicted_belief_is_a_class_that_walks_contradict(row: list[str]) -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "examples" / "kafka").glob("mistaken*.py"))
    for name in re.findall(r"`([A-Z]\w+s\w*[A-Z]\w+)`", row[2]):
        if row[1].startswith("not so"):
            assert f"class {name}(" in sources


@pytest.mark.parametrize("row", [row for row in MISTAKES if row[1].startswith("reproduced")], ids=lambda row: row[0])
def test_a_reproduced_mistake_has_a_case_that_some_version_reproduces(row: list[str]) -> None:
    titles = re.findall(r'"([^"]+)"', row[2])
    assert titles
    if row[1] != "reproduced in part":
        assert all("reproduced" in CASES[title] for title in titles)
