"""One worker of the search: the states that it found, and its calls to the compiled loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.codegen.model_module import COUNTERS
from floodmark.checkers.exploration import Limit, Stop, Stopped
from floodmark.checkers.kernel import loops
from floodmark.checkers.kernel.compiled_model import Kernel, stride_of
from floodmark.checkers.kernel.memory import Budget, Region, in_pages, reserve

FULL = 0.7
"""A table fuller than this is replaced by a larger one."""
CROWDED = 0.9
"""How full the last table that memory has room for may get; look-ups then pass more cells."""
GROWTH, GROWTH_OF_LARGE = 2.0, 1.5
"""How much larger the next table is. A large one grows in smaller steps, so that fewer cells are empty."""
LARGE_CELLS = 1 << 22
FIRST_CELLS = 1 << 16
MAX_BITS = 32
CELL_BYTES = 4
WORTHWHILE = 1.05
"""A table is refilled only if it then has room for this many times the states."""
PIECE = 1 << 16
"""States that Python processes together."""

Array = NDArray[np.uint64]


class OutOfRoom(Stopped):
    """The states no longer fit in the memory reserved for them."""


class Holder(Protocol):
    """Anything that holds states of a search: a thread of this process, files, a cluster."""

    words: int
    levels: list[tuple[int, int]]

    @property
    def fields(self) -> Array:
        """Its fields, at the places that ``loops`` names."""

    @property
    def context(self) -> Array:
        """The counters."""

    @property
    def count(self) -> int:
        """States that it found first."""

    @property
    def fired(self) -> Array:
        """How often each action fired."""

    def take_code(self) -> None:
        """Switches to the kernel's current edition of the model's code."""

    def start_level(self, level: int) -> None:
        """Makes everything found since the last level the frontier; ``level`` counts from 1."""

    def expand_level(self, paused: Callable[[], bool]) -> bool:
        """Expands the rest of the frontier; False when it had to stop partway."""

    def check_level(self, false_wanted: int, true_wanted: int) -> None:
        """Evaluates the state predicates on the states found since the last level began."""

    def noted(self, place: int) -> tuple[int, ...] | None:
        """The words of the smallest state noted at a place; clears the note."""

    def parent_in(self, level: int, target: tuple[int, ...]) -> tuple[int, ...] | None:
        """The smallest state of a level (counted from 0) that has ``target`` as a successor."""


def unpacked(stored: NDArray[np.uint8], words: int) -> Array:
    """Stored states, a row of bytes each, as rows of words."""
    rows = np.zeros((len(stored), words * 8), dtype=np.uint8)
    rows[:, : stored.shape[1]] = stored
    return rows.view(np.uint64)


class Crew:
    """What the workers of one search share: the table, where each one's states are, the rest of the frontier."""

    def __init__(self, kernel: Kernel, workers: int, budget: Budget) -> None:
        self.kernel = kernel
        self.budget = budget
        self.words = kernel.interface.layout.words
        self.stride = stride_of(kernel.interface.layout)
        first = int(FULL * FIRST_CELLS) * self.stride
        self.stores = [Region(max(budget.limit, first) + 8) for _ in range(workers)]
        self.addresses = np.array([store.address for store in self.stores], dtype=np.uint64)
        self.cursors = reserve(workers * loops.LINE)
        self.ends = reserve(workers * loops.LINE)
        self.stop = reserve(loops.LINE)
        self.must_grow = False
        self.capacity = 0
        self.cells = FIRST_CELLS
        self.table: Region | None = None
        self.workers = [Worker(self, number) for number in range(workers)]
        self._take_table(FIRST_CELLS, int(FULL * FIRST_CELLS))
        self.look_at_memory()

    # The table, and how many states there may be.

    @property
    def needed(self) -> int:
        """The number of states, including those that pending look-ups may add."""
        return sum(worker.count + worker.pending for worker in self.workers)

    @property
    def held(self) -> int:
        """Bytes of states and table."""
        states = sum(in_pages(worker.count * self.stride) for worker in self.workers)
        return states + (0 if self.table is None else self.table.size)

    def grow(self, each: Callable[[Callable[[Worker], object]], object]) -> None:
        """Makes room for more states; ``each`` runs a task for every worker. No worker may be running.

        Raises OutOfRoom if memory has no room.
        """
        self.must_grow = False
        self.stop[0] = 0
        if self.capacity - self.needed > self.capacity // 64 and self._divide():
            return
        cells, capacity = self._next_table()
        if cells == self.cells:
            self.capacity = capacity
            if self._divide():
                return
        self.drop_table()  # before more is taken: the new table is filled from the stores
        if not self._take_table(cells, capacity):
            raise OutOfRoom(Stop(Limit.STORE, detail="what a table of 32-bit cells can point to"))
        each(lambda worker: worker.rehash())

    def _next_table(self) -> tuple[int, int]:
        """How many cells the table should have, and how many states then still fit. Raises OutOfRoom."""
        needed = self.needed
        room = self.budget.room(self.held) - self.budget.of_pages(len(self.workers))
        cells = _next_size(self.cells)
        while int(FULL * cells) < WORTHWHILE * needed:
            cells = _next_size(cells)
        capacity = int(FULL * cells)
        if cells * CELL_BYTES + capacity * self.stride > room:
            fitting = int(max(room, 0) / (self.stride + CELL_BYTES / CROWDED))
            here = min(int(CROWDED * self.cells), max(room - self.cells * CELL_BYTES, 0) // self.stride)
            cells, capacity = int(fitting / CROWDED), fitting
            if capacity < WORTHWHILE * max(needed, here):
                cells, capacity = self.cells, here
            if capacity < needed + needed // 64:
                raise OutOfRoom(Stop(Limit.MEMORY))
        if cells >= 1 << MAX_BITS:
            raise OutOfRoom(Stop(Limit.STORE, detail="what a table of 32-bit cells can point to"))
        return cells, capacity

    def _take_table(self, cells: int, capacity: int) -> bool:
        self.cells, self.capacity = cells, capacity
        self.table = Region(cells * CELL_BYTES)
        most = max(worker.count + worker.pending for worker in self.workers)
        # A worker may find twice its share.
        bits = min((2 * max(cells, len(self.workers) * most)).bit_length(), MAX_BITS)
        for worker in self.workers:
            worker.fields[loops.TABLE] = self.table.address
            worker.fields[loops.SIZE] = cells
            worker.fields[loops.BITS] = bits
        return self._divide()

    def drop_table(self) -> None:
        """Releases the table; without it nothing can be looked up."""
        self.table = None

    def let_go(self) -> None:
        """Releases all states, which something else holds by now."""
        for store in self.stores:
            store.give_back(0, store.size)

    def _divide(self) -> bool:
        """Gives each worker an equal share of what is left; False if a cell has no room for such a position, or the
        store none for such a state."""
        share = max(self.capacity - self.needed, 0) // len(self.workers)
        bits = int(self.workers[0].fields[loops.BITS])
        most = min((1 << bits) // len(self.workers) - 1, (self.stores[0].size - 8) // self.stride)
        for worker in self.workers:
            worker.fields[loops.LIMIT] = min(worker.count + worker.pending + share, most)
        return all(worker.count + worker.pending <= most for worker in self.workers)

    def look_at_memory(self) -> None:
        """Lowers the limit on states if something else has taken the memory meanwhile."""
        if self.table is None:
            return
        room = self.budget.room(self.held) - self.table.size - self.budget.of_pages(len(self.workers))
        if self.capacity * self.stride <= room:
            return
        self.capacity = max(room, 0) // self.stride
        share = max(self.capacity - self.needed, 0) // len(self.workers)
        for worker in self.workers:
            worker.fields[loops.LIMIT] = min(int(worker.fields[loops.LIMIT]), worker.count + share)

    def state(self, position: int) -> tuple[int, ...]:
        """The words of the state at a position."""
        index, owner = divmod(position, len(self.stores))
        return tuple(int(word) for word in self.workers[owner].rows(index, index + 1)[0])


def _next_size(cells: int) -> int:
    return int(cells * (GROWTH if cells < LARGE_CELLS else GROWTH_OF_LARGE))


class Worker:
    """One thread's part of a search."""

    def __init__(self, crew: Crew, number: int) -> None:
        interface = crew.kernel.interface
        self.crew = crew
        self.kernel = crew.kernel
        self.number = number
        self.words = crew.words
        self.stride = crew.stride
        self.store = crew.stores[number]
        self.room = loops.BATCH + interface.most_successors
        self.levels: list[tuple[int, int]] = []
        # Each of these has its own pages, so no two workers write to the same cache line.
        self.fields: Array = reserve(loops.FIELDS)
        self.buffer = reserve(self.room * self.words)
        self.context: Array = self.new_context()
        self.best = reserve(loops.BEST_PLACES)
        self._scratch = reserve(2 * loops.GROUP)
        self._state = reserve(self.words)
        self._fill()

    def new_context(self) -> Array:
        """A context as the model's code expects it, with all counters zero."""
        context = reserve(self.kernel.interface.context_words + 1)
        context[loops.OUTSIDE] = loops.EVERYTHING
        return context

    def _fill(self) -> None:
        values = {
            loops.STORE: self.store.address,
            loops.BUFFER: self.buffer.ctypes.data,
            loops.SCRATCH: self._scratch.ctypes.data,
            loops.STATE: self._state.ctypes.data,
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
        code = self.kernel.model
        self.fields[loops.EXPAND] = code.address("expand")
        self.fields[loops.CHECK] = code.address("check")
        self.fields[loops.CANONICAL] = code.address("canonical") if self.kernel.symmetry else 0
        compiled = self.kernel.loops
        self._run = compiled.function("run", 1)
        self._check = compiled.function("check_states", 3)
        self._rehash = compiled.function("rehash", 1)
        self._find_parent = compiled.function("find_parent", 3)

    @property
    def count(self) -> int:
        return int(self.fields[loops.COUNT])

    @property
    def pending(self) -> int:
        """Successors not looked up yet."""
        return int(self.fields[loops.PENDING])

    @property
    def fired(self) -> Array:
        return self.context[COUNTERS : self.kernel.interface.first_premise]

    def rows(self, start: int, stop: int) -> Array:
        """A slice of its states, a row of words each."""
        stored = self.store.bytes[start * self.stride : stop * self.stride].reshape(-1, self.stride)
        return unpacked(stored, self.words)

    def pieces(self) -> Iterator[Array]:
        """All of its states, in pieces."""
        for start in range(0, self.count, PIECE):
            yield self.rows(start, min(start + PIECE, self.count))

    def give_back(self, start: int, stop: int) -> None:
        """Releases the memory of a slice of its states, which something else holds by now."""
        self.store.give_back(start * self.stride, stop * self.stride)

    def add(self, states: Sequence[tuple[int, ...]]) -> bool:
        """Adds up to a batch of states outside any level; False if the table has to grow for them."""
        part = np.array(states, dtype=np.uint64).reshape(-1)
        self.buffer[: len(part)] = part
        self.fields[loops.PENDING] = len(states)
        return self.expand_level(lambda: False)

    def start_level(self, level: int) -> None:
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
        """Expands the rest of the frontier. False when it had to stop partway: ``paused`` said so, or the table has to
        grow, for which all workers have to stop."""
        alone = len(self.crew.workers) == 1
        while True:
            match self._run(self.fields.ctypes.data):
                case loops.LEVEL_DONE:
                    return True
                case loops.GROW:
                    self.crew.must_grow = True
                    return False
            if paused() or (self.crew.stop[0] and not alone):
                return False

    def rehash(self) -> None:
        """Enters this worker's states into a new table."""
        self._rehash(self.fields.ctypes.data)

    def check_level(self, false_wanted: int, true_wanted: int) -> None:
        start = self.levels[-1][1] if self.levels else 0
        self.fields[loops.FALSE_WANTED] = false_wanted
        self.fields[loops.TRUE_WANTED] = true_wanted
        self._check(self.fields.ctypes.data, start, self.count)

    def noted(self, place: int) -> tuple[int, ...] | None:
        position = int(self.best[place])
        self.best[place] = 0
        return None if position == 0 else self.crew.state(position - 1)

    def parent_in(self, level: int, target: tuple[int, ...]) -> tuple[int, ...] | None:
        wanted = np.array(target, dtype=np.uint64)
        context = self.new_context()
        self.fields[loops.TARGET] = wanted.ctypes.data
        self.fields[loops.CONTEXT] = context.ctypes.data
        self._find_parent(self.fields.ctypes.data, *self.levels[level])
        self.fields[loops.CONTEXT] = self.context.ctypes.data
        return self.noted(loops.BEST_PARENT)
