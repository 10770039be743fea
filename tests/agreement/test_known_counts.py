"""Compares state counts with those that others published, as an independent oracle."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.flexible_paxos import FlexiblePaxos
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.properties import collect
from floodmark.checkers.project.spec import read
from floodmark.checkers.search_result import Options

EXAMPLES = Path(__file__).parents[2] / "specs/examples"


@pytest.mark.parametrize(
    ("managers", "distinct", "generated"),
    [
        (3, 288, 1_146),  # TLC; Stateright, examples/2pc.rs
        (5, 8_832, None),  # Stateright
        (7, 296_448, None),  # Stateright
        pytest.param(8, 1_745_408, 18_507_778, marks=pytest.mark.slow),  # TLC
    ],
)
def test_two_phase_commit_has_the_counts_of_tlc(managers: int, distinct: int, generated: int | None) -> None:
    spec = read(EXAMPLES / "two_phase_commit.toml")
    model = spec.model_class()(managers=managers)
    found = search_states(model, spec.chosen(spec.properties(type(model))), Options())
    assert found.complete
    assert found.distinct == distinct
    assert generated in (None, found.generated)


@pytest.mark.parametrize(
    ("sizes", "distinct", "generated", "depth"),
    [
        ({}, 36_953, 245_288, 19),
        ({"acceptors": 3, "first_quorum": 2}, 362_361, None, 25),
        pytest.param({"acceptors": 4, "rows": True}, 11_279_393, None, 31, marks=pytest.mark.slow),
    ],
)
def test_flexible_paxos_has_the_counts_of_tlc(
    sizes: dict[str, int], distinct: int, generated: int | None, depth: int
) -> None:
    """I. Konnov, "All you need is a simulator? Nope". TLC generates a proposal once more for each larger quorum."""
    found = search_states(FlexiblePaxos(**sizes), list(collect(FlexiblePaxos, []).values()), Options())
    assert found.complete
    assert (found.distinct, found.depth) == (distinct, depth)
    assert generated in (None, found.generated)


def test_paxos_commit_expects_what_tlc_counts() -> None:
    """The manifest of the TLA+ Examples collection: 1,321,761 distinct states of 16,959,159 generated, depth 28."""
    expect = read(EXAMPLES / "paxos_commit.toml").expect
    assert (expect.distinct, expect.generated, expect.depth) == (1_321_761, 16_959_159, 28)
