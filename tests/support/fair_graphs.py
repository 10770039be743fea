"""Small graphs with fairness, as models and as data, and two oracles that say whether a fair run breaks a property.

A graph is drawn or written down: states, steps with the action that takes them, what is true where, what is fair. It is
checked as a model, a table in CPython's and the compilers' eyes alike. The oracles know nothing of the checkers:
``by_lassos`` enumerates every loop as the set of its steps, ``by_streett`` takes networkx's components.
"""

from __future__ import annotations

import contextlib
import itertools
import linecache
import random
import sys
import types
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace

import networkx as nx

from floodmark.language.model import Model

Step = tuple[int, int, int]
"""A step as (source, action, target)."""


@dataclass(frozen=True)
class FairGraph:
    """States are 0 to ``states - 1``, actions 0 to ``actions - 1``.

    ``fair`` says of an action whether it is strongly fair; ``each`` actions have a parameter, the lowest bit of the
    state that they lead to, and are fair for each value of it; with ``by_field`` every other one has it as a field of
    a record. ``turning`` actions are fair for each value of a method, which says whether a step leads from an even
    state to an odd one or the reverse. States from ``bound`` on are beyond a bound: with ``guarded`` a guard that
    mentions the bound keeps steps from them, without it a boundary does.
    """

    states: int
    actions: int
    steps: tuple[Step, ...]
    initial: tuple[int, ...]
    premise: frozenset[int]
    goal: frozenset[int]
    fair: dict[int, bool] = field(default_factory=dict)
    each: frozenset[int] = frozenset()
    bound: int | None = None
    guarded: bool = False
    by_field: bool = False
    turning: frozenset[int] = frozenset()

    def __hash__(self) -> int:
        return hash((self.states, self.steps, self.initial))

    def source(self) -> str:
        """The graph as a model."""
        lines = [
            "from typing import Annotated",
            "from floodmark import (Between, Constant, Model, Record, Set, action, always_eventually, boundary,",
            "    eventually, eventually_always, fair, initial, leads_to, recoverable, require)",
            f"Place = Annotated[int, Between(0, {self.states})]",
            "class Way(Record):",
            "    aside: bool",
            "    odd: bool",
            f"PREMISE = Set({set(self.premise) or ''})",
            f"GOAL = Set({set(self.goal) or ''})",
            "",
            "",
            "class Walk(Model):",
            f"    limit = Constant({self.bound or self.states}, bound={self.bound is not None and self.guarded})",
            "    here: Place",
            "",
            "    @initial",
            "    def start(self, first: Place) -> None:",
            f"        require({' or '.join(f'first == {it}' for it in self.initial)})",
            "        self.here = first",
        ]
        if self.bound is not None and not self.guarded:
            lines += ["", "    @boundary", "    def near(self) -> bool:", "        return self.here < self.limit"]
        for number in range(self.actions):
            lines += ["", *self._action(number)]
        lines += ["", "    def turns(self, to: Place) -> bool:", "        return (self.here + to) % 2 == 1"]
        for kind in ("eventually", "always_eventually", "eventually_always", "recoverable"):
            lines += ["", f"    @{kind}", f"    def {kind}_goal(self) -> bool:", "        return self.here in GOAL"]
        lines += [
            "",
            "    @leads_to",
            "    def premise_leads_to_goal(self) -> tuple[bool, bool]:",
            "        return self.here in PREMISE, self.here in GOAL",
        ]
        return "\n".join(lines) + "\n"

    def _action(self, number: int) -> list[str]:
        own = [(old, new) for old, by, new in self.steps if by == number]
        lines = []
        if number in self.fair:
            strong, each = self.fair[number], number in self.each
            names = ['"turns"'] if number in self.turning else []
            names += ['"way.odd"' if self._has_field(number) else '"odd"'] if each else []
            named = [f"each=({', '.join(names)},)"] if names else []
            given = ", ".join([*(["strong=True"] if strong else []), *named])
            lines.append(f"    @fair({given})" if given else "    @fair")
        odd = "" if number not in self.each else ", way: Way" if self._has_field(number) else ", odd: bool"
        lines += ["    @action", f"    def act_{number}(self, to: Place{odd}) -> None:"]
        choices = " or ".join(f"(self.here == {old} and to == {new})" for old, new in own) or "False"
        lines.append(f"        require({choices})")
        if number in self.each:
            lines.append(f"        require({'way.odd' if self._has_field(number) else 'odd'} == (to % 2 == 1))")
        if self.bound is not None and self.guarded:
            lines.append("        require(to < self.limit)")
        return [*lines, "        self.here = to"]

    def _has_field(self, number: int) -> bool:
        return self.by_field and number % 2 == 1

    def constraints(self) -> list[tuple[bool, frozenset[tuple[int, int]]]]:
        """The fairness constraints: strong or not, and the steps that count, which all change the state."""
        found = []
        for number, strong in self.fair.items():
            own = [(old, new) for old, by, new in self.steps if by == number and old != new]
            groups = [own]
            if number in self.each:
                groups = [[it for it in own if it[1] % 2 == odd] for odd in range(2)]
            if number in self.turning:
                groups = [[it for it in group if sum(it) % 2 == odd] for group in groups for odd in range(2)]
            found += [(strong, frozenset(group)) for group in groups]
        return found


