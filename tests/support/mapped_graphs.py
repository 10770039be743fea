"""Small graphs of which one is mapped to another, as models and as data, with an oracle for the runs that are mapped.

The oracle enumerates the sets of states that a run may visit infinitely often, with all steps between them that it may
take. It knows no components, no labels, and of the mapping only which state belongs to which.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import networkx as nx

from tests.support.fair_graphs import FairGraph, random_graph

KINDS = ("eventually", "always_eventually", "eventually_always", "leads_to")
Pair = tuple[int, int]


@dataclass(frozen=True)
class MappedGraph:
    """``own`` states are mapped to ``other`` ones by their place in ``image``. A step may be up
    to ``at_once`` steps of the other graph.
    """

    own: FairGraph
    other: FairGraph
    image: tuple[int, ...]
    at_once: int = 1

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of properties of runs."""
        return KINDS if self.at_once == 1 else ("always_eventually",)

    def source(self) -> str:
        """Both as models, ``Walk`` and ``Other``."""
        most = max(self.own.states, self.other.states)
        lines = [
            "from typing import Annotated",
            "from floodmark import *",
            f"Place = Annotated[int, Between(0, {most})]",
            f"IMAGE = Seq({list(self.image)})",
            f"PREMISE = Set({set(self.other.premise) or ''})",
            f"GOAL = Set({set(self.other.goal) or ''})",
            *_model("Other", self.other),
        ]
        for kind in (it for it in self.kinds if it != "leads_to"):
            lines += ["", f"    @{kind}", f"    def {kind}_goal(self) -> bool:", "        return self.here in GOAL"]
        if "leads_to" in self.kinds:
            lines += ["", "    @leads_to", "    def leads_to_goal(self) -> tuple[bool, bool]:"]
            lines += ["        return self.here in PREMISE, self.here in GOAL"]
        lines += [*_model("Walk", self.own), ""]
        lines += [f"    @refines(steps={self.at_once})", "    def as_other(self) -> Other:"]
        lines += ["        return Other(here=IMAGE[self.here])"]
        return "\n".join(lines) + "\n"

    def verdicts(self) -> dict[str, set[str]]:
        """The verdicts on each property, for the choices of its parameters: whether some fair run breaks it."""
        found: dict[str, set[str]] = {}
        for kind in self.kinds:
            found[f"as_other.{kind}_goal"] = {_said(self._is_broken(kind))}
        for number in self.other.fair:
            groups = [it for it in _constraints(self.other) if it[0] == number]
            found[f"as_other.act_{number}"] = {_said(self._is_unfair(strong, steps)) for _, strong, steps in groups}
        return found

    def _is_broken(self, kind: str) -> bool:
        missed = {state for state in self._reached() if self.image[state] not in self.other.goal}
        begun = {state for state in self._reached() if self.image[state] in self.other.premise}
        roots = {"eventually": set(self.own.initial), "leads_to": begun}.get(kind, self._reached())
        for states, _ in self._endings(self._passing(self.other.goal, frozenset())):
            if kind == "eventually_always":
                if states & missed:
                    return True
            elif states <= missed and self._leads(roots & missed, states, missed):
                return True
        return False

    def _is_unfair(self, strong: bool, steps: frozenset[Pair]) -> bool:
        idle = frozenset(range(self.other.states)) - {old for old, _ in steps}
        barred = self._passing(idle, steps)
        enabled = {state for state in self._reached() if any(self.image[state] == old for old, _ in steps)}
        return any(
            bool(states & enabled) if strong else states <= enabled for states, _ in self._endings(barred)
        )

    def _passing(self, places: frozenset[int], steps: frozenset[Pair]) -> set[Pair]:
        """The steps that may be some of the other graph which pass one of these places, or of which one is a step of
        ``steps``."""
        every = {(old, new) for old, _, new in self.other.steps if old != new}
        paths = [[pair] for pair in every]
        longer = paths
        for _ in range(self.at_once - 1):
            longer = [[*path, pair] for path in longer for pair in every if path[-1][1] == pair[0]]
            paths = paths + longer
        found = {
            (path[0][0], path[-1][1])
            for path in paths
            if steps.intersection(path) or places & {new for _, new in path[:-1]}
        }
        images = {(s, t): (self.image[s], self.image[t]) for s, t in self._steps()}
        return {step for step, (old, new) in images.items() if old != new and (old, new) in found}

    # What a run may do infinitely often.

    def _steps(self) -> set[Pair]:
        return {(old, new) for old, _, new in self.own.steps if old != new}

    def _reached(self) -> set[int]:
        graph = nx.DiGraph(list(self._steps()))
        graph.add_nodes_from(range(self.own.states))
        return {state for first in self.own.initial for state in nx.descendants(graph, first) | {first}}

    def _endings(self, barred: set[Pair]) -> Iterator[tuple[set[int], set[Pair]]]:
        """The states that a fair run visits infinitely often, with the steps that it takes infinitely often."""
        reached = sorted(self._reached())
        for size in range(1, len(reached) + 1):
            for chosen in combinations(reached, size):
                states = set(chosen)
                taken = {(s, t) for s, t in self._steps() - barred if s in states and t in states}
                graph = nx.DiGraph(list(taken))
                graph.add_nodes_from(states)
                if nx.is_strongly_connected(graph) and self._is_fair(states, taken):
                    yield states, taken

    def _is_fair(self, states: set[int], taken: set[Pair]) -> bool:
        for _, strong, steps in _constraints(self.own):
            enabled = {old for old, _ in steps} & states
            if not steps & taken and (enabled if strong else enabled == states):
                return False
        return True

    def _leads(self, roots: set[int], states: set[int], inside: set[int]) -> bool:
        graph = nx.DiGraph([(s, t) for s, t in self._steps() if s in inside and t in inside])
        graph.add_nodes_from(inside)
        return any((nx.descendants(graph, root) | {root}) & states for root in roots)


