"""Fair components of a graph by Tarjan's algorithm and Streett's refinement, in compiled loops.

A fair run eventually stays in a strongly connected set of states that it visits infinitely often. Such a set is fair if
each weakly fair label is taken within it or disabled in one of its states, and each strongly fair label is taken within
it or disabled in all of them. If a component is unfair to a weakly fair label, so are its subsets. If a strongly fair
label is enabled and not taken in a component, the search continues in the component without the states that enable the
label, until nothing is left. A single state is a component too, since a run may always stutter: it is fair if it
enables no fair label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.codegen.jit import GOOD, MachineCode, object_image
from floodmark.checkers.codegen.loop_compiler import compile_loops
from floodmark.checkers.kernel.compiled_model import code_hash
from floodmark.checkers.liveness import loops
from floodmark.checkers.liveness.graph import Flags, Graph, Numbers

WORD = 64


@dataclass(frozen=True)
class FairnessLabels:
    """The labels with weak and with strong fairness. Any other label is free."""

    weak: frozenset[int]
    strong: frozenset[int]

    def without(self, others: frozenset[int]) -> FairnessLabels:
        return FairnessLabels(self.weak - others, self.strong - others)


@dataclass(frozen=True)
class Region:
    """The search space for a fair run: within ``inside``, from ``roots`` on, visiting ``recurring`` infinitely often.

    With ``beyond`` it has to be fair without the bounds, too: labels that may be enabled beyond them count as enabled.
    Without ``steered`` it takes no step of an action whose effect may depend on a bound.
    """

    inside: Flags
    roots: Flags
    recurring: Flags
    beyond: bool = False
    steered: bool = True


def fair_components(graph: Graph, region: Region, demands: FairnessLabels, labels: int) -> Numbers:
    """The number of each state's fair component, from 1 on; 0 for none."""
    return _FairComponents(graph, region, demands, labels).run()


