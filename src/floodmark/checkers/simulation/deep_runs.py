"""Runs to states that few walks visit: starting points for an implementation, a search or a proof.

A state that one walk in a thousand visits is hard to reach from the initial states. Each walk contributes its state
with the fewest visits, and of these states those with the fewest visits are chosen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from floodmark.checkers.search.beginning import beginnings
from floodmark.checkers.search.store import Packed
from floodmark.checkers.search_result import TraceState
from floodmark.checkers.simulation.compiled_walks import build_walk_code
from floodmark.checkers.simulation.shrinking import completed_steps
from floodmark.checkers.simulation.walker import Walker, WalkPlan
from floodmark.compiler.layout import Layout
from floodmark.language.model import Model
from floodmark.language.reference import initial_states


def deep_runs(model: Model, walking: WalkPlan, most: int) -> list[tuple[TraceState, ...]]:
    """At most ``most`` runs, the rarest end first. CPython takes each of their steps; equal walks give equal runs.

    Raises SourceError if the model cannot be read, and WidthExceeded if a step needs a wider container.
    """
    code = build_walk_code(model, {}, good=False)
    layout = code.interface.layout
    initial = [layout.pack(state) for state in beginnings(model, []).within]
    walker = Walker(code, initial, walking, 0, False)
    paths = [[tuple(row) for row in rows.tolist()] for rows in walker.paths(walking.walks)]
    visited = Counter(state for path in paths for state in set(path))
    ends: dict[Packed, list[Packed]] = {}
    for path in paths:
        rarest = min(path, key=lambda state: visited[state])
        ends.setdefault(rarest, path[: path.index(rarest) + 1])
    chosen = sorted(ends, key=lambda state: visited[state])[:most]
    return [_run(model, layout, ends[state]) for state in chosen]


def _run(model: Model, layout: Layout, path: Sequence[Packed]) -> tuple[TraceState, ...]:
    """The steps of a path of packed states, taken by CPython."""
    run: list[TraceState] = []
    for words in path:
        steps = completed_steps(model, run[-1].state) if run else initial_states(model)
        found = next((TraceState(step, state) for step, state in steps if layout.pack(state) == words), None)
        if found is None:
            raise RuntimeError(f"a walk took a step that CPython does not take, to {layout.unpack(words)}")
        run.append(found)
    return tuple(run)
