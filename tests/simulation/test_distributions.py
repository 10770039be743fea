"""Tests that walks end where they should as often as they should: CPython computes the exact chances."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated

import pytest

from floodmark import Between, Identifier, Map, Model, action, initial, require
from floodmark.checkers.simulation import compiled_walks
from floodmark.checkers.simulation import walker as walkers
from floodmark.checkers.simulation.compiled_walks import build_walk_code
from floodmark.checkers.simulation.walker import GROUP, Walker, Walking, WalkStrategy
from floodmark.language.model import State
from floodmark.language.reference import initial_states, successors

GROUPS = 250
STEPS = 3
SIGMAS = 5.5
"""Standard deviations that a count may be off: with some hundred states it is more once in a hundred thousand runs."""


class Node(Identifier, count=2, prefix="n"):
    pass


class Uneven(Model):
    """Five actions: with one instance and with several, some without a parameter, which guards rule out early and late.
    """

    level: Annotated[int, Between(0, 3)] = 0
    marks: Map[Node, bool]
    odd: bool = False

    @initial
    def start(self) -> None:
        self.marks = Map({node: False for node in Node})

    @action
    def rises(self) -> None:
        require(self.level < 3)
        self.level = self.level + 1

    @action
    def falls(self) -> None:
        require(self.level > 1 and not self.odd)
        self.level = 0

    @action
    def marks_one(self, node: Node) -> None:
        require(not self.marks[node])
        self.marks[node] = True

    @action
    def jumps(self, to: Annotated[int, Between(0, 3)]) -> None:
        require(self.odd)
        require(to != self.level)
        self.level = to

    @action
    def turns(self, by: Annotated[int, Between(0, 2)]) -> None:
        require(by > 0 or self.level == 1)
        if self.level == 2:
            require(any(self.marks[node] for node in Node))
        self.odd = not self.odd


class Idle(Uneven):
    """The same, without a mark: where the level is 3, some actions are enabled only late, or not at all."""

    def marks_one(self, node: Node) -> None:
        require(self.level == 3)
        require(self.marks[node])
        self.marks[node] = False


ACTIONS = ("rises", "falls", "marks_one", "jumps", "turns")
Chances = Mapping[State, Fraction]


def after_one_step(model: Model, state: State, strategy: WalkStrategy, kept: frozenset[str]) -> Chances:
    """The chance of each state after one step; no state where there is no step."""
    by_action: dict[str, list[State]] = defaultdict(list)
    for step, after in successors(model, state):
        if step.action in kept:
            by_action[step.action].append(after)
    if strategy is WalkStrategy.INSTANCES:
        by_action = {"": [after for several in by_action.values() for after in several]} if by_action else {}
    chances: dict[State, Fraction] = defaultdict(Fraction)
    for several in by_action.values():
        for after in several:
            chances[after] += Fraction(1, len(by_action) * len(several))
    return chances


def at_the_end(model: Model, strategy: WalkStrategy, kept: frozenset[str]) -> Chances:
    """The chance of each last state of a walk that keeps certain actions."""
    ended: dict[State, Fraction] = defaultdict(Fraction)
    now = {state: Fraction(1) for _, state in initial_states(model)}
    for _ in range(STEPS):
        following: dict[State, Fraction] = defaultdict(Fraction)
        for state, chance in now.items():
            then = after_one_step(model, state, strategy, kept)
            if not then:
                ended[state] += chance
            for after, share in then.items():
                following[after] += chance * share
        now = following
    for state, chance in now.items():
        ended[state] += chance
    return ended


def expected(model: Model, strategy: WalkStrategy) -> Chances:
    every = frozenset(ACTIONS)
    if strategy is not WalkStrategy.SWARM:
        return at_the_end(model, strategy, every)
    found: dict[State, Fraction] = defaultdict(Fraction)
    for size in range(len(ACTIONS) + 1):
        for kept in itertools.combinations(ACTIONS, size):
            for state, chance in at_the_end(model, strategy, frozenset(kept) or every).items():
                found[state] += chance / 2 ** len(ACTIONS)
    return found


@pytest.mark.parametrize("candidates", [True, False], ids=["by candidates", "one by one"])
@pytest.mark.parametrize("model", [Uneven(), Idle()], ids=lambda it: type(it).__name__)
@pytest.mark.parametrize(
    "strategy", [WalkStrategy.ACTIONS, WalkStrategy.INSTANCES, WalkStrategy.SWARM], ids=lambda it: it.name.lower()
)
def test_each_end_of_a_walk_is_as_likely_as_cpython_says(
    strategy: WalkStrategy, model: Model, candidates: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not candidates:  # as for a model of many actions
        for module in (compiled_walks, walkers):
            monkeypatch.setattr(module, "MAX_CANDIDATES", 0)
    code = build_walk_code(model, {}, good=False)
    layout = code.interface.layout
    begin = [layout.pack(state) for _, state in initial_states(model)]
    walker = Walker(code, begin, Walking(GROUPS * GROUP, STEPS, 11, strategy), 0, False)
    ends = Counter(layout.unpack(row) for row in walker.ends(GROUPS * GROUP))
    chances = expected(model, strategy)
    total = GROUPS * GROUP
    assert sum(chances.values()) == 1
    assert set(ends) <= set(chances)
    for state, chance in chances.items():
        deviation = math.sqrt(total * chance * (1 - chance)) or 1
        assert abs(ends[state] - total * chance) <= SIGMAS * deviation, (state, ends[state], float(total * chance))
