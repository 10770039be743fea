"""States in the partitions of a Spark application.

A ledger records what was accepted for each level. A level is accepted when none of its partitions was lost; every task
receives the accepted counts and digests of its partition, and a level that is recomputed must have the same result.
`specs/examples/lost_partitions.py` is this protocol as a model, with designs that do not suffice.
"""

from __future__ import annotations

import contextlib
import os
import socket
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from floodmark.checkers.codegen.model_module import Interface
from floodmark.checkers.kernel import loops as native_loops
from floodmark.checkers.kernel.compiled_model import Kernel
from floodmark.checkers.kernel.memory import MemoryBudget
from floodmark.checkers.kernel.scratch import tells_of_full_disk
from floodmark.checkers.search.store import Packed, Store
from floodmark.checkers.search.symmetry import confirm_states
from floodmark.checkers.search_result import ClusterProgress, DiskUse
from floodmark.checkers.spark import leftovers, object_tasks, tasks
from floodmark.checkers.spark.code_transfer import KernelCode
from floodmark.checkers.spark.driver_marks import Address, hold
from floodmark.checkers.spark.folders import SparkFolder
from floodmark.checkers.spark.frontier import MAX_BYTES, Frontier, frontier
from floodmark.checkers.spark.jobs import (
    JobCancelled,
    JobFailed,
    JobWatch,
    TaskCounts,
    WorkersUnavailable,
    java_has_ended,
    watching_jobs,
    workers,
)
from floodmark.checkers.spark.ledger import END, AcceptedLevels, Ledger
from floodmark.checkers.spark.memory import MAX_BUFFERS
from floodmark.checkers.spark.object_tasks import StoredObject
from floodmark.checkers.spark.shard import Array, states_by_partition
from floodmark.checkers.spark.tasks import (
    ExpandedPart,
    LevelInput,
    MergeReport,
    MissingPartition,
    SearchContext,
    SeedResult,
)

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext

COMPARED, READ = 1 << 14, 1 << 20
"""The number of states that are compared with copies under other names; about as many are read for that."""
RETRIES = 8
READINGS = 2
"""The number of attempts to read a checkpoint before it counts as damaged: a partition may be lost the first time."""
_LOST = "floodmark.checkers.spark.shard.Lost"
"""This text in Spark's report of a job says that a partition was lost."""
T = TypeVar("T")
SEED_BYTES = 256 << 20
"""States that are already known go to the workers in rounds of at most this size."""


