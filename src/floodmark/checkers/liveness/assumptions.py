"""The fairness assumptions of a model, and the labels by which steps of a graph belong to them.

An assumption is what is said of one action. Said of each choice of some parameters, it is as many constraints as there
are choices, each with a label of its own; otherwise it is one. Label 0 is that of steps of which nothing is assumed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from floodmark.compiler.layout import decode, encode
from floodmark.language.errors import ModelError
from floodmark.language.fairness import Fairness, declared_fairness
from floodmark.language.model import Model
from floodmark.language.reference import parameter_types
from floodmark.language.types import Type
from floodmark.language.universe import universe

MAX_LABELS = 4096
"""The greatest number of fairness constraints of a model: each costs a bit of every component."""


@dataclass(frozen=True)
class Assumption:
    """The fairness of one action; its labels are ``first`` and the ``count - 1`` after it."""

    action: str
    strong: bool
    each: tuple[tuple[str, Type], ...]
    first: int

    @property
    def count(self) -> int:
        total = 1
        for _, kind in self.each:
            total *= 1 << kind.bits
        return total

    @property
    def labels(self) -> range:
        """All its labels."""
        return range(self.first, self.first + self.count)

    def label(self, arguments: Mapping[str, Any]) -> int:
        """The label of a step of the action."""
        code = 0
        for name, kind in self.each:
            code = code << kind.bits | encode(kind, arguments[name])
        return self.first + code

    def has(self, label: int) -> bool:
        """Whether a label is one of the assumption's."""
        return self.first <= label < self.first + self.count

    def all_labels(self, most: int) -> list[int]:
        """The labels of all choices of its parameters; none if there are more than so many."""
        total = 1
        for _, kind in self.each:
            total *= kind.codes
        if total > most:
            return []
        names = [name for name, _ in self.each]
        values = [list(universe(kind)) for _, kind in self.each]
        return [self.label(dict(zip(names, chosen, strict=True))) for chosen in product(*values)]

    def chosen(self, label: int) -> dict[str, Any]:
        """The choice of its parameters that a label stands for."""
        code = label - self.first
        found: dict[str, Any] = {}
        for name, kind in reversed(self.each):
            found[name] = decode(kind, code & (1 << kind.bits) - 1)
            code >>= kind.bits
        return dict(reversed(found.items()))

    def __str__(self) -> str:
        return f"{self.action} {Fairness(self.strong, tuple(name for name, _ in self.each))}"


@dataclass(frozen=True)
class Assumptions:
    """All assumptions of a model; ``by_action`` in the order of its actions."""

    by_action: dict[str, Assumption]

    @property
    def labels(self) -> int:
        """One more than the largest label."""
        return 1 + sum(it.count for it in self.by_action.values())

    def label(self, action: str, arguments: Mapping[str, Any]) -> int:
        """The label of a step."""
        found = self.by_action.get(action)
        return 0 if found is None else found.label(arguments)


def assumptions_of(model: Model, changes: Mapping[str, Fairness | None] | None = None) -> Assumptions:
    """The fairness assumptions of a model, with those that a spec adds or, by None, removes.

    Raises ModelError for a fairness of something that is no action, or of each choice of no parameter.
    """
    cls = type(model)
    declared: dict[str, Fairness | None] = {**declared_fairness(cls), **(changes or {})}
    found: dict[str, Assumption] = {}
    first = 1
    for name, method in cls.methods("action").items():
        fairness = declared.get(name)
        if fairness is None:
            continue
        kinds = parameter_types(model, method)
        code = method.__code__
        for parameter in fairness.each:
            if parameter not in kinds:
                has = ", ".join(kinds) or "none"
                message = f"{name} is fair for each {parameter}, which is no parameter of it; it has {has}"
                raise ModelError(message, code.co_filename, code.co_firstlineno)
        assumption = Assumption(name, fairness.strong, tuple((each, kinds[each]) for each in fairness.each), first)
        first += assumption.count
        if first > MAX_LABELS:
            message = f"{name} would be fair in more than {MAX_LABELS} ways, one for each choice; choose fewer"
            raise ModelError(message, code.co_filename, code.co_firstlineno)
        found[name] = assumption
    return Assumptions(found)
