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
from floodmark.checkers.simulation.walk_loops import CHANGES
from floodmark.checkers.simulation.walker import GROUP, Walker, WalkPlan, WalkStrategy
from floodmark.compiler.layout import Layout
from floodmark.language.model import State
from floodmark.language.reference import initial_states, successors

GROUPS = 250
STEPS = 3
SLOW = pytest.mark.slow
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


class Few(Model):
    """Three actions, so that walks by priorities and for novel states can be enumerated: with one step or two to the
    same state, and one that is disabled where the others lead."""

    place: Annotated[int, Between(0, 4)] = 0

    @action
    def goes_on(self) -> None:
        require(self.place < 3)
        self.place = self.place + 1

    @action
    def jumps(self, to: Annotated[int, Between(0, 3)]) -> None:
        require(to != self.place and to != 1 and self.place != 3)
        self.place = to

    @action
    def ends(self, by: Annotated[int, Between(1, 2)]) -> None:
        require(self.place == 2 or self.place + by == 4)
        self.place = 4


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


def by_priority(model: Model, steps: int) -> Chances:
    """The chance of each last state of a walk by priorities: all orders of the actions, and at each step whether the
    action that was taken becomes the last."""
    ended: dict[State, Fraction] = defaultdict(Fraction)
    orders = list(itertools.permutations(type(model).methods("action")))
    changes = Fraction(CHANGES, steps)
    now = {
        (state, order): Fraction(1, len(orders)) for _, state in initial_states(model) for order in orders
    }
    for _ in range(steps):
        following: dict[tuple[State, tuple[str, ...]], Fraction] = defaultdict(Fraction)
        for (state, order), chance in now.items():
            enabled = defaultdict(list)
            for step, after in successors(model, state):
                enabled[step.action].append(after)
            first = next((name for name in order if name in enabled), None)
            if first is None:
                ended[state] += chance
                continue
            moved = (*(name for name in order if name != first), first)
            for after in enabled[first]:
                share = chance / len(enabled[first])
                following[after, moved] += share * changes
                following[after, order] += share * (1 - changes)
        now = following
    for (state, _), chance in now.items():
        ended[state] += chance
    return ended


def for_novel_states(model: Model, steps: int, walks: int) -> Chances:
    """The chance of each last state of the last of some walks of a group: which states have been visited is known, of
    up to four draws the first to another state is taken, and the fourth in any case."""
    ((_, begin),) = initial_states(model)
    every = frozenset(type(model).methods("action"))
    now: dict[tuple[State, frozenset[State]], Fraction] = {(begin, frozenset()): Fraction(1)}
    for _ in range(walks):
        ended: dict[tuple[State, frozenset[State]], Fraction] = defaultdict(Fraction)
        begun: dict[tuple[State, frozenset[State]], Fraction] = defaultdict(Fraction)
        for (_, seen), chance in now.items():
            begun[begin, seen | {begin}] += chance
        now = begun
        for _ in range(steps):
            following: dict[tuple[State, frozenset[State]], Fraction] = defaultdict(Fraction)
            for (state, seen), chance in now.items():
                drawn = after_one_step(model, state, WalkStrategy.ACTIONS, every)
                if not drawn:
                    ended[state, seen] += chance
                known = sum((share for after, share in drawn.items() if after in seen), Fraction(0))
                for after, share in drawn.items():
                    tries = 1 + known + known**2 + known**3 if after not in seen else known**3
                    following[after, seen | {after}] += chance * share * tries
            now = following
        for at, chance in now.items():
            ended[at] += chance
        now = ended
    last: dict[State, Fraction] = defaultdict(Fraction)
    for (state, _), chance in now.items():
        last[state] += chance
    return last


def require_chances(chances: Chances, ends: Counter[State], total: int) -> None:
    assert ends.total() == total
    assert sum(chances.values()) == 1
    assert set(ends) <= set(chances)
    for state, chance in chances.items():
        deviation = math.sqrt(total * chance * (1 - chance)) or 1
        assert abs(ends[state] - total * chance) <= SIGMAS * deviation, (state, ends[state], float(total * chance))


@pytest.mark.parametrize(
    ("model", "steps"),
    [(Few(), 4), (Few(), 7), (Uneven(), 4), *(pytest.param(it, 7, marks=SLOW) for it in (Uneven(), Idle()))],
    ids=lambda it: type(it).__name__ if isinstance(it, Model) else it,
)
def test_walks_by_priorities_end_as_often_as_cpython_says(model: Model, steps: int) -> None:
    walker, layout = walker_of(model, steps, WalkStrategy.PRIORITIES)
    total = 12_000
    require_chances(by_priority(model, steps), Counter(layout.unpack(row) for row in walker.ends(total)), total)


@pytest.mark.parametrize("walks", [1, 2, 3])
def test_walks_for_novel_states_end_as_often_as_cpython_says(walks: int) -> None:
    model, steps, total = Few(), 3, 12_000
    walker, layout = walker_of(model, steps, WalkStrategy.NOVEL)
    ends: Counter[State] = Counter()
    for group in range(total):
        walker.take(group * GROUP, group * GROUP + walks, lambda: False)
        ends[layout.unpack(walker.state)] += 1
    require_chances(for_novel_states(model, steps, walks), ends, total)


def walker_of(model: Model, steps: int, strategy: WalkStrategy) -> tuple[Walker, Layout]:
    code = build_walk_code(model, {}, good=False)
    layout = code.interface.layout
    begin = [layout.pack(state) for _, state in initial_states(model)]
    return Walker(code, begin, WalkPlan(GROUPS * GROUP, steps, 11, strategy), 0, False), layout


@pytest.mark.parametrize(("strategy", "model", "candidates"), [
    pytest.param(strategy, model, candidates,
                 marks=[] if candidates == isinstance(model, Uneven) else [pytest.mark.slow],
                 id=f"{strategy.name.lower()}-{type(model).__name__}-{'by candidates' if candidates else 'one by one'}")
    for strategy in (WalkStrategy.ACTIONS, WalkStrategy.INSTANCES, WalkStrategy.SWARM)
    for model in (Uneven(), Idle())
    for candidates in (True, False)
])
def test_each_end_of_a_walk_is_as_likely_as_cpython_says(
    strategy: WalkStrategy, model: Model, candidates: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not candidates:  # as for a model of many actions
        for module in (compiled_walks, walkers):
            monkeypatch.setattr(module, "MAX_CANDIDATES", 0)
    walker, layout = walker_of(model, STEPS, strategy)
    total = GROUPS * GROUP
    require_chances(expected(model, strategy), Counter(layout.unpack(row) for row in walker.ends(total)), total)
