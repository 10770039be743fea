"""The finite types of the modelling language, as a model's annotations declare them.

A model annotates its variables with ordinary Python types; ``Between`` and ``Capacity`` add the bounds:

    Offset = Annotated[int, Between(0, "max_offset")]
    Log = Annotated[Seq[Epoch], Capacity("max_offset")]

Bounds are integers or expressions over the model's constants. ``floodmark.language.annotations`` turns an annotation
and the constants of a spec into one of the types below, each of which has finitely many values.
"""

from __future__ import annotations

import enum
import graphlib
import itertools
import math
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from floodmark.language.errors import ModelError
from floodmark.language.linear import Bound, Linear, highest, lowest

if typing.TYPE_CHECKING:
    from floodmark.language.values import Identifier, Record


@dataclass(frozen=True, slots=True)
class Between:
    """The bounds of an integer, both inclusive. Each is an integer or an expression over the model's constants.

        Epoch = Annotated[int, Between(0, "max_epoch")]
        epoch: Epoch = 0

    A value outside the bounds is a model error; nothing wraps around.
    """

    low: int | str
    high: int | str


@dataclass(frozen=True, slots=True)
class Capacity:
    """The most elements that a ``Seq``, a ``Bag`` or a ``Set`` may hold; one more is a model error.

        Log = Annotated[Seq[Epoch], Capacity("max_offset")]
        requests: Annotated[Set[Request], Capacity(2)]

    A ``Set`` without a capacity whose elements have at most 1024 codes is stored as one bit per possible element; with
    a capacity it is stored as that many sorted slots, which suits wide element types. A ``Seq``, a ``Bag`` or another
    ``Set`` without a capacity may hold any number of elements: a search begins with room for a few, and restarts with
    twice the room when that does not suffice. So a capacity says what the model must not exceed, or saves such
    restarts.
    """

    limit: int | str


class Type:
    """A finite type. A class of types defines their ``codes`` or their ``bits``."""

    @property
    def codes(self) -> int:
        """The number of codes that its values are numbered with; not all need be in use."""
        return 1 << self.bits

    @property
    def size(self) -> int:
        """The number of values: at most ``codes``."""
        return self.codes

    @property
    def bits(self) -> int:
        """The number of bits of a packed value."""
        return (self.codes - 1).bit_length()


@dataclass(frozen=True, slots=True)
class BoolType(Type):
    """``False`` and ``True``, with the codes 0 and 1."""

    @property
    def codes(self) -> int:
        return 2

    def __str__(self) -> str:
        return "bool"


@dataclass(frozen=True, slots=True)
class IntType(Type):
    """Integers from ``low`` to ``high``."""

    low: int
    high: int

    @property
    def codes(self) -> int:
        return self.high - self.low + 1

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"


@dataclass(frozen=True, slots=True)
class OpenIntType(IntType):
    """Integers from ``least`` to ``most``, where one or both name constants that are left open.

    Whatever those constants are, the integers lie between ``low`` and ``high``.
    """

    least: Bound
    most: Bound

    def __str__(self) -> str:
        return f"{self.least}..{self.most}"


@dataclass(frozen=True, slots=True)
class EnumType(Type):
    """The members of an Enum, numbered in order of definition."""

    cls: type[enum.Enum]

    @property
    def codes(self) -> int:
        return len(self.cls)

    def __str__(self) -> str:
        return self.cls.__name__


@dataclass(frozen=True, slots=True)
class IdentifierType(Type):
    """``count`` interchangeable names of one kind, for example the brokers."""

    cls: type[Identifier]
    count: int

    @property
    def codes(self) -> int:
        return self.count

    def __str__(self) -> str:
        return self.cls.__name__


@dataclass(frozen=True, slots=True)
class OpenIdentifierType(IdentifierType):
    """Interchangeable names of which there may be any number from one up: ``limit`` of them, where that names constants
    that are left open. They cannot be enumerated, and their values are never packed.
    """

    limit: Linear = field(kw_only=True)

    def __str__(self) -> str:
        return self.cls.__name__


@dataclass(frozen=True, slots=True)
class OptionalType(Type):
    """A value or ``None``, whose code is 0."""

    inner: Type

    @property
    def codes(self) -> int:
        return self.inner.codes + 1

    @property
    def size(self) -> int:
        return self.inner.size + 1

    def __str__(self) -> str:
        return f"{self.inner} | None"


