"""States in memory, found by threads that share one table of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

import numpy as np

from floodmark.checkers.kernel import loops
from floodmark.checkers.kernel.compiled_model import Kernel, stride_of
from floodmark.checkers.kernel.memory import MemoryBudget, ReservedMemory, in_pages, reserve
from floodmark.checkers.native.worker import Worker
from floodmark.checkers.search.store import Array, LocalStore, Packed, StoreFull
from floodmark.checkers.search_result import Limit, Stop

T = TypeVar("T")

FULL = 0.7
"""The load factor above which a larger table replaces a table."""
CROWDED = 0.9
"""The load factor of the last table that memory has room for; look-ups then pass more cells."""
GROWTH = 2.0
"""The growth factor of a table. Smaller steps leave fewer cells empty, but a state is entered more often."""
FIRST_CELLS = 1 << 16
MAX_BITS = 32
CELL_BYTES = 4
WORTHWHILE = 1.05
"""The minimum factor by which a refilled table must have room for more states."""


class MemoryStore(LocalStore):
    """States in memory, found by threads that share a table of them and the rest of the frontier."""

    adapts = True

    def __init__(self, kernel: Kernel, workers: int, budget: MemoryBudget, deadlock: bool) -> None:
        super().__init__(kernel.interface)
        self.kernel = kernel
        self.budget = budget
        self.stride = stride_of(kernel.interface.layout)
        first = int(FULL * FIRST_CELLS) * self.stride
        self.stores = [ReservedMemory(max(budget.limit, first) + 8) for _ in range(workers)]
        self.addresses = np.array([store.address for store in self.stores], dtype=np.uint64)
        self.cursors = reserve(workers * loops.LINE)
        self.ends = reserve(workers * loops.LINE)
        self.stop = reserve(loops.LINE)
        self.must_grow = False
        self.capacity = 0
        self.cells = FIRST_CELLS
        self.table: ReservedMemory | None = None
        self.workers = [Worker(self, number) for number in range(workers)]
        for worker in self.workers:
            worker.fields[loops.DEADLOCK] = int(deadlock)
        self._threads = ThreadPoolExecutor(workers)
        self._take_table(FIRST_CELLS, int(FULL * FIRST_CELLS))
        self.adapt()

    # The table, and how many states there may be.

    @property
    def needed(self) -> int:
        """The number of states, including those that pending look-ups may add."""
        return sum(worker.count + worker.pending for worker in self.workers)

    @property
    def memory_bytes(self) -> int:
        """Bytes of states and table."""
        states = sum(in_pages(worker.count * self.stride) for worker in self.workers)
        return states + (0 if self.table is None else self.table.size)

    def _grow(self) -> None:
        """Makes room for more states. No worker may be running. Raises StoreFull if memory has no room."""
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
            raise StoreFull(Stop(Limit.STORE, detail="what a table of 32-bit cells can point to"))
        self._each(Worker.rehash)

    def _next_table(self) -> tuple[int, int]:
        """The number of cells that the table should have, and of states that then fit. Raises StoreFull."""
        needed = self.needed
        room = self.budget.room(self.memory_bytes) - self.budget.of_pages(len(self.workers))
        cells = int(GROWTH * self.cells)
        while int(FULL * cells) < WORTHWHILE * needed:
            cells = int(GROWTH * cells)
        capacity = int(FULL * cells)
        if cells * CELL_BYTES + capacity * self.stride > room:
            fitting = int(max(room, 0) / (self.stride + CELL_BYTES / CROWDED))
            here = min(int(CROWDED * self.cells), max(room - self.cells * CELL_BYTES, 0) // self.stride)
            cells, capacity = int(fitting / CROWDED), fitting
            if capacity < WORTHWHILE * max(needed, here):
                cells, capacity = self.cells, here
            if capacity < needed + needed // 64:
                raise StoreFull(Stop(Limit.MEMORY))
        if cells >= 1 << MAX_BITS:
            raise StoreFull(Stop(Limit.STORE, detail="what a table of 32-bit cells can point to"))
        return cells, capacity

    def _take_table(self, cells: int, capacity: int) -> bool:
        self.cells, self.capacity = cells, capacity
        self.table = ReservedMemory(cells * CELL_BYTES)
        most = max(worker.count + worker.pending for worker in self.workers)
        # One of several workers may find twice its share. Each bit that is left makes tags more selective.
        twice = 1 if len(self.workers) == 1 else 2
        bits = min((twice * max(cells, len(self.workers) * most) - 1).bit_length(), MAX_BITS)
        for worker in self.workers:
            worker.fields[loops.TABLE] = self.table.address
            worker.fields[loops.SIZE] = cells
            worker.fields[loops.BITS] = bits
        return self._divide()

    def drop_table(self) -> None:
        """Releases the table; without it nothing can be looked up."""
        self.table = None

    def let_go(self) -> None:
        """Releases all states, which have been copied elsewhere."""
        for store in self.stores:
            store.give_back(0, store.size)

    def _divide(self) -> bool:
        """Gives each worker an equal share of the remaining capacity; False if a cell or the store is too small for
        that many states."""
        share = max(self.capacity - self.needed, 0) // len(self.workers)
        bits = int(self.workers[0].fields[loops.BITS])
        most = min((1 << bits) // len(self.workers) - 1, (self.stores[0].size - 8) // self.stride)
        for worker in self.workers:
            worker.fields[loops.LIMIT] = min(worker.count + worker.pending + share, most)
        return all(worker.count + worker.pending <= most for worker in self.workers)

    def adapt(self) -> None:
        if self.table is None:
            return
        room = self.budget.room(self.memory_bytes) - self.table.size - self.budget.of_pages(len(self.workers))
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

    # A store of a search.

    @property
    def parts(self) -> Sequence[Worker]:
        return self.workers

    @property
    def context(self) -> Array:
        total: Array = np.sum([worker.context for worker in self.workers], axis=0, dtype=np.uint64)
        return total

    @property
    def digest(self) -> Array:
        sums = [worker.fields[[loops.DIGEST_1, loops.DIGEST_2]] for worker in self.workers]
        total: Array = np.sum(sums, axis=0, dtype=np.uint64)
        return total

    def add(self, states: Sequence[Packed]) -> None:
        first = self.workers[0]
        done = first.add(states)
        while not done:
            self._grow()
            done = first.expand_level(lambda: False)

    def start_level(self, level: int) -> None:
        for worker in self.workers:
            worker.start_level(level)

    def expand_level(self, paused: Callable[[], bool]) -> bool:
        while True:
            done = self._each(lambda worker: worker.expand_level(paused))
            if not self.must_grow:
                return all(done)
            self._grow()

    def check_level(self) -> None:
        self._each(lambda worker: worker.check_level(*self.wanted))

    def noted(self, place: int) -> Packed | None:
        noted = [state for worker in self.workers if (state := worker.noted(place)) is not None]
        return min(noted, default=None)

    def parent_in(self, level: int, target: Packed) -> Packed | None:
        found = [state for worker in self.workers if (state := worker.parent_in(level, target)) is not None]
        return min(found, default=None)

    def take_code(self) -> None:
        for worker in self.workers:
            worker.take_code()

    def values_seen(self, budget: MemoryBudget) -> dict[str, int]:
        self.drop_table()  # to have its memory
        return super().values_seen(budget)

    def confirm_symmetry(self, kernel: Kernel, stopped: bool) -> None:
        if self.table is not None:  # else not all of its states were entered
            super().confirm_symmetry(kernel, stopped)

    def close(self) -> None:
        self._threads.shutdown()

    def _each(self, task: Callable[[Worker], T]) -> list[T]:
        """The results of a task for each worker, each in a thread of its own."""
        futures = [self._threads.submit(task, worker) for worker in self.workers[1:]]
        try:
            first = task(self.workers[0])
        finally:
            wait(futures)
        return [first, *(future.result() for future in futures)]

    # A level that is undone.

    def remember(self) -> None:
        """Saves the data, other than states, that a level changes."""
        self._before = [(worker.context.copy(), worker.fields.copy()) for worker in self.workers]

    def take_back(self) -> None:
        """Undoes the level that was begun since ``remember``."""
        for worker, (context, fields) in zip(self.workers, self._before, strict=True):
            worker.context[:] = context
            for field in (loops.COUNT, loops.DIGEST_1, loops.DIGEST_2):
                worker.fields[field] = fields[field]
            worker.fields[loops.PENDING] = 0
            worker.best[:] = 0
            worker.levels.pop()
