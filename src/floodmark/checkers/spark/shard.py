"""One partition of the visited set, in files of the machine that its tasks run on.

The states are stored one after another, level by level, as in the native search's worker; the file only grows, and it
is mapped, so every Python worker of a machine sees it at once and none has to read it. A second file is the table of
their positions, and a header names the complete levels, each with its digest and its seal (`ledger.py`).

Nothing in a file is trusted just because it is there. A task receives the seal of the levels that the driver accepted.
It works on files whose header has that seal, or reports that the partition is lost. States are expanded, checked and
kept only as copies that have the digest of their level (`reader.py`). Before a merge changes anything, it removes what
it is about to change from the header. So a task that dies, or a late second one, leaves a header of the levels before;
the next task drops what is not in the header and refills the table. A process that newly opens a file (a Python worker
started since, or one on a restarted machine) reads it through and compares it with its header. When the search ends,
everything is read and compared (`verify`). No state may be there twice: it would be if what is looked up had changed
meanwhile.

A lost partition is recomputed from the others, and must have the digests that were accepted.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import mmap
import os
import socket
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.kernel import loops as native_loops
from floodmark.checkers.kernel.partitioned import fingerprints
from floodmark.checkers.kernel.scratch import FullDiskError, allocate, full_disk, is_full
from floodmark.checkers.native.memory import MAX_BITS
from floodmark.checkers.spark import ledger
from floodmark.checkers.spark.code_transfer import LoadedKernel
from floodmark.checkers.spark.reader import StateReader

Array = NDArray[np.uint64]
READ_BYTES = 256 << 10
"""States are copied in pieces of at most this size, which a processor's cache holds."""
FULLEST = 0.7
"""A table fuller than this is replaced by one twice as large."""
FIRST_BITS = 16
SLICE_CELLS = 1 << 26
MAX_SLICES = 16
"""A new table is filled a slice at a time, in this many slices at most: each page of its file is then changed within a
short time, and written to the disk once. Otherwise the system would write all of them again and again once they are
more than the changed pages that it keeps. A slice costs reading the states once, in order."""
ORDER_WORDS = 2
_FIRST_STATES = 1 << 16
_GROWTH = 8
"""The file of the states grows by this part of itself."""


@cache
def this_boot() -> str:
    """Identifies the time since this machine was started, during which all its processes see what is written."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return socket.gethostname()


@dataclass(slots=True)
class Header:
    """The expected content of files: a row for each complete level, and which file on which machine it describes.

    ``bits`` is the size of the table of these states, 0 if there is none. ``order`` identifies the order in which the
    newest level was written: another attempt at it may find the same states in another order.
    """

    rows: Array = field(default_factory=lambda: np.zeros((0, ledger.COLUMNS), dtype=np.uint64))
    bits: int = 0
    file: tuple[int, int] = (0, 0)
    boot: str = ""
    order: str = ""

    @property
    def levels(self) -> int:
        return len(self.rows)

    @property
    def count(self) -> int:
        return self.end(self.levels - 1)

    def end(self, level: int) -> int:
        """The number of states found up to a level; -1 means before the first."""
        return int(self.rows[level, ledger.END]) if level >= 0 else 0

    def packed(self) -> bytes:
        header = {"levels": self.levels, "bits": self.bits, "file": self.file, "boot": self.boot, "order": self.order}
        content = json.dumps(header).encode() + b"\n" + self.rows.tobytes()
        return hashlib.blake2b(content, digest_size=16).digest() + content


def unpacked(content: bytes) -> Header:
    """Reads a header. Raises ValueError if a byte of it has changed."""
    if hashlib.blake2b(content[16:], digest_size=16).digest() != content[:16]:
        raise ValueError("the header is damaged")
    header, _, rows = content[16:].partition(b"\n")
    known = json.loads(header)
    table = np.frombuffer(rows, dtype=np.uint64).reshape(known["levels"], ledger.COLUMNS)
    return Header(table, known["bits"], (known["file"][0], known["file"][1]), known["boot"], known["order"])


class PartitionLost(Exception):  # noqa: N818 - the driver has it recomputed
    """The partition's files are missing, or do not hold the levels that the driver accepted."""