@dataclass(frozen=True, slots=True)
class RecordType(Type):
    """Named fields; the first one is the most significant in the packed code."""

    cls: type[Record]
    fields: tuple[tuple[str, Type], ...]

    @property
    def bits(self) -> int:
        return sum(kind.bits for _, kind in self.fields)

    @property
    def size(self) -> int:
        return math.prod(kind.size for _, kind in self.fields)

    def field(self, name: str) -> Type:
        return dict(self.fields)[name]

    def parts(self, value: Record) -> dict[str, Any]:
        """The values of the fields of a record."""
        return value._values

    def made_of(self, parts: Mapping[str, Any]) -> Record:
        """The record with these values of its fields."""
        made: Record = self.cls.build(parts)
        return made

    def __str__(self) -> str:
        return self.cls.__name__


TAG = "class"
"""The field of a union that says which of its classes a record is; being a keyword, it is no other field's name."""


@dataclass(frozen=True, slots=True)
class UnionType(RecordType):
    """Records of several classes, ``Vote | Fetch``, stored as one record.

    Its first field is the number of the class, the others are those of all classes, where a field that some classes
    lack is None for these. ``members`` are in the order of their classes' names, and fields keep the order that they
    have in each class, so codes are ordered as CPython orders the records.
    """

    members: tuple[RecordType, ...]

    @property
    def size(self) -> int:
        return sum(member.size for member in self.members)

    def having(self, name: str) -> tuple[int, ...]:
        """The numbers of the classes that have a field."""
        return tuple(index for index, member in enumerate(self.members) if name in dict(member.fields))

    def is_common(self, name: str) -> bool:
        """Whether every class has a field."""
        return len(self.having(name)) == len(self.members)

    def number(self, member: RecordType) -> int:
        """The number of a class."""
        return self.members.index(member)

    def parts(self, value: Record) -> dict[str, Any]:
        number = next(index for index, member in enumerate(self.members) if member.cls is type(value))
        return {TAG: number, **{name: value._values.get(name) for name, _ in self.fields[1:]}}

    def made_of(self, parts: Mapping[str, Any]) -> Record:
        member: RecordType = self.members[parts[TAG]]
        return member.made_of({name: parts[name] for name, _ in member.fields})

    def __str__(self) -> str:
        return " | ".join(map(str, self.members))


def _in_order(record: RecordType, one: str, other: str) -> bool:
    """Whether a class declares one field before another."""
    names = [name for name, _ in record.fields]
    return one in names and other in names and names.index(one) < names.index(other)


def union_of(records: Iterable[RecordType]) -> UnionType:
    """The type of records of several classes. Raises ModelError unless a field has one type and one place in all."""
    members = tuple(sorted(dict.fromkeys(records), key=lambda member: member.cls.__name__))
    kinds: dict[str, Type] = {}
    after: dict[str, set[str]] = {}
    for member in members:
        names = [name for name, _ in member.fields]
        for place, (name, kind) in enumerate(member.fields):
            if kinds.setdefault(name, kind) != kind:
                other = next(each for each in members if dict(each.fields).get(name) == kinds[name])
                message = f"the field {name} is {kinds[name]} in {other} and {kind} in {member}"
                raise ModelError(f"{message}; give it one type, or two names")
            after.setdefault(name, set()).update(names[:place])
    try:
        order = list(graphlib.TopologicalSorter(after).static_order())
    except graphlib.CycleError as error:
        orders = ", ".join(
            f"{one} before {other} in {next(each for each in members if _in_order(each, one, other))}"
            for one, other in itertools.pairwise(error.args[1])
        )
        all_of_them = " and ".join(str(member) for member in members)
        message = f"{all_of_them} have their common fields in different orders ({orders}); declare them in one order"
        raise ModelError(message) from None
    union = UnionType(members[0].cls, (), members)
    for member in members:
        for name in kinds:
            if name not in dict(member.fields) and hasattr(member.cls, name):
                raise ModelError(f"{name} is a field of one class and a method of {member}; rename one")
    fields: list[tuple[str, Type]] = [(TAG, IntType(0, len(members) - 1))]
    for name in order:
        kind = kinds[name]
        whole = union.is_common(name) or isinstance(kind, OptionalType)
        fields.append((name, kind if whole else OptionalType(kind)))
    return UnionType(members[0].cls, tuple(fields), members)


