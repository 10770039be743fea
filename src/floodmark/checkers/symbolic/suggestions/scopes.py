"""Scopes: the variables that a clause quantifies over, and the truth values of the atoms about them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from floodmark.checkers.project.properties import Property
from floodmark.checkers.symbolic.suggestions.batches import Batch, Numbers
from floodmark.checkers.symbolic.suggestions.sentences import AtomFilter, QuantifiedClause, TruthColumn, clause_text
from floodmark.checkers.symbolic.suggestions.vocabulary import Atom, ClauseVariable, Vocabulary
from floodmark.checkers.symbolic.translate.synthetic_functions import predicate_of_text
from floodmark.language.values import running


@dataclass(frozen=True, slots=True)
class AtomValues:
    """The values of a table's atoms in a batch.

    ``cube`` has them for each combination of the values that the atoms read and each position of the variables' values;
    ``counts`` is the number of values that the variables have there, and ``which`` the combination of each state.
    """

    cube: TruthColumn
    counts: Numbers
    which: Numbers


@dataclass(frozen=True)
class AtomTable:
    """Atoms that are about all of some variables and read the same variables of the model, given by number."""

    variables: tuple[ClauseVariable, ...]
    atoms: tuple[Atom, ...]
    reads: tuple[int, ...]
    names: Mapping[str, Any] = field(repr=False, compare=False)

    def answers(self, batch: Batch) -> AtomValues:
        """The atoms' values in CPython, computed once for each combination of the variables read."""
        first, which = batch.combinations(self.reads)
        found, sizes = [], []
        with running(batch.model):
            for number in first:
                size, rows = self._evaluate(batch.model.at(batch.state(number)))
                sizes.append(size)
                found.append(rows)
        counts = np.array(sizes, dtype=np.int64).reshape(len(sizes), len(self.variables))
        cube = np.zeros((len(found), *counts.max(axis=0, initial=0), len(self.atoms)), dtype=np.bool_)
        for number, (rows, size) in enumerate(zip(found, sizes, strict=True)):
            within: tuple[Any, ...] = (number, *(slice(0, most) for most in size))
            cube[within] = np.array(rows, dtype=np.bool_).reshape(*size, len(self.atoms))
        return AtomValues(cube, counts, which)

    @cached_property
    def _evaluate(self) -> Callable[[Any], tuple[list[int], list[tuple[bool, ...]]]]:
        row = f"({', '.join(atom.text for atom in self.atoms)},)" if self.atoms else "()"
        loops = " ".join(f"for {it.name} in {it.domain}" for it in self.variables)
        sizes = ", ".join(f"sum(1 for _ in {it.domain})" for it in self.variables)
        source = f"def answers(model):\n    return [{sizes}], [{row} {loops}]\n"
        evaluate: Any = predicate_of_text(source, "answers", self.names)[0]
        return evaluate  # type: ignore[no-any-return]


@dataclass(frozen=True)
class AtomScope:
    """Variables, and the atoms about them and the state, in the order of their tables."""

    variables: tuple[ClauseVariable, ...]
    tables: tuple[AtomTable, ...]

    @cached_property
    def atoms(self) -> tuple[Atom, ...]:
        return tuple(atom for table in self.tables for atom in table.atoms)

    @property
    def joins(self) -> bool:
        """Whether it is about members of two different sets."""
        return len({it.container for it in self.variables} - {None}) > 1

    def answers(self, batch: Batch, known: dict[AtomTable, AtomValues]) -> Iterator[TruthColumn]:
        """The truth values of a batch, in parts. ``known`` caches the values of tables."""
        for table in self.tables:
            if table not in known:
                known[table] = table.answers(batch)
        counted = [known[next(it for it in self.tables if it.variables == (variable,))] for variable in self.variables]
        for places in itertools.product(*(range(it.counts.max(initial=0)) for it in counted)):
            there = np.ones(len(batch), dtype=np.bool_)
            for answered, place in zip(counted, places, strict=True):
                there &= (answered.counts[:, 0] > place)[answered.which]
            if there.any():
                parts = []
                for table in self.tables:
                    at = [places[self.variables.index(it)] for it in table.variables]
                    parts.append(known[table].cube[(known[table].which[there], *at)])
                yield np.concatenate(parts, axis=1)

    def mentions_all(self, columns: Collection[int]) -> bool:
        """Whether atoms mention every variable: if not, they belong to a smaller scope."""
        found: frozenset[str] = frozenset().union(*(self.atoms[it].variables for it in columns))
        return len(found) == len(self.variables)

    def sentence(self, clause: QuantifiedClause) -> str:
        """A clause of this scope as an expression of the language."""
        parts = [self.atoms[it].text if affirmed else self.atoms[it].denied for it, affirmed in clause.literals]
        return clause_text(parts, self.variables)

    def statement(self, name: str, clause: QuantifiedClause) -> Property:
        """A clause of this scope as a property that can be queried and assumed."""
        source = f"def {name}(model):\n    return {self.sentence(clause)}\n"
        function, file = predicate_of_text(source, name, self.tables[0].names)
        return Property(name, "invariant", function, file, 1, "Suggested.")


def scopes_of(vocabulary: Vocabulary, sayable: AtomFilter) -> list[AtomScope]:
    """The scopes of up to two variables, those of fewer variables first."""
    pairs = vocabulary.pairs
    chosen: list[tuple[ClauseVariable, ...]] = [(), *((one,) for one, _ in pairs), *pairs]
    chosen += [(one, other) for (one, _), (other, _) in itertools.combinations(pairs, 2)]
    tables: dict[tuple[ClauseVariable, ...], list[AtomTable]] = {}
    for variables in chosen:
        for part in _parts(variables):
            if part not in tables:
                tables[part] = _tables(vocabulary, sayable, part)
    return [AtomScope(it, tuple(table for part in _parts(it) for table in tables[part])) for it in chosen]


def _parts(variables: tuple[ClauseVariable, ...]) -> Iterator[tuple[ClauseVariable, ...]]:
    for size in range(len(variables) + 1):
        yield from itertools.combinations(variables, size)


def _tables(vocabulary: Vocabulary, sayable: AtomFilter, variables: tuple[ClauseVariable, ...]) -> list[AtomTable]:
    """The atoms about all of these variables; atoms that read the same variables share a table."""
    names = frozenset(it.name for it in variables)
    ranged = frozenset(it.container for it in variables if it.container is not None)
    found: dict[tuple[int, ...], list[Atom]] = {tuple(sorted(ranged)): []}
    for atom in vocabulary.atoms(variables):
        read = sayable.reads(atom, variables) if atom.variables == names else None
        if read is not None:
            found.setdefault(tuple(sorted(ranged | read)), []).append(atom)
    return [AtomTable(variables, tuple(atoms), reads, vocabulary.names) for reads, atoms in found.items()]
