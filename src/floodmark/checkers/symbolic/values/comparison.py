"""Equality and order of values, and values that depend on a condition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import z3

from floodmark.checkers.symbolic.terms.booleans import (
    Truth,
    conditional,
    conj,
    disj,
    either,
    implied,
    is_same,
    negation,
    same_term,
    same_truth,
)
from floodmark.checkers.symbolic.values import unordered_slots
from floodmark.checkers.symbolic.values.components import Components, Relation, UnboundedMap, memoized
from floodmark.checkers.symbolic.values.quantifiers import Quantifiers
from floodmark.checkers.symbolic.values.types import Types, UnsupportedError, Value
from floodmark.compiler.ir import NoneType, NothingType
from floodmark.language.types import (
    BagType,
    BoolType,
    EnumType,
    IdentifierType,
    IntType,
    MapType,
    OpenIdentifierType,
    OpenIntType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Compares values."""

    types: Types
    components: Components
    quantifiers: Quantifiers
    _set_codes: dict[Any, Any] = field(default_factory=dict)

    def equal(self, kind: Type, a: Value, b: Value) -> Truth:
        if a is b:
            return True
        match kind:
            case BoolType():
                return same_truth(a, b)
            case IntType():
                return self.types.numbers.equal(a, b)
            case OpenIdentifierType():
                return same_term(a, b)
            case EnumType() | IdentifierType():
                return self.types.codes(kind).equal(a, b)
            case NoneType() | NothingType():
                return True
            case OptionalType(inner):
                return conj((same_truth(a[0], b[0]), self.equal(inner, a[1], b[1])))
            case RecordType(_, fields):
                return conj(self.equal(of, x, y) for (_, of), x, y in zip(fields, a, b, strict=True))
            case SetType(NothingType(), _):
                return True
            case SetType(OpenIdentifierType() as element, _) if self.types.is_relation(kind):
                whole = self.components.whole
                return self.components.set_sort(element).same(whole(element, a), whole(element, b))
            case SetType(element, _) if isinstance(a, Relation):
                item = self.components.variable(element, "any")
                return self.quantifiers.of_every(item, same_truth(a.holds(item), b.holds(item)))
            case MapType(OpenIdentifierType() | OpenIntType() as key, of):
                item = self.components.variable(key, "any")
                same = self.equal(of, a.at(item), b.at(item))
                return self.quantifiers.of_every(item, implied(self.types.is_key(key, item), same))
            case SetType(element, _) if self.types.is_unordered(kind):
                return unordered_slots.equal(a, b, partial(self.equal, element))
            case SetType(_, None):
                return conj(same_truth(x, y) for x, y in zip(a, b, strict=True))
            case SetType(element, _) | BagType(element, _):
                return conj(
                    conj((same_truth(x[0], y[0]), self.equal(element, x[1], y[1]))) for x, y in zip(a, b, strict=True)
                )
            case MapType(_, of):
                return conj(self.equal(of, x, y) for x, y in zip(a, b, strict=True))
            case SeqType() if isinstance(a, Relation) or isinstance(b, Relation):
                raise UnsupportedError("lists of any length cannot be compared here, as their order is not known")
            case SeqType(element, _):
                items = (self.equal(element, x, y) for x, y in zip(a[1], b[1], strict=True))
                return conj((self.types.numbers.equal(a[0], b[0]), *items))
        raise UnsupportedError(f"{kind} cannot be compared")

    def less(self, kind: Type, a: Value, b: Value) -> Truth:
        """The order of the codes, which iteration over a set or a bag follows."""
        match kind:
            case BoolType():
                return conj((negation(a), b))
            case IntType():
                return self.types.numbers.less(a, b)
            case OpenIdentifierType():
                number = self.types.individuals(kind).number
                return False if is_same(a, b) else number(a) < number(b)
            case EnumType() | IdentifierType():
                return self.types.codes(kind).less(a, b)
            case SetType(element, _) if isinstance(a, Relation):
                return self._set_code(element, a) < self._set_code(element, b)
        return self._lexicographic(self._by_weight(kind, a, b))

    def _by_weight(self, kind: Type, a: Value, b: Value) -> list[tuple[Type, Value, Value]]:
        """The parts of two values, most significant first."""
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
                less = self.types.numbers.less
                items = enumerate(zip(a[1], b[1], strict=True))
                return [
                    part
                    for index, (x, y) in items
                    for part in ((flag, less(index, a[0]), less(index, b[0])), (element, x, y))
                ]
            case SetType(element, int()):
                pairs = zip(a, b, strict=True)
                return [part for x, y in pairs for part in ((flag, x[0], y[0]), (element, x[1], y[1]))]
            case BagType(element, _):
                pairs = zip(a[::-1], b[::-1], strict=True)
                return [part for x, y in pairs for part in ((flag, x[0], y[0]), (element, x[1], y[1]))]
            case MapType(_, of):
                return [(of, x, y) for x, y in list(zip(a, b, strict=True))[::-1]]
        raise UnsupportedError(f"a set whose elements are {kind} has no order here")

    def _lexicographic(self, parts: list[tuple[Type, Value, Value]]) -> Truth:
        result: Truth = False
        for kind, a, b in reversed(parts):
            result = disj((self.less(kind, a, b), conj((self.equal(kind, a, b), result))))
        return result

    def _set_code(self, element: Type, value: Relation) -> Any:
        """The code of a set: a number that is unique among sets."""
        whole = self.components.whole(element, value)
        sort = whole.sort()
        if sort not in self._set_codes:
            code = self.types.symbols.function(f"code of Set[{element}]", [sort], z3.IntSort())
            back = self.types.symbols.function(f"with that code of Set[{element}]", [z3.IntSort()], sort)
            each = z3.Const("each", sort)
            self.types.axioms.add([code], z3.ForAll([each], back(code(each)) == each, patterns=[code(each)]))
            self._set_codes[sort] = code
        return self._set_codes[sort](whole)