@dataclass(frozen=True, slots=True)
class SetType(Type):
    """A set: a bit mask over the element's codes, or ``capacity`` sorted slots.

    ``grows`` is for a set, a bag or a sequence that the model gives no capacity: the place by which its width is known
    (``floodmark.language.widths``), which ``capacity`` then is. For the others it is empty.
    """

    element: Type
    capacity: int | None = None
    grows: str = field(default="", compare=False, repr=False)

    @property
    def bits(self) -> int:
        if self.capacity is None:
            return min(self.element.codes, MAX_BITS)
        return min(self.capacity * self.element.codes.bit_length(), MAX_BITS)

    @property
    def size(self) -> int:
        if has_any_size(self) or is_unlimited(self):
            return INTEGER_LIMIT
        if self.capacity is None:
            return 1 << self.element.size
        most = min(self.capacity, self.element.size)
        return sum(math.comb(self.element.size, count) for count in range(most + 1))

    def __str__(self) -> str:
        return f"Set[{self.element}]"


@dataclass(frozen=True, slots=True)
class OpenSetType(SetType):
    """A set of at most ``limit`` elements, where these name constants that are left open. It is never packed."""

    limit: Linear = field(kw_only=True)

    @property
    def bits(self) -> int:
        return MAX_VARIABLE_BITS

    @property
    def size(self) -> int:
        return self.codes


@dataclass(frozen=True, slots=True)
class BagType(Type):
    """A multiset in ``capacity`` sorted slots."""

    element: Type
    capacity: int
    grows: str = field(default="", compare=False, repr=False)

    @property
    def bits(self) -> int:
        return min(self.capacity * self.element.codes.bit_length(), MAX_BITS)

    @property
    def size(self) -> int:
        if has_any_size(self) or is_unlimited(self):
            return INTEGER_LIMIT
        return math.comb(self.element.size + self.capacity, self.capacity)

    def __str__(self) -> str:
        return f"Bag[{self.element}]"


@dataclass(frozen=True, slots=True)
class MapType(Type):
    """A total map: one value for each key. Its code is its entries in the order of the keys, without gaps."""

    key: Type
    value: Type

    @property
    def bits(self) -> int:
        return min(self.key.size * self.value.bits, MAX_BITS)

    @property
    def size(self) -> int:
        if has_any_size(self) or is_unlimited(self):
            return INTEGER_LIMIT
        return int(self.value.size**self.key.size)

    def __str__(self) -> str:
        return f"Map[{self.key}, {self.value}]"


@dataclass(frozen=True, slots=True)
class SeqType(Type):
    """A sequence of up to ``capacity`` elements; its code is its length, then its elements."""

    element: Type
    capacity: int
    grows: str = field(default="", compare=False, repr=False)

    @property
    def bits(self) -> int:
        return min(self.capacity.bit_length() + self.capacity * self.element.bits, MAX_BITS)

    @property
    def size(self) -> int:
        if has_any_size(self) or is_unlimited(self):
            return INTEGER_LIMIT
        return sum(self.element.size**length for length in range(self.capacity + 1))

    def __str__(self) -> str:
        return f"Seq[{self.element}]"


WORD = 64
"""The bits of a machine word."""
MAX_MASK_BITS = 1024
MAX_VARIABLE_BITS = 4096
"""The most bits that one variable may take."""
MAX_BITS = 1 << 20
"""The limit beyond which the bits of a type are no longer counted: no variable may take as many, and codes are numbers
of that width."""
INTEGER_LIMIT = 1 << 62
"""Bounds lie below this and above its negative, so that compiled code can tell when a sum leaves them."""
UNLIMITED = 2 * INTEGER_LIMIT - 1
"""The width of a container without a capacity where CPython runs the model, which needs none."""


def open_int(least: Bound, most: Bound) -> OpenIntType:
    """The integers between two bounds, at least one of which is left open."""
    low, high = lowest(least), highest(most)
    return OpenIntType(-INTEGER_LIMIT if low is None else low, INTEGER_LIMIT if high is None else high, least, most)


