"""The states of a narrow level, which the driver expands itself: the level is then one stage instead of two.

Each merge sends the driver the states that it found when they are few. They are what the driver accepts with the
report: they must have the digest that is accepted. So what the driver sends the next merges is what the expansions of
all partitions would send, and merges take it under the same rules. A level that is repaired, or for which the driver
lacks the states of any partition, takes both stages.
"""

from __future__ import annotations

import numpy as np

from floodmark.checkers.spark import tasks
from floodmark.checkers.spark.code_transfer import LoadedKernel
from floodmark.checkers.spark.reader import StateReader
from floodmark.checkers.spark.tasks import (
    Checksum,
    EndOfExpansion,
    ExpandedPart,
    LevelInput,
    MergeReport,
    SearchContext,
)

MAX_BYTES = 64 << 10
"""A partition sends the driver the states of a level up to this size."""
MAX_SUCCESSORS = 512 << 10
"""Successors of up to this size, in bytes, go to the merges along with their task."""


class Frontier:
    """The states of the level that was accepted last, and the code that expands them."""

    def __init__(self, reader: StateReader) -> None:
        self.reader = reader

    def sent(
        self, run: SearchContext, level: LevelInput
    ) -> tuple[dict[int, list[bytes | EndOfExpansion]], ExpandedPart] | None:
        """The input of each merge, and the report of the expansion; None if it is too large for a task."""
        report = ExpandedPart(run.partitions)
        sums = [Checksum() for _ in range(run.partitions)]
        payloads: dict[int, list[bytes | EndOfExpansion]] = {p: [] for p in range(run.partitions)}
        for owner, piece in tasks.routed(run, level, self.reader, [0], self.reader.count, report, sums):
            payloads[owner].append(piece)
            if report.sent > MAX_SUCCESSORS:
                return None
        for p in range(run.partitions):
            payloads[p].append(EndOfExpansion(run.partitions, False, sums[p]))
        report.noted = self.reader.take_noted()
        report.context = self.reader.take_counters()
        return payloads, report


def frontier(code: LoadedKernel, reports: list[MergeReport]) -> Frontier | None:
    """The states that accepted reports came with, None if one of them came without, or with others."""
    reader = StateReader(code)
    found = []
    for report in reports:
        if report.states is None or len(report.states) != report.found * reader.words * 8:
            return None
        found.append(np.frombuffer(report.states, dtype=np.uint64))
        reader.begin()
        reader.copy(found[-1])
        if reader.digest != report.digest:
            return None
    reader.copy(np.concatenate(found))
    return Frontier(reader)
