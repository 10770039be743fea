"""The tasks on the workers. Records are (partition, bytes of packed states) or (partition, report), never one state.

A level is two stages. *Expand* runs the model's machine code over the partition's part of the frontier and sorts the
successors by the partition that owns them; a filter of recently seen states drops most duplicates. Spark's shuffle
carries them. *Merge* adds the new ones to the partition's files, checks the properties on them and reports. The results
of expanding travel through the shuffle too, as a report to the partition's own merge, so that a task that Spark runs
twice counts once.

A merge trusts what arrives only when every expansion has told it how much it sent, and the sum of its words: an
expansion that Spark ran again may have found its partition gone, long after other merges took what the first attempt
sent. Each task receives the counts and digests that the driver accepted for its partition, and reports the partition as
lost if its files hold anything else.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import shutil
import socket
import tempfile
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from floodmark.checkers.kernel import loops as native_loops
from floodmark.checkers.kernel.partitioned import (
    COUNTS,
    FILTER,
    FILTER_BITS,
    FULLEST,
    OUTBOXES,
    OWNERS,
    ROOM,
    ROUTE_FIELDS,
    empty_filter,
)
from floodmark.checkers.search.statistics import DistinctCodes, column, first_rows
from floodmark.checkers.spark.code_transfer import KernelCode, LoadedKernel
from floodmark.checkers.spark.driver_marks import Address, hold
from floodmark.checkers.spark.ledger import AcceptedLevels, Array
from floodmark.checkers.spark.reader import Packed, StateReader
from floodmark.checkers.spark.shard import PartitionLost, Shard, states_by_partition

if TYPE_CHECKING:
    from pyspark import Broadcast

OUTBOX_BYTES = 4 << 20
"""States are shuffled in pieces of at most about this size."""
MAX_FILTER_BITS = 22
MAX_KEPT_SEARCHES = 2
"""Searches whose code and open files a Python worker keeps."""

Record = tuple[int, Any]


@dataclass(frozen=True, slots=True)
class SearchContext:
    """One search, as its tasks see it. ``folder`` is in the scratch folders of whatever machine they run on, where
    none are set in ``scratch``; ``buffers`` are the bytes that a task may use for outboxes and its filter; a merge
    sends the driver the states of a level that take at most ``narrow`` bytes. ``driver`` is the address at which
    executors reach the driver."""

    folder: str
    scratch: str | None
    partitions: int
    code: Broadcast[KernelCode]
    buffers: int
    narrow: int
    driver: Address | None


@dataclass(frozen=True, slots=True)
class LevelInput:
    """The input of a level's tasks. ``accepted`` are the levels before it; ``only`` are the partitions to compute,
    None for all. ``senders`` says how many send what the partitions get, and no reports: the driver, which has expanded
    the level before for all of them, or the partitions of another cluster; None means the expansions."""

    number: int
    accepted: AcceptedLevels
    invariants: int
    reachable: int
    deadlock: bool
    only: frozenset[int] | None = None
    senders: int | None = None


@dataclass(slots=True)
class ExpandedPart:
    """The result of expanding a partition's part of the frontier."""

    partition: int
    context: bytes = b""
    noted: dict[int, Packed] = field(default_factory=dict)
    sent: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class SealedReport:
    """A report in the shuffle, which stores it on a disk."""

    content: bytes
    sum: int

    def opened(self) -> ExpandedPart:
        """Raises PartitionLost if it is not what was sent."""
        if zlib.crc32(self.content) != self.sum:
            raise PartitionLost("a report was damaged on its way")
        report: ExpandedPart = pickle.loads(self.content)
        return report


def seal_report(report: ExpandedPart) -> SealedReport:
    content = pickle.dumps(report, pickle.HIGHEST_PROTOCOL)
    return SealedReport(content, zlib.crc32(content))


WEIGHTS = np.random.default_rng(1).integers(0, 1 << 64, 1 << 16, dtype=np.uint64) | np.uint64(1)
"""Odd, so that a word that changes changes the sum; different, so that words that change places do. If the highest bits
of two words change, the differences cancel each other out, so a cyclic redundancy check is added."""


@dataclass(slots=True)
class Checksum:
    """The number of words that were sent to a receiver, and the sum of their pieces: every word must arrive unchanged,
    in its place in its piece. Pieces may arrive in any order."""

    words: int = 0
    total: int = 0

    def add(self, piece: Array) -> None:
        total = 0
        for at in range(0, len(piece), len(WEIGHTS)):
            some = piece[at : at + len(WEIGHTS)]
            total = total * int(WEIGHTS[0]) + int(np.dot(some, WEIGHTS[: len(some)]))
        self.add_sum(Checksum(len(piece), total + (zlib.crc32(piece.data) << 32)))

    def add_sum(self, other: Checksum) -> None:
        self.words += other.words
        self.total = (self.total + other.total) & native_loops.ALL_ONES


