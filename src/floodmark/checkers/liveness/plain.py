"""The graph and its components in plain Python, for the liveness check of the reference engine.

The graph comes from CPython's steps alone, the components from networkx, one after the other. This module shares only
the meaning with the compiled loops.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from floodmark.checkers.liveness.assumptions import Assumptions
from floodmark.checkers.liveness.components import FairnessLabels, Region
from floodmark.checkers.liveness.graph import Flags, Graph, Numbers
from floodmark.checkers.liveness.loops import BARRED, LABEL_MASK, LABEL_SHIFT, NOWHERE, STEERED
from floodmark.compiler.layout import Layout
from floodmark.language.bounding import UnboundedAction
from floodmark.language.conditions import Condition
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import choices, fire, successors


def plain_graph(
    model: Model,
    states: Sequence[State],
    initial: Iterable[State],
    conditions: Sequence[Condition],
    assumptions: Assumptions,
    beyond: dict[str, UnboundedAction],
    layout: Layout,
) -> Graph:
    """The graph of all reachable states. Raises SourceError if a condition fails."""
    number = {state: place for place, state in enumerate(states)}
    first, edges, truth = [0], [], []
    for state in states:
        for step, after in successors(model, state):
            if after != state:
                label = assumptions.label(model, state, step) << LABEL_SHIFT
                steered = STEERED if step.action in beyond and beyond[step.action].steered_by else 0
                edges.append(number.get(after, NOWHERE) | label | steered)
        for name, action in beyond.items():
            edges += [label << LABEL_SHIFT | NOWHERE for label in _beyond(model, state, name, action, assumptions)]
        first.append(len(edges))
        held = [condition.holds(model, state) for condition in conditions]
        truth.append(sum(1 << place for place, true in enumerate(held) if true))
    return Graph(
        np.array(first, dtype=np.uint64),
        np.array(edges, dtype=np.uint64),
        np.array(truth, dtype=np.uint64),
        np.array(sorted(number[state] for state in set(initial)), dtype=np.int64),
        lambda place: layout.pack(states[place]),
        lambda place: states[place],
    )


def _beyond(model: Model, state: State, name: str, action: UnboundedAction, assumptions: Assumptions) -> list[int]:
    """The labels with which an action may be enabled beyond the bounds."""
    if not action.ruled_out_by:
        return []
    with action.forgotten():
        try:
            enabled = [step for step in choices(model, state, name) if fire(model, state, step) is not None]
        except SourceError:
            return list(range(assumptions.labels))
    return [assumptions.label(model, state, step) for step in enabled]


@dataclass(frozen=True)
class _Edge:
    target: int
    label: int
    steered: bool
    barred: bool


class PlainSolver:
    """Components by networkx, one after the other."""

    def fair_components(self, graph: Graph, region: Region, demands: FairnessLabels, labels: int) -> Numbers:
        search = _PlainComponents(_edges(graph), region, demands)
        starts = set(np.flatnonzero(region.roots & region.inside).tolist())
        fair = np.zeros(graph.states, dtype=np.int64)
        for count, component in enumerate(search.fair(search.reached(starts)), 1):
            fair[sorted(component)] = count
        return fair

    def unrecoverable(self, graph: Graph, goal: Flags, definite: bool) -> Flags:
        edges = _edges(graph)
        backwards: dict[int, list[int]] = {}
        waiting = set(np.flatnonzero(goal).tolist())
        for state, own in enumerate(edges):
            for edge in own:
                if edge.target != NOWHERE:
                    backwards.setdefault(edge.target, []).append(state)
                if definite and (edge.target == NOWHERE or edge.steered):
                    waiting.add(state)
        lost = np.ones(graph.states, dtype=np.bool_)
        while waiting:
            state = waiting.pop()
            if lost[state]:
                lost[state] = False
                waiting.update(backwards.get(state, ()))
        return lost


def _edges(graph: Graph) -> list[list[_Edge]]:
    found = []
    for state in range(graph.states):
        words = graph.edges[int(graph.first[state]) : int(graph.first[state + 1])].tolist()
        found.append([
            _Edge(it & NOWHERE, it >> LABEL_SHIFT & LABEL_MASK, bool(it & STEERED), bool(it & BARRED)) for it in words
        ])
    return found


@dataclass(frozen=True)
class _PlainComponents:
    edges: list[list[_Edge]]
    region: Region
    demands: FairnessLabels

    def steps(self, state: int) -> list[_Edge]:
        """The steps of a state that a run in the region may take."""
        return [
            edge
            for edge in self.edges[state]
            if edge.target != NOWHERE
            and not edge.barred
            and self.region.inside[edge.target]
            and (self.region.steered or not edge.steered)
        ]

    def enabled(self, state: int) -> set[int]:
        return {
            edge.label for edge in self.edges[state] if self.region.beyond or edge.target != NOWHERE
        } - {0}

    def reached(self, starts: set[int]) -> set[int]:
        waiting, seen = list(starts), set(starts)
        while waiting:
            for edge in self.steps(waiting.pop()):
                if edge.target not in seen:
                    seen.add(edge.target)
                    waiting.append(edge.target)
        return seen

    def fair(self, states: set[int]) -> list[set[int]]:
        """The fair components among some states."""
        import networkx as nx  # here, as every run of a check imports this file

        graph = nx.DiGraph()
        graph.add_nodes_from(states)
        graph.add_edges_from(
            (state, edge.target) for state in states for edge in self.steps(state) if edge.target in states
        )
        found: list[set[int]] = []
        for component in nx.strongly_connected_components(graph):
            if not any(self.region.recurring[state] for state in component):
                continue
            taken = {
                edge.label for state in component for edge in self.steps(state) if edge.target in component
            }
            missed = [self.enabled(state) - taken for state in component]
            if set.intersection(*missed) & self.demands.weak:
                continue
            bad = set.union(*missed) & self.demands.strong
            if not bad:
                found.append(set(component))
            else:
                found += self.fair({state for state in component if not self.enabled(state) & bad})
        return found