@dataclass(frozen=True, slots=True)
class Conditionals:
    """Makes conditional values."""

    types: Types
    components: Components

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
                return self.types.numbers.either(condition, then, otherwise)
            case OpenIdentifierType():
                return conditional(z3.ExprRef, condition, then, otherwise)
            case EnumType() | IdentifierType():
                return self.types.codes(kind).either(condition, then, otherwise)
            case NoneType() | NothingType():
                return then
            case OptionalType(inner):
                there = either(condition, then[0], otherwise[0])
                return (there, self.either(inner, condition, then[1], otherwise[1]))
            case RecordType(_, fields):
                return tuple(
                    self.either(of, condition, x, y) for (_, of), x, y in zip(fields, then, otherwise, strict=True)
                )
            case SetType(OpenIdentifierType() as element, _) if self.types.is_relation(kind):
                wholes = (self.components.whole(element, it) for it in (then, otherwise))
                whole = conditional(z3.ExprRef, condition, *wholes)
                return Relation(_either_holds(condition, then, otherwise), None, whole)
            case SetType() if isinstance(then, Relation):
                known = then.most is not None and otherwise.most is not None
                most = self.types.numbers.either(condition, then.most, otherwise.most) if known else None
                return Relation(_either_holds(condition, then, otherwise), most)
            case SetType(_, None):
                return tuple(either(condition, x, y) for x, y in zip(then, otherwise, strict=True))
            case SetType(element, _) | BagType(element, _):
                return tuple(
                    (either(condition, x[0], y[0]), self.either(element, condition, x[1], y[1]))
                    for x, y in zip(then, otherwise, strict=True)
                )
            case MapType(OpenIdentifierType() | OpenIntType(), of):
                at = memoized(lambda key: self.either(of, condition, then.at(key), otherwise.at(key)))
                return UnboundedMap(at)
            case MapType(_, of):
                return tuple(self.either(of, condition, x, y) for x, y in zip(then, otherwise, strict=True))
            case SeqType() if isinstance(then, Relation) or isinstance(otherwise, Relation):
                raise UnsupportedError("a list of any length cannot depend on a condition here; make it a set")
            case SeqType(element, _):
                length = self.types.numbers.either(condition, then[0], otherwise[0])
                parts = zip(then[1], otherwise[1], strict=True)
                return (length, tuple(self.either(element, condition, x, y) for x, y in parts))
        raise UnsupportedError(f"{kind} has no symbolic form")


def _either_holds(condition: Truth, then: Relation, otherwise: Relation) -> Callable[[Value], Truth]:
    return memoized(lambda item: either(condition, then.holds(item), otherwise.holds(item)))
