"""What runs on the workers. Records are (partition, bytes of packed states) or (partition, report), never one state.

A level is two stages. *Expand* runs the model's machine code over the partition's part of the frontier and sorts the
successors by the partition that owns them; a filter of recently seen states drops most duplicates. Spark's shuffle
carries them. *Merge* adds the new ones to the partition's files, checks the properties on them and reports. The results
of expanding travel through the shuffle too, as a report to the partition's own merge, so that a task that Spark runs
twice counts once.

A merge trusts what arrives only when every expansion has told it how much it sent, and the sum of its words: an
expansion that Spark ran again may have found its partition gone, long after other merges took what the first attempt
sent. Each task is told what the driver accepted for its partition, and reports the partition as lost if its files hold
anything else.
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
from typing import TYPE_CHECKING, Any

import numpy as np

from floodmark.checkers.native import loops as native_loops
from floodmark.checkers.native.partitioned import (
    COUNTS,
    DROPPED,
    FILTER,
    FILTER_BITS,
    FULLEST,
    OUTBOXES,
    OWNERS,
    ROOM,
    ROUTE_FIELDS,
    empty_filter,
)
from floodmark.checkers.native.statistics import column
from floodmark.checkers.spark.code_transfer import Code, Loaded
from floodmark.checkers.spark.ledger import Accepted, Array
from floodmark.checkers.spark.shard import Lost, Packed, Shard

if TYPE_CHECKING:
    from pyspark import Broadcast

OUTBOX_BYTES = 4 << 20
"""States are shuffled in pieces of at most about this size."""
MOST_FILTER_BITS = 22
KEPT_RUNS = 2
"""Searches whose code and open files a Python worker keeps."""

Record = tuple[int, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """One search, as its tasks see it. ``folder`` is in the scratch folder of whatever machine they run on;
    ``buffers`` are the bytes that a task may use for outboxes and its filter; a merge sends the driver the states of a
    level that take at most ``narrow`` bytes."""

    folder: str
    scratch: str | None
    partitions: int
    code: Broadcast[Code]
    buffers: int
    narrow: int


@dataclass(frozen=True, slots=True)
class Level:
    """What a level's tasks need to know. ``accepted`` are the levels before it; ``only`` are the partitions to compute,
    None for all. ``by_driver`` says that the driver has expanded the level before, for all partitions."""

    number: int
    accepted: Accepted
    invariants: int
    reachable: int
    deadlock: bool
    only: frozenset[int] | None = None
    by_driver: bool = False


@dataclass(slots=True)
class Expanded:
    """The result of expanding a partition's part of the frontier."""

    partition: int
    context: bytes = b""
    noted: dict[int, Packed] = field(default_factory=dict)
    dropped: int = 0
    sent: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Sealed:
    """A report in the shuffle, which stores it on a disk."""

    content: bytes
    sum: int

    def opened(self) -> Expanded:
        """Raises Lost if it is not what was sent."""
        if zlib.crc32(self.content) != self.sum:
            raise Lost("a report was damaged on its way")
        report: Expanded = pickle.loads(self.content)
        return report


def sealed(report: Expanded) -> Sealed:
    content = pickle.dumps(report, pickle.HIGHEST_PROTOCOL)
    return Sealed(content, zlib.crc32(content))


@dataclass(slots=True)
class Sum:
    """How many words were sent somewhere, and their sum: every byte must arrive unchanged."""

    words: int = 0
    total: int = 0

    def add(self, states: Array) -> None:
        self.add_sum(Sum(len(states), int(states.sum(dtype=np.uint64))))

    def add_sum(self, other: Sum) -> None:
        self.words += other.words
        self.total = (self.total + other.total) & native_loops.EVERYTHING


@dataclass(frozen=True, slots=True)
class End:
    """Tells a merge that an expansion has sent everything, with its totals; or that its partition is lost."""

    partition: int
    lost: bool
    sent: Sum


@dataclass(slots=True)
class Merged:
    """What a partition has after a level, with the states if they are few. ``lost`` says why it does not have it."""

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
    expanded: Expanded | None = None
    states: bytes | None = None


@dataclass(frozen=True, slots=True)
class Absent:
    """The answer when a partition's files are not what the driver accepted."""

    partition: int
    why: str


class _Process:
    """What one search keeps in this Python worker for its next task."""

    def __init__(self, run: Run) -> None:
        self.code: Loaded = run.code.value.load()
        self.shards: dict[int, Shard] = {}
        self.filter_words = np.zeros(0, dtype=np.uint64)
        gc.freeze()  # PySpark collects garbage after each task; modules and machine code are not garbage


_PROCESSES: OrderedDict[str, _Process] = OrderedDict()


def scratch_folder(run: Run) -> Path:
    """Where this machine keeps the partitions of a search."""
    base = os.environ.get("FLOODMARK_LOCAL_DIR") or run.scratch or os.environ.get("LOCAL_DIRS", "").split(",")[0]
    return Path(base or tempfile.gettempdir()) / f"floodmark-shards-{os.getuid()}" / run.folder


