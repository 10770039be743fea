"""Erlang's external term format, as far as the bridge uses it.

The erlang-py package has the whole format, with a class for each kind of term. The bridge exchanges a few plain kinds
in large numbers, so they become Python's own here: atoms are strings (``true`` and ``false`` are bool, ``none`` is
None), and tuples, lists and integers stay what they are.
"""

from __future__ import annotations

import struct
from typing import Any

_ATOMS: dict[bytes, Any] = {b"true": True, b"false": False, b"none": None}


def encoded(term: Any) -> bytes:
    """A term as bytes. Strings become atoms, so there is no binary."""
    return b"\x83" + _encoded(term)


def _encoded(term: Any) -> bytes:
    if isinstance(term, bool) or term is None:
        return _encoded("none" if term is None else str(term).lower())
    if isinstance(term, int):
        return b"a" + bytes([term]) if 0 <= term < 256 else b"b" + struct.pack(">i", term)
    if isinstance(term, str):
        text = term.encode()
        return b"w" + bytes([len(text)]) + text
    if isinstance(term, tuple):
        return b"h" + bytes([len(term)]) + b"".join(map(_encoded, term))
    if not term:
        return b"j"
    return b"l" + struct.pack(">I", len(term)) + b"".join(map(_encoded, term)) + b"j"


def decoded(data: bytes) -> Any:
    """The term that the bytes mean. Raises ValueError for what the bridge never sends."""
    return _Reader(data).term()


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 1

    def term(self) -> Any:
        data, at = self.data, self.at
        tag = data[at]
        if tag == 97:  # a small integer
            self.at = at + 2
            return data[at + 1]
        if tag == 98:
            self.at = at + 5
            return struct.unpack_from(">i", data, at + 1)[0]
        if tag in (119, 115):  # an atom
            end = at + 2 + data[at + 1]
            self.at = end
            return self.atom(data[at + 2 : end])
        if tag in (118, 100):
            end = at + 3 + struct.unpack_from(">H", data, at + 1)[0]
            self.at = end
            return self.atom(data[at + 3 : end])
        if tag == 104:  # a tuple
            self.at = at + 2
            return tuple([self.term() for _ in range(data[at + 1])])
        if tag == 106:  # an empty list
            self.at = at + 1
            return []
        if tag == 107:  # a list of bytes
            end = at + 3 + struct.unpack_from(">H", data, at + 1)[0]
            self.at = end
            return list(data[at + 3 : end])
        if tag == 108:
            self.at = at + 5
            found = [self.term() for _ in range(struct.unpack_from(">I", data, at + 1)[0])]
            self.at += 1
            return found
        raise ValueError(f"a term of kind {tag}")

    def atom(self, text: bytes) -> Any:
        return _ATOMS[text] if text in _ATOMS else text.decode()
