"""A search whose states are in files, which continues when memory is full.

The visited set is in partitions, and a state's fingerprint says which one it belongs to. Each partition has its states,
packed, in one scratch file and a table of their positions in another. Both are mapped, so the system keeps in memory
what fits and reclaims it when memory is needed elsewhere. The search takes a level in two passes. *Expand* goes through
the frontier, partition by partition, and appends each successor to the candidate file of the partition that owns it; a
filter of recently sent states drops most duplicates. *Merge* looks up the candidates of one partition after another,
one partition per worker at a time: random accesses then touch only a part of the whole set, and everything else is read
in order.

States are never confused: a successor is dropped only when it is equal, word for word, to one that was sent to the same
partition before or is stored there. A level's candidates are all merged before the next level begins, so a state is in
the same level as in a search in memory.

The files have no name, so they disappear with the process.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, TypeVar

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.kernel import loops
from floodmark.checkers.kernel.memory import MemoryBudget, ReservedMemory, reserve
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
from floodmark.checkers.kernel.scratch import allocate, base_folder, full_disk, is_in_memory
from floodmark.checkers.native.memory import CELL_BYTES, FULL, MAX_BITS, MemoryStore
from floodmark.checkers.native.worker import unpacked
from floodmark.checkers.search.store import Array, LocalStore, Packed, StoreFull
from floodmark.checkers.search_result import Limit, Stop

T = TypeVar("T")

PARTITIONS = 64
"""The set is worked on one partition at a time, which is one part in this many."""
CANDIDATE_BYTES = 1 << 30
"""The size of candidate files, in bytes, at which they are merged; they are also merged at the end of a level."""
SHARE_OF_LIMIT = 16
"""The divisor of a memory limit that gives the size of outboxes and filters, within bounds."""
MIN_BUFFERS, MAX_BUFFERS = 4 << 20, 128 << 20
MAX_FILTER_BITS = 20
SLICE = 1 << 14
"""The number of frontier states that a worker takes at once."""
_FIRST_STATES = 1 << 12
_FIRST_CELLS = 1 << 13
_GROWTH = 4
"""The divisor of its size by which the file of a partition's states grows, at least."""


