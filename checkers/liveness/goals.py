"""What liveness properties ask, for each choice of their parameters, as sets of states.

Every kind but one comes down to one question: is there a fair run that begins where ``starts`` is true and never sees
``goal`` from then on? ``eventually_always`` asks for a fair run that misses the goal again and again, ``recoverable``
for a state from which no run at all leads to the goal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from floodmark.checkers.properties import Property
from floodmark.checkers.report.value import show
from floodmark.language.conditions import Condition, choices_of
from floodmark.language.model import Model


@dataclass(frozen=True)
class Goal:
    """A liveness property with its parameters chosen. ``starts`` is the premise of a ``leads_to``, else None."""

    prop: Property
    arguments: dict[str, Any]
    goal: Condition
    starts: Condition | None = None

    @property
    def name(self) -> str:
        """``enters(process=p1)``; without parameters the name of the property."""
        said = ", ".join(f"{name}={show(value)}" for name, value in self.arguments.items())
        return f"{self.prop.name}({said})" if said else self.prop.name

    @property
    def conditions(self) -> list[Condition]:
        return [self.goal] if self.starts is None else [self.goal, self.starts]


def goals_of(model: Model, properties: Sequence[Property]) -> list[Goal]:
    """The liveness properties among ``properties``, one goal for each choice of parameters."""
    found: list[Goal] = []
    for prop in properties:
        if not prop.is_liveness:
            continue
        for arguments in choices_of(model, prop.function):
            number = len(found)
            if prop.kind == "leads_to":
                starts = Condition(f"{prop.name}.{number}.premise", prop.function, arguments, 0)
                goal = Condition(f"{prop.name}.{number}", prop.function, arguments, 1)
                found.append(Goal(prop, arguments, goal, starts))
            else:
                found.append(Goal(prop, arguments, Condition(f"{prop.name}.{number}", prop.function, arguments)))
    return found
