"""The graph of a finished native search: its states as they are stored, their edges made again by compiled code."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from floodmark.checkers.codegen.jit import GOOD, PLAIN, MachineCode, object_image
from floodmark.checkers.codegen.loop_compiler import compile_loops
from floodmark.checkers.codegen.model_module import Interface, Part, whole
from floodmark.checkers.exploration import Limits
from floodmark.checkers.liveness import components, loops
from floodmark.checkers.liveness.assumptions import Assumptions
from floodmark.checkers.liveness.graph import Edges, Flags, Graph, Numbers
from floodmark.checkers.liveness.labelled_module import MORE, labelled_parts
from floodmark.checkers.liveness.sources import own_sources
from floodmark.checkers.native.memory import physical_memory, reserve
from floodmark.checkers.native.worker import Array, Crew, Worker
from floodmark.language.bounding import Beyond
from floodmark.language.conditions import Condition
from floodmark.language.errors import ModelError
from floodmark.language.model import Model

CHUNK = 1 << 15
"""States whose edges are made in one call."""
ROOM = 1 << 20
"""Edges that fit into the room of one call, at least."""
SHARE_OF_MEMORY = 0.85
"""How much of the machine's memory states and edges may take when no limit is given."""
MANY_STATES = 100_000
"""From so many states on, code is worth to be optimised."""


class NativeSolver:
    """Components by compiled loops."""

    def fair_components(
        self, graph: Graph, region: components.Region, demands: components.Demands, labels: int
    ) -> Numbers:
        return components.fair_components(graph, region, demands, labels)

    def unrecoverable(self, graph: Graph, goal: Flags, definite: bool) -> Flags:
        return components.unrecoverable(graph, goal, definite)


@dataclass
class GraphMaker:
    """Makes the graph of the states that the workers of a search hold.

    ``paused`` is told how many bytes it takes by then, and raises when a limit is reached.
    """

    model: Model
    crew: Crew
    conditions: Sequence[Condition]
    assumptions: Assumptions
    beyond: dict[str, Beyond]
    paused: Callable[[int], None]
    memory: int = 0
    compile_seconds: float = 0.0

    def graph(self) -> Graph:
        """The graph. Raises ModelError for what cannot be compiled, SourceError where a condition fails."""
        workers = self.crew.workers
        counts = [worker.count for worker in workers]
        self.bases = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint64)
        started = time.perf_counter()
        made, interface = self._code(sum(counts))
        self.compile_seconds = time.perf_counter() - started
        self.loops = _loops(self.crew.words, len(workers))
        self.truth = np.zeros(sum(counts), dtype=np.uint64)
        with ThreadPoolExecutor(len(workers)) as threads:
            parts = list(threads.map(lambda worker: self._part(worker, made, interface), workers))
        ends = [ends for found, _ in parts for ends in found]
        edges = [edges for _, found in parts for edges in found]
        first = np.zeros(sum(counts) + 1, dtype=np.uint64)
        number = total = 0
        for those, own in zip(ends, edges, strict=True):
            first[number + 1 : number + 1 + len(those)] = those + np.uint64(total)
            number += len(those)
            total += len(own)
        whole_edges = np.concatenate([np.zeros(0, dtype=np.uint64), *edges])
        layout = interface.layout
        return Graph(
            first, whole_edges, self.truth, self._initial(),
            self._words, lambda number: layout.unpack(self._words(number)),
        )  # fmt: skip

    def _code(self, states: int) -> tuple[MachineCode, Interface]:
        try:
            made_of, interface = labelled_parts(self.model, self.conditions, self.assumptions, self.beyond)
            return _machine_code(made_of, type(self.model).__name__, states >= MANY_STATES), interface
        except ModelError as error:
            if error.file is None:
                error.file, error.line = type(self.model).source_position()
            raise

    def _initial(self) -> Numbers:
        ranges = [worker.levels[0] for worker in self.crew.workers]
        return np.concatenate([
            np.arange(start, stop, dtype=np.int64) + int(base)
            for (start, stop), base in zip(ranges, self.bases, strict=False)
        ])  # fmt: skip

    def _words(self, number: int) -> tuple[int, ...]:
        owner = int(np.searchsorted(self.bases, number, side="right")) - 1
        return self.crew.state((number - int(self.bases[owner])) * len(self.crew.workers) + owner)

    def _part(self, worker: Worker, made: MachineCode, interface: Interface) -> tuple[list[Array], list[Edges]]:
        """The edges of a worker's states, in pieces: how many there are after each state of one, and the edges."""
        words = self.crew.words
        room = max(ROOM, 2 * (interface.most_successors + self.assumptions.labels))
        fields = reserve(loops.GATHERING_FIELDS)
        fields[: len(worker.fields)] = worker.fields
        context = worker_context(interface)
        rows = reserve((interface.most_successors + 1) * (words + MORE))
        edges, first = reserve(room), reserve(CHUNK)
        for field, value in {
            loops.ROWS: rows.ctypes.data,
            loops.MOST: interface.most_successors,
            loops.CAPACITY: room,
            loops.CONTEXT: context.ctypes.data,
            loops.EXPAND: made.address("expand"),
            loops.CHECK: made.address("check"),
            loops.BASES: self.bases.ctypes.data,
            loops.EDGES: edges.ctypes.data,
            loops.FIRST: first.ctypes.data,
            loops.LABELS: self.assumptions.labels,
        }.items():
            fields[field] = value
        gather, evaluate = self.loops.function("gather", 4), self.loops.function("evaluate", 4)
        ends: list[Array] = []
        found: list[Edges] = []
        base = int(self.bases[worker.number])
        at = 0
        while at < worker.count:
            self.paused(self.memory)
            stop = min(at + CHUNK, worker.count)
            done = gather(fields.ctypes.data, worker.store.ctypes.data, at, stop)
            if not done:
                raise RuntimeError("a state has more successors than there is room for")
            fields[loops.TRUTH] = self.truth[base + at :].ctypes.data
            failed = evaluate(fields.ctypes.data, worker.store.ctypes.data, at, at + done)
            if failed:
                self._explain_failure(base + at + failed - 1, interface)
            ends.append(first[:done].copy())
            found.append(edges[: int(first[done - 1])].copy())
            self.memory += 2 * (ends[-1].nbytes + found[-1].nbytes)  # in pieces, and then in one
            at += done
        return ends, found

    def _explain_failure(self, number: int, interface: Interface) -> None:
        state = interface.layout.unpack(self._words(number))
        for condition in self.conditions:
            condition.holds(self.model, state)
        raise RuntimeError(f"a condition fails in compiled code and not in CPython, in {state}")


