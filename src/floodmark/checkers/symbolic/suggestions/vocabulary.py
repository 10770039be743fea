"""The terms and atoms in which clauses are suggested: all from the types, rules and guards of the model.

    model.leader_epoch            a variable; a field of one, model.controller.leader_epoch; a rule, model.maximal_isr()
    request.isr                   a property of a member of a set of the state, or of an identifier
    model.log_end_offset[broker]  an entry of a map

Two terms are compared if they have the same type: an epoch is not compared with an offset, even if the constants that
bound both are equal.
"""

from __future__ import annotations

import builtins
import enum
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from keyword import iskeyword
from typing import Any

from floodmark.checkers.symbolic.translate.guards import Guard, guards_of
from floodmark.language.errors import ModelError
from floodmark.language.model import Model, opened
from floodmark.language.source import source_of
from floodmark.language.types import (
    BagType,
    BoolType,
    EnumType,
    IdentifierType,
    IntType,
    MapType,
    OptionalType,
    RecordType,
    SetType,
    Type,
    UnionType,
    parts_of,
)


@dataclass(frozen=True, slots=True)
class ClauseVariable:
    """A variable of a clause: its name, its range, and its type.

    ``container`` is the number of the model's variable whose members it ranges over, if it is no identifier.
    """

    name: str
    domain: str
    type: Type
    container: int | None = None


@dataclass(frozen=True, slots=True)
class Term:
    """An expression of a type, and the variables in it."""

    text: str
    type: Type
    variables: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Atom:
    """A predicate over a state and a choice of variables: its affirmative and its negative text."""

    text: str
    denied: str
    variables: frozenset[str]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The vocabulary of clauses. ``pairs`` has each possible variable under two names, ``names`` the other names that a
    clause's text uses."""

    kinds: Mapping[str, Type]
    rules: Sequence[Term]
    guards: Sequence[Guard]
    pairs: Sequence[tuple[ClauseVariable, ClauseVariable]]
    names: Mapping[str, Any]

    def atoms(self, variables: Sequence[ClauseVariable]) -> list[Atom]:
        """The atoms about these variables and the state, each once."""
        terms = self._terms(variables)
        found = {atom.text: atom for term in terms for atom in _alone(term)}
        for one, other in itertools.combinations(terms, 2):
            found |= {atom.text: atom for atom in _together(one, other)}
        for guard in self.guards:
            found |= {atom.text: atom for atom in _required(guard, variables)}
        return list(found.values())

    def _terms(self, variables: Sequence[ClauseVariable]) -> list[Term]:
        roots = [Term(f"model.{name}", kind) for name, kind in self.kinds.items()] + list(self.rules)
        roots += [Term(it.name, it.type, frozenset({it.name})) for it in variables]
        terms = [part for root in roots for part in _parts(root)]
        keys = [term for term in terms if isinstance(term.type, IdentifierType)]
        looked = [term for term in terms if isinstance(term.type, MapType)]
        while looked:
            entries = [part for table in looked for key in keys for part in _entry(table, key)]
            terms += entries
            looked = [term for term in entries if isinstance(term.type, MapType)]
        return terms


def vocabulary_of(model: Model, open_constants: Sequence[str]) -> Vocabulary:
    """The vocabulary of clauses about a model; types are distinguished by the constants that bound them."""
    read = opened(model, open_constants, any_size=True)
    kinds = read.variable_types
    known = {part for kind in kinds.values() for part in parts_of(kind)}
    rules = [term for term in _rules(read) if term.type in known or isinstance(term.type, BoolType)]
    guards = list(guards_of(model))
    names: dict[str, Any] = {it.cls.__name__: it.cls for it in known if isinstance(it, EnumType | IdentifierType)}
    calling = [guard for guard in guards if guard.calls and _named(guard, names)]
    drawn = {container: name for guard in guards for name, container in guard.drawn.items()}
    taken = {"model", *names}.union(*(guard.bound for guard in calling))
    return Vocabulary(kinds, rules, calling, _pairs(kinds, drawn, taken), names)


def _named(guard: Guard, names: dict[str, Any]) -> bool:
    """Adds the names that a guard uses, unless one of them has another meaning already."""
    if any(names.get(name, value) is not value for name, value in guard.names.items()):
        return False
    names |= guard.names
    return True


def _pairs(
    kinds: Mapping[str, Type], drawn: Mapping[str, str], taken: set[str]
) -> list[tuple[ClauseVariable, ClauseVariable]]:
    """The members of each set of records or of sets, named as the actions name them, and the identifiers."""
    found: list[tuple[str, ClauseVariable]] = []
    for number, (name, kind) in enumerate(kinds.items()):
        if isinstance(kind, SetType | BagType) and isinstance(kind.element, RecordType | SetType):
            member = drawn.get(name, f"one_of_{name}")
            if any(member == other for other, _ in found):
                member = f"{name}_{member}"
            found.append((member, ClauseVariable("", f"model.{name}", kind.element, number)))
    for part in dict.fromkeys(part for kind in kinds.values() for part in parts_of(kind)):
        if isinstance(part, IdentifierType):
            found.append((part.cls.__name__.lower(), ClauseVariable("", part.cls.__name__, part)))
    return [
        (replace(it, name=_free(name, taken)), replace(it, name=_free(f"other_{name}", taken))) for name, it in found
    ]


