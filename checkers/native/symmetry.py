"""Tests on sampled states that compiled code is as symmetric as the licence says (``floodmark.checkers.licence``).

The licence is about the model, so this checks the checker: the code, its renamings, and the licence itself. A sample of
reachable states, the earliest ones and an even selection of all, is compared with renamed copies: successors, steps and
properties must be the same up to names.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.native import loops
from floodmark.checkers.native.compiled_model import Kernel
from floodmark.checkers.native.files import Partition
from floodmark.checkers.native.worker import Worker
from floodmark.compiler.renaming import Renaming, renamed

EARLIEST = 64
SAMPLED = 64
RENAMINGS = 24
"""The most renamings tried per state; if a model has more, an even selection of them."""
_CHUNK = 1 << 18

Rows = NDArray[np.uint64]
Packed = tuple[int, ...]


def confirm_symmetry(kernel: Kernel, workers: Sequence[Worker | Partition]) -> None:
    """Raises RuntimeError, which is an internal error, when a sampled state and a renamed copy are treated
    differently."""
    _Comparison(kernel, workers).run()


class _Comparison:
    def __init__(self, kernel: Kernel, workers: Sequence[Worker | Partition]) -> None:
        self.kernel = kernel
        self.layout = kernel.interface.layout
        self.workers = workers
        self._expand = kernel.model.function("expand", 3)
        self._check = kernel.model.function("check", 2)
        self._canonical = kernel.model.function("canonical", 1)
        self._out = np.zeros((kernel.interface.most_successors + 1) * self.layout.words, dtype=np.uint64)

    def run(self) -> None:
        renamings = list(self._renamings())
        for row in sample(self.workers, self.layout.words):
            words = tuple(int(word) for word in row)
            before = self._looks(words)
            state = self.layout.unpack(words)
            for renaming in renamings:
                other = tuple(renamed(value, renaming) for value in state)
                if not _alike(self._looks(self.layout.pack(other)), before):
                    raise RuntimeError(f"a licensed renaming, to {other}, is not one of the compiled code, in {state}")

    def _renamings(self) -> Iterator[Renaming]:
        """An even selection of all renamings, starting with the identity."""
        licence = self.kernel.licence
        assert licence is not None
        kinds = licence.kinds
        every = [itertools.permutations(range(1, kind.count + 1)) for kind in kinds]
        ways = list(itertools.product(*every))
        for way in ways[:: -(-len(ways) // RENAMINGS)]:
            yield {kind.cls: numbers for kind, numbers in zip(kinds, way, strict=True)}

    def _looks(self, words: Packed) -> tuple[object, object, object, bool]:
        """Everything that the engine sees of a state: its successors' orbits, what fired, what is true, what failed."""
        state = np.array(words, dtype=np.uint64)
        context = np.zeros(self.kernel.interface.context_words + 1, dtype=np.uint64)
        context[loops.OUTSIDE] = loops.EVERYTHING
        made = self._expand(state.ctypes.data, self._out.ctypes.data, context.ctypes.data)
        rows = self._out[: made * self.layout.words].reshape(made, self.layout.words)
        orbits = []
        for row in rows:
            self._canonical(row.ctypes.data)
            orbits.append(tuple(row.tolist()))
        counted = tuple(context[: self.kernel.interface.first_premise].tolist())
        context[loops.FAILED] = 0
        mask = self._check(state.ctypes.data, context.ctypes.data)
        return sorted(orbits), counted, mask, bool(context[loops.FAILED])


def _alike(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """Whether two states look the same. A property that fails in one may be false in the other."""
    if one[-1] or other[-1]:
        return one[:2] == other[:2]
    return one == other


def sample(workers: Sequence[Worker | Partition], words: int) -> Rows:
    """A sample of reachable states, the same for any number of workers."""
    chosen = np.zeros((0, words), dtype=np.uint64)
    for level in range(len(workers[0].levels)):
        if len(chosen) >= EARLIEST:
            break
        rows = np.concatenate([worker.rows(*worker.levels[level]) for worker in workers])
        chosen = np.concatenate([chosen, _first(rows, EARLIEST - len(chosen))])
    drawn = np.zeros((0, words), dtype=np.uint64)
    for worker in workers:
        for start in range(0, worker.count, _CHUNK):
            rows = worker.rows(start, min(start + _CHUNK, worker.count))
            drawn = _first(np.concatenate([drawn, rows]), SAMPLED)
    return np.unique(np.concatenate([chosen, drawn]), axis=0)


def _first(rows: Rows, count: int) -> Rows:
    """The rows that come first in an arbitrary but fixed order."""
    if len(rows) <= count:
        return rows
    order = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        order = (order ^ column) * np.uint64(loops.MULTIPLIER_1)
        order ^= order >> np.uint64(32)
    return rows[np.argpartition(order, count - 1)[:count]]
