"""The fairness assumptions of a model, and the labels that connect steps of a graph to them.

An assumption concerns one action. It is one constraint with one label, unless it is made for each choice: of some
parameters, of fields of theirs, or of a method's value. Then it is one constraint, with its own label, for each choice.
Label 0 marks the steps without an assumption.

A method is evaluated in the source state of a step, with the step's arguments. Each constraint thus concerns the steps
of the action for which the method has one value, as in TLA+ with a conjunction below ``WF``. The value may change from
state to state: whether such a step is enabled is a property of a state, and whether a step is one of them a property of
the step. Two kinds of methods are refused: one that may fail, since every step needs a label, and any method in a model
with bounds, since its values for steps that are enabled beyond the bounds are unknown.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from floodmark.compiler.fair_choices import read_choices
from floodmark.compiler.layout import decode, encode
from floodmark.language.errors import ModelError
from floodmark.language.fairness import Fairness, declared_fairness
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, computing, parameter_types
from floodmark.language.source import source_of
from floodmark.language.types import RecordType, Type, UnionType, growing
from floodmark.language.universe import universe

MAX_LABELS = 4096
"""The maximum number of fairness constraints of a model: each costs a bit of every component."""


@dataclass(frozen=True)
class ChoiceDimension:
    """One dimension of a choice: a parameter of an action, a field of one such as ``message.to``, or a method of the
    model, which ``takes`` parameters of the action."""

    name: str
    kind: Type
    takes: tuple[str, ...] | None = None

    @property
    def parameter(self) -> str | None:
        """The parameter, or the parameter whose field it is; None for a method."""
        return self.name.partition(".")[0] if self.takes is None else None

    def value(self, model: Model, state: State, arguments: Mapping[str, Any]) -> Any:
        """The value for a step from a state, as CPython computes it."""
        if self.takes is not None:
            with computing(model, f"{self.name} is a method over whose values fairness is assumed; it returns a value"):
                return getattr(model.at(state), self.name)(**{name: arguments[name] for name in self.takes})
        parameter, *fields = self.name.split(".")
        value = arguments[parameter]
        for field in fields:
            value = getattr(value, field)
        return value


@dataclass(frozen=True)
class Assumption:
    """The fairness of one action; its labels are ``first`` and the ``count - 1`` after it.

    ``each`` has the dimensions over which it is made separately.
    """

    action: str
    strong: bool
    each: tuple[ChoiceDimension, ...]
    first: int

    @property
    def count(self) -> int:
        total = 1
        for each in self.each:
            total *= 1 << each.kind.bits
        return total

    @property
    def labels(self) -> range:
        """All labels of the assumption."""
        return range(self.first, self.first + self.count)

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods among ``each``."""
        return tuple(each.name for each in self.each if each.takes is not None)

    def label(self, model: Model, state: State, arguments: Mapping[str, Any]) -> int:
        """The label of a step of the action from a state."""
        return self.label_of([each.value(model, state, arguments) for each in self.each])

    def label_of(self, values: Iterable[Any]) -> int:
        """The label of one choice."""
        code = 0
        for each, value in zip(self.each, values, strict=True):
            code = code << each.kind.bits | encode(each.kind, value)
        return self.first + code

    def has(self, label: int) -> bool:
        """Whether a label is one of the assumption's."""
        return self.first <= label < self.first + self.count

    def all_labels(self, most: int) -> list[int]:
        """The labels of all choices of its parameters; empty if there are more than ``most``."""
        total = 1
        for each in self.each:
            total *= each.kind.codes
        if total > most:
            return []
        return [self.label_of(chosen) for chosen in product(*(list(universe(each.kind)) for each in self.each))]

    def chosen(self, label: int) -> dict[str, Any]:
        """The choice of parameters of a label."""
        code = label - self.first
        found: dict[str, Any] = {}
        for each in reversed(self.each):
            found[each.name] = decode(each.kind, code & (1 << each.kind.bits) - 1)
            code >>= each.kind.bits
        return dict(reversed(found.items()))

    def __str__(self) -> str:
        return f"{self.action} {Fairness(self.strong, tuple(each.name for each in self.each))}"


@dataclass(frozen=True)
class Assumptions:
    """All assumptions of a model; ``by_action`` in the order of its actions."""

    by_action: dict[str, Assumption]

    @property
    def labels(self) -> int:
        """The largest label plus one."""
        return 1 + sum(it.count for it in self.by_action.values())

    def label(self, model: Model, state: State, step: Step) -> int:
        found = self.by_action.get(step.action)
        return 0 if found is None else found.label(model, state, step.arguments)


def assumptions_of(model: Model, changes: Mapping[str, Fairness | None] | None = None) -> Assumptions:
    """The fairness assumptions of a model, with those that a spec adds or, by None, removes.

    Raises ModelError if a name is no action, or a choice no parameter of it.
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
                is_method = path not in kinds and inspect.isfunction(getattr(cls, path, None))
                each.append(_method(model, name, path) if is_method else ChoiceDimension(path, _type_of(path, kinds)))
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


def _method(model: Model, action: str, name: str) -> ChoiceDimension:
    """A method of the model over whose values fairness is assumed. Raises ModelError for an unsuitable one."""
    cls = type(model)
    if any(constant.bound for constant in cls.constants().values()):
        raise ModelError("a method, and the model has bounds: its values beyond them are not known; name a parameter")
    (chosen,) = read_choices(model, action, (name,)).chosen
    if any(growing(chosen.type)):
        raise ModelError("but its values have no capacity")
    return ChoiceDimension(name, chosen.type, tuple(source_of(getattr(cls, name)).parameters[1:]))


def _type_of(path: str, kinds: Mapping[str, Type]) -> Type:
    """The type of a parameter, or of a field that every value of a parameter has. Raises ModelError for another path:
    every step needs a label, so computing it must not fail."""
    parameter, *fields = path.split(".")
    if parameter not in kinds:
        raise ModelError(f"which is no parameter of it and no method; it has {', '.join(kinds) or 'none'}")
    kind, so_far = kinds[parameter], parameter
    for field in fields:
        has = dict(kind.fields) if isinstance(kind, RecordType) else {}
        if field not in has or (isinstance(kind, UnionType) and not kind.is_common(field)):
            raise ModelError(f"but {so_far} is {kind}, and not every value of it has a field {field!r}")
        kind, so_far = has[field], f"{so_far}.{field}"
    if fields and any(growing(kind)):
        raise ModelError(f"but {so_far} has no capacity")
    return kind

