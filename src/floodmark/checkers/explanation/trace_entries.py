"""The steps of a trace as JSON: each with its action, its arguments and the state that it leads to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from floodmark.checkers.part_kinds import argument_kinds
from floodmark.checkers.search_result import TraceState
from floodmark.checkers.value_text import plain
from floodmark.language.model import Model, State
from floodmark.language.reference import Step


def trace_entries(model: Model | None, trace: Sequence[TraceState]) -> list[dict[str, Any]]:
    """The steps of a trace with the state that each leads to."""
    return [] if model is None else [trace_entry(model, at) for at in trace]


def trace_entry(model: Model, at: TraceState) -> dict[str, Any]:
    """A step with the state that it leads to."""
    return {**step_entry(model, at.step), "state": state_entry(model, at.state)}


def state_entry(model: Model, state: State) -> dict[str, Any]:
    """The value of each variable."""
    values = zip(model.variable_types.items(), state, strict=True)
    return {name: plain(value, kind) for (name, kind), value in values}


def step_entry(model: Model, step: Step) -> dict[str, Any]:
    """A step: its action and arguments."""
    kinds = argument_kinds(model, step)
    return {
        "action": step.action,
        "arguments": {name: plain(value, kinds.get(name)) for name, value in step.arguments.items()},
    }