class _FairComponents:
    def __init__(self, graph: Graph, region: Region, demands: FairnessLabels, labels: int) -> None:
        self.graph = graph
        self.region = region
        self.words = -(-labels // WORD)
        self.weak = self._bits(demands.weak)
        self.strong = self._bits(demands.strong)
        self.fields = np.zeros(loops.COMPONENT_FIELDS, dtype=np.uint64)
        self.kept: dict[int, NDArray[Any]] = {}
        count = graph.states
        code = _code()
        self._components = code.function("components", 1)
        self._survey = code.function("survey", 1)
        self._split = code.function("split", 1)
        self.number = self._array(loops.NUMBER, np.where(region.inside, 0, loops.OUT_OF_REGION).astype(np.uint32))
        self.component = self._array(loops.COMPONENT, np.zeros(count, dtype=np.uint32))
        self.stutters = self._array(loops.STUTTERS, np.zeros(count, dtype=np.uint32))
        for field in (loops.LOW, loops.STACK, loops.PATH):
            self._array(field, np.empty(count + 1, dtype=np.uint32))
        self._array(loops.CURSOR, np.empty(count + 1, dtype=np.uint64))
        self._array(loops.G_FIRST, graph.first)
        self._array(loops.G_EDGES, graph.edges)
        self._array(loops.ROOTS, (region.roots & region.inside).astype(np.uint32))
        self._array(loops.RECURRING, region.recurring.astype(np.uint32))
        self._array(loops.ENABLED, np.zeros(self.words, dtype=np.uint64))
        self._array(loops.FAIR_LABELS, self.weak | self.strong)
        self.fields[loops.STATES] = count
        self.fields[loops.LABEL_WORDS] = self.words
        self.fields[loops.AVOID] = loops.BARRED if region.steered else loops.BARRED | loops.STEERED
        self.fields[loops.BEYOND] = int(region.beyond)

    def _array(self, field: int, array: NDArray[Any]) -> NDArray[Any]:
        """Stores an array in a field of the compiled loops, and returns it."""
        kept = np.ascontiguousarray(array)
        self.kept[field] = kept
        self.fields[field] = kept.ctypes.data
        return kept

    def _bits(self, labels: frozenset[int]) -> NDArray[np.uint64]:
        bits = np.zeros(self.words, dtype=np.uint64)
        for label in labels:
            bits[label // WORD] |= np.uint64(1 << label % WORD)
        return bits

    def run(self) -> Numbers:
        fair: Numbers = np.zeros(self.graph.states, dtype=np.int64)
        known = 0
        while True:
            found = self._components(self.fields.ctypes.data)
            several = self._surveyed(found)
            good, again = self._fairness(several)
            number = np.zeros(found + 1, dtype=np.int64)
            number[several[good]] = known + 1 + np.arange(int(good.sum()))
            known += int(good.sum())
            fair = np.maximum(fair, number[self.component])
            if not again.any():
                break
            self.kept[loops.RECURS][1:][again] = 2
            if not self._split(self.fields.ctypes.data):
                break
            self._array(loops.ROOTS, np.ones(self.graph.states, dtype=np.uint32))
        alone = np.flatnonzero((self.stutters != 0) & (fair == 0))
        fair[alone] = known + 1 + np.arange(len(alone))
        return fair

    def _surveyed(self, found: int) -> Numbers:
        """Numbers the components with several states, records the labels that they enable and take, and returns the
        numbers."""
        sizes = np.bincount(self.component, minlength=found + 1)
        sizes[0] = 0
        several: Numbers = np.flatnonzero(sizes > 1).astype(np.int64)
        dense = np.zeros(found + 1, dtype=np.uint32)
        dense[several] = 1 + np.arange(len(several), dtype=np.uint32)
        self._array(loops.DENSE, dense)
        shape = (len(several) + 1, self.words)
        self._array(loops.EVERY, np.full(shape, 2**64 - 1, dtype=np.uint64))
        self._array(loops.SOME, np.zeros(shape, dtype=np.uint64))
        self._array(loops.TAKEN, np.zeros(shape, dtype=np.uint64))
        self._array(loops.RECURS, np.zeros(len(several) + 1, dtype=np.uint32))
        self._survey(self.fields.ctypes.data)
        return several

    def _fairness(self, several: Numbers) -> tuple[Flags, Flags]:
        """Two flags for each component: it is fair; it may contain a smaller fair one. Records the bad labels of the
        latter."""
        every, some, taken = (self.kept[field][1:] for field in (loops.EVERY, loops.SOME, loops.TAKEN))
        visits = self.kept[loops.RECURS][1:] != 0
        starved = (every & ~taken & self.weak).any(axis=1)
        bad = some & ~taken & self.strong
        badly = bad.any(axis=1)
        self._array(loops.BAD, np.concatenate([np.zeros((1, self.words), dtype=np.uint64), bad]))
        hopeful = visits & ~starved
        good: Flags = hopeful & ~badly
        return good, hopeful & badly


def unrecoverable(graph: Graph, goal: Flags, definite: bool) -> Flags:
    """The states from which no run reaches a goal state; with ``definite``, not even one beyond the bounds."""
    every = np.ones(graph.states, dtype=np.bool_)
    search = _FairComponents(graph, Region(every, every, every), FairnessLabels(frozenset(), frozenset()), 1)
    found = search._components(search.fields.ctypes.data)
    search._array(loops.ORDER, np.argsort(search.component, kind="stable").astype(np.uint64))
    search._array(loops.GOAL, goal.astype(np.uint32))
    can = search._array(loops.CAN, np.zeros(found + 1, dtype=np.uint32))
    search.fields[loops.BEYOND] = int(definite)
    _code().function("recover", 1)(search.fields.ctypes.data)
    lost: Flags = can[search.component] == 0
    return lost


_CODE: list[MachineCode] = []


def _code() -> MachineCode:
    if not _CODE:
        image = object_image({"liveness": code_hash("checkers/liveness")}, lambda: compile_loops(loops.GRAPH, {}), GOOD)
        _CODE.append(MachineCode([image]))
    return _CODE[0]
