"""The values of the modelling language: identifiers, records, sets, maps, sequences and bags.

Every value is immutable. What looks like a mutation, ``self.requests.add(request)`` or ``self.node[b].epoch += 1``, is
an assignment to the variable that the value was read from: such a value remembers its place. A value without a place (a
local, a literal, a loop variable) cannot be changed in place; write ``seen = seen | {x}`` instead. So there is no
aliasing, and a local keeps the value that it had when it was read, in CPython as in compiled code.
"""

from __future__ import annotations

import bisect
import enum
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import zip_longest
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar, dataclass_transform, overload

from floodmark.language.bindings import annotation_position, compiled_annotation, module_names
from floodmark.language.errors import ActionDisabled, CapacityExceeded, ModelError, ValueOutOfRange
from floodmark.language.plurals import counted
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
from floodmark.language.widths import WidthExceeded

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
K = TypeVar("K")
V = TypeVar("V")
V_co = TypeVar("V_co", covariant=True)


def require(condition: bool) -> None:
    """The guard of an action: if ``condition`` is false, the action is not enabled with these arguments.

        require(follower != self.leader and follower not in self.isr)

    Only actions and initial methods have guards; a property returns a bool instead.
    """
    if not condition:
        raise ActionDisabled("a require is false: the action is not enabled here")


def implies(premise: bool, conclusion: bool) -> bool:
    """``premise`` implies ``conclusion``.

        return implies(model.leader is not None, model.leader in model.isr)

    Both are evaluated. The checker reports a premise that is never true.
    """
    return bool(conclusion) or not premise


class Place(Protocol):
    """The place from which a value was read, and to which it can be assigned."""

    def get(self) -> Any: ...

    def set(self, value: Any) -> None: ...


class _EntryPlace:
    """The place of one entry of a map or a sequence."""

    __slots__ = ("key", "parent")

    def __init__(self, parent: Place, key: Any) -> None:
        self.parent = parent
        self.key = key

    def get(self) -> Any:
        return self.parent.get()[self.key]

    def set(self, value: Any) -> None:
        self.parent.set(self.parent.get()._with(self.key, value))


class _Field:
    """The place of one field of a record."""

    __slots__ = ("name", "parent")

    def __init__(self, parent: Place, name: str) -> None:
        self.parent = parent
        self.name = name

    def get(self) -> Any:
        return getattr(self.parent.get(), self.name)

    def set(self, value: Any) -> None:
        self.parent.set(self.parent.get()._with(self.name, value))


def located(value: Any, place: Place | None) -> Any:
    """``value`` together with the place it was read from; scalars need none."""
    if place is None or not isinstance(value, Set | Map | Seq | Bag | Record):
        return value
    return value._at(place)


def _anew(value: Any) -> str:
    """The way to change a value that is no variable of the model, as the end of a message."""
    match value:
        case Set():
            return "; write x = x | {e}"
        case Seq():
            return "; write x = x + [e]"
        case Bag():
            return "; change the variable that it comes from: self.network.add(e)"
        case Record():
            return "; write x = x.replace(field=...)"
    return "; make a new one"


def _place_of(value: Any) -> Place:
    place: Place | None = value._place
    if place is None:
        raise ModelError(f"this value is not a variable of the model, so it cannot be changed in place{_anew(value)}")
    return place


class Context(Protocol):
    """The services of the running model for identifiers and records."""

    def identifier_count(self, cls: type[Identifier]) -> int: ...

    def record_type(self, cls: type[Record]) -> RecordType: ...

    def note_size(self, place: str, size: int) -> None: ...


_running: list[Context] = []


class running:  # noqa: N801 - reads as a statement: `with running(model)`
    """Within this context, ``for b in Broker`` and the ranges of record fields mean those of ``model``."""

    def __init__(self, model: Context) -> None:
        self.model = model

    def __enter__(self) -> None:
        _running.append(self.model)

    def __exit__(self, *_: object) -> None:
        _running.pop()


