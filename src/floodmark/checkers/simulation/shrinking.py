"""Shortens the counterexample of a random walk.

1. A breadth-first search of the first states of the model: if it meets the violation, its trace is a shortest one.
2. Otherwise steps are left out, in halves, quarters and so on, as long as CPython can still take the others and the
   violation remains (A. Zeller, R. Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE TSE 28, 2002).
3. Then a small search from each state of the trace looks for a shorter way to a later one, or to another violation of
   the property.

The result is a trace of the model: CPython has taken each of its steps and evaluated the property to false.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from floodmark.checkers.kernel.compiled_model import Kernel
from floodmark.checkers.kernel.stepper import Stepper
from floodmark.checkers.native.search import begin
from floodmark.checkers.project.properties import Property
from floodmark.checkers.search.store import Packed
from floodmark.checkers.search_result import Limits, Options, TraceState, Violation
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, fire, holds, successors, within_boundary

SEARCHED = 200_000
"""The number of states of the breadth-first search, which takes less than a second."""
MAX_REPLAYS = 2_000
"""The maximum number of shorter traces that are tried by leaving out steps."""
AROUND = 2_000
"""The number of states of the search from one state of a trace."""
MAX_AROUND = 100_000
"""The number of states of all these searches together."""


def shrunk(model: Model, violation: Violation, prop: Property | None, kernel: Kernel) -> Violation:
    """The violation with a trace that is no longer; ``prop`` is None for an error in the model or a deadlock."""
    shortest = _searched(model, violation, prop)
    if shortest is not None:
        return shortest
    judge = _ViolationMatch(model, violation, prop)
    trace = _with_fewer_steps(judge, violation.trace)
    return replace(violation, trace=_with_shortcuts(judge, trace, kernel))


def _searched(model: Model, violation: Violation, prop: Property | None) -> Violation | None:
    """The same violation by a breadth-first search, if it is among the first states."""
    options = Options(workers=1, limits=Limits(states=SEARCHED), deadlock=violation.kind == "deadlock")
    search = begin(model, [] if prop is None else [prop], options)
    try:
        found = search.run().violations
    finally:
        search.close()
    same = (violation.kind, violation.property, violation.message)
    alike = (it for it in found if (it.kind, it.property, it.message) == same)
    return next((it for it in alike if len(it.trace) <= len(violation.trace)), None)


@dataclass(frozen=True, slots=True)
class _ViolationMatch:
    """Decides whether a trace shows a certain violation."""

    model: Model
    violation: Violation
    prop: Property | None

    def shows(self, before: State | None, state: State) -> bool:
        """Whether a state, or the step to it, shows the violation."""
        wanted = self.violation
        if wanted.kind == "error":
            return self._fails(state)
        if wanted.kind == "deadlock":
            return next(successors(self.model, state), None) is None
        assert self.prop is not None
        try:
            if wanted.kind == "invariant":
                return not holds(self.model, self.prop.function, state)
            return before is not None and not holds(self.model, self.prop.function, before, state)
        except SourceError:
            return False

    def _fails(self, state: State) -> bool:
        """Whether the step that could not be completed, or the property, fails with the same message."""
        step, prop = self.violation.failed_step, self.prop
        try:
            if step is not None:
                fire(self.model, state, step)
            elif prop is not None and prop.kind != "transition":
                holds(self.model, prop.function, state)
        except SourceError as error:
            return error.message == self.violation.message
        return False

    def replayed(self, first: TraceState, steps: Sequence[Step]) -> tuple[TraceState, ...] | None:
        """The trace of the steps up to the violation; None if a step is disabled, or the violation does not occur."""
        trace = [first]
        if self.shows(None, first.state):
            return (first,)
        for step in steps:
            before = trace[-1].state
            try:
                after = fire(self.model, before, step)
            except SourceError:
                return None
            if after is None:
                return None
            trace.append(TraceState(step, after))
            if self.shows(before, after):
                return tuple(trace)
            if not within_boundary(self.model, after):
                return None
        return None


def _with_fewer_steps(judge: _ViolationMatch, trace: tuple[TraceState, ...]) -> tuple[TraceState, ...]:
    """The trace without superfluous steps. A trace that cannot be judged again is returned unchanged."""
    best = judge.replayed(trace[0], [at.step for at in trace[1:]])
    if best is None:
        return trace
    replays, size = 0, max(len(best) // 2, 1)
    while replays < MAX_REPLAYS:
        at, shorter = 1, False
        while at < len(best) and replays < MAX_REPLAYS:
            steps = [it.step for it in (*best[1:at], *best[at + size :])]
            found = judge.replayed(best[0], steps)
            replays += 1
            if found is None:
                at += size
            else:
                best, shorter = found, True
        if size == 1 and not shorter:
            break
        size = max(size // 2, 1)
    return best


def _with_shortcuts(judge: _ViolationMatch, trace: tuple[TraceState, ...], kernel: Kernel) -> tuple[TraceState, ...]:
    """The trace with shorter ways between its states."""
    layout = kernel.interface.layout
    stepper = Stepper(kernel.model, kernel.interface)
    left = MAX_AROUND
    at = 0
    while at < len(trace) - 1 and left > 0:
        path = [layout.pack(it.state) for it in trace]
        way, joins = _around(path, at, stepper)
        left -= AROUND
        found = _rebuilt(judge, trace, at, [layout.unpack(state) for state in way], joins) if way else None
        if found is None:
            at += 1
        else:
            trace = found
    return trace


def _around(path: Sequence[Packed], at: int, stepper: Stepper) -> tuple[list[Packed], int]:
    """The best shortcut from a state of a path: the states on the way, and the index at which it rejoins the path.
    Without a shortcut, the list of states is empty."""
    places = {state: place for place, state in enumerate(path) if place > at}
    parents: dict[Packed, Packed | None] = {path[at]: None}
    level, depth = [path[at]], 0
    best: tuple[int, Packed, int] | None = None
    while level and len(parents) < AROUND:
        depth += 1
        following = []
        for state in level:
            for row in stepper.expand(state).after:
                after = tuple(row)
                if after in parents:
                    continue
                parents[after] = state
                following.append(after)
                saved = places.get(after, 0) - at - depth
                if saved > 0 and (best is None or saved > best[0]):
                    best = saved, after, places[after]
        level = following
    if best is None:
        return [], at
    _, state, joins = best
    way = [state]
    while (parent := parents[way[0]]) is not None:
        way.insert(0, parent)
    return way, joins


def _rebuilt(
    judge: _ViolationMatch, trace: tuple[TraceState, ...], at: int, way: Sequence[State], joins: int
) -> tuple[TraceState, ...] | None:
    """The trace with a part of it replaced by a shorter way, whose steps CPython finds."""
    steps = [it.step for it in trace[1 : at + 1]]
    for before, after in itertools.pairwise(way):
        step = next((step for step, state in completed_steps(judge.model, before) if state == after), None)
        if step is None:
            raise RuntimeError(f"compiled code took a step that CPython does not take, to {after}")
        steps.append(step)
    return judge.replayed(trace[0], [*steps, *(it.step for it in trace[joins + 1 :])])


def completed_steps(model: Model, state: State) -> list[tuple[Step, State]]:
    """The steps from a state before the first that fails."""
    found = []
    try:
        for step, after in successors(model, state):
            found.append((step, after))
    except SourceError:
        pass
    return found
