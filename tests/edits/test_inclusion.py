"""Whether every run of one small graph is one of another: drawn graphs, and graphs made to be hard."""

from __future__ import annotations

import random

import numpy as np
import pytest

from floodmark.checkers.edits import inclusion
from floodmark.checkers.edits.inclusion import InclusionUndetermined, ProjectedGraph, escape
from floodmark.checkers.edits.run_graph import RunGraph, depths
from floodmark.compiler.layout import lay_out
from floodmark.language.model import Model

Steps = list[tuple[int, int]]


def seen(looks: list[int], initial: list[int], steps: Steps) -> ProjectedGraph:
    """A graph whose states are numbered, with what is seen of each."""
    count = len(looks)
    sources = np.array([step[0] for step in steps], dtype=np.int64)
    targets = np.array([step[1] for step in steps], dtype=np.int64)
    begun = np.array(initial, dtype=np.int64)
    rows = np.arange(count, dtype=np.uint64).reshape(-1, 1)
    depth = depths(count, begun, sources, targets)
    graph = RunGraph(Model.__new__(Model), lay_out({}), rows, count, sources, targets, np.zeros_like(sources), ("a",),
                     begun, depth)
    return ProjectedGraph(graph, np.array(looks, dtype=np.int64))


def runs(looks: list[int], initial: list[int], steps: Steps, longest: int) -> set[tuple[int, ...]]:
    """What the runs of so many changes at most show."""
    found: set[tuple[int, ...]] = set()
    waiting: list[tuple[int, tuple[int, ...]]] = [(state, (looks[state],)) for state in initial]
    known = set(waiting)
    while waiting:
        state, shown = waiting.pop()
        found.add(shown)
        for source, target in steps:
            if source == state:
                then = shown if looks[target] == looks[state] else (*shown, looks[target])
                if len(then) <= longest and (target, then) not in known:
                    known.add((target, then))
                    waiting.append((target, then))
    return found


def reached(count: int, initial: list[int], steps: Steps) -> bool:
    known, waiting = set(initial), list(initial)
    while waiting:
        state = waiting.pop()
        more = [target for source, target in steps if source == state and target not in known]
        known.update(more)
        waiting += more
    return len(known) == count


def drawn(chance: random.Random) -> tuple[list[int], list[int], Steps]:
    """A graph all of whose states are reached."""
    while True:
        count = chance.randint(1, 5)
        looks = [chance.randint(0, 2) for _ in range(count)]
        initial = sorted(chance.sample(range(count), chance.randint(1, min(2, count))))
        every = [(source, target) for source in range(count) for target in range(count) if source != target]
        steps = [pair for pair in every if chance.random() < 0.4]
        if reached(count, initial, steps):
            return looks, initial, steps


def split(
    chance: random.Random, looks: list[int], initial: list[int], steps: Steps
) -> tuple[list[int], list[int], Steps]:
    """The graph with a state divided into two that look alike, each of which has some of its steps."""
    divided, twin = chance.randrange(len(looks)), len(looks)
    while True:
        made: Steps = []
        for source, target in steps:
            source = chance.choice([source, twin]) if source == divided else source
            made += [(source, each) for each in ([divided, twin] if target == divided else [target])
                     if target != divided or chance.random() < 0.7]
        begun = [*initial, twin] if divided in initial and chance.random() < 0.7 else initial
        if reached(len(looks) + 1, begun, made):
            return [*looks, looks[divided]], begun, made
        if chance.random() < 0.2:
            return looks, initial, steps


def test_inclusion_is_that_of_the_sequences() -> None:
    """Graphs of a few states: what differs shows within a few changes."""
    chance = random.Random(7)
    shown = {"none": 0, "some": 0, "order": 0}
    for _ in range(400):
        mine, other = drawn(chance), drawn(chance)
        if chance.random() < 0.6:
            other = split(chance, *mine)
        found = escape(seen(*mine), seen(*other), lambda: None)
        more = runs(*mine, 7) - runs(*other, 7)
        if found is None:
            assert not more, (mine, other)
            shown["none"] += 1
        else:
            assert more, (mine, other)
            shown["order" if found.kind == "order" else "some"] += 1
    assert min(shown.values()) > 3


def test_one_first_value_that_cannot_be_followed_is_enough_to_differ() -> None:
    mine = seen([0, 1, 2], [0, 1], [(0, 2), (1, 2)])
    other = seen([0, 1, 2, 1], [0, 1], [(0, 2), (0, 3), (3, 2)])
    found = escape(mine, other, lambda: None)
    assert found is not None and (found.kind, found.path) == ("order", [1, 2])


def test_what_only_the_other_graph_shows_answers_no_change() -> None:
    mine = seen([0, 1], [0], [(0, 1), (1, 0)])
    other = seen([0, 0, 1, 2, 1, 0], [0, 1], [(0, 2), (1, 3), (3, 4), (4, 5)])
    found = escape(mine, other, lambda: None)
    assert found is not None and (found.kind, found.path) == ("order", [0, 1, 0])


def test_a_shorter_run_in_another_order_comes_before_a_new_step() -> None:
    mine = seen([0, 1, 2], [0], [(0, 1), (1, 2), (2, 0)])
    other = seen([0, 3, 1, 1, 2], [0, 1], [(0, 2), (1, 3), (3, 4)])
    found = escape(mine, other, lambda: None)
    assert found is not None and (found.kind, found.path) == ("order", [0, 1, 2])


def test_a_hidden_step_before_the_answer_is_followed_without_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = seen([0, 1], [0], [(0, 1)])
    other = seen([0, 0, 1], [0], [(0, 1), (1, 2)])
    monkeypatch.setattr(inclusion, "MAX_PAIRS", 0)
    assert escape(mine, other, lambda: None) is None


def test_too_many_sets_are_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = seen([0, 1, 2, 0], [0], [(0, 1), (1, 3), (3, 2)])
    other = seen([0, 1, 2, 0, 0], [0, 4], [(0, 1), (1, 3), (4, 2)])
    found = escape(mine, other, lambda: None)
    assert found is not None and found.kind == "order"
    monkeypatch.setattr(inclusion, "MAX_PAIRS", 0)
    with pytest.raises(InclusionUndetermined, match="more than 0 sets of states"):
        escape(mine, other, lambda: None)