def random_graph(chance: random.Random, by_field: bool = True) -> FairGraph:
    """A graph of a few states; without ``by_field`` it is fair for each value of parameters alone."""
    states = chance.randint(1, 6)
    actions = chance.randint(1, 3)
    density = chance.choice([0.15, 0.3, 0.5])
    steps = tuple(
        (old, by, new)
        for old in range(states)
        for by in range(actions)
        for new in range(states)
        if chance.random() < density
    )
    places = range(states)
    fair = {number: chance.random() < 0.4 for number in range(actions) if chance.random() < 0.75}
    bound = chance.randint(1, states) if chance.random() < 0.4 else None
    initial = tuple(it for it in places if chance.random() < 0.3 and (bound is None or it < bound)) or (0,)
    graph = FairGraph(
        states,
        actions,
        steps,
        initial,
        frozenset(it for it in places if chance.random() < 0.4),
        frozenset(it for it in places if chance.random() < 0.3),
        fair,
        frozenset(number for number in fair if chance.random() < 0.3),
        bound,
        chance.random() < 0.5,
        by_field,
    )
    has_bounds = bound is not None and graph.guarded
    turning = frozenset(number for number in fair if by_field and not has_bounds and chance.random() < 0.4)
    return replace(graph, turning=turning)


_COUNT = itertools.count()


@contextlib.contextmanager
def as_model(graph: FairGraph) -> Iterator[type[Model]]:
    """The class of a graph, as of a file."""
    with loaded(graph.source()) as cls:
        yield cls


@contextlib.contextmanager
def loaded(text: str) -> Iterator[type[Model]]:
    """The class ``Walk`` of a text, as of a file."""
    name = f"fair_graph_{next(_COUNT)}"
    file = f"/nowhere/{name}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = types.ModuleType(name)
    module.__file__ = file
    sys.modules[name] = module
    try:
        exec(compile(text, file, "exec"), module.__dict__)
        yield module.Walk
    finally:
        del sys.modules[name], linecache.cache[file]


KINDS = ("eventually", "always_eventually", "eventually_always", "recoverable", "leads_to")


def verdict(graph: FairGraph, kind: str, oracle: str) -> str:
    """The verdict of an oracle: holds, violated, undetermined.

    A run that violates the property within the bounds is one beyond them, too, if it is fair when every step that
    leaves the bounds counts as one that could be taken.
    """
    breaks = _lost if kind == "recoverable" else {"lassos": by_lassos, "streett": by_streett}[oracle]
    if not breaks(graph, kind, False):
        return "holds"
    return "violated" if breaks(graph, kind, True) else "undetermined"


def _inside(graph: FairGraph, state: int) -> bool:
    return graph.bound is None or state < graph.bound


def _steps(graph: FairGraph) -> set[tuple[int, int]]:
    return {(old, new) for old, _, new in graph.steps if _inside(graph, old) and _inside(graph, new)}


def _reached(begin: Set[int], steps: set[tuple[int, int]]) -> set[int]:
    seen = set(begin)
    while True:
        more = {new for old, new in steps if old in seen} - seen
        if not more:
            return seen
        seen |= more


