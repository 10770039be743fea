"""Simulates a distributed search without Spark: tasks run in this process, in random order, on folders as machines.

Whatever Spark may do happens between any two tasks, and in the middle of one: files vanish, a partition moves to a
machine that has older files of it, a Python worker is killed, an expansion runs again after other merges received what
it sent, a merge runs again, at once or much later, completely or in part.
"""

from __future__ import annotations

import contextlib
import random
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import Options, SearchResult
from floodmark.checkers.spark import search, session, tasks
from floodmark.checkers.spark.cluster import _LOST, Cluster
from floodmark.checkers.spark.search import ClusterMigration, Distribution
from floodmark.checkers.spark.shard import PartitionLost
from floodmark.language.model import Model

FAULTS = (
    "files are lost", "partition moves", "worker is killed", "expansion runs again", "merge is killed",
    "merge runs again", "merge runs again later", "second merge is killed later",
)
MACHINES = 2
ALONE = Options(workers=1)


class Killed(BaseException):
    """A task that gets no further."""


@dataclass
class Machines:
    """The environment of the driver: the machine of each partition, and tasks that may come back."""

    root: Path
    draw: random.Random
    faults: tuple[str, ...] = FAULTS
    often: float = 0.004
    home: dict[int, int] = field(default_factory=dict)
    now: int = 0
    late: list[Callable[[bool], None]] = field(default_factory=list)
    happened: list[str] = field(default_factory=list)
    processes: dict[tuple[int, str], Any] = field(default_factory=dict)
    code: Any = None

    def happens(self, *of: str) -> str:
        """One of some faults, or none."""
        known = [fault for fault in of if fault in self.faults]
        if not known or self.draw.random() > self.often * len(known):
            return ""
        self.happened.append(self.draw.choice(known))
        return self.happened[-1]

    def folders(self, run: Any) -> list[Path]:
        return [self.root / f"machine-{self.now}"]

    def folder(self, run: Any) -> Path:
        return self.folders(run)[0] / str(run.folder)

    def process(self, run: Any) -> Any:
        """The Python worker of this machine: what it has in memory, but for the code, which all share."""
        self.code = self.code or run.code.value.load()
        new = SimpleNamespace(code=self.code, shards={}, held={}, filter_words=np.zeros(0, dtype=np.uint64))
        return self.processes.setdefault((self.now, run.folder), new)

    def kill(self, machine: int) -> None:
        """Ends the Python worker of a machine."""
        for known in [each for each in self.processes if each[0] == machine]:
            del self.processes[known]

    @contextlib.contextmanager
    def at(self, partition: int) -> Iterator[None]:
        """Sets the machine on which a partition's tasks run."""
        self.now = self.home.setdefault(partition, 0)
        yield

    def between_tasks(self, cluster: Simulated) -> None:
        partition = self.draw.randrange(cluster.partitions)
        machine = self.draw.randrange(MACHINES)
        match self.happens("files are lost", "partition moves", "worker is killed"):
            case "files are lost":
                self.now = machine
                shutil.rmtree(self.folder(cluster.run) / f"{partition:05}", ignore_errors=True)
            case "partition moves":
                self.home[partition] = machine
            case "worker is killed":
                self.kill(machine)
        if self.late and (late := self.happens("merge runs again later", "second merge is killed later")):
            self.late.pop(self.draw.randrange(len(self.late)))("killed" in late)


Stage = Callable[[int, Iterable[Any]], Iterator[Any]]


