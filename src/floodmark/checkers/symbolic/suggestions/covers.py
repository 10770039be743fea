"""Small clauses that are true of every known example and false of one given choice: covers of a matrix.

A clause that a countermodel breaks consists of literals that are false there, so a set of atoms says which. Each known
example has to make one of them true: the set covers all examples, or hits each of them (Reiter 1987). There are few
such sets, as each example makes few of these literals true.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray


def covers(true: NDArray[np.bool_], most: int, limit: int) -> list[tuple[int, ...]]:
    """The sets of at most ``most`` columns of which each row has one, none of them containing another; about
    ``limit`` of them at most.
    """
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
    """The covers of up to ``size`` columns, found from a row that has few."""
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