class FilesChangedError(Exception):
    """A file no longer holds what was written to it."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} on {socket.gethostname()} does not hold what was written there: the file was changed, or the disk "
            "or the memory of that machine is damaged; run again"
        )


class Shard:
    """A partition of the visited set. ``code`` are the model's functions in this process."""

    def __init__(self, folder: Path, code: LoadedKernel) -> None:
        self.folder = folder
        self.code = code
        self.words = code.code.words
        self.header = Header()
        self.fields = np.zeros(native_loops.FIELDS, dtype=np.uint64)
        self._scratch = np.zeros(native_loops.SCRATCH_WORDS, dtype=np.uint64)
        self.fields[native_loops.SCRATCH] = self._scratch.ctypes.data
        self.store: Array = np.zeros(0, dtype=np.uint64)
        self.table: Array = np.zeros(0, dtype=np.uint64)
        self._table_order: Array = np.zeros(0, dtype=np.uint64)
        self._file: IO[bytes] | None = None
        self._compared = (0, 0)
        self._table_file = (0, 0)
        self._knows_table = False

    # Levels.

    @contextlib.contextmanager
    def reading(self, levels: int, seal: bytes) -> Iterator[None]:
        """Opens the accepted levels, which no other process changes meanwhile. Raises PartitionLost."""
        with self._locked(fcntl.LOCK_SH):
            self._believe(levels, seal)
            yield

    @contextlib.contextmanager
    def looking_up(self, levels: int, seal: bytes) -> Iterator[None]:
        """Opens the accepted levels, the last ones, with the table in which their states are found.

        Raises PartitionLost, or FilesChangedError: states are read where they are stored, so they are compared first.
        """
        with self.reading(levels, seal):
            self._require_states()
            self.fields[native_loops.COUNT] = self.header.count
            if self.header.levels != levels or not self.header.bits or not self._take_table(self.header.bits):
                raise PartitionLost(f"{self.folder} has no table of the accepted levels")
            yield

    @contextlib.contextmanager
    def extending(self, levels: int, seal: bytes) -> Iterator[None]:
        """Opens the level after the accepted ones for writing; it is complete when the block ends without an error.

        Raises PartitionLost. A level that already follows them is dropped.
        """
        with self._locked(fcntl.LOCK_EX):
            self._believe(levels, seal)
            bits = self.header.bits if self.header.levels == levels else 0
            self._name(self.header.rows[:levels], 0)
            self._make_room(self.header.count + native_loops.BATCH)
            self.fields[native_loops.COUNT] = self.header.count
            if not (bits and self._take_table(bits)):
                self._fill_table()
            self._name_table("")
            self.fields[native_loops.DIGEST_1] = self.fields[native_loops.DIGEST_2] = 0
            first = self.count
            yield
            row = ledger.row_after(self.header.rows, self.count - first, self.digest)
            rows = np.vstack([self.header.rows, row[np.newaxis]])
            order = uuid.uuid4().hex
            self._name_table(order)
            self._name(rows, int(self.fields[native_loops.BITS]), order)

    @property
    def digest(self) -> tuple[int, int]:
        """The sums of the fingerprints of what was processed last: the level being extended, or a slice."""
        return int(self.fields[native_loops.DIGEST_1]), int(self.fields[native_loops.DIGEST_2])

    def seals(self) -> bytes:
        """The seals of the levels that the files hold, in order."""
        with self._locked(fcntl.LOCK_SH):
            try:
                self._read_header()
                self._compare()
            except PartitionLost:
                return b""
            return bytes(self.header.rows[:, ledger.SEAL_1 :].tobytes())

    def slice(self, level: int) -> tuple[int, int]:
        """The range of a level's states."""
        return self.header.end(level - 1), self.header.end(level)

    def verify(self, levels: int, seal: bytes) -> None:
        """Reads all states and the table. Raises PartitionLost, or FilesChangedError for other content."""
        with self._locked(fcntl.LOCK_EX):
            self._compared = (0, 0)
            self._believe(levels, seal)
            bits = self.header.bits if self.header.levels == levels else 0
            if not bits or not self._map_table(bits) or not self._is_table_named():
                self._name(self.header.rows[:levels], 0)
            self.fields[native_loops.COUNT] = self.header.count
            if not self.header.bits:
                self._fill_table()
                self._name_table(self.header.order)
                self._name(self.header.rows, int(self.fields[native_loops.BITS]))
            self._require_table()

    # States that are already known.

    def put(self, token: str, position: int, states: bytes) -> None:
        """Writes states that are already known to a separate file; ``adopt`` makes it the partition's."""
        with self._locked(fcntl.LOCK_EX):
            path = self.folder / f"seed-{token}"
            with open(path, "r+b" if path.exists() else "w+b") as file:
                file.seek(position * self.words * 8)
                file.write(states)

    def adopt(self, token: str, rows: Array) -> None:
        """Divides the stored states into the levels of ``rows``. Raises PartitionLost if they do not match."""
        with self._locked(fcntl.LOCK_EX):
            path = self.folder / f"seed-{token}"
            with contextlib.suppress(PartitionLost):
                self._believe(len(rows), bytes(rows[-1, ledger.SEAL_1 :].tobytes()))
                path.unlink(missing_ok=True)
                return
            (self.folder / "header").unlink(missing_ok=True)
            for old in self.folder.glob("seed-*"):
                if old != path:
                    old.unlink(missing_ok=True)
            if not path.exists():
                if rows[-1, ledger.END]:
                    raise PartitionLost("nothing was put there")
                path.touch()
            os.replace(path, self.folder / "states")
            self.header = Header(rows, 0, _file_of(self.folder / "states"), this_boot(), uuid.uuid4().hex)
            self._open()
            if not self._is_as_named():
                raise PartitionLost("what was put there is not what is known")
            self._compared = self.header.file
            self._make_room(self.header.count + native_loops.BATCH)
            self.fields[native_loops.COUNT] = self.header.count
            self._fill_table()
            self._name_table(self.header.order)
            self._name(rows, int(self.fields[native_loops.BITS]))

    # Files.

    @contextlib.contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        """Holds the lock of the folder that exists now; another process may have removed the one before. Whatever finds
        the disk full meanwhile names the folder."""
        path = self.folder / "lock"
        try:
            while True:
                self.folder.mkdir(parents=True, exist_ok=True)
                try:
                    file = open(path, "a+b")  # noqa: SIM115 - closed below
                except FileNotFoundError:
                    continue
                with file:
                    fcntl.flock(file, how)
                    if _file_of(path) == _stat_of(file):
                        yield
                        return
        except OSError as error:
            if isinstance(error, FullDiskError) or not is_full(error):
                raise
            raise full_disk(error, self.folder) from None

    def _believe(self, levels: int, seal: bytes) -> None:
        """Opens files with the accepted levels, for a starting task. Raises PartitionLost, or FilesChangedError."""
        self._read_header()
        if self.header.levels < levels or self.header.rows[levels - 1, ledger.SEAL_1 :].tobytes() != seal:
            raise PartitionLost(
                f"{self.folder} has {self.header.levels} levels, which are not the {levels} accepted ones"
            )
        self._compare()

    def _read_header(self) -> None:
        """Reads the header, which has no levels if there is none, or if it describes another file."""
        path = self.folder / "states"
        try:
            self.header = unpacked((self.folder / "header").read_bytes())
        except (OSError, ValueError):
            self.header = Header()
        if self.header.file != _file_of(path):
            self.header = Header()

    def _compare(self) -> None:
        """Opens the file of the states; a file not opened by this process before is compared with its header."""
        self._open()
        is_long_enough = len(self.store) >= self.header.count * self.words
        if is_long_enough and self._compared == self.header.file and self.header.boot == this_boot():
            return
        if not self._is_as_named():
            if self.header.boot != this_boot():
                raise PartitionLost(f"{self.folder} is not what was written before this machine was started")
            raise FilesChangedError(self.folder / "states")
        self._compared = self.header.file

    def _is_as_named(self) -> bool:
        """Whether the states have the digests in the header."""
        if len(self.store) < self.header.count * self.words:
            return False
        for level in range(self.header.levels):
            self.code.digest(self.fields.ctypes.data, *self.slice(level))
            if self.digest != tuple(int(part) for part in self.header.rows[level, ledger.DIGEST_1 : ledger.SEAL_1]):
                return False
        return True

    def _name(self, rows: Array, bits: int, order: str | None = None) -> None:
        """Writes a header. Raises PartitionLost if its file is no longer the one that this process has open."""
        assert self._file is not None
        known = self.header.order if order is None else order
        self.header = Header(rows, bits, _stat_of(self._file), this_boot(), known)
        new = self.folder / "header.new"
        try:
            new.write_bytes(self.header.packed())
            if _file_of(self.folder / "states") != self.header.file:
                raise PartitionLost(f"{self.folder} was removed")
            os.replace(new, self.folder / "header")
        except FileNotFoundError:
            raise PartitionLost(f"{self.folder} was removed") from None

    def _open(self) -> None:
        """Maps the current file of the states."""
        path = self.folder / "states"
        if self._file is None or _stat_of(self._file) != _file_of(path):
            try:
                file = open(path, "r+b")  # noqa: SIM115 - stays open
            except FileNotFoundError:
                raise PartitionLost(f"{path} was removed") from None
            if self._file is not None:
                self._file.close()
            self._file = file
            self._compared = (0, 0)
            self._knows_table = False
            self.store = np.zeros(0, dtype=np.uint64)
        if _stat_of(self._file) != self.header.file:
            raise PartitionLost(f"{path} was removed")
        size = os.fstat(self._file.fileno()).st_size // (self.words * 8) * self.words
        if size != len(self.store):
            self._map(size)

    def _map(self, size: int) -> None:
        assert self._file is not None
        self.store = self.store[:0]
        if size:
            self.store = np.frombuffer(mmap.mmap(self._file.fileno(), size * 8), dtype=np.uint64)
        self.fields[native_loops.STORE] = self.store.ctypes.data

    def _make_room(self, states: int) -> None:
        """Makes room for this many states in the open file, even if it has been renamed meanwhile."""
        assert self._file is not None
        known = len(self.store) // self.words
        if states <= known:
            return
        wanted = max(states, _FIRST_STATES, known + known // _GROWTH) * self.words
        allocate(self._file, wanted * 8, self.folder)
        self._map(wanted)

    def _take_table(self, bits: int) -> bool:
        """Maps the table that an earlier merge left; False if it cannot be relied on."""
        if not self._map_table(bits) or not self._is_table_named():
            return False
        self._knows_table = self._knows_table or not self.code.misplaced(self.fields.ctypes.data)
        return self._knows_table

    def _map_table(self, bits: int) -> bool:
        """Maps the table of this size; False if there is none, or only part of one."""
        path = self.folder / f"table-{bits}"
        try:
            with open(path, "r+b") as file:
                if _stat_of(file) != self._table_file:
                    words = np.frombuffer(mmap.mmap(file.fileno(), table_bytes(bits)), dtype=np.uint64)
                    self.table, self._table_order = words[:-ORDER_WORDS], words[-ORDER_WORDS:]
                    self._table_file = _stat_of(file)
                elif os.fstat(file.fileno()).st_size < table_bytes(bits):
                    return False
        except (OSError, ValueError):
            return False
        self.fields[native_loops.TABLE] = self.table.ctypes.data
        self.fields[native_loops.BITS] = bits
        self.fields[native_loops.SIZE] = 1 << bits
        self._limit()
        return True

    def _name_table(self, order: str) -> None:
        """Says at the end of the table which order of the states it has; none while it is changed. An older header
        that comes back names another one."""
        self._table_order[:] = np.frombuffer(bytes.fromhex(order) or bytes(8 * ORDER_WORDS), dtype=np.uint64)

    def _is_table_named(self) -> bool:
        return self._table_order.tobytes().hex() == self.header.order

    def _limit(self) -> None:
        bits = int(self.fields[native_loops.BITS])
        fitting = len(self.store) // self.words
        self.fields[native_loops.LIMIT] = min(int(FULLEST * (1 << bits)), fitting)

    def _fill_table(self, bits: int = FIRST_BITS) -> None:
        """A new table with the positions of all states."""
        while self.count + native_loops.BATCH > int(FULLEST * (1 << bits)):
            bits += 1
        if bits > MAX_BITS:
            raise MemoryError("a partition holds at most 3 billion states; use more partitions")
        path = self.folder / f"table-{bits}"
        path.unlink(missing_ok=True)
        try:
            with open(path, "w+b") as file:
                allocate(file, table_bytes(bits), self.folder)
        except FileNotFoundError:
            raise PartitionLost(f"{self.folder} was removed") from None
        if not self._map_table(bits):
            raise PartitionLost(f"{self.folder} was removed")
        for first, last in slices(1 << bits):
            self.code.fill_slice(self.fields.ctypes.data, first, last)
        for old in self.folder.glob("table-*"):
            if old != path:
                old.unlink(missing_ok=True)
        self._knows_table = True

    def compare(self) -> None:
        """Compares the open states and their table with what the header says. Raises FilesChangedError."""
        self._require_states()
        self._require_table()

    def _require_states(self) -> None:
        if not self._is_as_named():
            raise FilesChangedError(self.folder / "states")

    def _require_table(self) -> None:
        if self.code.misplaced(self.fields.ctypes.data):
            raise FilesChangedError(self.folder / f"table-{int(self.fields[native_loops.BITS])}")

    # States.

    @property
    def count(self) -> int:
        return int(self.fields[native_loops.COUNT])

    @property
    def size(self) -> int:
        """The bytes that the partition takes: states and table."""
        return self.count * self.words * 8 + (4 << int(self.fields[native_loops.BITS]))

    def insert(self, states: Array) -> None:
        """Adds the states (consecutive words) that are new."""
        total = len(states) // self.words
        done = 0
        while True:
            start = states[done * self.words :]
            done += self.code.insert(self.fields.ctypes.data, start.ctypes.data, total - done)
            if done == total:
                return
            self._make_room(self.count + native_loops.BATCH)
            if self.count + native_loops.BATCH > int(FULLEST * (1 << int(self.fields[native_loops.BITS]))):
                self._require_table()  # errors in it could no longer be seen in a new one
                self._fill_table(int(self.fields[native_loops.BITS]) + 1)
            self._limit()

    def states(self, start: int, stop: int) -> Array:
        return self.store[start * self.words : stop * self.words]

    def read(self, reader: StateReader, level: int, most: int | None = None) -> Iterator[int]:
        """Has the reader copy a level, a piece of ``most`` bytes at a time; yields the position of each piece.
        Raises FilesChangedError at the end unless the copies are the states that the header names."""
        row = self.header.rows[level]
        digest = int(row[ledger.DIGEST_1]), int(row[ledger.DIGEST_2])
        return self._copied(reader, self.slice(level), digest, most or READ_BYTES)

    def check(self, reader: StateReader, first: int, false_wanted: int, true_wanted: int) -> None:
        """Evaluates the state predicates on the states inserted from a position on. Raises FilesChangedError unless
        those are the states whose digest was added up when they were inserted."""
        for _ in self._copied(reader, (first, self.count), self.digest, READ_BYTES):
            reader.check(false_wanted, true_wanted)

    def _copied(self, reader: StateReader, where: tuple[int, int], digest: tuple[int, int], most: int) -> Iterator[int]:
        start, stop = where
        step = max(1, most // (self.words * 8))
        reader.begin()
        for at in range(start, stop, step):
            reader.copy(self.states(at, min(at + step, stop)))
            yield at
        if reader.digest != digest:
            raise FilesChangedError(self.folder / "states")


def _file_of(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return found.st_dev, found.st_ino


def _stat_of(file: IO[bytes]) -> tuple[int, int]:
    found = os.fstat(file.fileno())
    return found.st_dev, found.st_ino


def table_bytes(bits: int) -> int:
    """The size of a table's file: its cells, and the order of the states that they are of."""
    return (4 << bits) + 8 * ORDER_WORDS


def slices(cells: int) -> Iterator[tuple[int, int]]:
    """The slices in which a table is filled: the first cell of each, and the cell after the last."""
    size = max(SLICE_CELLS, cells // MAX_SLICES)
    for first in range(0, cells, size):
        yield first, first + size


def states_by_partition(states: Array, words: int, owners: int) -> list[tuple[Array, tuple[int, int]]]:
    """The states of each partition, a row per state, and the sums of their fingerprints."""
    rows = states.reshape(-1, words)
    first = fingerprints(states, words, native_loops.SEED_1)
    second = fingerprints(states, words, native_loops.SEED_2)
    owner = (first >> np.uint64(32)) * np.uint64(owners) >> np.uint64(32)
    parts = []
    for p in range(owners):
        mine = owner == p
        sums = int(first[mine].sum(dtype=np.uint64)), int(second[mine].sum(dtype=np.uint64))
        parts.append((rows[mine], sums))
    return parts
