"""One worker of the search: the states that are its own, and the calls into the compiled loops."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from checkers.explicit import flood
from checkers.explicit.kernel import Kernel
from checkers.explicit.memory import reserve
from checkers.explicit.module import COUNTERS

FULLEST = 0.7
"""A table with more of its cells taken is replaced by one twice as large."""
FIRST_BITS = 16
MOST_BITS = 32
_PATIENCE_SECONDS = 0.00005

Array = NDArray[np.uint64]


class OutOfRoom(Exception):  # noqa: N818 - it ends a search undetermined, it is no mistake
    """The states no longer fit the memory that was set aside for them."""


class Exchange:
    """The rings between the workers, and the flags by which they agree that a level is done."""

    def __init__(self, workers: int, words: int) -> None:
        self.workers = workers
        size = flood.RING_DATA + flood.RING * words
        self.rings = [reserve(size) for _ in range(workers * workers)]
        self.addresses = np.array([ring.ctypes.data for ring in self.rings], dtype=np.uint64)
        self.done = reserve(workers * 8)


class Worker:
    """A share of the state space: all states whose fingerprint falls to this worker."""

    def __init__(self, kernel: Kernel, number: int, exchange: Exchange, most_states: int) -> None:
        interface = kernel.interface
        self.kernel = kernel
        self.words = interface.layout.words
        self.most_states = most_states
        self.store = reserve(most_states * self.words)
        self.room = flood.BATCH + interface.most_successors
        self.buffer = reserve(self.room * self.words)
        self.outboxes = [reserve(self.room * self.words) for _ in range(exchange.workers)]
        self._outbox_addresses = np.array([box.ctypes.data for box in self.outboxes], dtype=np.uint64)
        self._out_counts = np.zeros(exchange.workers, dtype=np.uint64)
        self.context = self.new_context()
        self.best = np.zeros(flood.BEST_PLACES, dtype=np.uint64)
        self._scratch = np.zeros(4 * flood.GROUP, dtype=np.uint64)
        self.table: Array = np.zeros(0, dtype=np.uint64)
        self.levels: list[tuple[int, int]] = []
        self.exchange = exchange
        self.fields = np.zeros(flood.FIELDS, dtype=np.uint64)
        self._fill(number)
        self._new_table(FIRST_BITS)
        self._run = kernel.loops.function("run", 1)
        self._check = kernel.loops.function("check_states", 3)
        self._rehash = kernel.loops.function("rehash", 1)
        self._find_parent = kernel.loops.function("find_parent", 3)

    def new_context(self) -> Array:
        """A context as the model's code expects it, nothing counted yet."""
        context = np.zeros(self.kernel.interface.context_words + 1, dtype=np.uint64)
        context[flood.OUTSIDE] = flood.EVERYTHING
        return context

    def _fill(self, number: int) -> None:
        values = {
            flood.STORE: self.store.ctypes.data,
            flood.BUFFER: self.buffer.ctypes.data,
            flood.SCRATCH: self._scratch.ctypes.data,
            flood.CONTEXT: self.context.ctypes.data,
            flood.EXPAND: self.kernel.model.address("expand"),
            flood.CHECK: self.kernel.model.address("check"),
            flood.CANONICAL: self.kernel.model.address("canonical") if self.kernel.symmetry else 0,
            flood.BEST: self.best.ctypes.data,
            flood.ME: number,
            flood.WORKERS: self.exchange.workers,
            flood.RINGS: self.exchange.addresses.ctypes.data,
            flood.OUTBOX: self._outbox_addresses.ctypes.data,
            flood.OUT_COUNT: self._out_counts.ctypes.data,
            flood.DONE: self.exchange.done.ctypes.data,
        }
        for field, value in values.items():
            self.fields[field] = value

    def _new_table(self, bits: int) -> None:
        if bits > MOST_BITS:
            raise OutOfRoom("a worker holds at most 3 billion states")
        self.table = reserve((1 << bits) // 2)
        self.fields[flood.TABLE] = self.table.ctypes.data
        self.fields[flood.BITS] = bits
        self.fields[flood.LIMIT] = min(int(FULLEST * (1 << bits)), self.most_states)

    @property
    def count(self) -> int:
        """States that this worker holds."""
        return int(self.fields[flood.COUNT])

    @property
    def memory(self) -> int:
        """Bytes of states, table and buffers."""
        fixed = (self.room * (1 + len(self.outboxes)) + flood.RING) * self.words * 8
        return self.count * self.words * 8 + self.table.nbytes + min(fixed, 1 << 26)

    @property
    def fired(self) -> Array:
        """How often each action fired."""
        return self.context[COUNTERS : self.kernel.interface.first_premise]

    def add(self, states: Array) -> None:
        """Adds states, one row of words each, outside of a level."""
        for start in range(0, len(states), flood.BATCH):
            part = np.ascontiguousarray(states[start : start + flood.BATCH]).reshape(-1)
            self.buffer[: len(part)] = part
            self.fields[flood.PENDING] = len(part) // self.words
            while self.fields[flood.COUNT] + self.fields[flood.PENDING] > self.fields[flood.LIMIT]:
                self.grow()
            self.fields[flood.CURSOR] = self.fields[flood.LEVEL_END] = self.fields[flood.COUNT]
            self._insert()

    def _insert(self) -> None:
        """One call of ``run`` that has nothing to expand: it only inserts what is pending."""
        level = self.fields[flood.LEVEL]
        self.fields[flood.LEVEL] = 0
        while self.fields[flood.PENDING]:
            self._run(self.fields.ctypes.data)
        self.fields[flood.LEVEL] = level

    def start_level(self, level: int) -> None:
        """Makes everything found since the last level the frontier."""
        start = self.levels[-1][1] if self.levels else 0
        self.levels.append((start, self.count))
        self.fields[flood.LEVEL] = level
        self.fields[flood.CURSOR], self.fields[flood.LEVEL_END] = self.levels[-1]

    def expand_level(self, paused: Callable[[], bool]) -> bool:
        """Expands the frontier; False when ``paused`` said to stop on the way."""
        while True:
            match self._run(self.fields.ctypes.data):
                case flood.LEVEL_DONE:
                    return True
                case flood.GROW:
                    self.grow()
                case flood.WAITING:
                    time.sleep(_PATIENCE_SECONDS)
            if paused():
                return False

    def grow(self) -> None:
        """Replaces the table by one twice as large."""
        if self.count + self.room > self.most_states:
            raise OutOfRoom("the states fill the memory that was set aside")
        old = self.table
        self._new_table(int(self.fields[flood.BITS]) + 1)
        self._rehash(self.fields.ctypes.data)
        del old

    def check_level(self, false_wanted: int, true_wanted: int) -> None:
        """Evaluates the state predicates on the states found since the last level began."""
        start = self.levels[-1][1] if self.levels else 0
        self.fields[flood.FALSE_WANTED] = false_wanted
        self.fields[flood.TRUE_WANTED] = true_wanted
        self._check(self.fields.ctypes.data, start, self.count)

    def noted(self, place: int) -> tuple[int, ...] | None:
        """The words of the smallest state noted at a place, and nothing any more afterwards."""
        position = int(self.best[place])
        self.best[place] = 0
        return None if position == 0 else self.state(position - 1)

    def state(self, position: int) -> tuple[int, ...]:
        start = position * self.words
        return tuple(int(word) for word in self.store[start : start + self.words])

    def parent_in(self, level: int, target: tuple[int, ...]) -> tuple[int, ...] | None:
        """The smallest state of a level (counted from 0) that has ``target`` as a successor."""
        wanted = np.array(target, dtype=np.uint64)
        context = self.new_context()
        self.fields[flood.TARGET] = wanted.ctypes.data
        self.fields[flood.CONTEXT] = context.ctypes.data
        self._find_parent(self.fields.ctypes.data, *self.levels[level])
        self.fields[flood.CONTEXT] = self.context.ctypes.data
        return self.noted(flood.BEST_PARENT)
