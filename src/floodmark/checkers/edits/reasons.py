"""Why one version of a model does not take a step that the other takes, in the same state."""

from __future__ import annotations

from typing import Any

from floodmark.checkers.edits.alignment import Renames, alike
from floodmark.checkers.edits.difference import Reason
from floodmark.checkers.explanation.guard import guard_against
from floodmark.checkers.explanation.trace import change_lines
from floodmark.compiler.layout import decode, encode, lay_out
from floodmark.language import reference
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, parameter_types


def reinterpreted_state(model: Model, state: State, other: Model) -> State:
    """The state of another model with the same packed words; both models have the same variables."""
    return lay_out(other.variable_types).unpack(lay_out(model.variable_types).pack(state))


def reason_against(model: Model, before: State, step: Step, other: Model, name: str | None) -> Reason:
    """Why ``other`` does not take a step of ``model``; ``name`` is its name for the action, if any."""
    method = type(other).methods("action").get(name or "")
    if method is None or name is None:
        return Reason(f"has no action {step.action}", *type(other).source_position())
    code = method.__code__
    place = code.co_filename, code.co_firstlineno
    arguments = _carried_arguments(model, step, other, name)
    if arguments is None:
        return Reason("takes other parameters there", *place)
    here = reinterpreted_state(model, before, other)
    taken = Step(name, arguments)
    try:
        after = reference.fire(other, here, taken)
        if after is None:
            guard = guard_against(other, here, taken)
            return Reason(f"does not take it: {guard.text}", guard.file, guard.line, guard.reasons)
    except SourceError as error:
        return Reason(f"fails there: {error.message}", error.file, error.line)
    lines = change_lines(list(other.variable_types), here, after) or ["nothing changes"]
    return Reason("leads elsewhere", *place, tuple(lines))


def boundary_against(other: Model, state: State) -> Reason:
    """The boundary that ends the runs of a version in a state."""
    for name, predicate in type(other).methods("boundary").items():
        if not reference.holds(other, predicate, state):
            code = predicate.__code__
            return Reason(f"ends its runs there: the state is outside of its boundary {name}",
                          code.co_filename, code.co_firstlineno)
    raise RuntimeError(f"the state is within the boundary: {state}")


def _carried_arguments(model: Model, step: Step, other: Model, name: str) -> dict[str, Any] | None:
    """The arguments of a step as values of the other version, in order; None if its parameters have other types."""
    mine = parameter_types(model, type(model).methods("action")[step.action])
    theirs = parameter_types(other, type(other).methods("action")[name])
    if len(mine) != len(theirs):
        return None
    found = {}
    for (own, kind), (its, of) in zip(mine.items(), theirs.items(), strict=True):
        if own not in step.arguments or not alike(kind, of, Renames()):
            return None
        try:
            found[its] = decode(of, encode(kind, step.arguments[own]))
        except (SourceError, ValueError, IndexError):
            return None
    return found
