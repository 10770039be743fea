"""One thread's part of a search in memory: the states that it found, and its calls to the compiled loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.kernel import loops
from floodmark.checkers.kernel.memory import reserve
from floodmark.checkers.kernel.partitioned import empty_filter
from floodmark.checkers.search.store import Array, Packed

if TYPE_CHECKING:
    from floodmark.checkers.native.memory import MemoryStore


def unpacked(stored: NDArray[np.uint8], words: int) -> Array:
    """Stored states, a row of bytes each, as rows of words."""
    rows = np.zeros((len(stored), words * 8), dtype=np.uint8)
    rows[:, : stored.shape[1]] = stored
    return rows.view(np.uint64)


class Worker:
    """One thread's part of a search."""

    def __init__(self, memory: MemoryStore, number: int) -> None:
        interface = memory.kernel.interface
        self.memory = memory
        self.kernel = memory.kernel
        self.number = number
        self.words = memory.words
        self.stride = memory.stride
        self.store = memory.stores[number]
        self.room = loops.BATCH + interface.most_successors
        self.levels: list[tuple[int, int]] = []
        # Each of these has its own pages, so no two workers write to the same cache line.
        self.fields: Array = reserve(loops.FIELDS)
        self.buffer = reserve(self.room * self.words)
        self.context: Array = self.kernel.new_context()
        self.best = reserve(loops.BEST_PLACES)
        self._scratch = reserve(loops.SCRATCH_WORDS)
        self._state = reserve(self.words)
        bits = self.kernel.recent_bits
        self._recent = reserve(self.words << bits)[: self.words << bits]
        if bits > 0:
            empty_filter(self._recent, bits, self.words)
        self._hints = reserve(loops.HINT_WORDS + loops.BLOCK * self.words)
        self._fill()

    def _fill(self) -> None:
        values = {
            loops.STORE: self.store.address,
            loops.BUFFER: self.buffer.ctypes.data,
            loops.SCRATCH: self._scratch.ctypes.data,
            loops.STATE: self._state.ctypes.data,
            loops.RECENT: self._recent.ctypes.data,
            loops.HINTS: self._hints.ctypes.data,
            loops.CONTEXT: self.context.ctypes.data,
            loops.BEST: self.best.ctypes.data,
            loops.ME: self.number,
            loops.STORES: self.memory.addresses.ctypes.data,
            loops.CURSORS: self.memory.cursors.ctypes.data,
            loops.ENDS: self.memory.ends.ctypes.data,
            loops.STOP: self.memory.stop.ctypes.data,
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

    def rows(self, start: int, stop: int) -> Array:
        """A slice of its states, a row of words each."""
        stored = self.store.bytes[start * self.stride : stop * self.stride].reshape(-1, self.stride)
        return unpacked(stored, self.words)

    def give_back(self, start: int, stop: int) -> None:
        """Releases the memory of a slice of its states, which have been copied elsewhere."""
        self.store.give_back(start * self.stride, stop * self.stride)

    def add(self, states: Sequence[Packed]) -> bool:
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
        if len(self.memory.workers) == 1:
            self.fields[loops.CURSOR], self.fields[loops.LEVEL_END] = start, stop
        else:
            self.memory.cursors[self.number * loops.LINE] = start
            self.memory.ends[self.number * loops.LINE] = stop
            self.fields[loops.CURSOR] = self.fields[loops.LEVEL_END] = 0

    def expand_level(self, paused: Callable[[], bool]) -> bool:
        """Expands the rest of the frontier. False if it stopped early: ``paused`` requested it, or the table has to
        grow, for which all workers have to stop."""
        alone = len(self.memory.workers) == 1
        while True:
            match self._run(self.fields.ctypes.data):
                case loops.LEVEL_DONE:
                    return True
                case loops.GROW:
                    self.memory.must_grow = True
                    return False
            if paused() or (self.memory.stop[0] and not alone):
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

    def noted(self, place: int) -> Packed | None:
        position = int(self.best[place])
        self.best[place] = 0
        return None if position == 0 else self.memory.state(position - 1)

    def parent_in(self, level: int, target: Packed) -> Packed | None:
        wanted = np.array(target, dtype=np.uint64)
        context = self.kernel.new_context()
        self.fields[loops.TARGET] = wanted.ctypes.data
        self.fields[loops.CONTEXT] = context.ctypes.data
        self._find_parent(self.fields.ctypes.data, *self.levels[level])
        self.fields[loops.CONTEXT] = self.context.ctypes.data
        return self.noted(loops.BEST_PARENT)
