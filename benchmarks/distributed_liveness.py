"""Liveness judged by a cluster's workers: ``python -m benchmarks.distributed_liveness [--managers N] [--write]``.

Two-phase commit with its properties of runs and two more, of which all hold; and with a coordinator that may fail,
where some are violated. Both by the native engine on two threads and by Spark with two local workers, each in a process
of its own; verdicts and needed fairness have to be the same. Processor time is that of
the process and all that it starts, in the search and in the judgement after it. Memory is the most that the command
used, looked at every second: mapped files, in which Spark's workers have the states, do not count.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.results import section
from floodmark import leads_to
from floodmark.checkers.liveness import check
from floodmark.checkers.native import search as native
from floodmark.checkers.project import spec as specs
from floodmark.checkers.project.properties import collect
from floodmark.checkers.resources import CommandMemory
from floodmark.checkers.search_result import Options, SearchResult
from floodmark.checkers.spark import search as spark
from floodmark.checkers.spark.rounds import EliminationRounds
from specs.examples.two_phase_commit import Coordinator, Manager, ResourceManager, TwoPhaseCommit

ROOT = Path(__file__).parent.parent
SPEC = "specs/examples/two_phase_commit_progress.toml"
ENGINES = ("native", "spark")
TICK = os.sysconf("SC_CLK_TCK")
DESIGNS = {"DecidesSomeDay": None, "CoordinatorFails": "specs.examples.flawed_progress"}
"""The spec's own model, and a known-bad design of a module."""
HEAD = [
    "| engine | design | distinct | generated | verdicts | search, processor s | judgement, processor s | judgement, s "
    "| jobs | memory |",
    "|---|---|---|---|---|---|---|---|---|---|",
]


@leads_to
def abort_reaches_everybody(model: TwoPhaseCommit) -> tuple[bool, bool]:
    """Once the coordinator has aborted, every manager eventually aborts."""
    aborted = all(model.managers_state[manager] == Manager.ABORTED for manager in ResourceManager)
    return model.coordinator == Coordinator.ABORTED, aborted


@leads_to
def prepared_manager_decides(model: TwoPhaseCommit) -> tuple[bool, bool]:
    """A manager that has prepared eventually commits or aborts."""
    state = model.managers_state[ResourceManager(1)]
    return state == Manager.PREPARED, state in (Manager.COMMITTED, Manager.ABORTED)


@dataclass
class Measured:
    """The result and the cost of one engine."""

    distinct: int
    generated: int
    judged: list[tuple[str, str, list[str]]]
    search: float
    judgement: float
    seconds: float
    jobs: int
    memory: int


def processor_seconds() -> float:
    """Processor time of this process, of all that it started, and of what those have waited for."""
    parents: dict[int, int] = {}
    taken: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(entry.name)] = int(fields[1])
        taken[int(entry.name)] = sum(int(field) for field in fields[11:15])
    mine = {os.getpid()}
    while more := {process for process, parent in parents.items() if parent in mine} - mine:
        mine |= more
    return sum(taken[process] for process in mine) / TICK


class Watched:
    """Looks at the command's memory every second, and at what the judgement takes."""

    def __init__(self) -> None:
        self.most = 0
        self.judged_from = self.judged_seconds = 0.0
        self.jobs = 0
        self._memory = CommandMemory()
        self._judge, self._reports = check.after_native, EliminationRounds._reports
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        while True:
            self.most = max(self.most, self._memory.used())
            time.sleep(1)

    def install(self) -> None:
        """Has judgements and rounds counted."""

        def judge(*given: Any) -> SearchResult:
            self.judged_from, started = processor_seconds(), time.perf_counter()
            judged = self._judge(*given)
            self.judged_seconds = time.perf_counter() - started
            return judged

        def reports(rounds: EliminationRounds, jobs: Any) -> Any:
            self.jobs += 1
            return self._reports(rounds, jobs)

        check.after_native = judge  # type: ignore[assignment]
        EliminationRounds._reports = reports  # type: ignore[method-assign, assignment]


def once(engine: str, design: str, managers: int) -> Measured:
    """Searches and judges in this process."""
    watched = Watched()
    watched.install()
    began = processor_seconds()
    found = _explored(engine, design, managers)
    ended = processor_seconds()
    assert found.complete, found.stopped
    return Measured(
        found.distinct,
        found.generated,
        [(it.name, it.verdict, list(it.needs)) for it in found.liveness],
        watched.judged_from - began,
        ended - watched.judged_from,
        watched.judged_seconds,
        watched.jobs,
        watched.most,
    )


def _explored(engine: str, design: str, managers: int) -> SearchResult:
    spec = specs.read(ROOT / SPEC)
    module = DESIGNS[design]
    cls = spec.model_class() if module is None else getattr(importlib.import_module(module), design)
    properties = list(collect(cls, [sys.modules[__name__]]).values())
    options = Options(workers=2, fairness=spec.fairness)
    model = cls(managers=managers)
    if engine == "native":
        return native.search_states(model, properties, options)
    from floodmark.checkers.spark.session import session

    session("local[2]")
    return spark.search_states(model, properties, options)


def measure(engine: str, design: str, managers: int) -> Measured:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.distributed_liveness", "--only", engine, design]
    command += ["--managers", str(managers)]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return Measured(**json.loads(done.stdout.splitlines()[-1]))


def row(engine: str, design: str, it: Measured) -> str:
    """A row of the table."""
    verdicts = ", ".join(f"{name} {verdict}" for name, verdict, _ in it.judged)
    return (
        f"| {engine} | {design} | {it.distinct:,} | {it.generated:,} | {verdicts} | {it.search:.0f} "
        f"| {it.judgement:.0f} | {it.seconds:.0f} | {it.jobs or ''} | {it.memory / 1e9:.1f} GB |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--managers", type=int, default=9, help="9 make 10,340,352 states without a failure")
    parser.add_argument("--only", nargs=2, metavar=("ENGINE", "DESIGN"), help="measure one here and print it as JSON")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.only:
        engine, design = arguments.only
        print(json.dumps(asdict(once(engine, design, arguments.managers))))
        return
    rows = []
    for design in DESIGNS:
        measured = {engine: measure(engine, design, arguments.managers) for engine in ENGINES}
        assert measured["native"].judged == measured["spark"].judged, "the engines judge differently"
        rows += [row(engine, design, it) for engine, it in measured.items()]
    load = f"The machine's load was {os.getloadavg()[0]:.1f} at the end; both need the same fairness."
    lines = [load, "", *HEAD, *rows]
    print(*lines, sep="\n")
    if arguments.write:
        command = f"python -m benchmarks.distributed_liveness --managers {arguments.managers} --write"
        section("distributed liveness", command, lines)


if __name__ == "__main__":
    main()