@dataclass(frozen=True, slots=True)
class EndOfExpansion:
    """Tells a merge that an expansion has sent everything, with its totals; or that its partition is lost."""

    partition: int
    lost: bool
    sent: Checksum


@dataclass(slots=True)
class MergeReport:
    """The content of a partition after a level, with the states if they are few. ``lost`` says why there is none.
    ``place`` and ``disk`` say where it is, and ``free`` are the bytes that the disk has left."""

    partition: int
    lost: str = ""
    found: int = 0
    digest: tuple[int, int] = (0, 0)
    context: bytes = b""
    noted: dict[int, Packed] = field(default_factory=dict)
    size: int = 0
    received: int = 0
    seconds: float = 0.0
    place: str = ""
    disk: str = ""
    free: int = 0
    expanded: ExpandedPart | None = None
    states: bytes | None = None


@dataclass(frozen=True, slots=True)
class SeedResult:
    """States that were given to a partition, from a position on."""

    partition: int
    position: int
    count: int
    digest: tuple[int, int]


@dataclass(frozen=True, slots=True)
class MissingPartition:
    """The answer when a partition's files are not what the driver accepted."""

    partition: int
    why: str


class _Process:
    """The state of one search in this Python worker, kept for its next task."""

    def __init__(self, run: SearchContext) -> None:
        self.code: LoadedKernel = run.code.value.load()
        self.shards: dict[int, Shard] = {}
        self.held: dict[Path, IO[bytes] | None] = {}
        self.filter_words = np.zeros(0, dtype=np.uint64)
        gc.freeze()  # PySpark collects garbage after each task; modules and machine code are not garbage


_PROCESSES: OrderedDict[str, _Process] = OrderedDict()


def scratch_folders(run: SearchContext) -> list[Path]:
    """The folders of this user's searches on this machine, one on each given disk."""
    return local_folders(run.scratch)


def local_folders(scratch: str | None, named: bool = False) -> list[Path]:
    """The folders of this user's searches on this machine. ``scratch`` is Spark's setting ``spark.local.dir``; what the
    environment says comes first, unless a user has ``named`` them.

    Spark tells its Python workers the folders of their executor, whichever setting they are from. Those vanish with it;
    the folders that it made them in do not.
    """
    names = ("FLOODMARK_LOCAL_DIR", "SPARK_LOCAL_DIRS")
    given = None if named else next(filter(None, map(os.environ.get, names)), None)
    given = given or scratch or tempfile.gettempdir()
    folders = {_of_all_executors(Path(name.strip())) for name in given.split(",") if name.strip()}
    return [folder / f"floodmark-shards-{os.getuid()}" for folder in sorted(folders)]


def _of_all_executors(folder: Path) -> Path:
    """The folder in which Spark has made one for an executor."""
    if folder.name.startswith("blockmgr-"):
        folder = folder.parent
    if folder.name.startswith("executor-") and folder.parent.name.startswith("spark-"):
        folder = folder.parent.parent
    return folder


def scratch_folder(run: SearchContext, partition: int = 0) -> Path:
    """The folder of a partition of a search on this machine: partitions are spread over its folders."""
    folders = scratch_folders(run)
    return folders[partition % len(folders)] / run.folder


def shard_of(run: SearchContext, partition: int) -> Shard:
    """A partition's files, open in this process."""
    process = _process(run)
    if partition not in process.shards:
        folder = scratch_folder(run, partition)
        if folder not in process.held:
            process.held[folder] = hold(folder, run.driver)
        process.shards[partition] = Shard(folder / f"{partition:05}", process.code)
    return process.shards[partition]


def code_of(run: SearchContext) -> LoadedKernel:
    """A search's functions in this process."""
    code: LoadedKernel = _process(run).code
    return code


def _process(run: SearchContext) -> _Process:
    if run.folder not in _PROCESSES:
        _PROCESSES[run.folder] = _Process(run)
        while len(_PROCESSES) > MAX_KEPT_SEARCHES:
            _PROCESSES.popitem(last=False)
    _PROCESSES.move_to_end(run.folder)
    return _PROCESSES[run.folder]


def identity(partition: int) -> int:
    """Spark's partitioner: a record's key is its partition."""
    return partition


