"""Searches written by hand in C, which share nothing with the checker, count the same states."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks.by_hand import YARDSTICKS, Yardstick, build, by_hand
from benchmarks.native import Work, subject
from floodmark.checkers.native.search import search_states
from floodmark.checkers.search_result import Options

SOURCES = ("async_isr.c", "alter_isr.c", "kraft.c", "failover.c")
SMALLEST = [next(it for it in YARDSTICKS if it.source == source) for source in SOURCES]


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.slow
@pytest.mark.parametrize("yardstick", SMALLEST, ids=lambda it: it.source)
def test_a_search_by_hand_counts_the_same(tmp_path: Path, yardstick: Yardstick) -> None:
    counts, _ = by_hand(build(yardstick, tmp_path), yardstick, table_bits=21)
    model, properties = subject(Work(yardstick.title, yardstick.spec, yardstick.constants))
    found = search_states(model, properties, Options(workers=1))
    assert not found.violations
    assert counts == (found.distinct, found.generated, found.depth)
