"""The components of a value: fresh ones, those of a type's first value, and a description of each one's place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import z3

from floodmark.checkers.symbolic.any_size.set_sorts import SetSort, tells_members_only
from floodmark.checkers.symbolic.terms.booleans import Truth, as_term, substituted
from floodmark.checkers.symbolic.terms.integers import Bits, Number
from floodmark.checkers.symbolic.values.types import MAX_SLOTS, Types, UnsupportedError, Value
from floodmark.checkers.value_text import show
from floodmark.compiler.ir import INT, NoneType, NothingType
from floodmark.language.types import (
    INTEGER_LIMIT,
    BagType,
    BoolType,
    EnumType,
    IdentifierType,
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
    UnionType,
    has_any_size,
)


@dataclass(slots=True, eq=False)
class Relation:
    """A set of any size: a membership predicate, and the maximum number ``most`` of its elements, if known.

    ``term`` is the set as one term, which is there from the beginning or made on demand. A list of any length is a
    relation as well, as nothing may depend on its order; it may have ``repeats``, and a ``length`` if known. For a list
    with a number for each of distinct identifiers, ``among`` counts the numbers that satisfy a condition; for a sorted
    list, ``order`` is its order.
    """

    holds: Callable[[Value], Truth]
    most: Number | None
    term: Any = None
    repeats: bool = False
    length: Number | None = None
    among: Callable[[Callable[[Number], Truth]], Number] | None = None
    order: Literal["", "ascending", "descending"] = ""


@dataclass(slots=True, eq=False)
class UnboundedMap:
    """A map with any number of keys: its value for each of them, and an arbitrary value for other arguments."""

    at: Callable[[Value], Value]


def memoized(function: Callable[[Value], Any]) -> Callable[[Value], Any]:
    """The function with its results cached, so that it is called once for each argument.

    Each branch that changes a map reads the old one; without the cache, a chain of n branches would read the first map
    2^n times.
    """
    known: dict[Any, tuple[Value, Any]] = {}

    def answer(argument: Value) -> Any:
        key = identity(argument)
        if key not in known:
            known[key] = argument, function(argument)  # the number of a term that is gone belongs to another one later
        return known[key][1]

    return answer


def identity(value: Value) -> Any:
    """A key that two values share only if they are identical, as long as both exist."""
    match value:
        case tuple():
            return tuple(map(identity, value))
        case Bits(term=term):
            return Bits, identity(term), value.low, value.high, value.width
        case z3.AstRef():
            return z3.AstRef, value.ast.value
        case Relation() | UnboundedMap():
            return id(value)
    return type(value), value


@dataclass(frozen=True, slots=True)
class Leaf:
    """One component of a value: a description of its place, and its term."""

    path: str
    type: Type
    term: Any


@dataclass(frozen=True, slots=True)
class Components:
    """Makes components and lists them."""

    types: Types
    _nobody: dict[Type, Any] = field(default_factory=dict)
    """The empty set of each kind of identifiers."""
    _set_sorts: dict[Type, SetSort] = field(default_factory=dict)
    _described: dict[tuple[Type, int], tuple[Any, Any]] = field(default_factory=dict)
    """The sets that formulas describe: each formula, about the same variables for all sets of a type, and its set."""
    _examples: dict[Type, list[Any]] = field(default_factory=dict)
    _stand_ins: dict[tuple[Any, int], Any] = field(default_factory=dict)

    def default(self, kind: Type) -> Value:
        """The first value of a type."""
        match kind:
            case BoolType():
                return False
            case IntType():
                return 0 if kind == INT else self.types.range(kind)[0]
            case OpenIdentifierType():
                return self.types.individuals(kind).named(1)
            case EnumType() | IdentifierType():
                return 0
            case NoneType() | NothingType():
                return None
            case OptionalType(inner):
                return (False, self.default(inner))
            case UnionType(fields=fields, members=members):
                own = dict(members[0].fields)
                return tuple(
                    (True, self.default(own[name])) if name in own and own[name] != of else self.default(of)
                    for name, of in fields
                )
            case RecordType(_, fields):
                return tuple(self.default(of) for _, of in fields)
            case SetType(NothingType(), _):
                return ()
            case SetType(OpenIdentifierType() as element, _) if self.types.is_relation(kind):
                if element not in self._nobody:
                    self._nobody[element] = self.types.individuals(element).sets.empty()
                return Relation(lambda _: False, None, self._nobody[element])
            case SetType() if self.types.is_relation(kind):
                return Relation(lambda _: False, 0)
            case SetType(element, None):
                return (False,) * len(self.types.members(element))
            case SetType(element, _) | BagType(element, _):
                return ((False, self.default(element)),) * self.types.slots(kind)
            case MapType(OpenIdentifierType() | OpenIntType(), of):
                return UnboundedMap(lambda _: self.default(of))
            case MapType(key, of):
                return (self.default(of),) * len(self.types.members(key))
            case SeqType(element, capacity) if capacity < INTEGER_LIMIT:
                return (0, (self.default(element),) * capacity)
        raise UnsupportedError(f"{kind} has no symbolic form")

    def fresh(self, kind: Type, hint: str) -> Value:
        """A fresh value that covers at least all values of its type: ``well_formed`` states that it is one of the type.
        """
        if has_any_size(kind):
            return self._family(kind, hint, [])([])
        match kind:
            case BoolType():
                return self.types.symbols.truth(hint)
            case IntType(low, high):
                return self.types.numbers.fresh(self.types.symbols, hint, low, high)
            case EnumType() | IdentifierType():
                return self.types.codes(kind).fresh(self.types.symbols, hint)
            case OptionalType(inner):
                return (self.types.symbols.truth(f"{hint}?"), self.fresh(inner, hint))
            case RecordType(_, fields):
                return tuple(self.fresh(of, f"{hint}.{field}") for field, of in fields)
            case SetType(element, _) if self.types.is_relation(kind):
                example = self.fresh(element, hint)
                function = self.types.symbols.relation(hint, [term.sort() for term in self.arguments(element, example)])
                most = self.types.bound(kind.limit) if isinstance(kind, OpenSetType) else None
                return Relation(lambda item: function(*self.arguments(element, item)), most)
            case SetType(element, None):
                return tuple(self.types.symbols.truth(hint) for _ in self.types.members(element))
            case SetType(element, _) | BagType(element, _):
                slots = range(self.types.slots(kind))
                return tuple((self.types.symbols.truth(hint), self.fresh(element, hint)) for _ in slots)
            case MapType(key, of):
                return tuple(self.fresh(of, hint) for _ in self.types.members(key))
            case SeqType(element, capacity):
                items = tuple(self.fresh(element, hint) for _ in range(capacity))
                return (self.types.numbers.fresh(self.types.symbols, f"len {hint}", 0, capacity), items)
        raise UnsupportedError(f"{kind} has no symbolic form")

    def variable(self, kind: Type, hint: str) -> Value:
        """A fresh value that a quantifier will bind."""
        item = self.fresh(kind, hint)
        self.types.axioms.bind(symbols_in(item))
        return item

    def _family(self, kind: Type, hint: str, over: list[Any]) -> Callable[[list[Any]], Value]:
        """A fresh value for each choice of terms of the sorts ``over``: the entries of a map, or a single value."""
        match kind:
            case BoolType() | IntType() | EnumType() | OpenIdentifierType() | IdentifierType():
                return self._symbol(hint, over, self._sort(kind))
            case NoneType() | NothingType():
                return lambda _: None
            case OptionalType(inner):
                there, held = self._symbol(f"{hint}?", over, z3.BoolSort()), self._family(inner, hint, over)
                return lambda at: (there(at), held(at))
            case RecordType(_, fields):
                parts = [self._family(of, f"{hint}.{field}", over) for field, of in fields]
                return lambda at: tuple(part(at) for part in parts)
            case SetType(element, _) if self.types.is_relation(kind):
                return self._family_of_sets(kind, element, hint, over)
            case SetType(element, None):
                bits = [self._symbol(hint, over, z3.BoolSort()) for _ in self.types.members(element)]
                return lambda at: tuple(bit(at) for bit in bits)
            case SetType(element, _) | BagType(element, _):
                slots = [
                    (self._symbol(hint, over, z3.BoolSort()), self._family(element, hint, over))
                    for _ in range(self.types.slots(kind))
                ]
                return lambda at: tuple((used(at), item(at)) for used, item in slots)
            case MapType(OpenIdentifierType() | OpenIntType() as key, of):
                entry = self._family(of, hint, [*over, self._sort(key)])
                return lambda at: UnboundedMap(lambda known: entry([*at, known]))
            case MapType(key, of):
                entries = [self._family(of, hint, over) for _ in self.types.members(key)]
                return lambda at: tuple(entry(at) for entry in entries)
            case SeqType(element, capacity) if capacity < MAX_SLOTS:
                length = self._symbol(f"len {hint}", over, z3.IntSort())
                items = [self._family(element, hint, over) for _ in range(capacity)]
                return lambda at: (length(at), tuple(item(at) for item in items))
        raise UnsupportedError(f"{kind} has no symbolic form")

    def _family_of_sets(self, kind: SetType, element: Type, hint: str, over: list[Any]) -> Callable[[list[Any]], Value]:
        most = self.types.bound(kind.limit) if isinstance(kind, OpenSetType) else None
        if isinstance(element, OpenIdentifierType):
            sets = self.types.individuals(element).sets
            whole = self._symbol(hint, over, sets.sort)

            def of(at: list[Any]) -> Relation:
                term = whole(at)
                return Relation(lambda item: sets.holds(term, item), most, term)

            return of
        leaves = self.leaves(element, self.fresh(element, hint))
        function = self.types.symbols.relation(hint, [*over, *(leaf.term.sort() for leaf in leaves)])
        kinds = enumerate(leaf.type for leaf in leaves)
        inner = {at: self.set_sort(of.element) for at, of in kinds if isinstance(of, SetType)}
        if inner:
            tells_members_only(function, len(over), inner, self.types.axioms)
        return lambda at: Relation(lambda item: function(*at, *self.arguments(element, item)), most)

    def _symbol(self, hint: str, over: list[Any], sort: Any) -> Callable[[list[Any]], Any]:
        if not over:
            symbol = self.types.symbols.fresh(hint, sort)
            return lambda _: symbol
        function = self.types.symbols.function(hint, over, sort)
        return lambda at: function(*at)

    def _sort(self, kind: Type) -> Any:
        """The sort of a value that is one term."""
        match kind:
            case BoolType():
                return z3.BoolSort()
            case IntType():
                return z3.IntSort()
            case OpenIdentifierType():
                return self.types.individuals(kind).sort
        return self.types.codes(kind).sort

    def set_sort(self, element: Type) -> SetSort:
        """The sort of sets of any size with such elements."""
        if isinstance(element, OpenIdentifierType):
            return self.types.individuals(element).sets
        if element not in self._set_sorts:
            sorts = [leaf.term.sort() for leaf in self.leaves(element, self.fresh(element, "element"))]
            self._set_sorts[element] = SetSort(f"Set[{element}]", sorts, self.types.axioms)
        return self._set_sorts[element]

    def whole(self, element: Type, value: Relation) -> Any:
        """A set as one term. A set that a formula describes gets a symbol, and the description is an axiom.

        Equal formulas share a symbol, so that z3 need not derive the equality of such sets; if the formulas differ in
        their variables only, the set is a function of these.
        """
        if value.term is None:
            item = self.variable(element, "member")
            indices = self.arguments(element, item)
            statement = as_term(value.holds(item))
            over = self.types.axioms.free(statement, besides=indices)
            examples = self._examples.setdefault(element, indices)
            shared = [self._stand_in(it.sort(), place) for place, it in enumerate(over)]
            key = substituted(statement, [*indices, *over], [*examples, *shared])
            if (element, key.get_id()) not in self._described:
                sets = self.set_sort(element)
                whole = self.types.axioms.chosen("set", sets.sort, shared)
                inside = sets.holds(whole, *examples)
                self.types.axioms.add([whole], inside == key, patterns=[inside])
                self._described[element, key.get_id()] = key, whole
            _, whole = self._described[element, key.get_id()]
            value.term = substituted(whole, shared, over) if over else whole
        return value.term

    def _stand_in(self, sort: Any, place: int) -> Any:
        """The placeholder variable of a sort at a position in a list."""
        if (sort, place) not in self._stand_ins:
            self._stand_ins[sort, place] = self.types.symbols.fresh("other", sort)
            self.types.axioms.bind([self._stand_ins[sort, place]])
        return self._stand_ins[sort, place]

    def leaves(self, kind: Type, value: Value, path: str = "") -> list[Leaf]:
        """The components of a value, each with its place described in the model's words."""
        return list(self._leaves(kind, value, path))

    def arguments(self, kind: Type, value: Value) -> list[Any]:
        """The components as z3 terms."""
        return [leaf.term for leaf in self._leaves(kind, value, "")]

    def _leaves(self, kind: Type, value: Value, path: str) -> Iterator[Leaf]:
        match kind:
            case BoolType():
                yield Leaf(path, kind, as_term(value))
            case IntType(low, high):
                yield Leaf(path, kind, self.types.numbers.term(value, low, high))
            case OpenIdentifierType():
                yield Leaf(path, kind, value)
            case EnumType() | IdentifierType():
                yield Leaf(path, kind, self.types.codes(kind).term(value))
            case SetType(element, _) | SeqType(element, _) if isinstance(value, Relation):
                yield Leaf(path, kind, self.whole(element, value))
            case MapType() if isinstance(value, UnboundedMap):
                raise UnsupportedError(f"{kind} cannot be inside a set or the argument of a property here")
            case OptionalType(inner):
                yield Leaf(f"{path} is not None", BoolType(), as_term(value[0]))
                yield from self._leaves(inner, value[1], path)
            case RecordType(_, fields):
                for (field, of), part in zip(fields, value, strict=True):
                    yield from self._leaves(of, part, f"{path}.{field}")
            case SetType(element, None):
                for item, there in zip(self.types.members(element), value, strict=True):
                    yield Leaf(f"{show(item)} in {path}", BoolType(), as_term(there))
            case SetType() if self.types.is_unordered(kind):
                raise UnsupportedError(f"{kind} with a capacity cannot be inside a set of any size here")
            case SetType(element, int()) | BagType(element, _):
                for slot, (there, item) in enumerate(value):
                    yield Leaf(f"len({path}) > {slot}", BoolType(), as_term(there))
                    yield from self._leaves(element, item, f"{path}[{slot}]")
            case MapType(key, of):
                for k, part in zip(self.types.members(key), value, strict=True):
                    yield from self._leaves(of, part, f"{path}[{show(k)}]")
            case SeqType(element, capacity):
                yield Leaf(f"len({path})", IntType(0, capacity), self.types.numbers.term(value[0], 0, capacity))
                for index, item in enumerate(value[1]):
                    yield from self._leaves(element, item, f"{path}[{index}]")


