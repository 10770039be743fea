"""Compares the native checker with CPython: the whole reachable set, not only its size.

The set is that of plain code; the figures, with every level after the initial states, are those of good code.
"""

from __future__ import annotations

from unittest.mock import patch

from floodmark import Model
from floodmark.checkers.native.search import reachable_set, search_states
from floodmark.checkers.project.properties import collect
from floodmark.checkers.search_result import Options, SearchResult
from floodmark.compiler.layout import digest, lay_out
from floodmark.language.model import State
from floodmark.language.reference import initial_states, successors, within_boundary


def reference_set(model: Model) -> tuple[set[State], int, int]:
    """The reachable states as CPython finds them, how many were generated, and the depth."""
    seen: set[State] = set()
    generated = depth = 0
    frontier = []
    for _, state in initial_states(model):
        generated += 1
        if within_boundary(model, state) and state not in seen:
            seen.add(state)
            frontier.append(state)
    while frontier:
        depth += 1
        found = []
        for state in frontier:
            for _, after in successors(model, state):
                generated += 1
                if after not in seen and within_boundary(model, after):
                    seen.add(after)
                    found.append(after)
        frontier = found
    return seen, generated, depth


def assert_agrees(cls: type[Model], workers: tuple[int, ...] = (1, 2), **constants: int) -> SearchResult:
    """Fails unless CPython and the native checker see the same states; returns what the native checker found.

    The first number of workers finds the set, the last one the figures.
    """
    model = cls(**constants)
    states, generated, depth = reference_set(model)
    layout = lay_out(model.variable_types)
    packed = {layout.pack(state) for state in states}
    assert {layout.unpack(words) for words in packed} == states, "packing loses something"
    rows, _ = reachable_set(cls(**constants), Options(workers=workers[0]))
    native = {tuple(int(word) for word in row) for row in rows}
    missing = [layout.unpack(words) for words in packed - native]
    invented = [layout.unpack(words) for words in native - packed]
    assert not missing, f"CPython reaches {missing[:3]}"
    assert not invented, f"native code reaches {invented[:3]}"
    with patch("floodmark.checkers.search.driver.PATIENCE", 0.0):
        found = search_states(cls(**constants), list(collect(cls, []).values()), Options(workers=workers[-1]))
    if not found.violations:
        assert (found.distinct, found.generated, found.depth) == (len(states), generated, depth)
        assert found.digest == digest(packed)
    return found
