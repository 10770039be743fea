"""Tests that a bounded search begins where walks end."""

from __future__ import annotations

import pytest

import floodmark
from tests.simulation.test_deep_runs import Stair


def test_z3_finds_after_walks_what_it_does_not_find_from_the_beginning() -> None:
    near = floodmark.prove(Stair, method="bmc", depth=6)
    assert near.verdict == "undetermined"
    far = floodmark.prove(Stair, method="bmc", depth=6, after_walks=300)
    assert far.verdict == "violated"
    assert "z3 began after run" in far.message
    missed = floodmark.prove(Stair, method="bmc", depth=2, after_walks=1)
    assert missed.verdict == "undetermined"
    assert "nothing is known of other runs" in missed.message
    with pytest.raises(ValueError, match="after_walks is for method bmc"):
        floodmark.prove(Stair, method="induction", after_walks=3)