class Cluster(Store):
    """All partitions of a search, which begins with states that were found elsewhere."""

    def __init__(
        self, context: SparkContext, code: KernelCode, interface: Interface, partitions: int, initial: Array,
        buffers: int = MAX_BUFFERS,
    ) -> None:
        super().__init__(interface)
        self.spark = context
        self.partitions = partitions
        self.executors = workers(context)
        """Those that the partitions were divided among."""
        self.initial = initial
        self.code = context.broadcast(code)
        folder = f"{socket.gethostname()}+{os.getpid()}+{uuid.uuid4().hex[:8]}"
        scratch = context.getConf().get("spark.local.dir")
        self.run = SearchContext(folder, scratch, self.partitions, self.code, buffers, MAX_BYTES, _address(context))
        is_here = str(context.master).startswith("local")
        self._held = [hold(each / folder, None, is_here) for each in tasks.scratch_folders(self.run) if is_here]
        self.seed_bytes = min(SEED_BYTES, buffers)
        self.home = self._home()
        self._digest = np.zeros(2, dtype=np.uint64)
        self._counters = np.zeros(interface.first_memory, dtype=np.uint64)
        self._levels: list[tuple[int, int]] = []
        self.ledger = Ledger(self.partitions)
        self.memory = 0
        self.shuffled = 0
        self.repaired = 0
        self.deadlock = False
        self.tell: Callable[[str], None] = lambda what: None
        self.limit: Callable[[], bool] = lambda: False
        self._noted: dict[int, Packed] = {}
        self.reports: list[MergeReport] = []
        self.expansions: list[ExpandedPart] = []
        self.frontier: Frontier | None = None
        self._watch: JobWatch | None = None

    def _home(self) -> RDD[Any]:
        """One small record for each partition, cached where it lives, so that Spark runs its tasks there.

        It has the same serializer as every shuffled RDD: a union of two serializers takes an extra pass through Python.
        """
        pairs = self.spark.parallelize([(p, "") for p in range(self.partitions)], self.partitions)
        return pairs.partitionBy(self.partitions, tasks.identity).persist()

    # A store of a search.

    @property
    def count(self) -> int:
        return self.ledger.count

    @property
    def newest_level(self) -> tuple[int, int]:
        return self._levels[-1] if self._levels else (0, 0)

    @property
    def context(self) -> Array:
        return self._counters

    @property
    def digest(self) -> Array:
        return self._digest

    def add(self, states: Sequence[Packed]) -> None:
        raise AssertionError("a search finds its initial states before it goes on in a cluster")

    def start_level(self, level: int) -> None:
        self._levels.append((self.newest_level[1], self.count))

    def goes_on_from(self, ends: Sequence[int], counters: Array) -> None:
        """Takes the ends of the levels that were expanded elsewhere, and what was counted there."""
        self._levels = list(zip([0, *ends], ends, strict=False))
        self._counters[:] = counters[: len(self._counters)]

    def expand_level(self, paused: Callable[[], bool]) -> bool:
        """Expands the frontier and checks what is found."""
        try:
            self.reports = self._complete(paused)
        except JobCancelled:
            return False
        self.ledger.accept([report.found for report in self.reports], [report.digest for report in self.reports])
        self._digest[:] = self.ledger.digest()
        self.frontier = frontier(tasks.code_of(self.run), self.reports)
        self.shuffled += sum(report.received for report in self.reports)
        parts: list[MergeReport | ExpandedPart] = [*self.reports, *self.expansions]
        for part in parts:
            self._counters += np.frombuffer(part.context, dtype=np.uint64)
            self._note(part.noted)
        self.memory = sum(report.size for report in self.reports)
        return True

    def check_level(self) -> None:
        """Does nothing: the level's states were checked when they were found."""

    def noted(self, place: int) -> Packed | None:
        return self._noted.pop(place, None)

    def parent_in(self, level: int, target: Packed) -> Packed | None:
        found = self._of_all(lambda accepted: partial(tasks.parent, self.run, accepted, level, target))
        return min(found, default=None)

    def _note(self, noted: dict[int, Packed]) -> None:
        for place, state in noted.items():
            known = self._noted.get(place)
            self._noted[place] = state if known is None else min(known, state)

    @property
    def progress(self) -> ClusterProgress:  # type: ignore[override]
        counts = TaskCounts() if self._watch is None else self._watch.counts
        states = [int(self.ledger.rows[self.ledger.levels - 1, p, END]) for p in range(self.partitions)]
        disks: dict[str, DiskUse] = {}
        for report in self.reports:
            known = disks.get(report.disk, DiskUse(0, report.free))
            disks[report.disk] = DiskUse(known.used + report.size, min(known.free, report.free))
        return ClusterProgress(
            counts.tasks, counts.done, counts.failed, self.partitions, _skew(states),
            _skew([report.seconds for report in self.reports]), disks,
        )  # fmt: skip

    # Levels.

    def _complete(self, paused: Callable[[], bool]) -> list[MergeReport]:
        """The reports of a level on which no partition was lost, one for each partition, in order."""
        why = ""
        for attempt in range(RETRIES):
            accepted = self.ledger.upto(patience=2**attempt)
            level = LevelInput(len(self._levels), accepted, *self.wanted, self.deadlock)
            reports = sorted(self._next_level(level, paused), key=lambda report: report.partition)
            whys = [report.lost for report in reports if report.lost]
            if not whys and [report.partition for report in reports] == list(range(self.partitions)):
                return reports
            why = (whys or ["a report is missing"])[0]
            self._recover()
        raise too_often(why)

    def _of_all(self, task: Callable[[AcceptedLevels], Callable[[int], Iterator[Any]]]) -> list[Any]:
        """The results of a task on accepted levels for each partition, when none was lost."""
        why = ""
        for attempt in range(RETRIES):
            found = self._collect(self._everywhere(task(self.ledger.upto(patience=2**attempt))))
            absent = [each for each in found if isinstance(each, MissingPartition)]
            if not absent:
                return found
            why = absent[0].why
            self._recover()
        raise too_often(why)

    def _next_level(self, level: LevelInput, paused: Callable[[], bool]) -> list[MergeReport]:
        """The reports of a level, whose first stage the driver does if it has the states."""
        sent = None if self.frontier is None else self.frontier.sent(self.run, level)
        if sent is None:
            reports = self._level(level, paused)
            self.expansions = [report.expanded for report in reports if report.expanded is not None]
            return reports
        payloads, expansion = sent
        self.expansions = [expansion]
        task = partial(tasks.merge, self.run, replace(level, senders=1))
        return self._collect(self._carried(payloads, task), paused)

    def _level(self, level: LevelInput, paused: Callable[[], bool] | None = None) -> list[MergeReport]:
        successors = self._everywhere(partial(tasks.expand, self.run, level))
        return self._collect(self._arriving(successors, partial(tasks.merge, self.run, level)), paused)

    def _everywhere(self, task: Callable[[int], Iterator[Any]]) -> RDD[Any]:
        """A task for each partition, where the partition lives."""
        return self.home.mapPartitionsWithIndex(partial(tasks.alone, task))

    def _arriving(self, records: RDD[Any], task: Callable[[int, Iterable[Any]], Iterator[Any]]) -> RDD[Any]:
        """A task for each partition, where it lives, over the records sent to it."""
        return self.spark.union([self.home, self._sent(records)]).mapPartitionsWithIndex(task)

    def _carried(
        self, payloads: Mapping[int, Sequence[Any]], task: Callable[[int, Iterable[Any]], Iterator[Any]]
    ) -> RDD[Any]:
        """A task for each partition, where it lives, over what comes along with it."""
        return self._everywhere(partial(tasks.carrying, task, payloads))

    def _sent(self, records: RDD[Any]) -> RDD[Any]:
        """Does what ``RDD.partitionBy`` does, which gathers dozens of records, megabytes each, before it sends any."""
        from pyspark import RDD
        from pyspark.serializers import BatchedSerializer

        keyed = records.mapPartitions(tasks.addressed)
        keyed._bypass_serializer = True  # type: ignore[attr-defined]
        jvm: Any = self.spark._jvm
        partitioner = jvm.PythonPartitioner(self.partitions, id(tasks.identity))
        pairs = jvm.PairwiseRDD(keyed._jrdd.rdd()).asJavaPairRDD().partitionBy(partitioner)
        batches: Any = BatchedSerializer  # its constructor has no types
        return RDD(jvm.PythonRDD.valueOfPair(pairs), self.spark, batches(self.spark._unbatched_serializer))

    def _recover(self) -> None:
        """After a loss: gives each partition what was accepted, and one place where it lives."""
        if not self._repair():
            self._settle()

    def _settle(self) -> None:
        """Makes Spark forget where partitions are. It may know two places for one, and use the one with old files while
        it asks the other what files there are."""
        self.home.unpersist(blocking=True)
        self._release(self.home)
        self.home = self._home()

    def _repair(self) -> bool:
        """Recomputes what partitions lack from the others, a level at a time, until each has what was accepted.

        False when nothing was missing.
        """
        self.repaired += 1
        for attempt in range(RETRIES * (self.ledger.levels + 1)):
            seals = self._collect(self._everywhere(partial(tasks.have, self.run)))
            have = {p: self.ledger.known(p, found) for p, found in seals}
            lacked = attempt > 0
            while min(have.values()) < self.ledger.levels:
                least = min(have.values())
                behind = frozenset(p for p, known in have.items() if known == least)
                if not (self._again(least, behind) if least else self._seed_initial(behind)):
                    self._settle()
                    break
                have |= dict.fromkeys(behind, least + 1)
                lacked = True
            else:
                return lacked
        raise too_often("a repair does not end")

    def _again(self, number: int, partitions: frozenset[int]) -> bool:
        """Recomputes an accepted level for some partitions; False when one was lost. Raises JobFailed."""
        level = LevelInput(number, self.ledger.upto(number, patience=1), 0, 0, False, partitions)
        reports = self._level(level)
        if any(report.lost for report in reports) or {report.partition for report in reports} != partitions:
            return False
        for report in reports:
            if not self.ledger.agrees(report.partition, number, report.found, report.digest):
                raise JobFailed(
                    f"level {number} of partition {report.partition}, computed again in {report.disk}, had other "
                    "states than before: files were changed or a machine is faulty, and neither result can be relied "
                    "on; run again"
                )
        return True

    # Seeding.

    def _seed_initial(self, partitions: frozenset[int]) -> bool:
        """Gives some partitions their initial states; False when one was lost."""
        token = _token()
        parts = states_by_partition(self.initial, self.words, self.partitions)
        self._put(token, [(p, (0, parts[p][0].tobytes())) for p in partitions if len(parts[p][0])])
        return self._adopt(token, partitions, 1)

    def seed(self, levels: Iterable[Iterable[Array]]) -> None:
        """Gives all partitions their share of states found elsewhere, level by level, in pieces."""
        records: list[tuple[int, tuple[int, bytes]]] = []
        waiting = 0
        token = _token()
        for pieces in levels:
            counts = [0] * self.partitions
            sums = [[0, 0] for _ in range(self.partitions)]
            before = [int(self.ledger.of(p)[-1, 0]) if self.ledger.levels else 0 for p in range(self.partitions)]
            for part in pieces:
                for p, (mine, digest) in enumerate(states_by_partition(part, self.words, self.partitions)):
                    if len(mine):
                        records.append((p, (before[p] + counts[p], mine.tobytes())))
                        counts[p] += len(mine)
                        sums[p] = [(a + b) & native_loops.ALL_ONES for a, b in zip(sums[p], digest, strict=True)]
                waiting += len(part) * 8
                if waiting > self.seed_bytes:
                    self._put(token, records)
                    records, waiting = [], 0
            self.ledger.accept(counts, sums)
        self._put(token, records)
        self._digest[:] = self.ledger.digest()
        if not self._adopt(token, frozenset(range(self.partitions)), self.ledger.levels):
            self._repair()

    def restore(self, ledger: Ledger, parts: Iterable[tuple[Callable[[str], list[SeedResult]], range]]) -> int:
        """Gives all partitions states from elsewhere: for some levels at a time, a function that puts them there.
        Returns how many levels they have then: those before the first that differs from what the ledger says, or cannot
        be read. Raises JobFailed when a partition is lost meanwhile."""
        token = _token()
        levels = 0
        for put, wanted in parts:
            if not self._put_intact(token, put, ledger, wanted):
                break
            levels = wanted.stop
        if levels:
            self.ledger = ledger.first(levels)
            if not self._adopt(token, frozenset(range(self.partitions)), levels):
                self._settle()
                raise JobFailed("a partition was lost while it was given its states")
            self._digest[:] = self.ledger.digest()
        return levels

    def _put_intact(self, token: str, put: Callable[[str], list[SeedResult]], ledger: Ledger, wanted: range) -> bool:
        """Gives partitions states of some levels; False when they are not those of the ledger."""
        for _ in range(READINGS):
            try:
                if ledger.intact(wanted, put(token)):
                    return True
            except Exception as error:  # Hadoop, Spark or pickle may raise anything for a damaged file
                if isinstance(error, WorkersUnavailable) or tells_of_full_disk(str(error)) or java_has_ended():
                    raise
        return False

    def take_over(self, other: Cluster) -> None:
        """Takes over the accepted levels of a cluster with another number of partitions. Raises JobFailed."""
        self.seed([[self.initial]])
        reports: list[MergeReport] = []
        for number in range(1, other.ledger.levels):
            reports = self._handed_over(other, number)
            self.ledger.accept([report.found for report in reports], [report.digest for report in reports])
        if self.ledger.widths() != other.ledger.widths() or (self.ledger.digest() != other.ledger.digest()).any():
            raise JobFailed("states changed on the way from one number of partitions to another; run again")
        self._digest[:], self._counters[:] = other.digest, other.context
        self._levels, self.shuffled = other._levels, other.shuffled + sum(report.received for report in reports)
        self.memory, self.repaired = sum(report.size for report in reports), self.repaired + other.repaired

    def _handed_over(self, other: Cluster, number: int) -> list[MergeReport]:
        """The reports on a level that another cluster's partitions send."""
        why = ""
        for attempt in range(RETRIES):
            theirs, mine = (each.ledger.upto(patience=2**attempt) for each in (other, self))
            level = LevelInput(number, mine, 0, 0, False, senders=other.partitions)
            sent = other._everywhere(partial(tasks.hand_over, other.run, theirs, number, self.partitions))
            found = self._collect(self._arriving(sent, partial(tasks.merge, self.run, level)))
            reports = sorted(found, key=lambda report: report.partition)
            whys = [report.lost for report in reports if report.lost]
            if not whys and [report.partition for report in reports] == list(range(self.partitions)):
                return reports
            why = (whys or ["a report is missing"])[0]
            other._recover()
            self._recover()
        raise too_often(why)

    def _put(self, token: str, records: list[tuple[int, tuple[int, bytes]]]) -> None:
        if records:
            slices = min(len(records), 4 * self.partitions)
            self.put_from(self.spark.parallelize(records, slices), token)

    def put_from(self, records: RDD[Any], token: str) -> list[SeedResult]:
        """Gives partitions states: records of (partition, (position, bytes))."""
        return self._collect(self._arriving(records, partial(tasks.seed, self.run, token)))

    def put_from_objects(
        self, url: str, objects: Sequence[StoredObject], ledger: Ledger, token: str
    ) -> list[SeedResult]:
        """Gives partitions the states in objects, levels of a ledger."""
        ends = {p: ledger.of(p)[:, END].copy() for p in range(self.partitions)}
        task = partial(object_tasks.seed_from_objects, self.run, token, url, objects, ends)
        return self._collect(self._everywhere(task))

    def _adopt(self, token: str, partitions: frozenset[int], levels: int) -> bool:
        """Turns the seeded states into the partitions' first levels; False when they differ from the ledger."""
        rows = {p: self.ledger.of(p)[:levels] for p in partitions}
        sizes = self._collect(self._everywhere(partial(tasks.adopt, self.run, token, rows)))
        if len(sizes) != len(partitions) or any(isinstance(size, MissingPartition) for size in sizes):
            return False
        self.memory = max(self.memory, sum(sizes))
        return True

    # The rest.

    def clean_up_after_others(self, replaced: Collection[tuple[str, str]]) -> None:
        """Removes what killed searches have left on the machines of this one, and what the drivers have whose
        checkpoints it took over, by host and process."""
        self._collect(self._everywhere(partial(leftovers.remove, self.run, replaced)))

    def verify(self) -> None:
        """Reads everything that the partitions have and compares it with what was accepted. Raises JobFailed."""
        found = self._of_all(lambda accepted: partial(tasks.verify, self.run, accepted))
        if sum(found) != self.ledger.count or (self._digest != self.ledger.digest()).any():
            raise JobFailed("the partitions do not add up to what was found; run again")

    def codes(self) -> dict[str, Array]:
        """The codes that each variable takes, in ascending order; rows of words if it is wider than one."""
        slots = self.interface.layout.slots
        known = self._of_all(lambda accepted: partial(tasks.values, self.run, accepted, dict(slots)))
        return {
            name: np.unique(np.concatenate([each[name] for each in known]), axis=0 if slot.bits > 64 else None)
            for name, slot in slots.items()
        }

    def values_seen(self, budget: MemoryBudget) -> dict[str, int]:
        codes = self.codes()
        return {name: len(codes[name]) for name in self.interface.layout.variables}

    def confirm_symmetry(self, kernel: Kernel, stopped: bool) -> None:
        """Compares states here. The workers run the code of this kernel, which is made from the same parts of the
        program and the same symmetry proof, so what it does here they do as well."""
        if not stopped:
            confirm_states(kernel, self.sample(COMPARED, READ))

    def sample(self, most: int, read: int) -> Array:
        """Up to ``most`` states, from so few partitions that little more than ``read`` states are read. Which partition
        a state is in depends on its fingerprint, so those of a few partitions are an even selection."""
        parts = max(1, min(self.partitions, -(-read * self.partitions // max(1, self.count))))
        found = self._of_all(lambda accepted: partial(tasks.sampled, self.run, accepted, parts, -(-most // parts)))
        return np.concatenate([np.frombuffer(each, dtype=np.uint64).reshape(-1, self.words) for each in found])

    def all_pieces(self) -> RDD[Any]:
        """All states, as records (level, bytes)."""
        return self._everywhere(partial(tasks.all_pieces, self.run, self.ledger.upto()))

    def pieces(self) -> Iterator[Array]:
        """All states, rows of words, fetched to this machine a level at a time. Raises JobFailed."""
        for level in range(self.ledger.upto().levels):
            fetched: list[Any] = []

            def fetch(number: int = level, into: list[Any] = fetched) -> None:
                into[:] = self.level_pieces(number).collect()

            self.whole(fetch)
            for _, _, states in fetched:
                yield np.frombuffer(states, dtype=np.uint64).reshape(-1, self.words)

    def level_pieces(self, level: int) -> RDD[Any]:
        """The states of a level as records (partition, position, bytes)."""
        return self._everywhere(partial(tasks.pieces, self.run, self.ledger.upto(), level))

    def save(self, rdd: RDD[Any], url: str) -> None:
        """Writes records to a folder of any file system that Spark reaches."""

        def write() -> None:
            SparkFolder(self.spark, url).remove("")
            rdd.saveAsPickleFile(url, 1)

        self.whole(write)

    def save_objects(self, levels: range, url: str) -> list[StoredObject]:
        """Writes levels to a folder of an object store; returns the objects that have them."""
        return self._of_all(
            lambda accepted: partial(object_tasks.write_objects, self.run, accepted, (levels.start, levels.stop), url)
        )

    def whole(self, write: Callable[[], T]) -> T:
        """Writes states, again if a partition was lost meanwhile. Raises JobFailed."""

        def written() -> list[T]:
            """Nothing if a partition was lost."""
            try:
                return [write()]
            except Exception as error:
                if _LOST not in str(error):
                    raise
                return []

        for _ in range(RETRIES):
            for result in self._job(written):
                return result
            self._recover()
        raise too_often("while states were written")

    def close(self) -> None:
        """Removes the files."""
        with contextlib.suppress(Exception):
            self._collect(self._everywhere(partial(tasks.clean, self.run)))
            self.home.unpersist()
            self._release(self.home)
            self.code.destroy()
        for _ in tasks.clean(self.run, 0):
            pass
        for mark in filter(None, self._held):
            mark.close()

    def _collect(self, rdd: RDD[Any], paused: Callable[[], bool] | None = None) -> list[Any]:
        try:
            return self._job(rdd.collect, paused)
        finally:
            self._release(rdd)

    def _job(self, run: Callable[[], T], paused: Callable[[], bool] | None = None) -> T:
        """The result of a Spark job. Raises JobFailed, JobCancelled."""
        with watching_jobs(self.spark, paused, self.tell, self.limit) as watch:
            self._watch = watch
            self.spark.setJobGroup(watch.group, "floodmark", interruptOnCancel=False)
            return run()

    def _release(self, rdd: RDD[Any]) -> None:
        """Removes what a job has shuffled. Otherwise Spark does so only when it collects garbage in the driver."""
        with contextlib.suppress(Exception):
            rdd._jrdd.rdd().cleanShuffleDependencies(False)


def _skew(figures: Sequence[float]) -> float:
    """The largest of some figures as a multiple of their mean."""
    return max(figures) * len(figures) / sum(figures) if sum(figures) > 0 else 1.0


def _address(context: SparkContext) -> Address | None:
    """Where the driver's Spark accepts executors."""
    host, port = (context.getConf().get(f"spark.driver.{name}") for name in ("host", "port"))
    return Address(host, int(port), str(context.applicationId)) if host and port else None


def _token() -> str:
    return uuid.uuid4().hex[:12]


def too_often(why: str) -> JobFailed:
    return JobFailed(f"partitions are lost as fast as they are recomputed; the last loss: {why}")
