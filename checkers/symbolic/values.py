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
in. Constants that are left open are symbols themselves, and the bounds of types are terms over them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import z3

from floodmark.checkers.report.value import show
from floodmark.checkers.symbolic.numbers import Bits, BitVectors, Codes, Integers, Number, Numbers
from floodmark.checkers.symbolic.symbols import Symbols
from floodmark.checkers.symbolic.terms import Truth, as_term, conj, disj, either, implied, negation, same_truth
from floodmark.compiler.ir import INT, NoneType, NothingType, Position
from floodmark.language.errors import ModelError
from floodmark.language.linear import Bound
from floodmark.language.types import (
    WIDEST_INTEGER,
    BagType,
    BoolType,
    EnumType,
    IdentifierType,
    IntType,
    MapType,
    OpenIntType,
    OpenSetType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
)
from floodmark.language.universe import universe
from floodmark.language.values import Bag, Identifier, Map, Seq, Set, order_key

Value = Any
MOST_SLOTS = 256
"""A set with a larger capacity would take longer to compare than anybody waits."""


class UnsupportedError(ModelError):
    """The symbolic checker cannot express this."""

    def at(self, position: Position) -> UnsupportedError:
        """The error with a place in the source, unless it has one."""
        if self.file is None:
            self.file, self.line = position.file, position.line
        return self


@dataclass(frozen=True, slots=True)
class Relation:
    """A set of any size: whether it holds a value, and how many elements it has at ``most``, when that is known."""

    holds: Callable[[Value], Truth]
    most: Number | None


@dataclass(frozen=True, slots=True)
class Leaf:
    """One component of a value: where it is, in words, and its term."""

    path: str
    type: Type
    term: Any


