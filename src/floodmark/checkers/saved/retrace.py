"""Replays stored counterexamples in CPython, and verifies their claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from floodmark.checkers.conformance.external_values import value_of
from floodmark.checkers.explanation.trace import trace_entry
from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import TraceState, Violation
from floodmark.checkers.value_text import show_step
from floodmark.language import reference
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, parameter_types
from floodmark.language.values import running

WrittenEntry = Mapping[str, Any]


def retraced(model: Model, entries: Sequence[WrittenEntry]) -> tuple[TraceState, ...]:
    """The trace that was written as ``entries``. Raises SourceError when the model takes other steps."""
    trace: list[TraceState] = []
    for entry in entries:
        after = _next_state(model, trace[-1].state if trace else None, entry)
        if trace_entry(model, after) != entry:
            raise _disagrees(model, f"{show_step(after.step)} leads to another state than the results say")
        trace.append(after)
    return tuple(trace)


def step_of(model: Model, entry: WrittenEntry) -> Step:
    """The step that was written as ``entry``. Raises SourceError if the model has none."""
    name, arguments = entry["action"], entry["arguments"]
    cls = type(model)
    method = {**cls.methods("initial"), **cls.methods("action")}.get(name)
    if method is None:
        if name != "initial" or cls.methods("initial"):
            raise _disagrees(model, f"{cls.__name__} has no action {name}")
        return Step(name)
    kinds = parameter_types(model, method)
    if list(kinds) != list(arguments):
        raise _disagrees(model, f"{name} takes other parameters: {', '.join(kinds) or 'none'}")
    with running(model):
        return Step(name, {each: value_of(kinds[each], given, each) for each, given in arguments.items()})


def _next_state(model: Model, state: State | None, entry: WrittenEntry) -> TraceState:
    step = step_of(model, entry)
    if state is None:
        for begun, first in reference.initial_states(model):
            if begun == step and (found := TraceState(begun, first)) and trace_entry(model, found) == entry:
                return found
        raise _disagrees(model, f"{show_step(step)} is no initial state")
    after = reference.fire(model, state, step) if step.action in type(model).methods("action") else None
    if after is None:
        raise _disagrees(model, f"{show_step(step)} is not enabled")
    return TraceState(step, after)


def require_shown(model: Model, violation: Violation, prop: Property | None) -> None:
    """Raises SourceError unless CPython confirms the violation in its trace."""
    trace, name = violation.trace, violation.property
    if violation.failed_step is not None and trace:
        try:
            reference.fire(model, trace[-1].state, violation.failed_step)
        except SourceError:
            return
        raise _disagrees(model, f"{show_step(violation.failed_step)} does not fail")
    match violation.kind:
        case "invariant" | "transition":
            if prop is None:
                raise _disagrees(model, f"there is no property {name}")
            states = [entry.state for entry in trace[-2 if violation.kind == "transition" else -1 :]]
            if reference.holds(model, prop.function, *states):
                raise _disagrees(model, f"{name} is true at the end of the steps")
        case "error" if prop is not None and not prop.is_liveness:
            states = [entry.state for entry in trace[-2 if prop.kind == "transition" else -1 :]]
            try:
                reference.holds(model, prop.function, *states)
            except SourceError:
                return
            raise _disagrees(model, f"{name} does not fail")
        case "deadlock":
            if next(reference.successors(model, trace[-1].state), None) is not None:
                raise _disagrees(model, "the last state has a successor")
        case "liveness" if violation.loop is not None:
            if trace[violation.loop].state != trace[-1].state:
                raise _disagrees(model, f"the steps do not lead back to the state after step {violation.loop + 1}")




def _disagrees(model: Model, what: str) -> SourceError:
    message = f"{type(model).__name__} disagrees with the results: {what}; check it again"
    return SourceError(message, *type(model).source_position())
