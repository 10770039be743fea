"""The initial states of a model, as CPython computes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import TraceState, Violation
from floodmark.language.errors import ModelError, SourceError, ValueOutOfRange
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, holds, initial_states, within_boundary


@dataclass(slots=True)
class InitialStates:
    """All initial states, and those ``within`` the boundary, with which a search continues. The others, ``cut`` of
    them, are only checked; ``violations`` are those of initial states."""

    states: list[tuple[Step, State]] = field(default_factory=list)
    within: list[State] = field(default_factory=list)
    cut: int = 0
    violations: list[Violation] = field(default_factory=list)


def beginnings(model: Model, properties: Sequence[Property]) -> InitialStates:
    """The initial states of a model. Raises ModelError if it has none."""
    found = InitialStates()
    try:
        for step, state in initial_states(model):
            found.states.append((step, state))
            found.violations += wrong_beginnings(model, properties, TraceState(step, state), found.violations)
            if _is_within(model, properties, TraceState(step, state), found):
                found.within.append(state)
    except ValueOutOfRange as error:
        found.violations.append(Violation.of_error(error, "", ()))
    if not found.states and not found.violations:
        raise without_initial_state(model)
    return found


def without_initial_state(model: Model) -> ModelError:
    message = "the model has no initial state: every @initial method's require is false"
    return ModelError(message, *type(model).source_position())


def wrong_beginnings(
    model: Model, properties: Sequence[Property], first: TraceState, known: Sequence[Violation] = ()
) -> list[Violation]:
    """The violations of refinements whose model does not begin in the image of an initial state, except known ones."""
    found = []
    for prop in properties:
        if prop.is_refinement and all(violation.property != prop.name for violation in known):
            try:
                if not holds(model, prop.function, first.state):
                    found.append(Violation("transition", prop.name, (first,)))
            except SourceError as error:
                found.append(Violation.of_error(error, prop.name, (first,)))
    return found


def _is_within(model: Model, properties: Sequence[Property], first: TraceState, found: InitialStates) -> bool:
    name = ""
    try:
        if within_boundary(model, first.state):
            return True
        found.cut += 1
        for prop in properties:
            name = prop.name
            if prop.kind == "transition":
                continue
            is_true = holds(model, prop.function, first.state)
            if prop.kind == "invariant" and not is_true:
                found.violations.append(Violation("invariant", name, (first,)))
    except ValueOutOfRange as error:
        found.violations.append(Violation.of_error(error, name, (first,)))
    return False
