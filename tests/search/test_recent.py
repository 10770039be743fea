"""Tests the filters of recent successors: a state that is not stored is never dropped."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from floodmark.checkers.codegen.jit import MachineCode, object_image
from floodmark.checkers.codegen.loop_compiler import Word, Words, compile_loops, exported
from floodmark.checkers.kernel import compiled_model, loops
from floodmark.checkers.kernel.loops import copy, drop_recent, fingerprint, is_recent, same
from floodmark.checkers.kernel.partitioned import empty_filter, fingerprints
from floodmark.checkers.native import memory
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.properties import collect
from floodmark.checkers.reference import search as reference
from floodmark.checkers.search import store
from floodmark.checkers.search_result import Limits, Options
from floodmark.language.model import Model
from tests.search.test_memory import Scattered, SetLimit, small
from tests.search.test_native import Jumps, Wide, compared

__all__ = ["small"]

State = tuple[int, ...]


@exported
def kept(w: Words, states: Words, count: Word) -> Word:
    return drop_recent(w, states, count)


class Filter:
    """A filter of ``2 ** bits`` states of some words."""

    def __init__(self, words: int, bits: int) -> None:
        functions: list[Callable[..., Any]] = [fingerprint, same, copy, is_recent, drop_recent, kept]
        text = str(compile_loops(functions, {"NW": words, "RECENT_BITS": bits}))
        self.code = MachineCode([object_image({"test": text}, lambda: text)])
        self.words, self.bits = words, bits
        self.cells = np.full(words << bits, 7, dtype=np.uint64)
        self.empty()
        self.fields = np.zeros(loops.FIELDS, dtype=np.uint64)
        self.fields[loops.RECENT] = self.cells.ctypes.data

    def empty(self) -> None:
        empty_filter(self.cells, self.bits, self.words)

    def __call__(self, states: list[State]) -> list[State]:
        rows = np.array(states, dtype=np.uint64)
        left = self.code.function("kept", 3)(self.fields.ctypes.data, rows.ctypes.data, len(states))
        return [tuple(int(word) for word in row) for row in rows[:left]]


@pytest.mark.parametrize("bits", [1, 4])
@pytest.mark.parametrize("words", [1, 2, 3])
def test_only_the_latest_state_of_a_cell_is_dropped(words: int, bits: int) -> None:
    """States differ in one word and share cells, so each word has to be compared."""
    draw = random.Random(f"{words} {bits}")
    states = list(itertools.product((0, 1, 1 << 63), repeat=words))
    drop = Filter(words, bits)
    for _ in range(20):
        given = draw.choices(states, k=60)
        cells = fingerprints(np.array(given, dtype=np.uint64), words, loops.SEED_1) & np.uint64((1 << bits) - 1)
        latest: dict[int, State] = {}
        wanted = []
        for cell, state in zip(map(int, cells), given, strict=True):
            if latest.get(cell) != state:
                wanted.append(state)
            latest[cell] = state
        drop.empty()
        assert drop(given[:25]) + drop(given[25:]) == wanted


@pytest.mark.parametrize("words", [1, 2, 5])
def test_no_state_is_recent_at_first(words: int) -> None:
    for bits in (1, 6):
        drop = Filter(words, bits)
        for state in itertools.product((0, 1, 2), repeat=words):
            drop.empty()
            assert drop([state]) == [state]


MODELS: list[tuple[type[Model], dict[str, int]]] = [(Jumps, {"size": 40}), (Wide, {}), (Scattered, {"flaw": 126})]


@pytest.mark.parametrize(("bits", "workers"), [
    (10, 1), (1, 2), *(pytest.param(*both, marks=pytest.mark.slow) for both in ((1, 1), (10, 2)))
])
def test_a_filter_changes_no_figure(bits: int, workers: int, small: SetLimit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it is used from the beginning or once the table has grown; with a table that grows at every moment."""
    small(1 << 30)
    monkeypatch.setattr(store, "PIECE", 1 << 12)
    monkeypatch.setattr(compiled_model, "RECENT_BITS", bits)
    for cls, constants in MODELS:
        properties = list(collect(cls, ()).values())
        wanted = reference.search_states(cls(**constants), properties, Options())
        for cells in (1, 64):
            monkeypatch.setattr(compiled_model, "FILTERED_FROM", cells)
            found = search_states(cls(**constants), properties, Options(workers=workers))
            for name in ("distinct", "generated", "depth", "levels", "digest", "actions", "cut"):
                assert getattr(found, name) == getattr(wanted, name), (cls, cells, name)
            assert [len(it.trace) for it in found.violations] == [len(it.trace) for it in wanted.violations]


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_a_filter_changes_nothing_on_the_way_to_files(
    workers: int, small: SetLimit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the filter of a worker has, the files have, too, whenever they take over."""
    monkeypatch.setattr(compiled_model, "FILTERED_FROM", 1)
    for cls, constants in MODELS:
        if cls is Wide:
            continue  # takes long where everything is small
        properties = list(collect(cls, ()).values())
        small(1 << 30)
        wanted = compared(search_states(cls(**constants), properties, Options(workers=workers)))
        for room in (0, 900):
            small(room)
            assert compared(search_states(cls(**constants), properties, Options(workers=workers))) == wanted


def test_a_store_that_ended_leaves_nothing_to_the_next(small: SetLimit, monkeypatch: pytest.MonkeyPatch) -> None:
    small(1 << 30)
    monkeypatch.setattr(compiled_model, "FILTERED_FROM", 1)
    wanted = reference.search_states(Jumps(size=40), [], Options())
    for states in (1, 10, 20):
        assert not search_states(Jumps(size=40), [], Options(workers=2, limits=Limits(states=states))).complete
        found = search_states(Jumps(size=40), [], Options(workers=2))
        assert (found.distinct, found.digest, found.generated) == (wanted.distinct, wanted.digest, wanted.generated)


def test_a_small_table_is_not_filtered() -> None:
    """Its cells are in the processor's caches, where a filter only takes time."""
    assert memory.FIRST_CELLS < compiled_model.FILTERED_FROM
