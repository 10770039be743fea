"""Counts the distinct values of each variable over the reachable states."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from floodmark.compiler.layout import Layout, Slot

_NARROW = 16
_COPIES = 5
"""The number of copies of the values in memory while new ones are merged with known ones."""
_MAX_PARTS = 64
_PLACE_BITS = 14
_MULTIPLIER = 0x9E3779B97F4A7C15

Rows = NDArray[np.uint64]


def values_seen(
    layout: Layout, pieces: Callable[[], Iterable[Rows]], states: int = 0, room: int | None = None
) -> dict[str, int]:
    """Distinct values of each variable; ``pieces`` yields all ``states``, rows of words, in pieces.

    It uses at most ``room`` bytes: a variable whose values would not fit is counted in several passes, each over one
    part of the values.
    """
    narrow = {name: np.zeros(1 << slot.bits, dtype=bool) for name, slot in layout.slots.items() if slot.bits <= _NARROW}
    wide = {name: slot for name, slot in layout.slots.items() if name not in narrow}
    each = {name: _COPIES * -(-slot.bits // 64) * 8 * states for name, slot in wide.items()}
    together = room is None or sum(each.values()) <= room
    distinct = {name: DistinctCodes() for name in wide}
    for rows in pieces():
        for name, flags in narrow.items():
            flags[column(rows, layout.slots[name]).view(np.int64)] = True
        for name, slot in wide.items() if together else ():
            distinct[name].add(column(rows, slot))
    seen = {name: int(np.count_nonzero(flags)) for name, flags in narrow.items()}
    for name, slot in wide.items():
        if together:
            seen[name] = distinct[name].count()
        else:
            seen[name] = _counted_in_parts(slot, pieces, -(-each[name] // max(room or 0, each[name] // _MAX_PARTS, 1)))
    return {name: seen[name] for name in layout.variables}


def _counted_in_parts(slot: Slot, pieces: Callable[[], Iterable[Rows]], parts: int) -> int:
    """The number of distinct values of a variable. Each value belongs to one of the parts, which are counted in turn.
    """
    found = 0
    for part in range(parts):
        values = DistinctCodes()
        for rows in pieces():
            codes = column(rows, slot)
            values.add(codes[(_mixed(codes) >> np.uint64(32)) % np.uint64(parts) == part])
        found += values.count()
    return found


class DistinctCodes:
    """The distinct codes of a variable. New codes are collected until there are as many as known ones: sorting all of
    them for each piece would take time quadratic in the states.

    Most variables repeat few values. A table therefore holds, at the index that its hash gives, the latest code of that
    hash; a code equal to its entry is known and need not be sorted. The table is dropped once it filters less than half
    of a piece.
    """

    def __init__(self) -> None:
        self._known: list[Rows] = []
        self._waiting = 0
        self._latest: Rows | None = None
        self._drops = True

    def add(self, codes: Rows) -> None:
        if self._drops and len(codes) > 0:
            codes = self._without_latest(codes)
        self._known.append(_distinct(codes))
        self._waiting += len(self._known[-1])
        if self._waiting >= len(self._known[0]):
            self.codes()

    def _without_latest(self, codes: Rows) -> Rows:
        """The codes that differ from their entry in the table; they become the new entries."""
        places = (_mixed(codes) >> np.uint64(64 - _PLACE_BITS)).view(np.int64)
        begins = self._latest is None
        if self._latest is None:
            self._latest = np.repeat(codes[:1], 1 << _PLACE_BITS, axis=0)
            self._known.append(codes[:1])
        differs = self._latest[places] != codes
        new = np.flatnonzero(differs if codes.ndim == 1 else differs.any(axis=1))
        self._drops = begins or 2 * len(new) <= len(codes)
        codes = codes[new]
        self._latest[places[new]] = codes
        return codes

    def codes(self) -> Rows:
        """The codes in ascending order. At least one piece must have been added."""
        if len(self._known) > 1:
            self._known = [_distinct(np.concatenate(self._known))]
        self._waiting = 0
        return self._known[0]

    def count(self) -> int:
        return len(self.codes()) if self._known else 0


def _mixed(codes: Rows) -> Rows:
    """A hash of each code, best in its high bits."""
    return (codes if codes.ndim == 1 else np.bitwise_xor.reduce(codes, axis=1)) * np.uint64(_MULTIPLIER)


def _distinct(codes: Rows) -> Rows:
    """The distinct codes, in ascending order. (numpy's own function takes ten times the memory of a code.)"""
    if codes.ndim > 1:
        codes = codes[np.lexsort(codes.T[::-1])]  # np.unique compares rows as bytes, which takes three times as long
        differs = np.any(codes[1:] != codes[:-1], axis=1)
    else:
        codes = np.sort(codes)
        differs = codes[1:] != codes[:-1]
    is_first = np.ones(len(codes), dtype=bool)
    is_first[1:] = differs
    return codes[is_first]


def column(rows: Rows, slot: Slot) -> Rows:
    """A variable's code in each row; a row of words if it is wider than one."""
    if slot.bits > 64:
        whole, rest = divmod(slot.bits, 64)
        own = rows[:, slot.word : slot.word + whole + (rest > 0)].copy()
        if rest:
            own[:, -1] &= np.uint64((1 << rest) - 1)  # its last word holds other variables too
        return own
    return rows[:, slot.word] >> np.uint64(slot.offset) & np.uint64((1 << slot.bits) - 1)


def first_rows(rows: Rows, count: int) -> Rows:
    """The rows that come first in an arbitrary but fixed order."""
    if len(rows) <= count:
        return rows
    order = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        order = (order ^ column) * np.uint64(_MULTIPLIER)
        order ^= order >> np.uint64(32)
    return rows[np.argpartition(order, count - 1)[:count]]
