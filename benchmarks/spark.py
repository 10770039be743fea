"""Cost of a distributed search: ``python -m benchmarks.spark [--last N] [--workers MODEL] [--write]``.

Two measurements, each row in its own process:

- *levels*: every level of the philosophers is distributed, and the cost of a level is fitted: a fixed part, and a part
  for each generated state (expanded, filtered, shuffled, looked up and, if new, stored and checked).
- *workers*: a model on one and on two executors, each a process that runs one task at a time. One worker shares one
  core with the driver, two workers share two cores with it, so each row uses all that its cores have. If the driver had
  another core, one worker would profit from it more than two do. The last line says how fast two workers would be if
  the driver had taken no processor time beside one worker, and all of it beside two. Executors of one machine read
  each other's shuffled files, which is Spark's default but for its ``local-cluster``: nothing goes through a network.

The models of *workers* have constants with which one worker takes about a minute or more, since what does not grow with
the model is seconds: each Java process compiles its code while it works, and each level has a fixed cost. Of the
philosophers these are eleven, with 4 billion generated states; ten take half a minute.

``--write`` writes the figures to benchmarks/RESULTS.md; benchmarks/scaling.py derives predictions from them.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.native import Work, compile_good, subject
from benchmarks.results import section
from benchmarks.standalone import descendants
from floodmark.checkers.codegen.model_module import COUNTERS
from floodmark.checkers.native.search import search_states as explore_natively
from floodmark.checkers.project import spec as specs
from floodmark.checkers.search_result import Options, SearchResult
from floodmark.checkers.spark.cluster import Cluster
from floodmark.checkers.spark.search import Distribution, search_states
from floodmark.checkers.spark.session import session, stop

ROOT = Path(__file__).parent.parent
PHILOSOPHERS = "specs/examples/philosophers.toml"
MODELS = {
    "failover": Work(
        "KIP-497 with failovers, six partition epochs", "specs/alter_isr/failover.toml@deep", {"max_partition_epoch": 5}
    ),
    "kraft": Work("KIP-595, four epochs, logs of four", "specs/kraft/sizes.toml@four_epochs", {"max_log": 4}),
    "philosophers": Work("eleven philosophers", PHILOSOPHERS, {"last": 10}),
}
NARROW = 2000


@dataclass(frozen=True)
class Level:
    """The cost of a level; ``width`` is the number of states expanded."""

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
    """A row. All processes that Spark starts inherit the cores of this one."""
    count, work = arguments.cores, MODELS[arguments.workers]
    os.sched_setaffinity(0, range(count))
    os.environ["FLOODMARK_SPARK_CONF"] = "spark.shuffle.readHostLocalDisk=true"
    master = f"local-cluster[{count},1,1024]"
    context: Any = session(master).sparkContext._jsc
    while context.sc().getExecutorMemoryStatus().size() <= count:  # the driver is one of them
        time.sleep(0.1)
    used: list[dict[str, float]] = []
    original = Cluster.expand_level

    def measured(self: Cluster, paused: Callable[[], bool]) -> bool:
        used[1:] = [] if used else [processor_seconds()]
        done = original(self, paused)
        used[1:] = [processor_seconds()]
        return done

    with patch.object(Cluster, "expand_level", measured):
        constants = {**specs.read(ROOT / work.spec).constants, **work.constants}
        found, levels = search(work.spec, constants, master)
    seconds = sum(level.seconds for level in levels)
    shuffled = sum(level.shuffled for level in levels) / found.generated
    shares = " | ".join(f"{used[-1][kind] - used[0][kind]:.1f} s" for kind in KINDS)
    return [
        f"| {count} | {found.distinct:,} | {found.generated:,} | {found.depth} | {seconds:.1f} s | {shares} "
        f"| {shuffled:.1f} |"
    ]


KINDS = ("Python workers", "Java of the workers", "driver")


def processor_seconds() -> dict[str, float]:
    """The processor time of this process and its descendants so far, by their kind."""
    used = dict.fromkeys(KINDS, 0.0)
    for pid, (_, line) in {os.getpid(): (0, ""), **descendants(os.getpid())}.items():
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            kind = KINDS[0 if "pyspark.daemon" in line else 1 if "CoarseGrainedExecutorBackend" in line else 2]
            used[kind] += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return used


WORKERS = [
    "| single-core workers | distinct | generated | levels | all levels "
    + "".join(f"| processor: {kind} " for kind in KINDS)
    + "| shuffled bytes per generated state |",
    "|---|---|---|---|---|---|---|---|---|",
]


MEASUREMENTS = {"levels": measure_levels, "workers": measure_workers}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--last", type=int, default=8, help="number of the last seat; 8 makes 10,077,696 states")
    parser.add_argument("--workers", choices=MODELS, help="a model on one and two single-core workers")
    parser.add_argument("--only", choices=MEASUREMENTS, help="print one row of one measurement")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.only:
        print("\n".join(MEASUREMENTS[arguments.only](arguments)))
        return
    lines = list(_workers(arguments) if arguments.workers else _levels(arguments))
    print("\n".join(lines))
    if arguments.write and arguments.workers:
        title = f"Spark workers: {MODELS[arguments.workers].title}"
        section(title, f"python -m benchmarks.spark --workers {arguments.workers} --write", lines)
    elif arguments.write:
        section("Spark", f"python -m benchmarks.spark --last {arguments.last} --write", lines)


def _levels(arguments: argparse.Namespace) -> Iterator[str]:
    yield from (_load(), "", "Philosophers, every level distributed:", "", *LEVELS)
    for cores in (1, 2):
        yield _alone(arguments, "levels", cores)


def _workers(arguments: argparse.Namespace) -> Iterator[str]:
    yield from (_load(), "", "The workers and the driver share as many cores as there are workers:", "", *WORKERS)
    rows = [_alone(arguments, "workers", cores) for cores in (1, 2)]
    one, two = ([float(cell.removesuffix(" s")) for cell in row.split(" | ")[4:8]] for row in rows)
    yield from (*rows, "", f"Two workers are {one[0] / two[0]:.2f} times as fast as one.")
    yield f"Without the driver's processor time in the first row, they would be {(one[0] - one[3]) / two[0]:.2f} times."


def _load() -> str:
    return f"The machine's load was {os.getloadavg()[0]:.1f} at the start. Times are from the first level to the last."


def _alone(arguments: argparse.Namespace, only: str, cores: int) -> str:
    """A row, measured in a separate process."""
    command = [sys.executable, "-m", "benchmarks.spark", "--only", only, "--cores", str(cores)]
    command += ["--last", str(arguments.last)]
    command += ["--workers", arguments.workers] if arguments.workers else []
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines()[-1]


if __name__ == "__main__":
    main()
