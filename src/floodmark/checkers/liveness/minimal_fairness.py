"""Finds a smallest set of fairness assumptions under which a property holds.

A run that violates the property under some assumptions is unfair to others, and every sufficient set contains one of
these. The search tries the smallest hitting sets of such groups first; each insufficient set yields a new group, so the
first sufficient set is a smallest one. A strong assumption implies the weak one of the same action, so it is required
only where the weak one does not suffice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product

import numpy as np

from floodmark.checkers.liveness.assumptions import Assumption
from floodmark.checkers.liveness.components import FairnessLabels
from floodmark.checkers.liveness.graph import Flags, Graph, Numbers
from floodmark.checkers.liveness.loops import BARRED, NOWHERE

MAX_COMPONENTS = 16
"""The maximum number of components of one search whose unfairness is examined; the smallest come first."""
Need = tuple[str, bool]
"""The fairness of an action, strong or not."""


def demands_of(assumptions: Iterable[Assumption]) -> FairnessLabels:
    """The labels of some assumptions."""
    weak: set[int] = set()
    strong: set[int] = set()
    for it in assumptions:
        (strong if it.strong else weak).update(range(it.first, it.first + it.count))
    return FairnessLabels(frozenset(weak), frozenset(strong))


def smallest_need(
    assumptions: Sequence[Assumption],
    breaks: Callable[[list[Assumption]], list[frozenset[Need]] | None],
    known: Iterable[frozenset[Need]] = (),
) -> list[Assumption]:
    """The first sufficient set of assumptions in the order of trying.

    ``breaks`` is given assumptions. If some run violates the property under them, it returns groups of needs of which
    every sufficient set contains one; else None. ``known`` groups only save attempts: no set that misses one suffices.
    """
    groups = list(known)
    for chosen in _candidates(assumptions, groups):
        found = breaks(chosen)
        if found is None:
            return chosen
        groups += [group for group in found if group not in groups]
    raise RuntimeError("a property holds under all assumptions and under no set of them")


def _candidates(assumptions: Sequence[Assumption], groups: list[frozenset[Need]]) -> Iterator[list[Assumption]]:
    """The sets of assumptions that hit every group, smallest first; ``groups`` grows during the iteration."""
    for size in range(len(assumptions) + 1):
        for stronger in range(size + 1):
            for chosen in combinations(assumptions, size):
                if not _may_suffice(chosen, groups):
                    continue
                for kinds in product((False, True), repeat=size):
                    if sum(kinds) != stronger or any(s and not it.strong for s, it in zip(kinds, chosen, strict=True)):
                        continue
                    candidate = [replace(it, strong=kind) for it, kind in zip(chosen, kinds, strict=True)]
                    needs = {need for it in candidate for need in satisfied_needs(it)}
                    if all(group & needs for group in groups):
                        yield candidate


def _may_suffice(chosen: Sequence[Assumption], groups: Sequence[frozenset[Need]]) -> bool:
    needs = {need for it in chosen for need in satisfied_needs(it)}
    return all(group & needs for group in groups)


def satisfied_needs(assumption: Assumption) -> list[Need]:
    """The needs that an assumption satisfies."""
    weak = assumption.action, False
    return [weak, (assumption.action, True)] if assumption.strong else [weak]


def unfairness(graph: Graph, assumptions: Sequence[Assumption], fair: Numbers) -> list[frozenset[Need]]:
    """For some components, the assumptions to which a run through the whole component is unfair."""
    sizes = np.bincount(fair)
    numbers = np.flatnonzero(sizes)
    numbers = numbers[numbers > 0]
    order = numbers[np.argsort(sizes[numbers], kind="stable")]
    found = []
    for number in order[:MAX_COMPONENTS].tolist():
        weak, strong = _violated(graph, fair == number)
        needs = set()
        for it in assumptions:
            own = set(range(it.first, it.first + it.count))
            if weak & own:
                needs.add((it.action, False))
            if it.strong and strong & own:
                needs.add((it.action, True))
        found.append(frozenset(needs))
    return found


def _violated(graph: Graph, members: Flags) -> tuple[set[int], set[int]]:
    """The labels to which the run through all members is not weakly fair, and not strongly fair."""
    states = np.flatnonzero(members)
    origin, edges = graph.edges_of(states)
    target = (edges & np.uint64(NOWHERE)).astype(np.int64)
    label = (edges >> np.uint64(32) & np.uint64((1 << 30) - 1)).astype(np.int64)
    kept = (target != NOWHERE) & (label != 0)
    barred = (edges & np.uint64(BARRED) != 0)[kept]
    origin, target, label = origin[kept], target[kept], label[kept]
    taken = set(np.unique(label[members[target] & ~barred]).tolist())
    pairs = np.unique(np.stack([label, origin]), axis=1)
    enabled, count = np.unique(pairs[0], return_counts=True)
    everywhere = set(enabled[count == len(states)].tolist())
    return everywhere - taken, set(enabled.tolist()) - taken
