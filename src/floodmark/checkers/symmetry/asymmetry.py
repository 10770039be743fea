"""Explains how a model treats two identifiers differently, by what CPython does in two states."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from floodmark.checkers.value_text import show, show_step
from floodmark.compiler.commuting_loops import nodes
from floodmark.compiler.ir import Action, Predicate, SetVariable, StateVar
from floodmark.compiler.renaming import Renaming, renamed
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, fire, holds
from floodmark.language.widths import WidthExceeded


def step_differs(model: Model, action: Action, state: State, step: Step, swap: Renaming) -> str | None:
    """The change of a step's effect when two identifiers swap names; None if there is none."""
    other = Step(step.action, {name: renamed(value, swap) for name, value in step.arguments.items()})
    here, there = _outcome(model, state, step), _outcome(model, _swapped(state, swap), other)
    if there == (_swapped(here, swap) if isinstance(here, tuple) else here):
        return None
    one = f"{show_step(step)} {_outcome_text(model, state, here)}"
    two = f"{show_step(other)} {_outcome_text(model, _swapped(state, swap), there)}"
    return f"where {_shown(model, action, [state])}, {one}; with {_pair(swap)} swapped, {two}"


def property_differs(
    model: Model, predicate: Predicate, function: Callable[..., bool], states: Sequence[State], swap: Renaming
) -> str | None:
    """The change of a predicate's value when two identifiers swap names; None if there is none."""
    here = _truth(model, function, states)
    there = _truth(model, function, [_swapped(state, swap) for state in states])
    if here == there:
        return None
    where = _shown(model, predicate, states)
    return f"where {where}, {predicate.name} {here}; with {_pair(swap)} swapped, it {there}"


def _swapped(state: State, swap: Renaming) -> State:
    return tuple(renamed(value, swap) for value in state)


def _pair(swap: Renaming) -> str:
    [(cls, numbers)] = swap.items()
    return " and ".join(show(cls(place)) for place, number in enumerate(numbers, 1) if number != place)


def _outcome(model: Model, state: State, step: Step) -> State | str:
    try:
        after = fire(model, state, step)
    except (SourceError, WidthExceeded):
        return "fails"
    return "is not enabled" if after is None else after


def _outcome_text(model: Model, before: State, outcome: State | str) -> str:
    if isinstance(outcome, str):
        return outcome
    pairs = zip(model.variable_types, before, outcome, strict=True)
    changes = [f"{name} = {show(new)}" for name, old, new in pairs if old != new]
    return f"sets {', '.join(changes)}" if changes else "changes nothing"


def _truth(model: Model, function: Callable[..., bool], states: Sequence[State]) -> str:
    try:
        return "is true" if holds(model, function, *states) else "is false"
    except (SourceError, WidthExceeded):
        return "fails"


def _shown(model: Model, part: Action | Predicate, states: Sequence[State]) -> str:
    """The variables that a part mentions, with their values in one state or in two."""
    inside = [part.guards, part.body] if isinstance(part, Action) else part.value
    mentioned = set()
    for node in nodes(inside):
        match node:
            case StateVar(name=name) | SetVariable(variable=name):
                mentioned.add(name)
    names = [(index, name) for index, name in enumerate(model.variable_types) if name in mentioned]
    if len(states) == 1:
        return ", ".join(f"{name} = {show(states[0][index])}" for index, name in names)
    old, new = states
    return ", ".join(f"{name} = {show(old[index])}, then {show(new[index])}" for index, name in names)
