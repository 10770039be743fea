"""The states of a finished search and the steps between them, as flat arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.liveness.loops import BARRED, LABEL_MASK, LABEL_SHIFT, NOWHERE, STEERED
from floodmark.compiler.layout import Layout
from floodmark.language.model import State

Flags = NDArray[np.bool_]
Numbers = NDArray[np.int64]
Edges = NDArray[np.uint64]


@dataclass
class Graph:
    """States are numbered from 0 on. The edges of state ``i`` are ``edges[first[i] : first[i + 1]]``.

    ``loops`` defines the bits of an edge. Bit ``j`` of ``truth[i]`` is whether condition ``j`` holds in state ``i``.
    Stuttering steps are left out; steps that leave the bounds lead NOWHERE. ``words`` gives the packed form of a state,
    which orders equally short paths, and ``state`` its values. ``packed``, if present, has the packed form of all
    states in that layout.
    """

    first: NDArray[np.uint64]
    edges: Edges
    truth: NDArray[np.uint64]
    initial: Numbers
    words: Callable[[int], tuple[int, ...]]
    state: Callable[[int], State]
    packed: tuple[Edges, Layout] | None = None

    @property
    def states(self) -> int:
        return len(self.first) - 1

    def where(self, condition: int) -> Flags:
        """The states in which a condition holds."""
        return (self.truth >> np.uint64(condition) & np.uint64(1)).astype(np.bool_)

    def edges_of(self, states: Numbers) -> tuple[Numbers, Edges]:
        """The edges of some states: the source of each, and the edge itself."""
        start = self.first[states].astype(np.int64)
        count = self.first[states + 1].astype(np.int64) - start
        total = int(count.sum())
        before = np.cumsum(count) - count
        at = np.repeat(start - before, count) + np.arange(total, dtype=np.int64)
        return np.repeat(states, count), self.edges[at]

    def steps_of(
        self, states: Numbers, steered: bool = True, barred: bool = False
    ) -> tuple[Numbers, Numbers, Numbers]:
        """The edges of some states that stay within the bounds, as sources, labels and targets.

        ``steered=False`` leaves out edges that a bound steers; ``barred=True`` includes barred edges.
        """
        origin, edges = self.edges_of(states)
        target = (edges & np.uint64(NOWHERE)).astype(np.int64)
        kept = target != NOWHERE
        if not steered:
            kept &= edges & np.uint64(STEERED) == 0
        if not barred:
            kept &= edges & np.uint64(BARRED) == 0
        return origin[kept], labels(edges[kept]), target[kept]

    def smallest(self, states: Iterable[int]) -> int:
        """The state with the smallest packed form, which does not depend on the number of workers."""
        return min((int(state) for state in states), key=self.words)


def labels(edges: Edges) -> Numbers:
    return (edges >> np.uint64(LABEL_SHIFT) & np.uint64(LABEL_MASK)).astype(np.int64)
