"""Many states of one model in columns: the distinct values of each variable, and the index of each state's value.

A predicate over a few variables is then evaluated once for each combination of their values, not in every state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floodmark.compiler.layout import Slot, decode, lay_out
from floodmark.language.model import Model, State
from floodmark.language.types import WORD

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Batch:
    """States: the distinct ``values`` of each variable, and for each state the indices of its values (``places``), a
    column for each variable."""

    model: Model
    values: Sequence[Sequence[Any]]
    places: Numbers

    def __len__(self) -> int:
        return len(self.places)

    def state(self, number: int) -> State:
        pairs = zip(self.values, self.places[number], strict=True)
        return tuple(values[place] for values, place in pairs)

    def combinations(self, variables: Iterable[int]) -> tuple[Numbers, Numbers]:
        """A representative state for each combination of the values of some variables, and the combination of each
        state."""
        key = np.zeros(len(self), dtype=np.int64)
        for variable in variables:
            _, key = np.unique(key * len(self.values[variable]) + self.places[:, variable], return_inverse=True)
        _, first, which = np.unique(key, return_index=True, return_inverse=True)
        return first, which


def batch_of(model: Model, states: Sequence[State]) -> Batch:
    """A batch of some states."""
    known: list[dict[Any, int]] = [{} for _ in model.variable_types]
    rows = [[at.setdefault(value, len(at)) for at, value in zip(known, state, strict=True)] for state in states]
    places = np.array(rows, dtype=np.int64).reshape(len(rows), len(known))
    return Batch(model, [list(at) for at in known], places)


def batch_of_packed(model: Model, packed: Model, rows: NDArray[np.uint64]) -> Batch:
    """A batch of packed states, as ``reachable_set`` returns them."""
    layout = lay_out(packed.variable_types)
    values, places = [], []
    for name, kind in layout.variables.items():
        codes, which = np.unique(_words(rows, layout.slots[name]), axis=0, return_inverse=True)
        values.append([decode(kind, _code(row, layout.slots[name])) for row in codes])
        places.append(which.reshape(-1))
    return Batch(model, values, np.stack(places, axis=1).astype(np.int64))


def _words(rows: NDArray[np.uint64], slot: Slot) -> NDArray[np.uint64]:
    """The words of a slot, with the bits of other slots cleared."""
    last = slot.word + (slot.offset + max(slot.bits, 1) - 1) // WORD
    found = rows[:, slot.word : last + 1].copy()
    mask = ((1 << slot.bits) - 1) << slot.offset
    for place in range(found.shape[1]):
        found[:, place] &= np.uint64(mask >> (place * WORD) & ((1 << WORD) - 1))
    return found


def _code(words: NDArray[np.uint64], slot: Slot) -> int:
    whole = sum(int(word) << (place * WORD) for place, word in enumerate(words))
    return whole >> slot.offset & ((1 << slot.bits) - 1)
