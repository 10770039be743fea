"""What there is to show at a place of a path: the properties, the actions, and another design beside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from floodmark.checkers.designs.beside import Decision
from floodmark.checkers.exploration import TraceState
from floodmark.checkers.explore.beside import Compared
from floodmark.checkers.explore.expansion import Expanded, without_breakpoints
from floodmark.checkers.explore.walk import Walked
from floodmark.checkers.properties import Property
from floodmark.checkers.report.explanation import explain
from floodmark.language import reference
from floodmark.language.errors import SourceError
from floodmark.language.model import Model


@dataclass(frozen=True, slots=True)
class Judgement:
    """A property of the state or of the step to it. ``true`` is None if it cannot be evaluated, or is about a step and
    there is none; ``why`` says why it is false."""

    prop: Property
    true: bool | None
    why: tuple[str, ...] = ()


@dataclass(slots=True)
class Place:
    """One state. ``outside`` is whether it is outside of the boundary, behind which no search goes on."""

    actions: list[Expanded]
    judgements: list[Judgement] = field(default_factory=list)
    outside: bool = False
    beside: Compared | None = None


@dataclass(slots=True)
class Shown:
    """A path and the place at which the page is. Where ``at`` is -1, ``beginnings`` are the states to begin with;
    ``difference`` is the first step that the design beside would not take, from 0."""

    model: Model
    walked: Walked
    at: int
    properties: list[Property]
    beside: str
    place: Place | None = None
    beginnings: list[TraceState] = field(default_factory=list)
    difference: tuple[int, Decision] | None = None


def judged(model: Model, properties: Sequence[Property], trace: Sequence[TraceState]) -> tuple[list[Judgement], bool]:
    """The properties in the last state of a trace, and whether it is outside of the boundary."""
    with without_breakpoints():
        found = [_judgement(model, prop, trace) for prop in properties]
        try:
            return found, not reference.within_boundary(model, trace[-1].state)
        except SourceError:
            return found, True


def _judgement(model: Model, prop: Property, trace: Sequence[TraceState]) -> Judgement:
    entries = trace[-2:] if prop.kind == "transition" else trace[-1:]
    if prop.kind == "transition" and len(entries) < 2:
        return Judgement(prop, None)
    try:
        if reference.holds(model, prop.function, *(entry.state for entry in entries)):
            return Judgement(prop, True)
    except SourceError as error:
        return Judgement(prop, None, (str(error),))
    return Judgement(prop, False, tuple(explain(model, prop, trace)[1:]))