def parts_of(kind: Type) -> Iterator[Type]:
    """A type and all the types that it is made of."""
    yield kind
    match kind:
        case OptionalType(inner):
            yield from parts_of(inner)
        case UnionType(members=members):
            for member in members:
                yield from parts_of(member)
        case RecordType(_, fields):
            for _, of in fields:
                yield from parts_of(of)
        case SetType(element) | BagType(element) | SeqType(element):
            yield from parts_of(element)
        case MapType(key, value):
            yield from parts_of(key)
            yield from parts_of(value)


def is_packed_loosely(kind: Type) -> bool:
    """Whether most codes of a type may be in no use, so that code should not iterate over them: it has a capacity."""
    match kind:
        case SeqType() | BagType() | SetType(_, int()):
            return True
        case OptionalType(inner) | MapType(_, inner):
            return is_packed_loosely(inner)
        case RecordType(_, fields):
            return any(is_packed_loosely(of) for _, of in fields)
    return False


def is_open(kind: Type) -> bool:
    """Whether a constant that is left open bounds a type or a part of it."""
    return any(isinstance(part, OpenIntType | OpenSetType | OpenIdentifierType) for part in parts_of(kind))


def growing(kind: Type) -> Iterator[SetType | BagType | SeqType]:
    """The containers in a type that the model gives no capacity."""
    for part in parts_of(kind):
        if isinstance(part, SetType | BagType | SeqType) and (part.grows or part.capacity == UNLIMITED):
            yield part


def is_unlimited(kind: Type) -> bool:
    """Whether a type has no width yet: its values have no codes, and it has too many of them to be listed."""
    return any(part.capacity == UNLIMITED for part in growing(kind))


def is_at_some_width(unlimited: Type, kind: Type) -> bool:
    """Whether a type is another one, but with some width wherever that is unlimited."""
    match unlimited, kind:
        case OptionalType(inner), OptionalType(other):
            return is_at_some_width(inner, other)
        case MapType(key, value), MapType(of, other):
            return key == of and is_at_some_width(value, other)
        case (
            (SetType(element, room), SetType(other, width))
            | (BagType(element, room), BagType(other, width))
            | (SeqType(element, room), SeqType(other, width))
        ):
            same = room == width or (room == UNLIMITED and width is not None)
            return same and is_at_some_width(element, other)
    return unlimited == kind


def has_any_size(kind: Type) -> bool:
    """Whether there are identifiers in a type of which there may be any number, or a map with any number of keys."""
    return any(isinstance(part, OpenIdentifierType) or has_any_key(part) for part in parts_of(kind))


def has_any_key(kind: Type) -> bool:
    """Whether a type is that of maps with any number of keys."""
    return isinstance(kind, MapType) and isinstance(kind.key, OpenIdentifierType | OpenIntType)


def uncounted(kind: Type) -> Type:
    """A type with any number of identifiers of each kind, where it has a fixed number of them."""
    match kind:
        case IdentifierType(cls, _) if not isinstance(kind, OpenIdentifierType):
            return OpenIdentifierType(cls, INTEGER_LIMIT, limit=Linear(0, ((f"number of {cls.__name__}", 1),)))
        case OptionalType(inner):
            return OptionalType(uncounted(inner))
        case UnionType(members=members):
            return union_of(map(_uncounted_record, members))
        case RecordType():
            return _uncounted_record(kind)
        case SetType(element, capacity) if not isinstance(kind, OpenSetType):
            return SetType(uncounted(element), capacity)
        case BagType(element, capacity):
            return BagType(uncounted(element), capacity)
        case SeqType(element, capacity):
            return SeqType(uncounted(element), capacity)
        case MapType(key, value):
            return MapType(uncounted(key), uncounted(value))
    return kind


def _uncounted_record(kind: RecordType) -> RecordType:
    return RecordType(kind.cls, tuple((name, uncounted(of)) for name, of in kind.fields))


def has_mask(element: Type) -> bool:
    """Whether a set of such elements is no list of slots: it has a bit for each possible element, or it is symbolic."""
    return element.codes <= MAX_MASK_BITS or has_any_size(element)


def classes_in(kind: Type) -> Iterator[type]:
    """The classes that a type is made of, including those of its parts."""
    for part in parts_of(kind):
        if isinstance(part, EnumType | IdentifierType | RecordType) and not isinstance(part, UnionType):
            yield part.cls
