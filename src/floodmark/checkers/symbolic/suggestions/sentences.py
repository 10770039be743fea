"""Clauses as text of the language, and the atoms that are meaningful for any number of identifiers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.symbolic.suggestions.vocabulary import Atom, ClauseVariable
from floodmark.checkers.symbolic.translate.obligations import variables_of
from floodmark.checkers.symbolic.translate.synthetic_functions import predicate_of_text
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.compiler.failures import can_fail
from floodmark.compiler.ir import OpenConstant, walk
from floodmark.language.errors import ModelError
from floodmark.language.model import Model

TruthColumn = NDArray[np.bool_]
"""Truth values of atoms: a row for each choice of variables, a column for each atom."""


@dataclass(frozen=True, slots=True)
class QuantifiedClause:
    """A disjunction for every choice of the variables of a scope: the atoms by number, each with its polarity."""

    scope: int
    literals: tuple[tuple[int, bool], ...]

    def holds(self, answers: TruthColumn) -> bool:
        """Whether it is true of all these choices."""
        found = np.zeros(len(answers), dtype=np.bool_)
        for column, affirmed in self.literals:
            found |= answers[:, column] == affirmed
        return bool(found.all())


def clause_text(parts: Sequence[str], variables: Sequence[ClauseVariable]) -> str:
    """A disjunction for every choice of variables, as an expression."""
    if not variables:
        return parts[0] if len(parts) == 1 else "(\n        " + "\n        or ".join(parts) + "\n    )"
    loops = [f"for {it.name} in {it.domain}" for it in variables]
    return "all(\n        " + "\n        or ".join(parts) + "".join(f"\n        {loop}" for loop in loops) + "\n    )"


class AtomFilter:
    """Decides which atoms are meaningful for any number of identifiers.

    An atom that mentions a constant which only bounds integers is left out: a statement about small bounds seldom holds
    for others. So is one whose evaluation may fail with the constants of the model.
    """

    def __init__(self, model: Model, names: Mapping[str, Any], unbounded: Sequence[str], counting: Collection[str]):
        self._system = system_of(model, (), unbounded, any_size=True)
        self._small = system_of(model, ())
        self._names = names
        self._bounding = {*unbounded} - {*counting}
        self._order = list(model.variable_types)
        self._known: dict[str, frozenset[int] | None] = {}

    def reads(self, atom: Atom, variables: Sequence[ClauseVariable]) -> frozenset[int] | None:
        """The numbers of the model's variables that an atom reads; None if it is not meaningful."""
        if atom.text not in self._known:
            self._known[atom.text] = self._read(clause_text([atom.text], variables))
        return self._known[atom.text]

    def _read(self, text: str) -> frozenset[int] | None:
        function, _ = predicate_of_text(f"def asked(model):\n    return {text}\n", "asked", self._names)
        try:
            predicate = self._system.read(function)
            self._system.judge(predicate, self._system.now.state)
            fails = can_fail(self._small.read(function).value)
        except ModelError:
            return None
        constants = {node.name for node in walk(predicate.value) if isinstance(node, OpenConstant)}
        if fails or constants & self._bounding:
            return None
        return frozenset(map(self._order.index, variables_of(predicate)))
