"""Two ways of filling a table in a file: ``python -m benchmarks.refill [--write]``.

When a partition's table is full, one with twice as many cells is filled with all its states. Here that is done in two
ways, alternately: in the order of the states, so that the table's pages are changed at random, and in slices of the
table, as ``checkers/spark/shard.py`` does it. The system keeps so many changed pages of files and no more
(``vm.dirty_ratio``): then it writes them to the disk, and a page that is changed after that is written again. Here it
is asked to whenever a quarter of the table has been changed, so that the table may be small. The figures are how often
a page of the table is written, and the ratio of the times.
"""

from __future__ import annotations

import argparse
import mmap
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.appends import Appends
from benchmarks.results import section
from floodmark.checkers.kernel import loops
from floodmark.checkers.spark.code_transfer import LoadedKernel, build_code
from floodmark.checkers.spark.shard import FULLEST

SLICES = 16
KEPT = 4
"""The system keeps one part in so many of the table's pages changed."""
LOOK_SECONDS = 0.005


def write_back(table: mmap.mmap, ended: threading.Event) -> None:
    """Has the system write changed pages whenever there are more than it is to keep."""
    last = dirtied()
    while not ended.wait(LOOK_SECONDS):
        now = dirtied()
        if now - last > len(table) // KEPT:
            last = now
            table.flush()


def dirtied() -> int:
    """The bytes of pages of files that this process has changed so far, each time that a clean page was changed."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("write_bytes"))


def fill(code: LoadedKernel, states: NDArray[np.uint64], bits: int, slices: int) -> tuple[float, float]:
    """Fills a new table; returns seconds, and how often a page of it was written to the disk."""
    size = 4 << bits
    with tempfile.TemporaryFile() as file:
        file.truncate(size)
        table = mmap.mmap(file.fileno(), size)
        cells = np.frombuffer(table, dtype=np.uint32)
        scratch = np.zeros(loops.SCRATCH_WORDS, dtype=np.uint64)
        fields = np.zeros(loops.FIELDS, dtype=np.uint64)
        for field, value in {
            loops.STORE: states.ctypes.data, loops.COUNT: len(states), loops.SCRATCH: scratch.ctypes.data,
            loops.TABLE: cells.ctypes.data, loops.BITS: bits, loops.SIZE: 1 << bits,
        }.items():
            fields[field] = value
        ended = threading.Event()
        writer = threading.Thread(target=write_back, args=(table, ended))
        before, started = dirtied(), time.perf_counter()
        writer.start()
        for number in range(slices):
            code.fill_slice(fields.ctypes.data, (number << bits) // slices, (number + 1 << bits) // slices)
        ended.set()
        writer.join()
        table.flush()
        seconds = time.perf_counter() - started
        written = (dirtied() - before) / size
        if code.misplaced(fields.ctypes.data):
            raise SystemExit("the table has errors")
    return seconds, written


def rows(bits: int, runs: int) -> Iterator[str]:
    code = build_code(Appends(), {}, False).load()
    states = np.arange(int(FULLEST * (1 << bits) / 2), dtype=np.uint64)
    found: dict[int, list[tuple[float, float]]] = {1: [], SLICES: []}
    for _ in range(runs):
        for slices, known in found.items():
            known.append(fill(code, states, bits, slices))
    ratios = [one[0] / other[0] for one, other in zip(found[1], found[SLICES], strict=True)]
    for slices, known in found.items():
        way = "in the order of the states" if slices == 1 else f"in {slices} slices"
        seconds = statistics.median(seconds for seconds, _ in known)
        times = statistics.median(times for _, times in known)
        ratio = "1" if slices == 1 else f"1 / {statistics.median(ratios):.1f}"
        yield f"| {way} | {len(states):,} | {(4 << bits) >> 20} MB | {times:.1f} | {seconds:.1f} | {ratio} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bits", type=int, default=24, help="the table has two to this power of cells")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    lines = [
        "| a table is filled | states | table | times that a page is written | s, median | ratio |",
        "|---|---|---|---|---|---|",
        *rows(arguments.bits, arguments.runs),
    ]
    print(*lines, sep="\n")
    if arguments.write:
        section("refill", f"python -m benchmarks.refill --bits {arguments.bits} --runs {arguments.runs} --write", lines)


if __name__ == "__main__":
    main()
