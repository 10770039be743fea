"""The content of the page for a state: the values of properties, the actions, and another design in the same state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from floodmark.checkers.designs.design_pair import Decision
from floodmark.checkers.explanation.false_property import RefutedStep, explain, refuted_step
from floodmark.checkers.explorer.design_comparison import DesignComparison
from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import TraceState
from floodmark.checkers.walking.expansion import ExpandedAction, without_breakpoints
from floodmark.checkers.walking.walk import WalkedPath
from floodmark.language import reference
from floodmark.language.errors import SourceError
from floodmark.language.model import Model


@dataclass(frozen=True, slots=True)
class PropertyValue:
    """A property of the state or of the step to it. ``true`` is None if it cannot be evaluated, or is about a step and
    there is none; ``why`` says why it is false."""

    prop: Property
    true: bool | None
    why: tuple[str, ...] = ()
    mapped: RefutedStep | None = None
    """For a refinement, the other model's view of the step."""


@dataclass(slots=True)
class StateView:
    """One state. ``outside`` is whether it is outside of the boundary, beyond which no search continues."""

    actions: list[ExpandedAction]
    judgements: list[PropertyValue] = field(default_factory=list)
    outside: bool = False
    beside: DesignComparison | None = None


@dataclass(slots=True)
class PathView:
    """A path and the place at which the page is. Where ``at`` is -1, ``beginnings`` are the states to begin with;
    ``difference`` is the first step that the design beside would not take, from 0; ``watched`` are expressions, each
    with its value in every state of the path, or with the reason why it is refused."""

    model: Model
    walked: WalkedPath
    at: int
    properties: list[Property]
    beside: str
    place: StateView | None = None
    beginnings: list[TraceState] = field(default_factory=list)
    difference: tuple[int, Decision] | None = None
    watched: list[tuple[str, list[str]]] = field(default_factory=list)


def property_values(
    model: Model, properties: Sequence[Property], trace: Sequence[TraceState]
) -> tuple[list[PropertyValue], bool]:
    """The properties in the last state of a trace, and whether it is outside of the boundary."""
    with without_breakpoints():
        found = [_judgement(model, prop, trace) for prop in properties]
        try:
            return found, not reference.within_boundary(model, trace[-1].state)
        except SourceError:
            return found, True


def _judgement(model: Model, prop: Property, trace: Sequence[TraceState]) -> PropertyValue:
    entries = trace[-2:] if prop.kind == "transition" else trace[-1:]
    if prop.kind == "transition" and len(entries) < 2 and not prop.is_refinement:
        return PropertyValue(prop, None)
    try:
        if reference.holds(model, prop.function, *(entry.state for entry in entries)):
            return PropertyValue(prop, True)
    except SourceError as error:
        return PropertyValue(prop, None, (str(error),))
    mapped = refuted_step(model, prop, trace) if prop.is_refinement else None
    return PropertyValue(prop, False, tuple(explain(model, prop, trace)[1:]) if mapped is None else (), mapped)
