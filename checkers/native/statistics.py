"""Counts the distinct values of each variable over the reachable states."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from floodmark.compiler.layout import Layout

_NARROW = 16


def values_seen(layout: Layout, stores: Sequence[NDArray[np.uint64]]) -> dict[str, int]:
    """Distinct values of each variable; ``stores`` are flat arrays of packed states."""
    seen = {}
    for name, slot in layout.slots.items():
        if slot.bits > 64:
            parts = range(slot.word, slot.word + -(-slot.bits // 64))
            rows = [np.stack([_column(layout, store, word) for word in parts], axis=1) for store in stores]
            if slot.bits % 64:
                for own in rows:
                    own[:, -1] &= np.uint64((1 << slot.bits % 64) - 1)  # its last word has other variables, too
            seen[name] = len(np.unique(np.concatenate(rows), axis=0))
            continue
        mask = np.uint64((1 << slot.bits) - 1)
        columns = [_column(layout, store, slot.word) >> np.uint64(slot.offset) & mask for store in stores]
        if slot.bits <= _NARROW:
            counts = sum(np.bincount(column.astype(np.int64), minlength=1 << slot.bits) for column in columns)
            seen[name] = int(np.count_nonzero(counts))
        else:
            seen[name] = len(np.unique(np.concatenate(columns)))
    return {name: seen[name] for name in layout.variables}


def _column(layout: Layout, store: NDArray[np.uint64], word: int) -> NDArray[np.uint64]:
    return store[word :: layout.words]
