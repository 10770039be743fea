"""Compares the native checker with a search written by hand in C: ``python -m benchmarks.by_hand [--runs N]
[--write]``.

Both search ``specs/examples/async_isr.py`` on one core, alternately, and must have the same counts; ``async_isr.c``
describes the C program. The figures are ratios within one run, so that a busy machine affects both alike.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
from pathlib import Path

from benchmarks.native import Work, compile_good, subject
from benchmarks.results import section
from floodmark.checkers.exploration import Options
from floodmark.checkers.native.search import explore

SOURCE = Path(__file__).parent / "async_isr.c"
SIZES = [{"max_version": 5, "max_offset": 2}, {"max_version": 6, "max_offset": 2}]
TABLE_BITS = 23
"""The size of the C program's table in cells, as a power of two: enough for each search."""


def by_hand(program: Path, size: dict[str, int]) -> tuple[tuple[int, int, int], float]:
    """What the C program counts (distinct, generated, depth), and its seconds."""
    words = [str(program), str(size["max_version"]), str(size["max_offset"]), str(TABLE_BITS)]
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
    return (int(said[0]), int(said[1]), int(said[2])), float(said[3])


def measure(program: Path, size: dict[str, int], runs: int) -> str:
    """A row of the table."""
    work = Work("KIP-497 as its author modelled it", "specs/examples/async_isr.toml", size)
    compile_good(work)
    model, properties = subject(work)
    ours: list[float] = []
    theirs: list[float] = []
    counts = (0, 0, 0)
    for _ in range(runs):
        counts, seconds = by_hand(program, size)
        theirs.append(seconds)
        found = explore(model, properties, Options(workers=1))
        assert (found.distinct, found.generated, found.depth) == counts, "the two searches differ"
        ours.append(found.seconds)
    ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    distinct, generated, depth = counts
    return (
        f"| {work.title}, {size['max_version']} versions | {distinct:,} | {generated:,} | {depth} "
        f"| {generated / min(theirs) / 1e6:.1f} | {generated / min(ours) / 1e6:.1f} "
        f"| {min(ours) / min(theirs):.2f} | {statistics.median(ratios):.2f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    lines = [
        "| search | distinct | generated | depth | C, M generated/s | Floodmark | best to best | median ratio |",
        "|---|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "async_isr"
        subprocess.run(["cc", "-O3", "-march=native", str(SOURCE), "-o", str(program)], check=True)
        for size in SIZES:
            lines.append(measure(program, size, arguments.runs))
            print(lines[-1], flush=True)
    if arguments.write:
        section("by hand", f"python -m benchmarks.by_hand --runs {arguments.runs} --write", lines)


if __name__ == "__main__":
    main()
