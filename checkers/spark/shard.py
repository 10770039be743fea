"""One partition of the visited set, in files of the machine that its tasks run on.

The states lie one after the other, level after level, as in the native checker's worker; the file only grows, and it
is mapped, so every Python worker of a machine sees it at once and none has to read it. Beside it lies the table of
their places, and a header that names the last complete level. A task that dies leaves a header of the level before,
whatever it did to the other two files: the next task drops what is not in the header and fills the table again.
Nothing here needs to be trusted to survive, since a lost partition is computed again from the others.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from checkers.explicit import flood
from checkers.explicit.module import COUNTERS
from checkers.explicit.worker import FIRST_BITS, FULLEST, MOST_BITS
from checkers.spark.code import Loaded

Array = NDArray[np.uint64]
Packed = tuple[int, ...]
_FIRST_STATES = 1 << 16


@dataclass(slots=True)
class Header:
    """What is known to be complete: ``ends[j]`` states were found in level j (0: the initial ones) and before."""

    ends: list[int] = field(default_factory=list)
    bits: int = 0

    @property
    def count(self) -> int:
        return self.ends[-1] if self.ends else 0


class Lost(Exception):  # noqa: N818 - the driver has it computed again
    """The partition's files are not there, or end before the level that is needed."""

    def __init__(self, levels: int) -> None:
        super().__init__(f"only {levels} levels are there")
        self.levels = levels


