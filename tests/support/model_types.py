"""The finite types that generated models use, before there is a class for any of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Bool:
    pass


@dataclass(frozen=True)
class Int:
    """``text`` is the annotation's bounds where they are not the plain numbers, such as ``0, "size + 1"``."""

    low: int
    high: int
    text: str = ""


@dataclass(frozen=True)
class Enumeration:
    name: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class Name:
    """An identifier class."""

    name: str
    count: int


@dataclass(frozen=True)
class Maybe:
    inner: Kind


@dataclass(frozen=True)
class Struct:
    name: str
    fields: tuple[tuple[str, Kind], ...]


@dataclass(frozen=True)
class OneOf:
    """Records of one of several classes; the module calls their union by ``name``."""

    name: str
    members: tuple[Struct, ...]

    @property
    def common(self) -> tuple[tuple[str, Kind], ...]:
        """The fields that all have."""
        first, *others = (dict(member.fields) for member in self.members)
        return tuple((name, kind) for name, kind in first.items() if all(name in other for other in others))

    @property
    def fields(self) -> tuple[tuple[str, Kind], ...]:
        """Every field that any of them has, as it is stored."""
        every = {name: kind for member in self.members for name, kind in member.fields}
        partly = [(name, kind if isinstance(kind, Maybe) else Maybe(kind)) for name, kind in every.items()]
        return tuple(dict([*partly, *self.common]).items())


@dataclass(frozen=True)
class SetOf:
    element: Kind
    capacity: int | None = None


@dataclass(frozen=True)
class BagOf:
    element: Kind
    capacity: int


@dataclass(frozen=True)
class MapOf:
    key: Kind
    value: Kind


@dataclass(frozen=True)
class SeqOf:
    element: Kind
    capacity: int


Kind: TypeAlias = Bool | Int | Enumeration | Name | Maybe | Struct | OneOf | SetOf | BagOf | MapOf | SeqOf


def codes(kind: Kind) -> int:
    """The counterpart of ``Type.codes``."""
    match kind:
        case Bool():
            return 2
        case Int(low, high):
            return high - low + 1
        case Enumeration(members=members):
            return len(members)
        case Name(count=count):
            return count
        case Maybe(inner):
            return codes(inner) + 1
    return 1 << bits(kind)


def bits(kind: Kind) -> int:
    """The counterpart of ``Type.bits``."""
    match kind:
        case Struct(fields=fields):
            return sum(bits(of) for _, of in fields)
        case OneOf(members=members):
            return (len(members) - 1).bit_length() + sum(bits(of) for _, of in kind.fields)
        case SetOf(element, None):
            return codes(element)
        case SetOf(element, int() as capacity) | BagOf(element, capacity):
            return capacity * codes(element).bit_length()
        case MapOf(key, value):
            return values(key) * bits(value)
        case SeqOf(element, capacity):
            return capacity.bit_length() + capacity * bits(element)
    return (codes(kind) - 1).bit_length()


def listed(kind: Kind) -> bool:
    """Whether loops over classes and ranges visit every value."""
    return isinstance(kind, Bool | Int | Enumeration | Name) or (
        isinstance(kind, Struct) and all(listed(of) for _, of in kind.fields)
    )


def values(kind: Kind) -> int:
    """The number of values of an enumerable type."""
    return math.prod(values(of) for _, of in kind.fields) if isinstance(kind, Struct) else codes(kind)


def annotation(kind: Kind) -> str:
    """The type as a model's source writes it."""
    match kind:
        case Bool():
            return "bool"
        case Int(low, high, text):
            return f"Annotated[int, Between({text or f'{low}, {high}'})]"
        case Maybe(inner):
            return f"{annotation(inner)} | None"
        case SetOf(element, None):
            return f"Set[{annotation(element)}]"
        case SetOf(element, capacity):
            return f"Annotated[Set[{annotation(element)}], Capacity({capacity})]"
        case BagOf(element, capacity):
            return f"Annotated[Bag[{annotation(element)}], Capacity({capacity})]"
        case MapOf(key, value):
            return f"Map[{annotation(key)}, {annotation(value)}]"
        case SeqOf(element, capacity):
            return f"Annotated[Seq[{annotation(element)}], Capacity({capacity})]"
    return kind.name


def hint(kind: Kind) -> str:
    """The type as a helper's signature writes it, where bounds say nothing."""
    match kind:
        case Bool():
            return "bool"
        case Int():
            return "int"
        case Maybe(inner):
            return f"{hint(inner)} | None"
        case SetOf(element, _):
            return f"Set[{hint(element)}]"
        case BagOf(element, _):
            return f"Bag[{hint(element)}]"
        case MapOf(key, value):
            return f"Map[{hint(key)}, {hint(value)}]"
        case SeqOf(element, _):
            return f"Seq[{hint(element)}]"
    return kind.name


def alike(a: Kind, b: Kind) -> bool:
    """Whether a value of one may be meant where the other is wanted: the same but for bounds and capacities."""
    match a, b:
        case Int(), Int():
            return True
        case (Maybe(x), Maybe(y)) | (SetOf(x), SetOf(y)) | (BagOf(x), BagOf(y)) | (SeqOf(x), SeqOf(y)):
            return alike(x, y)
        case MapOf(key, x), MapOf(other, y):
            return key == other and alike(x, y)
    return a == b


def ordered(kind: Kind) -> bool:
    """Whether a set of these has one order of iteration, in CPython and in packed codes."""
    match kind:
        case SeqOf() | SetOf(_, int()):
            return False
        case SetOf(inner) | Maybe(inner) | BagOf(inner):
            return ordered(inner)
        case MapOf(_, value):
            return ordered(value)
        case OneOf():
            return all(ordered(of) for _, of in kind.fields)
        case Struct(fields=fields):
            return all(ordered(of) for _, of in fields)
    return True
