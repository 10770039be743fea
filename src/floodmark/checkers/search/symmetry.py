"""Tests during a search whether compiled code is as symmetric as the proof claims.

The proof (``floodmark.checkers.symmetry.proof``) is about the model, so this tests the checker: the code, its
renamings, and the proof itself, a mistake in which may show in a few states of many. The search expands all states of a
small state space, and some of a large one, a second time under other names: successors, steps and properties must be
the same up to names. Compiled code makes the renamed copies; a sample of these, the earliest states and a selection
from some levels, is compared with the copies that Python makes. The tests take a bounded part of the search's time
(``benchmarks/symmetry_checks.py``), and a few hundredths of a second in any search.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.codegen.permutation import packed
from floodmark.checkers.kernel import loops, symmetry_loops
from floodmark.checkers.kernel.compiled_model import Kernel
from floodmark.checkers.search.statistics import first_rows
from floodmark.compiler.renaming import Renaming, renamed

if TYPE_CHECKING:
    from floodmark.checkers.search.store import StorePart

SAMPLED, SAMPLED_PART = (6, 32), 1 << 15
"""The minimum and the maximum number of states that are compared with Python's copies; in between, one in
``SAMPLED_PART`` is."""
MIN_SAMPLED_STATES = 1 << 12
"""The minimum number of states of neighbouring levels from which a selection is made."""
STEPS, PART = 1 << 15, 256
"""Up to ``STEPS`` steps, all states are compared in all ways. Beyond, the comparison takes one in ``PART`` of the steps
that expanding all states once would take, and at least a sixteenth of ``STEPS``."""
PROVED_STEPS, PROVED_PART = 1 << 17, 128
"""The same for the actions whose symmetry z3 proved."""
RENAMINGS = 24
"""The maximum number of renamings that take turns; if a model has more, an even selection of them."""
_CHUNK, _SAMPLED_CHUNK = 1 << 18, 1 << 13

Rows = NDArray[np.uint64]
Packed = tuple[int, ...]


def confirm_symmetry(kernel: Kernel, parts: Sequence[StorePart], fired: Sequence[int]) -> None:
    """Raises RuntimeError, which is an internal error, if a state and a renamed copy are treated differently.

    ``fired`` counts the firings of each action, which determine the cost of comparing.
    """
    comparison = _Comparison(kernel, fired)
    if not comparison.renamings:
        return
    comparison.confirm_renamings(sample(parts, kernel.interface.layout.words))
    assert kernel.symmetry_proof is not None
    every = range(len(kernel.interface.actions))
    comparison.confirm_all(parts, "expand", every, STEPS, PART)
    if kernel.symmetry_proof.proved_by_z3:
        proved_by_z3 = [place for place in every if place in kernel.symmetry_proof.proved_by_z3]
        comparison.confirm_all(parts, "proved_by_z3", proved_by_z3, PROVED_STEPS, PROVED_PART)


def confirm_states(kernel: Kernel, rows: Rows) -> None:
    """The same check of some states, independent of the store."""
    comparison = _Comparison(kernel, ())
    if not comparison.renamings:
        return
    comparison.confirm_renamings(first_rows(rows, SAMPLED[1]))
    comparison.turns = max(1, min(len(comparison.renamings), STEPS * 4 // max(1, len(rows))))
    comparison.confirm(rows, "expand")
    comparison.confirm(rows, "proved_by_z3")


class _Comparison:
    def __init__(self, kernel: Kernel, fired: Sequence[int]) -> None:
        self.fired = fired
        interface = kernel.interface
        self.layout = interface.layout
        self.renamings = list(_renamings(kernel))
        self.every = self.turns = 1
        """The stride of the compared states, and the number of renamings of each."""
        words = self.layout.words
        ways = [[packed(tuple(number - 1 for number in images)) for images in it.values()] for it in self.renamings]
        self._ways = np.array(ways, dtype=np.uint64)
        self._copy = np.zeros(words, dtype=np.uint64)
        self._out = np.zeros((interface.most_successors + 1) * words, dtype=np.uint64)
        self._context = np.zeros(interface.context_words + 1, dtype=np.uint64)
        fields = self._fields = np.zeros(symmetry_loops.COMPARISON_FIELDS, dtype=np.uint64)
        for field, array in (
            (symmetry_loops.COPY, self._copy), (symmetry_loops.OUT, self._out),
            (symmetry_loops.COMPARED, self._context), (symmetry_loops.WAYS, self._ways),
        ):  # fmt: skip
            fields[field] = array.ctypes.data
        fields[symmetry_loops.COMPARED_WORDS] = interface.first_memory
        fields[symmetry_loops.WAY_COUNT] = len(ways)
        fields[symmetry_loops.WAY_WORDS] = len(self._ways[0]) if ways else 0
        fields[symmetry_loops.FIRST] = interface.first_premise
        for field, name in (
            (symmetry_loops.C_CHECK, "check"), (symmetry_loops.C_RENAME, "rename"),
        ):  # fmt: skip
            fields[field] = kernel.model.address(name)
        self._model = kernel.model
        self._rename = kernel.model.function("rename", 2)
        self._compare = kernel.comparison.function("compare", 3)

    def confirm_renamings(self, rows: Rows) -> None:
        """Compares the copies of compiled code with those of Python."""
        for row, number in zip(rows, itertools.cycle(range(len(self.renamings)))):
            copy = row.copy()
            self._rename(copy.ctypes.data, self._ways[number].ctypes.data)
            state = self.layout.unpack(tuple(row.tolist()))
            other = tuple(renamed(value, self.renamings[number]) for value in state)
            if self.layout.pack(other) != tuple(copy.tolist()):
                raise RuntimeError(f"compiled code renames otherwise than to {other}, in {state}")

    def confirm_all(
        self, parts: Sequence[StorePart], expand: str, actions: Sequence[int], small: int, share: int
    ) -> None:
        """Compares some actions in the states of a search, all properties included."""
        steps = 2 * (sum(part.count for part in parts) + sum(self.fired[action] for action in actions))
        whole = steps * len(self.renamings)
        budget = max(1, whole if whole <= small else max(small >> 4, steps // share))
        self.every = max(1, -(-steps // budget))
        self.turns = min(len(self.renamings), budget // max(steps, 1)) or 1
        for part in parts:
            for start in range(0, part.count, _CHUNK):
                self.confirm(part.rows(start, min(start + _CHUNK, part.count)), expand)

    def confirm(self, rows: Rows, expand: str) -> None:
        """Compares states with renamed copies."""
        self._fields[symmetry_loops.C_EXPAND] = self._model.address(expand)
        rows = np.ascontiguousarray(rows)
        self._fields[symmetry_loops.ROWS] = rows.ctypes.data
        self._fields[symmetry_loops.EVERY] = self.every
        for turn in range(self.turns):
            differs = self._compare(self._fields.ctypes.data, len(rows), turn)
            if differs:
                state, other = (self.layout.unpack(tuple(it.tolist())) for it in (rows[differs - 1], self._copy))
                raise RuntimeError(f"a permitted renaming, to {other}, is not one of the compiled code, in {state}")

    @property
    def compared(self) -> int:
        """The number of copies compared so far."""
        return int(self._fields[symmetry_loops.DONE])


def _renamings(kernel: Kernel) -> Iterator[Renaming]:
    """An even selection of all renamings but the identity."""
    symmetry_proof = kernel.symmetry_proof
    assert symmetry_proof is not None
    kinds = symmetry_proof.kinds
    every = [itertools.permutations(range(1, kind.count + 1)) for kind in kinds]
    ways = list(itertools.product(*every))[1:]
    for way in ways[:: max(1, -(-len(ways) // RENAMINGS))]:
        yield {kind.cls: numbers for kind, numbers in zip(kinds, way, strict=True)}


def sample(parts: Sequence[StorePart], words: int) -> Rows:
    """A sample of reachable states, the same for any number of workers: the earliest, and some of a few levels."""
    least, most = SAMPLED
    wanted = min(most, max(least, sum(part.count for part in parts) // SAMPLED_PART))
    every = range(len(parts[0].levels))
    later = sorted(every, key=lambda level: level * int(loops.MULTIPLIER_1) % (1 << 64))
    kinds = [(list(every), wanted), (later, MIN_SAMPLED_STATES)]
    chosen = []
    for levels, enough in kinds:
        rows = np.zeros((0, words), dtype=np.uint64)
        seen = 0
        for level in levels:
            if seen >= enough:
                break
            for part in parts:
                start, stop = part.levels[level]
                seen += stop - start
                for first in range(start, stop, _SAMPLED_CHUNK):
                    more = part.rows(first, min(first + _SAMPLED_CHUNK, stop))
                    rows = first_rows(np.concatenate([rows, more]), wanted)
        chosen.append(rows)
    return np.unique(np.concatenate(chosen), axis=0)
