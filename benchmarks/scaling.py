"""The predicted cost of a distributed search at unmeasured sizes: ``python -m benchmarks.scaling [--write]``.

The cost of a level comes from benchmarks/RESULTS.md, where benchmarks/spark.py writes it; ``--write`` writes the tables
to docs/scaling.md.
"""

from __future__ import annotations

import argparse
import pickle
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from floodmark.checkers.codegen.model_module import COUNTERS
from floodmark.checkers.kernel.loops import ALL_ONES
from floodmark.checkers.native.memory import MAX_BITS
from floodmark.checkers.spark.ledger import COLUMNS
from floodmark.checkers.spark.shard import FULLEST
from floodmark.checkers.spark.tasks import ExpandedPart, MergeReport

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
PAGE = ROOT / "docs" / "scaling.md"
START, END = "<!-- scaling -->\n", "<!-- end of scaling -->\n"

LEVELS = 100
SUCCESSORS = 10
WORDS = 2
CELL_BYTES = 6
"""A cell of four bytes in a table that is two thirds full."""
NETWORK = 1e9
"""Bytes that a worker sends per second."""
NATIVE_RATE = 2e6
"""States of two words that the native search finds per second on one core (benchmarks/RESULTS.md)."""
SIZES = [(10**9, 10), (10**9, 100), (10**11, 10), (10**11, 100)]
PARTITIONS = 80
"""Four for each of twenty machines."""
DEEPEST = 10**4
"""Levels of a very deep search."""


@dataclass(frozen=True)
class Cost:
    """Seconds per level; core seconds per generated state; bytes shuffled per generated state."""

    level: float
    generated: float
    shuffled: float

    def compute(self, distinct: float, workers: int) -> float:
        return self.generated * distinct * SUCCESSORS / workers

    def shuffled_bytes(self, distinct: float, workers: int) -> float:
        """The total number of bytes that a worker sends. Shuffled bytes were measured with states of one word."""
        return self.shuffled * WORDS * distinct * SUCCESSORS / workers

    def shuffle(self, distinct: float, workers: int) -> float:
        """Seconds of network time."""
        return self.shuffled_bytes(distinct, workers) / NETWORK

    def total(self, distinct: float, workers: int) -> float:
        return self.level * LEVELS + self.compute(distinct, workers) + self.shuffle(distinct, workers)


def measured(text: str) -> Cost:
    """The cost in the row for two cores."""
    row = re.search(r"^\| 2 \|(?:[^|]*\|){5} ([\d.]+) s \| (\d+) ns \| \d+ ns \| ([\d.]+) \|$", text, re.MULTILINE)
    if row is None:
        raise SystemExit(f"{RESULTS.name} has no cost of a level; run: python -m benchmarks.spark --write")
    return Cost(float(row[1]), float(row[2]) * 1e-9, float(row[3]))


def tables(cost: Cost) -> Iterator[str]:
    """The formula with its figures, what it predicts, and the size from which distribution pays."""
    yield (
        f"Fitted to the philosophers on two cores: `F` = {cost.level:.2f} s, `g` = {cost.generated * 1e9:.0f} ns, "
        f"`b` = {cost.shuffled:.1f} bytes for a generated state of 8 bytes, 0 bytes for a visited state."
    )
    yield from (
        "",
        f"For {LEVELS} levels, {SUCCESSORS} successors per state, states of {WORDS} words, and single-core workers "
        f"with {NETWORK / 1e9:.0f} GB/s of network each:",
        "",
    )
    yield "| distinct | workers | levels | compute | shuffle | total | partitions per worker | a level's shuffle |"
    yield "|---|---|---|---|---|---|---|---|"
    for distinct, workers in SIZES:
        scratch = distinct * (WORDS * 8 + CELL_BYTES) / workers
        yield (
            f"| 10^{len(str(distinct)) - 1} | {workers} | {_time(cost.level * LEVELS)} "
            f"| {_time(cost.compute(distinct, workers))} | {_time(cost.shuffle(distinct, workers))} "
            f"| {_time(cost.total(distinct, workers))} | {_rounded(scratch / 1e9, 2)} GB "
            f"| {_rounded(cost.shuffled_bytes(distinct, workers) / LEVELS / 1e9, 2)} GB |"
        )
    yield ""
    for workers in (10, 100):
        size = pays_from(cost, workers)
        yield (
            f"- {workers} workers are faster than one core that searches natively: "
            + (f"from {_rounded(size, 1)} states on." if size is not None else "never.")
        )
    yield from ("", *limits(10**10))


def limits(distinct: int) -> Iterator[str]:
    """The quantities that grow with states, levels and partitions, and their limits."""
    share = distinct / PARTITIONS
    most = int(FULLEST * (1 << MAX_BITS))
    report = len(pickle.dumps(typical_report()))
    shuffled = distinct * SUCCESSORS / LEVELS
    yield (
        f"10^{len(str(distinct)) - 1} states of {WORDS} words on 20 machines with {PARTITIONS} partitions, four each, "
        f"{DEEPEST:,} levels deep at worst:"
    )
    yield from ("", "| what | size | limit, or how much in all |", "|---|---|---|")
    yield f"| states of a partition | {share:,.0f} | {most:,}: positions have {MAX_BITS} bits |"
    yield f"| files of a partition | {share * (WORDS * 8 + CELL_BYTES) / 1e9:.1f} GB | its disk |"
    yield f"| report of a partition on a level | {report:,} bytes | {report * PARTITIONS / 1e3:,.0f} kB for a level |"
    row = COLUMNS * 8
    yield f"| the driver's ledger | {row * PARTITIONS * DEEPEST / 1e6:.0f} MB | the driver's memory |"
    yield (
        f"| header of a partition, written on each level | {row * DEEPEST / 1e3:.0f} kB at the last one "
        f"| {row * DEEPEST**2 / 2 / 1e9:.0f} GB in all |"
    )
    yield (
        f"| blocks of a level's shuffle | {PARTITIONS**2:,} "
        f"| {shuffled * WORDS * 8 / PARTITIONS**2 / 1e6:,.1f} MB each with {LEVELS} levels |"
    )


def typical_report() -> MergeReport:
    """A partition's report on a level of a model with thirty actions."""
    context = bytes(8 * (COUNTERS + 30 + 10 + 1))
    digest = (ALL_ONES, ALL_ONES)
    expanded = ExpandedPart(0, context, {}, 10**9, 1.5)
    place = "machine.example.com"
    return MergeReport(
        0, "", 10**9, digest, context, {}, 10**12, 10**12, 1.5, f"{place}:4711", f"{place}:/disk", 10**12, expanded
    )  # fmt: skip


def pays_from(cost: Cost, workers: int) -> float | None:
    """The number of states from which this many workers are faster than one core that searches natively."""
    each = cost.total(1e12, workers) / 1e12 - cost.level * LEVELS / 1e12
    gain = 1 / NATIVE_RATE - each
    return cost.level * LEVELS / gain if gain > 0 else None


def _rounded(number: float, digits: int) -> str:
    return f"{float(f'{number:.{digits}g}'):,.12g}"


def _time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.2g} min" if seconds < 6000 else f"{seconds / 3600:.2g} h"


def page(text: str, cost: Cost) -> str:
    """The page with its figures replaced."""
    before, rest = text.split(START, 1)
    return before + START + "\n" + "\n".join(tables(cost)) + "\n\n" + END + rest.split(END, 1)[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    cost = measured(RESULTS.read_text())
    print("\n".join(tables(cost)))
    if arguments.write:
        PAGE.write_text(page(PAGE.read_text(), cost))


if __name__ == "__main__":
    main()
