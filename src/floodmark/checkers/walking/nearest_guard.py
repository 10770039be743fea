"""The guard that came nearest to enabling an action that never fires."""

from __future__ import annotations

import time
from dataclasses import dataclass

from floodmark.checkers.explanation.guard import FalseGuard
from floodmark.checkers.search_result import TraceState
from floodmark.checkers.value_text import written_step
from floodmark.checkers.walking.walk import Walk
from floodmark.language import reference
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State

MAX_STATES = 400
"""The number of states that are examined: the first in breadth-first order, in CPython."""


@dataclass(frozen=True, slots=True)
class NearestGuard:
    """A guard that no step passed in the examined states, and a shortest run to a state in which it stopped one:
    ``step`` would have been the next."""

    guard: FalseGuard
    step: str
    run: tuple[str, ...]


def nearest_guards(model: Model, actions: list[str], seconds: float) -> dict[str, NearestGuard]:
    """For each action, the last of its guards that stopped a step in the first states that are reached."""
    walk, until = Walk(model), time.monotonic() + seconds
    found: dict[str, NearestGuard] = {}
    runs: dict[State, tuple[str, ...]] = {}
    for begun in walk.beginnings():
        runs.setdefault(begun.state, (written_step(begun.step),))
    for state in (waiting := list(runs)):
        if time.monotonic() > until:
            break
        for name in actions:
            _nearer(found, walk, TraceState(reference.Step(name), state), runs[state])
        if len(waiting) < MAX_STATES:
            try:
                for step, after in reference.successors(model, state):
                    if after not in runs and reference.within_boundary(model, after):
                        runs[after] = (*runs[state], written_step(step))
                        waiting.append(after)
            except SourceError:
                continue
    return found


def _nearer(found: dict[str, NearestGuard], walk: Walk, at: TraceState, run: tuple[str, ...]) -> None:
    action = walk.action(at.state, at.step.action)
    for stopped in () if action is None else action.stopped:
        step = written_step(stopped.steps[0]) if stopped.steps else at.step.action
        old = found.get(at.step.action)
        if old is None or _reach(stopped.guard) > _reach(old.guard):
            found[at.step.action] = NearestGuard(stopped.guard, step, run)


def _reach(guard: FalseGuard) -> tuple[int, int]:
    return guard.line or 0, guard.part
