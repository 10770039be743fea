"""The finite types of the modelling language, as a model's annotations declare them.

A model annotates its variables with ordinary Python types; ``Between`` and ``Capacity`` add the bounds:

    Offset = Annotated[int, Between(0, "max_offset")]
    Log = Annotated[Seq[Epoch], Capacity("max_offset")]

Bounds are integers or expressions over the model's constants. ``resolve`` turns an annotation and a spec's constants
into one of the types below, each of which has finitely many values.
"""

from __future__ import annotations

import ast
import enum
import inspect
import itertools
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, get_args, get_origin

from floodmark.language.errors import ModelError
from floodmark.language.linear import Bound, Linear, highest, lowest
from floodmark.language.plain import require_plain, require_plain_enum

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

    A ``Seq`` and a ``Bag`` need one. A ``Set`` without a capacity may hold any subset of its element type and is stored
    as one bit per possible element; with a capacity it is stored as that many sorted slots, which suits wide element
    types.
    """

    limit: int | str


class Type:
    """A finite type. ``codes`` is the number of codes that its values are numbered with."""

    codes: int

    @property
    def bits(self) -> int:
        """The number of bits of a packed value."""
        return (self.codes - 1).bit_length()


@dataclass(frozen=True, slots=True)
class BoolType(Type):
    """``False`` and ``True``, with the codes 0 and 1."""

    @property
    def codes(self) -> int:  # type: ignore[override]
        return 2

    def __str__(self) -> str:
        return "bool"


@dataclass(frozen=True, slots=True)
class IntType(Type):
    """Integers from ``low`` to ``high``."""

    low: int
    high: int

    @property
    def codes(self) -> int:  # type: ignore[override]
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
    def codes(self) -> int:  # type: ignore[override]
        return len(self.cls)

    def __str__(self) -> str:
        return self.cls.__name__


@dataclass(frozen=True, slots=True)
class IdentifierType(Type):
    """``count`` interchangeable names of one kind, for example the brokers."""

    cls: type[Identifier]
    count: int

    @property
    def codes(self) -> int:  # type: ignore[override]
        return self.count

    def __str__(self) -> str:
        return self.cls.__name__


@dataclass(frozen=True, slots=True)
class OptionalType(Type):
    """A value or ``None``, whose code is 0."""

    inner: Type

    @property
    def codes(self) -> int:  # type: ignore[override]
        return self.inner.codes + 1

    def __str__(self) -> str:
        return f"{self.inner} | None"


@dataclass(frozen=True, slots=True)
class RecordType(Type):
    """Named fields; the first one is the most significant in the packed code."""

    cls: type[Record]
    fields: tuple[tuple[str, Type], ...]

    @property
    def codes(self) -> int:  # type: ignore[override]
        return 1 << sum(kind.bits for _, kind in self.fields)

    def field(self, name: str) -> Type:
        return dict(self.fields)[name]

    def __str__(self) -> str:
        return self.cls.__name__


@dataclass(frozen=True, slots=True)
class SetType(Type):
    """A set: a bit mask over the element's codes, or ``capacity`` sorted slots."""

    element: Type
    capacity: int | None = None

    @property
    def codes(self) -> int:  # type: ignore[override]
        if self.capacity is None:
            return 1 << self.element.codes
        return 1 << (self.capacity * self.element.codes.bit_length())

    @property
    def bits(self) -> int:
        if self.capacity is None:
            return self.element.codes
        return self.capacity * self.element.codes.bit_length()

    def __str__(self) -> str:
        return f"Set[{self.element}]"


@dataclass(frozen=True, slots=True)
class OpenSetType(SetType):
    """A set of at most ``limit`` elements, where these name constants that are left open. It is never packed."""

    limit: Linear = field(kw_only=True)

    @property
    def codes(self) -> int:  # type: ignore[override]
        return 1 << self.bits

    @property
    def bits(self) -> int:
        return WIDEST_VARIABLE


@dataclass(frozen=True, slots=True)
class BagType(Type):
    """A multiset in ``capacity`` sorted slots."""

    element: Type
    capacity: int

    @property
    def codes(self) -> int:  # type: ignore[override]
        return 1 << (self.capacity * self.element.codes.bit_length())

    def __str__(self) -> str:
        return f"Bag[{self.element}]"


@dataclass(frozen=True, slots=True)
class MapType(Type):
    """A total map: one value for each key."""

    key: Type
    value: Type

    @property
    def codes(self) -> int:  # type: ignore[override]
        return 1 << (self.key.codes * self.value.bits)

    def __str__(self) -> str:
        return f"Map[{self.key}, {self.value}]"


@dataclass(frozen=True, slots=True)
class SeqType(Type):
    """A sequence of up to ``capacity`` elements; its code is its length, then its elements."""

    element: Type
    capacity: int

    @property
    def codes(self) -> int:  # type: ignore[override]
        return 1 << (self.capacity.bit_length() + self.capacity * self.element.bits)

    def __str__(self) -> str:
        return f"Seq[{self.element}]"


