"""The runs of one version as a graph: its reachable states, and the states outside the boundary in which runs end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.codegen.jit import GOOD, MachineCode, object_image
from floodmark.checkers.codegen.loop_compiler import compile_loops
from floodmark.checkers.edits import graph_loops as loops
from floodmark.checkers.edits.version_code import VersionCode
from floodmark.checkers.kernel.compiled_model import code_hash
from floodmark.checkers.kernel.memory import reserve
from floodmark.checkers.native.search import FileMigration, begin
from floodmark.checkers.search.driver import Search, search_in
from floodmark.checkers.search.store import StoreFull
from floodmark.checkers.search_result import Options, SearchResult, Stop, TraceState, Watcher
from floodmark.compiler.layout import Layout
from floodmark.language.model import Model, State, sized
from floodmark.language.reference import Step, initial_states, successors
from floodmark.language.widths import Widths

Rows = NDArray[np.uint64]
Numbers = NDArray[np.int64]
ROOM = 1 << 20
"""The minimum number of steps for which one call has room."""


@dataclass
class RunGraph:
    """States are numbered: first the reachable ones, then those outside the boundary. ``sources``, ``targets`` and
    ``labels`` describe the steps; a label is an index into ``actions``. ``initial`` are the initial states; ``depth``
    is the least number of steps to each state."""

    model: Model
    layout: Layout
    rows: Rows
    inside: int
    sources: Numbers
    targets: Numbers
    labels: Numbers
    actions: tuple[str, ...]
    initial: Numbers
    depth: Numbers

    @property
    def count(self) -> int:
        return len(self.rows)

    def state(self, number: int) -> State:
        return self.layout.unpack(int(word) for word in self.rows[number])

    def path_to(self, number: int) -> list[int]:
        """The numbers of the states of a shortest run to a state; of several runs, the one with the smallest states."""
        path = [number]
        while self.depth[path[0]]:
            before = self.sources[(self.targets == path[0]) & (self.depth[self.sources] == self.depth[path[0]] - 1)]
            path.insert(0, min((int(each) for each in before), key=lambda each: tuple(self.rows[each].tolist())))
        return path

    def trace(self, path: Sequence[int]) -> tuple[TraceState, ...]:
        """A run through these states, as steps that CPython takes."""
        states = [self.state(number) for number in path]
        trace = [TraceState(next(step for step, state in initial_states(self.model) if state == states[0]), states[0])]
        for before, after in pairwise(states):
            trace.append(TraceState(_step(self.model, before, after), after))
        return tuple(trace)


def _step(model: Model, before: State, after: State) -> Step:
    for step, state in successors(model, before):
        if state == after:
            return step
    raise RuntimeError(f"compiled code took a step that CPython does not take, from {before} to {after}")


def run_graph(
    model: Model, options: Options, paused: Callable[[], None], watch: Watcher | None = None
) -> tuple[SearchResult, RunGraph | None]:
    """The graph of a model's runs; None if a limit or an error of the model ended the search.

    Raises SourceError for a model that cannot be compiled, and Stopped if ``paused`` raises it.
    """
    rows: list[Rows] = []

    def start_search(model: Model, options: Options, _: Widths) -> Search:
        return begin(model, (), options, watch, NoMigration())

    def keep(search: Search, result: SearchResult) -> SearchResult:
        rows[:] = [np.zeros((0, search.store.words), dtype=np.uint64), *search.pieces()]
        return result

    found = search_in(model, options, watch, start_search, keep)
    if not found.complete:
        return found, None
    return found, _GraphMaker(sized(model, Widths(found.widths)), np.concatenate(rows), paused).graph()


class NoMigration(FileMigration):
    """Ends a search that would continue in files: a graph has to fit in memory."""

    def outgrown(self, search: Search, why: Stop) -> None:
        raise StoreFull(why)


class _GraphMaker:
    def __init__(self, model: Model, states: Rows, paused: Callable[[], None]) -> None:
        self.model = model
        self.states = np.ascontiguousarray(states)
        self.paused = paused
        self.code = VersionCode(model, threads=1)
        self.layout = self.code.interface.layout
        self.outside: dict[bytes, int] = {}

    def graph(self) -> RunGraph:
        sources, targets, labels = self._steps()
        initial = self._initial()
        left = np.frombuffer(b"".join(self.outside), dtype=np.uint64).reshape(-1, self.layout.words)
        rows = np.concatenate([self.states, left])
        graph = RunGraph(self.model, self.layout, rows, len(self.states), sources, targets, labels,
                         self.code.interface.actions, initial, depths(len(rows), initial, sources, targets))
        if (graph.depth < 0).any():
            raise RuntimeError("a state that the search found is not reached by the steps from the initial states")
        return graph

    def _steps(self) -> tuple[Numbers, Numbers, Numbers]:
        interface, words = self.code.interface, self.layout.words
        room = max(ROOM, interface.most_successors)
        rows = reserve((interface.most_successors + 1) * words)
        context = self.code.kernel.new_context()
        outside, sources, targets, labels = reserve(room * words), reserve(room), reserve(room), reserve(room)
        self.table = np.zeros(1 << (2 * len(self.states) + 16).bit_length(), dtype=np.uint32)
        fields = np.zeros(loops.FIELDS, dtype=np.uint64)
        for place, value in {
            loops.STATES_HERE: self.states.ctypes.data, loops.TABLE: self.table.ctypes.data,
            loops.MASK: len(self.table) - 1, loops.ROWS: rows.ctypes.data, loops.MOST: interface.most_successors,
            loops.CONTEXT: context.ctypes.data, loops.EXPAND: self.code.kernel.model.address("expand"),
            loops.ROOM: room, loops.OUTSIDE_ROWS: outside.ctypes.data, loops.SOURCES: sources.ctypes.data,
            loops.TARGETS: targets.ctypes.data,
            loops.LABELS: labels.ctypes.data, loops.ACTIONS: len(interface.actions),
        }.items():  # fmt: skip
            fields[place] = value
        self.fields = fields
        code = _code(words)
        code.function("enter", 2)(fields.ctypes.data, len(self.states))
        take = code.function("take_steps", 3)
        none = np.zeros(0, dtype=np.int64)
        found: list[tuple[Numbers, Numbers, Numbers]] = [(none, none, none)]
        at = 0
        while at < len(self.states):
            self.paused()
            done = take(fields.ctypes.data, at, len(self.states))
            if not done:
                raise RuntimeError("a step fails that did not fail in the search")
            made, left = int(fields[loops.MADE]), int(fields[loops.LEFT])
            to = targets[:made].astype(np.int64)
            numbers = np.array([self._outside(row) for row in outside[: left * words].reshape(-1, words)] or [0])
            beyond = to > loops.NOWHERE
            to[beyond] = numbers[to[beyond] - loops.NOWHERE - 1]
            found.append((sources[:made].astype(np.int64), to, labels[:made].astype(np.int64)))
            at += done
        every = [np.concatenate(each) for each in zip(*found, strict=True)]
        return every[0], every[1], every[2]

    def _outside(self, row: Rows) -> int:
        """The number of a state outside the boundary."""
        return len(self.states) + self.outside.setdefault(row.tobytes(), len(self.outside))

    def _initial(self) -> Numbers:
        find = _code(self.layout.words).function("position_of", 2)
        found = set()
        for _, state in initial_states(self.model):
            words = np.array(self.layout.pack(state), dtype=np.uint64)
            number = find(self.fields.ctypes.data, words.ctypes.data)
            found.add(self._outside(words) if number == loops.NOWHERE else number)
        return np.array(sorted(found), dtype=np.int64)


def depths(count: int, initial: Numbers, sources: Numbers, targets: Numbers) -> Numbers:
    """The least number of steps to each state; -1 for an unreachable one."""
    depth = np.full(count, -1, dtype=np.int64)
    depth[initial] = 0
    order = np.argsort(sources, kind="stable")
    ordered = targets[order]
    first = np.searchsorted(sources[order], np.arange(count + 1))
    frontier, level = initial, 0
    while len(frontier):
        level += 1
        size = first[frontier + 1] - first[frontier]
        at = np.repeat(first[frontier] - np.cumsum(size) + size, size) + np.arange(size.sum())
        reached = np.unique(ordered[at])
        frontier = reached[depth[reached] < 0]
        depth[frontier] = level
    return depth


@cache
def _code(words: int) -> MachineCode:
    source = {"steps of an edit": code_hash("checkers/edits", "checkers/liveness"), "words": str(words)}
    return MachineCode([object_image(source, lambda: compile_loops(loops.LOOPS, {"NW": words}), GOOD)])