class Values:
    """The values of one model.

    ``endless`` names constants that stand for any natural number; ``integers`` says that numbers have no bounds either.
    """

    def __init__(self, endless: Iterable[str] = (), integers: bool = False) -> None:
        self.endless = list(endless)
        self.symbols = Symbols()
        self.numbers: Numbers = Integers() if self.endless or integers else BitVectors()
        self.constants = {name: self.numbers.fresh(self.symbols, name, 0, 0) for name in self.endless}
        self._codes: dict[Type, Codes] = {}
        self._members: dict[Type, list[Any]] = {}
        self._lifted: dict[Type, list[Value]] = {}

    # Types.

    def codes(self, kind: Type) -> Codes:
        """How the members of an enum or of an identifier class are told apart."""
        if kind not in self._codes:
            self._codes[kind] = Codes(kind.codes)
        return self._codes[kind]

    def bound(self, bound: Bound) -> Number:
        """A bound of a type, over the symbols of the constants that are left open."""
        if isinstance(bound, int):
            return bound
        numbers = self.numbers
        parts = [numbers.times(factor, self.constants[name]) for name, factor in bound.times]
        return numbers.plus(numbers.total(parts), bound.number)

    def range(self, kind: IntType) -> tuple[Number, Number]:
        """The bounds of a type."""
        if isinstance(kind, OpenIntType):
            return self.bound(kind.least), self.bound(kind.most)
        return kind.low, kind.high

    def natural(self) -> Truth:
        """That the constants which are left open are natural numbers."""
        return conj(self.numbers.at_most(0, constant) for constant in self.constants.values())

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
        """Whether a set is kept as a relation: one that may have any size."""
        if not self.endless or not isinstance(kind, SetType) or not self.is_endless(kind.element):
            return False
        return kind.capacity is None or kind.capacity >= WIDEST_INTEGER // 2  # those of its elements may be fewer

    def is_endless(self, kind: Type) -> bool:
        """Whether a type has infinitely many values, or as good as that."""
        match kind:
            case IntType(low, high):
                return low <= -WIDEST_INTEGER or high >= WIDEST_INTEGER
            case OptionalType(inner):
                return self.is_endless(inner)
            case RecordType(_, fields):
                return any(self.is_endless(of) for _, of in fields)
            case SetType(element, _) | BagType(element, _) | SeqType(element, _):
                return self.is_endless(element)
            case MapType(_, value):
                return self.is_endless(value)
        return False

    def slots(self, kind: SetType | BagType) -> int:
        """In how many slots a set or a bag with a capacity is kept."""
        assert kind.capacity is not None
        if kind.capacity > MOST_SLOTS:
            raise UnsupportedError(f"{kind} holds up to {kind.capacity} elements, more than {MOST_SLOTS}")
        return kind.capacity

    # Making values.

    def constant(self, kind: Type, value: Any) -> Value:
        """The components of a value of the language."""
        match kind:
            case BoolType():
                return bool(value)
            case IntType():
                return int(value)
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
                return Relation(lambda item: disj(self.equal(element, item, known) for known in inside), len(inside))
            case SetType(element, None):
                return tuple(item in value for item in self.members(element))
            case SetType(element, _) | BagType(element, _):
                items = [(True, self.constant(element, item)) for item in reversed(list(value))]
                return (*items, *[(False, self.default(element))] * (self.slots(kind) - len(items)))
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
            case IntType():
                return 0 if kind == INT else self.range(kind)[0]
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
                return Relation(lambda _: False, 0)
            case SetType(element, None):
                return (False,) * len(self.members(element))
            case SetType(element, _) | BagType(element, _):
                return ((False, self.default(element)),) * self.slots(kind)
            case MapType(key, of):
                return (self.default(of),) * len(self.members(key))
            case SeqType(element, capacity):
                return (0, (self.default(element),) * capacity)
        raise UnsupportedError(f"{kind} has no symbolic form")

    def fresh(self, kind: Type, hint: str) -> Value:
        """A value that may be any of its type, and more: ``well_formed`` says that it is one of the type."""
        match kind:
            case BoolType():
                return self.symbols.truth(hint)
            case IntType(low, high):
                return self.numbers.fresh(self.symbols, hint, low, high)
            case EnumType() | IdentifierType():
                return self.codes(kind).fresh(self.symbols, hint)
            case OptionalType(inner):
                return (self.symbols.truth(f"{hint}?"), self.fresh(inner, hint))
            case RecordType(_, fields):
                return tuple(self.fresh(of, f"{hint}.{field}") for field, of in fields)
            case SetType(element, _) if self.is_relation(kind):
                example = self.fresh(element, hint)
                function = self.symbols.relation(hint, [term.sort() for term in self.arguments(element, example)])
                most = self.bound(kind.limit) if isinstance(kind, OpenSetType) else None
                return Relation(lambda item: function(*self.arguments(element, item)), most)
            case SetType(element, None):
                return tuple(self.symbols.truth(hint) for _ in self.members(element))
            case SetType(element, _) | BagType(element, _):
                return tuple((self.symbols.truth(hint), self.fresh(element, hint)) for _ in range(self.slots(kind)))
            case MapType(key, of):
                return tuple(self.fresh(of, hint) for _ in self.members(key))
            case SeqType(element, capacity):
                items = tuple(self.fresh(element, hint) for _ in range(capacity))
                return (self.numbers.fresh(self.symbols, f"len {hint}", 0, capacity), items)
        raise UnsupportedError(f"{kind} has no symbolic form")

    def well_formed(self, kind: Type, value: Value) -> Truth:
        """Whether components are those of a value of the type."""
        match kind:
            case IntType():
                if kind == INT:
                    return True
                low, high = self.range(kind)
                return self.numbers.between(low, value, high)
            case EnumType() | IdentifierType():
                return self.codes(kind).is_one(value)
            case OptionalType(inner):
                there, held = value
                empty = self.equal(inner, held, self.default(inner))
                return conj((self.well_formed(inner, held), disj((there, empty))))
            case RecordType(_, fields):
                return conj(self.well_formed(of, part) for (_, of), part in zip(fields, value, strict=True))
            case SetType(element, _) if isinstance(value, Relation):
                item = self.fresh(element, "any")
                return self._of_every(element, item, implied(value.holds(item), self.well_formed(element, item)))
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
                parts = [self.numbers.between(0, length, capacity)]
                for index, item in enumerate(items):
                    parts.append(self.well_formed(element, item))
                    inside = self.numbers.less(index, length)
                    parts.append(disj((inside, self.equal(element, item, self.default(element)))))
                return conj(parts)
        return True

    def admits(self, kind: Type, value: Any) -> Truth:
        """Whether a value of the language is within the bounds of a type that are left open."""
        match kind:
            case OpenIntType():
                low, high = self.range(kind)
                return self.numbers.between(low, value, high)
            case OptionalType(inner):
                return value is None or self.admits(inner, value)
            case RecordType(_, fields):
                return conj(self.admits(of, value._values[name]) for name, of in fields)
            case MapType(_, of):
                return conj(self.admits(of, value[key]) for key in value)
            case SetType(element, _) | BagType(element, _) | SeqType(element, _):
                parts = [self.admits(element, item) for item in value]
                if isinstance(kind, OpenSetType):
                    parts.append(self.numbers.at_most(len(value), self.bound(kind.limit)))
                return conj(parts)
        return True

    # Comparing and joining.

    def equal(self, kind: Type, a: Value, b: Value) -> Truth:
        if a is b:
            return True
        match kind:
            case BoolType():
                return same_truth(a, b)
            case IntType():
                return self.numbers.equal(a, b)
            case EnumType() | IdentifierType():
                return self.codes(kind).equal(a, b)
            case NoneType() | NothingType():
                return True
            case OptionalType(inner):
                return conj((same_truth(a[0], b[0]), self.equal(inner, a[1], b[1])))
            case RecordType(_, fields):
                return conj(self.equal(of, x, y) for (_, of), x, y in zip(fields, a, b, strict=True))
            case SetType(NothingType(), _):
                return True
            case SetType(element, _) if isinstance(a, Relation):
                item = self.fresh(element, "any")
                return self._of_every(element, item, same_truth(a.holds(item), b.holds(item)))
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
            case IntType():
                return self.numbers.either(condition, then, otherwise)
            case EnumType() | IdentifierType():
                return self.codes(kind).either(condition, then, otherwise)
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
                known = then.most is not None and otherwise.most is not None
                most = self.numbers.either(condition, then.most, otherwise.most) if known else None
                return Relation(lambda item: either(condition, then.holds(item), otherwise.holds(item)), most)
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
            case IntType():
                return self.numbers.less(a, b)
            case EnumType() | IdentifierType():
                return self.codes(kind).less(a, b)
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
                return self._cast_number(source, target, value)
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

    def _cast_number(self, source: IntType, target: IntType, value: Number) -> tuple[Truth, Number]:
        if target == INT:
            return True, value
        same, settled = self.numbers.settled(value, target.low, target.high)
        if same is not True:
            return same, settled
        least, most = self.range(target)
        parts = []
        if source.low < target.low or not isinstance(least, int):
            parts.append(self.numbers.at_most(least, value))
        if source.high > target.high or not isinstance(most, int):
            parts.append(self.numbers.at_most(value, most))
        return conj(parts), settled

    def _cast_set(self, source: SetType, target: SetType, value: Value) -> tuple[Truth, Value]:
        if isinstance(source.element, NothingType):
            return True, self.default(target)
        if self.is_relation(target):
            if isinstance(value, Relation):
                if source.element == target.element:
                    return self._within(target, value)
                raise UnsupportedError(f"an endless set of {source.element} is no set of {target.element} here")
            listed = [(there, *self.cast(source.element, target.element, item)) for there, item in
                      self.elements(source, value)]
            fits = conj(implied(there, inside) for there, inside, _ in listed)
            there_are = self.numbers.count(there for there, _, _ in listed)
            made = Relation(
                lambda item: disj(conj((there, self.equal(target.element, item, held))) for there, _, held in listed),
                there_are,
            )
            room, made = self._within(target, made)
            return conj((fits, room)), made
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

    def _within(self, kind: SetType, value: Relation) -> tuple[Truth, Relation]:
        """Whether a set of any size is within the capacity of a type, and it there."""
        if not isinstance(kind, OpenSetType):
            return True, value
        return self.has_room(kind, value), Relation(value.holds, self.bound(kind.limit))

    def has_room(self, kind: OpenSetType, value: Relation) -> Truth:
        """That a set has no more elements than its capacity; false also where that cannot be shown.

        It has not when it is known to be small enough. Or when a number in its elements is different for each and lies
        in a range of as many numbers as the capacity allows: one that begins or ends where the number's type does.
        """
        numbers, element = self.numbers, kind.element
        limit = self.bound(kind.limit)
        ways = [] if value.most is None else [numbers.at_most(value.most, limit)]
        if ways == [True]:
            return True
        one, other = self.fresh(element, "one"), self.fresh(element, "other")
        both = conj((value.holds(one), value.holds(other)))
        same = self.equal(element, one, other)
        for leaf, its in zip(self.leaves(element, one), self.leaves(element, other), strict=True):
            if not isinstance(leaf.type, IntType):
                continue
            alike = conj((both, numbers.equal(leaf.term, its.term)))
            differs = self._of_every(element, (one, other), implied(alike, same))
            least, most = self.range(leaf.type)
            for first in (least, numbers.plus(numbers.minus(most, limit), 1)):
                last = numbers.minus(numbers.plus(first, limit), 1)
                inside = implied(value.holds(one), numbers.between(first, leaf.term, last))
                ways.append(conj((differs, self._of_every(element, one, inside))))
        return disj(ways)

    def _of_every(self, kind: Type, item: Value, truth: Truth) -> Truth:
        """What is said of fresh values of a type, said of every one."""
        if isinstance(truth, bool):
            return truth
        return z3.ForAll(_symbols_in(item), truth)

    def _cast_seq(self, source: SeqType, target: SeqType, value: Value) -> tuple[Truth, Value]:
        length, items = value
        same, settled = self.numbers.settled(length, 0, target.capacity)
        fits = [same] if source.capacity <= target.capacity else [same, self.numbers.at_most(length, target.capacity)]
        held = []
        for index, item in enumerate(items[: target.capacity]):
            inside = self.numbers.less(index, length)
            good, part = self.cast(source.element, target.element, item)
            fits.append(implied(inside, good))
            held.append(self.either(target.element, inside, part, self.default(target.element)))
        held += [self.default(target.element)] * (target.capacity - len(held))
        return conj(fits), (settled, tuple(held))

    def settled(self, kind: Type, value: Value) -> tuple[Truth, Value]:
        """A value with its numbers in the sorts of their types, and whether it is the same there.

        What a type's numbers are computed as may be wider than the type, even where only such results can come about
        that the type holds.
        """
        if isinstance(self.numbers, Integers) or not _has_numbers(kind):
            return True, value
        match kind:
            case IntType(low, high):
                return self.numbers.settled(value, low, high)
            case OptionalType(inner):
                fits, held = self.settled(inner, value[1])
                return disj((negation(value[0]), fits)), (value[0], held)
            case RecordType(_, fields):
                return _together(self.settled(of, part) for (_, of), part in zip(fields, value, strict=True))
            case MapType(_, of):
                return _together(self.settled(of, part) for part in value)
            case SetType(element, int()) | BagType(element, _):
                slots = [(there, *self.settled(element, item)) for there, item in value]
                fits = conj(disj((negation(there), good)) for there, good, _ in slots)
                return fits, tuple((there, item) for there, _, item in slots)
            case SeqType(element, capacity):
                same, length = self.numbers.settled(value[0], 0, capacity)
                parts = [self.settled(element, item) for item in value[1]]
                inside = (self.numbers.less(index, value[0]) for index in range(capacity))
                fits = conj(disj((negation(there), good)) for there, (good, _) in zip(inside, parts, strict=True))
                return conj((same, fits)), (length, tuple(item for _, item in parts))
        return True, value

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
        raise UnsupportedError("a set of any size has no elements that can be counted or run through in order here")

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
            case IntType(low, high):
                yield Leaf(path, kind, self.numbers.term(value, low, high))
            case EnumType() | IdentifierType():
                yield Leaf(path, kind, self.codes(kind).term(value))
            case OptionalType(inner):
                yield Leaf(f"{path} is not None", BoolType(), as_term(value[0]))
                yield from self._leaves(inner, value[1], path)
            case RecordType(_, fields):
                for (field, of), part in zip(fields, value, strict=True):
                    yield from self._leaves(of, part, f"{path}.{field}")
            case SetType(element, None) if not isinstance(value, Relation):
                for item, there in zip(self.members(element), value, strict=True):
                    yield Leaf(f"{show(item)} in {path}", BoolType(), as_term(there))
            case SetType(element, int()) | BagType(element, _) if not isinstance(value, Relation):
                for slot, (there, item) in enumerate(value):
                    yield Leaf(f"len({path}) > {slot}", BoolType(), as_term(there))
                    yield from self._leaves(element, item, f"{path}[{slot}]")
            case MapType(key, of):
                for k, part in zip(self.members(key), value, strict=True):
                    yield from self._leaves(of, part, f"{path}[{show(k)}]")
            case SeqType(element, capacity):
                yield Leaf(f"len({path})", IntType(0, capacity), self.numbers.term(value[0], 0, capacity))
                for index, item in enumerate(value[1]):
                    yield from self._leaves(element, item, f"{path}[{index}]")

    def decode(self, kind: Type, value: Value, model: Any) -> Any:
        """The value of the language that components have in a model of z3."""
        match kind:
            case BoolType():
                return value if isinstance(value, bool) else z3.is_true(model.eval(value, True))
            case IntType():
                return self.numbers.value(value, model)
            case EnumType(cls):
                return list(cls)[self.codes(kind).value(value, model)]
            case IdentifierType(cls, _):
                return self._identifier(cls, self.codes(kind).value(value, model) + 1)
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
                length = self.numbers.value(value[0], model)
                return Seq(self.decode(element, item, model) for item in value[1][:length])
        raise UnsupportedError(f"{kind} has no symbolic form")

    @staticmethod
    def _identifier(cls: type[Identifier], number: int) -> Identifier:
        return cls(number)

    def _decode_relation(self, element: Type, value: Relation, model: Any) -> Any:
        """The members that a model of z3 mentions."""
        shape = self.fresh(element, "shown")
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
        return replaced_in(shape, lambda term: known[term.get_id()])


