"""State graphs: nodes are states, edges are actions; the whole graph if it is small, else the part near a trace."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import networkx

from floodmark.checkers.explanation.trace import change_lines
from floodmark.checkers.value_text import show, show_step
from floodmark.checkers.verdict.result import CheckResult
from floodmark.language import reference
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import Step

WHOLE = 500
"""The maximum number of states of a whole graph; a larger one is cut to this many states, the nearest to the trace."""


def check_to_draw(results: Sequence[CheckResult]) -> CheckResult | None:
    """The check to draw: that of the first unexpected counterexample, else of the first counterexample, else the
    first."""
    known = [result for result in results if result.subject is not None]
    wrong = [result for result in known if result.violation is not None and not result.expected]
    return next(iter([*wrong, *(result for result in known if result.violation is not None), *known]), None)


def state_graph(result: CheckResult) -> networkx.MultiDiGraph[int]:
    """The graph of a check, made by CPython from the model.

    Each node has its variables as text; its ``level`` (0 for initial states) if the graph is whole; and ``trace``, the
    step of the counterexample that leads to it. Each edge has ``action``, ``label`` and ``trace``. The graph's
    attribute ``whole`` is whether no state is missing.
    """
    model = result.subject
    assert model is not None
    found = _Graph(model, result)
    found.explore()
    return found.graph


class _Graph:
    def __init__(self, model: Model, result: CheckResult) -> None:
        self.model = model
        self.trace = () if result.violation is None else result.violation.trace
        self.numbers: dict[State, int] = {}
        self.steps: dict[State, list[tuple[Step, State]]] = {}
        title = f"{result.name} {result.design()}"
        self.graph: networkx.MultiDiGraph[int] = networkx.MultiDiGraph(title=title, whole=True)

    def explore(self) -> None:
        """All states by levels; if there are too many, the states of the trace and their surroundings."""
        if not self._by_levels([state for _, state in reference.initial_states(self.model)]):
            self.graph.graph["whole"] = False
            self._around()
        for state, number in list(self.numbers.items()):
            self._edges(state, number)
        self._mark()

    def _by_levels(self, frontier: list[State]) -> bool:
        found = dict.fromkeys(frontier, 0)
        waiting = list(found)
        for state in waiting:
            for _, after in self._successors(state):
                if after not in found:
                    found[after] = found[state] + 1
                    waiting.append(after)
            if len(found) > WHOLE:
                return False
        for state, level in found.items():
            self._node(state, level=level)
        return True

    def _around(self) -> None:
        """Breadth first from the trace, or without one from the initial states, until there are enough states."""
        start = [entry.state for entry in self.trace] or [state for _, state in reference.initial_states(self.model)]
        waiting = list(dict.fromkeys(start))
        for state in waiting:
            self._node(state)
        for state in waiting:
            for _, after in self._successors(state):
                if len(self.numbers) >= WHOLE:
                    return
                if after not in self.numbers:
                    self._node(after)
                    if not self.trace:
                        waiting.append(after)

    def _successors(self, state: State) -> list[tuple[Step, State]]:
        """The steps that do not fail; a state outside the boundary has none."""
        if state not in self.steps:
            inside = reference.within_boundary(self.model, state)
            self.steps[state] = list(self._steps_from(state)) if inside else []
        return self.steps[state]

    def _steps_from(self, state: State) -> Iterator[tuple[Step, State]]:
        for name in type(self.model).methods("action"):
            for step in reference.choices(self.model, state, name):
                with suppress(SourceError):
                    after = reference.fire(self.model, state, step)
                    if after is not None:
                        yield step, after

    def _node(self, state: State, **facts: int) -> None:
        values = {name: show(value) for name, value in zip(self.model.variable_types, state, strict=True)}
        number = self.numbers[state] = len(self.numbers)
        self.graph.add_node(number, **facts, **{f"state.{name}": value for name, value in values.items()})

    def _edges(self, state: State, number: int) -> None:
        for step, after in self._successors(state):
            if after in self.numbers:
                self.graph.add_edge(number, self.numbers[after], action=step.action, label=show_step(step))

    def _mark(self) -> None:
        names = list(self.model.variable_types)
        before: State | None = None
        for number, entry in enumerate(self.trace, 1):
            node = self.numbers.get(entry.state)
            if node is None:
                continue
            self.graph.nodes[node]["trace"] = number
            if before is not None and before in self.numbers:
                self.graph.nodes[node]["changes"] = "\n".join(change_lines(names, before, entry.state))
                edges = self.graph.get_edge_data(self.numbers[before], node, default={})
                for edge in edges.values():
                    if edge["label"] == show_step(entry.step):
                        edge["trace"] = number
            before = entry.state


def graphml(graph: networkx.MultiDiGraph[int]) -> str:
    content = io.BytesIO()
    networkx.write_graphml(graph, content, encoding="utf-8")
    return content.getvalue().decode("utf-8") + "\n"


def dot(graph: networkx.MultiDiGraph[int]) -> str:
    """The graph in the DOT language of Graphviz; the counterexample is drawn bold."""
    title = graph.graph["title"] + ("" if graph.graph["whole"] else ", not all of its states")
    lines = ["digraph states {", f"  label={_quoted(title)};", "  node [shape=box, fontname=monospace];"]
    for node, facts in graph.nodes(data=True):
        label = "\n".join(f"{name.removeprefix('state.')}: {value}" for name, value in _variables(facts))
        bold = ", penwidth=3, color=firebrick" if "trace" in facts else ""
        lines.append(f"  {node} [label={_quoted(label)}{bold}];")
    for start, end, facts in graph.edges(data=True):
        bold = ", penwidth=3, color=firebrick" if "trace" in facts else ""
        lines.append(f"  {start} -> {end} [label={_quoted(facts['label'])}{bold}];")
    return "\n".join([*lines, "}"]) + "\n"


def _variables(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    return ((name, value) for name, value in facts.items() if name.startswith("state."))


def _quoted(text: str) -> str:
    """A DOT string whose lines are aligned to the left."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\l") + ("\\l" if "\n" in text else "") + '"'
