"""What an edit adds and removes is what the graphs of the two versions say, which know nothing of how it is found."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from floodmark.checkers.edits.comparison import compare
from floodmark.checkers.edits.difference import Difference
from floodmark.checkers.search_result import Options
from floodmark.language.errors import SourceError
from floodmark.language.reference import within_boundary
from tests.support.edits import EditDraw, PlainGraph, TooLarge, is_escape, loaded, shortest_escape

SMALL = 4
"""A pair of graphs that both have fewer states shows little."""


def agrees(seed: int, folder: Path) -> str:
    """Compares a drawn pair; returns what it showed."""
    texts = EditDraw(seed).pair()
    try:
        old, new = (loaded(text, folder / f"{seed}{name}") for text, name in zip(texts, ("old", "new"), strict=True))
        graphs = PlainGraph.of(old), PlainGraph.of(new)
    except (TooLarge, SourceError):
        return "nothing"
    if max(len(graph.after) for graph in graphs) < SMALL:
        return "nothing"
    try:
        found = compare(old, new, Options(workers=1))
    except SourceError:
        return "refused"
    shared = [each.old for each in found.alignment.shared], [each.new for each in found.alignment.shared]
    try:
        added = shortest_escape(graphs[1], shared[1], graphs[0], shared[0])
        removed = shortest_escape(graphs[0], shared[0], graphs[1], shared[1])
    except TooLarge:
        return "nothing"
    expected = ["none" if each is None else "some" for each in (added, removed)]
    assert [found.added, found.removed] == expected, (seed, texts)
    assert found.failure is None and not found.stopped
    for version, shortest in (("new", added), ("old", removed)):
        mine, other = (1, 0) if version == "new" else (0, 1)
        runs = [each for each in found.witnesses if each.version == version]
        assert bool(runs) == (shortest is not None), seed
        assert [each.kind == "state" for each in runs] in ([], [False], [True], [False, True]), seed
        looks, its = (graphs[place].looks(shared[place]) for place in (mine, other))
        for place, witness in enumerate(runs):
            states = [entry.state for entry in witness.trace]
            assert states[0] in graphs[mine].initial
            assert all(after in graphs[mine].after[before] for before, after in pairwise(states)), seed
            if place == 0:
                assert is_escape([looks[state] for state in states], graphs[other], shared[other]), seed
                assert len(states) == shortest, seed
            if witness.kind == "state":
                assert looks[states[-1]] not in its.values(), seed
    for name, graph in (("old", graphs[0]), ("new", graphs[1])):
        inside = sum(within_boundary(graph.model, state) for state in graph.after)
        assert found.states.get(name, inside) == inside, seed
    return _shown(found)


def _shown(found: Difference) -> str:
    if found.is_same:
        return f"same by {found.by}"
    kinds = {witness.kind for witness in found.witnesses}
    return "order" if "order" in kinds else "hidden" if not found.alignment.is_whole else "differs"


def test_drawn_edits_agree_with_their_graphs(tmp_path: Path) -> None:
    shown = Counter(agrees(seed, tmp_path) for seed in range(1000, 1070))
    assert shown["differs"] and shown["hidden"] and shown["same by graph"] and shown["same by search"]


@pytest.mark.slow
@pytest.mark.parametrize("first", range(2000, 8400, 800))
def test_many_drawn_edits_agree_with_their_graphs(first: int, tmp_path: Path) -> None:
    shown = Counter(agrees(seed, tmp_path) for seed in range(first, first + 800))
    assert shown["differs"] and shown["hidden"] and shown["order"]
