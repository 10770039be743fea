"""Equality and order of values, and values that depend on a condition."""

from __future__ import annotations

import z3

from floodmark.checkers.symbolic.terms import Truth, conj, disj, either, negation, same_truth
from floodmark.checkers.symbolic.value_components import Components, Relation, symbols_in
from floodmark.checkers.symbolic.value_types import UnsupportedError, Value
from floodmark.compiler.ir import NoneType, NothingType
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
)


class Comparison(Components):
    """Compares components."""

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
        """The order of the codes, which iteration over a set or a bag follows."""
        match kind:
            case BoolType():
                return conj((negation(a), b))
            case IntType():
                return self.numbers.less(a, b)
            case EnumType() | IdentifierType():
                return self.codes(kind).less(a, b)
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

    def _of_every(self, kind: Type, item: Value, truth: Truth) -> Truth:
        """A statement about fresh values of a type, made for all values of it."""
        if isinstance(truth, bool):
            return truth
        return z3.ForAll(symbols_in(item), truth)
