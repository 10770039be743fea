"""Why a property is false in the last state of a trace, or in its last step."""

from __future__ import annotations

from collections.abc import Sequence

from floodmark.checkers.explanation.predicate import explain_call
from floodmark.checkers.explanation.refinement import refinement_lines, refuted
from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import TraceState
from floodmark.language.model import Model


def explain(subject: Model, prop: Property, trace: Sequence[TraceState]) -> list[str]:
    """Lines that begin with the property's name; empty if its source gives no explanation."""
    if prop.is_refinement:
        found = refuted(subject, prop, trace)
        return [] if found is None else refinement_lines(prop, found)
    states = trace[-2:] if prop.kind == "transition" else trace[-1:]
    lines = explain_call(prop, [subject.at(entry.state) for entry in states])
    return [f"why {prop.name} is false:", *(f"  {line}" for line in lines)] if lines else []
