"""Bounds of containers, and the order of their elements."""

from __future__ import annotations

from floodmark.compiler import ir
from floodmark.language.types import BagType, MapType, OptionalType, RecordType, SeqType, SetType, Type

MAX_VALUE_BITS = 1 << 16
"""The maximum number of bits of a value: compiling a larger one would take too long."""


def size_bound(kind: Type) -> int:
    """The largest number of elements of a container of this type."""
    match kind:
        case SetType(element, capacity):
            return element.codes if capacity is None else min(capacity, element.codes)
        case SeqType(_, capacity) | BagType(_, capacity):
            return capacity
        case MapType(key, _):
            return key.size
    return 0


def slots_needed(value: ir.Expr) -> int:
    """The largest number of elements of a set expression, before any conversion to a wider type."""
    while isinstance(value, ir.Convert) and isinstance(value.operand.type, SetType):
        value = value.operand
    bound = size_bound(value.type)
    return min(bound, len(value.elements)) if isinstance(value, ir.SetOf) else bound


def in_code_order(kind: Type) -> bool:
    """Whether CPython orders the values of a type as their codes do. It cannot if there are sequences, or sets packed
    in slots, as their order depends on the type."""
    match kind:
        case SeqType() | SetType(_, int()):
            return False
        case OptionalType(inner) | SetType(inner, _) | BagType(inner, _) | MapType(_, inner):
            return in_code_order(inner)
        case RecordType(_, fields):
            return all(in_code_order(of) for _, of in fields)
    return True
