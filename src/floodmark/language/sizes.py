"""The numbers of elements of a state's containers that have a capacity or, if a model gives none, a width."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from floodmark.language.types import BagType, MapType, OptionalType, RecordType, SeqType, SetType, Type


def sizes(kind: Type, value: Any, name: str) -> Iterator[tuple[str, int]]:
    """The size of each such container in the value of a variable, with its place in the model's words.

    The entries of a map share a place. The content of a container's elements is not considered.
    """
    match kind:
        case SetType(_, int()) | BagType() | SeqType():
            yield name, len(value)
        case OptionalType(inner) if value is not None:
            yield from sizes(inner, value, name)
        case RecordType(_, fields):
            parts = kind.parts(value)
            for field, of in fields:
                yield from sizes(of, parts[field], f"{name}.{field}")
        case MapType(_, of):
            for item in value.values():
                yield from sizes(of, item, f"{name}[...]")


def capacities(kind: Type, name: str) -> Iterator[tuple[str, int]]:
    """The capacity, or the width, of each of these containers."""
    match kind:
        case SetType(_, int() as capacity) | BagType(_, capacity) | SeqType(_, capacity):
            yield name, capacity
        case OptionalType(inner):
            yield from capacities(inner, name)
        case RecordType(_, fields):
            for field, of in fields:
                yield from capacities(of, f"{name}.{field}")
        case MapType(_, of):
            yield from capacities(of, f"{name}[...]")
