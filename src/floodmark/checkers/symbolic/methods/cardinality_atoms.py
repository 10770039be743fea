"""Cardinality atoms: the counts in guards of actions, as atoms that an inferred clause may contain.

    require(2 * sum(1 for voter in Voter if self.vote[epoch][voter] == candidate) > self.voters)

tests for each candidate and epoch whether a majority has voted. Among three voters that is two, and a clause about
single votes encodes this: it holds for three voters and fails for five. A clause with the atom itself can hold for any
number.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from floodmark.checkers.project.properties import Property
from floodmark.checkers.symbolic.translate.guards import guards_of
from floodmark.checkers.symbolic.translate.synthetic_functions import name_in_text, predicate_of_text
from floodmark.language.model import Model
from floodmark.language.types import IdentifierType
from floodmark.language.universe import universe

MAX_COUNTS = 64
"""The maximum number of atoms: each is one more component of a state."""


@dataclass(frozen=True, slots=True)
class CountAtom:
    """An atom about a state: its text in parentheses, the names in it, and its property."""

    text: str
    names: Mapping[str, Any]
    question: Property


def counts_of(model: Model) -> list[CountAtom]:
    """The conditions of guards that contain a number of elements, for each choice of the identifiers that they
    mention."""
    found: dict[str, Mapping[str, Any]] = {}
    for guard in guards_of(model):
        kinds = guard.parameters
        if guard.counts and all(isinstance(kind, IdentifierType) for kind in kinds.values()):
            for values in itertools.product(*map(universe, kinds.values())):
                given = dict(zip(kinds, map(name_in_text, values), strict=True))
                called = dict(zip(given.values(), values, strict=True))
                if all(called[given[name]] == value for name, value in zip(kinds, values, strict=True)):
                    found[f"({guard.text(given)})"] = dict(guard.names) | called
    listed = list(found.items())[:MAX_COUNTS]
    return [_count(number, text, names) for number, (text, names) in enumerate(listed, 1)]


def _count(number: int, text: str, names: Mapping[str, Any]) -> CountAtom:
    name = f"counted_{number}"
    function, file = predicate_of_text(f"def {name}(model):\n    return {text}\n", name, names)
    return CountAtom(text, names, Property(name, "invariant", function, file, 1, "What an action counts."))
