"""Cost of a distributed search: ``python -m benchmarks.spark [--last N] [--write]``.

Two measurements, each in its own process:

- *levels*: every level of the philosophers is distributed, and the cost of a level is fitted: a fixed part, and a part
  for each generated state (expanded, filtered, shuffled, looked up and, if new, stored and checked).
- *workers*: KIP-497 with failovers on one and on two executors, each a process bound to one core.

``--write`` writes the figures to benchmarks/RESULTS.md; benchmarks/scaling.py derives predictions from them.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.native import Work, compile_good, subject
from benchmarks.results import section
from floodmark.checkers.codegen.model_module import COUNTERS
from floodmark.checkers.native.search import search_states as explore_natively
from floodmark.checkers.project import spec as specs
from floodmark.checkers.search_result import Options, SearchResult
from floodmark.checkers.spark.cluster import Cluster
from floodmark.checkers.spark.search import Distribution, search_states
from floodmark.checkers.spark.session import session, stop

ROOT = Path(__file__).parent.parent
PHILOSOPHERS = "specs/examples/philosophers.toml"
FAILOVER = "specs/alter_isr/failover.toml@deep"
NARROW = 2000


@dataclass(frozen=True)
class Level:
    """What a level cost; ``width`` is the number of states expanded."""

    seconds: float
    width: int
    generated: int
    found: int
    shuffled: int


def search(path: str, constants: Mapping[str, int], master: str, **how: Any) -> tuple[SearchResult, list[Level]]:
    """A search with its distributed levels."""
    taken: list[tuple[float, int, int, int]] = []
    original = Cluster._next_level

    def timed(self: Cluster, *arguments: Any) -> Any:
        started = time.perf_counter()
        reports = original(self, *arguments)
        seconds = time.perf_counter() - started
        fired = slice(COUNTERS, self.interface.first_premise)
        contexts = [np.frombuffer(each.context, dtype=np.uint64) for each in self.expansions]
        generated = sum(int(context[fired].sum()) for context in contexts)
        taken.append((seconds, generated, sum(r.found for r in reports), sum(r.received for r in reports)))
        return reports

    spark = session(master)
    cores = spark.sparkContext.defaultParallelism
    spark.sparkContext.parallelize(range(cores), cores).map(str).collect()
    spec = specs.read(ROOT / path)
    cls = spec.model_class()
    options = Options()
    Cluster._next_level = timed  # type: ignore[method-assign, assignment]
    try:
        distribution = Distribution(**{"partitions": cores, "wide": 0, **how})
        found = search_states(cls(**constants), spec.chosen(spec.properties(cls, ())), options, None, distribution)
    finally:
        Cluster._next_level = original  # type: ignore[method-assign]
        stop()
    widths = found.levels[len(found.levels) - len(taken) :]
    levels = [Level(one[0], width, *one[1:]) for width, one in zip(widths, taken, strict=True)]
    return found, levels


# Levels.


def fit(levels: list[Level], cores: int) -> tuple[float, float]:
    """Fixed seconds per level, and core nanoseconds per generated state with its share of everything else."""
    rows = np.array([[1.0, level.generated / cores] for level in levels])
    (fixed, generated), *_ = np.linalg.lstsq(rows, np.array([level.seconds for level in levels]), rcond=None)
    return float(fixed), float(generated) * 1e9


def measure_levels(arguments: argparse.Namespace) -> list[str]:
    cores = arguments.cores
    found, levels = search(PHILOSOPHERS, {"last": arguments.last}, f"local[{cores}]")
    fixed, generated = fit(levels, cores)
    seconds = sum(level.seconds for level in levels)
    narrow = float(np.median([level.seconds for level in levels if level.width < NARROW]))
    shuffled = sum(level.shuffled for level in levels)
    return [
        f"| {cores} | {found.distinct:,} | {found.generated:,} | {found.depth} | {seconds:.1f} s | {narrow:.2f} s "
        f"| {fixed:.2f} s | {generated:.0f} ns | {natively(arguments.last, cores):.0f} ns "
        f"| {shuffled / found.generated:.1f} |"
    ]


def natively(last: int, cores: int) -> float:
    """Core nanoseconds per generated state of the native search of the same philosophers, the best of three."""
    work = Work("philosophers", PHILOSOPHERS, {"last": last})
    compile_good(work)
    model, properties = subject(work)
    found = [explore_natively(model, properties, Options(workers=cores)) for _ in range(3)]
    return min(each.seconds * cores / each.generated for each in found) * 1e9


LEVELS = [
    "| cores | distinct | generated | levels | all levels | narrow level | fixed cost | per generated state "
    "| natively | shuffled bytes per generated state |",
    "|---|---|---|---|---|---|---|---|---|---|",
]


# Workers.


def measure_workers(arguments: argparse.Namespace) -> list[str]:
    """A row: each executor is a process of its own, bound to one core along with the Python process that it starts."""
    count = arguments.cores
    master = f"local-cluster[{count},1,1024]"
    session(master)
    executors = _executors(count)
    for core, executor in enumerate(executors):
        for thread in (executor / "task").iterdir():
            os.sched_setaffinity(int(thread.name), {core})
    found, levels = search(FAILOVER, specs.read(ROOT / FAILOVER).constants, master)
    seconds = sum(level.seconds for level in levels)
    return [f"| {count} | {found.distinct:,} | {found.generated:,} | {found.depth} | {seconds:.1f} s |"]


def _executors(count: int) -> list[Path]:
    """The executors' folders in /proc, once all have started."""
    while True:
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if b"CoarseGrainedExecutorBackend" in (process / "cmdline").read_bytes():
                    found.append(process)
        if len(found) == count:
            return found
        time.sleep(0.1)


WORKERS = ["| single-core workers | distinct | generated | levels | all levels |", "|---|---|---|---|---|"]


MEASUREMENTS = {"levels": measure_levels, "workers": measure_workers}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--last", type=int, default=8, help="number of the last seat; 8 makes 10,077,696 states")
    parser.add_argument("--only", choices=MEASUREMENTS, help="print one row of one measurement")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.only:
        print("\n".join(MEASUREMENTS[arguments.only](arguments)))
        return
    lines = list(_all(arguments))
    print("\n".join(lines))
    if arguments.write:
        section("Spark", f"python -m benchmarks.spark --last {arguments.last}", lines)


def _all(arguments: argparse.Namespace) -> Iterator[str]:
    yield f"The machine's load was {os.getloadavg()[0]:.1f} at the start. Times are from the first level to the last."
    yield from ("", "Philosophers, every level distributed:", "", *LEVELS)
    for cores in (1, 2):
        yield _alone(arguments, "levels", cores)
    yield from ("", "KIP-497 with failovers, each worker a separate process on its own core:", "", *WORKERS)
    for cores in (1, 2):
        yield _alone(arguments, "workers", cores)


def _alone(arguments: argparse.Namespace, only: str, cores: int) -> str:
    """A row, measured in a separate process."""
    command = [sys.executable, "-m", "benchmarks.spark", "--only", only, "--cores", str(cores)]
    command += ["--last", str(arguments.last)]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines()[-1]


if __name__ == "__main__":
    main()