WIDEST_MASK = 1024
WIDEST_VARIABLE = 4096
"""The most bits that one variable may take."""
WIDEST_INTEGER = 1 << 62
"""Bounds lie below this and above its negative, so that compiled code can tell when a sum leaves them."""


def open_int(least: Bound, most: Bound) -> OpenIntType:
    """The integers between two bounds, at least one of which is left open."""
    low, high = lowest(least), highest(most)
    return OpenIntType(-WIDEST_INTEGER if low is None else low, WIDEST_INTEGER if high is None else high, least, most)


def parts_of(kind: Type) -> Iterator[Type]:
    """A type and all the types that it is made of."""
    yield kind
    match kind:
        case OptionalType(inner):
            yield from parts_of(inner)
        case RecordType(_, fields):
            for _, of in fields:
                yield from parts_of(of)
        case SetType(element, _) | BagType(element, _) | SeqType(element, _):
            yield from parts_of(element)
        case MapType(key, value):
            yield from parts_of(key)
            yield from parts_of(value)


def is_open(kind: Type) -> bool:
    """Whether a constant that is left open bounds a type or a part of it."""
    return any(isinstance(part, OpenIntType | OpenSetType) for part in parts_of(kind))


def bound(value: int | str, constants: Mapping[str, Bound]) -> Bound:
    """The value of a bound: itself, or that of an expression over the constants such as ``"2 * brokers"``.

    An integer unless it mentions a constant that is left open.
    """
    if isinstance(value, int):
        return value
    if not isinstance(value, str):
        raise ModelError(f"a bound is an integer or an expression over constants such as 'brokers + 1', not {value!r}")
    try:
        tree = ast.parse(value, mode="eval")
        return _evaluate(tree.body, constants)
    except SyntaxError:
        raise ModelError(f"the bound {value!r} is not an expression over constants") from None


def _evaluate(node: ast.expr, constants: Mapping[str, Bound]) -> Bound:
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.Name(id=name):
            if name not in constants:
                known = ", ".join(sorted(constants)) or "none"
                raise ModelError(
                    f"the bound names the constant {name!r}, which the model does not have (it has: {known})"
                )
            known_as = constants[name]
            return known_as if isinstance(known_as, Linear) else int(known_as)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand, constants)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _evaluate(left, constants), _evaluate(right, constants)
            match op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.FloorDiv() if b != 0:
                    return a // b
                case ast.FloorDiv():
                    raise ModelError(f"the bound {ast.unparse(node)!r} divides by zero")
    raise ModelError("a bound may use integers, constants, + - * and // only")


