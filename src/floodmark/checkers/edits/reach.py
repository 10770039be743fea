"""Which states only one of two versions reaches, how many each has, and which actions never fire.

Two plain searches, once it is known that the versions differ: a reader wants to know whether a new step leads to a
state that was never there before, and by which shortest run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.adaptive_capacity import search_growing
from floodmark.checkers.edits.difference import VersionName
from floodmark.checkers.edits.projection import combined
from floodmark.checkers.edits.run_graph import InMemory, Numbers, Rows
from floodmark.checkers.native.search import begin
from floodmark.checkers.search.driver import Search
from floodmark.checkers.search.store import LocalStore, Packed
from floodmark.checkers.search_result import Options, SearchResult, TraceState, Watcher
from floodmark.language.model import Model
from floodmark.language.reference import within_boundary
from floodmark.language.widths import FIRST_WIDTHS, Widths

MAX_ASKED = 10_000
"""States of which CPython tells whether they are within a boundary."""


Known = tuple[Search, Mapping[str, int]]


@dataclass
class Reach:
    """How many states each version reaches, how often its actions fire, and a shortest run of each version to a state
    that the other does not reach. Nothing is said where a search was not complete."""

    states: dict[VersionName, int] = field(default_factory=dict)
    fired: dict[VersionName, Mapping[str, int]] = field(default_factory=dict)
    alone: dict[VersionName, tuple[Model, tuple[TraceState, ...]]] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        return len(self.states) == 2


def reach(
    old: Model, new: Model, options: Options, widths: Widths, known: Mapping[VersionName, Known], watch: Watcher | None
) -> Reach:
    """Searches both versions, which have the same variables, with the same widths to begin with.

    ``known`` are searches that have all states of a version, with the figures of its actions: where nothing was added,
    the states that both versions reach in the same way are all of the new version.
    """
    found = Reach()

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
            def looked(search: Search) -> None:
                look(version, search, search.found.actions)
                then(search)

            explored(model, options, looked, widths, watch)

    _searched("old", old, with_old)
    if not found.is_complete:
        found.alone = {}
    return found


def explored(
    model: Model, options: Options, then: Callable[[Search], None], widths: Widths = FIRST_WIDTHS,
    watch: Watcher | None = None,
) -> SearchResult:
    """A search without properties; ``then`` is called while it has its states, also if a limit ended it."""

    def prepared(model: Model, options: Options, widths: Widths) -> Callable[[], SearchResult]:
        search = begin(model, (), options, watch, InMemory())

        def run() -> SearchResult:
            try:
                result = search.run()
                then(search)
                return result
            finally:
                search.close()

        return run

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
    found: dict[VersionName, tuple[Model, tuple[TraceState, ...]]] = {}
    every = levels_of(old), levels_of(new)
    rows, levels = (every[0][0], every[1][0]), (every[0][1], every[1][1])
    numbers = np.zeros(len(rows[0]) + len(rows[1]), dtype=np.int64)
    for word in range(rows[0].shape[1]):
        numbers = combined(numbers, np.concatenate([each[:, word] for each in rows]))
    sides = numbers[: len(rows[0])], numbers[len(rows[0]) :]
    versions: tuple[tuple[VersionName, int, Search], ...] = (("old", 0, old), ("new", 1, new))
    for version, place, search in versions:
        alone = np.flatnonzero(~np.isin(sides[place], sides[1 - place]))
        alone = alone[_within(new if version == "old" else old, rows[place][alone], levels[place][alone])]
        if len(alone):
            trace = first_of(search, rows[place][alone], levels[place][alone])
            found[version] = search.tracer.model, trace
    return found


def _within(search: Search, rows: Rows, levels: Numbers) -> NDArray[np.bool_]:
    """Which states are within a version's boundary. One that is not may be where its runs end, so nothing is said of
    it; in a version with a boundary, only the nearest states are looked at."""
    model = search.model
    if not type(model).methods("boundary"):
        return np.ones(len(rows), dtype=np.bool_)
    inside = np.zeros(len(rows), dtype=np.bool_)
    for place in np.argsort(levels, kind="stable")[:MAX_ASKED]:
        inside[place] = within_boundary(model, search.interface.layout.unpack(int(word) for word in rows[place]))
    return inside


def first_of(search: Search, rows: Rows, levels: Numbers) -> tuple[TraceState, ...]:
    """A shortest run to one of some states of a search; of several, to the smallest as it is packed."""
    level = int(levels.min())
    state: Packed = min(tuple(int(word) for word in row) for row in rows[levels == level])
    return search.tracer.to_state(state, level)
