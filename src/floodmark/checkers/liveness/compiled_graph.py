"""The graph of a finished native search: its states as they are stored, their edges made again by compiled code."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.codegen.jit import GOOD, UNOPTIMISED, MachineCode, object_image
from floodmark.checkers.codegen.loop_compiler import compile_loops
from floodmark.checkers.codegen.model_module import CodePart, Interface, whole
from floodmark.checkers.kernel.compiled_model import code_hash
from floodmark.checkers.kernel.memory import MemoryBudget, reserve
from floodmark.checkers.liveness import components, loops
from floodmark.checkers.liveness.assumptions import Assumptions
from floodmark.checkers.liveness.graph import Edges, Flags, Graph, Numbers
from floodmark.checkers.liveness.labelled_module import MORE, labelled_parts
from floodmark.checkers.search_result import Limit, LimitReached, Limits, Stop
from floodmark.language.bounding import UnboundedAction
from floodmark.language.conditions import Condition
from floodmark.language.errors import ModelError
from floodmark.language.model import Model
from floodmark.language.reference import initial_states, within_boundary

Array = NDArray[np.uint64]
Rows = NDArray[np.uint64]

CHUNK = 1 << 15
"""The number of states whose edges one call computes."""
ROOM = 1 << 20
"""The minimum number of edges for which one call has room."""
MIN_STATES_FOR_OPTIMISED_CODE = 600_000
"""The least number of states for which optimised code pays off: it processes each state once, as the search's does."""


class NativeSolver:
    """Components by compiled loops."""

    def fair_components(
        self, graph: Graph, region: components.Region, demands: components.FairnessLabels, labels: int
    ) -> Numbers:
        return components.fair_components(graph, region, demands, labels)

    def unrecoverable(self, graph: Graph, goal: Flags, definite: bool) -> Flags:
        return components.unrecoverable(graph, goal, definite)


