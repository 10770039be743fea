"""``enabled(self.action)``: whether an action is enabled in a state for some parameters.

The action's guards are evaluated, one conjunct after the other, for each choice of the parameters: first the conjuncts
that mention none, then for each value of the first parameter those that mention it, and so on. This requires that all
guards of the action stand at its beginning; the compiler refuses other actions.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floodmark.language.errors import ModelError, ValueOutOfRange
from floodmark.language.model import Model
from floodmark.language.reference import (
    MAX_PARAMETER_VALUES,
    domain_of,
    evaluated,
    guard_names,
    may_ask_actions,
    parameter_types,
)
from floodmark.language.source import Source, leading_guards, names_in, source_of
from floodmark.language.types import Type, growing
from floodmark.language.universe import universe
from floodmark.language.values import Bag, Seq, Set, admit


@dataclass(frozen=True, slots=True)
class Levels:
    """The guards of an action by the number of parameters that have to be chosen first."""

    guards: Sequence[Sequence[ast.expr]]
    parameters: Sequence[str]

    def domain(self, level: int) -> ast.expr | None:
        """The set from which a guard draws a parameter, once the previous parameters are chosen."""
        name, later = self.parameters[level], frozenset(self.parameters[level:])
        found = (domain_of(guard, name, later) for guards in self.guards for guard in guards)
        return next((domain for domain in found if domain is not None), None)


def levels_of(source: Source, parameters: Collection[str]) -> Levels:
    """The guards of an action in the order of evaluation: none is evaluated before one that precedes it in the source.
    """
    guards, _ = leading_guards(source)
    names = list(parameters)
    levels: list[list[ast.expr]] = [[] for _ in range(len(names) + 1)]
    level = 0
    for guard in guards:
        level = max([level, *(names.index(name) + 1 for name in names_in(guard) if name in parameters)])
        levels[level].append(guard)
    return Levels(levels, names)


def too_many_values(name: str, source: Source) -> ModelError:
    """The error for a parameter whose values cannot all be tried."""
    message = f"enabled cannot try every {name}: begin the action with require({name} in self.requests)"
    return ModelError(message, source.file, source.tree.lineno)


def enabled(action: Callable[..., None]) -> bool:
    """Whether some parameters make an action possible in this state.

        @invariant
        def nobody_is_stuck(self) -> bool:
            return enabled(self.sends) or enabled(self.receives)

    Only properties ask it. All guards of the action stand at its beginning.
    """
    model, name = getattr(action, "__self__", None), getattr(action, "__name__", "")
    if not isinstance(model, Model) or name not in type(model).methods("action"):
        raise ModelError("enabled takes an action of the model: enabled(self.sends)")
    if not may_ask_actions(model):
        raise ModelError("a property of runs cannot ask enabled where the model has bounds")
    method = type(model).methods("action")[name]
    kinds = parameter_types(model, method)
    return _is_enabled(model, method, kinds, levels_of(source_of(method), kinds), {})


def _is_enabled(
    model: Model, method: Callable[..., Any], kinds: Mapping[str, Type], levels: Levels, chosen: dict[str, Any]
) -> bool:
    names = guard_names(model, method, chosen)
    if not all(evaluated(guard, names) for guard in levels.guards[len(chosen)]):
        return False
    if len(chosen) == len(kinds):
        return True
    name = levels.parameters[len(chosen)]
    return any(
        _is_enabled(model, method, kinds, levels, {**chosen, name: value})
        for value in _values(method, kinds[name], name, levels.domain(len(chosen)), names)
    )


def _values(
    method: Callable[..., Any], kind: Type, name: str, domain: ast.expr | None, names: Mapping[str, Any]
) -> Iterable[Any]:
    drawn = None if domain is None else evaluated(domain, names)
    if isinstance(drawn, Set | set | frozenset | Seq | list | tuple | Bag):
        return [value for value in drawn if _is_of(kind, value, name)]
    if any(growing(kind)) or kind.codes > MAX_PARAMETER_VALUES:
        raise too_many_values(name, source_of(method))
    return universe(kind)


def _is_of(kind: Type, value: Any, name: str) -> bool:
    try:
        admit(kind, value, name)
    except ValueOutOfRange:
        return False
    return True
