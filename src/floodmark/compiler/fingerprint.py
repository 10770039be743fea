"""Fingerprints of expression graphs: equal if the same code results from them, wherever their source is.

The hash covers everything that determines code: the structure of the graph, the shapes of its types, and constants by
their codes in a packed state. Names and printed forms of classes and members do not count.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from dataclasses import fields
from functools import cache, lru_cache
from typing import Any

from floodmark.compiler import ir
from floodmark.compiler.identity_key import MAX_KEYS, IdentityKey
from floodmark.compiler.layout import Layout, Slot, encode
from floodmark.language.types import Type

_NODES = (
    ir.Action, ir.Expr, ir.FieldStep, ir.SharedFunction, ir.Generator, ir.ItemStep, Layout, ir.Predicate, ir.Range,
    Slot, ir.Statement, ir.Universe,
)


def fingerprint(*parts: Any) -> str:
    """The hash of nodes, types and plain values, with their structure and their constants.

    Positions and the names of local variables do not count. Two graphs that share their parts differently may have two
    fingerprints. Two graphs with different meanings never have the same one, short of a collision of SHA-256: the
    hashed text is uniquely decodable, since each word is preceded by its length, each node has the fields of its class,
    and each list its size.
    """
    return Fingerprints(*parts)._begins.hex()


class Fingerprints:
    """Fingerprints of parts with a common prefix: each is that of the prefix followed by the part."""

    def __init__(self, *beginning: Any) -> None:
        self._beginning = beginning  # no node may end, and leave its identity to another, while this is in use
        self._written = _FingerprintWriter()
        self._written.write_all(beginning)
        self._begins = self._written.hash.digest()

    def of(self, *parts: Any) -> str:
        """The fingerprint of some parts, from a cache of recent ones if it was for these very nodes."""
        return _written(_FingerprintParts((self._begins, _known_by(parts)), self._written, parts))


class _FingerprintParts:
    """Parts with a prefix; equal if both have the same text."""

    __slots__ = ("_key", "begun", "parts")

    def __init__(self, key: Hashable, begun: _FingerprintWriter, parts: tuple[Any, ...]) -> None:
        self._key = key
        self.begun = begun
        self.parts = parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _FingerprintParts) and other._key == self._key

    def __hash__(self) -> int:
        return hash(self._key)


@lru_cache(maxsize=MAX_KEYS)
def _written(asked: _FingerprintParts) -> str:
    writer = asked.begun.copy()
    writer.write_all(asked.parts)
    return writer.hash.hexdigest()


def _known_by(part: Any) -> Hashable:
    """A key that two parts share only if they have the same text."""
    if isinstance(part, list | tuple):
        return (list, *map(_known_by, part))
    if isinstance(part, dict):
        return (dict, *map(_known_by, part.items()))
    if isinstance(part, _NODES):
        return IdentityKey(part)
    return part.__class__, part


class _FingerprintWriter:
    """Writes one fingerprint. It lives no longer than the parts that it was given, so no identity is reused."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.words: list[str] = []
        self.nodes: dict[int, int] = {}
        self.types: dict[Type, int] = {}
        self.seen: dict[int, tuple[Type, int]] = {}
        """The same numbers by the identities of types, which are found faster; the types are kept alive."""

    def copy(self) -> _FingerprintWriter:
        """A writer that continues from the present state of this one."""
        other = _FingerprintWriter()
        other.hash = self.hash.copy()
        other.nodes, other.types, other.seen = self.nodes.copy(), self.types.copy(), self.seen.copy()
        return other

    def write_all(self, parts: tuple[Any, ...]) -> None:
        for part in parts:
            self.write(part)
        self.hash.update("".join(self.words).encode())
        self.words = []

    def word(self, tag: str, text: str = "") -> None:
        self.words.append(f"{tag}{len(text)}:{text}")

    def write(self, value: Any) -> None:
        kind = value.__class__
        names = _names(kind)
        if names is not None:
            self._node(value, names)
        elif isinstance(value, Type):
            self._type(value)
        elif kind is list or kind is tuple:
            self.word("list", str(len(value)))
            for item in value:
                self.write(item)
        elif kind is dict:
            self.word("dict", str(len(value)))
            for key, item in value.items():
                self.write(key)
                self.write(item)
        elif kind is str:
            self.word("text", value)
        elif kind is bool or kind is int or value is None:
            self.word(kind.__name__, str(value))
        else:
            raise TypeError(f"no code is made of {value!r}, so it has no fingerprint")

    def _node(self, node: Any, names: tuple[str, ...]) -> None:
        if id(node) in self.nodes:
            self.word("again", str(self.nodes[id(node)]))
            return
        self.nodes[id(node)] = len(self.nodes)
        self.word("node", node.__class__.__name__)
        for name in names:
            self.write(getattr(node, name))
        if isinstance(node, ir.Const):
            self.word("code", "" if isinstance(node.type, ir.NoneType) else str(encode(node.type, node.value)))

    def _type(self, kind: Type) -> None:
        """The shape of a type at its first mention, and after that its number, so that two types of one shape stay
        distinct."""
        seen = self.seen.get(id(kind))
        number = self.types.get(kind) if seen is None else seen[1]
        if number is not None:
            self.seen[id(kind)] = kind, number
            self.word("type again", str(number))
            return
        self.types[kind] = len(self.types)
        self.word("type", type(kind).__name__)
        self.word("codes", format(kind.codes, "x"))
        for field in fields(kind):  # type: ignore[arg-type]
            if not field.compare:
                continue
            part = getattr(kind, field.name)
            if not isinstance(part, type):
                self.write(part)


@cache
def _names(kind: type) -> tuple[str, ...] | None:
    """The fields of a node that are written directly; None for anything that is not a node."""
    if not issubclass(kind, _NODES):
        return None
    skipped = {"at", "premises", "places"}
    if kind is ir.Local or kind is ir.SharedFunction:
        skipped.add("name")
    if kind is ir.Const:
        skipped.add("value")
    return tuple(field.name for field in fields(kind) if field.name not in skipped)
