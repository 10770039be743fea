"""Tests that coverage of a search in a cluster is that of one machine, wherever the states are."""

from __future__ import annotations

import pytest

from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.properties import collect
from floodmark.checkers.search_result import Options, SearchResult
from floodmark.checkers.spark import search as spark_engine
from tests.search.test_native import Grid

pytest.importorskip("pyspark")


def on_spark(model: Grid, options: Options, wide: int) -> SearchResult:
    """Levels of at least ``wide`` states are distributed."""
    how = spark_engine.Distribution(master="local[2]", partitions=3, wide=wide)
    return spark_engine.search_states(model, list(collect(type(model), ()).values()), options, None, how)


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("wide", [0, 20])
@pytest.mark.parametrize("top", [99, 1], ids=["complete", "ended by a violation"])
def test_coverage_in_a_cluster_is_that_of_one_machine(top: int, wide: int) -> None:
    model = Grid(side=4, top=top)
    options = Options(workers=1, coverage=True)
    here = search_states(model, list(collect(type(model), ()).values()), options)
    there = on_spark(model, options, wide)
    assert here.coverage is not None
    assert here.coverage.states == here.distinct == there.distinct
    assert there.coverage == here.coverage
