"""Small clauses that are true in every known example and false in one given choice: covers of a matrix.

A clause that excludes a countermodel consists of literals that are false there, so a set of atoms determines it. Each
known example has to satisfy one of these literals: the set hits every example (a hitting set, Reiter 1987). There are
few such sets, as each example satisfies few of the literals.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray


def covers(true: NDArray[np.bool_], most: int, limit: int) -> list[tuple[int, ...]]:
    """The minimal sets of at most ``most`` columns that hit every row; about ``limit`` of them at most."""
    found: dict[tuple[int, ...], None] = {}
    for size in range(1, most + 1):
        for chosen in _covers(true, size):
            key = tuple(sorted(chosen))
            if len(key) == size and not any(set(it) < set(key) for it in found):
                found[key] = None
            if len(found) >= limit:
                return list(found)
    return list(found)


def _covers(true: NDArray[np.bool_], size: int) -> Iterator[tuple[int, ...]]:
    """The covers of up to ``size`` columns, found by branching on a row with few of them."""
    if not len(true):
        yield ()
    elif size == 1:
        for column in np.flatnonzero(true.all(axis=0)):
            yield (int(column),)
    else:
        rarest: Any = true[true.sum(axis=1).argmin()]
        for column in np.flatnonzero(rarest):
            for rest in _covers(true[~true[:, column]], size - 1):
                yield (int(column), *rest)
