"""Tests that a task accepts what partitions tell it only if all of it has arrived."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from floodmark.checkers.spark.outboxes import Arrivals, lost_ends
from floodmark.checkers.spark.shard import PartitionLost
from floodmark.checkers.spark.tasks import Checksum, EndOfExpansion

RUN: Any = SimpleNamespace(partitions=2)
ROWS = [np.array(words, dtype=np.uint64) for words in ([1, 2], [3], [3, 5, 8])]


def end(partition: int, *sent: int) -> EndOfExpansion:
    total = Checksum()
    for number in sent:
        total.add(ROWS[number])
    return EndOfExpansion(partition, False, total)


def arrive(*told: object) -> list[list[int]]:
    """The rows, if everything is there."""
    arrivals = Arrivals(RUN)
    found = [rows.tolist() for it in told if (rows := arrivals.rows(it)) is not None]
    arrivals.require_all()
    return found


def test_rows_arrive_in_any_order_and_around_what_ends_them() -> None:
    pieces = [rows.tobytes() for rows in ROWS]
    assert arrive(pieces[0], end(0, 0, 1), pieces[2], pieces[1], end(1, 2)) == [[1, 2], [3, 5, 8], [3]]
    assert arrive(end(1), end(0)) == []


@pytest.mark.parametrize(
    "told",
    [
        (ROWS[0].tobytes(), end(0, 0)),
        (ROWS[0].tobytes(), end(0, 0), end(0)),
        (end(0, 0), end(1)),
        (ROWS[0].tobytes(), ROWS[1].tobytes(), end(0, 0), end(1)),
        (ROWS[1].tobytes(), end(0, 0), end(1)),
    ],
    ids=["an end is missing", "one ends twice", "rows are missing", "there are more rows", "other rows came"],
)
def test_what_is_not_what_was_sent_is_a_loss(told: tuple[object, ...]) -> None:
    with pytest.raises(PartitionLost, match="what arrived is not what was sent"):
        arrive(*told)


def test_a_partition_that_lost_its_states_is_not_taken_for_one_that_has_none() -> None:
    told = dict(lost_ends(RUN, 1))
    assert [*told] == [0, 1]
    for payload in told.values():
        with pytest.raises(PartitionLost, match="partition 1 has nothing to tell"):
            arrive(end(0), payload)
