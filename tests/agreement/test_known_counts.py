"""Compares state counts with those that others published, as an independent oracle."""

from __future__ import annotations

from pathlib import Path

import pytest

from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.spec import read
from floodmark.checkers.search_result import Options

EXAMPLES = Path(__file__).parents[2] / "specs/examples"


@pytest.mark.parametrize(
    ("managers", "distinct", "generated"),
    [
        (3, 288, 1_146),  # TLC; Stateright, examples/2pc.rs
        (5, 8_832, None),  # Stateright
        (7, 296_448, None),  # Stateright
        (8, 1_745_408, 18_507_778),  # TLC
    ],
)
def test_two_phase_commit_has_the_counts_of_tlc(managers: int, distinct: int, generated: int | None) -> None:
    spec = read(EXAMPLES / "two_phase_commit.toml")
    model = spec.model_class()(managers=managers)
    found = search_states(model, spec.chosen(spec.properties(type(model))), Options())
    assert found.complete
    assert found.distinct == distinct
    assert generated in (None, found.generated)


def test_paxos_commit_expects_what_tlc_counts() -> None:
    """The manifest of the TLA+ Examples collection: 1,321,761 distinct states of 16,959,159 generated, depth 28."""
    expect = read(EXAMPLES / "paxos_commit.toml").expect
    assert (expect.distinct, expect.generated, expect.depth) == (1_321_761, 16_959_159, 28)
