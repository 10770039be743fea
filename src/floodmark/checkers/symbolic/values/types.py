"""Types as z3 sees them: their bounds, their members, and whether they are unbounded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from floodmark.checkers.symbolic.any_size.open_identifiers import OpenIdentifiers
from floodmark.checkers.symbolic.terms.axioms import Axioms
from floodmark.checkers.symbolic.terms.booleans import Truth, conj
from floodmark.checkers.symbolic.terms.integers import BitVectors, Codes, Integers, Number, Numbers
from floodmark.checkers.symbolic.terms.symbols import SymbolFactory
from floodmark.compiler.ir import NoneType, NothingType, Position
from floodmark.language.errors import ModelError
from floodmark.language.linear import Bound
from floodmark.language.plurals import counted
from floodmark.language.types import (
    INTEGER_LIMIT,
    BagType,
    IntType,
    MapType,
    OpenIdentifierType,
    OpenIntType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
    has_any_size,
)
from floodmark.language.universe import universe
from floodmark.language.values import Set, order_key

Value = Any
MAX_SLOTS = 256
"""The largest supported capacity of a set; a larger one would take too long to compare."""


class UnsupportedError(ModelError):
    """The symbolic checker cannot express this."""

    def at(self, position: Position) -> UnsupportedError:
        """The error with a place in the source, unless it already has one."""
        if self.file is None:
            self.file, self.line = position.file, position.line
        return self


class Types:
    """The types of one model.

    ``unbounded`` names constants that stand for any natural number; with ``integers``, numbers are unbounded too. With
    ``any_size`` there may be any number of identifiers.
    """

    def __init__(self, unbounded: Iterable[str] = (), integers: bool = False, any_size: bool = False) -> None:
        self.unbounded = list(unbounded)
        self.any_size = any_size
        self.symbols = SymbolFactory()
        self.numbers: Numbers = Integers() if self.unbounded or integers else BitVectors()
        self.constants = {name: self.numbers.fresh(self.symbols, name, 0, 0) for name in self.unbounded}
        self.axioms = Axioms(self.symbols)
        self.individuals_by_class: dict[type, OpenIdentifiers] = {}
        self._codes: dict[Type, Codes] = {}
        self._members: dict[Type, list[Any]] = {}

    def codes(self, kind: Type) -> Codes:
        """The codes that distinguish the members of an enum or of an identifier class."""
        if kind not in self._codes:
            self._codes[kind] = Codes(kind.codes)
        return self._codes[kind]

    def individuals(self, kind: OpenIdentifierType) -> OpenIdentifiers:
        """The identifiers of a kind, of which there may be any number."""
        if kind.cls not in self.individuals_by_class:
            self.individuals_by_class[kind.cls] = OpenIdentifiers(kind, self.bound(kind.limit), self.axioms)
        return self.individuals_by_class[kind.cls]

    def uncounted(self) -> list[Any]:
        """The sorts of identifiers whose sets no expression counts."""
        return [it.sort for it in self.individuals_by_class.values() if not it.are_counted]

    def counted_sets(self) -> list[Any]:
        """The sorts of sets of identifiers whose elements some expression counts."""
        return [it.sets.sort for it in self.individuals_by_class.values() if it.are_counted]

    def bound(self, bound: Bound) -> Number:
        """A bound of a type, over the symbols of the constants left open."""
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

    def is_key(self, key: OpenIdentifierType | OpenIntType, item: Value) -> Truth:
        """Whether a map with any number of keys has this one."""
        if not isinstance(key, OpenIntType):
            return True
        least, most = self.range(key)
        return self.numbers.between(least, item, most)

    def natural(self) -> Truth:
        """The condition that the constants left open are natural numbers."""
        return conj(self.numbers.at_most(0, constant) for constant in self.constants.values())

    def members(self, kind: Type) -> list[Any]:
        """Every value of a finite type."""
        if self.is_unbounded(kind):
            raise UnsupportedError(f"{kind} has infinitely many values here, so they cannot be enumerated")
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

    def is_relation(self, kind: Type) -> bool:
        """Whether a set is represented as a relation, because it may have any size."""
        if not self.unbounded or not isinstance(kind, SetType) or not self.is_unbounded(kind.element):
            return False
        return kind.capacity is None or kind.capacity >= INTEGER_LIMIT // 2  # its elements may have fewer values

    def is_unordered(self, kind: Type) -> bool:
        """Whether a set has slots without an order, because its elements have none."""
        return isinstance(kind, SetType) and not self.is_relation(kind) and has_any_size(kind.element)

    def is_unbounded(self, kind: Type) -> bool:
        """Whether a type has infinitely many values, or so many that it makes no difference."""
        match kind:
            case IntType(low, high):
                return low <= -INTEGER_LIMIT or high >= INTEGER_LIMIT
            case OpenIdentifierType():
                return True
            case OptionalType(inner):
                return self.is_unbounded(inner)
            case RecordType(_, fields):
                return any(self.is_unbounded(of) for _, of in fields)
            case SetType(element, _) | BagType(element, _) | SeqType(element, _):
                return self.is_unbounded(element)
            case MapType(key, value):
                return self.is_unbounded(key) or self.is_unbounded(value)
        return False

    def slots(self, kind: SetType | BagType) -> int:
        """The number of slots that represent a set or a bag with a capacity."""
        if isinstance(kind, BagType) and has_any_size(kind.element):
            raise UnsupportedError(f"{kind} has an order, which any number of identifiers do not have; use a Set")
        assert kind.capacity is not None
        if kind.capacity > MAX_SLOTS:
            raise UnsupportedError(f"{kind} holds up to {counted(kind.capacity, 'element')}, more than {MAX_SLOTS}")
        return kind.capacity
