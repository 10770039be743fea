"""Translates values of the language to components, and components in a z3 model back to values of the language; and the
conditions of belonging to a type."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import z3

from floodmark.checkers.symbolic.terms.booleans import Truth, as_term, conj, disj, implied, negation
from floodmark.checkers.symbolic.values import unordered_slots
from floodmark.checkers.symbolic.values.comparison import Comparison
from floodmark.checkers.symbolic.values.components import Components, Relation, replaced_in
from floodmark.checkers.symbolic.values.quantifiers import Quantifiers
from floodmark.checkers.symbolic.values.types import Types, UnsupportedError, Value
from floodmark.compiler.ir import INT, NoneType, NothingType
from floodmark.language.types import (
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
)
from floodmark.language.values import Bag, Map, Seq, Set

MAX_SHOWN = 4_000
"""The most values that are tried as members of a set in a z3 model."""
SMALL_SORT = 5
"""The bits of a sort of which every value is tried."""


@dataclass(frozen=True, slots=True)
class Translation:
    """Translates values."""

    types: Types
    components: Components
    comparison: Comparison
    _lifted: dict[Type, list[Value]] = field(default_factory=dict)

    def constant(self, kind: Type, value: Any) -> Value:
        """The components of a value of the language."""
        match kind:
            case BoolType():
                return bool(value)
            case IntType():
                return int(value)
            case EnumType(cls):
                return list(cls).index(value)
            case OpenIdentifierType():
                return self.types.individuals(kind).named(value.number)
            case IdentifierType():
                return value.number - 1
            case NoneType():
                return None
            case OptionalType(inner):
                if value is None:
                    return (False, self.components.default(inner))
                return (True, self.constant(inner, value))
            case RecordType(_, fields):
                parts = kind.parts(value)
                return tuple(self.constant(of, parts[name]) for name, of in fields)
            case SetType(NothingType(), _):
                return ()
            case SetType(element, _) if self.types.is_relation(kind):
                equal, inside = self.comparison.equal, [self.constant(element, item) for item in value]
                return Relation(lambda item: disj(equal(element, item, known) for known in inside), len(inside))
            case SetType(element, None):
                return tuple(item in value for item in self.types.members(element))
            case SetType(element, _) | BagType(element, _):
                items = [(True, self.constant(element, item)) for item in reversed(list(value))]
                return (*items, *[(False, self.components.default(element))] * (self.types.slots(kind) - len(items)))
            case MapType(OpenIdentifierType() | OpenIntType(), _):
                raise UnsupportedError(f"{kind} is known entry by entry, so only for one number of keys")
            case MapType(key, of):
                return tuple(self.constant(of, value[k]) for k in self.types.members(key))
            case SeqType(element, capacity):
                items = [self.constant(element, item) for item in value]
                return (len(items), (*items, *[self.components.default(element)] * (capacity - len(items))))
        raise UnsupportedError(f"{kind} has no symbolic form")

    def lifted(self, kind: Type) -> list[Value]:
        """Every value of a finite type, as components."""
        if kind not in self._lifted:
            self._lifted[kind] = [self.constant(kind, value) for value in self.types.members(kind)]
        return self._lifted[kind]

    def decode(self, kind: Type, value: Value, model: Any) -> Any:
        """The value of the language that components represent in a z3 model."""
        match kind:
            case BoolType():
                return value if isinstance(value, bool) else z3.is_true(model.eval(value, True))
            case IntType():
                return self.types.numbers.value(value, model)
            case EnumType(cls):
                return list(cls)[self.types.codes(kind).value(value, model)]
            case IdentifierType(cls, _):
                return cls(self.types.codes(kind).value(value, model) + 1)
            case OptionalType(inner):
                return self.decode(inner, value[1], model) if self.decode(BoolType(), value[0], model) else None
            case RecordType(_, fields):
                parts = zip(fields, value, strict=True)
                return kind.made_of({name: self.decode(of, part, model) for (name, of), part in parts})
            case SetType(element, _) if isinstance(value, Relation):
                return self._decode_relation(element, value, model)
            case SetType(element, None):
                pairs = zip(self.types.members(element), value, strict=True)
                return Set(item for item, there in pairs if self.decode(BoolType(), there, model))
            case SetType(element, _) | BagType(element, _):
                used = (item for there, item in value if self.decode(BoolType(), there, model))
                items = [self.decode(element, item, model) for item in used]
                return Bag(items) if isinstance(kind, BagType) else Set(items)
            case MapType(key, of):
                entries = zip(self.types.members(key), value, strict=True)
                return Map({k: self.decode(of, part, model) for k, part in entries})
            case SeqType(element, _):
                length = self.types.numbers.value(value[0], model)
                return Seq(self.decode(element, item, model) for item in value[1][:length])
        raise UnsupportedError(f"{kind} has no symbolic form")

    def _decode_relation(self, element: Type, value: Relation, model: Any) -> Any:
        """The members that a z3 model mentions: a set may also have members that only a constant or a number next to
        it shows, as one that an action has just added has."""
        shape = self.components.fresh(element, "shown")
        found = []
        for terms in _mentioned(model, [leaf.term.sort() for leaf in self.components.leaves(element, shape)]):
            item = self._rebuilt(element, shape, terms)
            if item is not None and z3.is_true(model.eval(as_term(value.holds(item)), True)):
                decoded = self.decode(element, item, model)
                if decoded not in found:
                    found.append(decoded)
        return Set(found)

    def _rebuilt(self, kind: Type, shape: Value, terms: list[Any]) -> Value | None:
        """A value in the form of ``shape`` with these components; None if they do not fit."""
        leaves = [leaf.term for leaf in self.components.leaves(kind, shape)]
        if [term.sort() for term in leaves] != [term.sort() for term in terms]:
            return None
        known = {leaf.get_id(): term for leaf, term in zip(leaves, terms, strict=True)}
        return replaced_in(shape, lambda term: known[term.get_id()])


@dataclass(frozen=True, slots=True)
class Membership:
    """The conditions of belonging to a type."""

    types: Types
    components: Components
    comparison: Comparison
    quantifiers: Quantifiers

    def well_formed(self, kind: Type, value: Value) -> Truth:
        """The condition that components form a value of the type."""
        equal, default = self.comparison.equal, self.components.default
        match kind:
            case IntType():
                if kind == INT:
                    return True
                low, high = self.types.range(kind)
                return self.types.numbers.between(low, value, high)
            case OpenIdentifierType():
                return True
            case EnumType() | IdentifierType():
                return self.types.codes(kind).is_one(value)
            case OptionalType(inner):
                there, held = value
                empty = equal(inner, held, default(inner))
                return conj((self.well_formed(inner, held), disj((there, empty))))
            case RecordType(_, fields):
                whole = [self.well_formed(of, part) for (_, of), part in zip(fields, value, strict=True)]
                if isinstance(kind, UnionType):
                    whole += self._of_its_class(kind, value)
                return conj(whole)
            case SetType(element, _) if isinstance(value, Relation):
                item = self.components.variable(element, "any")
                return self.quantifiers.of_every(item, implied(value.holds(item), self.well_formed(element, item)))
            case SetType(_, None):
                return True
            case SetType(element, _) if self.types.is_unordered(kind):
                inside = (implied(used, self.well_formed(element, item)) for used, item in value)
                return conj((*inside, unordered_slots.are_distinct(value, partial(equal, element))))
            case SetType(element, _) | BagType(element, _):
                parts = [self.well_formed(element, item) for _, item in value]
                for used, item in value:
                    parts.append(disj((used, equal(element, item, default(element)))))
                for (used, item), (next_used, next_item) in itertools.pairwise(value):
                    below = self.comparison.less(element, next_item, item)
                    if isinstance(kind, BagType):
                        below = negation(self.comparison.less(element, item, next_item))
                    parts.append(implied(next_used, conj((used, below))))
                return conj(parts)
            case MapType(OpenIdentifierType() | OpenIntType() as key, of):
                item = self.components.variable(key, "any")
                formed = self.well_formed(of, value.at(item))
                return self.quantifiers.of_every(item, implied(self.types.is_key(key, item), formed))
            case MapType(_, of):
                return conj(self.well_formed(of, part) for part in value)
            case SeqType(element, capacity):
                length, items = value
                parts = [self.types.numbers.between(0, length, capacity)]
                for index, item in enumerate(items):
                    parts.append(self.well_formed(element, item))
                    inside = self.types.numbers.less(index, length)
                    parts.append(disj((inside, equal(element, item, default(element)))))
                return conj(parts)
        return True

    def _of_its_class(self, kind: UnionType, value: Value) -> Iterator[Truth]:
        """The condition that a record of a union has the fields of its class, and no others."""
        for (name, _), part in zip(kind.fields[1:], value[1:], strict=True):
            if kind.is_common(name):
                continue
            has = disj(self.types.numbers.equal(value[0], number) for number in kind.having(name))
            there = part[0]
            optional = any(isinstance(dict(member.fields).get(name), OptionalType) for member in kind.members)
            yield implied(negation(has), negation(there))
            if not optional:
                yield implied(has, there)

    def admits(self, kind: Type, value: Any) -> Truth:
        """Whether a value of the language is within the open bounds of a type."""
        match kind:
            case OpenIntType():
                low, high = self.types.range(kind)
                return self.types.numbers.between(low, value, high)
            case OptionalType(inner):
                return value is None or self.admits(inner, value)
            case RecordType(_, fields):
                held = kind.parts(value)
                return conj(self.admits(of, held[name]) for name, of in fields)
            case MapType(_, of):
                return conj(self.admits(of, value[key]) for key in value)
            case SetType(element, _) | BagType(element, _) | SeqType(element, _):
                parts = [self.admits(element, item) for item in value]
                if isinstance(kind, OpenSetType):
                    parts.append(self.types.numbers.at_most(len(value), self.types.bound(kind.limit)))
                return conj(parts)
        return True


def _mentioned(model: Any, sorts: list[Any]) -> Iterator[list[Any]]:
    """Terms of these sorts that a z3 model mentions together, in the table of a relation, or one by one."""
    values: dict[Any, dict[int, Any]] = {sort: {} for sort in sorts}
    for declaration in model.decls():
        known = model[declaration]
        if declaration.arity() == 0:
            _note(values, known)
            continue
        for entry in known.as_list()[:-1]:
            *arguments, result = entry
            if declaration.range() == z3.BoolSort():
                yield arguments
            for term in (*arguments, result):
                _note(values, term)
    choices = [list(_beside(sort, values[sort])) for sort in sorts]
    if math.prod(map(len, choices)) <= MAX_SHOWN:
        yield from map(list, itertools.product(*choices))


def _note(values: dict[Any, dict[int, Any]], term: Any) -> None:
    if z3.is_ast(term) and not isinstance(term, z3.FuncInterp) and term.sort() in values:
        values[term.sort()][term.get_id()] = term


def _beside(sort: Any, values: dict[int, Any]) -> Iterator[Any]:
    """Values, and those next to them; every value of a small sort."""
    if sort.kind() == z3.Z3_BOOL_SORT:
        yield from (z3.BoolVal(False), z3.BoolVal(True))
    elif sort.kind() == z3.Z3_BV_SORT and sort.size() <= SMALL_SORT:
        yield from (z3.BitVecVal(number, sort) for number in range(1 << sort.size()))
    elif sort.kind() == z3.Z3_INT_SORT:
        known = {it.as_long() for it in values.values() if z3.is_int_value(it)}
        yield from (z3.IntVal(number) for number in sorted({number + by for number in known for by in (-1, 0, 1)}))
    else:
        yield from values.values()