def addressed(records: Iterable[Record]) -> Iterator[bytes]:
    """Each record as Spark's shuffle takes it from Python: its partition, then a batch of one record."""
    for record in records:
        yield record[0].to_bytes(8)
        yield pickle.dumps([record], pickle.HIGHEST_PROTOCOL)


def alone(task: Callable[[int], Iterator[Any]], partition: int, records: Iterable[Any]) -> Iterator[Any]:
    """Runs a task that needs no records, but reads them: a Python worker that leaves some unread is not reused."""
    for _ in records:
        pass
    yield from task(partition)


def carrying(
    task: Callable[[int, Iterable[Record]], Iterator[Any]], payloads: Mapping[int, Sequence[Any]], partition: int
) -> Iterator[Any]:
    """Runs a task over records that came along with it."""
    return task(partition, ((partition, payload) for payload in payloads[partition]))


@contextlib.contextmanager
def holding_files(accepted: AcceptedLevels, files: contextlib.AbstractContextManager[None]) -> Iterator[None]:
    """A partition's files, while a task needs them. Raises PartitionLost, in a second attempt only after a wait."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(files)
        except PartitionLost:
            _be_patient(accepted)
            raise
        yield


def reading(shard: Shard, accepted: AcceptedLevels, partition: int) -> contextlib.AbstractContextManager[None]:
    return holding_files(accepted, shard.reading(accepted.levels, accepted.seal(partition)))


def _be_patient(accepted: AcceptedLevels) -> None:
    """Gives the first attempt at this task, on the partition's machine, time to finish before this one."""
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is not None and context.attemptNumber() > 0:
        time.sleep(accepted.patience)


# Seeding.


