"""The goals of liveness properties, for each choice of their parameters, as sets of states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from floodmark.checkers.project.properties import Property
from floodmark.checkers.value_text import show_arguments
from floodmark.language.conditions import Condition, choices_of
from floodmark.language.model import Model


class ViolationStart(Enum):
    """The point of a run at which a violation of the goal begins."""

    ANYWHERE = auto()
    INITIALLY = auto()
    AT_PREMISE = auto()
    """A state in which the premise of a ``leads_to`` holds."""


@dataclass(frozen=True, slots=True)
class ViolatingRuns:
    """The runs that violate a goal: the fair runs that, from where the violation ``begins``, miss the goal in every
    state, or in infinitely many if ``again_and_again``."""

    begins: ViolationStart
    again_and_again: bool = False


BREACHES: Mapping[str, ViolatingRuns | None] = {
    "eventually": ViolatingRuns(ViolationStart.INITIALLY),
    "always_eventually": ViolatingRuns(ViolationStart.ANYWHERE),
    "leads_to": ViolatingRuns(ViolationStart.AT_PREMISE),
    "eventually_always": ViolatingRuns(ViolationStart.ANYWHERE, again_and_again=True),
    "recoverable": None,
}
"""The run that violates a liveness property of each kind, as data for every engine. None: not a run, but a state from
which the goal is unreachable."""


@dataclass(frozen=True)
class Goal:
    """A liveness property with its parameters chosen. ``starts`` is the premise of a ``leads_to``, else None."""

    prop: Property
    arguments: dict[str, Any]
    goal: Condition
    starts: Condition | None = None
    bars: int | None = None
    """The label of the refined model to which the mapped runs have to be fair: mapped to that model, a run that
    violates the goal takes no step with this label."""
    strong: bool = False
    """Whether that fairness is strong."""

    @property
    def name(self) -> str:
        """``enters(process=p1)``; without parameters the name of the property."""
        return f"{self.prop.name}({show_arguments(self.arguments)})" if self.arguments else self.prop.name

    @property
    def breach(self) -> ViolatingRuns | None:
        if self.bars is not None:
            return ViolatingRuns(ViolationStart.ANYWHERE, again_and_again=self.strong)
        return BREACHES[self.prop.kind]

    @property
    def conditions(self) -> list[Condition]:
        return [self.goal] if self.starts is None else [self.goal, self.starts]


def goals_of(model: Model, properties: Sequence[Property]) -> list[Goal]:
    """The liveness properties of the model's own runs, one goal for each choice of parameters."""
    found: list[Goal] = []
    for prop in properties:
        if not prop.is_liveness or prop.mapping is not None:
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
