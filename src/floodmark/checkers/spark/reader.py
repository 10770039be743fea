"""States in this process's own memory, and the loops that read states.

A page of a file may have changed since its level was accepted, and may be as before a moment later. So a task never
expands or checks states where they are stored. It copies them, a piece at a time, and adds up the fingerprints of the
copies, which at the end of the level must be the digest that was accepted. So whatever was expanded or checked is what
was accepted.
"""

from __future__ import annotations

import numpy as np

from floodmark.checkers.codegen.model_module import COUNTERS
from floodmark.checkers.kernel import loops as native_loops
from floodmark.checkers.spark.code_transfer import LoadedKernel
from floodmark.checkers.spark.ledger import Array

Packed = tuple[int, ...]


class StateReader:
    """Holds copies of states, a piece at a time. ``code`` are the model's functions in this process."""

    def __init__(self, code: LoadedKernel) -> None:
        self.code = code
        self.words = code.code.words
        self.fields = np.zeros(native_loops.FIELDS, dtype=np.uint64)
        self.store: Array = np.zeros(0, dtype=np.uint64)
        self._buffer = np.zeros((native_loops.BATCH + code.code.most_successors) * self.words, dtype=np.uint64)
        self._scratch = np.zeros(native_loops.SCRATCH_WORDS, dtype=np.uint64)
        self._state = np.zeros(self.words, dtype=np.uint64)
        self._best = np.zeros(native_loops.BEST_PLACES, dtype=np.uint64)
        self._context = self._new_context()
        self._noted: dict[int, Packed] = {}
        for place, value in {
            native_loops.BUFFER: self._buffer.ctypes.data,
            native_loops.SCRATCH: self._scratch.ctypes.data,
            native_loops.STATE: self._state.ctypes.data,
            native_loops.CONTEXT: self._context.ctypes.data,
            native_loops.BEST: self._best.ctypes.data,
            native_loops.EXPAND: code.model.address("expand"),
            native_loops.CHECK: code.model.address("check"),
            native_loops.CANONICAL: code.model.address("canonical") if code.code.symmetry else 0,
        }.items():
            self.fields[place] = value

    def _new_context(self) -> Array:
        context = np.zeros(self.code.code.context_words + 1, dtype=np.uint64)
        context[native_loops.OUTSIDE] = native_loops.ALL_ONES
        return context

    def copy(self, states: Array) -> None:
        """Holds a copy of these states (consecutive words) instead of the piece before."""
        self._note()
        if len(states) > len(self.store):
            self.store = np.zeros(len(states), dtype=np.uint64)
            self.fields[native_loops.STORE] = self.store.ctypes.data
        count = len(states) // self.words
        self.code.copied(self.fields.ctypes.data, states.ctypes.data, count)
        self.fields[native_loops.COUNT] = count

    @property
    def count(self) -> int:
        return int(self.fields[native_loops.COUNT])

    @property
    def states(self) -> Array:
        """The words of the piece."""
        return self.store[: self.count * self.words]

    @property
    def digest(self) -> tuple[int, int]:
        """The sums of the fingerprints of all states copied since ``begin``."""
        return int(self.fields[native_loops.DIGEST_1]), int(self.fields[native_loops.DIGEST_2])

    def begin(self) -> None:
        """Begins to add up fingerprints."""
        self.fields[native_loops.DIGEST_1] = self.fields[native_loops.DIGEST_2] = 0

    # Processing of the piece.

    def check(self, false_wanted: int, true_wanted: int) -> None:
        """Evaluates the state predicates on each state."""
        self.fields[native_loops.FALSE_WANTED] = false_wanted
        self.fields[native_loops.TRUE_WANTED] = true_wanted
        self.code.check(self.fields.ctypes.data, 0, self.count)

    def find_parents(self, target: Packed) -> None:
        """Notes the smallest state that has ``target`` as a successor, at ``BEST_PARENT``."""
        wanted = np.array(target, dtype=np.uint64)
        self.fields[native_loops.TARGET] = wanted.ctypes.data
        self.code.find_parent(self.fields.ctypes.data, 0, self.count)

    def take_noted(self) -> dict[int, Packed]:
        """The smallest state noted at each place, in all pieces; clears the notes."""
        self._note()
        noted, self._noted = self._noted, {}
        return noted

    def _note(self) -> None:
        """Keeps what was noted of the piece."""
        for place in np.nonzero(self._best)[0]:
            end = int(self._best[place]) * self.words
            state = tuple(int(word) for word in self.store[end - self.words : end])
            known = self._noted.get(int(place))
            self._noted[int(place)] = state if known is None else min(known, state)
        self._best[:] = 0

    def take_counters(self) -> bytes:
        """The counters of the context, which are then reset to zero."""
        mine = self._context[: self.code.code.counter_words]
        counted = mine.copy()
        mine[:] = 0
        mine[native_loops.OUTSIDE] = native_loops.ALL_ONES
        counted[: native_loops.CUT] = 0
        counted[native_loops.OUTSIDE : COUNTERS] = 0
        return counted.tobytes()
