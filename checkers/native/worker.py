"""One worker of the search: the states that it found, and the calls into the compiled loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.codegen.model_module import COUNTERS
from floodmark.checkers.native import loops
from floodmark.checkers.native.compiled_model import Kernel
from floodmark.checkers.native.memory import reserve

FULLEST = 0.7
"""A table with more of its cells taken is replaced by one twice as large."""
FIRST_BITS = 16
MOST_BITS = 32

Array = NDArray[np.uint64]


class OutOfRoom(Exception):  # noqa: N818 - it ends a search undetermined, it is no mistake
    """The states no longer fit the memory that was set aside for them."""


class Crew:
    """What the workers of one search share: the table, where each one's states are, the frontier that is left."""

    def __init__(self, kernel: Kernel, workers: int, most_states: int) -> None:
        self.kernel = kernel
        self.words = kernel.interface.layout.words
        self.stores = [reserve(most_states * self.words) for _ in range(workers)]
        self.addresses = np.array([store.ctypes.data for store in self.stores], dtype=np.uint64)
        self.cursors = reserve(workers * loops.LINE)
        self.ends = reserve(workers * loops.LINE)
        self.stop = reserve(loops.LINE)
        self.most_states = most_states
        self.must_grow = False
        self.bits = FIRST_BITS
        self.table: Array = np.zeros(0, dtype=np.uint64)
        self.workers = [Worker(self, number) for number in range(workers)]
        room = self.workers[0].room
        while FULLEST * (1 << self.bits) < 4 * room * workers:
            self.bits += 1
        self._share_table()

    def _share_table(self) -> None:
        self.table = reserve((1 << self.bits) // 2)
        limit = min(int(FULLEST * (1 << self.bits)) // len(self.workers), self.most_states)
        for worker in self.workers:
            worker.fields[loops.TABLE] = self.table.ctypes.data
            worker.fields[loops.BITS] = self.bits
            worker.fields[loops.LIMIT] = limit

    def grow(self, each: Callable[[Callable[[Worker], object]], object]) -> None:
        """Replaces the table by one twice as large; ``each`` runs a task for every worker. No worker may be running."""
        if any(worker.count + worker.room > self.most_states for worker in self.workers):
            raise OutOfRoom("the states fill the memory that was set aside")
        if self.bits == MOST_BITS:
            raise OutOfRoom("a search holds at most three billion states")
        self.must_grow = False
        self.stop[0] = 0
        self.table = np.zeros(0, dtype=np.uint64)  # given back before more is taken: what is entered are the stores
        self.bits += 1
        self._share_table()
        each(lambda worker: worker.rehash())

    def state(self, position: int) -> tuple[int, ...]:
        """The words of the state at a position."""
        index, owner = divmod(position, len(self.stores))
        start = index * self.words
        return tuple(int(word) for word in self.stores[owner][start : start + self.words])


class Worker:
    """One thread's part of a search."""

    def __init__(self, crew: Crew, number: int) -> None:
        interface = crew.kernel.interface
        self.crew = crew
        self.kernel = crew.kernel
        self.number = number
        self.words = crew.words
        self.store = crew.stores[number]
        self.room = loops.BATCH + interface.most_successors
        self.levels: list[tuple[int, int]] = []
        # Each of these has pages of its own, so that no two workers write to one cache line.
        self.fields = reserve(loops.FIELDS)
        self.buffer = reserve(self.room * self.words)
        self.context = self.new_context()
        self.best = reserve(loops.BEST_PLACES)
        self._scratch = reserve(4 * loops.GROUP)
        self._fill()
        self._run = crew.kernel.loops.function("run", 1)
        self._check = crew.kernel.loops.function("check_states", 3)
        self._rehash = crew.kernel.loops.function("rehash", 1)
        self._find_parent = crew.kernel.loops.function("find_parent", 3)

    def new_context(self) -> Array:
        """A context as the model's code expects it, nothing counted yet."""
        context = reserve(self.kernel.interface.context_words + 1)
        context[loops.OUTSIDE] = loops.EVERYTHING
        return context

    def _fill(self) -> None:
        values = {
            loops.STORE: self.store.ctypes.data,
            loops.BUFFER: self.buffer.ctypes.data,
            loops.SCRATCH: self._scratch.ctypes.data,
            loops.CONTEXT: self.context.ctypes.data,
            loops.BEST: self.best.ctypes.data,
            loops.ME: self.number,
            loops.STORES: self.crew.addresses.ctypes.data,
            loops.CURSORS: self.crew.cursors.ctypes.data,
            loops.ENDS: self.crew.ends.ctypes.data,
            loops.STOP: self.crew.stop.ctypes.data,
        }
        for field, value in values.items():
            self.fields[field] = value
        self.take_code()

    def take_code(self) -> None:
        """Calls the kernel's present edition of the model's code from now on."""
        code = self.kernel.model
        self.fields[loops.EXPAND] = code.address("expand")
        self.fields[loops.CHECK] = code.address("check")
        self.fields[loops.CANONICAL] = code.address("canonical") if self.kernel.symmetry else 0

    @property
    def count(self) -> int:
        """States that this worker found first."""
        return int(self.fields[loops.COUNT])

    @property
    def memory(self) -> int:
        """Bytes of its states and buffers, and of its share of the table."""
        table = self.crew.table.nbytes // len(self.crew.workers)
        return (self.count + min(self.room, 1 << 20)) * self.words * 8 + table

    @property
    def fired(self) -> Array:
        """How often each action fired."""
        return self.context[COUNTERS : self.kernel.interface.first_premise]

    def add(self, states: Sequence[tuple[int, ...]]) -> None:
        """Adds states outside of a level."""
        for start in range(0, len(states), loops.BATCH):
            part = np.array(states[start : start + loops.BATCH], dtype=np.uint64).reshape(-1)
            self.buffer[: len(part)] = part
            self.fields[loops.PENDING] = len(part) // self.words
            while self._run(self.fields.ctypes.data) == loops.GROW:
                self.crew.grow(lambda task: [task(worker) for worker in self.crew.workers])

    def start_level(self, level: int) -> None:
        """Makes everything found since the last level the frontier; ``level`` counts from 1."""
        start, stop = self.levels[-1][1] if self.levels else 0, self.count
        assert len(self.levels) == level - 1
        self.levels.append((start, stop))
        self.fields[loops.OWNER] = self.number
        if len(self.crew.workers) == 1:
            self.fields[loops.CURSOR], self.fields[loops.LEVEL_END] = start, stop
        else:
            self.crew.cursors[self.number * loops.LINE] = start
            self.crew.ends[self.number * loops.LINE] = stop
            self.fields[loops.CURSOR] = self.fields[loops.LEVEL_END] = 0

    def expand_level(self, paused: Callable[[], bool]) -> bool:
        """Expands what is left of the frontier. False when it had to stop on the way: ``paused`` said so, or the table
        has to grow, for which all workers have to stop."""
        alone = len(self.crew.workers) == 1
        while True:
            match self._run(self.fields.ctypes.data):
                case loops.LEVEL_DONE:
                    return True
                case loops.GROW if alone:
                    self.crew.grow(lambda task: task(self))
                case loops.GROW:
                    self.crew.must_grow = True
                    return False
            if paused() or (self.crew.stop[0] and not alone):
                return False

    def rehash(self) -> None:
        """Enters this worker's states into a new table."""
        self._rehash(self.fields.ctypes.data)

    def check_level(self, false_wanted: int, true_wanted: int) -> None:
        """Evaluates the state predicates on the states found since the last level began."""
        start = self.levels[-1][1] if self.levels else 0
        self.fields[loops.FALSE_WANTED] = false_wanted
        self.fields[loops.TRUE_WANTED] = true_wanted
        self._check(self.fields.ctypes.data, start, self.count)

    def noted(self, place: int) -> tuple[int, ...] | None:
        """The words of the smallest state noted at a place, and nothing any more afterwards."""
        position = int(self.best[place])
        self.best[place] = 0
        return None if position == 0 else self.crew.state(position - 1)

    def parent_in(self, level: int, target: tuple[int, ...]) -> tuple[int, ...] | None:
        """The smallest state of a level (counted from 0) that has ``target`` as a successor."""
        wanted = np.array(target, dtype=np.uint64)
        context = self.new_context()
        self.fields[loops.TARGET] = wanted.ctypes.data
        self.fields[loops.CONTEXT] = context.ctypes.data
        self._find_parent(self.fields.ctypes.data, *self.levels[level])
        self.fields[loops.CONTEXT] = self.context.ctypes.data
        return self.noted(loops.BEST_PARENT)
