"""The largest size of each container with a capacity, read from many packed states at a time.

Slots are filled from the lowest up, so the highest set bit of all codes gives the size of the largest set or bag. The
code of an optional value is one less than its packed form.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from floodmark.compiler.layout import Layout
from floodmark.language.types import WORD, BagType, MapType, OptionalType, RecordType, SeqType, SetType, Type
from floodmark.language.widths import capacities

Codes = NDArray[np.uint64]
"""The codes of a value in many states: rows of words, the lowest word first."""


_AT_ONCE = 1 << 14
"""The number of states that are processed together: as many as a processor's cache holds."""


class LargestSizes:
    """The largest sizes in the states that were read."""

    def __init__(self, layout: Layout) -> None:
        self._bounded = [
            (name, kind, slot.word * WORD + slot.offset)
            for name, kind in layout.variables.items()
            for slot in [layout.slots[name]]
            if any(capacities(kind, name))
        ]
        self.largest = {place: 0 for name, kind, _ in self._bounded for place, _ in capacities(kind, name)}

    def is_needed(self) -> bool:
        """Whether there is a container with a capacity."""
        return bool(self._bounded)

    def look(self, rows: Codes) -> None:
        """Reads packed states, rows of words."""
        for start in range(0, len(rows), _AT_ONCE):
            some = rows[start : start + _AT_ONCE]
            for name, kind, offset in self._bounded:
                for place, size in _largest(kind, some, offset, name):
                    self.largest[place] = max(self.largest[place], size)


def _largest(kind: Type, codes: Codes, offset: int, name: str) -> Iterator[tuple[str, int]]:
    """The largest sizes in values of a type, which lie ``offset`` bits from the start of some codes."""
    match kind:
        case SetType(element, int()) | BagType(element, _):
            yield name, -(-_bits(_cut(codes, offset, kind.bits)) // element.codes.bit_length())
        case SeqType(_, capacity):
            yield name, int(_cut(codes, offset, capacity.bit_length())[:, 0].max()) if capacity else 0
        case OptionalType(inner):
            there = _cut(codes, offset, kind.bits)
            there = there[there.any(axis=1)]
            if len(there):
                yield from _largest(inner, _less_one(there), 0, name)
        case RecordType(_, fields):
            offset += sum(of.bits for _, of in fields)
            for field, of in fields:
                offset -= of.bits
                if any(capacities(of, "")):
                    yield from _largest(of, codes, offset, f"{name}.{field}")
        case MapType(key, of):
            if any(capacities(of, "")):
                for position in range(key.size):
                    yield from _largest(of, codes, offset + position * of.bits, f"{name}[...]")


def _bits(codes: Codes) -> int:
    """The number of bits of the largest code."""
    together = np.bitwise_or.reduce(codes, axis=0)
    return max((word * WORD + int(part).bit_length() for word, part in enumerate(together) if part), default=0)


def _cut(codes: Codes, offset: int, bits: int) -> Codes:
    """``bits`` bits of each code from ``offset`` up."""
    first, by = divmod(offset, WORD)
    words = max(1, -(-bits // WORD))
    mask = np.uint64((1 << (bits - (words - 1) * WORD)) - 1)
    if by + bits <= WORD:
        return (codes[:, first : first + 1] >> np.uint64(by)) & mask
    part = codes[:, first : first + words] >> np.uint64(by)
    if by:
        above = codes[:, first + 1 : first + 1 + words] << np.uint64(WORD - by)
        part[:, : above.shape[1]] |= above
    part[:, -1] &= mask
    return part


def _less_one(codes: Codes) -> Codes:
    less = codes.copy()
    borrow = np.ones(len(codes), dtype=bool)
    for word in range(codes.shape[1]):
        less[:, word] -= borrow
        borrow &= codes[:, word] == 0
    return less
