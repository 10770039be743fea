"""How many partitions a distributed search has. No session is started here."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from floodmark.checkers.search_result import Limits, Options
from floodmark.checkers.spark import search
from floodmark.checkers.spark.partition_count import (
    FOR_EACH_CORE,
    GROWTH,
    MAX_STATES,
    MIN_STATES_FOR_CORE,
    STATES,
    has_grown,
    is_outgrown,
    partition_count,
)
from floodmark.checkers.spark.search import ClusterMigration, Distribution


@pytest.mark.parametrize(
    ("cores", "likely", "limit", "wanted"),
    [
        (2, 1000, None, 2),
        (2, 2 * STATES, None, 2),
        (2, 2 * STATES + 1, None, 3),
        (2, 10**9, None, 20),
        (80, 10**9, None, 80),
        (2, 10**9, 10**6, 2),
        (2, None, None, 2 * FOR_EACH_CORE),
        (2, None, 10**6, 2),
        (2, None, 10**12, 2 * FOR_EACH_CORE),
    ],
)
def test_there_are_as_many_partitions_as_states_need(
    cores: int, likely: int | None, limit: int | None, wanted: int
) -> None:
    assert partition_count(cores, likely, limit) == wanted


@pytest.mark.parametrize(
    ("cores", "likely", "limit", "found", "wanted"),
    [
        (2, None, None, STATES, 2 * FOR_EACH_CORE),
        (2, None, None, 10 * STATES, 10 * GROWTH),
        (2, None, 20 * STATES, 10 * STATES, 20),
        (2, 2 * STATES, None, 10 * STATES, 10 * GROWTH),
        (40, 2 * STATES, None, STATES, 40),
    ],
)
def test_a_search_that_has_found_many_states_gets_more_partitions(
    cores: int, likely: int | None, limit: int | None, found: int, wanted: int
) -> None:
    assert partition_count(cores, likely, limit, found) == wanted


def test_partitions_are_outgrown_by_states_or_by_the_cluster() -> None:
    assert not is_outgrown(8, 2, 8 * MAX_STATES)
    assert is_outgrown(8, 2, 8 * MAX_STATES + 1)
    assert not is_outgrown(8, 80, 8 * MIN_STATES_FOR_CORE)
    assert is_outgrown(8, 80, 8 * MIN_STATES_FOR_CORE + 1)
    assert not is_outgrown(8, 8, 8 * MIN_STATES_FOR_CORE + 1)


def test_partitions_are_divided_anew_among_twice_the_executors() -> None:
    assert not has_grown(4, 2, 4, 4 * MIN_STATES_FOR_CORE)
    assert has_grown(4, 2, 4, 4 * MIN_STATES_FOR_CORE + 1)
    assert not has_grown(3, 2, 3, 4 * MIN_STATES_FOR_CORE)
    assert not has_grown(1, 2, 1, 4 * MIN_STATES_FOR_CORE)


@pytest.mark.parametrize(
    ("kept", "asked", "likely", "wanted"),
    [(None, None, None, 2 * FOR_EACH_CORE), (None, None, 10**9, 20), (None, 3, 10**9, 3), (5, 3, 10**9, 5)],
)
def test_a_checkpoint_decides_before_the_command_and_the_command_before_the_expected_states(
    kept: int | None, asked: int | None, likely: int | None, wanted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def cluster(context: Any, code: Any, interface: Any, partitions: int, initial: Any, buffers: int) -> Any:
        made.append(partitions)
        return SimpleNamespace(clean_up_after_others=lambda replaced: None)

    monkeypatch.setattr(search, "Cluster", cluster)
    context = SimpleNamespace(defaultParallelism=2)
    monkeypatch.setattr(ClusterMigration, "session", lambda self: SimpleNamespace(sparkContext=context))
    monkeypatch.setattr(ClusterMigration, "_code", lambda self, search: None)
    options = Options(limits=Limits(), likely=likely)
    under_way: Any = SimpleNamespace(
        options=options, interface=None, store=SimpleNamespace(count=0), say=lambda what: None,
        paused=lambda: False,
    )
    ClusterMigration(Distribution(partitions=asked), None)._new_cluster(under_way, np.zeros(0, dtype=np.uint64), kept)
    assert made == [wanted]