def _free(name: str, taken: set[str]) -> str:
    """A name that is not taken and is no keyword of Python; it is taken from then on."""
    while name in taken or iskeyword(name) or hasattr(builtins, name):
        name = f"one_{name}"
    taken.add(name)
    return name


def _rules(read: Model) -> Iterator[Term]:
    """The rules that take no argument, as terms."""
    for name, rule in type(read).methods("rule").items():
        source = source_of(rule)
        given = rule.__annotations__.get("return")
        if len(source.parameters) != 1 or given in (None, "None"):
            continue
        owner = next(base for base in type(read).__mro__ if name in vars(base))
        try:
            kind = read.declared_type(read.evaluate_annotation(given, owner, rule.__globals__))
        except ModelError:  # it is annotated for people, as a plain int is
            continue
        yield Term(f"model.{name}()", kind)


def _parts(term: Term) -> Iterator[Term]:
    """A term, and its fields if it is a record."""
    yield term
    if isinstance(term.type, RecordType) and not isinstance(term.type, UnionType):
        for name, kind in term.type.fields:
            yield from _parts(Term(f"{term.text}.{name}", kind, term.variables))


def _entry(table: Term, key: Term) -> Iterator[Term]:
    """An entry of a map, if the key is one of its keys."""
    if isinstance(table.type, MapType) and table.type.key == key.type:
        yield from _parts(Term(f"{table.text}[{key.text}]", table.type.value, table.variables | key.variables))


def _alone(term: Term) -> Iterator[Atom]:
    """The atoms about one term."""
    match term.type:
        case BoolType():
            yield Atom(term.text, f"not {term.text}", term.variables)
        case EnumType(cls):
            yield from _members(term, cls)
        case OptionalType(inner):
            yield Atom(f"{term.text} is None", f"{term.text} is not None", term.variables)
            if isinstance(inner, EnumType):
                yield from _members(term, inner.cls)
        case SetType() | BagType():
            yield Atom(f"len({term.text}) == 0", f"len({term.text}) > 0", term.variables)


def _members(term: Term, cls: type[enum.Enum]) -> Iterator[Atom]:
    for member in cls:
        value = f"{cls.__name__}.{member.name}"
        yield Atom(f"{term.text} == {value}", f"{term.text} != {value}", term.variables)


def _together(one: Term, other: Term) -> Iterator[Atom]:
    """The comparisons of two terms."""
    a, b, both = one.text, other.text, one.variables | other.variables
    if one.type == other.type and isinstance(one.type, IntType):
        yield Atom(f"{a} <= {b}", f"{b} < {a}", both)
        yield Atom(f"{b} <= {a}", f"{a} < {b}", both)
        yield Atom(f"{a} == {b}", f"{a} != {b}", both)
    elif one.type == other.type and isinstance(one.type, SetType):
        yield Atom(f"{a} <= {b}", f"not {a} <= {b}", both)
        yield Atom(f"{b} <= {a}", f"not {b} <= {a}", both)
    elif _equality_type(one.type) == _equality_type(other.type) is not None:
        yield Atom(f"{a} == {b}", f"{a} != {b}", both)
    for item, container in ((one, other), (other, one)):
        if isinstance(container.type, SetType) and item.type == container.type.element:
            yield Atom(f"{item.text} in {container.text}", f"{item.text} not in {container.text}", both)


def _equality_type(kind: Type) -> Type | None:
    """The type of a term that is only compared for equality, without its option of being None."""
    inner = kind.inner if isinstance(kind, OptionalType) else kind
    return inner if isinstance(inner, IdentifierType | RecordType) else None


def _required(guard: Guard, variables: Sequence[ClauseVariable]) -> Iterator[Atom]:
    """The guards of an action on its parameters, as atoms about the variables that can take their place."""
    choices = [
        [it for it in variables if it.domain == _domain(name, kind, guard)] for name, kind in guard.parameters.items()
    ]
    for chosen in itertools.product(*choices):
        given = {name: it.name for name, it in zip(guard.parameters, chosen, strict=True)}
        if len(set(given.values())) == len(given):
            text = f"({guard.text(given)})"
            yield Atom(text, f"not {text}", frozenset(given.values()))


def _domain(name: str, kind: Type, guard: Guard) -> str | None:
    """The range of a parameter."""
    if name in guard.drawn:
        return f"model.{guard.drawn[name]}"
    return kind.cls.__name__ if isinstance(kind, IdentifierType) else None
