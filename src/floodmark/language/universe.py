"""Every value of a finite type."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from floodmark.language import values
from floodmark.language.types import (
    BagType,
    BoolType,
    EnumType,
    IdentifierType,
    IntType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
)


def universe(kind: Type) -> Iterator[Any]:
    """Every value of a type; in code order if every code is a value."""
    match kind:
        case BoolType():
            yield from (False, True)
        case IntType(low, high):
            yield from range(low, high + 1)
        case EnumType(cls):
            yield from cls
        case IdentifierType(cls, count):
            yield from (cls(number) for number in range(1, count + 1))
        case OptionalType(inner):
            yield None
            yield from universe(inner)
        case UnionType(members=classes):
            for member in classes:
                yield from universe(member)
        case RecordType(cls, fields):
            for combination in _product([kind for _, kind in fields]):
                yield cls.build(dict(zip([name for name, _ in fields], combination, strict=True)))
        case SetType(element, capacity):
            members = list(universe(element))
            for mask in range(1 << len(members)):
                if capacity is None or mask.bit_count() <= capacity:
                    yield values.Set(member for index, member in enumerate(members) if mask >> index & 1)
        case MapType(key, value):
            keys = list(universe(key))
            for combination in _product([value] * len(keys)):
                yield values.Map(dict(zip(reversed(keys), combination, strict=True)))
        case SeqType(element, capacity):
            for length in range(capacity + 1):
                for combination in _product([element] * length):
                    yield values.Seq(combination)
        case BagType(element, capacity):
            members = list(universe(element))
            for size in range(capacity + 1):
                for chosen in itertools.combinations_with_replacement(members, size):
                    yield values.Bag(chosen)


def _product(kinds: list[Type]) -> Iterator[tuple[Any, ...]]:
    if not kinds:
        yield ()
        return
    for first in universe(kinds[0]):
        for rest in _product(kinds[1:]):
            yield (first, *rest)
