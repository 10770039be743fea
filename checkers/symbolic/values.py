"""The values of the modelling language as z3 terms, component by component.

    bool                    a truth value
    int, enum, identifier   a number; enums and identifiers are numbered from 0
    T | None                (there, value)
    record                  its fields, in order
    Set                     for each possible element whether it is in, or with a capacity as a Bag
    Bag                     descending slots (used, element)
    Map                     the values, in the order of the keys
    Seq                     (length, elements)

What stands where nothing is (the value of None, an unused slot) is the type's first value, so that equal values have
equal components. A set that may hold any number of elements is a relation: a function from an element to whether it is
in.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import z3

from checkers.symbolic.terms import (
    Numbers,
    Truth,
    as_term,
    bits,
    conj,
    disj,
    either,
    implied,
    negation,
    same_truth,
    unbounded,
)
from model.compiler.ir import INT, NoneType, NothingType
from model.language.errors import ModelError
from model.language.types import (
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
    universe,
)
from model.language.values import Bag, Identifier, Map, Seq, Set, order_key

Value = Any
MOST_SLOTS = 64
"""A set with a larger capacity becomes a relation."""
ENDLESS = (151, 157, 163, 167, 173, 179)
"""What endless constants are set to while the model is read, so that they can be recognised; nothing else may be."""


class UnsupportedError(ModelError):
    """The symbolic checker cannot express this."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A set with no bound on its size."""

    holds: Callable[[Value], Truth]
    function: Any = None


@dataclass(frozen=True, slots=True)
class Leaf:
    """One component of a value: where it is, in words, and its term."""

    path: str
    type: Type
    term: Any


