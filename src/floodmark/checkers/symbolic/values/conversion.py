"""Values of one type as values of another, and whether they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from floodmark.checkers.symbolic.terms.booleans import Truth, conj, disj, implied, negation
from floodmark.checkers.symbolic.terms.integers import Integers, Number
from floodmark.checkers.symbolic.values.comparison import Comparison, Conditionals
from floodmark.checkers.symbolic.values.components import Components, Relation, UnboundedMap
from floodmark.checkers.symbolic.values.containers import Containers
from floodmark.checkers.symbolic.values.quantifiers import Quantifiers
from floodmark.checkers.symbolic.values.types import MAX_SLOTS, Types, UnsupportedError, Value
from floodmark.compiler.ir import INT, NoneType, NothingType
from floodmark.language.types import (
    BagType,
    IntType,
    MapType,
    OpenIdentifierType,
    OpenIntType,
    OpenSetType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
)


@dataclass(frozen=True, slots=True)
class Conversion:
    """Converts values."""

    types: Types
    components: Components
    comparison: Comparison
    conditionals: Conditionals
    quantifiers: Quantifiers
    containers: Containers

    def cast(self, source: Type, target: Type, value: Value) -> tuple[Truth, Value]:
        """Whether a value belongs to another type, and its components there, which are meaningless if it does not."""
        if source == target:
            return True, value
        fits: Truth
        match source, target:
            case NoneType(), OptionalType(inner):
                return True, (False, self.components.default(inner))
            case NoneType(), _:
                return False, self.components.default(target)
            case OptionalType(inner), OptionalType(other):
                fits, held = self.cast(inner, other, value[1])
                held = self.conditionals.either(other, value[0], held, self.components.default(other))
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
                bag = self.components.default(target)
                for there, item in self.containers.elements(source, value):
                    inside, held = self.cast(source.element, target.element, item)
                    room, longer = self.containers.insert(target.element, bag, held, once=False)
                    fits = conj((fits, implied(there, conj((inside, room)))))
                    bag = self.conditionals.either(target, there, longer, bag)
                return fits, bag
            case MapType(OpenIdentifierType() | OpenIntType() as key, of), MapType(_, other):
                item = self.components.variable(key, "key")
                fits, _ = self.cast(of, other, value.at(item))
                every = self.quantifiers.of_every(item, implied(self.types.is_key(key, item), fits))
                return every, UnboundedMap(lambda known: self.cast(of, other, value.at(known))[1])
            case MapType(), MapType():
                parts = [self.cast(source.value, target.value, item) for item in value]
                return conj(fits for fits, _ in parts), tuple(held for _, held in parts)
        raise UnsupportedError(f"{source} cannot be converted to {target}")

    def _cast_number(self, source: IntType, target: IntType, value: Number) -> tuple[Truth, Number]:
        if target == INT:
            return True, value
        same, settled = self.types.numbers.settled(value, target.low, target.high)
        if same is not True:
            return same, settled
        least, most = self.types.range(target)
        parts = []
        if source.low < target.low or not isinstance(least, int):
            parts.append(self.types.numbers.at_most(least, value))
        if source.high > target.high or not isinstance(most, int):
            parts.append(self.types.numbers.at_most(value, most))
        return conj(parts), settled

    def _cast_set(self, source: SetType, target: SetType, value: Value) -> tuple[Truth, Value]:
        if isinstance(source.element, NothingType):
            return True, self.components.default(target)
        if self.types.is_relation(target):
            if isinstance(value, Relation):
                if source.element == target.element:
                    return self._within(target, value)
                raise UnsupportedError(
                    f"a set of {source.element} that may have any size cannot become a set of {target.element} while "
                    f"{', '.join(self.types.unbounded)} is unbounded; prove it without --unbounded"
                )
            listed = [(there, *self.cast(source.element, target.element, item)) for there, item in
                      self.containers.elements(source, value)]
            fits = conj(implied(there, inside) for there, inside, _ in listed)
            size = self.types.numbers.count(there for there, _, _ in listed)
            equal, of = self.comparison.equal, target.element
            room, result = self._within(
                target, Relation(lambda it: disj(conj((there, equal(of, it, held))) for there, _, held in listed), size)
            )
            return conj((fits, room)), result
        if isinstance(value, Relation):
            raise UnsupportedError(
                f"a set of {source.element} may have any size while {', '.join(self.types.unbounded)} is unbounded, so "
                "it cannot become a set of bounded size; prove it without --unbounded"
            )
        if self.types.is_unordered(target) and source.element == target.element:
            return self.containers.resized(source, target, value)
        fits = True
        result = self.components.default(target)
        for there, item in self.containers.elements(source, value):
            inside, held = self.cast(source.element, target.element, item)
            room, larger = self.containers.with_element(target, result, held)
            fits = conj((fits, implied(there, conj((inside, room)))))
            result = self.conditionals.either(target, conj((there, inside)), larger, result)
        return fits, result

    def _within(self, kind: SetType, value: Relation) -> tuple[Truth, Relation]:
        """Whether a set of any size is within the capacity of a type, and the set as a value of that type."""
        if not isinstance(kind, OpenSetType):
            return True, value
        return self.has_room(kind, value), Relation(value.holds, self.types.bound(kind.limit))

    def has_room(self, kind: OpenSetType, value: Relation) -> Truth:
        """A sufficient condition that a set has no more elements than its capacity.

        It holds if the set is known to be small enough, or if some number in its elements is distinct for each element
        and lies in a range of as many numbers as the capacity allows, a range that begins or ends where the number's
        type does.
        """
        numbers, element = self.types.numbers, kind.element
        limit = self.types.bound(kind.limit)
        ways = [] if value.most is None else [numbers.at_most(value.most, limit)]
        if ways == [True]:
            return True
        one, other = self.components.variable(element, "one"), self.components.variable(element, "other")
        both = conj((value.holds(one), value.holds(other)))
        same = self.comparison.equal(element, one, other)
        for leaf, its in zip(self.components.leaves(element, one), self.components.leaves(element, other), strict=True):
            if not isinstance(leaf.type, IntType):
                continue
            alike = conj((both, numbers.equal(leaf.term, its.term)))
            differs = self.quantifiers.of_every((one, other), implied(alike, same))
            least, most = self.types.range(leaf.type)
            for first in (least, numbers.plus(numbers.minus(most, limit), 1)):
                last = numbers.minus(numbers.plus(first, limit), 1)
                inside = implied(value.holds(one), numbers.between(first, leaf.term, last))
                ways.append(conj((differs, self.quantifiers.of_every(one, inside))))
        return disj(ways)

    def _cast_seq(self, source: SeqType, target: SeqType, value: Value) -> tuple[Truth, Value]:
        if isinstance(value, Relation):
            raise UnsupportedError("a list of any length cannot become a sequence with a capacity here")
        if target.capacity > MAX_SLOTS and target.capacity >= 2 * source.capacity:
            raise UnsupportedError(f"a sequence cannot become one with a capacity of {target.capacity:,} here")
        length, items = value
        same, settled = self.types.numbers.settled(length, 0, target.capacity)
        fits = [same]
        if source.capacity > target.capacity:
            fits.append(self.types.numbers.at_most(length, target.capacity))
        held = []
        for index, item in enumerate(items[: target.capacity]):
            inside = self.types.numbers.less(index, length)
            good, part = self.cast(source.element, target.element, item)
            fits.append(implied(inside, good))
            held.append(self.conditionals.either(target.element, inside, part, self.components.default(target.element)))
        held += [self.components.default(target.element)] * (target.capacity - len(held))
        return conj(fits), (settled, tuple(held))

    def settled(self, kind: Type, value: Value) -> tuple[Truth, Value]:
        """A value with its numbers in the sorts of their types, and whether that leaves it unchanged.

        Numbers may be computed in a sort wider than their type, even where every possible result fits the type.
        """
        if isinstance(self.types.numbers, Integers) or not _has_numbers(kind):
            return True, value
        match kind:
            case IntType(low, high):
                return self.types.numbers.settled(value, low, high)
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
                same, length = self.types.numbers.settled(value[0], 0, capacity)
                parts = [self.settled(element, item) for item in value[1]]
                inside = (self.types.numbers.less(index, value[0]) for index in range(capacity))
                fits = conj(disj((negation(there), good)) for there, (good, _) in zip(inside, parts, strict=True))
                return conj((same, fits)), (length, tuple(item for _, item in parts))
        return True, value


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
