"""Decides whether a recorded run is a behaviour of a model, by searching the sets of states that it may be in.

After each line of a trace there is a set of states that the model may be in, given everything seen so far. A trace is
accepted when the set after its last line is not empty. CPython runs the model, so acceptance follows the meaning of the
class.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal

from floodmark.checkers.conformance.trace_file import Line, Trace
from floodmark.checkers.search_result import LimitReached, Limits, Stop, TraceState
from floodmark.language import reference
from floodmark.language.model import Model, State
from floodmark.language.reference import Step, parameter_types

TraceVerdict = Literal["accepted", "rejected", "undetermined"]

DEFAULT_STATES = 100_000
"""The most states that are expanded besides one for each line, unless a limit says otherwise."""


@dataclass(frozen=True)
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
        """Counts an expanded state, which a limit may forbid."""
        self.expanded += 1
        stop = self.limits.reached(self.expanded, seconds=time.perf_counter() - self.started)
        if stop is not None:
            raise LimitReached(stop)

    def successors(self, node: _Node, line: int | None) -> Iterator[_Node]:
        """Every step from a node. Boundaries are ignored: they limit searches, not behaviours."""
        self.expand()
        for step, after in reference.successors(self.model, node.state):
            yield _Node(after, step, line, node)

    def fitting(self, node: _Node, line: Line, number: int) -> Iterator[_Node]:
        """Every step from a node that a line describes. A known action is the only one tried, and with known arguments
        it is taken directly."""
        if line.action not in self.actions:
            yield from (after for after in self.successors(node, number) if line.fits(after.step))
            return
        self.expand()
        assert line.action is not None
        if len(line.exact) == len(self.kinds(line.action)):
            steps = [Step(line.action, dict(line.exact))]
        else:
            steps = reference.choices(self.model, node.state, line.action, line.exact, line.arguments)
        for step in steps:
            if line.fits(step):
                state = reference.fire(self.model, node.state, step)
                if state is not None:
                    yield _Node(state, step, number, node)

    def unseen(self, nodes: Sequence[_Node], skip: int) -> list[_Node]:
        """The nodes, and all nodes that are reachable from them by up to ``skip`` steps."""
        if skip == 0:
            return list(nodes)
        found = {node.state: node for node in nodes}
        frontier = list(nodes)
        for _ in range(skip):
            reached = []
            for node in frontier:
                for after in self.successors(node, None):
                    if after.state not in found:
                        found[after.state] = after
                        reached.append(after)
            frontier = reached
        return list(found.values())

    def skip(self, line: Line) -> int:
        return self.hidden if line.skip is None else line.skip

    def begin(self, line: Line, number: int) -> tuple[list[_Node], list[_Node]]:
        """The states before and after the first line, which describes the initial state unless it names an action."""
        starts = [_Node(state, step, None, None) for step, state in reference.initial_states(self.model)]
        looks = not line.steps or (line.action is None and self.skip(line) == 0)
        if not looks and (line.action is None or line.action in self.actions):
            return self.advance(_distinct(starts), line, number)
        fitting = [node for node in starts if line.fits(node.step) and line.sees(node.state)]
        return _distinct(starts), _distinct([_Node(node.state, node.step, number, None) for node in fitting])

    def advance(self, nodes: Sequence[_Node], line: Line, number: int) -> tuple[list[_Node], list[_Node]]:
        """The states that the model may be in before the step of a line, and after it, each once.

        A line without an action shows a state: after one step of any kind or, where steps may be unseen, after any
        number of steps up to the limit, including none.
        """
        if not line.steps:
            return list(nodes), [node for node in nodes if line.sees(node.state)]
        skip = self.skip(line)
        before = self.unseen(nodes, skip)
        if line.action is None and skip > 0:
            seen = [node for node in before if line.sees(node.state)]
            return before, [_Node(node.state, node.step, number, node.before) for node in seen]
        after = [
            reached
            for node in before
            if line.begins(node.state)
            for reached in self.fitting(node, line, number)
            if line.sees(reached.state)
        ]
        return before, _distinct(after)


def _distinct(nodes: list[_Node]) -> list[_Node]:
    """The first node of each state. Hashing a state takes time proportional to its size."""
    return nodes if len(nodes) <= 1 else list({node.state: node for node in reversed(nodes)}.values())[::-1]


def judge(model: Model, trace: Trace, hidden: int = 0, limits: Limits = Limits()) -> TraceResult:
    """Whether ``trace`` is a behaviour of ``model``, with up to ``hidden`` unseen steps between two of its lines.

    The verdict is "undetermined" when a limit ends the search. Raises SourceError when the model leaves its types.
    """
    if limits.states is None:
        limits = replace(limits, states=DEFAULT_STATES + len(trace.lines))
    search = _TraceSearch(model, limits, hidden)
    nodes: list[_Node] = []
    result = TraceResult(trace, "accepted", 0)
    try:
        for index, line in enumerate(trace.lines):
            before, after = search.advance(nodes, line, index) if index else search.begin(line, index)
            if not after:
                result = replace(result, verdict="rejected", candidates=tuple(node.state for node in before))
                break
            nodes = after
            result = replace(result, matched=index + 1)
    except LimitReached as reached:
        result = replace(result, verdict="undetermined", stopped=reached.stop)
    run, seen = _way(nodes[0]) if nodes else ((), ())
    seconds = time.perf_counter() - search.started
    return replace(result, run=run, seen=seen, expanded=search.expanded, seconds=seconds)


def _way(node: _Node) -> tuple[tuple[TraceState, ...], tuple[int | None, ...]]:
    way = []
    back: _Node | None = node
    while back is not None:
        way.append(back)
        back = back.before
    way.reverse()
    return tuple(TraceState(at.step, at.state) for at in way), tuple(at.line for at in way)