def replaced_in(value: Value, replacement: Callable[[Any], Any]) -> Value:
    """A value with each of its terms replaced by another of the same sort."""
    match value:
        case tuple():
            return tuple(replaced_in(part, replacement) for part in value)
        case Bits(term=term):
            return Bits(replacement(term), value.low, value.high, value.width)
        case Relation(holds=holds, most=most, term=term, repeats=repeats, length=length):
            there, long = (None if it is None else replaced_in(it, replacement) for it in (term, length))
            return Relation(lambda item: replaced_in(holds(item), replacement), most, there, repeats, long)
        case UnboundedMap(at=at):
            return UnboundedMap(lambda key: replaced_in(at(key), replacement))
        case z3.ExprRef():
            return replacement(value)
    return value


def symbols_in(value: Value) -> list[Any]:
    """The terms of a fresh value."""
    match value:
        case tuple():
            return [term for part in value for term in symbols_in(part)]
        case Bits(term=term):
            return [term]
        case Relation(term=term):
            if term is None:
                raise UnsupportedError("a set of sets, or of records, cannot be drawn from a set of any size here")
            return [term]
        case UnboundedMap():
            raise UnsupportedError("a map over any number of identifiers cannot be drawn from a set here")
        case z3.ExprRef():
            return [value]
    return []
