"""Tests the hints where a state that is found again may be stored: a state that is not stored is never dropped."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from floodmark.checkers.codegen.jit import MachineCode, object_image
from floodmark.checkers.codegen.loop_compiler import Word, Words, compile_loops, exported
from floodmark.checkers.kernel import compiled_model, loops
from floodmark.checkers.kernel.compiled_model import build_kernel
from floodmark.checkers.kernel.loops import LOOPS, insert_all, without_hinted
from floodmark.checkers.kernel.partitioned import fingerprints
from floodmark.checkers.native.search import search_states
from floodmark.checkers.native.worker import Worker
from floodmark.checkers.project.properties import collect
from floodmark.checkers.reference import search as reference
from floodmark.checkers.search_result import Options
from floodmark.language.model import Model
from tests.search.test_memory import Descent, Scattered
from tests.search.test_native import Grid, Jumps, Wide

MODELS: list[Model] = [Jumps(size=20), Scattered(flaw=126), Descent(), Grid(side=3)]
WORDS, STATES = 3, 200
_BEFORE = LOOPS[: LOOPS.index(insert_all)]


@exported
def remaining(w: Words, group: Words, count: Word) -> Word:
    return without_hinted(w, group, count)


class Store:
    """A store of some states, of which a hint may say anything."""

    def __init__(self) -> None:
        self.code = MachineCode([object_image({"test": (text := self._text())}, lambda: text)])
        draw = random.Random(1)
        self.states = np.array(
            [[draw.choice((0, 1, 1 << 63)) ^ index for _ in range(WORDS)] for index in range(STATES)], dtype=np.uint64
        )
        self.fields = np.zeros(loops.FIELDS, dtype=np.uint64)
        self.scratch = np.zeros(loops.SCRATCH_WORDS, dtype=np.uint64)
        self.hints = np.zeros(loops.HINT_WORDS + loops.BLOCK * WORDS, dtype=np.uint64)
        self.stored = np.concatenate([self.states.reshape(-1), np.zeros(2 * loops.BLOCK * WORDS, dtype=np.uint64)])
        for field, value in (
            (loops.STORE, self.stored.ctypes.data),
            (loops.COUNT, STATES),
            (loops.HINTS, self.hints.ctypes.data),
            (loops.SCRATCH, self.scratch.ctypes.data),
        ):
            self.fields[field] = value

    @staticmethod
    def _text() -> str:
        constants = {"NW": WORDS, "STRIDE": 8 * WORDS, "THREADS": 1, "RECENT_BITS": 1}
        return str(compile_loops([*_BEFORE, remaining], constants))

    def __call__(self, rows: np.ndarray[Any, np.dtype[np.uint64]]) -> list[int]:
        """Which rows of a group remain."""
        self.scratch[: len(rows)] = fingerprints(rows.reshape(-1), WORDS, loops.SEED_1)
        self.scratch[loops.ROWS : loops.ROWS + len(rows)] = range(len(rows))
        left = self.code.function("remaining", 3)(self.fields.ctypes.data, rows.ctypes.data, len(rows))
        return [int(row) for row in self.scratch[loops.ROWS : loops.ROWS + left]]

    def hint(self, state: np.ndarray[Any, np.dtype[np.uint64]], position: int) -> None:
        h = int(fingerprints(state, WORDS, loops.SEED_1)[0])
        self.hints[h & ((1 << loops.HINT_BITS) - 1)] = (h >> 32 << 32) | (position + 1)


@pytest.fixture
def store() -> Store:
    return Store()


def test_without_hints_every_state_is_looked_up(store: Store) -> None:
    rows = np.concatenate([np.zeros((1, WORDS), dtype=np.uint64), store.states[: loops.GROUP - 1]])
    assert store(rows) == list(range(loops.GROUP))


def test_a_state_is_dropped_where_a_hint_leads_to_it(store: Store) -> None:
    for position in (0, 5, 199):
        store.hint(store.states[position], position)
    rows = store.states[[3, 0, 5, 7, 199, 5]]
    assert store(rows) == [0, 3]
    assert store.scratch[loops.KNOWN : loops.KNOWN + 4].tolist() == [0, 5, 199, 5]


@pytest.mark.parametrize("word", range(WORDS))
def test_a_hint_is_not_believed_whichever_word_differs(store: Store, word: int) -> None:
    other = store.states[[20]].copy()
    other[0, word] ^= np.uint64(1 << 40)
    store.hint(other[0], 20)
    assert store(other) == [0]
    assert store(store.states[[20]]) == [0]  # its fingerprint is another one


def test_the_states_after_some_that_were_found_again_are_expected(store: Store) -> None:
    """Of a block, as soon as enough of the one before it were found; never of one that is not yet full."""
    full = STATES // loops.BLOCK
    for block in range(full):
        first = block * loops.BLOCK
        for position in range(first, first + loops.DENSE):
            store.hint(store.states[position], position)
            assert store(store.states[[position]]) == []
        after = store.states[first + loops.BLOCK : first + 2 * loops.BLOCK]
        assert store(after) == ([] if block + 1 < full else list(range(len(after))))
    assert store(np.zeros((1, WORDS), dtype=np.uint64)) == [0]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("block", "dense"), [(1, 0), (4, 1)])
def test_hints_change_no_figure(block: int, dense: int, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    known, used = compiled_model.loop_constants, []
    constants = {"BLOCK": block, "DENSE": dense, "GROUP": 8, "BATCH": 16, "CHUNK": 3}
    monkeypatch.setattr(compiled_model, "loop_constants", lambda *given: {**known(*given), **constants})
    monkeypatch.setattr(compiled_model, "_KNOWN_LOOPS", {})
    monkeypatch.setattr(compiled_model, "FILTERED_FROM", 1)
    monkeypatch.setattr(compiled_model, "HINTED_FROM", 1)
    start_level = Worker.start_level

    def noticed(worker: Worker, level: int) -> None:
        used.append(worker._hints[: 1 << loops.HINT_BITS].any())
        start_level(worker, level)

    monkeypatch.setattr(Worker, "start_level", noticed)
    hinted = []
    for model in MODELS:
        properties = list(collect(type(model), ()).values())
        wanted = reference.search_states(model, properties, Options())
        used.clear()
        found = search_states(model, properties, Options(workers=workers))
        for name in ("distinct", "generated", "depth", "levels", "digest", "actions", "cut"):
            assert getattr(found, name) == getattr(wanted, name), (type(model), name)
        assert [len(it.trace) for it in found.violations] == [len(it.trace) for it in wanted.violations]
        hinted.append(any(used))
    assert all(hinted) or (workers > 1 and any(hinted))  # which worker finds a state again is a matter of time


def test_what_a_worker_remembers_leaves_room_in_a_first_cache() -> None:
    for model in (Jumps(), Wide()):
        kernel = build_kernel(model, {}, symmetry=False)
        assert kernel.interface.layout.words << kernel.recent_bits <= compiled_model.RECENT_WORDS == 16384 // 8
        assert kernel.recent_bits > 0
