"""Why a property is false in the last state of a trace, or in its last step; of a refinement, the refined model's view
of that step.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from floodmark.checkers.explanation.guard import FalseGuard, guard_against
from floodmark.checkers.explanation.predicate import explain_call
from floodmark.checkers.explanation.source_location import source_location
from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import TraceState
from floodmark.checkers.value_text import show, show_step
from floodmark.language import reference
from floodmark.language.errors import ActionDisabled, SourceError
from floodmark.language.members import abstract_steps
from floodmark.language.model import Model, State
from floodmark.language.reference import Image, Step
from floodmark.language.source import changed, is_require, source_of
from floodmark.language.values import running


def explain(subject: Model, prop: Property, trace: Sequence[TraceState]) -> list[str]:
    """Lines that begin with the property's name; empty if its source gives no explanation."""
    if prop.is_refinement:
        found = refuted_step(subject, prop, trace)
        return [] if found is None else refinement_lines(prop, found)
    states = trace[-2:] if prop.kind == "transition" else trace[-1:]
    lines = explain_call(prop, [subject.at(entry.state) for entry in states])
    return [f"why {prop.name} is false:", *(f"  {line}" for line in lines)] if lines else []


MAX_TRIED = 20_000
"""The maximum number of parameter choices of abstract actions that are tried for the nearest one."""


@dataclass(frozen=True)
class NearestStep:
    """The step of the abstract model whose state is nearest to the mapped one.

    ``guard`` is the guard that stops it, if it is disabled; ``differs`` names the variables in which its state differs.
    """

    step: Step
    state: State
    differs: tuple[str, ...]
    guard: FalseGuard | None


@dataclass(frozen=True)
class RefutedStep:
    """A step that the refined model does not take, or an initial state that it lacks: the states of the ``other`` model
    before and after, or the only one. ``steps`` is the number of abstract steps that one step may be."""

    other: Model
    states: tuple[State, ...]
    steps: int
    nearest: NearestStep | None

    @property
    def name(self) -> str:
        return type(self.other).__name__

    @property
    def variables(self) -> list[str]:
        return list(self.other.variable_types)


def refuted_step(subject: Model, prop: Property, trace: Sequence[TraceState]) -> RefutedStep | None:
    """The refined model's view of the last step of a trace, or of its only state. None if a state has no image."""
    try:
        images = [reference.image(subject, prop.function, entry.state) for entry in trace[-2:]]
    except SourceError:
        return None
    states = tuple(image.state for image in images)
    found = nearest(images[0], images[1]) if len(images) == 2 else None
    return RefutedStep(images[-1].abstract.model, states, abstract_steps(prop.function), found)


def refinement_lines(prop: Property, found: RefutedStep) -> list[str]:
    """Why the refined model does not take the last step of a trace, or does not begin in its only state."""
    if len(found.states) == 1:
        return [
            f"why {prop.name} is false: the run begins where no {found.name} begins",
            *(f"  {line}" for line in _values(found.variables, found.states)),
        ]
    many = f"one to {found.steps} of its steps" if found.steps > 1 else "one of its steps"
    lines = [
        f"why {prop.name} is false: the last step changes the {found.name}, but is not {many}",
        *(f"  {line}" for line in _values(found.variables, found.states)),
    ]
    return [*lines, *(f"  {line}" for line in nearest_lines(found))]


def _values(names: Sequence[str], states: Sequence[State]) -> Iterator[str]:
    """The values of the variables; for a step, the old and the new value if they differ."""
    for index, name in enumerate(names):
        values = [show(state[index]) for state in states]
        yield f"{name}: {values[0]}" if len(set(values)) == 1 else f"{name}: {values[0]} -> {values[1]}"


def nearest_lines(refuted: RefutedStep) -> Iterator[str]:
    """The nearest step of the refined model, and the guard that stops it."""
    found, names = refuted.nearest, refuted.variables
    if found is None:
        return
    would = "leads" if found.guard is None else "would lead"
    if found.differs:
        values = ", ".join(f"{name}={show(found.state[names.index(name)])}" for name in found.differs)
        yield f"nearest: {show_step(found.step)} {would} to {values}"
    else:
        yield f"nearest: {show_step(found.step)} {would} there"
    if found.guard is not None:
        at = "" if found.guard.file is None else f" ({source_location(found.guard.file, found.guard.line)})"
        yield f"  it is not enabled: {found.guard.text}{at}"


def nearest(old: Image, new: Image) -> NearestStep | None:
    """The nearest step from one abstract state to another; of equally near ones, an enabled one."""
    found: list[NearestStep] = []
    names = list(old.abstract.model.variable_types)
    for step in _steps(old):
        guard = None
        try:
            state = reference.fire(old.abstract.model, old.state, step)
            if state is None:
                guard = guard_against(old.abstract.model, old.state, step)
                state = _unguarded(old.abstract.model, old.state, step)
        except SourceError:
            continue
        if state is None or state == old.state:
            continue
        differs = tuple(name for name, one, other in zip(names, state, new.state, strict=True) if one != other)
        found.append(NearestStep(step, state, differs, guard))
    return min(found, key=lambda it: (len(it.differs), it.guard is not None), default=None)


def _steps(old: Image) -> Iterator[Step]:
    model, left = old.abstract.model, MAX_TRIED
    for name, method in type(model).methods("action").items():
        kinds = reference.parameter_types(model, method)
        if reference.count_choices(kinds) > left:  # too many: those that the guards draw from the state
            yield from reference.choices(model, old.state, name)
            continue
        left -= reference.count_choices(kinds)
        for arguments in reference.every_choice(model, kinds):
            yield Step(name, arguments)


def _unguarded(model: Model, state: State, step: Step) -> State | None:
    """The state after an action without its leading guards; None if it is still disabled."""
    method = _without_guards(type(model).methods("action")[step.action])
    model.load(state)
    with running(model):
        try:
            method(model, **step.arguments)
            return model.snapshot()
        except (ActionDisabled, ArithmeticError, LookupError, AssertionError, TypeError):
            return None


def _without_guards(method: Callable[..., Any]) -> Callable[..., Any]:
    body = [copy.copy(statement) for statement in source_of(method).body if not is_require(statement)]
    return changed(method, body or [ast.Pass()], {})
