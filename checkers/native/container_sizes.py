"""The largest size of each container with a capacity, read from packed states many at a time.

Slots are filled from the lowest up, so the highest bit of any code tells the size of the largest set or bag. A code in
an optional value is one less than what is packed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from floodmark.compiler.layout import Layout
from floodmark.language.sizes import capacities
from floodmark.language.types import WORD, BagType, MapType, OptionalType, RecordType, SeqType, SetType, Type

Codes = NDArray[np.uint64]
"""The codes of a value in many states: rows of words, the lowest word first."""


class LargestSizes:
    """The largest sizes in the codes that it has seen."""

    def __init__(self, layout: Layout) -> None:
        self.largest = dict.fromkeys(
            (place for name, kind in layout.variables.items() for place, _ in capacities(kind, name)), 0
        )
        self.variables = {name: kind for name, kind in layout.variables.items() if any(capacities(kind, name))}

    def look(self, name: str, codes: Codes) -> None:
        """Looks at codes of a variable: numbers, or rows of words if it is wider than one."""
        if len(codes):
            for place, size in _largest(self.variables[name], codes.reshape(len(codes), -1), name):
                self.largest[place] = max(self.largest[place], size)


def _largest(kind: Type, codes: Codes, name: str) -> Iterator[tuple[str, int]]:
    match kind:
        case SetType(element, int()) | BagType(element, _):
            yield name, -(-_bits(codes) // element.codes.bit_length())
        case SeqType(_, capacity):
            yield name, int(_cut(codes, 0, capacity.bit_length())[:, 0].max())
        case OptionalType(inner):
            there = codes[codes.any(axis=1)]
            if len(there):
                yield from _largest(inner, _less_one(there), name)
        case RecordType(_, fields):
            offset = sum(of.bits for _, of in fields)
            for field, of in fields:
                offset -= of.bits
                if any(capacities(of, "")):
                    yield from _largest(of, _cut(codes, offset, of.bits), f"{name}.{field}")
        case MapType(key, of):
            if any(capacities(of, "")):
                for position in range(key.size):
                    yield from _largest(of, _cut(codes, position * of.bits, of.bits), f"{name}[...]")


def _bits(codes: Codes) -> int:
    """The number of bits of the largest code."""
    for word in reversed(range(codes.shape[1])):
        if top := int(codes[:, word].max()):
            return word * WORD + top.bit_length()
    return 0


def _cut(codes: Codes, offset: int, bits: int) -> Codes:
    """``bits`` bits of each code from ``offset`` up."""
    first, by = divmod(offset, WORD)
    words = max(1, -(-bits // WORD))
    padded = np.pad(codes[:, first : first + words + 1], ((0, 0), (0, 1)))
    low = padded[:, :words] >> np.uint64(by)
    high = padded[:, 1 : words + 1] << np.uint64(WORD - by) if by else np.zeros_like(low)
    part = np.zeros((len(codes), words), dtype=np.uint64)
    part[:, : low.shape[1]] = low
    part[:, : high.shape[1]] |= high
    part[:, -1] &= np.uint64((1 << (bits - (words - 1) * WORD)) - 1)
    return part


def _less_one(codes: Codes) -> Codes:
    less = codes.copy()
    borrow = np.ones(len(codes), dtype=bool)
    for word in range(codes.shape[1]):
        less[:, word] -= borrow
        borrow &= codes[:, word] == 0
    return less
