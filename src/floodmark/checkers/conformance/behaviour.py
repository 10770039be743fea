"""Decides whether a recorded run is a behaviour of a model, by searching the sets of states that it may be in.

After each line of a trace there is a set of states that the model may be in, given everything seen so far. A trace is
accepted when the set after its last line is not empty. CPython runs the model, so acceptance follows the meaning of the
class.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal

from floodmark.checkers.conformance.trace_file import Line, Trace
from floodmark.checkers.search_result import Limits, Stop, Stopped, TraceState
from floodmark.language import reference
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, parameter_types

TraceVerdict = Literal["accepted", "rejected", "undetermined"]

DEFAULT_STATES = 100_000
"""The most states that are expanded besides one for each line, unless a limit says otherwise."""


@dataclass
class TraceResult:
    """The result for a trace.

    ``matched`` is the number of lines, from the first on, that some run of the model fits; ``run`` is one such run,
    including steps that the trace does not show, and ``seen`` has for each of its entries the index of the line that it
    belongs to, or None for an unseen step. ``candidates`` are the states that the model may be in before the line that
    no run fits, after any unseen steps.
    """

    trace: Trace
    verdict: TraceVerdict
    matched: int
    run: tuple[TraceState, ...] = ()
    seen: tuple[int | None, ...] = ()
    candidates: tuple[State, ...] = ()
    expanded: int = 0
    stopped: Stop | None = None
    seconds: float = 0.0

    @property
    def failed_line(self) -> Line | None:
        """The first line that no run of the model fits."""
        return self.trace.lines[self.matched] if self.verdict == "rejected" else None


@dataclass(frozen=True)
class _Node:
    """A state and a way to it; ``line`` is None for a step that belongs to no line."""

    state: State
    step: Step
    line: int | None
    before: _Node | None


@dataclass
class _TraceSearch:
    model: Model
    limits: Limits
    hidden: int
    expanded: int = 0
    started: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        self.actions = type(self.model).methods("action")
        self.kinds = cache(lambda name: parameter_types(self.model, self.actions[name]))

    def expand(self) -> None:
        """Counts a state that is left, which a limit may forbid."""
        self.expanded += 1
        stop = self.limits.reached(self.expanded, seconds=time.perf_counter() - self.started)
        if stop is not None:
            raise Stopped(stop)

    def successors(self, node: _Node, line: int | None) -> Iterator[_Node]:
        """Every step from a node. Boundaries are ignored: they limit searches, not behaviours."""
        self.expand()
        for step, after in reference.successors(self.model, node.state):
            yield _Node(after, step, line, node)

    def fitting(self, node: _Node, line: Line, number: int) -> Iterator[_Node]:
        """Every step from a node that a line describes. One whose action is known is not looked for among others, and
        one whose arguments are known is taken as it is."""
        if line.action not in self.actions:
            yield from (after for after in self.successors(node, number) if line.fits(after.step))
            return
        self.expand()
        assert line.action is not None
        if len(line.exact) == len(self.kinds(line.action)):
            steps = [Step(line.action, dict(line.exact))]
        else:
            steps = reference.choices(self.model, node.state, line.action, line.exact)
        for step in steps:
            if line.fits(step):
                state = reference.fire(self.model, node.state, step)
                if state is not None:
                    yield _Node(state, step, number, node)

    def unseen(self, nodes: Mapping[State, _Node], skip: int) -> dict[State, _Node]:
        """The nodes, and everything that up to ``skip`` steps from them lead to."""
        found = dict(nodes)
        frontier = list(nodes.values())
        for _ in range(skip):
            reached = []
            for node in frontier:
                for after in self.successors(node, None):
                    if after.state not in found:
                        found[after.state] = after
                        reached.append(after)
            frontier = reached
        return found

    def skip(self, line: Line) -> int:
        return self.hidden if line.skip is None else line.skip

    def begin(self, line: Line, number: int) -> tuple[dict[State, _Node], dict[State, _Node]]:
        """The states before and after the first line, which describes the initial state unless it names an action."""
        starts = [_Node(state, step, None, None) for step, state in reference.initial_states(self.model)]
        before = {node.state: node for node in starts}
        looks = not line.steps or (line.action is None and self.skip(line) == 0)
        if not looks and (line.action is None or line.action in type(self.model).methods("action")):
            return self.advance(before, line, number)
        fitting = [node for node in starts if line.fits(node.step) and line.sees(node.state)]
        return before, {node.state: _Node(node.state, node.step, number, None) for node in fitting}

    def advance(
        self, nodes: Mapping[State, _Node], line: Line, number: int
    ) -> tuple[dict[State, _Node], dict[State, _Node]]:
        """The states that the model may be in before the step of a line, and after it.

        A line without an action shows a state: after one step of any kind or, where steps may be unseen, after any
        number of steps up to the limit, including none.
        """
        if not line.steps:
            return dict(nodes), {state: node for state, node in nodes.items() if line.sees(state)}
        skip = self.skip(line)
        before = self.unseen(nodes, skip)
        after: dict[State, _Node] = {}
        if line.action is None and skip > 0:
            for node in before.values():
                if line.sees(node.state):
                    after[node.state] = _Node(node.state, node.step, number, node.before)
            return before, after
        for node in before.values():
            if line.begins(node.state):
                for reached in self.fitting(node, line, number):
                    if reached.state not in after and line.sees(reached.state):
                        after[reached.state] = reached
        return before, after


def judge(model: Model, trace: Trace, hidden: int = 0, limits: Limits = Limits()) -> TraceResult:
    """Whether ``trace`` is a behaviour of ``model``, with up to ``hidden`` unseen steps between two of its lines.

    The verdict is "undetermined" when a limit ends the search. Raises SourceError when the model leaves its types.
    """
    if limits.states is None:
        limits = replace(limits, states=DEFAULT_STATES + len(trace.lines))
    search = _TraceSearch(model, limits, hidden)
    nodes: dict[State, _Node] = {}
    result = TraceResult(trace, "accepted", 0)
    try:
        for index, line in enumerate(trace.lines):
            before, after = search.advance(nodes, line, index) if index else search.begin(line, index)
            if not after:
                result.verdict = "rejected"
                result.candidates = tuple(before)
                break
            nodes = after
            result.matched = index + 1
    except Stopped as reached:
        result.verdict, result.stopped = "undetermined", reached.stop
    if nodes:
        result.run, result.seen = _way(next(iter(nodes.values())))
    result.expanded = search.expanded
    result.seconds = time.perf_counter() - search.started
    return result


def _way(node: _Node) -> tuple[tuple[TraceState, ...], tuple[int | None, ...]]:
    way = []
    back: _Node | None = node
    while back is not None:
        way.append(back)
        back = back.before
    way.reverse()
    return tuple(TraceState(at.step, at.state) for at in way), tuple(at.line for at in way)
