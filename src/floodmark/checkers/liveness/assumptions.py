"""The fairness assumptions of a model, and the labels by which steps of a graph belong to them.

An assumption is what is said of one action. Said of each choice of some parameters, or of fields of theirs, it is as
many constraints as there are choices, each with a label of its own; otherwise it is one. Label 0 is that of steps of
which nothing is assumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from floodmark.compiler.layout import decode, encode
from floodmark.language.errors import ModelError
from floodmark.language.fairness import Fairness, declared_fairness
from floodmark.language.model import Model
from floodmark.language.reference import parameter_types
from floodmark.language.types import RecordType, Type, UnionType, growing
from floodmark.language.universe import universe

MAX_LABELS = 4096
"""The greatest number of fairness constraints of a model: each costs a bit of every component."""


@dataclass(frozen=True)
class Assumption:
    """The fairness of one action; its labels are ``first`` and the ``count - 1`` after it.

    ``each`` has the parameters, or fields of parameters such as ``message.to``, whose choices are fair separately.
    """

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
        return self._label([_value(name, arguments) for name, _ in self.each])

    def _label(self, values: Iterable[Any]) -> int:
        code = 0
        for (_, kind), value in zip(self.each, values, strict=True):
            code = code << kind.bits | encode(kind, value)
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
        return [self._label(chosen) for chosen in product(*(list(universe(kind)) for _, kind in self.each))]

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
        each = []
        for path in fairness.each:
            try:
                each.append((path, _type_of(path, kinds)))
            except ModelError as error:
                message = f"{name} is fair for each {path}, {error.message}"
                raise ModelError(message, code.co_filename, code.co_firstlineno) from None
        assumption = Assumption(name, fairness.strong, tuple(each), first)
        first += assumption.count
        if first > MAX_LABELS:
            message = f"{name} would be fair in more than {MAX_LABELS} ways, one for each choice; choose fewer"
            raise ModelError(message, code.co_filename, code.co_firstlineno)
        found[name] = assumption
    return Assumptions(found)


def _type_of(path: str, kinds: Mapping[str, Type]) -> Type:
    """The type of a parameter, or of a field that every value of a parameter has. Raises ModelError for another path:
    a label is that of every step, so finding it must not fail."""
    parameter, *fields = path.split(".")
    if parameter not in kinds:
        raise ModelError(f"which is no parameter of it; it has {', '.join(kinds) or 'none'}")
    kind, so_far = kinds[parameter], parameter
    for field in fields:
        has = dict(kind.fields) if isinstance(kind, RecordType) else {}
        if field not in has or (isinstance(kind, UnionType) and not kind.is_common(field)):
            raise ModelError(f"but {so_far} is {kind}, of which not every value has a field {field!r}")
        kind, so_far = has[field], f"{so_far}.{field}"
    if fields and any(growing(kind)):
        raise ModelError(f"but {so_far} has no capacity")
    return kind


def _value(path: str, arguments: Mapping[str, Any]) -> Any:
    parameter, *fields = path.split(".")
    value = arguments[parameter]
    for field in fields:
        value = getattr(value, field)
    return value