class Values:
    """The values of one model, with numbers of one sort.

    ``endless`` names constants that stand for any natural number: a type's bound that is such a constant is none.
    """

    def __init__(self, width: int, endless: dict[str, int] | None = None, integers: bool = False) -> None:
        self.endless = endless or {}
        self.numbers = unbounded() if self.endless or integers else bits(width)
        self.constants = {number: z3.Int(name) for name, number in self.endless.items()}
        self._codes: dict[int, Numbers] = {}
        self._members: dict[Type, list[Any]] = {}
        self._lifted: dict[Type, list[Value]] = {}

    # Types.

    def sort(self, kind: Type) -> Numbers:
        """The sort of an integer, an enum or an identifier."""
        if isinstance(kind, IntType):
            return self.numbers
        width = max(1, kind.bits) + 1  # one more, so that no code is negative
        if width not in self._codes:
            self._codes[width] = bits(width)
        return self._codes[width]

    def members(self, kind: Type) -> list[Any]:
        """Every value of a finite type."""
        if self.is_endless(kind):
            raise UnsupportedError(f"the values of {kind} are endless here and cannot be run through")
        if kind not in self._members:
            self._members[kind] = self._all(kind)
        return self._members[kind]

    def _all(self, kind: Type) -> list[Any]:
        match kind:
            case NothingType():
                return []
            case NoneType():
                return [None]
            case OptionalType(inner):
                return [None, *self.members(inner)]
            case SetType(element, None):
                items = self.members(element)
                return [
                    Set(item for index, item in enumerate(items) if mask >> index & 1)
                    for mask in range(1 << len(items))
                ]
        return sorted(universe(kind), key=order_key)

    def lifted(self, kind: Type) -> list[Value]:
        """Every value of a finite type, as components."""
        if kind not in self._lifted:
            self._lifted[kind] = [self.constant(kind, value) for value in self.members(kind)]
        return self._lifted[kind]

    def is_relation(self, kind: Type) -> bool:
        if not isinstance(kind, SetType) or isinstance(kind.element, NothingType):
            return False
        if kind.capacity is None:
            return self.is_endless(kind.element)
        return kind.capacity > MOST_SLOTS

    def is_endless(self, kind: Type) -> bool:
        """Whether a type has infinitely many values."""
        match kind:
            case IntType():
                return kind == INT or (bool(self.endless) and kind.high >= ENDLESS[0])
            case OptionalType(inner):
                return self.is_endless(inner)
            case RecordType(_, fields):
                return any(self.is_endless(of) for _, of in fields)
            case SetType(element, _) | BagType(element, _) | SeqType(element, _):
                return self.is_endless(element)
            case MapType(_, value):
                return self.is_endless(value)
        return False

    # Making values.

    def number(self, value: int) -> Any:
        """An integer; one that stands for an endless constant becomes its symbol."""
        if self.endless and abs(value) >= ENDLESS[0] and value not in self.constants:
            raise UnsupportedError(f"a bound is more than an endless constant, or {value}; neither can be expressed")
        return self.constants.get(value, value)

    def constant(self, kind: Type, value: Any) -> Value:
        """The components of a value of the language."""
        match kind:
            case BoolType():
                return bool(value)
            case IntType():
                return self.number(value)
            case EnumType(cls):
                return list(cls).index(value)
            case IdentifierType():
                return value.number - 1
            case NoneType():
                return None
            case OptionalType(inner):
                if value is None:
                    return (False, self.default(inner))
                return (True, self.constant(inner, value))
            case RecordType(_, fields):
                return tuple(self.constant(of, value._values[name]) for name, of in fields)
            case SetType(NothingType(), _):
                return ()
            case SetType(element, _) if self.is_relation(kind):
                inside = [self.constant(element, item) for item in value]
                return Relation(lambda item: disj(self.equal(element, item, known) for known in inside))
            case SetType(element, None):
                return tuple(item in value for item in self.members(element))
            case SetType(element, capacity) | BagType(element, capacity):
                assert capacity is not None
                items = [(True, self.constant(element, item)) for item in reversed(list(value))]
                return (*items, *[(False, self.default(element))] * (capacity - len(items)))
            case MapType(key, of):
                return tuple(self.constant(of, value[k]) for k in self.members(key))
            case SeqType(element, capacity):
                items = [self.constant(element, item) for item in value]
                return (len(items), (*items, *[self.default(element)] * (capacity - len(items))))
        raise UnsupportedError(f"{kind} has no symbolic form")

    def default(self, kind: Type) -> Value:
        """The first value of a type."""
        match kind:
            case BoolType():
                return False
            case IntType(low, _):
                return 0 if kind == INT else low
            case EnumType() | IdentifierType():
                return 0
            case NoneType() | NothingType():
                return None
            case OptionalType(inner):
                return (False, self.default(inner))
            case RecordType(_, fields):
                return tuple(self.default(of) for _, of in fields)
            case SetType(NothingType(), _):
                return ()
            case SetType() if self.is_relation(kind):
                return Relation(lambda _: False)
            case SetType(element, None):
                return (False,) * len(self.members(element))
            case SetType(element, capacity) | BagType(element, capacity):
                assert capacity is not None
                return ((False, self.default(element)),) * capacity
            case MapType(key, of):
                return (self.default(of),) * len(self.members(key))
            case SeqType(element, capacity):
                return (0, (self.default(element),) * capacity)
        raise UnsupportedError(f"{kind} has no symbolic form")

    def fresh(self, kind: Type, name: str) -> Value:
        """A value that may be any of its type, and more: ``well_formed`` says that it is one of the type."""
        match kind:
            case BoolType():
                return z3.Bool(name)
            case IntType() | EnumType() | IdentifierType():
                return self.sort(kind).fresh(name)
            case OptionalType(inner):
                return (z3.Bool(f"{name}?"), self.fresh(inner, f"{name}!"))
            case RecordType(_, fields):
                return tuple(self.fresh(of, f"{name}.{field}") for field, of in fields)
            case SetType(element, _) if self.is_relation(kind):
                example = self.fresh(element, f"{name}#")
                sorts = [leaf.term.sort() for leaf in self.leaves(element, example)]
                function = z3.Function(name, *sorts, z3.BoolSort())
                return Relation(lambda item: function(*self.arguments(element, item)), function)
            case SetType(element, None):
                return tuple(z3.Bool(f"{name}<{self.show(item)}>") for item in self.members(element))
            case SetType(element, capacity) | BagType(element, capacity):
                assert capacity is not None
                names = [f"{name}[{slot}]" for slot in range(capacity)]
                return tuple((z3.Bool(f"{slot} used"), self.fresh(element, slot)) for slot in names)
            case MapType(key, of):
                return tuple(self.fresh(of, f"{name}[{self.show(k)}]") for k in self.members(key))
            case SeqType(element, capacity):
                items = tuple(self.fresh(element, f"{name}[{index}]") for index in range(capacity))
                return (self.numbers.fresh(f"len({name})"), items)
        raise UnsupportedError(f"{kind} has no symbolic form")

    @staticmethod
    def show(value: Any) -> str:
        return repr(value)

    def well_formed(self, kind: Type, value: Value) -> Truth:
        """Whether components are those of a value of the type."""
        match kind:
            case IntType(low, high):
                if kind == INT:
                    return True
                return conj((self.numbers.at_most(low, value), self.numbers.at_most(value, self.number(high))))
            case EnumType() | IdentifierType():
                sort = self.sort(kind)
                return conj((sort.at_most(0, value), sort.at_most(value, kind.codes - 1)))
            case OptionalType(inner):
                there, held = value
                empty = self.equal(inner, held, self.default(inner))
                return conj((self.well_formed(inner, held), disj((there, empty))))
            case RecordType(_, fields):
                return conj(self.well_formed(of, part) for (_, of), part in zip(fields, value, strict=True))
            case SetType(element, _) if isinstance(value, Relation):
                item = self.fresh(element, f"{kind}#wf")
                variables = [leaf.term for leaf in self.leaves(element, item)]
                body = implied(value.holds(item), self.well_formed(element, item))
                return True if body is True else z3.ForAll(variables, body)
            case SetType(_, None):
                return True
            case SetType(element, _) | BagType(element, _):
                parts = [self.well_formed(element, item) for _, item in value]
                for used, item in value:
                    parts.append(disj((used, self.equal(element, item, self.default(element)))))
                for (used, item), (next_used, next_item) in itertools.pairwise(value):
                    below = self.less(element, next_item, item)
                    if isinstance(kind, BagType):
                        below = negation(self.less(element, item, next_item))
                    parts.append(implied(next_used, conj((used, below))))
                return conj(parts)
            case MapType(_, of):
                return conj(self.well_formed(of, part) for part in value)
            case SeqType(element, capacity):
                length, items = value
                parts = [self.numbers.at_most(0, length), self.numbers.at_most(length, capacity)]
                for index, item in enumerate(items):
                    parts.append(self.well_formed(element, item))
                    inside = self.numbers.less(index, length)
                    parts.append(disj((inside, self.equal(element, item, self.default(element)))))
                return conj(parts)
        return True

    # Comparing and joining.

    def equal(self, kind: Type, a: Value, b: Value) -> Truth:
        if a is b:
            return True
        match kind:
            case BoolType():
                return same_truth(a, b)
            case IntType() | EnumType() | IdentifierType():
                return self.sort(kind).equal(a, b)
            case NoneType() | NothingType():
                return True
            case OptionalType(inner):
                return conj((same_truth(a[0], b[0]), self.equal(inner, a[1], b[1])))
            case RecordType(_, fields):
                return conj(self.equal(of, x, y) for (_, of), x, y in zip(fields, a, b, strict=True))
            case SetType(NothingType(), _):
                return True
            case SetType(element, _) if isinstance(a, Relation):
                item = self.fresh(element, f"{kind}#eq")
                body = same_truth(a.holds(item), b.holds(item))
                return body if isinstance(body, bool) else z3.ForAll(self.arguments(element, item), body)
            case SetType(_, None):
                return conj(same_truth(x, y) for x, y in zip(a, b, strict=True))
            case SetType(element, _) | BagType(element, _):
                return conj(
                    conj((same_truth(x[0], y[0]), self.equal(element, x[1], y[1]))) for x, y in zip(a, b, strict=True)
                )
            case MapType(_, of):
                return conj(self.equal(of, x, y) for x, y in zip(a, b, strict=True))
            case SeqType(element, _):
                same = (self.equal(element, x, y) for x, y in zip(a[1], b[1], strict=True))
                return conj((self.numbers.equal(a[0], b[0]), *same))
        raise UnsupportedError(f"{kind} cannot be compared")

    def either(self, kind: Type, condition: Truth, then: Value, otherwise: Value) -> Value:
        """A value that depends on a condition."""
        if condition is True or then is otherwise:
            return then
        if condition is False:
            return otherwise
        match kind:
            case BoolType():
                return either(condition, then, otherwise)
            case IntType() | EnumType() | IdentifierType():
                return self.sort(kind).either(condition, then, otherwise)
            case NoneType() | NothingType():
                return then
            case OptionalType(inner):
                there = either(condition, then[0], otherwise[0])
                return (there, self.either(inner, condition, then[1], otherwise[1]))
            case RecordType(_, fields):
                return tuple(
                    self.either(of, condition, x, y) for (_, of), x, y in zip(fields, then, otherwise, strict=True)
                )
            case SetType() if isinstance(then, Relation):
                return Relation(lambda item: either(condition, then.holds(item), otherwise.holds(item)))
            case SetType(_, None):
                return tuple(either(condition, x, y) for x, y in zip(then, otherwise, strict=True))
            case SetType(element, _) | BagType(element, _):
                return tuple(
                    (either(condition, x[0], y[0]), self.either(element, condition, x[1], y[1]))
                    for x, y in zip(then, otherwise, strict=True)
                )
            case MapType(_, of):
                return tuple(self.either(of, condition, x, y) for x, y in zip(then, otherwise, strict=True))
            case SeqType(element, _):
                length = self.numbers.either(condition, then[0], otherwise[0])
                parts = zip(then[1], otherwise[1], strict=True)
                return (length, tuple(self.either(element, condition, x, y) for x, y in parts))
        raise UnsupportedError(f"{kind} has no symbolic form")

    def less(self, kind: Type, a: Value, b: Value) -> Truth:
        """The order of the codes: what an iteration over a set or a bag follows."""
        match kind:
            case BoolType():
                return conj((negation(a), b))
            case IntType() | EnumType() | IdentifierType():
                return self.sort(kind).less(a, b)
        return self._lexicographic(self._by_weight(kind, a, b))

    def _by_weight(self, kind: Type, a: Value, b: Value) -> list[tuple[Type, Value, Value]]:
        """The parts of two values from the most significant down."""
        flag = BoolType()
        match kind:
            case NoneType() | NothingType():
                return []
            case OptionalType(inner):
                return [(flag, a[0], b[0]), (inner, a[1], b[1])]
            case RecordType(_, fields):
                return [(of, x, y) for (_, of), x, y in zip(fields, a, b, strict=True)]
            case SetType(_, None):
                return [(flag, x, y) for x, y in reversed(list(zip(a, b, strict=True)))]
            case SeqType(element, _):
                less = self.numbers.less
                items = enumerate(zip(a[1], b[1], strict=True))
                return [
                    part
                    for index, (x, y) in items
                    for part in ((flag, less(index, a[0]), less(index, b[0])), (element, x, y))
                ]
            case SetType(element, int()):
                pairs = list(zip(a, b, strict=True))
                return [part for x, y in pairs for part in ((flag, x[0], y[0]), (element, x[1], y[1]))]
            case BagType(element, _):
                pairs = list(zip(a, b, strict=True))[::-1]
                return [part for x, y in pairs for part in ((flag, x[0], y[0]), (element, x[1], y[1]))]
            case MapType(_, of):
                return [(of, x, y) for x, y in list(zip(a, b, strict=True))[::-1]]
        raise UnsupportedError(f"a set whose elements are {kind} has no order here")

    def _lexicographic(self, parts: list[tuple[Type, Value, Value]]) -> Truth:
        result: Truth = False
        for kind, a, b in reversed(parts):
            result = disj((self.less(kind, a, b), conj((self.equal(kind, a, b), result))))
        return result

    # Conversion.

    def cast(self, source: Type, target: Type, value: Value) -> tuple[Truth, Value]:
        """Whether a value belongs to another type, and it there; anything when it does not."""
        if source == target:
            return True, value
        fits: Truth
        match source, target:
            case NoneType(), OptionalType(inner):
                return True, (False, self.default(inner))
            case NoneType(), _:
                return False, self.default(target)
            case OptionalType(inner), OptionalType(other):
                fits, held = self.cast(inner, other, value[1])
                held = self.either(other, value[0], held, self.default(other))
                return disj((negation(value[0]), fits)), (value[0], held)
            case _, OptionalType(inner):
                fits, held = self.cast(source, inner, value)
                return fits, (True, held)
            case OptionalType(inner), _:
                fits, held = self.cast(inner, target, value[1])
                return conj((value[0], fits)), held
            case IntType(), IntType():
                parts = []
                if source.low < target.low:
                    parts.append(self.numbers.at_most(target.low, value))
                if source.high > target.high:
                    parts.append(self.numbers.at_most(value, self.number(target.high)))
                return conj(parts), value
            case SetType(), SetType():
                return self._cast_set(source, target, value)
            case SeqType(), SeqType():
                return self._cast_seq(source, target, value)
            case (SeqType() | BagType()), BagType():
                fits = True
                bag = self.default(target)
                for there, item in self.elements(source, value):
                    inside, held = self.cast(source.element, target.element, item)
                    room, longer = self.insert(target.element, bag, held, once=False)
                    fits = conj((fits, implied(there, conj((inside, room)))))
                    bag = self.either(target, there, longer, bag)
                return fits, bag
            case MapType(), MapType():
                parts = [self.cast(source.value, target.value, item) for item in value]
                return conj(fits for fits, _ in parts), tuple(held for _, held in parts)
        raise UnsupportedError(f"{source} cannot be converted to {target}")

    def _cast_set(self, source: SetType, target: SetType, value: Value) -> tuple[Truth, Value]:
        if isinstance(source.element, NothingType):
            return True, self.default(target)
        if self.is_relation(target):
            if isinstance(value, Relation):
                if source.element == target.element:
                    return True, value
                raise UnsupportedError(f"an endless set of {source.element} is no set of {target.element} here")
            listed = [(there, *self.cast(source.element, target.element, item)) for there, item in
                      self.elements(source, value)]
            fits = conj(implied(there, inside) for there, inside, _ in listed)
            return fits, Relation(
                lambda item: disj(conj((there, self.equal(target.element, item, held))) for there, _, held in listed)
            )
        if isinstance(value, Relation):
            raise UnsupportedError("an endless set becomes a bounded one")
        fits = True
        result = self.default(target)
        for there, item in self.elements(source, value):
            inside, held = self.cast(source.element, target.element, item)
            room, larger = self.with_element(target, result, held)
            fits = conj((fits, implied(there, conj((inside, room)))))
            result = self.either(target, conj((there, inside)), larger, result)
        return fits, result

    def _cast_seq(self, source: SeqType, target: SeqType, value: Value) -> tuple[Truth, Value]:
        length, items = value
        fits = [] if source.capacity <= target.capacity else [self.numbers.at_most(length, target.capacity)]
        held = []
        for index, item in enumerate(items[: target.capacity]):
            inside = self.numbers.less(index, length)
            good, part = self.cast(source.element, target.element, item)
            fits.append(implied(inside, good))
            held.append(self.either(target.element, inside, part, self.default(target.element)))
        held += [self.default(target.element)] * (target.capacity - len(held))
        return conj(fits), (length, tuple(held))

    # Containers.

    def elements(self, kind: Type, value: Value) -> list[tuple[Truth, Value]]:
        """What an iteration may meet, in its order, each with whether it does."""
        match kind:
            case SetType(NothingType(), _):
                return []
            case SetType(element, None) if not isinstance(value, Relation):
                pairs = zip(value, self.lifted(element), strict=True)
                return [(there, item) for there, item in pairs if there is not False]
            case SetType(_, int()) | BagType() if not isinstance(value, Relation):
                return [(there, item) for there, item in reversed(value) if there is not False]
            case SeqType():
                length, items = value
                found = [(self.numbers.less(index, length), item) for index, item in enumerate(items)]
                return [(there, item) for there, item in found if there is not False]
        raise UnsupportedError(f"{kind} cannot be enumerated here")

    def contains(self, kind: Type, value: Value, item: Value) -> Truth:
        """Whether a container has an element of its own element type."""
        assert isinstance(kind, SetType | BagType | SeqType)
        if isinstance(value, Relation):
            return value.holds(item)
        if isinstance(kind.element, NothingType):
            return False
        return disj(conj((there, self.equal(kind.element, held, item))) for there, held in self.elements(kind, value))

    def with_element(self, kind: SetType, value: Value, item: Value) -> tuple[Truth, Value]:
        """A set with one element more, and whether there is room."""
        if isinstance(value, Relation):
            old = value
            return True, Relation(lambda other: disj((old.holds(other), self.equal(kind.element, other, item))))
        if kind.capacity is None:
            lifted = self.lifted(kind.element)
            return True, tuple(
                disj((there, self.equal(kind.element, known, item))) for there, known in zip(value, lifted, strict=True)
            )
        return self.insert(kind.element, value, item, once=True)

    def insert(self, element: Type, slots: Value, item: Value, once: bool) -> tuple[Truth, Value]:
        """Descending slots with one element more, and whether there is room; ``once`` for a set."""
        carried: tuple[Truth, Value] = (True, item)
        result = []
        for used, held in slots:
            moving, moved = carried
            same = conj((moving, used, self.equal(element, moved, held))) if once else False
            first = conj((moving, disj((negation(used), self.less(element, held, moved)))))
            placed = self.either(element, first, moved, held)
            result.append((disj((used, first)), placed))
            onward = either(first, used, conj((moving, negation(same))))
            pushed = self.either(element, first, held, moved)
            carried = (onward, self.either(element, onward, pushed, self.default(element)))
        return negation(carried[0]), tuple(result)

    def without(self, element: Type, slots: Value, item: Value) -> tuple[Truth, Value]:
        """Slots with one occurrence of an element fewer, and whether it was there."""
        gone: Truth = False
        result = []
        following = (*slots[1:], (False, self.default(element)))
        for (used, held), (next_used, next_held) in zip(slots, following, strict=True):
            gone = disj((gone, conj((used, self.equal(element, held, item)))))
            result.append((either(gone, next_used, used), self.either(element, gone, next_held, held)))
        return gone, tuple(result)

    def size(self, kind: Type, value: Value) -> Any:
        match kind:
            case MapType(key, _):
                return len(self.members(key))
            case SeqType():
                return value[0]
        return self.numbers.count(there for there, _ in self.elements(kind, value))

    # Components.

    def leaves(self, kind: Type, value: Value, path: str = "") -> list[Leaf]:
        """The components of a value, each with its place in the words of the model."""
        return list(self._leaves(kind, value, path))

    def arguments(self, kind: Type, value: Value) -> list[Any]:
        """The components as z3 terms."""
        return [leaf.term for leaf in self._leaves(kind, value, "")]

    def _leaves(self, kind: Type, value: Value, path: str) -> Iterator[Leaf]:
        match kind:
            case BoolType():
                yield Leaf(path, kind, as_term(value))
            case IntType() | EnumType() | IdentifierType():
                yield Leaf(path, kind, self.sort(kind).term(value))
            case OptionalType(inner):
                yield Leaf(f"{path} is not None", BoolType(), as_term(value[0]))
                yield from self._leaves(inner, value[1], path)
            case RecordType(_, fields):
                for (field, of), part in zip(fields, value, strict=True):
                    yield from self._leaves(of, part, f"{path}.{field}")
            case SetType(element, None) if not isinstance(value, Relation):
                for item, there in zip(self.members(element), value, strict=True):
                    yield Leaf(f"{self.show(item)} in {path}", BoolType(), as_term(there))
            case SetType(element, int()) | BagType(element, _) if not isinstance(value, Relation):
                for slot, (there, item) in enumerate(value):
                    yield Leaf(f"len({path}) > {slot}", BoolType(), as_term(there))
                    yield from self._leaves(element, item, f"{path}[{slot}]")
            case MapType(key, of):
                for k, part in zip(self.members(key), value, strict=True):
                    yield from self._leaves(of, part, f"{path}[{self.show(k)}]")
            case SeqType(element, capacity):
                yield Leaf(f"len({path})", IntType(0, capacity), self.numbers.term(value[0]))
                for index, item in enumerate(value[1]):
                    yield from self._leaves(element, item, f"{path}[{index}]")

    def decode(self, kind: Type, value: Value, model: Any) -> Any:
        """The value of the language that components have in a model of z3."""
        match kind:
            case BoolType():
                return value if isinstance(value, bool) else z3.is_true(model.eval(value, True))
            case IntType():
                return value if isinstance(value, int) else self.numbers.value(model.eval(value, True))
            case EnumType(cls):
                return list(cls)[self._code(kind, value, model)]
            case IdentifierType(cls, _):
                return self._identifier(cls, self._code(kind, value, model) + 1)
            case OptionalType(inner):
                return self.decode(inner, value[1], model) if self.decode(BoolType(), value[0], model) else None
            case RecordType(cls, fields):
                parts = zip(fields, value, strict=True)
                return cls.build({name: self.decode(of, part, model) for (name, of), part in parts})
            case SetType(element, _) if isinstance(value, Relation):
                return self._decode_relation(element, value, model)
            case SetType(element, None):
                pairs = zip(self.members(element), value, strict=True)
                return Set(item for item, there in pairs if self.decode(BoolType(), there, model))
            case SetType(element, _) | BagType(element, _):
                used = (item for there, item in value if self.decode(BoolType(), there, model))
                items = [self.decode(element, item, model) for item in used]
                return Bag(items) if isinstance(kind, BagType) else Set(items)
            case MapType(key, of):
                return Map({k: self.decode(of, part, model) for k, part in zip(self.members(key), value, strict=True)})
            case SeqType(element, _):
                length = self.decode(IntType(0, 0), value[0], model)
                return Seq(self.decode(element, item, model) for item in value[1][:length])
        raise UnsupportedError(f"{kind} has no symbolic form")

    def _code(self, kind: Type, value: Value, model: Any) -> int:
        return value if isinstance(value, int) else self.sort(kind).value(model.eval(value, True))

    @staticmethod
    def _identifier(cls: type[Identifier], number: int) -> Identifier:
        return cls(number)

    def _decode_relation(self, element: Type, value: Relation, model: Any) -> Any:
        """The members that a model of z3 mentions."""
        shape = self.fresh(element, "shown#")
        found = []
        for declaration in model.decls():
            if declaration.arity() == 0 or declaration.range() != z3.BoolSort():
                continue
            for entry in model[declaration].as_list()[:-1]:
                item = self._rebuilt(element, shape, list(entry[:-1]))
                if item is not None and z3.is_true(model.eval(as_term(value.holds(item)), True)):
                    decoded = self.decode(element, item, model)
                    if decoded not in found:
                        found.append(decoded)
        return Set(found)

    def _rebuilt(self, kind: Type, shape: Value, terms: list[Any]) -> Value | None:
        """A value of the form of ``shape`` with these components; None when they do not fit."""
        leaves = [leaf.term for leaf in self.leaves(kind, shape)]
        if [term.sort() for term in leaves] != [term.sort() for term in terms]:
            return None
        known = {leaf.get_id(): term for leaf, term in zip(leaves, terms, strict=True)}

        def replaced(part: Value) -> Value:
            if isinstance(part, tuple):
                return tuple(replaced(item) for item in part)
            return known[part.get_id()] if isinstance(part, z3.ExprRef) else part

        return replaced(shape)
