"""Cost of a distributed search: ``python benchmarks/spark.py [--last N] [--cores 1 2] [--write]``.

Every level of the philosophers is distributed, so a level's cost can be fitted: a fixed part, a part for each generated
state (expanded, shuffled, looked up) and a part for each visited one. ``--write`` puts the table into
benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.results import section
from checkers import spec as specs
from checkers.exploration import Exploration, Options
from checkers.spark.cluster import Cluster
from checkers.spark.search import Distribution, explore
from checkers.spark.session import session, stop

ROOT = Path(__file__).parent.parent
SPEC = "specs/examples/philosophers.toml"


def search(last: int, cores: int) -> tuple[Exploration, list[tuple[float, int, int]]]:
    """A search with each level's seconds, states found and bytes shuffled."""
    levels: list[tuple[float, int, int]] = []
    original = Cluster._level

    def timed(self: Cluster, *arguments: Any) -> Any:
        started = time.perf_counter()
        reports = original(self, *arguments)
        seconds = time.perf_counter() - started
        levels.append((seconds, sum(r.found for r in reports), sum(r.received for r in reports)))
        return reports

    spark = session(f"local[{cores}]")
    spark.sparkContext.parallelize(range(cores), cores).map(str).collect()
    spec = specs.read(ROOT / SPEC)
    cls = spec.model_class()
    Cluster._level = timed  # type: ignore[method-assign, assignment]
    try:
        how = Distribution(partitions=cores, wide=0)
        found = explore(cls(last=last), spec.chosen(spec.properties(cls, ())), Options(), None, how)
    finally:
        Cluster._level = original  # type: ignore[method-assign]
        stop()
    return found, levels


def report(last: int, cores: int) -> Iterator[str]:
    """A row of the table, and the fitted cost of a level."""
    found, levels = search(last, cores)
    seconds = sum(level[0] for level in levels)
    frontiers = found.levels
    rows = np.array([[1.0, frontiers[i] / 1e6] for i in range(len(frontiers))])
    fit, *_ = np.linalg.lstsq(rows, np.array([level[0] for level in levels[: len(rows)]]), rcond=None)
    shuffled = sum(level[2] for level in levels)
    narrow = [level[0] for level, width in zip(levels, frontiers, strict=False) if width < 2000]
    yield (
        f"| {cores} | {found.distinct:,} | {found.generated:,} | {found.depth} | {seconds:.1f} s "
        f"| {np.median(narrow):.2f} s | {fit[0]:.2f} s + {fit[1]:.2f} s for a million states "
        f"| {shuffled / 1e6:,.0f} MB ({shuffled / found.generated:.1f} bytes a generated state) |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--last", type=int, default=8, help="the last seat; 8 makes 10,077,696 states")
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    lines = [
        f"Philosophers, every level distributed, first level to last; the machine's load was {os.getloadavg()[0]:.1f} "
        "when it began.",
        "",
        "| cores | distinct | generated | levels | levels together | a narrow level | cost of a level | shuffled |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for cores in arguments.cores:
        if len(arguments.cores) == 1:
            lines += report(arguments.last, cores)
            continue
        command = [sys.executable, "-m", "benchmarks.spark", "--last", str(arguments.last), "--cores", str(cores)]
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        lines.append(done.stdout.splitlines()[-1])
    print("\n".join(lines))
    if arguments.write:
        section("Spark", f"python benchmarks/spark.py --last {arguments.last}", lines)


if __name__ == "__main__":
    main()
