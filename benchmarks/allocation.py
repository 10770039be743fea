"""The use of a cluster's cores and executors: ``python -m benchmarks.allocation [--write]``.

- *tasks*: as many searches as the cluster has cores run as tasks, each for a fixed time (its limit). If all of them run
  at once, all together take little more than one. Spark is given more cores than this machine has: a task that has less
  than a core finds fewer states until its limit, but does not last longer.
- *executors*: one search on a standalone cluster of two executors on loopback, with an external shuffle service: with
  both from the beginning, and with dynamic allocation, which begins with one. The result has to be the native one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.results import section
from benchmarks.standalone import Standalone, free_port, standalone
from floodmark.checkers.project import spec as specs
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.search_result import Limits
from floodmark.checkers.spark.check_run import run_on_spark
from floodmark.checkers.spark.session import session, stop
from floodmark.checkers.verdict.check import CheckSettings, checks

ROOT = Path(__file__).parent.parent
SPEC = "specs/examples/philosophers.toml"
CORES = (2, 4, 8, 16)
TASK_SECONDS = 4.0
LARGE = 20
"""Philosophers beyond what a task finds in its time."""
SERVICE = "spark.shuffle.service"
PATIENCE = 900.0


# Tasks.


def tasks_at_once(cores: int) -> str:
    """A row: so many searches of a fixed time as tasks of a session with so many cores."""
    master = f"local[{cores}]"
    spark = session(master)
    spark.sparkContext.parallelize(range(cores), cores).map(str).collect()  # starts the Python workers
    limits = Limits(seconds=TASK_SECONDS)
    settings = CheckSettings(master=master, limits=limits, only_variant="Philosophers", workers=1)
    (check,) = checks(specs.read(ROOT / SPEC), settings)
    every = [
        replace(check, settings=replace(settings, constants={"last": LARGE + number})) for number in range(cores)
    ]
    began = time.perf_counter()
    found = [result for _, result in run_on_spark(every, run_check, lambda check: None)]
    seconds = time.perf_counter() - began
    stop()
    states = sum(result.search_result.distinct for result in found if result.search_result is not None)
    return f"| {cores} | {cores} | {cores * TASK_SECONDS:.0f} s | {seconds:.1f} s | {states:,} |"


# Executors.


@dataclass
class Executors:
    """The number of executors of a cluster over time."""

    cluster: Standalone
    began: float = field(default_factory=time.perf_counter)
    seen: list[tuple[float, int]] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def watch(self) -> None:
        while not self.ended.wait(0.1):
            count = len(self.cluster.executors())
            if not self.seen or self.seen[-1][1] != count:
                self.seen.append((time.perf_counter() - self.began, count))

    def after(self, count: int) -> str:
        """The time of the first moment with so many executors."""
        return next((f"{at:.1f} s" for at, seen in self.seen if seen >= count), "never")


def found_natively(last: int) -> dict[str, Any]:
    return _finished(_start(["--engine", "native", "--workers", "1", "--set", f"last={last}"], {}))


def with_executors(dynamic: bool, last: int, wanted: dict[str, Any]) -> str:
    """A row: the search with two executors, or with one and another when Spark allocates it."""
    port = str(free_port())
    options: dict[str, Any] = {"cores": 2, "modules": ROOT}
    options["worker_options"] = f"-D{SERVICE}.enabled=true -D{SERVICE}.port={port}"
    conf = {f"{SERVICE}.enabled": "true", f"{SERVICE}.port": port, "spark.executor.cores": "1",
            "spark.executor.memory": "600m", "spark.cores.max": "2"}
    if dynamic:
        conf |= {f"spark.dynamicAllocation.{name}": value for name, value in {
            "enabled": "true", "minExecutors": "1", "maxExecutors": "2", "executorIdleTimeout": "20s",
        }.items()}
    with tempfile.TemporaryDirectory() as folder, standalone(Path(folder) / "spark", 1, **options) as spark:
        executors = Executors(spark)
        threading.Thread(target=executors.watch, daemon=True).start()
        words = ["--spark", f"master={spark.url}", "--spark", "distribute=always", "--set", f"last={last}"]
        given = {"FLOODMARK_SPARK_CONF": " ".join(f"{name}={value}" for name, value in conf.items())}
        found = _finished(_start(words, given))
        executors.ended.set()
    for name in ("verdict", "distinct", "generated", "depth", "digest"):
        if found[name] != wanted[name]:
            raise RuntimeError(f"{name} is {found[name]} with executors, and {wanted[name]} natively")
    notes = "; ".join(note for note in found["notes"] if "executors" in note) or "none"
    return (f"| {'dynamic allocation, from one' if dynamic else 'both from the beginning'} | {found['distinct']:,} "
            f"| {executors.after(1)} | {executors.after(2)} | {found['seconds']:.1f} s | {notes} |")


def _start(words: list[str], more: dict[str, str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "floodmark", "check", SPEC, *words, "--json", "/dev/stdout"]
    return subprocess.Popen(command, cwd=ROOT, env={**os.environ, **more}, text=True, stdout=subprocess.PIPE)


def _finished(process: subprocess.Popen[str]) -> dict[str, Any]:
    said, _ = process.communicate(timeout=PATIENCE)
    (found,) = json.JSONDecoder().raw_decode(said[said.find("{"):])[0]["results"]
    return dict(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--last", type=int, default=7, help="philosophers of the search with executors, less one")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    lines = [f"The machine's load was {load:.1f} at the start.", "",
             "| cores of the cluster | searches of 4 s each | one after the other | all | states found |",
             "|---|---|---|---|---|", *map(tasks_at_once, CORES), "",
             "| executors | states | first after | second after | search | note of the search |",
             "|---|---|---|---|---|---|"]
    wanted = found_natively(arguments.last)
    lines += [with_executors(dynamic, arguments.last, wanted) for dynamic in (False, True)]
    print("\n".join(lines))
    if arguments.write:
        section("allocation", "python -m benchmarks.allocation --write", lines)


if __name__ == "__main__":
    main()
