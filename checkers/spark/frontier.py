"""A narrow level's states at the driver, which expands them itself: the level is then one stage instead of two.

Each merge sends the driver the states that it found when they are few. They are what the driver accepts with the
report: they must have the digest that is accepted. So what the driver sends the next merges is what the expansions of
all partitions would send, and merges take it under the same rules. A level that is repaired, or for which the driver
lacks the states of any partition, takes both stages.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from floodmark.checkers.native import loops as native_loops
from floodmark.checkers.native.partitioned import fingerprints
from floodmark.checkers.spark import tasks
from floodmark.checkers.spark.code_transfer import Loaded
from floodmark.checkers.spark.ledger import Array
from floodmark.checkers.spark.shard import Shard
from floodmark.checkers.spark.tasks import End, Expanded, Level, Merged, Run, Sum

MOST_BYTES = 64 << 10
"""A partition sends the driver the states of a level up to this size."""
MOST_SUCCESSORS = 512 << 10
"""Successors of up to this size, in bytes, go to the merges along with their task."""


class Frontier:
    """The states of the level that was accepted last, and the code that expands them."""

    def __init__(self, code: Loaded, states: Array) -> None:
        self.shard = Shard(Path(), code)
        self.shard.hold(states)

    def sent(self, run: Run, level: Level) -> tuple[dict[int, list[bytes | End]], Expanded] | None:
        """What each merge gets, and the report of the expansion; None if it is too much to go with a task."""
        report = Expanded(run.partitions)
        sums = [Sum() for _ in range(run.partitions)]
        payloads: dict[int, list[bytes | End]] = {p: [] for p in range(run.partitions)}
        for owner, piece in tasks.routed(run, level, self.shard, 0, self.shard.count, report, sums):
            payloads[owner].append(piece)
            if report.sent > MOST_SUCCESSORS:
                return None
        for p in range(run.partitions):
            payloads[p].append(End(run.partitions, False, sums[p]))
        report.noted = self.shard.take_noted()
        report.context = self.shard.take_counters()
        return payloads, report


def frontier(code: Loaded, reports: list[Merged]) -> Frontier | None:
    """The states that accepted reports came with, None if one of them came without."""
    found = [np.frombuffer(report.states, dtype=np.uint64) for report in reports if report.states is not None]
    if len(found) < len(reports) or not all(map(_is_as_accepted, reports, found)):
        return None
    return Frontier(code, np.concatenate(found))


def _is_as_accepted(report: Merged, states: Array) -> bool:
    words = len(states) // report.found if report.found else 1
    if len(states) != words * report.found:
        return False
    digest = tuple(
        int(fingerprints(states, words, seed).sum(dtype=np.uint64))
        for seed in (native_loops.SEED_1, native_loops.SEED_2)
    )
    return digest == report.digest
