"""Compares the reachable states of two versions: states of only one, their number in each, and actions that never fire.

Two plain searches run once it is known that the versions differ. They show whether a new step leads to a new state, and
the shortest run to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.adaptive_capacity import search_growing
from floodmark.checkers.edits.difference import VersionName
from floodmark.checkers.edits.run_graph import NoMigration, Numbers, Rows
from floodmark.checkers.kernel import loops
from floodmark.checkers.native.search import begin
from floodmark.checkers.search.driver import Search, closing_run
from floodmark.checkers.search.store import LocalStore, Packed
from floodmark.checkers.search_result import Options, SearchResult, TraceState, Watcher
from floodmark.language.model import Model
from floodmark.language.reference import within_boundary
from floodmark.language.widths import FIRST_WIDTHS, Widths

MAX_ASKED = 10_000
"""The maximum number of states that CPython tests against a boundary."""


Known = tuple[Search, Mapping[str, int]]


@dataclass
class ReachableStates:
    """For each version: the number of reachable states, the firings of its actions, and a shortest run to a state that
    the other version does not reach. An incomplete search leaves its entries out."""

    states: dict[VersionName, int] = field(default_factory=dict)
    fired: dict[VersionName, Mapping[str, int]] = field(default_factory=dict)
    alone: dict[VersionName, tuple[Model, tuple[TraceState, ...]]] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        return len(self.states) == 2


def reach(
    old: Model, new: Model, options: Options, widths: Widths, known: Mapping[VersionName, Known], watch: Watcher | None
) -> ReachableStates:
    """Searches both versions, which have the same variables, starting with the same widths.

    ``known`` has the searches that are known to cover all states of a version, with the firings of its actions: if
    nothing was added, the states that both versions reach in the same way are all states of the new version.
    """
    found = ReachableStates()

    def look(version: VersionName, search: Search, fired: Mapping[str, int]) -> None:
        if search.stop is None and not search.found.violations:
            found.states[version] = search.store.count
            found.fired[version] = fired

    def with_old(before: Search) -> None:
        def with_new(after: Search) -> None:
            if before.interface.layout.slots == after.interface.layout.slots:
                found.alone = _alone(before, after)

        _searched("new", new, with_new)

    def _searched(version: VersionName, model: Model, then: Callable[[Search], None]) -> None:
        if version in known:
            search, fired = known[version]
            look(version, search, fired)
            then(search)
        else:
            def looked(search: Search, result: SearchResult) -> None:
                look(version, search, result.actions)
                then(search)

            explore(model, options, looked, widths, watch)

    _searched("old", old, with_old)
    if not found.is_complete:
        found.alone = {}
    return found


def explore(
    model: Model, options: Options, then: Callable[[Search, SearchResult], None], widths: Widths = FIRST_WIDTHS,
    watch: Watcher | None = None,
) -> SearchResult:
    """A search without properties; ``then`` is called while its states are in memory, also if a limit ended it."""

    def prepared(model: Model, options: Options, widths: Widths) -> Callable[[], SearchResult]:
        search = begin(model, (), options, watch, NoMigration())

        def complete(result: SearchResult) -> SearchResult:
            then(search, result)
            return result

        return closing_run(search, complete)

    return search_growing(model, options, watch, prepared, widths)


def levels_of(search: Search) -> tuple[Rows, Numbers]:
    """All states of a search, and the level of each, counted from 0."""
    rows, levels = [np.zeros((0, search.store.words), dtype=np.uint64)], [np.zeros(0, dtype=np.int64)]
    assert isinstance(search.store, LocalStore)
    for part in search.store.parts:
        ends = [*(stop for _, stop in part.levels), part.count]
        rows.append(part.rows(0, part.count))
        sizes = np.diff([0, *ends])
        levels.append(np.repeat(np.arange(len(sizes)), sizes))
    return np.concatenate(rows), np.concatenate(levels)


def _alone(old: Search, new: Search) -> dict[VersionName, tuple[Model, tuple[TraceState, ...]]]:
    """The nearest states that only one version reaches.

    A state is looked up by its hash among the other version's states. If the hash is absent, so is the state. Two
    states with equal hashes, which is improbable, would hide a run; no conclusion is drawn from a missing run.
    """
    found: dict[VersionName, tuple[Model, tuple[TraceState, ...]]] = {}
    every = levels_of(old), levels_of(new)
    hashes = [np.sort(_hashes(rows)) for rows, _ in every]
    versions: tuple[tuple[VersionName, int, Search, Search], ...] = (("old", 0, old, new), ("new", 1, new, old))
    for version, place, search, other in versions:
        rows, levels = every[place]
        asked = MAX_ASKED if type(other.model).methods("boundary") else len(rows)
        for level in range(int(levels.max(initial=-1)) + 1):
            those = rows[levels == level]
            alone = those[~_is_among(_hashes(those), hashes[1 - place])]
            inside = alone[_within(other, alone[:asked])] if len(alone) else alone
            asked -= min(len(alone), asked)
            if len(inside):
                found[version] = search.tracer.model, first_of(search, inside, np.full(len(inside), level))
                break
            if not asked:
                break
    return found


def _hashes(rows: Rows) -> NDArray[np.uint64]:
    found = np.full(len(rows), loops.SEED_1, dtype=np.uint64)
    for word in range(rows.shape[1]):
        found = (found ^ rows[:, word]) * np.uint64(loops.MULTIPLIER_1)
        found ^= found >> np.uint64(32)
    return found


def _is_among(hashes: NDArray[np.uint64], ordered: NDArray[np.uint64]) -> NDArray[np.bool_]:
    if not len(ordered):
        return np.zeros(len(hashes), dtype=np.bool_)
    known: NDArray[np.bool_] = ordered[np.minimum(np.searchsorted(ordered, hashes), len(ordered) - 1)] == hashes
    return known


def _within(search: Search, rows: Rows) -> NDArray[np.int64]:
    """The indices of the states within a version's boundary. A state outside it may be the end of a run, so it is
    ignored."""
    model = search.model
    if not type(model).methods("boundary"):
        return np.arange(len(rows), dtype=np.int64)
    layout = search.interface.layout
    return np.array([
        place for place, row in enumerate(rows) if within_boundary(model, layout.unpack(int(word) for word in row))
    ], dtype=np.int64)


def first_of(search: Search, rows: Rows, levels: Numbers) -> tuple[TraceState, ...]:
    """A shortest run to one of some states of a search; among the nearest, to the smallest when packed."""
    level = int(levels.min())
    nearest = rows[levels == level]
    for word in range(nearest.shape[1]):
        nearest = nearest[nearest[:, word] == nearest[:, word].min()]
    state: Packed = tuple(int(word) for word in nearest[0])
    return search.tracer.to_state(state, level)
