"""Tests what is read from stores of states: sizes, values, samples for comparisons, levels that are handed over, and
the steps that lead to a state."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Annotated, Any

import numpy as np
import pytest

from floodmark import (
    Between,
    Capacity,
    Constant,
    Identifier,
    Map,
    Model,
    Seq,
    Set,
    action,
    boundary,
    initial,
    invariant,
    require,
)
from floodmark.checkers.kernel.compiled_model import build_kernel
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.properties import collect
from floodmark.checkers.search import driver, symmetry
from floodmark.checkers.search.container_sizes import LargestSizes
from floodmark.checkers.search.store import LocalStore
from floodmark.checkers.search.symmetry import _Comparison, confirm_states, sample
from floodmark.checkers.search.trace import Tracer
from floodmark.checkers.search_result import Options
from floodmark.compiler.layout import lay_out
from floodmark.language.reference import initial_states, successors

Wide = Annotated[int, Between(0, 99)]


class Sizes(Model):
    """Containers that share words with what lies beside them."""

    before: Annotated[int, Between(0, 2**30)] = 0
    some: Annotated[Set[Wide], Capacity(20)] = Set()
    between: Annotated[int, Between(0, 2**40)] = 0
    more: Annotated[Set[Wide], Capacity(10)] = Set()
    after: Annotated[int, Between(0, 2**50)] = 0

    @action
    def stays(self) -> None:
        self.before = 0


def test_the_largest_sizes_are_those_of_the_sets_whatever_lies_beside_them() -> None:
    layout, chance = lay_out(Sizes().variable_types), random.Random(3)
    for most, fewer in ((20, 10), (13, 4), (1, 9), (0, 0)):
        states = []
        for _ in range(30):
            some = Set(chance.sample(range(100), chance.randint(0, most)))
            more = Set(chance.sample(range(100), chance.randint(0, fewer)))
            states.append((chance.getrandbits(30), some, chance.getrandbits(40), more, chance.getrandbits(50)))
        seen = LargestSizes(layout)
        seen.look(np.array([layout.pack(state) for state in states], dtype=np.uint64))
        assert seen.largest == {"some": max(len(it[1]) for it in states), "more": max(len(it[3]) for it in states)}


class Part:
    """A part of a store whose states are the numbers from ``first`` on; it notes what is given back."""

    def __init__(self, first: int, *ends: int) -> None:
        self.first = first
        self.levels = list(zip((0, *ends), ends[:-1], strict=False))
        self.count = ends[-1]
        self.given: list[tuple[int, int]] = []

    def rows(self, start: int, stop: int) -> Any:
        return np.arange(self.first + start, self.first + stop, dtype=np.uint64).reshape(-1, 1)

    def give_back(self, start: int, stop: int) -> None:
        self.given.append((start, stop))


def test_states_are_handed_over_level_by_level_and_then_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("floodmark.checkers.search.store.PIECE", 2)
    parts = [Part(0, 1, 4, 9), Part(100, 0, 2, 3)]
    handed = LocalStore.handed_over(SimpleNamespace(parts=parts))  # type: ignore[arg-type]
    assert [list(map(int, np.concatenate(list(level)))) for level in [next(handed)]] == [[0]]
    assert parts[0].given == parts[1].given == []
    second = next(handed)
    assert (parts[0].given, parts[1].given) == ([(0, 1)], [(0, 0)])
    assert [piece.tolist() for piece in second] == [[1, 2], [3], [100, 101]]
    assert [piece.tolist() for level in handed for piece in level] == [[4, 5], [6, 7], [8], [102]]
    assert (parts[0].given, parts[1].given) == ([(0, 1), (1, 4), (4, 9)], [(0, 0), (0, 2), (2, 3)])


def test_the_earliest_states_are_among_those_that_are_compared() -> None:
    found = sample([Part(0, 2, 8, 500, 600)], 1)
    assert sum(state < 8 for state in found[:, 0].tolist()) >= symmetry.SAMPLED[0]


class Node(Identifier, count="nodes", prefix="n"):
    """One of a few that are alike."""


class Team(Model):
    nodes = Constant(3)
    there: Set[Node] = Set()

    @action
    def comes(self, node: Node) -> None:
        self.there.add(node)

    @invariant
    def not_too_many(self) -> bool:
        return len(self.there) < 4


def test_values_of_orbits_are_not_counted() -> None:
    properties = list(collect(Team, []).values())
    assert search_states(Team(), properties, Options(workers=1)).values_seen == {"there": 8}
    assert search_states(Team(), properties, Options(workers=1, symmetry=True)).values_seen == {}


def test_values_of_very_many_states_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "COUNTED_STATES", 7)
    assert search_states(Team(), [], Options(workers=1)).values_seen == {}


def test_where_one_name_is_all_there_is_nothing_is_compared() -> None:
    model = Team(nodes=1)
    kernel = build_kernel(model, {}, symmetry=True)
    confirm_states(kernel, np.array([kernel.interface.layout.pack((Set(),))], dtype=np.uint64))


def test_every_renaming_takes_its_turn() -> None:
    """Code that differs in one of the turns alone is found."""
    kernel = build_kernel(Team(), {}, symmetry=True)
    comparison = _Comparison(kernel, ())
    rows = np.array([kernel.interface.layout.pack((Set(),))], dtype=np.uint64)
    comparison.turns = len(comparison.renamings)
    asked: list[int] = []

    def compare(fields: int, count: int, turn: int) -> int:
        asked.append(turn)
        return int(turn == comparison.turns - 1)

    comparison._compare = compare
    with pytest.raises(RuntimeError, match=r"a permitted renaming, to .* is not one of the compiled code"):
        comparison.confirm(rows, "expand")
    assert asked == list(range(5)) and symmetry.RENAMINGS > 5


class Fence(Model):
    """From 0 it goes on to 1, which is inside, or to 2, which is not; neither may be."""

    n: Annotated[int, Between(0, 2)] = 0

    @action
    def inside_first(self) -> None:
        self.n = 1

    @action
    def outside(self) -> None:
        self.n = 2

    @boundary
    def within(self) -> bool:
        return self.n < 2

    @invariant
    def stays(self) -> bool:
        return self.n == 0


def tracer(model: Model, parent: Any = None) -> Tracer:
    store = SimpleNamespace(parent_in=lambda level, target: parent)
    found = Tracer(model, build_kernel(model, {}, symmetry=False), store)
    found.initial = list(initial_states(model))
    return found


def test_the_step_that_leaves_the_boundary_is_shown() -> None:
    model = Fence()
    found = tracer(model)
    trace = found.step_outside(found.layout.pack((0,)), 0, Fence.stays)
    assert [(entry.step.action, entry.state) for entry in trace[1:]] == [("outside", (2,))]
    (broken,) = [it for it in search_states(model, list(collect(Fence, []).values()), Options(workers=1)).violations
                 if it.trace[-1].state == (2,)]  # fmt: skip
    assert broken.trace[-1].step.action == "outside"


def test_a_state_that_nothing_leads_to_is_an_error() -> None:
    found = tracer(Fence())
    with pytest.raises(RuntimeError, match="no state of level 0 leads to"):
        found.to_state(found.layout.pack((1,)), 1)


class Order(Model):
    """Each of two comes once, in either order."""

    places: Map[Node, bool]
    nodes = Constant(2)
    log: Annotated[Seq[Node], Capacity(2)] = Seq()

    @initial
    def start(self) -> None:
        self.places = Map({node: False for node in Node})

    @action
    def takes(self, node: Node) -> None:
        require(not self.places[node])
        self.places[node] = True
        self.log.append(node)


def test_the_way_to_a_state_is_taken_by_its_own_steps() -> None:
    model = Order()
    ((_, first),) = initial_states(model)
    found = tracer(model, lay_out(model.variable_types).pack(first))
    for step, after in successors(model, first):
        assert found.to_state(found.layout.pack(after), 1)[-1].step == step