def worker_context(interface: Interface) -> Array:
    """A context as the model's code expects it."""
    return reserve(interface.context_words + 1)


def _machine_code(made_of: Sequence[Part], name: str, good: bool) -> MachineCode:
    if good:
        key = {"whole": " ".join(part.key for part in made_of), "compiler": own_sources()}
        return MachineCode([object_image(key, lambda: whole(made_of, name), GOOD)])
    keys = [{"part": part.key, "compiler": own_sources()} for part in made_of]
    return MachineCode([object_image(key, part.module, PLAIN) for key, part in zip(keys, made_of, strict=True)])


_KNOWN_LOOPS: dict[tuple[int, int], MachineCode] = {}


def _loops(words: int, threads: int) -> MachineCode:
    key = (words, threads)
    if key not in _KNOWN_LOOPS:
        constants = {"NW": words, "THREADS": threads}
        source = {"gathering": own_sources(), "constants": repr(constants)}
        image = object_image(source, lambda: compile_loops(loops.GATHERING, constants), GOOD)
        _KNOWN_LOOPS[key] = MachineCode([image])
    return _KNOWN_LOOPS[key]


class Ended(Exception):  # noqa: N818 - it is no error
    """A limit ended the check of liveness."""


def budget(started: float, limits: Limits) -> Callable[[int], None]:
    """Raises Ended when the time is over, or so many bytes are too many."""
    most = limits.memory or int(SHARE_OF_MEMORY * physical_memory())

    def paused(memory: int) -> None:
        if limits.seconds is not None and time.perf_counter() - started > limits.seconds:
            raise Ended(f"the limit of {limits.seconds:g} seconds")
        if memory > most:
            raise Ended("the memory limit")

    return paused
