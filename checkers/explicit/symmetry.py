"""Looks whether a model is symmetric in its identifiers, as a search of orbits assumes.

A model that tells identifiers apart without naming one, by the order of a loop say, would lose states silently. So
reachable states are taken, the earliest and an even sample of all, and compared with what they become when two
neighbouring identifiers swap names: successors, steps and properties have to be the same but for the names. Such swaps
generate all renamings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from checkers.explicit import flood
from checkers.explicit.kernel import Kernel
from checkers.explicit.worker import Worker
from checkers.properties import Property
from model.compiler.renaming import Renaming, renamed, symmetric_types
from model.language.errors import ModelError
from model.language.model import Model, State
from model.language.reference import holds, successors
from model.language.source import source_of
from model.language.types import IdentifierType

EARLIEST = 64
SAMPLED = 64
_CHUNK = 1 << 18

Rows = NDArray[np.uint64]
Packed = tuple[int, ...]


def require_symmetry(model: Model, kernel: Kernel, workers: Sequence[Worker], properties: Sequence[Property]) -> None:
    """Raises ModelError when a sampled state shows that the model is not symmetric."""
    _Comparison(model, kernel, workers, properties).run()


class _Comparison:
    def __init__(self, model: Model, kernel: Kernel, workers: Sequence[Worker], properties: Sequence[Property]) -> None:
        self.model = model
        self.kernel = kernel
        self.layout = kernel.interface.layout
        self.workers = workers
        self.properties = properties
        self._expand = kernel.model.function("expand", 3)
        self._check = kernel.model.function("check", 2)
        self._canonical = kernel.model.function("canonical", 1)
        self._out = np.zeros(workers[0].room * self.layout.words, dtype=np.uint64)
        self._kinds = symmetric_types(self.layout.variables.values())

    def run(self) -> None:
        for row in sample(self.workers, self.layout.words):
            words = tuple(int(word) for word in row)
            before = self._looks(words)
            state = self.layout.unpack(words)
            for kind, renaming in self._swaps():
                other = tuple(renamed(value, renaming) for value in state)
                if self._looks(self.layout.pack(other)) != before:
                    raise self._told(kind, state, other)

    def _swaps(self) -> Iterator[tuple[IdentifierType, Renaming]]:
        for kind in self._kinds:
            for first in range(kind.count - 1):
                numbers = list(range(1, kind.count + 1))
                numbers[first], numbers[first + 1] = numbers[first + 1], numbers[first]
                yield kind, {kind.cls: tuple(numbers)}

    def _looks(self, words: Packed) -> tuple[object, ...]:
        """All that the engine sees of a state: its successors' orbits, what fired, what failed, what is true of it."""
        state = np.array(words, dtype=np.uint64)
        context = np.zeros(self.kernel.interface.context_words + 1, dtype=np.uint64)
        context[flood.OUTSIDE] = flood.EVERYTHING
        made = self._expand(state.ctypes.data, self._out.ctypes.data, context.ctypes.data)
        rows = self._out[: made * self.layout.words].reshape(made, self.layout.words)
        orbits = []
        for row in rows:
            self._canonical(row.ctypes.data)
            orbits.append(tuple(row.tolist()))
        counted = tuple(context[: self.kernel.interface.first_premise].tolist())
        context[flood.FAILED] = 0
        mask = self._check(state.ctypes.data, context.ctypes.data)
        return sorted(orbits), counted, mask, int(context[flood.FAILED])

    def _told(self, kind: IdentifierType, state: State, other: State) -> ModelError:
        file, line = type(self.model).source_position()
        what = "the model"
        mine, theirs = self._orbits(state), self._orbits(other)
        for name, method in type(self.model).methods("action").items():
            if mine[name] != theirs[name]:
                source = source_of(method)
                what, file, line = f"the action {name}", source.file, source.tree.lineno
                break
        else:
            for prop in self.properties:
                if prop.kind != "transition" and self._holds(prop.function, state) != self._holds(prop.function, other):
                    what, file, line = f"the property {prop.name}", prop.file, prop.line
                    break
        message = (
            f"{what} tells one {kind.cls.__name__} from another, so the model is not symmetric; use symmetry = false"
        )
        return ModelError(message, file, line)

    def _orbits(self, state: State) -> dict[str, Counter[Packed]]:
        found: dict[str, Counter[Packed]] = {name: Counter() for name in type(self.model).methods("action")}
        try:
            for step, after in successors(self.model, state):
                row = np.array(self.layout.pack(after), dtype=np.uint64)
                self._canonical(row.ctypes.data)
                found[step.action][tuple(row.tolist())] += 1
        except ModelError:
            pass
        return found

    def _holds(self, function: Callable[..., bool], state: State) -> bool | None:
        try:
            return holds(self.model, function, state)
        except ModelError:
            return None


def sample(workers: Sequence[Worker], words: int) -> Rows:
    """Reachable states, the same for any number of workers."""
    chosen = np.zeros((0, words), dtype=np.uint64)
    for level in range(len(workers[0].levels)):
        if len(chosen) >= EARLIEST:
            break
        rows = np.concatenate([_rows(worker, *worker.levels[level]) for worker in workers])
        chosen = np.concatenate([chosen, _first(rows, EARLIEST - len(chosen))])
    drawn = np.zeros((0, words), dtype=np.uint64)
    for worker in workers:
        for start in range(0, worker.count, _CHUNK):
            rows = _rows(worker, start, min(start + _CHUNK, worker.count))
            drawn = _first(np.concatenate([drawn, rows]), SAMPLED)
    return np.unique(np.concatenate([chosen, drawn]), axis=0)


def _rows(worker: Worker, start: int, stop: int) -> Rows:
    return worker.store[start * worker.words : stop * worker.words].reshape(-1, worker.words)


def _first(rows: Rows, count: int) -> Rows:
    """The rows that come first in an order without a meaning."""
    if len(rows) <= count:
        return rows
    order = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        order = (order ^ column) * np.uint64(flood.MULTIPLIER_1)
        order ^= order >> np.uint64(32)
    return rows[np.argpartition(order, count - 1)[:count]]
