"""Measures how a distributed search copes with losses: ``python -m benchmarks.losses [--schedules N] [--seed N]
[--kept FILE] [--write]``.

Each schedule is a search on a standalone cluster of two workers on loopback, with speculation on. At random moments
something is killed or removed: a Python worker, an executor, a worker with everything that it runs, a partition's
files, a disk, shuffled data (so that Spark runs a stage again), or the driver, which is then resumed from its
checkpoints. The result has to be that of the native search. ``--write`` puts the figures into docs/scaling.md.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.standalone import Standalone, kill, standalone
from floodmark.checkers import spec as specs
from floodmark.checkers.check import Check, Settings, checks
from floodmark.checkers.exploration import Exploration, Options
from floodmark.checkers.native import search as native
from floodmark.checkers.spark.cluster import Cluster
from floodmark.checkers.spark.search import Distribution, explore
from floodmark.checkers.spark.session import session, stop

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "scaling.md"
START, END = "<!-- losses -->\n", "<!-- end of losses -->\n"
SPARK = {
    "spark.speculation": "true",
    "spark.speculation.interval": "20ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.3",
    "spark.speculation.minTaskRuntime": "60ms",
    "spark.python.task.killTimeout": "50ms",
    "spark.shuffle.io.retryWait": "300ms",
}
"""Makes Spark start a second attempt of whatever takes slightly longer than the rest, and wait little at the end."""
DRIVER_EVERY = 5
"""One in this many schedules also kills the driver."""
PATIENCE = 300
"""Seconds without news after which a driver is given up."""
FIGURES = ("complete", "distinct", "generated", "depth", "digest", "levels", "actions")


@dataclass(frozen=True)
class Subject:
    """A search: one that explores everything, or one that finds a counterexample."""

    path: str
    variant: str
    constants: tuple[tuple[str, int], ...]

    def check(self) -> Check:
        settings = Settings(constants=dict(self.constants), only_variant=self.variant, workers=1)
        return checks(specs.read(ROOT / self.path), settings)[0]

    def found_by(self, engine: Callable[..., Exploration], *more: Any) -> Exploration:
        check = self.check()
        return engine(check.cls()(**check.constants), check.properties(), Options(workers=1), *more)

    @cache  # noqa: B019 - there are two of them
    def wanted(self) -> Exploration:
        return self.found_by(native.explore)


SUBJECTS = (
    Subject("specs/examples/philosophers.toml", "Philosophers", (("last", 2),)),
    Subject("specs/examples/two_phase_commit.toml", "CommitsOnMajority", (("managers", 5),)),
)


@dataclass
class Outcome:
    """The result of one schedule: what was done to the search, and how it differs from the native one."""

    seed: int
    done: Counter[str] = field(default_factory=Counter)
    repaired: int = 0
    seconds: float = 0.0
    slower: float = 0.0
    """How many times as long it took as an undisturbed search on the same machine."""
    differs: str = ""


class Trouble:
    """What happens to a cluster while something runs."""

    def __init__(self, cluster: Standalone, seed: int, done: Counter[str]) -> None:
        self.cluster = cluster
        self.draw = random.Random(seed)
        self.done = done
        self.ended = threading.Event()
        self.kinds: dict[str, Callable[[], bool]] = {
            "Python worker killed": self.python_worker,
            "executor killed": self.executor,
            "worker killed with its executors": self.worker,
            "partition removed": self.partition,
            "disk removed": self.disk,
            "shuffled files removed": self.shuffled,
        }
        self.weights = [4, 2, 1, 4, 2, 4]

    @contextmanager
    def at_work(self, most: int) -> Iterator[None]:
        """Harms the cluster at random moments, at most this many times."""
        worker = threading.Thread(target=self._work, args=(most,), daemon=True)
        worker.start()
        try:
            yield
        finally:
            self.ended.set()
            worker.join()

    def _work(self, most: int) -> None:
        for _ in range(most):
            if self.ended.wait(self.draw.uniform(0.05, 1.2)):
                return
            (kind,) = self.draw.choices(list(self.kinds), self.weights)
            if self.kinds[kind]():
                self.done[kind] += 1

    def _one(self, of: list[Any]) -> Any:
        return self.draw.choice(sorted(of)) if of else None

    def python_worker(self) -> bool:
        return _killed(self._one(self.cluster.python_workers()))

    def executor(self) -> bool:
        return _killed(self._one(self.cluster.executors()))

    def worker(self) -> bool:
        number = self.draw.randrange(len(self.cluster.workers))
        process = self.cluster.workers[number]
        process.kill()
        process.wait()
        self.cluster.start_worker(number)
        return True

    def partition(self) -> bool:
        return _removed(self._one(list(self.cluster.folder.glob("disk-*/*/*/*"))))

    def disk(self) -> bool:
        return _removed(self._one(list(self.cluster.folder.glob("disk-*/*"))))

    def shuffled(self) -> bool:
        found = list(self.cluster.folder.glob("shuffled-*/**/shuffle_*.data"))
        newest = sorted(found, key=lambda path: path.stat().st_mtime if path.exists() else 0)[-4:]
        return sum(_removed(path) for path in newest) > 0


def _killed(pid: int | None) -> bool:
    if pid is not None:
        kill(pid)
    return pid is not None


def _removed(path: Path | None) -> bool:
    if path is None or not path.exists():
        return False
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
    return True


# Schedules.


def schedule(cluster: Standalone, seed: int) -> Outcome:
    """Runs one schedule and compares its result."""
    outcome = Outcome(seed)
    trouble = Trouble(cluster, seed, outcome.done)
    subject = SUBJECTS[seed % len(SUBJECTS)]
    started = time.monotonic()
    if seed % DRIVER_EVERY == DRIVER_EVERY - 1:
        with trouble.at_work(10):
            outcome.differs = _of_killed_driver(cluster, subject, trouble)
    else:
        before = _repairs[0]
        with trouble.at_work(6):
            found = subject.found_by(explore, None, Distribution(cluster.url, 3, wide=0))
        outcome.repaired = _repairs[0] - before
        outcome.differs = differs(_figures(found), _figures(subject.wanted()))
    outcome.seconds = time.monotonic() - started
    return outcome


def _figures(found: Exploration) -> dict[str, Any]:
    known = {name: getattr(found, name) for name in FIGURES}
    return known | {"violations": [(one.property, len(one.trace)) for one in found.violations]}


def differs(found: dict[str, Any], wanted: dict[str, Any]) -> str:
    """How the result differs from the native search; empty when it does not."""
    return "; ".join(
        f"{name}: {found.get(name)}, not {value}" for name, value in wanted.items() if found.get(name) != value
    )


def _of_killed_driver(cluster: Standalone, subject: Subject, trouble: Trouble) -> str:
    """Kills a driver once it has written a few checkpoints, and continues from them with another."""
    stop()  # this process's own session has all cores of the cluster
    with tempfile.TemporaryDirectory(dir=cluster.folder) as folder:
        kept, results = Path(folder) / "kept", Path(folder) / "results.json"
        most = trouble.draw.randrange(1, subject.wanted().depth)
        process = _driver(cluster, subject, ["--checkpoint", str(kept), "--json", str(results)])
        end = time.monotonic() + PATIENCE
        try:
            while process.poll() is None and len(list(kept.glob("*/*/level-*.json"))) < most and time.monotonic() < end:
                time.sleep(0.05)
            trouble.done["driver killed"] += process.poll() is None
        finally:
            process.kill()
            process.communicate()
        results.unlink(missing_ok=True)
        again = _driver(cluster, subject, ["--resume", str(kept), "--json", str(results)])
        try:
            said, errors = again.communicate(timeout=PATIENCE)
        finally:
            again.kill()
        if not results.exists():
            return f"no result: {said}{errors}"
        (found,) = json.loads(results.read_text())["results"]
        wanted = subject.wanted()
        of_both = {name: getattr(wanted, name) for name in ("distinct", "generated", "depth", "digest")}
        of_both["verdict"] = "violated" if wanted.violations else "holds"
        for violation in wanted.violations[:1]:
            of_both |= {"property": violation.property, "length": len(violation.trace)}
            found["length"] = len(found["trace"] or ())
        return differs(found, of_both)


def _driver(cluster: Standalone, subject: Subject, options: list[str]) -> subprocess.Popen[str]:
    sets = [f"--set={name}={value}" for name, value in subject.constants]
    command = [
        sys.executable, "-m", "floodmark", "check", subject.path, *sets, "--only-variant",
        subject.variant, "--engine", "spark", "--master",
        cluster.url, "--distribute", "always", "--partitions", "3", *options,
    ]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


_repairs = [0]


@contextmanager
def harmed(folder: Path) -> Iterator[Standalone]:
    """A cluster, and a session on it in this process, with speculation on; repairs are counted."""
    original = Cluster._repair

    def counting(self: Cluster) -> bool:
        _repairs[0] += 1
        return original(self)

    kept = os.environ.get("FLOODMARK_SPARK_CONF")
    os.environ["FLOODMARK_SPARK_CONF"] = " ".join(f"{name}={value}" for name, value in SPARK.items())
    Cluster._repair = counting  # type: ignore[method-assign]
    try:
        with standalone(folder) as cluster:
            try:
                session(cluster.url)
                yield cluster
            finally:
                stop()
    finally:
        Cluster._repair = original  # type: ignore[method-assign]
        os.environ.pop("FLOODMARK_SPARK_CONF")
        if kept is not None:
            os.environ["FLOODMARK_SPARK_CONF"] = kept


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
    with tempfile.TemporaryDirectory() as folder, harmed(Path(folder)) as cluster:
        times = []
        for subject in SUBJECTS * 2:  # the first searches start Python workers
            started = time.monotonic()
            subject.found_by(explore, None, Distribution(cluster.url, 3, wide=0))
            times.append(time.monotonic() - started)
        undisturbed = sum(times[len(SUBJECTS) :]) / len(SUBJECTS)
        for seed in seeds:
            one = schedule(cluster, seed)
            one.slower = one.seconds / undisturbed
            yield one


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
            with kept.open("a") as file:
                print(json.dumps(asdict(one)), file=file)
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