def shard_of(run: Run, partition: int) -> Shard:
    """A partition's files, open in this process."""
    process = _process(run)
    if partition not in process.shards:
        process.shards[partition] = Shard(scratch_folder(run) / f"{partition:05}", process.code)
    return process.shards[partition]


def code_of(run: Run) -> Loaded:
    """A search's functions in this process."""
    code: Loaded = _process(run).code
    return code


def _process(run: Run) -> _Process:
    if run.folder not in _PROCESSES:
        _PROCESSES[run.folder] = _Process(run)
        while len(_PROCESSES) > KEPT_RUNS:
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
def held(accepted: Accepted, files: contextlib.AbstractContextManager[None]) -> Iterator[None]:
    """A partition's files, while a task needs them. Raises Lost, in a second attempt only after a wait."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(files)
        except Lost:
            _be_patient(accepted)
            raise
        yield


def _reading(shard: Shard, accepted: Accepted, partition: int) -> contextlib.AbstractContextManager[None]:
    return held(accepted, shard.reading(accepted.levels, accepted.seal(partition)))


def _be_patient(accepted: Accepted) -> None:
    """Gives the first attempt at this task, on the partition's machine, time to finish before this one."""
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is not None and context.attemptNumber() > 0:
        time.sleep(accepted.patience)


# Seeding.


def seed(run: Run, token: str, partition: int, records: Iterable[Record]) -> Iterator[int]:
    """Writes states that are already known: the payload is (position, bytes)."""
    shard = shard_of(run, partition)
    for _, payload in records:
        if isinstance(payload, tuple):
            shard.put(token, *payload)
    yield partition


def adopt(run: Run, token: str, rows: dict[int, Array], partition: int) -> Iterator[int | Absent]:
    """Turns the seeded states into the partition's levels, unless it has them; returns the bytes they take."""
    if partition not in rows:
        return
    shard = shard_of(run, partition)
    try:
        shard.adopt(token, rows[partition])
    except Lost as lost:
        yield Absent(partition, str(lost))
    else:
        yield shard.size


# A level.


def expand(run: Run, level: Level, partition: int) -> Iterator[Record]:
    """Sends successors of the partition's part of a level to their owners, and a report to its own merge last."""
    started = time.perf_counter()
    shard = shard_of(run, partition)
    report = Expanded(partition)
    sent = [Sum() for _ in range(run.partitions)]
    is_lost = False
    try:
        with _reading(shard, level.accepted, partition):
            yield from routed(run, level, shard, *shard.slice(level.number - 1), report, sent)
            report.noted = shard.take_noted()
            report.context = shard.take_counters()
    except Lost:
        is_lost = True
    report.seconds = time.perf_counter() - started
    for owner in range(run.partitions) if level.only is None else level.only:
        yield owner, End(partition, is_lost, sent[owner])
    if level.only is None:
        yield partition, sealed(report)