def _enabled(graph: FairGraph, group: frozenset[tuple[int, int]], state: int, beyond: bool) -> bool:
    return any(old == state and (beyond or _inside(graph, new)) for old, new in group)


def assert_is_run(graph: FairGraph, states: Sequence[int]) -> None:
    """The states are those of a run within the bounds."""
    assert states[0] in graph.initial
    assert set(itertools.pairwise(states)) <= _steps(graph)
    assert all(_inside(graph, state) for state in states)


def assert_breaks(graph: FairGraph, kind: str, states: Sequence[int], loop: int) -> None:
    """A run that goes round again and again from the place ``loop`` on is fair, and breaks the property."""
    assert_is_run(graph, states)
    around = states[loop:]
    assert around[0] == around[-1]
    assert _is_fair(graph, set(around), set(itertools.pairwise(around)), beyond=False)
    assert set(around) <= _places(graph, kind)
    if kind == "eventually_always":
        assert not set(around) <= graph.goal
    if kind == "eventually":
        assert not set(states) & graph.goal
    if kind == "leads_to":
        assert any(it in graph.premise and not set(states[at:]) & graph.goal for at, it in enumerate(states))


def _lost(graph: FairGraph, kind: str, beyond: bool) -> bool:
    steps = _steps(graph)
    for state in _reached(set(graph.initial), steps):
        ahead = _reached({state}, steps)
        if ahead & graph.goal:
            continue
        leaves = any(old in ahead and not _inside(graph, new) for old, _, new in graph.steps)
        if not (beyond and leaves):
            return True
    return False


def _places(graph: FairGraph, kind: str) -> set[int]:
    """The states that a loop may visit so that a run into it breaks the property."""
    steps = _steps(graph)
    start = {it for it in graph.initial if _inside(graph, it)}
    every = _reached(start, steps)
    missed = every - graph.goal
    within = {(old, new) for old, new in steps if old in missed and new in missed}
    match kind:
        case "eventually":
            return _reached(start & missed, within)
        case "leads_to":
            return _reached(graph.premise & missed, within)
        case "eventually_always":
            return every
    return missed


def _is_fair(graph: FairGraph, states: set[int], taken: set[tuple[int, int]], beyond: bool) -> bool:
    """Whether a run that visits these states and takes these steps again and again, and no others, is fair."""
    for strong, group in graph.constraints():
        if taken & group:
            continue
        enabled = [_enabled(graph, group, state, beyond) for state in states]
        if any(enabled) if strong else all(enabled):
            return False
    return True


def by_lassos(graph: FairGraph, kind: str, beyond: bool) -> bool:
    """Whether some fair run breaks the property: every set of steps that one loop can take is tried."""
    places = _places(graph, kind)
    for size in range(1, len(places) + 1):
        for chosen in itertools.combinations(sorted(places), size):
            states = set(chosen)
            if kind == "eventually_always" and states <= graph.goal:
                continue
            own = [(old, new) for old, new in _steps(graph) if old in states and new in states and old != new]
            for count in range(len(own) + 1):
                for taken in itertools.combinations(own, count):
                    connected = all(_reached({state}, set(taken)) == states for state in states)
                    if connected and _is_fair(graph, states, set(taken), beyond):
                        return True
    return False


def by_streett(graph: FairGraph, kind: str, beyond: bool) -> bool:
    """The same by components: what cannot be fair is taken out, and what is left is looked at again."""
    waiting = [_places(graph, kind)]
    while waiting:
        places = waiting.pop()
        net = nx.DiGraph()
        net.add_nodes_from(places)
        net.add_edges_from((old, new) for old, new in _steps(graph) if old in places and new in places and old != new)
        for states in map(set, nx.strongly_connected_components(net)):
            if kind == "eventually_always" and states <= graph.goal:
                continue
            taken = set(net.subgraph(states).edges)
            open_ = [(strong, group) for strong, group in graph.constraints() if not taken & group]
            if any(
                not strong and all(_enabled(graph, group, state, beyond) for state in states) for strong, group in open_
            ):
                continue
            asked = {
                state
                for strong, group in open_
                if strong
                for state in states
                if _enabled(graph, group, state, beyond)
            }
            if not asked:
                return True
            waiting.append(states - asked)
    return False
