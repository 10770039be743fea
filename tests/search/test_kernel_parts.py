"""Tests what the kernel of a search rests on: the memory that it takes, and the bytes that a stored state has."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import pytest

from floodmark import Between, Model, action, require
from floodmark.checkers.kernel import memory
from floodmark.checkers.kernel.compiled_model import build_kernel, stride_of
from floodmark.checkers.kernel.memory import MARGIN, PAGE, MemoryBudget, ReservedMemory, in_pages, reserve
from floodmark.checkers.kernel.partitioned import fingerprints
from floodmark.checkers.native.search import search_states
from floodmark.checkers.reference import search as reference
from floodmark.checkers.search_result import Options
from floodmark.compiler.layout import fingerprint, lay_out
from floodmark.language.types import IntType


@pytest.mark.parametrize("bits", [1, 7, 8, 9, 60, 63, 64, 65, 71, 72, 73, 120, 127, 128, 129, 200])
def test_a_stored_state_has_the_bytes_that_hold_its_last_bit(bits: int) -> None:
    kinds = {f"n{place}": IntType(0, 1) for place in range(bits)}
    layout = lay_out(kinds)
    ends = [slot.word * 64 + slot.offset + slot.bits for slot in layout.slots.values()]
    assert layout.words * 8 >= stride_of(layout) == -(-max(ends) // 8)


@pytest.mark.parametrize("words", [1, 2, 511, 512, 513, 5000, (1 << 18) - 1, 1 << 18, (1 << 18) + 1])
def test_an_array_has_the_words_that_were_asked_for_all_zero(words: int) -> None:
    found = reserve(words)
    assert len(found) == max(words, 512) and not found.any()


@pytest.mark.parametrize(("size", "taken"), [(1, 4096), (5000, 5000), (PAGE - 1, PAGE - 1), (PAGE, PAGE),
                                             (PAGE + 1, 2 * PAGE), (3 * PAGE - 5, 3 * PAGE)])
def test_large_areas_are_taken_in_pages_and_small_ones_as_they_are(size: int, taken: int) -> None:
    assert ReservedMemory(size).size == taken
    assert in_pages(size) == -(-size // PAGE) * PAGE


def test_there_is_room_for_what_nobody_else_has_or_will_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "memory_of_this_process", lambda: 300)
    limit = MARGIN + 1000
    for elsewhere, others, most in ((0, 50, 50), (80, 50, 80), (80, 0, 80), (0, 0, 0)):
        budget = MemoryBudget(limit, elsewhere)
        monkeypatch.setattr(budget, "others", lambda others=others: others)
        assert budget.room(200) == 1000 - most - (300 - 200)


def test_the_fingerprints_of_many_states_are_those_of_each() -> None:
    layout = lay_out({"low": IntType(0, 2**40), "high": IntType(0, 2**50)})
    states = [(7, 2**49), (2**39 + 1, 3), (0, 0)]
    rows = np.array([layout.pack(state) for state in states], dtype=np.uint64)
    for seed in (1, 99):
        each = [fingerprint(layout.pack(state), seed) for state in states]
        assert fingerprints(rows.reshape(-1), layout.words, seed).tolist() == each


class Wide(Model):
    """Its states take two words, of the second a few bytes."""

    low: Annotated[int, Between(0, 2**40)] = 1
    high: Annotated[int, Between(0, 2**50)] = 1
    last: bool = False

    @action
    def doubles(self) -> None:
        require(self.low < 274_877_906_944)
        self.low *= 2

    @action
    def squares(self) -> None:
        require(self.high < 1_048_576)
        self.high = self.high * self.high + 1
        self.last = not self.last


@pytest.mark.parametrize("workers", [1, 2])
def test_states_of_several_words_are_read_as_they_were_stored(workers: int) -> None:
    found = search_states(Wide(), [], Options(workers=workers))
    known = reference.search_states(Wide(), [], Options(workers=1))
    assert (found.distinct, found.generated, found.digest) == (known.distinct, known.generated, known.digest)


def test_only_the_optimisation_of_much_code_is_told() -> None:
    told: list[str] = []
    assert build_kernel(Wide(), {}, symmetry=False, good=True, tell=told.append).good
    assert told == []