def replaced_in(value: Value, replacement: Callable[[Any], Any]) -> Value:
    """A value with each of its terms replaced by another of the same sort."""
    match value:
        case tuple():
            return tuple(replaced_in(part, replacement) for part in value)
        case Bits(term=term):
            return Bits(replacement(term), value.low, value.high, value.width)
        case z3.ExprRef():
            return replacement(value)
    return value


def _symbols_in(value: Value) -> list[Any]:
    """The terms of a fresh value."""
    match value:
        case tuple():
            return [term for part in value for term in _symbols_in(part)]
        case Bits(term=term):
            return [term]
        case z3.ExprRef():
            return [value]
    return []


def _together(parts: Iterable[tuple[Truth, Value]]) -> tuple[Truth, Value]:
    listed = list(parts)
    return conj(fits for fits, _ in listed), tuple(value for _, value in listed)


@cache
def _has_numbers(kind: Type) -> bool:
    """Whether there are numbers among the components of a type."""
    match kind:
        case IntType() | SeqType():
            return True
        case OptionalType(inner):
            return _has_numbers(inner)
        case RecordType(_, fields):
            return any(_has_numbers(of) for _, of in fields)
        case SetType(element, int()) | BagType(element, _):
            return _has_numbers(element)
        case MapType(_, value):
            return _has_numbers(value)
    return False
