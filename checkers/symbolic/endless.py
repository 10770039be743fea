"""Which constants of a model only bound integers, so that a proof can be for every value of them at once."""

from __future__ import annotations

from checkers.symbolic.values import ENDLESS
from model.language.errors import ModelError
from model.language.model import Model
from model.language.types import (
    BagType,
    IntType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
)


def endless_constants(model: Model) -> list[str]:
    """The constants that are the upper bound of an integer and at most the capacity of a set beside that."""
    found = []
    for name, value in model.constant_values.items():
        if isinstance(value, bool):
            continue
        try:
            other = type(model)(**{**model.constant_values, name: ENDLESS[0]})
        except ModelError:
            continue
        pairs = list(zip(model.variable_types.values(), other.variable_types.values(), strict=True))
        if all(_only_bound(a, b) for a, b in pairs) and any(_bounds_integer(a, b) for a, b in pairs):
            found.append(name)
    return found[: len(ENDLESS)]


def _only_bound(a: Type, b: Type) -> bool:
    """Whether two types differ in upper bounds and in the capacities of sets at most."""
    if a == b:
        return True
    match a, b:
        case IntType(), IntType():
            return a.low == b.low and b.high == ENDLESS[0]
        case OptionalType(), OptionalType():
            return _only_bound(a.inner, b.inner)
        case RecordType(), RecordType():
            return all(_only_bound(x, y) for (_, x), (_, y) in zip(a.fields, b.fields, strict=True))
        case SetType(), SetType():
            return (a.capacity is None) == (b.capacity is None) and _only_bound(a.element, b.element)
        case BagType(), BagType():
            return a.capacity == b.capacity and _only_bound(a.element, b.element)
        case SeqType(), SeqType():
            return a.capacity == b.capacity and _only_bound(a.element, b.element)
        case MapType(), MapType():
            return a.key == b.key and _only_bound(a.value, b.value)
    return False


def _bounds_integer(a: Type, b: Type) -> bool:
    match a, b:
        case IntType(), IntType():
            return a != b
        case OptionalType(), OptionalType():
            return _bounds_integer(a.inner, b.inner)
        case RecordType(), RecordType():
            return any(_bounds_integer(x, y) for (_, x), (_, y) in zip(a.fields, b.fields, strict=True))
        case SetType(), SetType():
            return _bounds_integer(a.element, b.element)
        case BagType(), BagType():
            return _bounds_integer(a.element, b.element)
        case SeqType(), SeqType():
            return _bounds_integer(a.element, b.element)
        case MapType(), MapType():
            return _bounds_integer(a.value, b.value)
    return False
