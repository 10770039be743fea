"""The truth values of a scope's atoms in reachable states, and the clauses that are true in all of them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.symbolic.suggestions.covers import covers
from floodmark.checkers.symbolic.suggestions.sentences import TruthColumn

MAX_COVERS = 150
"""The maximum number of clauses that are examined for one choice of variables."""
AT_FIRST = 64
"""The initial number of examples; more are added where they refute a candidate."""
AT_ONCE = 20


def different(answers: Iterable[TruthColumn], columns: int) -> TruthColumn:
    """The distinct rows of answers."""
    packed = [_distinct(np.packbits(part, axis=1)) for part in answers]
    if not packed or not columns:
        return np.zeros((min(len(packed), 1), columns), dtype=np.bool_)
    return np.unpackbits(_distinct(np.concatenate(packed)), axis=1, count=columns).astype(np.bool_)


def _distinct(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    if not rows.size:
        return rows[:1]
    whole = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1]))).reshape(-1)
    return rows[np.unique(whole, return_index=True)[1]]


class Examples:
    """The atoms' values in reachable states, without duplicates; a clause is true of a model only if it is true in
    each."""

    def __init__(self, rows: TruthColumn) -> None:
        self._keep(rows)
        step = max(1, len(rows) // AT_FIRST)
        self._looked_at = rows[::step]

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, rows: TruthColumn) -> None:
        """Adds the atoms' values in another state."""
        self._keep(np.concatenate([self._rows, rows]))
        self._looked_at = np.concatenate([self._looked_at, rows])

    def clauses(self, refuting: NDArray[np.bool_], size: int) -> list[tuple[int, ...]]:
        """The clauses of this size that are true in each example and false where the atoms' values are ``refuting``, as
        sets of atoms."""
        while True:
            found = [it for it in covers(self._looked_at != refuting, size, MAX_COVERS) if len(it) == size]
            missed = {row for it in found if (row := self._missed(it, refuting)) is not None}
            if not missed:
                return found
            self._looked_at = np.concatenate([self._looked_at, self._rows[sorted(missed)[:AT_ONCE]]])

    def _missed(self, atoms: tuple[int, ...], refuting: NDArray[np.bool_]) -> int | None:
        """An example in which a clause is false, or None."""
        true = np.zeros_like(self._all)
        for atom in atoms:
            true |= ~self._columns[atom] if refuting[atom] else self._columns[atom]
        missed = ~true & self._all
        return int(np.unpackbits(missed).argmax()) if missed.any() else None

    def _keep(self, rows: TruthColumn) -> None:
        self._rows = rows
        self._columns = np.ascontiguousarray(np.packbits(rows, axis=0).T)
        self._all = np.packbits(np.ones(len(rows), dtype=np.bool_))