class _IdentifierMeta(type):
    def __iter__(cls: type[T]) -> Iterator[T]:
        return (cls(number) for number in range(1, len(cls) + 1))  # type: ignore[call-arg,arg-type]

    def __len__(cls) -> int:
        if not _running:
            raise ModelError(f"the number of {cls.__name__} is known only while a model runs")
        return _running[-1].identifier_count(cls)  # type: ignore[arg-type]

    def __bool__(cls) -> bool:
        """A class is true, whether or not a model runs: code that prints values asks for it."""
        return True


class Identifier(metaclass=_IdentifierMeta):
    """One of a set of interchangeable names, such as brokers; ``count`` is a number or an expression over constants.

        class Broker(Identifier, count="brokers", prefix="b"):
            "A broker."

    ``Broker(1)`` is the first one and prints as ``b1``; ``for broker in Broker`` takes all of them. Identifiers have no
    order and no arithmetic, which makes a state space symmetric in them.
    """

    count: ClassVar[int | str] = 1
    prefix: ClassVar[str] = ""
    __slots__ = ("number",)
    number: int

    def __init_subclass__(cls, count: int | str | None = None, prefix: str | None = None) -> None:
        if count is not None:
            cls.count = count
        cls.prefix = prefix if prefix is not None else cls.__name__[0].lower()

    def __init__(self, number: int) -> None:
        if _running and not 1 <= number <= len(type(self)):
            raise ValueOutOfRange(f"there is no {type(self).__name__}({number}): the model has {len(type(self))}")
        object.__setattr__(self, "number", number)

    def __setattr__(self, name: str, value: object) -> None:
        raise ModelError("an identifier cannot be changed")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.number == self.number

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.number))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.number,)

    def __repr__(self) -> str:
        return f"{self.prefix}{self.number}"