def resolve(annotation: Any, constants: Mapping[str, Bound]) -> Type:
    """The type that ``annotation`` declares with these constants: finite unless one of them is left open.

    Raises ModelError if the annotation has no finite meaning (a bare ``int``, for example), or cannot be left open.
    """
    from floodmark.language import values

    origin = get_origin(annotation)
    notes: tuple[Any, ...] = ()
    if origin is Annotated:
        annotation, *rest = get_args(annotation)
        notes = tuple(rest)
        origin = get_origin(annotation)
    capacity = next((bound(note.limit, constants) for note in notes if isinstance(note, Capacity)), None)
    between = next((note for note in notes if isinstance(note, Between)), None)
    if capacity is not None and origin not in (values.Set, values.Bag, values.Seq):
        raise ModelError("a capacity belongs to a Set, a Bag or a Seq: Annotated[Seq[T], Capacity(limit)]")
    if isinstance(capacity, Linear) and origin is not values.Set:
        raise ModelError(f"the capacity {capacity} of a {origin.__name__} cannot be left open; only that of a Set can")
    if isinstance(capacity, int) and capacity < 0:
        raise ModelError(f"a capacity of {capacity} is negative")
    if between is not None and annotation is not int:
        raise ModelError("bounds belong to an integer: Annotated[int, Between(low, high)]")
    if annotation is bool:
        return BoolType()
    if annotation is int:
        if between is None:
            raise ModelError("an integer needs bounds: write Annotated[int, Between(low, high)]")
        low, high = bound(between.low, constants), bound(between.high, constants)
        if isinstance(low, Linear) or isinstance(high, Linear):
            return open_int(low, high)
        if high < low:
            raise ModelError(f"the bounds {low}..{high} contain no integer")
        if low <= -WIDEST_INTEGER or high >= WIDEST_INTEGER:
            raise ModelError(f"the bounds {low}..{high} are too large; they must lie within 2**62")
        return IntType(low, high)
    if origin in (types.UnionType, typing.Union):
        members = [member for member in get_args(annotation) if member is not type(None)]
        if len(members) != 1 or len(get_args(annotation)) != 2:
            raise ModelError("the only union in the language is T | None")
        return OptionalType(resolve(members[0], constants))
    if isinstance(annotation, type):
        if issubclass(annotation, enum.Enum):
            require_plain_enum(annotation)
            if not annotation.__members__:
                raise ModelError(f"{annotation.__name__} has no members")
            return EnumType(annotation)
        if issubclass(annotation, values.Identifier):
            require_plain(annotation, values.Identifier, {"number"})
            count = bound(annotation.count, constants)
            if isinstance(count, Linear):
                raise ModelError(f"the number of {annotation.__name__} cannot be left open, but it is {count}")
            if count < 1:
                raise ModelError(f"there has to be at least one {annotation.__name__}, but its count is {count}")
            return IdentifierType(annotation, count)
        if issubclass(annotation, values.Record):
            return _resolve_record(annotation, constants)
    if origin in (values.Set, values.Bag, values.Seq, values.Map):
        wanted = 2 if origin is values.Map else 1
        if len(get_args(annotation)) != wanted:
            form = "Map[K, V]" if wanted == 2 else f"{origin.__name__}[T]"
            raise ModelError(f"{origin.__name__} takes {'two types' if wanted == 2 else 'one type'}: {form}")
    if origin is values.Set:
        element = resolve(get_args(annotation)[0], constants)
        if isinstance(capacity, Linear) or is_open(element):
            return _open_set(element, capacity)
        if capacity is None and element.codes > WIDEST_MASK:
            raise ModelError(
                f"a set over {element} has {element.codes} possible elements; more than {WIDEST_MASK} need a capacity: "
                f"Annotated[Set[{element}], Capacity(8)]"
            )
        return SetType(element, capacity)
    if origin is values.Bag:
        if capacity is None:
            raise ModelError("a bag needs a capacity: write Annotated[Bag[T], Capacity(limit)]")
        assert isinstance(capacity, int)
        return BagType(resolve(get_args(annotation)[0], constants), capacity)
    if origin is values.Map:
        key, value = (resolve(argument, constants) for argument in get_args(annotation))
        if is_open(key):
            raise ModelError(f"a map has an entry for every {key}, so this cannot be left open")
        return MapType(key, value)
    if origin is values.Seq:
        if capacity is None:
            raise ModelError("a sequence needs a capacity: write Annotated[Seq[T], Capacity(limit)]")
        assert isinstance(capacity, int)
        return SeqType(resolve(get_args(annotation)[0], constants), capacity)
    raise ModelError(f"{annotation!r} is not a type of the modelling language")


def _open_set(element: Type, capacity: Bound | None) -> SetType:
    """A set whose elements or capacity are left open."""
    for part in parts_of(element):
        if isinstance(part, OpenSetType) or (isinstance(part, SetType) and part.capacity is None and is_open(part)):
            raise ModelError(f"a set of {element}, which contains a set of any size, cannot be left open")
    if not isinstance(capacity, Linear):
        return SetType(element, capacity)
    if not is_open(element):
        raise ModelError(f"the capacity {capacity} is left open, so the elements have to be left open as well")
    return OpenSetType(element, WIDEST_INTEGER, limit=capacity)


_RECORDS_OWN = frozenset({"annotations", "build", "replace", "_at", "_place", "_values", "_with"})
_unfinished_records: list[type[Record]] = []


def _resolve_record(cls: type[Record], constants: Mapping[str, Bound]) -> RecordType:
    if cls in _unfinished_records:
        raise ModelError(f"{cls.__name__} contains itself, so it has no finite size; refer to an identifier instead")
    from floodmark.language.values import Record

    require_plain(cls, Record, _RECORDS_OWN)
    _unfinished_records.append(cls)
    try:
        fields = []
        for name, annotation in cls.annotations().items():
            if name.startswith("_") or name in _RECORDS_OWN:
                message = f"{cls.__name__} cannot have a field called {name}; rename it so that it begins with a letter"
                raise ModelError(message, *annotation_position(cls, name))
            try:
                fields.append((name, resolve(annotation, constants)))
            except ModelError as error:
                if error.file is not None:
                    raise
                message = f"field {name} of {cls.__name__}: {error.message}"
                raise ModelError(message, *annotation_position(cls, name)) from None
        return RecordType(cls, tuple(fields))
    finally:
        _unfinished_records.pop()


def annotation_position(owner: type, name: str) -> tuple[str | None, int | None]:
    """File and line where a class body declares ``name: ...``; those of the class if it is not found."""
    try:
        file, (lines, first) = inspect.getsourcefile(owner), inspect.getsourcelines(owner)
    except (OSError, TypeError):
        return None, None
    for offset, text in enumerate(lines):
        if text.strip().startswith(f"{name}:"):
            return file, first + offset
    return file, first


def classes_in(kind: Type) -> Iterator[type]:
    """The classes that a type is made of, including those of its parts."""
    for part in parts_of(kind):
        if isinstance(part, EnumType | IdentifierType | RecordType):
            yield part.cls


def universe(kind: Type) -> Iterator[Any]:
    """Every value of a type; in code order if every code is a value."""
    from floodmark.language import values

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
