"""The predicates over states that liveness properties are made of, as CPython evaluates them.

The function of such a property takes the model, then parameters; the property must hold for each choice of them. A
``leads_to`` property returns its premise and its goal as a pair; every other kind returns a bool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from floodmark.language.errors import ModelError
from floodmark.language.model import Model, State
from floodmark.language.reference import MAX_PARAMETER_VALUES, computing, count_choices, every_choice, parameter_types
from floodmark.language.source import source_of
from floodmark.language.types import growing


@dataclass(frozen=True)
class Condition:
    """A function of a model with its other parameters chosen; of a pair that it returns, the element ``part``."""

    name: str
    function: Callable[..., Any]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    part: int | None = None

    def holds(self, model: Model, state: State) -> bool:
        """Whether it is true of a state. Raises SourceError where the function fails or returns something else."""
        with computing(model, "a property returns a bool"):
            found = self.function(model.at(state), **self.arguments)
            if self.part is None and isinstance(found, bool):
                return found
            if self.part is not None and isinstance(found, tuple) and [type(it) for it in found] == [bool, bool]:
                return bool(found[self.part])
            wanted = "a bool" if self.part is None else "a pair of bools, the premise and the goal"
            code = self.function.__code__
            raise ModelError(
                f"{self.function.__name__} has to return {wanted}, and this is {found!r}",
                code.co_filename,
                code.co_firstlineno,
            )


def choices_of(model: Model, function: Callable[..., Any]) -> Iterator[dict[str, Any]]:
    """The choices of the parameters behind the model of a liveness property; one empty choice when there are none."""
    kinds = parameter_types(model, function)
    source = source_of(function)
    for name, kind in kinds.items():
        if any(growing(kind)):
            message = f"the parameter {name} has no capacity, so not all of its values can be tried"
            raise ModelError(message, source.file, source.tree.lineno)
    if count_choices(kinds) > MAX_PARAMETER_VALUES:
        most = f"more than {MAX_PARAMETER_VALUES} properties"
        message = f"{function.__name__} would be {most}, one for each choice of its parameters"
        raise ModelError(message, source.file, source.tree.lineno)
    yield from every_choice(model, kinds)
