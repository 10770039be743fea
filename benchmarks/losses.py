"""Measures how a distributed search copes with losses: ``python -m benchmarks.losses [--schedules N] [--seed N]
[--kept FILE] [--write]``.

Each schedule is a search on a standalone cluster of two workers on loopback, with speculation on; two run at a time. At
random moments something is killed, paused, removed or put back (`harm.py`): a Python worker, an executor, a worker with
everything that it runs, a partition's files, a disk, shuffled data (so that Spark runs a stage again), or the driver,
whose search is then resumed from its checkpoints. The moments are drawn relative to the jobs of the search, so that
they are within it on any machine. The result has to be that of the native search. ``--write`` puts the figures into
docs/scaling.md.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import IO, Any
from unittest.mock import patch

from benchmarks.harm import Harm, drawn
from benchmarks.shared_classes import java_home
from benchmarks.standalone import Standalone, descendants, kill, standalone
from floodmark.checkers.native import search as native
from floodmark.checkers.project import spec as specs
from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import Options, SearchResult
from floodmark.checkers.spark import search
from floodmark.checkers.spark.cluster import Cluster
from floodmark.checkers.spark.frontier import MAX_BYTES
from floodmark.checkers.spark.search import Distribution, search_states
from floodmark.checkers.spark.session import session, stop
from floodmark.checkers.verdict.check import CheckSettings, checks
from floodmark.language.model import Model

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "scaling.md"
START, END = "<!-- losses -->\n", "<!-- end of losses -->\n"
SPARK = {
    "spark.cores.max": "2",
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.locality.wait": "1s",
    "spark.speculation": "true",
    "spark.speculation.interval": "20ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.3",
    "spark.speculation.minTaskRuntime": "300ms",
    "spark.python.task.killTimeout": "50ms",
    "spark.python.daemon.module": "benchmarks.python_daemon",
    "spark.shuffle.io.maxRetries": "1",
    "spark.shuffle.io.retryWait": "100ms",
}
"""Two executors of one core, so that another application has room beside this one. Spark starts a second attempt of
whatever takes longer than the rest, which a paused worker does, and waits little for what is gone, so that partitions
move more often than they otherwise would."""
NARROW = (MAX_BYTES, -1, 40)
"""The size of the levels that the driver expands itself, in bytes: almost all here, none, the first and the last."""
DRIVER_EVERY = 7
"""One in this many schedules also kills the driver."""
AT_A_TIME = 2
PATIENCE = 300
"""Seconds without news after which a driver, or the cluster, is given up."""
JAVA_LASTS = 2.0
"""The seconds for which the Java process of a killed driver survives, if it is not killed with it: enough to end by
itself, while its executors may continue with their tasks."""
FIGURES = ("complete", "distinct", "generated", "depth", "digest", "levels", "actions", "values_seen")


@dataclass(frozen=True)
class Subject:
    """A search: one that explores everything, or one that finds a counterexample."""

    path: str
    variant: str
    constants: tuple[tuple[str, int], ...]

    @cache  # noqa: B019 - there are three of them
    def loaded(self) -> tuple[type[Model], dict[str, int], list[Property]]:
        settings = CheckSettings(constants=dict(self.constants), only_variant=self.variant, workers=1)
        check = checks(specs.read(ROOT / self.path), settings)[0]
        return check.cls(), check.constants, check.properties()

    def found_by(self, engine: Callable[..., SearchResult], *more: Any) -> SearchResult:
        cls, constants, properties = self.loaded()
        return engine(cls(**constants), properties, Options(workers=1), *more)

    @cache  # noqa: B019 - there are three of them
    def wanted(self) -> SearchResult:
        return self.found_by(native.search_states)

    def jobs(self) -> int:
        """About how many jobs a search takes that is not disturbed: the levels, and the way back from a violation."""
        found = self.wanted()
        return found.depth + 3 + sum(len(violation.trace) for violation in found.violations)


SUBJECTS = (
    Subject("specs/examples/philosophers.toml", "Philosophers", (("last", 2),)),
    Subject("specs/examples/two_phase_commit.toml", "CommitsOnMajority", (("managers", 3),)),
    Subject("specs/examples/two_phase_commit.toml", "TwoPhaseCommit", (("managers", 3),)),
)


@dataclass
class Outcome:
    """The result of one schedule: what was done to the search, and how it differs from the native one."""

    seed: int
    done: Counter[str] = field(default_factory=Counter)
    repaired: int = 0
    seconds: float = 0.0
    slower: float = 0.0
    """The factor by which it was slower than an undisturbed search on the same machine."""
    differs: str = ""


class Rig:
    """A cluster, and a session on it in this process."""

    def __init__(self, cluster: Standalone) -> None:
        self.cluster = cluster
        self.context: Any = session(cluster.url).sparkContext
        self.application = str(self.context.applicationId)

    def wait(self) -> None:
        """Waits until each worker has an executor for the session."""
        end = time.monotonic() + PATIENCE
        while self.context._jsc.sc().getExecutorMemoryStatus().size() <= len(self.cluster.workers):
            if time.monotonic() > end:
                raise TimeoutError("the cluster does not replace what was killed")
            time.sleep(0.02)


@dataclass
class Course:
    """The progress of a search. Some of its jobs begin only when nothing is missing; the driver expands the states of
    levels that take at most ``narrow`` bytes."""

    rig: Rig
    narrow: int = MAX_BYTES
    whole_at: frozenset[int] = frozenset()
    jobs: int = 0
    repairs: int = 0
    folder: str = ""

    def begin(self) -> None:
        """A job begins."""
        self.jobs += 1
        if self.jobs in self.whole_at:
            self.rig.wait()


COURSE: ContextVar[Course] = ContextVar("COURSE")
"""The course of the search that this thread begins."""


class Watched(Cluster):
    """The cluster of a search whose course is known."""

    def __init__(self, *given: Any) -> None:
        self.course = COURSE.get()
        super().__init__(*given)
        self.run = replace(self.run, narrow=self.course.narrow)
        self.course.folder = self.run.folder

    def _collect(self, *given: Any) -> list[Any]:
        self.course.begin()
        return super()._collect(*given)

    def _repair(self) -> bool:
        self.course.repairs += 1
        return super()._repair()


def found_on(course: Course, subject: Subject, resume: str | None = None) -> SearchResult:
    """The result of a search in the session."""
    COURSE.set(course)
    return subject.found_by(search_states, None, Distribution(course.rig.cluster.url, 3, wide=0, resume=resume))


# Schedules.


def schedules(rig: Rig, seeds: Iterable[int]) -> Iterator[Outcome]:
    """Runs schedules, two at a time: what is done to the processes of one happens to the other, too."""
    with ThreadPoolExecutor(AT_A_TIME) as threads:
        yield from threads.map(partial(schedule, rig), seeds)


def schedule(rig: Rig, seed: int) -> Outcome:
    """Runs one schedule and compares its result."""
    outcome = Outcome(seed)
    draw = random.Random(seed)
    subject = SUBJECTS[seed % len(SUBJECTS)]
    rig.wait()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(dir=rig.cluster.folder) as folder:
        resume = None
        if seed % DRIVER_EVERY == DRIVER_EVERY - 1:
            resume = killed_driver(rig, subject, Path(folder), draw, outcome.done)
        losses = drawn(draw, draw.randint(2, 5), subject.jobs())
        whole = frozenset(loss.job for loss in losses if loss.whole)
        course = Course(rig, NARROW[seed // len(SUBJECTS) % len(NARROW)], whole)
        harm = Harm(rig.cluster, draw, lambda: course.jobs, lambda line: rig.application in line, lambda: course.folder)
        with harm.at_work(losses):
            found = found_on(course, subject, resume)
    outcome.done += harm.done
    outcome.repaired = course.repairs
    outcome.differs = differs(_figures(found), _figures(subject.wanted()))
    outcome.seconds = time.monotonic() - started
    return outcome


def _figures(found: SearchResult) -> dict[str, Any]:
    known = {name: getattr(found, name) for name in FIGURES}
    return known | {"violations": [(one.property, len(one.trace)) for one in found.violations]}


def differs(found: dict[str, Any], wanted: dict[str, Any]) -> str:
    """The differences from the result of the native search; empty if there are none."""
    return "; ".join(
        f"{name}: {found.get(name)}, not {value}" for name, value in wanted.items() if found.get(name) != value
    )


def killed_driver(rig: Rig, subject: Subject, folder: Path, draw: random.Random, done: Counter[str]) -> str:
    """Kills a driver once it has written a few checkpoints; returns where they are."""

    def written() -> int:
        return len(list(folder.glob("*/*/level-*.json")))

    most = draw.randint(2, 5)
    losses = drawn(draw, draw.randint(1, 2), most)
    java_lasts = 0.0 if draw.random() < 0.5 else JAVA_LASTS
    harm = Harm(rig.cluster, draw, written, lambda line: rig.application not in line, str)
    with tempfile.TemporaryFile("w+") as said:
        process = _driver(rig.cluster, subject, ["--spark", f"checkpoint={folder}"], said)
        end = time.monotonic() + PATIENCE
        try:
            with harm.at_work(losses):
                while process.poll() is None and written() < most and time.monotonic() < end:
                    time.sleep(0.01)
                time.sleep(draw.uniform(0, 0.3))
            done["driver killed"] += process.poll() is None
        finally:
            below = list(descendants(process.pid))
            process.kill()
            process.wait()
            threading.Timer(java_lasts, kill, below).start()
        done += harm.done
        for claim in folder.glob("*/*/claim.json"):
            return str(claim.parent)
        said.seek(0)
        raise RuntimeError(f"the driver has not begun to write checkpoints: {said.read()}")


def _driver(cluster: Standalone, subject: Subject, options: list[str], said: IO[str]) -> subprocess.Popen[str]:
    sets = [f"--set={name}={value}" for name, value in subject.constants]
    command = [
        sys.executable, "-m", "floodmark", "check", subject.path, *sets, "--only-variant",
        subject.variant, "--spark", f"master={cluster.url}", "--spark", "distribute=always", "--spark",
        "partitions=3", *options,
    ]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdout=said, stderr=subprocess.STDOUT)


@contextmanager
def harmed(folder: Path) -> Iterator[Rig]:
    """A cluster, and a session on it in this process, with speculation on."""
    for subject in SUBJECTS:
        subject.wanted()  # loads models, which only one thread may do
    conf = " ".join(f"{name}={value}" for name, value in SPARK.items())
    with (
        java_home() as home,
        patch.dict(os.environ, {"FLOODMARK_SPARK_CONF": conf, "JAVA_HOME": str(home)}),
        patch.object(search, "Cluster", Watched),
        standalone(folder, cores=2, modules=ROOT) as known,
    ):
        try:
            yield Rig(known)
        finally:
            stop()


# Figures.


def lines(outcomes: list[Outcome]) -> Iterator[str]:
    """The results of many schedules, as text for the page."""
    done: Counter[str] = sum((one.done for one in outcomes), Counter())
    wrong = [one for one in outcomes if one.differs]
    slower = sorted(one.slower for one in outcomes if not one.done["driver killed"])
    yield (
        f"{len(outcomes):,} schedules, {sum(done.values()):,} losses, {sum(one.repaired for one in outcomes):,} "
        f"repairs. Results equal to the native search's: {len(outcomes) - len(wrong):,}; different: {len(wrong):,}."
    )
    yield ""
    yield "| loss | times | schedules with it |"
    yield "|---|---|---|"
    for kind, times in done.most_common():
        yield f"| {kind} | {times:,} | {sum(kind in one.done for one in outcomes):,} |"
    yield ""
    if slower:
        yield (
            f"A schedule without a killed driver took {slower[len(slower) // 2]:.1f} times as long as an undisturbed "
            f"search (median; the longest took {slower[-1]:.1f} times)."
        )


def page(text: str, said: list[str]) -> str:
    """The page with its figures replaced."""
    before, rest = text.split(START, 1)
    return before + START + "\n" + "\n".join(said) + "\n\n" + END + rest.split(END, 1)[1]


def outcomes_of(seeds: Iterable[int]) -> Iterator[Outcome]:
    """Runs schedules on a cluster of their own."""
    with tempfile.TemporaryDirectory() as folder, harmed(Path(folder)) as rig, ThreadPoolExecutor(AT_A_TIME) as threads:

        def seconds(subject: Subject) -> float:
            started = time.monotonic()
            found_on(Course(rig), subject)
            return time.monotonic() - started

        times = list(threads.map(seconds, SUBJECTS * 2))
        undisturbed = sum(times[len(SUBJECTS) :]) / len(SUBJECTS)  # the first searches start Python workers
        for one in schedules(rig, seeds):
            one.slower = one.seconds / undisturbed
            yield one


def keep(one: Outcome, kept: Path) -> None:
    """Adds an outcome to a file."""
    with kept.open("a") as file:
        print(json.dumps(vars(one)), file=file)


def read(kept: Path) -> dict[int, Outcome]:
    """The outcomes that a file keeps, by their seeds."""
    known = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    return {each["seed"]: Outcome(**{**each, "done": Counter(each["done"])}) for each in known}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schedules", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--kept", type=Path, help="file for the outcomes, so that an interrupted run can be continued")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    seeds = range(arguments.seed, arguments.seed + arguments.schedules)
    with tempfile.TemporaryDirectory() as folder:
        kept = arguments.kept or Path(folder) / "outcomes"
        missing = [seed for seed in seeds if seed not in read(kept)]
        for one in outcomes_of(missing) if missing else ():
            keep(one, kept)
            what = ", ".join(f"{kind} {times}" for kind, times in one.done.items())
            said = one.differs or "the same"
            print(f"{one.seed}: {one.seconds:.1f} s, {one.repaired} repairs, {said} ({what})", flush=True)
        known = read(kept)
    outcomes = [known[seed] for seed in seeds]
    table = list(lines(outcomes))
    print("\n".join(table))
    if arguments.write:
        PAGE.write_text(page(PAGE.read_text(), table))
    sys.exit(any(one.differs for one in outcomes))


if __name__ == "__main__":
    main()
