"""docs/from-words.md: its counts are those that the gate checks, its mutants those that the command finds."""

from __future__ import annotations

import re
from typing import Any

import pytest

from docs.tools import from_words
from docs.tools.from_words import FOLDER, PAGE, Mutants, page, specifications
from floodmark.checkers.native.search import reachable_set
from floodmark.checkers.project.spec import find, read
from floodmark.checkers.search_result import Options
from floodmark.compiler.layout import lay_out
from specs.from_words.commitment import Commitment, Decision, Vote
from specs.from_words.termination import Termination


def recorded() -> dict[str, Mutants]:
    """The mutants as the page has them."""
    text = PAGE.read_text(encoding="utf-8").partition("## Mutants")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| [^|]+ \| \d+ \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    return {each["spec"]: Mutants(*map(int, row)) for each, row in zip(specifications(), rows, strict=True)}


def test_the_page_is_what_the_tool_writes() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(recorded()), "run python -m docs.tools.from_words"


def test_every_model_has_its_text() -> None:
    assert {path.stem for path in find([FOLDER], "all")} == {each["spec"] for each in specifications()}


@pytest.mark.parametrize("each", specifications(), ids=lambda each: str(each["spec"]))
def test_a_difference_from_the_published_counts_has_its_reason(each: dict[str, object]) -> None:
    expect = read(FOLDER / f"{each['spec']}.toml").expect
    counts = {"distinct": expect.distinct, "generated": expect.generated, "depth": expect.depth}
    assert (counts == each["published"]) is ("differs" not in each)


def test_termination_generates_as_many_states_as_published_when_each_true_part_of_a_guard_is_a_step() -> None:
    found = steps = 0
    for state in states_of(Termination()):
        token, active, black = state["token"], state["active"], state["black"]
        parts = [state["token_is_black"], token in black] + ([token not in active] if token else [])
        found, steps = found + sum(parts), steps + any(parts)
    assert 1_817 - steps + found == 2_001


@pytest.mark.slow
def test_commitment_generates_as_many_states_as_published_when_each_no_is_a_step() -> None:
    more = 0
    for state in states_of(Commitment()):
        votes = list(state["vote_known"].values())
        decides = state["coordinator_alive"] and state["coordinator_decision"] == Decision.UNDECIDED
        if decides and Vote.UNKNOWN not in votes:
            more += max(0, votes.count(Vote.NO) - 1)
    assert 218_128 + more == 218_352


def states_of(model: Termination | Commitment) -> list[dict[str, Any]]:
    """The reachable states as a search finds them."""
    layout = lay_out(model.variable_types)
    rows = reachable_set(model, Options(workers=1))[0]
    return [dict(zip(model.variable_types, layout.unpack(tuple(map(int, row))), strict=True)) for row in rows]


@pytest.mark.slow
def test_the_mutants_are_those_of_the_page() -> None:
    assert from_words.mutants() == recorded()