@dataclass
class GraphMaker:
    """Builds the graph of the states that a search has found: rows of words, in pieces, in any order.

    ``paused`` raises when a limit is reached.
    """

    model: Model
    pieces: Iterable[Rows]
    count: int
    threads: int
    conditions: Sequence[Condition]
    assumptions: Assumptions
    beyond: dict[str, UnboundedAction]
    paused: Callable[[], None]
    compile_seconds: float = 0.0

    def graph(self) -> Graph:
        """The graph. Raises ModelError if code cannot be compiled, SourceError if a condition fails."""
        started = time.perf_counter()
        self.made, self.interface = self._code()
        self.layout = self.interface.layout
        self.loops = _loops(self.layout.words)
        self.compile_seconds = time.perf_counter() - started
        self._index()
        self.truth = np.zeros(self.count, dtype=np.uint64)
        share = max(1, -(-self.count // self.threads))
        parts = [(start, min(start + share, self.count)) for start in range(0, self.count, share)]
        with ThreadPoolExecutor(self.threads) as threads:
            made = list(threads.map(lambda part: self._part(*part), parts))
        first = np.zeros(self.count + 1, dtype=np.uint64)
        number = total = 0
        edges: list[Edges] = []
        for those, own in (pair for found in made for pair in found):
            first[number + 1 : number + 1 + len(those)] = those + np.uint64(total)
            number += len(those)
            total += len(own)
            edges.append(own)
        whole_edges = np.concatenate([np.zeros(0, dtype=np.uint64), *edges])
        return Graph(
            first, whole_edges, self.truth, self._initial(),
            self._words, lambda number: self.layout.unpack(self._words(number)), (self.states, self.layout),
        )  # fmt: skip

    def _code(self) -> tuple[MachineCode, Interface]:
        try:
            made_of, interface = labelled_parts(self.model, self.conditions, self.assumptions, self.beyond)
            return _machine_code(
                made_of, type(self.model).__name__, self.count >= MIN_STATES_FOR_OPTIMISED_CODE
            ), interface
        except ModelError as error:
            if error.file is None:
                error.file, error.line = type(self.model).source_position()
            raise

    def _index(self) -> None:
        """Copies the states into one array, and their numbers into a hash table."""
        self.states = np.zeros((self.count, self.layout.words), dtype=np.uint64)
        at = 0
        for piece in self.pieces:
            self.paused()
            self.states[at : at + len(piece)] = piece
            at += len(piece)
        if at != self.count:
            raise RuntimeError(f"a search found {self.count} states and gives {at}")
        self.table = np.zeros(1 << (2 * self.count + 16).bit_length(), dtype=np.uint32)
        self.loops.function("enter", 2)(self._fields().ctypes.data, self.count)

    def _fields(self) -> Array:
        """The fields of a worker that are the same for all."""
        fields = np.zeros(loops.GATHERING_FIELDS, dtype=np.uint64)
        fields[loops.STATES_HERE] = self.states.ctypes.data
        fields[loops.TABLE] = self.table.ctypes.data
        fields[loops.MASK] = len(self.table) - 1
        fields[loops.EXPAND] = self.made.address("expand")
        fields[loops.CHECK] = self.made.address("check")
        fields[loops.MOST] = self.interface.most_successors
        fields[loops.LABELS] = self.assumptions.labels
        return fields

    def _initial(self) -> Numbers:
        """The numbers of the initial states, which CPython computes."""
        fields, find = self._fields(), self.loops.function("position_of", 2)
        found = set()
        for _, state in initial_states(self.model):
            if within_boundary(self.model, state):
                words = np.array(self.layout.pack(state), dtype=np.uint64)
                found.add(find(fields.ctypes.data, words.ctypes.data))
        if loops.NOWHERE in found:
            raise RuntimeError("an initial state is none of those that the search found")
        return np.array(sorted(found), dtype=np.int64)

    def _words(self, number: int) -> tuple[int, ...]:
        return tuple(int(word) for word in self.states[number])

    def _part(self, start: int, stop: int) -> list[tuple[Array, Edges]]:
        """The edges of some states, in pieces: the number of edges up to the end of each state, and the edges."""
        room = max(ROOM, 2 * (self.interface.most_successors + self.assumptions.labels))
        fields = self._fields()
        context = np.zeros(self.interface.context_words + 1, dtype=np.uint64)
        rows = reserve((self.interface.most_successors + 1) * (self.layout.words + MORE))
        edges, first = reserve(room), reserve(CHUNK)
        fields[loops.ROWS], fields[loops.CAPACITY] = rows.ctypes.data, room
        fields[loops.CONTEXT], fields[loops.EDGES] = context.ctypes.data, edges.ctypes.data
        fields[loops.FIRST] = first.ctypes.data
        gather, evaluate = self.loops.function("gather", 3), self.loops.function("evaluate", 3)
        found: list[tuple[Array, Edges]] = []
        at = start
        while at < stop:
            self.paused()
            done = gather(fields.ctypes.data, at, min(at + CHUNK, stop))
            if not done:
                raise RuntimeError("a state has more successors than there is room for")
            fields[loops.TRUTH] = self.truth[at:].ctypes.data
            failed = evaluate(fields.ctypes.data, at, at + done)
            if failed:
                self._explain_failure(at + failed - 1)
            found.append((first[:done].copy(), edges[: int(first[done - 1])].copy()))
            at += done
        return found

    def _explain_failure(self, number: int) -> None:
        state = self.layout.unpack(self._words(number))
        for condition in self.conditions:
            condition.holds(self.model, state)
        raise RuntimeError(f"a condition fails in compiled code and not in CPython, in {state}")


def _machine_code(made_of: Sequence[CodePart], name: str, good: bool) -> MachineCode:
    if good:
        key = {"whole": " ".join(part.key for part in made_of), "compiler": code_hash("checkers/liveness")}
        return MachineCode([object_image(key, lambda: whole(made_of, name), GOOD)])
    keys = [{"part": part.key, "compiler": code_hash("checkers/liveness")} for part in made_of]
    return MachineCode([object_image(key, part.module, UNOPTIMISED) for key, part in zip(keys, made_of, strict=True)])


@cache
def _loops(words: int) -> MachineCode:
    source = {"gathering": code_hash("checkers/liveness"), "words": str(words)}
    return MachineCode([object_image(source, lambda: compile_loops(loops.GATHERING, {"NW": words}), GOOD)])


def budget(started: float, limits: Limits) -> Callable[[], None]:
    """A function that raises LimitReached when the time or the memory limit is exceeded."""
    memory = MemoryBudget(limits.memory)

    def paused() -> None:
        stop = Limits(seconds=limits.seconds).reached(seconds=time.perf_counter() - started)
        if stop is None and memory.used() > memory.limit:
            stop = Stop(Limit.MEMORY)
        if stop is not None:
            raise LimitReached(stop)

    return paused