def _said(broken: bool) -> str:
    return "violated" if broken else "holds"


def _constraints(graph: FairGraph) -> list[tuple[int, bool, frozenset[Pair]]]:
    """The action, whether it is strongly fair, and its steps; for an action with a parameter each choice by itself."""
    found = []
    for number, strong in graph.fair.items():
        own = [(old, new) for old, by, new in graph.steps if by == number and old != new]
        groups = [[it for it in own if it[1] % 2 == odd] for odd in range(2)] if number in graph.each else [own]
        found += [(number, strong, frozenset(group)) for group in groups]
    return found


def _model(name: str, graph: FairGraph) -> list[str]:
    lines = ["", "", f"class {name}(Model):", f"    limit = Constant({graph.states})", "    here: Place", ""]
    lines += ["    @initial", "    def start(self, first: Place) -> None:"]
    lines += [f"        require({' or '.join(f'first == {it}' for it in graph.initial)})", "        self.here = first"]
    for number in range(graph.actions):
        lines += ["", *graph._action(number)]
    return lines


def drawn_mapping(chance: random.Random, at_once: int = 1) -> MappedGraph:
    """A graph, and one that it may be a refinement of: often its quotient, with some steps more or fewer. Where a step
    may be several, nothing of that one is strongly fair.
    """
    own = replace(random_graph(chance, by_field=False), bound=None)
    count = chance.randint(1, own.states)
    image = tuple(chance.randrange(count) for _ in range(own.states))
    other = replace(random_graph(chance, by_field=False), bound=None, states=count)
    if chance.random() < 0.6:
        steps = {(image[old], by, image[new]) for old, by, new in own.steps if chance.random() < 0.8}
        other = replace(other, actions=own.actions, steps=tuple(sorted(steps)))
    else:
        other = replace(other, steps=tuple(it for it in other.steps if max(it[0], it[2]) < count))
    fair = {number: strong and at_once == 1 for number, strong in other.fair.items() if number < other.actions}
    places = frozenset(range(count))
    return MappedGraph(own, replace(
        other, fair=fair, each=frozenset(it for it in other.each if it < other.actions),
        initial=tuple({image[it] for it in own.initial}), premise=other.premise & places, goal=other.goal & places,
    ), image, at_once)  # fmt: skip