@dataclass_transform(kw_only_default=True)
class Record:
    """An immutable value with named fields. Every field has a finite type; fields are given by name.

        class Proposal(Record):
            isr: Set[Broker]
            version: Version = 0

    ``Proposal(isr=isr)`` makes one, ``p.replace(version=1)`` a copy with some fields changed. Two are equal if all
    their fields are.
    """

    _annotations: ClassVar[dict[str, Any]] = {}
    _values: dict[str, Any]
    _place: Place | None

    def __init_subclass__(cls) -> None:
        records = [base for base in reversed(cls.__mro__) if issubclass(base, Record) and base is not Record]
        cls._annotations = {name: kind for base in records for name, kind in inspect.get_annotations(base).items()}

    @classmethod
    def annotations(cls) -> dict[str, Any]:
        """The annotation of each field by name, in order of declaration."""
        resolved = {}
        for base in reversed(cls.__mro__):
            if base is Record or not issubclass(base, Record):
                continue
            names = dict(module_names(base))
            for name, kind in inspect.get_annotations(base).items():
                try:
                    resolved[name] = eval(compiled_annotation(kind), names) if isinstance(kind, str) else kind
                except Exception as error:
                    message = f"field {name} of {base.__name__}: the annotation {kind!r} cannot be read: {error}"
                    raise ModelError(message, *annotation_position(base, name)) from None
        return resolved

    def __init__(self, **fields: Any) -> None:
        cls = type(self)
        values = {}
        for name in cls._annotations:
            if name in fields:
                values[name] = fields.pop(name)
            elif hasattr(cls, name):
                values[name] = getattr(cls, name)
            else:
                raise ModelError(f"{cls.__name__} needs the field {name!r}")
        if fields:
            raise ModelError(f"{cls.__name__} has no field {next(iter(fields))!r}; it has {', '.join(values)}")
        if _running:
            kinds = _running[-1].record_type(cls).fields
            values = {name: admit(kind, values[name], ("{}.{}", cls.__name__, name)) for name, kind in kinds}
        object.__setattr__(self, "_values", values)
        object.__setattr__(self, "_place", None)

    @classmethod
    def build(cls, values: Mapping[str, Any]) -> Self:
        """A record of values that are known to fit."""
        record = object.__new__(cls)
        object.__setattr__(record, "_values", dict(values))
        object.__setattr__(record, "_place", None)
        return record

    def _at(self, place: Place) -> Self:
        record = self.build(self._values)
        object.__setattr__(record, "_place", place)
        return record

    def _with(self, name: str, value: Any) -> Self:
        return self.build({**self._values, name: value})

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("_"):
            return object.__getattribute__(self, name)
        values = object.__getattribute__(self, "_values")
        if name in values:
            place = object.__getattribute__(self, "_place")
            return located(values[name], None if place is None else _Field(place, name))
        return object.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._values:
            raise ModelError(f"{type(self).__name__} has no field {name!r}; it has {', '.join(self._values)}")
        _Field(_place_of(self), name).set(value)

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed."""
        return type(self)(**{**self._values, **changes})

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._values == self._values

    def __hash__(self) -> int:
        return hash(tuple(self._values.values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._values.items())})"


class Set(AbstractSet[T_co]):
    """A finite set: ``isr: Set[Broker]``. Iteration follows the order of the element type, not of insertion.

        self.isr = self.isr | {broker}      # or self.isr.add(broker)
        followers = self.isr - {self.leader}

    It supports ``| & - ^``, ``<=``, ``in`` and ``len``. As a type it may have a ``Capacity``.
    """

    __slots__ = ("_items", "_place")

    def __init__(self, items: Iterable[T_co] = ()) -> None:
        self._items = frozenset(items)
        self._place: Place | None = None

    def _at(self, place: Place) -> Self:
        copy = object.__new__(type(self))
        copy._items = self._items
        copy._place = place
        return copy

    def __contains__(self, item: object) -> bool:
        return item in self._items

    def __iter__(self) -> Iterator[T_co]:
        return iter(sorted(self._items, key=order_key))

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(self._items)

    def __or__(self, other: AbstractSet[T]) -> Set[T_co | T]:
        if not isinstance(other, AbstractSet):
            return NotImplemented
        return Set((*self._items, *other))

    def __ror__(self, other: AbstractSet[T]) -> Set[T_co | T]:  # type: ignore[misc]
        if not isinstance(other, AbstractSet):
            return NotImplemented
        return Set((*self._items, *other))

    def __and__(self, other: AbstractSet[Any]) -> Set[T_co]:
        if not isinstance(other, AbstractSet):
            return NotImplemented
        return Set(item for item in self._items if item in other)

    def __rand__(self, other: AbstractSet[Any]) -> Set[T_co]:
        if not isinstance(other, AbstractSet):
            return NotImplemented
        return Set(item for item in self._items if item in other)

    def __sub__(self, other: AbstractSet[Any]) -> Set[T_co]:
        if not isinstance(other, AbstractSet):
            return NotImplemented
        return Set(item for item in self._items if item not in other)

    def __rsub__(self, other: AbstractSet[T]) -> Set[T]:  # type: ignore[misc]
        if not isinstance(other, AbstractSet):
            return NotImplemented
        return Set(item for item in other if item not in self._items)

    def __xor__(self, other: AbstractSet[T]) -> Set[T_co | T]:
        if not isinstance(other, AbstractSet):
            return NotImplemented
        return (self - other) | (other - self)

    def __rxor__(self, other: AbstractSet[T]) -> Set[T_co | T]:  # type: ignore[misc]
        if not isinstance(other, AbstractSet):
            return NotImplemented
        return (self - other) | (other - self)

    def add(self, item: T_co) -> None:  # type: ignore[misc]
        """Adds an element to the variable that this set was read from."""
        place = _place_of(self)
        place.set(place.get() | {item})

    def discard(self, item: T_co) -> None:  # type: ignore[misc]
        """Removes an element from the variable that this set was read from, if it is there."""
        place = _place_of(self)
        place.set(place.get() - {item})

    def remove(self, item: T_co) -> None:  # type: ignore[misc]
        """Removes an element from the variable that this set was read from; a model error if it is not there."""
        place = _place_of(self)
        if item not in place.get():
            raise ValueOutOfRange(f"{item!r} is not in the set, so it cannot be removed")
        place.set(place.get() - {item})

    def __repr__(self) -> str:
        return "{" + ", ".join(repr(item) for item in self) + "}"


class Map(Mapping[K, V_co]):
    """A total map over a finite key type: ``log_end: Map[Broker, Offset]`` has an offset for every broker.

        self.log_end = Map({broker: 0 for broker in Broker})
        self.log_end[follower] += 1

    A key that it does not have is a model error.
    """

    __slots__ = ("_entries", "_place")

    def __init__(self, entries: Mapping[K, V_co]) -> None:
        self._entries = dict(sorted(entries.items(), key=lambda entry: order_key(entry[0])))
        self._place: Place | None = None

    @classmethod
    def _ordered(cls, entries: dict[K, V_co]) -> Self:
        """A map whose keys are in order."""
        ordered = object.__new__(cls)
        ordered._entries = entries
        ordered._place = None
        return ordered

    def _at(self, place: Place) -> Self:
        copy = self._ordered(self._entries)
        copy._place = place
        return copy

    def _with(self, key: Any, value: Any) -> Map[K, V_co]:
        if key not in self._entries:
            raise ValueOutOfRange(f"the map has no key {key!r}")
        return Map._ordered({**self._entries, key: value})

    def __getitem__(self, key: K) -> V_co:
        try:
            found = self._entries[key]
        except KeyError:
            raise ValueOutOfRange(f"the map has no key {key!r}") from None
        value: V_co = located(found, None if self._place is None else _EntryPlace(self._place, key))
        return value

    def __setitem__(self, key: K, value: V_co) -> None:  # type: ignore[misc]
        _EntryPlace(_place_of(self), key).set(value)

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[K]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __hash__(self) -> int:
        return hash(tuple(self._entries.items()))

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{key!r}: {value!r}" for key, value in self._entries.items()) + "}"


class Seq(Sequence[T_co]):
    """A sequence, such as a log: ``log: Annotated[Seq[Epoch], Capacity("max_offset")]``.

        self.log.append(epoch)
        self.log = self.log[:offset]

    Indices start at 0. Appending to a full one, or an index outside it, is a model error. Without a ``Capacity`` it may
    have any length.
    """

    __slots__ = ("_items", "_place")

    def __init__(self, items: Iterable[T_co] = ()) -> None:
        self._items = tuple(items)
        self._place: Place | None = None

    def _at(self, place: Place) -> Self:
        copy = type(self)(self._items)
        copy._place = place
        return copy

    def _with(self, index: int, value: Any) -> Seq[T_co]:
        items = list(self._items)
        if not -len(items) <= index < len(items):
            raise ValueOutOfRange(f"index {index} is outside a sequence of length {len(items)}")
        items[index] = value
        return Seq(items)

    @overload
    def __getitem__(self, index: int) -> T_co: ...

    @overload
    def __getitem__(self, index: slice) -> Seq[T_co]: ...

    def __getitem__(self, index: int | slice) -> T_co | Seq[T_co]:
        if isinstance(index, slice):
            return Seq(self._items[index])
        if not -len(self._items) <= index < len(self._items):
            raise ValueOutOfRange(f"index {index} is outside a sequence of length {len(self._items)}")
        value: T_co = located(self._items[index], None if self._place is None else _EntryPlace(self._place, index))
        return value

    def __setitem__(self, index: int, value: T_co) -> None:  # type: ignore[misc]
        _EntryPlace(_place_of(self), index).set(value)

    def append(self, item: T_co) -> None:  # type: ignore[misc]
        """Appends an element to the variable that this sequence was read from; a model error if it is full."""
        place = _place_of(self)
        place.set(Seq((*place.get()._items, item)))

    def __iter__(self) -> Iterator[T_co]:
        return iter(self._items)

    def __add__(self, other: Sequence[T_co]) -> Seq[T_co]:
        return Seq((*self._items, *other))

    def __radd__(self, other: Sequence[T_co]) -> Seq[T_co]:
        return Seq((*other, *self._items))

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Seq | list | tuple) and tuple(other) == self._items

    def __hash__(self) -> int:
        return hash(self._items)

    def __repr__(self) -> str:
        return "[" + ", ".join(repr(item) for item in self._items) + "]"


class Bag(Generic[T_co]):
    """A multiset, such as messages in flight that may be there more than once.

        network: Annotated[Bag[Message], Capacity(2)]
        self.network.add(message)

    One element more than its ``Capacity`` is a model error; without one it may have any size.
    """

    __slots__ = ("_items", "_place")

    def __init__(self, items: Iterable[T_co] = ()) -> None:
        self._items = tuple(sorted(items, key=order_key))
        self._place: Place | None = None

    @classmethod
    def _ordered(cls, items: tuple[T_co, ...]) -> Self:
        """A bag of elements that are in order."""
        bag = object.__new__(cls)
        bag._items = items
        bag._place = None
        return bag

    def _at(self, place: Place) -> Self:
        copy = self._ordered(self._items)
        copy._place = place
        return copy

    def __contains__(self, item: object) -> bool:
        return item in self._items

    def __iter__(self) -> Iterator[T_co]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def count(self, item: T_co) -> int:  # type: ignore[misc]
        """The number of occurrences of the element."""
        return self._items.count(item)

    def add(self, item: T_co) -> None:  # type: ignore[misc]
        """Adds one occurrence to the variable that this bag was read from; a model error if it is full."""
        place = _place_of(self)
        items = list(place.get()._items)
        bisect.insort(items, item, key=order_key)
        place.set(Bag._ordered(tuple(items)))

    def remove(self, item: T_co) -> None:  # type: ignore[misc]
        """Removes one occurrence from the variable that this bag was read from; a model error if there is none."""
        place = _place_of(self)
        items = list(place.get()._items)
        if item not in items:
            raise ValueOutOfRange(f"{item!r} is not in the bag, so it cannot be removed")
        items.remove(item)
        place.set(Bag._ordered(tuple(items)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bag) and other._items == self._items

    def __hash__(self) -> int:
        return hash(self._items)

    def __repr__(self) -> str:
        return "[" + ", ".join(repr(item) for item in self._items) + "]"


def order_key(value: Any) -> Any:
    """Orders values of one type, in the order of their packed codes unless they contain sequences or slots."""
    match value:
        case None:
            return (0,)
        case enum.Enum():
            return (1, list(type(value)).index(value))
        case bool() | int():
            return (1, int(value))
        case Identifier():
            return (1, value.number)
        case Record():
            return (1, type(value).__name__, tuple(order_key(item) for item in value._values.values()))
        case Set():
            return (1, tuple(sorted((order_key(item) for item in value), reverse=True)))
        case set() | frozenset():
            return order_key(Set(value))
        case Map():
            return (1, tuple(order_key(item) for item in reversed(list(value.values()))))
        case Bag():
            return (1, len(value), tuple(order_key(item) for item in value))
        case Seq() | list() | tuple():
            return (1, tuple(order_key(item) for item in value))
    raise ModelError(f"{value!r} is not a value of the modelling language")


Named = str | tuple[str, "Named", object]
"""The name of a place, or how it is made: a form, the place around it, and what names it there. Most are never told."""


def _place_text(name: Named) -> str:
    if isinstance(name, str):
        return name
    form, around, inside = name
    return form.format(_place_text(around), inside)


def admit(kind: Type, value: Any, name: Named) -> Any:
    """``value`` as a value of the type ``kind``, for the variable ``name``.

    Plain sets, dicts and lists become Set, Map and Seq. Raises ValueOutOfRange if the type does not hold the value.
    """
    match kind:
        case BoolType():
            if isinstance(value, bool):
                return value
        case IntType(low, high):
            if type(value) is int:
                if low <= value <= high:
                    return value
                raise ValueOutOfRange(f"{_place_text(name)} would become {value}, outside of {low}..{high}")
        case EnumType(cls):
            if isinstance(value, cls):
                return value
        case IdentifierType(cls, count):
            if type(value) is cls and 1 <= value.number <= count:
                return value
        case OptionalType(inner):
            return None if value is None else admit(inner, value, name)
        case UnionType(members=classes):
            member = next((each for each in classes if each.cls is type(value)), None)
            if member is not None:
                return admit(member, value, name)
        case RecordType(cls, fields):
            if type(value) is cls:
                held = value._values
                return cls.build({field: admit(of, held[field], ("{}.{}", name, field)) for field, of in fields})
        case SetType(element):
            if isinstance(value, AbstractSet):
                members = Set(admit(element, item, ("an element of {}", name, None)) for item in value)
                _within(kind, len(members), name)
                return members
        case BagType(element):
            if isinstance(value, Bag | list | tuple):
                items = (admit(element, item, ("an element of {}", name, None)) for item in value)
                bag = Bag._ordered(tuple(items)) if isinstance(value, Bag) else Bag(items)
                _within(kind, len(bag), name)
                return bag
        case MapType(key, of):
            if isinstance(value, Mapping):
                entries = {
                    admit(key, k, ("a key of {}", name, None)): admit(of, v, ("{}[{!r}]", name, k))
                    for k, v in value.items()
                }
                if len(entries) != key.size:
                    raise ValueOutOfRange(
                        f"{_place_text(name)} needs a value for each of the {key.size} keys, {len(entries)} given; "
                        "where a key may be without one, let the value be None: Map[K, V | None]"
                    )
                return Map._ordered(entries) if isinstance(value, Map) else Map(entries)
        case SeqType(element):
            if isinstance(value, Seq | list | tuple):
                _within(kind, len(value), name)
                return Seq(admit(element, item, ("{}[{}]", name, index)) for index, item in enumerate(value))
    raise ValueOutOfRange(f"{_place_text(name)} would become {value!r}, which is not a value of {kind}")


_NO_ITEM = object()
"""Marks the end of a shorter sequence; unlike None, it is no value of a model."""


def readmit(kind: Type, value: Any, name: Named, held: Any) -> Any:
    """``admit`` for a variable that holds ``held``, a value of the same type. Parts of the new value that are parts of
    the held one were admitted with it; values never change, so only the other parts need to be looked at.
    """
    if value is held:
        return held
    match kind:
        case UnionType():  # which has fields of its own, those of all its members
            return admit(kind, value, name)
        case OptionalType(inner):
            return admit(kind, value, name) if value is None or held is None else readmit(inner, value, name, held)
        case RecordType(cls, fields):
            if type(value) is cls and type(held) is cls:
                new, old = value._values, held._values
                return cls.build({
                    field: readmit(of, new[field], ("{}.{}", name, field), old[field]) for field, of in fields
                })
        case MapType(_, of):
            if isinstance(value, Map) and isinstance(held, Map) and value._entries.keys() == held._entries.keys():
                old = held._entries
                return Map._ordered({
                    key: item if item is old[key] else readmit(of, item, ("{}[{!r}]", name, key), old[key])
                    for key, item in value._entries.items()
                })
        case SeqType(element):
            if isinstance(value, Seq) and isinstance(held, Seq):
                _within(kind, len(value), name)
                before_it = held._items[: len(value._items)]
                return Seq(
                    item if item is before else admit(element, item, ("{}[{}]", name, index))
                    for index, (item, before) in enumerate(zip_longest(value._items, before_it, fillvalue=_NO_ITEM))
                )
        case BagType(element):
            if isinstance(value, Bag) and isinstance(held, Bag):
                known = {id(item) for item in held._items}
                bag = Bag._ordered(tuple(
                    item if id(item) in known else admit(element, item, ("an element of {}", name, None))
                    for item in value._items
                ))
                _within(kind, len(bag), name)
                return bag
    return admit(kind, value, name)


def _within(kind: SetType | BagType | SeqType, size: int, name: Named) -> None:
    if kind.grows and _running:
        _running[-1].note_size(kind.grows, size)
    if kind.capacity is None or size <= kind.capacity:
        return
    if kind.grows:
        raise WidthExceeded(kind.grows, _place_text(name), size, kind.capacity)
    held = counted(size, "element")
    raise CapacityExceeded(f"{_place_text(name)} would hold {held}, more than its capacity of {kind.capacity}")
