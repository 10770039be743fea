"""Compares another design in the same state: its decision on each step, and the steps that only it can take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from floodmark.checkers.designs.design_pair import Decision, DesignPair, StateMismatch
from floodmark.checkers.search_result import TraceState
from floodmark.checkers.value_text import written_step
from floodmark.checkers.walking.expansion import ExpandedAction, without_breakpoints
from floodmark.checkers.walking.walk import Walk
from floodmark.language.model import State
from floodmark.language.reference import Step


@dataclass(slots=True)
class DesignComparison:
    """Another design at a state.

    ``decisions`` has what it does with each enabled step by the step's text, ``more`` what only it can take;
    ``mismatch`` says why it has no such state.
    """

    name: str
    decisions: dict[str, Decision] = field(default_factory=dict)
    more: list[tuple[Step, State]] = field(default_factory=list)
    mismatch: str = ""


def compare_design(beside: DesignPair, walk: Walk, state: State, actions: Sequence[ExpandedAction]) -> DesignComparison:
    """``beside.other`` at a state of ``beside.mine``; ``walk`` is that of the other."""
    found = DesignComparison(beside.names[1])
    try:
        here = beside.carried(state)
    except StateMismatch as unlike:
        found.mismatch = str(unlike)
        return found
    with without_breakpoints():
        for action in actions:
            for step, after in action.enabled:
                found.decisions[written_step(step)] = beside.decision(state, step, after)
    for action in walk.actions(here):
        found.more += [(step, after) for step, after in action.enabled if written_step(step) not in found.decisions]
    return found


def first_difference(beside: DesignPair, trace: Sequence[TraceState]) -> tuple[int, Decision] | None:
    """The index, from 0, of the first step of a path that the other design would not take, and its reaction."""
    before = None
    with without_breakpoints():
        for place, entry in enumerate(trace):
            try:
                decision = (
                    beside.begins(entry.step, entry.state)
                    if before is None
                    else beside.decision(before, entry.step, entry.state)
                )
            except StateMismatch as unlike:
                return place, Decision("unlike", f"has no such state before it: {unlike}")
            if decision.how is not None and (before is None or not beside.is_hidden(before, entry.state)):
                return place, decision
            before = entry.state
    return None
