"""The projection of states to the shared variables, with one numbering for both versions.

Two states get one number if and only if every shared variable has the same value. Values of types with the same codes
are compared as packed. Otherwise each distinct value is unpacked once and compared by its canonical form
(``alignment.canonical``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.edits.alignment import Alignment, Renames, alike, canonical
from floodmark.checkers.edits.run_graph import Numbers, Rows, RunGraph
from floodmark.compiler.layout import Layout
from floodmark.language.types import WORD

Column = NDArray[np.uint64]


def projected(old: RunGraph, new: RunGraph, alignment: Alignment) -> tuple[Numbers, Numbers]:
    """The projections of all states of the old graph, and of all states of the new graph."""
    total = old.count + new.count
    numbers = np.zeros(total, dtype=np.int64)
    for shared in alignment.shared:
        columns = [_columns(old.layout, shared.old, old.rows), _columns(new.layout, shared.new, new.rows)]
        kinds = old.layout.variables[shared.old], new.layout.variables[shared.new]
        if shared.same_codes and alike(*kinds, Renames()):  # the width of a container may be another one
            both = [np.concatenate(pair) for pair in zip(*columns, strict=True)]
        else:
            known: dict[Any, int] = {}
            names: tuple[Any, Any] = (alignment.renames.new, {})
            sides = [(old, shared.old), (new, shared.new)]
            ids = [
                _by_value(graph, name, own, known, renamed)
                for (graph, name), own, renamed in zip(sides, columns, names, strict=True)
            ]
            both = [np.concatenate(ids)]
        for column in both:
            numbers = combined(numbers, column)
    return numbers[: old.count], numbers[old.count :]


def _columns(layout: Layout, variable: str, rows: Rows) -> list[Column]:
    """The code of a variable in each row, in as many words as it takes."""
    slot = layout.slots[variable]
    if slot.bits <= WORD:
        mask = np.uint64((1 << slot.bits) - 1)
        return [rows[:, slot.word] >> np.uint64(slot.offset) & mask]
    whole, rest = divmod(slot.bits, WORD)
    columns = [rows[:, slot.word + place] for place in range(whole)]
    return [*columns, rows[:, slot.word + whole] & np.uint64((1 << rest) - 1)] if rest else columns


def _by_value(graph: RunGraph, variable: str, columns: Sequence[Column], known: dict[Any, int], names: Any) -> Column:
    """A number for each row's value; equal values have equal numbers."""
    own = np.zeros(graph.count, dtype=np.int64)
    for column in columns:
        own = combined(own, column)
    _, first, inverse = np.unique(own, return_index=True, return_inverse=True)
    found = [known.setdefault(_value(graph, variable, int(row), names), len(known)) for row in first]
    numbers: Column = np.array(found, dtype=np.uint64)[inverse]
    return numbers


def _value(graph: RunGraph, variable: str, row: int, names: Any) -> Any:
    return canonical(graph.layout.value(variable, (int(word) for word in graph.rows[row])), names)


def combined(numbers: Numbers, column: Column) -> Numbers:
    """A number for each pair; pairs have equal numbers if and only if they are equal."""
    values, place = np.unique(column, return_inverse=True)
    if len(values) == 1:
        return numbers
    made: Numbers = np.unique(numbers * len(values) + place, return_inverse=True)[1].astype(np.int64)
    return made
