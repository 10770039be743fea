"""The components of a value: fresh ones, those of a type's first value, and a description of where each is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import z3

from floodmark.checkers.report.value import show
from floodmark.checkers.symbolic.numbers import Bits, Number
from floodmark.checkers.symbolic.terms import Truth, as_term
from floodmark.checkers.symbolic.value_types import Types, UnsupportedError, Value
from floodmark.compiler.ir import INT, NoneType, NothingType
from floodmark.language.types import (
    BagType,
    BoolType,
    EnumType,
    IdentifierType,
    IntType,
    MapType,
    OpenSetType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
)


@dataclass(frozen=True, slots=True)
class Relation:
    """A set of any size: whether it holds a value, and the ``most`` elements it can have, if that is known."""

    holds: Callable[[Value], Truth]
    most: Number | None


@dataclass(frozen=True, slots=True)
class Leaf:
    """One component of a value: a description of where it is, and its term."""

    path: str
    type: Type
    term: Any


class Components(Types):
    """Makes components and lists them."""

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


def symbols_in(value: Value) -> list[Any]:
    """The terms of a fresh value."""
    match value:
        case tuple():
            return [term for part in value for term in symbols_in(part)]
        case Bits(term=term):
            return [term]
        case z3.ExprRef():
            return [value]
    return []