class Partition:
    """A part of the visited set, in files."""

    def __init__(self, folder: Path, words: int, stride: int) -> None:
        self.folder = folder
        self.words = words
        self.stride = stride
        self.levels: list[tuple[int, int]] = []
        self.count = 0
        self.digest = np.zeros(2, dtype=np.uint64)
        self.table: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)
        self.store: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)
        self.lock = threading.Lock()
        self.sent = 0
        self._states = _scratch(folder)
        self._cells = _scratch(folder)
        self._candidates = _scratch(folder)

    @property
    def room(self) -> int:
        """States that the file has room for; the last one is written as whole words, past its own end."""
        return max(len(self.store) - 8, 0) // self.stride

    @property
    def cells(self) -> int:
        return len(self.table) // CELL_BYTES

    def make_room(self, states: int) -> None:
        """Makes room for this many states. Raises StoreFull."""
        if states <= self.room:
            return
        wanted = max(states, _FIRST_STATES, self.room + self.room // _GROWTH)
        self.store = self.store[:0]
        self.store = _mapped(self._states, wanted * self.stride + 8, self.folder)

    def new_table(self, states: int) -> None:
        """An empty table with room for this many states. Raises StoreFull."""
        cells = _FIRST_CELLS
        while int(FULL * cells) < states:
            cells *= 2
        if cells.bit_length() > MAX_BITS:
            raise StoreFull(Stop(Limit.STORE, detail="a partition holds at most a billion and a half states"))
        self.table = self.table[:0]
        self._cells.close()
        self._cells = _scratch(self.folder)
        self.table = _mapped(self._cells, cells * CELL_BYTES, self.folder)

    def append(self, states: Array) -> None:
        """Stores states that are known to be new, without entering them into the table."""
        rows = states.view(np.uint8).reshape(-1, self.words * 8)[:, : self.stride]
        self.make_room(self.count + len(rows))
        start = self.count * self.stride
        self.store[start : start + rows.size] = rows.reshape(-1)
        self.count += len(rows)

    def send(self, states: Array) -> None:
        """Appends candidates to their file."""
        rest = states.data.cast("B")
        with self.lock:
            try:
                while rest:
                    written = os.pwrite(self._candidates.fileno(), rest, self.sent)
                    self.sent += written
                    rest = rest[written:]
            except OSError as error:
                if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                    raise
                full = full_disk(error, self.folder, self.sent + len(rest))
                raise StoreFull(Stop(Limit.STORE, detail=str(full.strerror))) from None

    def candidates(self) -> Array:
        """All candidates sent so far."""
        return np.frombuffer(mmap.mmap(self._candidates.fileno(), self.sent), dtype=np.uint64)

    def forget_candidates(self) -> None:
        self.sent = 0
        os.ftruncate(self._candidates.fileno(), 0)

    def rows(self, start: int, stop: int) -> Array:
        """A slice of its states, a row of words each."""
        return unpacked(self.store[start * self.stride : stop * self.stride].reshape(-1, self.stride), self.words)

    def give_back(self, start: int, stop: int) -> None:
        """Does nothing: its states are not in memory that counts."""

    def close(self) -> None:
        for file in (self._states, self._cells, self._candidates):
            file.close()


class _Lane:
    """The buffers with which one thread works on partitions, one at a time."""

    def __init__(self, files: FileStore, size: int) -> None:
        kernel, words = files.kernel, files.words
        interface = kernel.interface
        self.kernel = kernel
        self.code = kernel.partitioned
        self.words = words
        self.partition: Partition | None = None
        self.fields = reserve(loops.FIELDS)
        self.buffer = reserve((loops.BATCH + interface.most_successors) * words)
        self.best = reserve(loops.BEST_PLACES)
        self.context = self.kernel.new_context()
        self._scratch, self._state = reserve(loops.SCRATCH_WORDS), reserve(words)
        self.most = loops.BATCH + interface.most_successors
        self.room = max(size // 2 // PARTITIONS // (words * 8), 1)
        self.boxes = [reserve((self.room + self.most) * words) for _ in range(PARTITIONS)]
        self.addresses = np.array([box.ctypes.data for box in self.boxes], dtype=np.uint64)
        self.counts = reserve(PARTITIONS)
        bits = min(MAX_FILTER_BITS, max(8, (size // 2 // (words * 8)).bit_length() - 1))
        self.filter = reserve(words << bits)[: words << bits]
        empty_filter(self.filter, bits, words)
        self.route = reserve(ROUTE_FIELDS)
        for where, value in {
            OUTBOXES: self.addresses.ctypes.data, COUNTS: self.counts.ctypes.data, ROOM: self.room,
            OWNERS: PARTITIONS, FILTER: self.filter.ctypes.data, FILTER_BITS: bits,
        }.items():
            self.route[where] = value
        for where, value in {
            loops.BUFFER: self.buffer.ctypes.data, loops.SCRATCH: self._scratch.ctypes.data,
            loops.STATE: self._state.ctypes.data, loops.CONTEXT: self.context.ctypes.data,
            loops.BEST: self.best.ctypes.data,
        }.items():
            self.fields[where] = value
        self.take_code()

    def take_code(self) -> None:
        code = self.kernel.model
        self.fields[loops.EXPAND] = code.address("expand")
        self.fields[loops.CHECK] = code.address("check")
        self.fields[loops.CANONICAL] = code.address("canonical") if self.kernel.symmetry else 0

    def open(self, partition: Partition) -> None:
        """Switches to a partition."""
        self.partition = partition
        fields = self.fields
        fields[loops.STORE] = partition.store.ctypes.data
        fields[loops.COUNT] = partition.count
        fields[loops.TABLE] = partition.table.ctypes.data
        fields[loops.SIZE] = partition.cells
        fields[loops.BITS] = partition.cells.bit_length()
        fields[loops.LIMIT] = min(int(FULL * partition.cells), partition.room)
        fields[loops.DIGEST_1], fields[loops.DIGEST_2] = partition.digest

    def insert(self, partition: Partition, states: Array) -> None:
        """Adds the candidates that are new."""
        self.open(partition)
        total = len(states) // self.words
        done = 0
        while True:
            start = states.ctypes.data + done * self.words * 8
            done += self.code.function("insert", 3)(self.fields.ctypes.data, start, total - done)
            partition.count = int(self.fields[loops.COUNT])
            partition.digest[:] = self.fields[loops.DIGEST_1], self.fields[loops.DIGEST_2]
            if done == total:
                return
            self.enlarge(partition)

    def enlarge(self, partition: Partition) -> None:
        """Makes room for a batch of states: in the store, and in a newly filled table."""
        needed = partition.count + loops.BATCH
        partition.make_room(needed)
        if needed > int(FULL * partition.cells):
            partition.new_table(needed)
            self.open(partition)
            self.code.function("rehash", 1)(self.fields.ctypes.data)
        self.open(partition)

    def noted(self) -> dict[int, Packed]:
        """The smallest state of the partition noted at each place; clears the notes."""
        found = {}
        assert self.partition is not None
        for place in np.nonzero(self.best)[0]:
            position = int(self.best[place])
            found[int(place)] = tuple(int(word) for word in self.partition.rows(position - 1, position)[0])
        self.best[:] = 0
        return found

    def flush(self, partitions: Sequence[Partition], at_least: int, put: Callable[[Partition, Array], None]) -> int:
        """Sends the contents of outboxes with at least so many states; returns the number of bytes."""
        given = 0
        for owner in map(int, np.nonzero(self.counts[:PARTITIONS] >= at_least)[0]):
            piece = self.boxes[owner][: int(self.counts[owner]) * self.words]
            put(partitions[owner], piece)
            given += piece.nbytes
            self.counts[owner] = 0
        self.route[FULLEST] = self.counts.max()
        return given


class FileStore(LocalStore):
    """All states of a search, in files."""

    def __init__(self, memory: MemoryStore, budget: MemoryBudget) -> None:
        """Takes over what was found in memory and is still to be done, and releases the memory on the way.

        Raises StoreFull if there is no disk, or no room on it.
        """
        super().__init__(memory.interface)
        self.kernel = memory.kernel
        self.stride = memory.stride
        self.wanted = memory.wanted
        self._noted: dict[int, Packed] = {}
        self._todo: deque[tuple[Partition, int, int]] = deque()
        self._waiting = 0
        self._lock = threading.Lock()
        folder = base_folder()
        _must_have_room(folder, memory)
        for worker in memory.workers:
            for place in np.nonzero(worker.best)[0]:
                self._note({int(place): memory.state(int(worker.best[place]) - 1)})
        memory.drop_table()
        self.partitions = [Partition(folder, self.words, self.stride) for _ in range(PARTITIONS)]
        each = min(max(budget.limit // SHARE_OF_LIMIT, MIN_BUFFERS), MAX_BUFFERS) // len(memory.workers)
        self.lanes = [_Lane(self, each) for _ in memory.workers]
        first = memory.workers[0].fields
        for lane in self.lanes:
            for field in (loops.DEADLOCK, loops.FALSE_WANTED, loops.TRUE_WANTED):
                lane.fields[field] = first[field]
        self._before = _sum(worker.context for worker in memory.workers)
        self._threads = ThreadPoolExecutor(len(self.lanes))
        self._take_over(memory)

    # Taking over.

    def _take_over(self, memory: MemoryStore) -> None:
        done = len(memory.workers[0].levels) - 1
        for level in range(max(done, 0)):
            self._take_slices(memory, [[worker.levels[level]] for worker in memory.workers])
            self._end_level(memory, level)
        if done >= 0:
            rest = _unexpanded(memory)
            expanded = [_without(worker.levels[-1], own) for worker, own in zip(memory.workers, rest, strict=True)]
            self._take_slices(memory, expanded)
            starts = [partition.count for partition in self.partitions]
            self._take_slices(memory, rest)
            self._end_level(memory, done)
            self._todo.extend(
                slice_ for partition, start in zip(self.partitions, starts, strict=True)
                for slice_ in _slices(partition, start, partition.count)
            )
        known = [worker.levels[-1][1] if worker.levels else 0 for worker in memory.workers]
        found = [[(start, worker.count)] for start, worker in zip(known, memory.workers, strict=True)]
        self._take_slices(memory, found)
        wanted = _sum(worker.fields[[loops.DIGEST_1, loops.DIGEST_2]] for worker in memory.workers)
        pending = [worker.buffer[: worker.pending * self.words].copy() for worker in memory.workers]
        memory.let_go()
        self._all(_fill, deque(self.partitions))
        if (self.digest != wanted).any():
            raise RuntimeError("states changed on the way to files")
        for states in pending:
            self._send(states)
        self._merge()

    def _take_slices(self, memory: MemoryStore, slices: Sequence[Sequence[tuple[int, int]]]) -> None:
        """Moves slices of what is in memory to the partitions."""
        lane = self.lanes[0]
        for store, own in zip(memory.stores, slices, strict=True):
            for at, stop in own:
                lane.fields[loops.STORE] = store.address
                while at < stop:
                    at = lane.code.function("spread", 4)(lane.fields.ctypes.data, lane.route.ctypes.data, at, stop)
                    lane.flush(self.partitions, 1 if at == stop else lane.room // 2 or 1, Partition.append)

    def _end_level(self, memory: MemoryStore, level: int) -> None:
        """Ends a level of each partition, and releases the memory up to there."""
        for partition in self.partitions:
            partition.levels.append((partition.levels[-1][1] if partition.levels else 0, partition.count))
        for worker in memory.workers:
            worker.give_back(*worker.levels[level])

    def _send(self, states: Array) -> None:
        """Sends states, words one after the other, to the partitions that own them, as candidates."""
        lane = self.lanes[0]
        for at in range(0, len(states), loops.BATCH * self.words):
            part = states[at : at + loops.BATCH * self.words]
            region = ReservedMemory(part.nbytes)
            for index in range(len(part) // self.words):
                start = index * self.stride
                row = part[index * self.words : (index + 1) * self.words].view(np.uint8)[: self.stride]
                region.bytes[start : start + self.stride] = row
            lane.fields[loops.STORE] = region.address
            position, count = 0, len(part) // self.words
            while position < count:
                position = lane.code.function("spread", 4)(
                    lane.fields.ctypes.data, lane.route.ctypes.data, position, count
                )
                self._waiting += lane.flush(self.partitions, 1, Partition.send)

    # A store of a search.

    @property
    def parts(self) -> Sequence[Partition]:
        return self.partitions

    @property
    def digest(self) -> Array:
        return _sum(partition.digest for partition in self.partitions)

    @property
    def context(self) -> Array:
        return _sum([self._before, *(lane.context for lane in self.lanes)])

    def take_code(self) -> None:
        for lane in self.lanes:
            lane.take_code()

    def add(self, states: Sequence[Packed]) -> None:
        self._send(np.array(states, dtype=np.uint64).reshape(-1))
        self._merge()

    def start_level(self, level: int) -> None:
        if self._todo or any(partition.sent for partition in self.partitions):
            raise RuntimeError("a level was ended before all of it was looked up")
        for partition in self.partitions:
            partition.levels.append((partition.levels[-1][1] if partition.levels else 0, partition.count))
            self._todo.extend(_slices(partition, *partition.levels[-1]))
            assert len(partition.levels) == level

    def expand_level(self, paused: Callable[[], bool]) -> bool:
        while self._todo:
            self._all(lambda lane, task: self._route(lane, task, paused), self._todo)
            for lane in self.lanes:
                self._waiting += lane.flush(self.partitions, 1, Partition.send)
            if paused():
                return False
            self._merge()
        return True

    def _route(self, lane: _Lane, task: tuple[Partition, int, int], paused: Callable[[], bool]) -> bool:
        """Expands a slice of the frontier; False when it has to stop for now."""
        partition, at, stop = task
        lane.open(partition)
        while at < stop:
            at = lane.code.function("route", 4)(lane.fields.ctypes.data, lane.route.ctypes.data, at, stop)
            given = lane.flush(self.partitions, lane.room // 2 or 1, Partition.send) if at < stop else 0
            with self._lock:
                self._waiting += given
        self._note(lane.noted())
        return not paused() and self._waiting < CANDIDATE_BYTES

    def _merge(self) -> None:
        """Looks up all candidates."""
        self._all(_merge, deque(partition for partition in self.partitions if partition.sent))
        self._waiting = 0

    def check_level(self) -> None:
        for lane in self.lanes:
            lane.fields[loops.FALSE_WANTED], lane.fields[loops.TRUE_WANTED] = self.wanted

        def check(lane: _Lane, partition: Partition) -> bool:
            start = partition.levels[-1][1] if partition.levels else 0
            lane.open(partition)
            lane.code.function("check_states", 3)(lane.fields.ctypes.data, start, partition.count)
            self._note(lane.noted())
            return True

        self._all(check, deque(self.partitions))

    def noted(self, place: int) -> Packed | None:
        return self._noted.pop(place, None)

    def parent_in(self, level: int, target: Packed) -> Packed | None:
        wanted = np.array(target, dtype=np.uint64)
        found: list[Packed] = []

        def look(lane: _Lane, partition: Partition) -> bool:
            context = lane.kernel.new_context()
            lane.open(partition)
            lane.fields[loops.TARGET], lane.fields[loops.CONTEXT] = wanted.ctypes.data, context.ctypes.data
            lane.code.function("find_parent", 3)(lane.fields.ctypes.data, *partition.levels[level])
            lane.fields[loops.CONTEXT] = lane.context.ctypes.data
            found.extend(lane.noted().values())
            return True

        self._all(look, deque(self.partitions))
        return min(found, default=None)

    def _note(self, noted: dict[int, Packed]) -> None:
        with self._lock:
            for place, state in noted.items():
                known = self._noted.get(place)
                self._noted[place] = state if known is None else min(known, state)

    def _all(self, task: Callable[[_Lane, T], bool], items: deque[T]) -> None:
        """Runs a task for all items, each on a free lane, until one says to stop."""
        enough = threading.Event()

        def drain(lane: _Lane) -> None:
            while not enough.is_set():
                try:
                    item = items.popleft()
                except IndexError:
                    return
                try:
                    if not task(lane, item):
                        enough.set()
                except BaseException:
                    enough.set()
                    raise

        for future in [self._threads.submit(drain, lane) for lane in self.lanes]:
            future.result()

    def close(self) -> None:
        self._threads.shutdown()
        for partition in self.partitions:
            partition.close()


def _sum(arrays: Iterable[Array]) -> Array:
    total: Array = np.sum(list(arrays), axis=0, dtype=np.uint64)
    return total


def _fill(lane: _Lane, partition: Partition) -> bool:
    """Enters the states given to a partition into a table."""
    partition.make_room(partition.count + loops.BATCH)
    partition.new_table(partition.count + loops.BATCH)
    lane.open(partition)
    lane.code.function("rehash", 1)(lane.fields.ctypes.data)
    lane.code.function("digest", 3)(lane.fields.ctypes.data, 0, partition.count)
    partition.digest[:] = lane.fields[loops.DIGEST_1], lane.fields[loops.DIGEST_2]
    return True


def _merge(lane: _Lane, partition: Partition) -> bool:
    lane.insert(partition, partition.candidates())
    partition.forget_candidates()
    return True


def _slices(partition: Partition, start: int, stop: int) -> Iterator[tuple[Partition, int, int]]:
    for at in range(start, stop, SLICE):
        yield partition, at, min(at + SLICE, stop)


def _unexpanded(memory: MemoryStore) -> list[list[tuple[int, int]]]:
    """The slices of the frontier in each worker's store that are not expanded yet, in order."""
    rest: list[list[tuple[int, int]]] = [[] for _ in memory.workers]
    for worker in memory.workers:
        fields = worker.fields
        if fields[loops.CURSOR] < fields[loops.LEVEL_END]:
            rest[int(fields[loops.OWNER])].append((int(fields[loops.CURSOR]), int(fields[loops.LEVEL_END])))
    if len(memory.workers) > 1:
        for number, own in enumerate(rest):
            at, end = int(memory.cursors[number * loops.LINE]), int(memory.ends[number * loops.LINE])
            if at < end:
                own.append((at, end))
    return [sorted(own) for own in rest]


def _without(whole: tuple[int, int], holes: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The rest of a slice without the slices in ``holes``, which are in order."""
    left = []
    at, end = whole
    for start, stop in holes:
        if at < start:
            left.append((at, start))
        at = stop
    return [*left, (at, end)] if at < end else left


def _must_have_room(folder: Path, memory: MemoryStore) -> None:
    """Raises StoreFull if the files would be in memory too, or would not fit."""
    if is_in_memory(folder):
        text = f"{folder} is in memory, too; name one on a disk in FLOODMARK_LOCAL_DIR"
        raise StoreFull(Stop(Limit.MEMORY, detail=text))
    needed = 2 * memory.needed * (memory.stride + 2 * CELL_BYTES)
    free = shutil.disk_usage(folder).free
    if free < needed:
        text = f"{folder} has {free / 1e6:,.0f} MB for files, where {needed / 1e6:,.0f} are needed"
        raise StoreFull(Stop(Limit.MEMORY, detail=text))


def _scratch(folder: Path) -> IO[bytes]:
    return tempfile.TemporaryFile(prefix="floodmark-", dir=folder, buffering=0)


def _mapped(file: IO[bytes], size: int, folder: Path) -> NDArray[np.uint8]:
    try:
        allocate(file, size, folder)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise StoreFull(Stop(Limit.STORE, detail=str(error.strerror))) from None
    return np.frombuffer(mmap.mmap(file.fileno(), size), dtype=np.uint8)
