"""Turns inferred clauses into a function of the modelling language, which CPython runs and the native engine compiles.

A clause refers to components of a state by number. Here each number becomes an expression again, from the types alone
and without any z3 term, so that engines that are independent of z3 can check the clauses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floodmark.checkers.project.properties import Property
from floodmark.checkers.symbolic.methods.cardinality_atoms import CountAtom
from floodmark.checkers.symbolic.translate.synthetic_functions import predicate_of_text
from floodmark.checkers.symbolic.values.types import UnsupportedError
from floodmark.compiler.layout import decode
from floodmark.language.types import (
    TAG,
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
from floodmark.language.universe import universe
from floodmark.language.values import Bag, Seq, Set, order_key

NAME = "inferred clauses"
"""The name of the property; the space in it keeps it distinct from a model's properties."""


@dataclass(frozen=True, slots=True)
class ClauseLiteral:
    """A literal of a clause: ``component relation code``, negated if ``holds`` is false.

    The relation is ``==`` or ``<=``, or empty when the component is a truth value.
    """

    component: int
    relation: str
    code: int
    holds: bool


@dataclass(frozen=True, slots=True)
class Component:
    """One component of a state: an expression, and the conditions under which it can be evaluated.

    If one of them is false, the component has the first value of its type.
    """

    conditions: tuple[str, ...]
    expression: str
    type: Type


def predicate_of(
    variables: Mapping[str, Type], clauses: Iterable[Sequence[ClauseLiteral]], counts: Sequence[CountAtom] = ()
) -> Property:
    """The property that all clauses are true in a state; ``counts`` are numbered after the components.

    Raises UnsupportedError when a value in a clause cannot be written in the modelling language.
    """
    source = ClauseWriter()
    components = [part for name, kind in variables.items() for part in source.components(kind, f"model.{name}")]
    components += source.counted(counts)
    lines = [" or ".join(source.literal(components[it.component], it) for it in clause) for clause in clauses]
    whole = " and ".join(f"({clause or 'False'})" for clause in lines) or "True"
    function, file = predicate_of_text(f"def inferred(model):\n    return {whole}\n", "inferred", source.names)
    return Property(NAME, "invariant", function, file, 1, "What was inferred is true of every reachable state.")


class ClauseWriter:
    """Writes expressions of the modelling language and records the objects that their names denote."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"Set": Set, "Seq": Seq, "Bag": Bag}
        self._known: dict[int, str] = {}

    def components(self, kind: Type, text: str, conditions: tuple[str, ...] = ()) -> Iterator[Component]:
        """The components of a value, in the order in which the symbolic checker numbers them."""
        match kind:
            case BoolType() | IntType() | EnumType() | IdentifierType():
                yield Component(conditions, text, kind)
            case OptionalType(inner):
                there = f"{text} is not None"
                yield Component(conditions, there, BoolType())
                yield from self.components(inner, text, (*conditions, there))
            case UnionType():
                yield from self._of_union(kind, text, conditions)
            case RecordType(_, fields):
                for name, of in fields:
                    yield from self.components(of, f"{text}.{name}", conditions)
            case SetType(element, None):
                for item in _members(element):
                    yield Component(conditions, f"{self.value(element, item)} in {text}", BoolType())
            case SetType(element, int() as capacity) | BagType(element, capacity):
                for slot in range(capacity):  # the largest element first
                    there = f"len({text}) > {slot}"
                    yield Component(conditions, there, BoolType())
                    item = f"Seq(item for item in {text})[len({text}) - {slot + 1}]"
                    yield from self.components(element, item, (*conditions, there))
            case MapType(key, of):
                for item in _members(key):
                    yield from self.components(of, f"{text}[{self.value(key, item)}]", conditions)
            case SeqType(element, capacity):
                yield Component(conditions, f"len({text})", IntType(0, capacity))
                for index in range(capacity):
                    there = f"len({text}) > {index}"
                    yield from self.components(element, f"{text}[{index}]", (*conditions, there))
            case _:
                raise UnsupportedError(f"{kind} has no components that a clause could ask about")

    def _of_union(self, kind: UnionType, text: str, conditions: tuple[str, ...]) -> Iterator[Component]:
        """The number of a record's class, and the fields of all classes."""
        number = str(len(kind.members) - 1)
        for index, member in reversed(list(enumerate(kind.members[:-1]))):
            number = f"({index} if isinstance({text}, {self._name(member.cls)}) else {number})"
        yield Component(conditions, number, dict(kind.fields)[TAG])
        for name, of in kind.fields[1:]:
            if kind.is_common(name):
                yield from self.components(of, f"{text}.{name}", conditions)
                continue
            having = [kind.members[index] for index in kind.having(name)]
            classes = ", ".join(self._name(member.cls) for member in having)
            has, own = f"isinstance({text}, ({classes},))", having[0].field(name)
            if own == of:
                assert isinstance(of, OptionalType)
                has = f"({has} and {text}.{name} is not None)"
            yield Component(conditions, has, BoolType())
            inner = of.inner if isinstance(of, OptionalType) else of
            yield from self.components(inner, f"{text}.{name}", (*conditions, has))

    def counted(self, counts: Iterable[CountAtom]) -> Iterator[Component]:
        """The cardinality atoms of actions, as components."""
        for count in counts:
            self.names |= count.names
            yield Component((), count.text, BoolType())

    def literal(self, component: Component, asked: ClauseLiteral) -> str:
        kind = component.type
        first = kind.low if isinstance(kind, IntType) else 0
        match asked.relation:
            case "<=":
                question, at_first = f"{component.expression} <= {asked.code}", first <= asked.code
            case "==":
                wanted = self.value(kind, decode(kind, asked.code))
                question, at_first = f"{component.expression} == {wanted}", first == asked.code
            case _:
                question, at_first = f"({component.expression})", False
        there = " and ".join(f"({condition})" for condition in component.conditions)
        if there:
            question = f"not ({there}) or {question}" if at_first else f"{there} and {question}"
        return f"({question})" if asked.holds else f"(not ({question}))"

    def value(self, kind: Type, value: Any) -> str:
        """A value as an expression."""
        match kind:
            case BoolType() | IntType():
                return repr(value)
            case EnumType() | IdentifierType():
                return self._name(value)
            case OptionalType(inner):
                return "None" if value is None else self.value(inner, value)
            case UnionType(members=classes):
                return self.value(next(each for each in classes if each.cls is type(value)), value)
            case RecordType(cls, fields):
                parts = [f"{name}={self.value(of, getattr(value, name))}" for name, of in fields]
                return f"{self._name(cls)}({', '.join(parts)})"
            case SetType(element, _) | SeqType(element, _) | BagType(element, _):
                items = [self.value(element, item) for item in value]
                return f"{type(value).__name__}([{', '.join(items)}])"
        raise UnsupportedError(f"a {kind} cannot be written as one expression")

    def _name(self, value: Any) -> str:
        """A name for an object, by identity, because members of different classes may be equal."""
        if id(value) not in self._known:
            self._known[id(value)] = f"value_{len(self._known)}"
            self.names[self._known[id(value)]] = value
        return self._known[id(value)]


def _members(kind: Type) -> list[Any]:
    """Every value of a type, in the order in which CPython iterates over a set of them."""
    return sorted(universe(kind), key=order_key)
