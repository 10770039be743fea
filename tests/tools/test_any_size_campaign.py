"""Tests that what is proved of drawn models for any number of identifiers holds at a few numbers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from unittest.mock import patch

import pytest

from floodmark.checkers.search_result import Limits
from tests.support.any_size_loops import HEADER, LoopDrawing
from tests.support.engines import imported, properties_of
from tools import any_size_campaign
from tools.any_size_campaign import FAR, WrongProofError, campaign, proved_properties, require_at_sizes


def test_what_is_proved_of_a_drawn_model_holds_at_small_numbers(tmp_path: Path) -> None:
    with (
        patch.object(any_size_campaign, "SIZES", (2, 3)),
        patch.object(any_size_campaign, "properties_of", lambda cls: properties_of(cls)[:3]),
    ):
        counts = campaign(range(1), tmp_path, Limits(states=3_000))
    assert counts["laws"] == 3
    assert counts["laws proved"] > 0


def test_a_law_that_is_false_at_some_number_is_noticed(tmp_path: Path) -> None:
    with (
        imported(LoopDrawing(0).model(), "Drawn", tmp_path) as cls,
        patch.object(any_size_campaign, "SIZES", (1, 3)),
        pytest.raises(WrongProofError, match="is proved for every number, and false with"),
    ):
        require_at_sizes(cls, properties_of(cls), FAR, Counter())


def test_drawn_loops_have_several_additions_that_read_what_was_added() -> None:
    sources = [LoopDrawing(seed).model() for seed in range(100)]
    assert sum(source.count(" | {") + source.count("= t | ") > 3 for source in sources) > 40
    for wanted in ("for x in self.few", "for x in self.groups", "for x in Site", "if len(t) <", "else:", "> top:",
                   "2 * len(", "self.is_fit(x)", "if p in u", "x not in t", "if self.is_asked(x)", "    pass\n",
                   "return not self.done or self.first in self.t"):
        assert sum(wanted in source for source in sources) > 3, wanted


@pytest.mark.slow
def test_what_is_proved_of_many_drawn_models_holds_at_small_numbers(tmp_path: Path) -> None:
    assert campaign(range(1_000, 1_012), tmp_path)["laws proved"] > 20


def test_all_identifiers_of_two_classes_are_two_sets(tmp_path: Path) -> None:
    law = "\n    @invariant\n    def law(self) -> bool:\n        return len(Node) + len(Site) >= 2\n"
    with imported(HEADER + "        self.done = True\n" + law, "Drawn", tmp_path) as cls:
        assert [prop.name for prop in proved_properties(cls(), properties_of(cls))] == ["law"]