class Shard:
    """A partition of the visited set. ``code`` are the model's functions in this process."""

    def __init__(self, folder: Path, code: Loaded) -> None:
        self.folder = folder
        self.code = code
        self.words = code.code.words
        self.room = flood.BATCH + code.code.most_successors
        self.header = Header()
        self.fields = np.zeros(flood.FIELDS, dtype=np.uint64)
        self.buffer = np.zeros(self.room * self.words, dtype=np.uint64)
        self.best = np.zeros(flood.BEST_PLACES, dtype=np.uint64)
        self.context = self.new_context()
        self._scratch = np.zeros(4 * flood.GROUP, dtype=np.uint64)
        self.store: Array = np.zeros(0, dtype=np.uint64)
        self.table: Array = np.zeros(0, dtype=np.uint64)
        self._store_file = self._table_file = (0, 0)
        for place, value in {
            flood.BUFFER: self.buffer.ctypes.data,
            flood.SCRATCH: self._scratch.ctypes.data,
            flood.CONTEXT: self.context.ctypes.data,
            flood.BEST: self.best.ctypes.data,
            flood.EXPAND: code.model.address("expand"),
            flood.CHECK: code.model.address("check"),
            flood.CANONICAL: code.model.address("canonical") if code.code.symmetry else 0,
        }.items():
            self.fields[place] = value

    def new_context(self) -> Array:
        context = np.zeros(self.code.code.context_words + 1, dtype=np.uint64)
        context[flood.OUTSIDE] = flood.EVERYTHING
        return context

    # Files.

    @contextlib.contextmanager
    def reading(self, level: int) -> Iterator[tuple[int, int]]:
        """The slice of the store that is a level, which no other process changes meanwhile. Raises Lost."""
        with self._locked(fcntl.LOCK_SH):
            self._read_header()
            if len(self.header.ends) <= level:
                raise Lost(len(self.header.ends))
            self._map_store(self.header.count)
            yield (self.header.ends[level - 1] if level else 0), self.header.ends[level]

    @contextlib.contextmanager
    def extending(self, level: int) -> Iterator[None]:
        """Room for the states of a level, complete when the block ends without an error. Raises Lost."""
        with self._locked(fcntl.LOCK_EX):
            self._read_header()
            if len(self.header.ends) < level:
                raise Lost(len(self.header.ends))
            unfinished = self.folder / "unfinished"
            whole = len(self.header.ends) == level and not unfinished.exists()
            unfinished.touch()
            self.header.ends = self.header.ends[:level]
            self._map_store(self.header.count + self.room)
            self.fields[flood.COUNT] = self.header.count
            if whole and self.header.bits:
                self._map_table(self.header.bits)
            else:
                self._fill_table()
            self.fields[flood.DIGEST_1] = self.fields[flood.DIGEST_2] = 0
            yield
            self.header.ends.append(self.count)
            self._write_header()
            unfinished.unlink()

    def levels(self) -> int:
        """How many levels are complete."""
        with self._locked(fcntl.LOCK_SH):
            self._read_header()
        return len(self.header.ends)

    def put(self, position: int, states: bytes) -> None:
        """Writes states that are known already to their place; ``adopt`` makes them levels."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "states", "r+b" if (self.folder / "states").exists() else "w+b") as file:
            file.seek(position * self.words * 8)
            file.write(states)

    def adopt(self, ends: list[int]) -> tuple[int, int]:
        """Makes what was put the levels up to ``ends``; returns the sums of the states' fingerprints.

        Raises OSError where the file with the states is gone or too short.
        """
        with self._locked(fcntl.LOCK_EX):
            self.header.ends = list(ends)
            wanted = self.header.count * self.words * 8
            if wanted and (self.folder / "states").stat().st_size < wanted:
                raise OSError(f"{self.folder} lacks states")
            self._map_store(self.header.count + self.room)
            self.fields[flood.COUNT] = self.header.count
            self._fill_table()
            self._write_header()
            (self.folder / "unfinished").unlink(missing_ok=True)
            return digest_sums(self.states(0, self.header.count), self.words)

    @contextlib.contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "lock", "a+b") as file:
            fcntl.flock(file, how)
            yield

    def _read_header(self) -> None:
        try:
            known = json.loads((self.folder / "header").read_text())
        except (OSError, ValueError):
            self.header = Header()
        else:
            self.header = Header(known["ends"], known["bits"])

    def _write_header(self) -> None:
        new = self.folder / "header.new"
        new.write_text(json.dumps({"ends": self.header.ends, "bits": self.header.bits}))
        os.replace(new, self.folder / "header")

    def _map_store(self, states: int) -> None:
        """Maps the file of the states, with room for at least so many."""
        path = self.folder / "states"
        size = path.stat().st_size if path.exists() else 0
        wanted = _FIRST_STATES * self.words * 8
        while wanted < max(states * self.words * 8, size):
            wanted *= 2
        if wanted != size or len(self.store) * 8 != wanted or self._store_file != _file_of(path):
            with open(path, "r+b" if path.exists() else "w+b") as file:
                if wanted > size:
                    os.ftruncate(file.fileno(), wanted)
                self.store = np.frombuffer(mmap.mmap(file.fileno(), wanted), dtype=np.uint64)
            self._store_file = _file_of(path)
            self.fields[flood.STORE] = self.store.ctypes.data

    def _map_table(self, bits: int) -> None:
        path = self.folder / f"table-{bits}"
        if self._table_file != _file_of(path):
            with open(path, "r+b") as file:
                self.table = np.frombuffer(mmap.mmap(file.fileno(), 4 << bits), dtype=np.uint64)
            self._table_file = _file_of(path)
        self.fields[flood.TABLE] = self.table.ctypes.data
        self.fields[flood.BITS] = bits
        self._limit()

    def _limit(self) -> None:
        bits = int(self.fields[flood.BITS])
        fitting = len(self.store) // self.words
        self.fields[flood.LIMIT] = min(int(FULLEST * (1 << bits)), fitting)

    def _fill_table(self, bits: int = FIRST_BITS) -> None:
        """A new table with the places of all states."""
        while self.count + self.room > int(FULLEST * (1 << bits)):
            bits += 1
        if bits > MOST_BITS:
            raise MemoryError("a partition holds at most 3 billion states; use more partitions")
        path = self.folder / f"table-{bits}"
        path.unlink(missing_ok=True)
        with open(path, "w+b") as file:
            os.ftruncate(file.fileno(), 4 << bits)
        self._map_table(bits)
        self.code.rehash(self.fields.ctypes.data)
        for old in self.folder.glob("table-*"):
            if old != path:
                old.unlink(missing_ok=True)
        self.header.bits = bits

    # States.

    @property
    def count(self) -> int:
        return int(self.fields[flood.COUNT])

    @property
    def size(self) -> int:
        """What the partition takes: states and table."""
        return self.header.count * self.words * 8 + (4 << self.header.bits)

    def insert(self, states: Array) -> None:
        """Adds those states (words one after the other) that are new."""
        total = len(states) // self.words
        done = 0
        while True:
            start = states[done * self.words :]
            done += self.code.insert(self.fields.ctypes.data, start.ctypes.data, total - done)
            if done == total:
                return
            self._map_store(self.count + self.room)
            self._limit()
            if self.count + self.room > int(FULLEST * (1 << int(self.fields[flood.BITS]))):
                self._fill_table(int(self.fields[flood.BITS]) + 1)
            self._limit()

    def states(self, start: int, stop: int) -> Array:
        return self.store[start * self.words : stop * self.words]

    def check(self, start: int, stop: int, false_wanted: int, true_wanted: int) -> None:
        """Evaluates the state predicates on a slice."""
        self.fields[flood.FALSE_WANTED] = false_wanted
        self.fields[flood.TRUE_WANTED] = true_wanted
        self.code.check(self.fields.ctypes.data, start, stop)

    def parent_in(self, start: int, stop: int, target: Packed) -> Packed | None:
        """The smallest state of a slice that has ``target`` as a successor."""
        wanted = np.array(target, dtype=np.uint64)
        self.fields[flood.TARGET] = wanted.ctypes.data
        self.code.find_parent(self.fields.ctypes.data, start, stop)
        found = self.take_noted().get(flood.BEST_PARENT)
        self.take_counters()
        return found

    def take_noted(self) -> dict[int, Packed]:
        """The smallest state of each place where one was noted; nothing is noted any more afterwards."""
        noted = {
            int(place): tuple(int(word) for word in self.states(int(self.best[place]) - 1, int(self.best[place])))
            for place in np.nonzero(self.best)[0]
        }
        self.best[:] = 0
        return noted

    def take_counters(self) -> bytes:
        """The counters of the context, which begin again at zero."""
        counted = self.context.copy()
        self.context[:] = self.new_context()
        counted[: flood.CUT] = 0
        counted[flood.OUTSIDE : COUNTERS] = 0
        return counted.tobytes()


def _file_of(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return found.st_dev, found.st_ino


def fingerprints(states: Array, words: int, seed: int) -> Array:
    """The fingerprint of each state, as ``model.compiler.layout.fingerprint`` defines it."""
    rows = states.reshape(-1, words)
    h = np.full(len(rows), seed, dtype=np.uint64)
    for column in range(words):
        h = (h ^ rows[:, column]) * np.uint64(flood.MULTIPLIER_1)
        h ^= h >> np.uint64(32)
        h *= np.uint64(flood.MULTIPLIER_2)
        h ^= h >> np.uint64(29)
    return h


def owners_of(states: Array, words: int, owners: int) -> Array:
    """The partition of each state."""
    return (fingerprints(states, words, flood.SEED_1) >> np.uint64(32)) * np.uint64(owners) >> np.uint64(32)


def digest_sums(states: Array, words: int) -> tuple[int, int]:
    """The sums of the states' fingerprints that make up the digest."""
    part = (1 << 18) * words
    sums = [0, 0]
    for start in range(0, len(states), part):
        for place, seed in enumerate((flood.SEED_1, flood.SEED_2)):
            sums[place] += int(fingerprints(states[start : start + part], words, seed).sum(dtype=np.uint64))
    return sums[0] & flood.EVERYTHING, sums[1] & flood.EVERYTHING