def seed(run: SearchContext, token: str, partition: int, records: Iterable[Record]) -> Iterator[SeedResult]:
    """Writes states that are already known, each record (position, bytes); says what it was given."""
    shard = shard_of(run, partition)
    reader = StateReader(shard.code)
    for _, payload in records:
        if isinstance(payload, tuple):
            position, states = payload
            reader.begin()
            reader.copy(np.frombuffer(states, dtype=np.uint64))
            shard.put(token, position, states)
            yield SeedResult(partition, position, len(states) // (8 * shard.words), reader.digest)


def adopt(run: SearchContext, token: str, rows: dict[int, Array], partition: int) -> Iterator[int | MissingPartition]:
    """Turns the seeded states into the partition's levels, unless it has them; returns the bytes they take."""
    if partition not in rows:
        return
    shard = shard_of(run, partition)
    try:
        shard.adopt(token, rows[partition])
    except PartitionLost as lost:
        yield MissingPartition(partition, str(lost))
    else:
        yield shard.size


# A level.


def expand(run: SearchContext, level: LevelInput, partition: int) -> Iterator[Record]:
    """Sends successors of the partition's part of a level to their owners, and a report to its own merge last."""
    started = time.perf_counter()
    shard = shard_of(run, partition)
    report = ExpandedPart(partition)
    sent = [Checksum() for _ in range(run.partitions)]
    is_lost = False
    try:
        with reading(shard, level.accepted, partition):
            reader, (start, stop) = StateReader(shard.code), shard.slice(level.number - 1)
            yield from routed(run, level, reader, shard.read(reader, level.number - 1), stop - start, report, sent)
            report.noted = reader.take_noted()
            report.context = reader.take_counters()
    except PartitionLost:
        is_lost = True
    report.seconds = time.perf_counter() - started
    for owner in range(run.partitions) if level.only is None else level.only:
        yield owner, EndOfExpansion(partition, is_lost, sent[owner])
    if level.only is None:
        yield partition, seal_report(report)


def routed(
    run: SearchContext, level: LevelInput, reader: StateReader, pieces: Iterable[
        int
    ], count: int, report: ExpandedPart, sent: list[Checksum]
) -> Iterator[tuple[int, bytes]]:
    """The successors of so many states that a reader holds piece by piece, each array with the partition that owns it;
    ``sent`` are the sums for each. What was yielded counts only when the last piece was read, which may raise."""
    words, owners = reader.words, run.partitions
    most = native_loops.BATCH + reader.code.code.most_successors
    room = max(min(OUTBOX_BYTES, run.buffers // 2 // owners) // (words * 8), most)
    boxes = np.zeros((owners, (room + most) * words), dtype=np.uint64)
    addresses = np.array([box.ctypes.data for box in boxes], dtype=np.uint64)
    counts = np.zeros(owners, dtype=np.uint64)
    route = np.zeros(ROUTE_FIELDS, dtype=np.uint64)
    fitting = (run.buffers // 2 // (words * 8)).bit_length() - 1
    bits = max(10, min(MAX_FILTER_BITS, fitting, count.bit_length() + 2))
    lately = _empty_filter(_process(run), bits, words)
    for where, value in {
        OUTBOXES: addresses.ctypes.data, COUNTS: counts.ctypes.data, ROOM: room, OWNERS: owners,
        FILTER: lately.ctypes.data, FILTER_BITS: bits,
    }.items():
        route[where] = value
    reader.fields[native_loops.DEADLOCK] = int(level.deadlock)
    reader.fields[native_loops.FALSE_WANTED] = level.invariants

    def drained(least: int) -> Iterator[tuple[int, bytes]]:
        for owner in np.nonzero(counts >= least)[0]:
            if level.only is None or int(owner) in level.only:
                piece = boxes[owner, : int(counts[owner]) * words]
                report.sent += piece.nbytes
                sent[owner].add(piece)
                yield int(owner), piece.tobytes()
            counts[owner] = 0
        route[FULLEST] = counts.max()

    for _ in pieces:
        at = 0
        while at < reader.count:
            at = reader.code.route(reader.fields.ctypes.data, route.ctypes.data, at, reader.count)
            yield from drained(room // 2)
    yield from drained(1)


def _empty_filter(process: _Process, bits: int, words: int) -> Any:
    """Cells filled so that none holds a state that belongs there: no unseen state is dropped."""
    size = words << bits
    if len(process.filter_words) < size:
        process.filter_words = np.zeros(size, dtype=np.uint64)
    cells = process.filter_words[:size]
    empty_filter(cells, bits, words)
    return cells


def merge(run: SearchContext, level: LevelInput, partition: int, records: Iterable[Record]) -> Iterator[MergeReport]:
    """Adds what arrives to the partition, checks what is new, and reports."""
    if level.only is not None and partition not in level.only:
        for _ in records:
            pass
        return
    started = time.perf_counter()
    shard = shard_of(run, partition)
    report = MergeReport(partition, place=f"{socket.gethostname()}:{os.getpid()}")
    try:
        with holding_files(level.accepted, shard.extending(level.accepted.levels, level.accepted.seal(partition))):
            first, reader = shard.count, StateReader(shard.code)
            _take(run, level, shard, records, report)
            shard.check(reader, first, level.invariants, level.reachable)
            report.found = shard.count - first
            report.digest = shard.digest
            report.noted = reader.take_noted()
            report.context = reader.take_counters()
            if report.found * shard.words * 8 <= run.narrow:
                report.states = shard.states(first, shard.count).tobytes()
    except PartitionLost as lost:
        report.lost = str(lost)
        for _ in records:
            pass
    report.size = shard.size
    report.disk, report.free = _disk_of(shard.folder)
    report.seconds = time.perf_counter() - started
    yield report


def _disk_of(folder: Path) -> tuple[str, int]:
    """The name of the disk of a partition's folder, and its free bytes; 0 if the folder was removed."""
    scratch = folder.parent.parent
    with contextlib.suppress(OSError):
        return f"{socket.gethostname()}:{scratch.parent}", shutil.disk_usage(scratch).free
    return f"{socket.gethostname()}:{scratch.parent}", 0


def _take(run: SearchContext, level: LevelInput, shard: Shard, records: Iterable[Record], report: MergeReport) -> None:
    """Adds what arrives. Raises PartitionLost unless it is everything that every expansion sent."""
    here, checksum = Checksum(), Checksum()
    ended = set()
    for _, payload in records:
        if isinstance(payload, bytes):
            states = np.frombuffer(payload, dtype=np.uint64)
            here.add(states)
            report.received += len(payload)
            shard.insert(states)
        elif isinstance(payload, SealedReport):
            report.expanded = payload.opened()
        elif isinstance(payload, EndOfExpansion):
            if payload.lost:
                raise PartitionLost(f"partition {payload.partition} could not be expanded")
            ended.add(payload.partition)
            checksum.add_sum(payload.sent)
    senders = run.partitions if level.senders is None else level.senders
    has_report = level.only is None and level.senders is None
    if len(ended) < senders or here != checksum or has_report != (report.expanded is not None):
        raise PartitionLost("what arrived is not what was sent")


def hand_over(
    run: SearchContext, accepted: AcceptedLevels, level: int, owners: int, partition: int
) -> Iterator[Record]:
    """Sends the states of the partition's part of a level to the partitions of another cluster, which has ``owners``
    of them."""
    shard = shard_of(run, partition)
    sent = [Checksum() for _ in range(owners)]
    is_lost = False
    try:
        with reading(shard, accepted, partition):
            reader = StateReader(shard.code)
            for _ in shard.read(reader, level, OUTBOX_BYTES):
                for owner, (mine, _) in enumerate(states_by_partition(reader.states, shard.words, owners)):
                    if len(mine):
                        sent[owner].add(mine.reshape(-1))
                        yield owner, mine.tobytes()
    except PartitionLost:
        is_lost = True
    for owner in range(owners):
        yield owner, EndOfExpansion(partition, is_lost, sent[owner])


# Looking back, and the end.


def have(run: SearchContext, partition: int) -> Iterator[tuple[int, bytes]]:
    """The seals of the levels that the partition's files hold."""
    yield partition, shard_of(run, partition).seals()


def parent(
    run: SearchContext, accepted: AcceptedLevels, level: int, target: Packed, partition: int
) -> Iterator[Packed | MissingPartition]:
    """The smallest state of the partition's part of a level that leads to ``target``."""
    shard = shard_of(run, partition)
    try:
        with reading(shard, accepted, partition):
            reader = StateReader(shard.code)
            for _ in shard.read(reader, level):
                reader.find_parents(target)
            found = reader.take_noted().get(native_loops.BEST_PARENT)
            if found is not None:
                yield found
    except PartitionLost as lost:
        yield MissingPartition(partition, str(lost))


def pieces(
    run: SearchContext, accepted: AcceptedLevels, level: int, partition: int
) -> Iterator[tuple[int, int, bytes]]:
    """The states of the partition's part of a level: (partition, position, bytes). Raises PartitionLost."""
    shard = shard_of(run, partition)
    reader = StateReader(shard.code)
    with reading(shard, accepted, partition):
        for at in shard.read(reader, level, OUTBOX_BYTES):
            yield partition, at, reader.states.tobytes()


def verify(run: SearchContext, accepted: AcceptedLevels, partition: int) -> Iterator[int | MissingPartition]:
    """Reads everything that the partition has; returns the number of states."""
    shard = shard_of(run, partition)
    try:
        shard.verify(accepted.levels, accepted.seal(partition))
        yield shard.count
    except PartitionLost as lost:
        _be_patient(accepted)
        yield MissingPartition(partition, str(lost))


def values(
    run: SearchContext, accepted: AcceptedLevels, slots: dict[str, Any], partition: int
) -> Iterator[dict[str, Any] | MissingPartition]:
    """The values that each variable has in the partition, as an array of its distinct codes."""
    shard = shard_of(run, partition)
    try:
        with reading(shard, accepted, partition):
            reader, found = StateReader(shard.code), {name: DistinctCodes() for name in slots}

            def add() -> None:
                rows = reader.states.reshape(-1, shard.words)
                for name, slot in slots.items():
                    found[name].add(column(rows, slot))

            add()  # a partition may have no states
            for level in range(accepted.levels):
                for _ in shard.read(reader, level, OUTBOX_BYTES):
                    add()
            yield {name: each.codes() for name, each in found.items()}
    except PartitionLost as lost:
        yield MissingPartition(partition, str(lost))


def sampled(
    run: SearchContext, accepted: AcceptedLevels, parts: int, most: int, partition: int
) -> Iterator[bytes | MissingPartition]:
    """Up to ``most`` states of the partition, chosen by what they are, if it is one of the first ``parts``."""
    if partition >= parts:
        return
    shard = shard_of(run, partition)
    try:
        with reading(shard, accepted, partition):
            reader, chosen = StateReader(shard.code), np.zeros((0, shard.words), dtype=np.uint64)
            for level in range(accepted.levels):
                for _ in shard.read(reader, level, OUTBOX_BYTES):
                    chosen = first_rows(np.concatenate([chosen, reader.states.reshape(-1, shard.words)]), most)
            yield chosen.tobytes()
    except PartitionLost as lost:
        yield MissingPartition(partition, str(lost))


def all_pieces(run: SearchContext, accepted: AcceptedLevels, partition: int) -> Iterator[tuple[int, bytes]]:
    """All states of the partition: (level, counted from 1, and bytes). Raises PartitionLost."""
    for level in range(accepted.levels):
        for _, _, states in pieces(run, accepted, level, partition):
            yield level + 1, states


def clean(run: SearchContext, partition: int) -> Iterator[int]:
    """Removes the files of a search from this machine."""
    _PROCESSES.pop(run.folder, None)
    for folder in scratch_folders(run):
        shutil.rmtree(folder / run.folder, ignore_errors=True)
    yield partition