class Simulated(Cluster):
    """A cluster whose RDDs are the tasks themselves."""

    machines: Machines

    def _home(self) -> Any:
        return None

    def _settle(self) -> None:
        """A partition has one place here."""

    def _everywhere(self, task: Callable[[int], Iterator[Any]]) -> Any:
        return (task, None, self)

    def _arriving(self, records: Any, task: Stage) -> Any:
        return (records, task, self)

    def _carried(self, payloads: Mapping[int, Sequence[Any]], task: Stage) -> Any:
        return ([(p, payload) for p, sent in payloads.items() for payload in sent], task, self)

    def _collect(self, rdd: Any, paused: Any = None) -> list[Any]:
        """The records of the last stage; the first of several is a list, or a task that takes none, perhaps of the
        partitions of another cluster."""
        first, second, _ = rdd
        if second is None:
            return [found for p in self._shuffled() for found in self._run(p, first)]
        from_driver = isinstance(first, list)
        again, sender = None, self
        if from_driver:
            sent = {self.partitions: first}
        elif first[1] is None:
            again, sender = first[0], first[2]
            sent = {p: sender._run(p, again) for p in sender._shuffled()}
        else:
            sent = {self.partitions: self._collect(first)}
        found = []
        for p in self._shuffled():
            if again is not None and self.machines.happens("expansion runs again"):
                other = self.machines.draw.randrange(sender.partitions)
                sent[other] = sender._run(other, again)
            found += self._merged(p, second, [r for records in sent.values() for r in records if r[0] == p])
        return found

    def _job(self, run: Callable[[], Any], paused: Any = None) -> Any:
        return run()

    def level_pieces(self, level: int) -> Any:
        """Records that fail as Spark's do."""
        stages: Any = super().level_pieces(level)

        def collect() -> list[Any]:
            try:
                return self._collect(stages)
            except PartitionLost as lost:
                raise RuntimeError(f"{_LOST}: {lost}") from None

        return SimpleNamespace(collect=collect)

    def _shuffled(self) -> list[int]:
        order = list(range(self.partitions))
        self.machines.draw.shuffle(order)
        return order

    def _run(self, partition: int, task: Callable[..., Iterator[Any]], *given: Any) -> list[Any]:
        self.machines.between_tasks(self)
        with self.machines.at(partition):
            return list(task(partition, *given))

    def _merged(self, partition: int, task: Stage, records: list[Any]) -> list[Any]:
        """A task that takes records, perhaps killed and started again, perhaps run twice."""
        records = records[:]
        self.machines.draw.shuffle(records)
        while self.machines.happens("merge is killed"):
            self._half(partition, task, records)
        found = self._run(partition, task, iter(records))
        if self.machines.happens("merge runs again"):
            self._run(partition, task, iter(records))
        machine = self.machines.home[partition]

        def later(is_killed: bool) -> None:
            self.machines.now = machine
            if is_killed:
                self._half(partition, task, records, machine)
            else:
                list(task(partition, iter(records)))

        self.machines.late.append(later)
        return found

    def _half(self, partition: int, task: Stage, records: list[Any], machine: int | None = None) -> None:
        """Runs a task until it is killed, with the process that it runs in."""
        most = self.machines.draw.randrange(len(records) + 1)

        def some() -> Iterator[Any]:
            yield from records[:most]
            raise Killed

        with self.machines.at(partition), contextlib.suppress(Killed):
            if machine is not None:
                self.machines.now = machine
            list(task(partition, some()))
        self.machines.kill(self.machines.now)


def search_states(
    model: Model, properties: list[Property], machines: Machines, partitions: int | None = 3, wide: int = 0,
    options: Options = ALONE, **how: Any,
) -> tuple[SearchResult, int]:  # fmt: skip
    """The result of a search on such machines, and the number of repairs. Raises Broken."""
    context = SimpleNamespace(
        broadcast=lambda code: SimpleNamespace(value=code, destroy=lambda: None),
        defaultParallelism=partitions or 1,
        master="local",
        getConf=lambda: SimpleNamespace(get=lambda name: None),
        parallelize=lambda records, slices: list(records),
    )
    clusters: list[Simulated] = []

    class Here(Simulated):
        def __init__(self, *given: Any) -> None:
            self.machines = machines
            super().__init__(*given)
            clusters.append(self)

    with _instead(
        (search, "Cluster", Here),
        (ClusterMigration, "session", lambda self: SimpleNamespace(sparkContext=context)),
        (tasks, "scratch_folders", machines.folders),
        (tasks, "_process", machines.process),
        (Cluster, "clean_up_after_others", lambda self, replaced: None),
        (session, "session", lambda *given: SimpleNamespace(sparkContext=context)),
    ):
        found = search.search_states(
            model, properties, options, None, Distribution(partitions=partitions, wide=wide, **how)
        )
    return found, sum(cluster.repaired for cluster in clusters)


@contextlib.contextmanager
def _instead(*changes: tuple[Any, str, Any]) -> Iterator[None]:
    kept = [(place, name, getattr(place, name)) for place, name, _ in changes]
    for place, name, value in changes:
        setattr(place, name, value)
    try:
        yield
    finally:
        for place, name, value in kept:
            setattr(place, name, value)
