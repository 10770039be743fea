"""Counts the coverage of states and their steps, in compiled code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.codegen.coverage_module import (
    COVER,
    CoverageInterface,
    coverage_interface,
    coverage_parts,
)
from floodmark.checkers.codegen.jit import GOOD, MachineCode, object_image
from floodmark.checkers.codegen.loop_compiler import Word, Words, call_model, compile_loops, exported, offset
from floodmark.checkers.codegen.model_module import whole
from floodmark.checkers.coverage.conditions import text_of
from floodmark.checkers.kernel.compiled_model import code_hash
from floodmark.checkers.kernel.memory import reserve
from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import Coverage, CoverageCount
from floodmark.compiler.ir import Position
from floodmark.compiler.layout import Layout
from floodmark.compiler.marks import MarkedAction, MarkedPredicate, marked_action, marked_predicate, marked_values
from floodmark.compiler.program import read_action, read_as_written
from floodmark.language.model import Model

Array = NDArray[np.uint64]
NW = 1
STATES = "states"
"""The part that counts the values of variables."""


@exported
def cover_states(function: Word, states: Words, count: Word, after: Words, context: Words) -> Word:
    """Calls the counting code for some states, one after the other."""
    for i in range(count):
        call_model(function, offset(states, i * NW), after, context)
    return 0


@dataclass(frozen=True, slots=True)
class CoverageCode:
    """The counting code of a model with its properties."""

    layout: Layout
    interface: CoverageInterface
    model: MachineCode
    loops: MachineCode

    @property
    def address(self) -> int:
        """The address of the function that counts the coverage of one state."""
        return self.model.address(COVER)


def build_coverage_code(model: Model, properties: Sequence[Property], layout: Layout) -> CoverageCode:
    """Compiles the counting code, or takes it from the cache. Properties of runs and refinements count nothing: they
    are not about one state or one step of the source."""
    cls = type(model)
    file, line = cls.source_position()
    at = Position(file or "", line or 0)
    parts: list[MarkedAction | MarkedPredicate] = [
        marked_values(layout.variables, dict.fromkeys(layout.variables, at))
    ]
    for prop in properties:
        if not prop.is_liveness and not prop.is_refinement:
            parts.append(marked_predicate(read_as_written(model, prop.name, prop.function, prop.kind)))
    for name, method in cls.methods("action").items():
        parts.append(marked_action(read_action(model, name, method)))
    interface = coverage_interface(parts)
    made_of = coverage_parts(cls.__name__, layout, interface)
    hashed = code_hash("checkers/coverage")
    key = {"coverage": " ".join(part.key for part in made_of), "compiler": hashed}
    image = object_image(key, lambda: whole(made_of, cls.__name__, [COVER]), GOOD)
    words = str(layout.words)
    loop = object_image({"loop": hashed, "words": words}, lambda: compile_loops([cover_states], {"NW": layout.words}))
    return CoverageCode(layout, interface, MachineCode([image]), MachineCode([loop]))


class CoverageCounter:
    """The counts of one thread."""

    def __init__(self, code: CoverageCode) -> None:
        self.code = code
        self.after = reserve(code.layout.words)
        self.context = reserve(code.interface.words)
        self._cover = code.loops.function("cover_states", 5)

    def count(self, states: Array) -> None:
        """Counts the coverage of some states, rows of words."""
        rows = np.ascontiguousarray(states)
        places = self.after.ctypes.data, self.context.ctypes.data
        self._cover(self.code.address, rows.ctypes.data, len(rows), *places)


def coverage_of(
    model: Model, properties: Sequence[Property], layout: Layout, pieces: Iterable[Array], workers: int
) -> Coverage:
    """The coverage by all states of a search and their steps; ``pieces`` are rows of words."""
    code = build_coverage_code(model, properties, layout)
    free = [CoverageCounter(code) for _ in range(max(workers, 1))]
    counters = tuple(free)

    def count(states: Array) -> None:
        mine = free.pop()
        mine.count(states)
        free.append(mine)

    with ThreadPoolExecutor(len(counters)) as threads:
        for start in _some_at_a_time(pieces, len(counters)):
            list(threads.map(count, start))
    return coverage(code, [counter.context for counter in counters])


def _some_at_a_time(pieces: Iterable[Array], count: int) -> Iterable[list[Array]]:
    """The pieces in lists, so that only some of them are in memory at once."""
    some: list[Array] = []
    for piece in pieces:
        some += np.array_split(piece, count)
        if len(some) >= 4 * count:
            yield some
            some = []
    yield some


def coverage(code: CoverageCode, contexts: Sequence[Array]) -> Coverage:
    """The sum of the counts of all threads."""
    total: Array = np.add.reduce(list(contexts))
    interface = code.interface
    counts = tuple(
        CoverageCount(
            part_name(part), mark.kind, mark.file, mark.line, mark.column, mark.outcome, text_of(mark),
            int(total[place]),
        )
        for part, mark, place in interface.marks()
    )
    complete = {
        part_name(part): int(total[place]) for part, place in zip(interface.parts, interface.wholes, strict=True)
    }
    return Coverage(complete.pop(STATES), complete, counts)


def part_name(part: MarkedAction | MarkedPredicate) -> str:
    """The name of an action or a property in results."""
    if isinstance(part, MarkedAction):
        return f"action {part.name}"
    return STATES if part.kind == "values" else f"{part.kind} {part.name}"
