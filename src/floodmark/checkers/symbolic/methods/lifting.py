"""Lifts clauses that were inferred for a few identifiers to any number of them, as lemmas that can be pasted.

    rm1 in prepared  =>  rm1 in prepared_messages        for three resource managers

becomes

    all(rm1 in model.prepared_messages or rm1 not in model.prepared for rm1 in ResourceManager)

A clause does not depend on the names of identifiers where the model does not, so a clause about some identifiers holds
for all others as well. Whether it holds for more identifiers than there were is not known: a lifted clause is a guess,
which an induction has to confirm. The idea is that of IC3PO (Goel and Sakallah, "On Symmetry and Quantification",
2021).
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floodmark.checkers.project.properties import Property
from floodmark.checkers.symbolic.methods.cardinality_atoms import CountAtom
from floodmark.checkers.symbolic.methods.clauses import ClauseLiteral, ClauseWriter, Component
from floodmark.checkers.symbolic.translate.synthetic_functions import name_in_text, predicate_of_text
from floodmark.checkers.symbolic.values.types import UnsupportedError
from floodmark.compiler.layout import decode
from floodmark.language.types import BoolType, Type
from floodmark.language.values import Identifier


@dataclass(frozen=True, slots=True)
class LiftedLemma:
    """An inferred lemma: as text, and as the property that the text defines."""

    text: str
    lemma: Property


class _ReadableWriter(ClauseWriter):
    """Writes expressions with the names that a model's author would use."""

    def __init__(self) -> None:
        super().__init__()
        self.identifiers: dict[str, Identifier] = {}
        self._kinds: dict[str, type] = {}

    def _name(self, value: Any) -> str:
        if isinstance(value, Identifier):
            name = name_in_text(value)
            if self._kinds.setdefault(_beginning(name, value), type(value)) is not type(value):
                name = f"{type(value).__name__.lower()}{value.number}"  # another class has these names
            self.identifiers[name] = value
            self._remember(type(value).__name__, type(value))
            return name
        kind = value if isinstance(value, type) else type(value)
        self._remember(kind.__name__, kind)
        return f"{kind.__name__}.{value.name}" if isinstance(value, enum.Enum) else kind.__name__

    def counted(self, counts: Iterable[CountAtom]) -> Iterator[Component]:
        for count in counts:
            names: dict[str, str] = {}
            for name, known in count.names.items():
                if isinstance(known, Identifier):
                    names[name] = self._name(known)
                else:
                    self._remember(name, known)
            yield Component((), _renamed(count.text, names), BoolType())

    def literal(self, component: Component, asked: ClauseLiteral) -> str:
        if component.conditions:
            return super().literal(component, asked)
        text = component.expression
        if asked.relation:
            wanted = str(asked.code)
            if asked.relation == "==":
                wanted = self.value(component.type, decode(component.type, asked.code))
            return f"{text} {asked.relation if asked.holds else _OPPOSITE[asked.relation]} {wanted}"
        if asked.holds:
            return text
        if text.startswith("("):
            return f"not {text}"
        for word, opposite in _OPPOSITE.items():
            if f" {word} " in text:
                return text.replace(f" {word} ", f" {opposite} ")
        return f"not {text}"

    def _remember(self, name: str, kind: Any) -> None:
        if self.names.setdefault(name, kind) is not kind:
            raise UnsupportedError(f"two things are called {name}, so no lemma can mention them")


_OPPOSITE = {"in": "not in", "is not": "is", ">": "<=", "==": "!=", "<=": ">"}
"""The negation of a component's atom."""


def lifted_lemmas(
    model: str, variables: Mapping[str, Type], clauses: Iterable[
        Sequence[ClauseLiteral]
    ], counts: Sequence[CountAtom] = ()
) -> list[LiftedLemma]:
    """The lemmas from clauses about a model of this class, each once; ``counts`` are numbered after components.

    Raises UnsupportedError for a clause that cannot be written.
    """
    source = _ReadableWriter()
    components = [part for name, kind in variables.items() for part in source.components(kind, f"model.{name}")]
    components += source.counted(counts)
    found: dict[str, None] = {}
    for clause in clauses:
        parts = [source.literal(components[it.component], it) for it in clause]
        found[min(_quantified(parts, order, source.identifiers) for order in _orders(parts, source.identifiers))] = None
    return [lemma_of(number, model, text, source.names) for number, text in enumerate(found, 1)]


def _orders(parts: Sequence[str], identifiers: Mapping[str, Identifier]) -> Iterable[tuple[str, ...]]:
    """The identifiers that a clause mentions, in every order."""
    words = {word for part in parts for word in _words(part)}
    return itertools.permutations(name for name in identifiers if name in words)


def _words(text: str) -> list[str]:
    return "".join(letter if letter.isalnum() or letter == "_" else " " for letter in text).split()


def _quantified(parts: Sequence[str], order: Sequence[str], identifiers: Mapping[str, Identifier]) -> str:
    """A clause for every choice of different identifiers, which are named by their positions in ``order``."""
    names: dict[str, str] = {}
    kinds: dict[str, list[str]] = {}
    for name in order:
        kind = type(identifiers[name])
        own = kinds.setdefault(kind.__name__, [])
        names[name] = f"{_beginning(name, identifiers[name])}{len(own) + 1}"
        own.append(names[name])
    text = "\n        or ".join(sorted(_renamed(part, names) for part in parts)) or "False"
    if not order:
        return f"(\n        {text}\n    )" if len(parts) > 1 else text
    loops = []
    for kind_name, own in kinds.items():
        for place, name in enumerate(own):
            different = " and ".join(f"{name} != {other}" for other in own[:place])
            loops.append(f"for {name} in {kind_name}" + (f" if {different}" if different else ""))
    return "all(\n" + "\n".join(f"        {part}" for part in (text, *loops)) + "\n    )"


def _beginning(name: str, value: Identifier) -> str:
    """The common prefix of the names of all identifiers of a class."""
    return name.removesuffix(str(value.number))


def _renamed(text: str, names: Mapping[str, str]) -> str:
    found, word = [], ""
    for letter in f"{text} ":
        if letter.isalnum() or letter == "_":
            word += letter
            continue
        found += [names.get(word, word), letter]
        word = ""
    return "".join(found)[:-1]


def lemma_of(number: int, model: str, condition: str, names: Mapping[str, Any]) -> LiftedLemma:
    """The lemma of this number about a model of this class that states an expression, with these names."""
    name = f"inferred_{number}"
    body = f"    return {condition}\n"
    function, file = predicate_of_text(f"def {name}(model):\n{body}", name, names)
    kind: Any = "lemma"
    text = f"@lemma\ndef {name}(model: {model}) -> bool:\n{body}"
    return LiftedLemma(text, Property(name, kind, function, file, 1, "Inferred."))
