"""Combinations of types: the join of two types, and whether a value of one fits another."""

from __future__ import annotations

from floodmark.compiler.ir import INT, UNBOUNDED, NoneType, NothingType
from floodmark.language.errors import ModelError
from floodmark.language.types import (
    MAX_MASK_BITS,
    WORD,
    BagType,
    IntType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
    has_any_size,
    union_of,
)


def hull(low: int, high: int) -> IntType:
    """The integers from low to high; if they may not fit a machine word, ``INT``."""
    if low <= -UNBOUNDED or high >= UNBOUNDED:
        return INT
    return IntType(low, high)


def join(a: Type, b: Type) -> Type | None:
    """The smallest type that holds the values of both, or None when there is none."""
    if a == b or isinstance(b, NothingType):
        return a
    if isinstance(a, NothingType):
        return b
    match a, b:
        case NoneType(), OptionalType():
            return b
        case OptionalType(), NoneType():
            return a
        case NoneType(), _:
            return OptionalType(b)
        case _, NoneType():
            return OptionalType(a)
        case OptionalType(inner), OptionalType(other):
            return _wrap(join(inner, other))
        case OptionalType(inner), _:
            return _wrap(join(inner, b))
        case _, OptionalType(inner):
            return _wrap(join(a, inner))
        case UnionType(), RecordType() if _holds(a, b):
            return a
        case RecordType(), UnionType() if _holds(b, a):
            return b
        case IntType(), IntType():
            return hull(min(a.low, b.low), max(a.high, b.high))
        case SetType(), SetType():
            element = join(a.element, b.element)
            if element is None:
                return None
            if a.capacity is not None and b.capacity is not None:
                return SetType(element, max(a.capacity, b.capacity))
            if has_any_size(element):
                return SetType(element)
            return SetType(element, None if element.codes <= MAX_MASK_BITS else max(_most(a), _most(b)))
        case SeqType(), SeqType():
            element = join(a.element, b.element)
            return None if element is None else SeqType(element, max(a.capacity, b.capacity))
        case MapType(), MapType():
            value = join(a.value, b.value)
            return MapType(a.key, value) if a.key == b.key and value is not None else None
        case BagType(), BagType():
            element = join(a.element, b.element)
            return None if element is None else BagType(element, max(a.capacity, b.capacity))
    return None


def set_type(element: Type, most: int) -> SetType:
    """The type of a set that is made of at most ``most`` elements: a mask, or slots if these take fewer bits.

    A mask of one word beats slots, whatever its size. Declared types are not chosen here.
    """
    if has_any_size(element):
        return SetType(element)
    slotted = SetType(element, min(most, element.codes))
    masked = element.codes <= WORD or (element.codes <= MAX_MASK_BITS and element.codes <= slotted.bits)
    return SetType(element) if masked else slotted


def _most(kind: SetType) -> int:
    return kind.element.codes if kind.capacity is None else kind.capacity


def _holds(union: UnionType, other: RecordType) -> bool:
    """Whether records of the other type are records of the union."""
    return set(_classes(other)) <= set(union.members)


def _classes(kind: RecordType) -> tuple[RecordType, ...]:
    return kind.members if isinstance(kind, UnionType) else (kind,)


def either(a: Type, b: Type) -> Type | None:
    """The smallest type that holds the values of both; for records of different classes, their union."""
    known = join(a, b)
    if known is not None:
        return known
    match a, b:
        case OptionalType(inner), OptionalType(other):
            return _wrap(either(inner, other))
        case OptionalType(inner), _:
            return _wrap(either(inner, b))
        case _, OptionalType(inner):
            return _wrap(either(a, inner))
        case RecordType(), RecordType():
            try:
                return union_of((*_classes(a), *_classes(b)))
            except ModelError:
                return None
    return None


def changes_class(source: Type, target: Type) -> bool:
    """Whether converting ``source`` to ``target`` turns records into those of a union, or the reverse."""
    match source, target:
        case RecordType(), RecordType():
            return source != target
        case OptionalType(inner), OptionalType(other):
            return changes_class(inner, other)
        case OptionalType(inner), _:
            return changes_class(inner, target)
        case _, OptionalType(inner):
            return changes_class(source, inner)
        case MapType(), MapType():
            return changes_class(source.value, target.value)
        case SetType() | BagType() | SeqType(), SetType() | BagType() | SeqType():
            return changes_class(source.element, target.element)
    return False


def _wrap(inner: Type | None) -> Type | None:
    return None if inner is None else OptionalType(inner)


def fits(source: Type, target: Type) -> bool:
    """Whether every value of ``source`` is a value of ``target``, so that a conversion cannot fail."""
    if isinstance(source, SeqType) and isinstance(target, SeqType):
        return source.capacity <= target.capacity and (source.capacity == 0 or fits(source.element, target.element))
    if isinstance(source, SetType) and isinstance(target, SetType):
        room = target.capacity is None or _most(source) <= target.capacity
        return room and fits(source.element, target.element)
    return join(source, target) == target


def convertible(source: Type, target: Type) -> bool:
    """Whether some values of ``source`` may be values of ``target``."""
    match source, target:
        case OptionalType(inner), _ if not isinstance(target, OptionalType):
            return convertible(inner, target)
        case RecordType(), OptionalType(inner):
            return convertible(source, inner)
        case OptionalType(RecordType() as inner), OptionalType(other):
            return convertible(inner, other)
        case UnionType(), RecordType() if not set(source.members).isdisjoint(_classes(target)):
            return True
        case (SeqType() | BagType(), BagType()):
            return join(source.element, target.element) is not None
        case MapType(), MapType():
            return source.key == target.key and convertible(source.value, target.value)
    return join(source, target) is not None