def routed(
    run: Run, level: Level, shard: Shard, start: int, stop: int, report: Expanded, sent: list[Sum]
) -> Iterator[tuple[int, bytes]]:
    """The successors of a slice, in pieces, each with the partition that owns it; ``sent`` are the sums for each."""
    if start == stop:
        return
    words, owners = shard.words, run.partitions
    most = native_loops.BATCH + shard.code.code.most_successors
    room = max(min(OUTBOX_BYTES, run.buffers // 2 // owners) // (words * 8), most)
    boxes = np.zeros((owners, (room + most) * words), dtype=np.uint64)
    addresses = np.array([box.ctypes.data for box in boxes], dtype=np.uint64)
    counts = np.zeros(owners, dtype=np.uint64)
    route = np.zeros(ROUTE_FIELDS, dtype=np.uint64)
    fitting = (run.buffers // 2 // (words * 8)).bit_length() - 1
    bits = max(10, min(MOST_FILTER_BITS, fitting, (stop - start).bit_length() + 2))
    lately = _empty_filter(_process(run), bits, words)
    for where, value in {
        OUTBOXES: addresses.ctypes.data, COUNTS: counts.ctypes.data, ROOM: room, OWNERS: owners,
        FILTER: lately.ctypes.data, FILTER_BITS: bits,
    }.items():
        route[where] = value
    shard.fields[native_loops.DEADLOCK] = int(level.deadlock)
    shard.fields[native_loops.FALSE_WANTED] = level.invariants
    at = start
    while at < stop:
        at = shard.code.route(shard.fields.ctypes.data, route.ctypes.data, at, stop)
        least = 1 if at == stop else room // 2
        for owner in np.nonzero(counts >= least)[0]:
            if level.only is None or int(owner) in level.only:
                piece = boxes[owner, : int(counts[owner]) * words]
                report.sent += piece.nbytes
                sent[owner].add(piece)
                yield int(owner), piece.tobytes()
            counts[owner] = 0
        route[FULLEST] = counts.max()
    report.dropped = int(route[DROPPED])


def _empty_filter(process: _Process, bits: int, words: int) -> Any:
    """Cells filled so that none holds a state that belongs there: no unseen state is dropped."""
    size = words << bits
    if len(process.filter_words) < size:
        process.filter_words = np.zeros(size, dtype=np.uint64)
    cells = process.filter_words[:size]
    empty_filter(cells, bits, words)
    return cells


def merge(run: Run, level: Level, partition: int, records: Iterable[Record]) -> Iterator[Merged]:
    """Adds what arrives to the partition, checks what is new, and reports."""
    if level.only is not None and partition not in level.only:
        for _ in records:
            pass
        return
    started = time.perf_counter()
    shard = shard_of(run, partition)
    report = Merged(partition, place=f"{socket.gethostname()}:{os.getpid()}")
    try:
        with held(level.accepted, shard.extending(level.accepted.levels, level.accepted.seal(partition))):
            first = shard.count
            _take(run, level, shard, records, report)
            shard.check(first, shard.count, level.invariants, level.reachable)
            report.found = shard.count - first
            report.digest = shard.digest
            report.noted = shard.take_noted()
            report.context = shard.take_counters()
            if report.found * shard.words * 8 <= run.narrow:
                report.states = shard.states(first, shard.count).tobytes()
    except Lost as lost:
        report.lost = str(lost)
        for _ in records:
            pass
    report.size = shard.size
    report.seconds = time.perf_counter() - started
    yield report


def _take(run: Run, level: Level, shard: Shard, records: Iterable[Record], report: Merged) -> None:
    """Adds what arrives. Raises Lost unless it is everything that every expansion sent."""
    here, told = Sum(), Sum()
    ended = set()
    for _, payload in records:
        if isinstance(payload, bytes):
            states = np.frombuffer(payload, dtype=np.uint64)
            here.add(states)
            report.received += len(payload)
            shard.insert(states)
        elif isinstance(payload, Sealed):
            report.expanded = payload.opened()
        elif isinstance(payload, End):
            if payload.lost:
                raise Lost(f"partition {payload.partition} could not be expanded")
            ended.add(payload.partition)
            told.add_sum(payload.sent)
    senders = 1 if level.by_driver else run.partitions
    has_report = level.only is None and not level.by_driver
    if len(ended) < senders or here != told or has_report != (report.expanded is not None):
        raise Lost("what arrived is not what was sent")


# Looking back, and the end.


def have(run: Run, partition: int) -> Iterator[tuple[int, bytes]]:
    """The seals of the levels that the partition's files hold."""
    yield partition, shard_of(run, partition).seals()


def parent(run: Run, accepted: Accepted, level: int, target: Packed, partition: int) -> Iterator[Packed | Absent]:
    """The smallest state of the partition's part of a level that leads to ``target``."""
    shard = shard_of(run, partition)
    try:
        with _reading(shard, accepted, partition):
            found = shard.parent_in(*shard.slice(level), target)
            if found is not None:
                yield found
    except Lost as lost:
        yield Absent(partition, str(lost))


def pieces(run: Run, accepted: Accepted, level: int, partition: int) -> Iterator[tuple[int, int, bytes]]:
    """The states of the partition's part of a level: (partition, position, bytes). Raises Lost."""
    shard = shard_of(run, partition)
    with _reading(shard, accepted, partition):
        start, stop = shard.slice(level)
        step = max(1, OUTBOX_BYTES // (shard.words * 8))
        for at in range(start, stop, step):
            yield partition, at, shard.states(at, min(at + step, stop)).tobytes()


def verify(run: Run, accepted: Accepted, partition: int) -> Iterator[int | Absent]:
    """Reads everything that the partition has; returns the number of states."""
    shard = shard_of(run, partition)
    try:
        shard.verify(accepted.levels, accepted.seal(partition))
        yield shard.count
    except Lost as lost:
        _be_patient(accepted)
        yield Absent(partition, str(lost))


def values(run: Run, accepted: Accepted, slots: dict[str, Any], partition: int) -> Iterator[dict[str, Any] | Absent]:
    """The values that each variable has in the partition, as an array of its distinct codes."""
    shard = shard_of(run, partition)
    try:
        with _reading(shard, accepted, partition):
            rows = shard.states(0, shard.slice(accepted.levels - 1)[1]).reshape(-1, shard.words)
            yield {
                name: np.unique(column(rows, slot), axis=0 if slot.bits > 64 else None) for name, slot in slots.items()
            }
    except Lost as lost:
        yield Absent(partition, str(lost))


def all_pieces(run: Run, accepted: Accepted, partition: int) -> Iterator[tuple[int, bytes]]:
    """All states of the partition: (level, counted from 1, and bytes). Raises Lost."""
    for level in range(accepted.levels):
        for _, _, states in pieces(run, accepted, level, partition):
            yield level + 1, states


def clean(run: Run, partition: int) -> Iterator[int]:
    """Removes the files of a search from this machine."""
    _PROCESSES.pop(run.folder, None)
    shutil.rmtree(scratch_folder(run), ignore_errors=True)
    yield partition


def clean_up_after_others(run: Run) -> None:
    """Removes what killed searches left on this machine; their folders are named by host and process."""
    for folder in scratch_folder(run).parent.glob(f"{socket.gethostname()}+*"):
        process = folder.name.split("+")[1]
        if folder.name != run.folder and process.isdigit() and not Path(f"/proc/{process}").exists():
            shutil.rmtree(folder, ignore_errors=True)
