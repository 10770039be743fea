"""Compares the native checker with searches written by hand in C: ``python -m benchmarks.by_hand [--runs N]
[--write]``.

Both search the same model on one core, alternately, and must have the same counts: a published specification, whose
sets of messages grow until a boundary; the core of KIP-497, whose sets have a capacity; KIP-595, whose steps have
many branches; and KIP-497 with failover, whose properties compare logs. Each C program says at its beginning how it
keeps a state. The figures are ratios within one run, so that a busy machine affects both alike.

A C program is told how large a table to take. It searches with two: the smallest that is no fuller in the end than
Floodmark's, and one that is at least four times as large, in which it hardly ever passes a cell that another state has.
Floodmark does not know how many states there will be; its time includes each replacement of its table.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.native import Work, compile_good, subject
from benchmarks.results import section
from floodmark.checkers.native.memory import FULL
from floodmark.checkers.native.search import search_states
from floodmark.checkers.search_result import Options

LARGER_BITS = 2
"""The base-2 logarithm of the ratio between the sizes of a C program's two tables."""


@dataclass(frozen=True)
class Yardstick:
    """A search in C (a file beside this one) of the model of a spec, at a size of each."""

    source: str
    title: str
    spec: str
    constants: dict[str, int]


YARDSTICKS = [
    *(
        Yardstick("async_isr.c", "KIP-497 as its author modelled it", "specs/examples/async_isr.toml", constants)
        for constants in ({"max_version": 5, "max_offset": 2}, {"max_version": 6, "max_offset": 2})
    ),
    Yardstick("alter_isr.c", "KIP-497 core", "specs/alter_isr/core.toml", {"max_partition_epoch": 2, "max_offset": 2}),
    Yardstick("alter_isr.c", "KIP-497 core", "specs/alter_isr/core.toml", {"max_partition_epoch": 3, "max_offset": 1}),
    Yardstick("alter_isr.c", "KIP-497 core", "specs/alter_isr/core.toml", {"max_partition_epoch": 3, "max_offset": 2}),
    Yardstick("kraft.c", "KIP-595", "specs/kraft/quorum.toml", {"max_epoch": 2, "max_log": 2, "max_restarts": 2}),
    Yardstick("kraft.c", "KIP-595", "specs/kraft/quorum.toml", {"max_epoch": 3, "max_log": 2, "max_restarts": 2}),
    *(
        Yardstick(
            "failover.c",
            "KIP-497 failover with logs",
            "specs/alter_isr/failover.toml@three_replicas",
            {"max_offset": offset, "max_leader_epoch": 2, "max_partition_epoch": 3},
        )
        for offset in (1, 2)
    ),
]


def build(it: Yardstick, folder: Path) -> Path:
    """Compiles a C program into a folder."""
    program = folder / Path(it.source).stem
    source = Path(__file__).parent / it.source
    subprocess.run(["cc", "-O3", "-march=native", str(source), "-o", str(program)], check=True)
    return program


def by_hand(program: Path, it: Yardstick, table_bits: int) -> tuple[tuple[int, int, int], float]:
    """The counts of a C program (distinct, generated, depth), and its seconds."""
    words = [str(program), *map(str, it.constants.values()), str(table_bits)]
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
    return (int(said[0]), int(said[1]), int(said[2])), float(said[3])


def measure(folder: Path, it: Yardstick, runs: int) -> str:
    """A row of the table."""
    program = build(it, folder)
    work = Work(it.title, it.spec, it.constants)
    compile_good(work)
    model, properties = subject(work)
    ours: list[float] = []
    theirs: dict[int, list[float]] = {}
    found = search_states(model, properties, Options(workers=1))
    counts = (found.distinct, found.generated, found.depth)
    least = int(found.distinct / FULL).bit_length()
    for _ in range(runs):
        for bits in (least, least + LARGER_BITS):
            known, seconds = by_hand(program, it, bits)
            assert known == counts, "the two searches differ"
            theirs.setdefault(bits, []).append(seconds)
        ours.append(search_states(model, properties, Options(workers=1)).seconds)
    distinct, generated, depth = counts
    size = ", ".join(f"{name} {value}" for name, value in it.constants.items())
    fields = [f"{it.title}, {size}", f"{distinct:,}", f"{generated:,}", str(depth)]
    fields.append(f"{generated / min(ours) / 1e6:.1f}")
    for bits, times in theirs.items():
        ratios = [mine / other for mine, other in zip(ours, times, strict=True)]
        fields.append(f"{generated / min(times) / 1e6:.1f} ({distinct / 2**bits:.0%} full)")
        fields.append(f"{min(ours) / min(times):.2f}, {statistics.median(ratios):.2f}")
    return f"| {' | '.join(fields)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    lines = [
        "| search | distinct | generated | depth | Floodmark, M generated/s | C | best to best, median ratio "
        "| C, larger table | best to best, median ratio |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for yardstick in YARDSTICKS:
            lines.append(measure(Path(folder), yardstick, arguments.runs))
            print(lines[-1], flush=True)
    if arguments.write:
        section("by hand", f"python -m benchmarks.by_hand --runs {arguments.runs} --write", lines)


if __name__ == "__main__":
    main()
