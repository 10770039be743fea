"""The workers of a Spark application as the one worker of a search: it takes levels, and gives what was found."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from checkers.explicit import flood
from checkers.explicit.module import COUNTERS, Interface
from checkers.spark import tasks
from checkers.spark.code import Code
from checkers.spark.files import Folder
from checkers.spark.shard import Array, Packed, owners_of
from checkers.spark.tasks import Expanded, Level, Merged, Run

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext

LOOK_SECONDS = 0.5
"""How often the budgets are looked at while Spark works."""
RETRIES = 8
DIGESTS = [flood.DIGEST_1, flood.DIGEST_2]
SEED_BYTES = 256 << 20
"""States that are known already go to the workers in rounds of this size."""


class Cancelled(Exception):  # noqa: N818 - it ends a search undetermined, it is no mistake
    """A budget ended while Spark was at work on a level."""


class Broken(RuntimeError):  # noqa: N818 - as above
    """Spark gave up on a job."""


class Cluster:
    """All partitions of a search. It answers what ``checkers.explicit.worker.Worker`` answers to the search."""

    def __init__(
        self, context: SparkContext, code: Code, interface: Interface, partitions: int | None, initial: Array
    ) -> None:
        self.spark = context
        self.interface = interface
        self.words = code.words
        self.partitions = partitions or max(context.defaultParallelism, 1)
        self.initial = initial
        self.code = context.broadcast(code)
        folder = f"{socket.gethostname()}+{os.getpid()}+{uuid.uuid4().hex[:8]}"
        self.run = Run(folder, context.getConf().get("spark.local.dir"), self.partitions, self.code)
        self.home = self._home()
        self.fields = np.zeros(flood.FIELDS, dtype=np.uint64)
        self.context = np.zeros(COUNTERS + len(interface.actions) + len(interface.premises) + 1, dtype=np.uint64)
        self.store = np.zeros(0, dtype=np.uint64)
        self.levels: list[tuple[int, int]] = []
        self.ends: list[list[int]] = [[] for _ in range(self.partitions)]
        self.memory = 0
        self.shuffled = 0
        self.repaired = 0
        self.wanted = (0, 0)
        self.deadlock = False
        self.complete = True
        self._noted: dict[int, Packed] = {}
        self.reports: list[Merged] = []
        tasks.clean_up_after_others(self.run)

    def _home(self) -> RDD[Any]:
        """One small record for each partition, cached where it lives, so that Spark takes its tasks there.

        It has the serializer of every shuffled RDD: a union of two serializers goes through Python once more.
        """
        pairs = self.spark.parallelize([(p, "") for p in range(self.partitions)], self.partitions)
        return pairs.partitionBy(self.partitions, tasks.identity).persist()

    # What the search asks of a worker.

    @property
    def count(self) -> int:
        return sum(ends[-1] if ends else 0 for ends in self.ends)

    @property
    def fired(self) -> Array:
        return self.context[COUNTERS : self.interface.first_premise]

    def start_level(self, level: int) -> None:
        """Makes everything found since the last level the frontier."""
        self.levels.append((self.levels[-1][1] if self.levels else 0, self.count))

    def expand_level(self, paused: Callable[[], bool]) -> bool:
        """Expands the frontier, and checks what is found; False when ``paused`` said to stop on the way."""
        level = Level(len(self.levels), *self.wanted, self.deadlock)
        self.complete = False
        try:
            self.reports = self._complete(level, paused)
        except Cancelled:
            return False
        for report in self.reports:
            self.ends[report.partition].append(self.ends[report.partition][-1] + report.found)
            self.fields[DIGESTS] += np.array(report.digest, dtype=np.uint64)
            self.shuffled += report.received
            parts: list[Merged | Expanded] = [report, *report.expanded]
            for part in parts:
                self.context += np.frombuffer(part.context, dtype=np.uint64)
                self._note(part.noted)
        self.memory = sum(report.size for report in self.reports)
        self.complete = True
        return not paused()

    def check_level(self, false_wanted: int, true_wanted: int) -> None:
        """The level's states were checked when they were found."""

    def noted(self, place: int) -> Packed | None:
        return self._noted.pop(place, None)

    def parent_in(self, level: int, target: Packed) -> Packed | None:
        """The smallest state of a level (counted from 0) that has ``target`` as a successor."""
        for _ in range(RETRIES):
            found = self._collect(self._everywhere(partial(tasks.parent, self.run, level, target)))
            if not any(isinstance(each, Merged) for each in found):
                return min(found, default=None)
            self._repair(len(self.levels))
        raise Broken("the partitions are lost as fast as they are computed again")

    def _note(self, noted: dict[int, Packed]) -> None:
        for place, state in noted.items():
            known = self._noted.get(place)
            self._noted[place] = state if known is None else min(known, state)

    # Levels.

    def _complete(self, level: Level, paused: Callable[[], bool] | None = None) -> list[Merged]:
        """The reports of a level on which no partition was lost."""
        for _ in range(RETRIES):
            reports = self._level(level, paused)
            lost = [r for r in reports if r.lost is not None or any(e.lost is not None for e in r.expanded)]
            if not lost:
                return sorted(reports, key=lambda report: report.partition)
            self._repair(level.number)
        raise Broken("the partitions are lost as fast as they are computed again")

    def _level(self, level: Level, paused: Callable[[], bool] | None = None) -> list[Merged]:
        successors = self._everywhere(partial(tasks.expand, self.run, level))
        return self._collect(self._arriving(successors, partial(tasks.merge, self.run, level)), paused)

    def _everywhere(self, task: Callable[[int], Iterator[Any]]) -> RDD[Any]:
        """A task for each partition, where the partition lives."""
        return self.home.mapPartitionsWithIndex(partial(tasks.alone, task))

    def _arriving(self, records: RDD[Any], task: Callable[[int, Iterable[Any]], Iterator[Any]]) -> RDD[Any]:
        """A task for each partition, where it lives, over the records that are sent to it."""
        return self.spark.union([self.home, self._sent(records)]).mapPartitionsWithIndex(task)

    def _sent(self, records: RDD[Any]) -> RDD[Any]:
        """What ``RDD.partitionBy`` returns, which gathers dozens of records, megabytes each, before it sends any."""
        from pyspark import RDD
        from pyspark.serializers import BatchedSerializer

        keyed = records.mapPartitions(tasks.addressed)
        keyed._bypass_serializer = True  # type: ignore[attr-defined]
        jvm: Any = self.spark._jvm
        partitioner = jvm.PythonPartitioner(self.partitions, id(tasks.identity))
        pairs = jvm.PairwiseRDD(keyed._jrdd.rdd()).asJavaPairRDD().partitionBy(partitioner)
        batches: Any = BatchedSerializer  # its constructor has no types
        return RDD(jvm.PythonRDD.valueOfPair(pairs), self.spark, batches(self.spark._unbatched_serializer))

    def _repair(self, levels: int) -> None:
        """Computes lost partitions again until each has so many levels: from the others, a level at a time."""
        self.repaired += 1
        for _ in range(RETRIES * (levels + 1)):
            have = dict(self._collect(self._everywhere(partial(tasks.have, self.run))))
            least = min(have.values())
            if least >= levels:
                return
            behind = frozenset(p for p, known in have.items() if known == least)
            if least == 0:
                self._seed_initial(behind)
            else:
                self._level(Level(least, 0, 0, False, behind))
        raise Broken("the partitions are lost as fast as they are computed again")

    # Seeding.

    def _seed_initial(self, partitions: frozenset[int]) -> None:
        owners = owners_of(self.initial, self.words, self.partitions)
        rows = self.initial.reshape(-1, self.words)
        records = []
        ends = []
        for p in range(self.partitions):
            mine = rows[owners == p]
            ends.append([len(mine)])
            if p in partitions:
                records.append((p, (0, mine.tobytes())))
        self.put(records)
        self._collect(self._everywhere(partial(tasks.adopt, self.run, ends, partitions)))

    def seed(self, levels: Iterable[Array]) -> None:
        """Gives all partitions their share of states that were found elsewhere, level after level."""
        records: list[tuple[int, tuple[int, bytes]]] = []
        waiting = 0
        for states in levels:
            totals = [ends[-1] if ends else 0 for ends in self.ends]
            step = (tasks.OUTBOX_BYTES // 8) // self.words * self.words
            for start in range(0, len(states), step):
                part = states[start : start + step]
                owners = owners_of(part, self.words, self.partitions)
                rows = part.reshape(-1, self.words)
                for p in range(self.partitions):
                    mine = rows[owners == p]
                    if len(mine):
                        records.append((p, (totals[p], mine.tobytes())))
                        totals[p] += len(mine)
                waiting += len(part) * 8
                if waiting > SEED_BYTES:
                    self.put(records)
                    records, waiting = [], 0
            for p in range(self.partitions):
                self.ends[p].append(totals[p])
        self.put(records)
        self.adopt()

    def put(self, records: list[tuple[int, tuple[int, bytes]]]) -> None:
        if records:
            slices = min(len(records), 4 * self.partitions)
            self.put_from(self.spark.parallelize(records, slices))

    def put_from(self, records: RDD[Any]) -> None:
        """Writes known states, records of (partition, (position, bytes)), to the partitions' files."""
        self._collect(self._arriving(records, partial(tasks.seed, self.run)))

    def adopt(self, repair: bool = True) -> None:
        """Makes what was put the partitions' levels, whose ends are known, and sets the digest."""
        reports = self._collect(self._everywhere(partial(tasks.adopt, self.run, self.ends, None)))
        if any(report.lost is not None for report in reports):
            if not repair:
                raise Broken("states are missing")
            self._repair(len(self.ends[0]))
            sums = self._collect(self._everywhere(partial(tasks.sums, self.run)))
        else:
            sums = [report.digest for report in reports]
            self.memory = sum(report.size for report in reports)
        self.fields[DIGESTS] = np.sum(np.array(sums, dtype=np.uint64), axis=0, dtype=np.uint64)

    # The rest.

    def codes(self) -> dict[str, Array]:
        """The codes that each variable takes, ascending; rows of words where it is wider than one."""
        slots = self.interface.layout.slots
        known = self._collect(self._everywhere(partial(tasks.values, self.run, dict(slots))))
        return {
            name: np.unique(np.concatenate([each[name] for each in known]), axis=0 if slot.bits > 64 else None)
            for name, slot in slots.items()
        }

    def values_seen(self) -> dict[str, int]:
        """How many distinct values each variable takes."""
        codes = self.codes()
        return {name: len(codes[name]) for name in self.interface.layout.variables}

    def all_pieces(self) -> RDD[Any]:
        """All states, as records (level, bytes)."""
        return self._everywhere(partial(tasks.all_pieces, self.run))

    def level_pieces(self, level: int) -> RDD[Any]:
        """The states of a level as records (partition, position, bytes)."""
        return self._everywhere(partial(tasks.pieces, self.run, level))

    def save(self, rdd: RDD[Any], url: str) -> None:
        """Writes records to a folder of any file system that Spark reaches."""
        for _ in range(RETRIES):
            try:
                rdd.saveAsPickleFile(url, 1)
            except Exception as error:
                if "Lost" not in str(error):
                    raise Broken(reason(error)) from None
                self._repair(len(self.ends[0]))
                Folder(self.spark, url).remove("")
            else:
                return
        raise Broken("the partitions are lost as fast as they are computed again")

    def close(self) -> None:
        """Removes the files."""
        with contextlib.suppress(Exception):
            self._collect(self._everywhere(partial(tasks.clean, self.run)))
            self.home.unpersist()
            self.code.destroy()
        for _ in tasks.clean(self.run, 0):
            pass

    def _collect(self, rdd: RDD[Any], paused: Callable[[], bool] | None = None) -> list[Any]:
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        group = f"floodmark-{uuid.uuid4().hex}"
        ended = threading.Event()
        cancelled = threading.Event()

        def look() -> None:
            while not ended.wait(LOOK_SECONDS):
                if paused is not None and paused():
                    cancelled.set()
                    self.spark.cancelJobGroup(group)

        watcher = threading.Thread(target=look, daemon=True)
        self.spark.setJobGroup(group, "floodmark", interruptOnCancel=False)
        if paused is not None:
            watcher.start()
        try:
            return rdd.collect()
        except (Py4JJavaError, PySparkException) as error:
            if cancelled.is_set():
                raise Cancelled from None
            raise Broken(reason(error)) from None
        finally:
            ended.set()
            if paused is not None:
                watcher.join()


def reason(error: Any) -> str:
    """What a worker said last, out of Spark's long account of it."""
    text = str(getattr(error, "java_exception", None) or error)
    lines = [line.strip() for line in text.splitlines()]
    own = [line for line in lines if line and not line.startswith(("at ", "File ", "Driver stacktrace", "^"))]
    said = [line for line in own if "Error" in line or "Exception" in line]
    return (said or own or ["no reason given"])[-1][:400]


