"""What the actions of a model count, as questions that an inferred clause may contain.

    require(2 * sum(1 for voter in Voter if self.vote[epoch][voter] == candidate) > self.voters)

asks of each candidate and epoch whether a majority has voted. Of three voters that is two, and a clause about single
votes says so: it is true of three voters and wrong for five. A clause with the question itself can be true of any
number.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from floodmark.checkers.properties import Property
from floodmark.checkers.symbolic.guards import guards_of
from floodmark.checkers.symbolic.written import written
from floodmark.language.model import Model
from floodmark.language.types import IdentifierType
from floodmark.language.universe import universe

MOST_COUNTS = 64
"""So many questions are asked at most: each is one more component of a state."""


@dataclass(frozen=True, slots=True)
class Count:
    """A question about a state: in parentheses as text, with the names in it, and as a property."""

    text: str
    names: Mapping[str, Any]
    question: Property


def counts_of(model: Model) -> list[Count]:
    """What guards ask that contain a number of elements, for each choice of the identifiers that they mention."""
    found: dict[str, Mapping[str, Any]] = {}
    for guard in guards_of(model):
        kinds = guard.parameters
        if guard.counts and all(isinstance(kind, IdentifierType) for kind in kinds.values()):
            for values in itertools.product(*map(universe, kinds.values())):
                given = dict(zip(kinds, map(repr, values), strict=True))
                names = dict(guard.names) | dict(zip(given.values(), values, strict=True))
                found[f"({guard.asked(given)})"] = names
    listed = list(found.items())[:MOST_COUNTS]
    return [_count(number, text, names) for number, (text, names) in enumerate(listed, 1)]


def _count(number: int, text: str, names: Mapping[str, Any]) -> Count:
    name = f"counted_{number}"
    function, file = written(f"def {name}(model):\n    return {text}\n", name, names)
    return Count(text, names, Property(name, "invariant", function, file, 1, "What an action counts."))
