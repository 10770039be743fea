"""Queries about the paths of a case: assumptions, axioms and the case itself, simplified by the ranges of their
numbers.

The ranges are asserted as part of the whole assumptions, and they hold on each path. A path may be queried with fewer
assumptions: if these and the ranges are unsatisfiable together, so are all assumptions, which imply the ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import z3

from floodmark.checkers.symbolic.tactics.case_split import Case
from floodmark.checkers.symbolic.tactics.instantiation import instantiated
from floodmark.checkers.symbolic.tactics.path_split import Path, simple, start
from floodmark.checkers.symbolic.tactics.premise_elimination import unconditional
from floodmark.checkers.symbolic.tactics.simplification import Range, Simplifier, conjuncts, ranges_in
from floodmark.checkers.symbolic.terms.axioms import Axiom

AxiomsOf = Callable[[Sequence[Any]], Sequence[Axiom]]


class PathPremises:
    """The premises: first all, then parts of them; with the axioms about them, from ``known``.

    ``sets`` are the sorts of the counted sets.
    """

    def __init__(self, assumed: Sequence[Any], known: AxiomsOf, sets: Sequence[Any]) -> None:
        self._known = known
        self._stated = [*conjuncts(z3.simplify(assumed[0]))]
        self.sets = sets
        self._simplers: dict[frozenset[tuple[int, Range]], Simplifier] = {}
        simpler = self._simpler(known(assumed))
        simple_parts = ([simpler.of(it) for it in conjuncts(z3.simplify(term))] for term in assumed)
        self.assumed = [z3.And(unconditional(parts)) for parts in simple_parts]
        self.axioms = [[simpler.of(it.term) for it in simple(known([term]))] for term in assumed]

    def about(self, case: Case) -> PathQuestions:
        axioms = self._known(case)
        simpler = self._simpler(axioms)
        lines = [simpler.of(z3.simplify(term)) for term in case]
        return PathQuestions(self, start(lines, [Axiom(it.heads, simpler.of(it.term)) for it in simple(axioms)]))

    def _simpler(self, axioms: Iterable[Axiom]) -> Simplifier:
        ranges = ranges_in([*self._stated, *(it.term for it in simple(axioms))])
        same = self._simplers.setdefault(frozenset(ranges.of.items()), Simplifier(ranges))
        return Simplifier(ranges, same)


class PathQuestions:
    """Queries about the paths of one case, all of which are the path ``whole``."""

    def __init__(self, premises: PathPremises, whole: Path) -> None:
        self._premises = premises
        self.whole = whole

    @cached_property
    def _close(self) -> list[Any]:
        """The premises about sets of the terms that the case mentions."""
        it = self._premises
        return [z3.simplify(instantiated(term, self.whole.conditions, it.sets)) for term in it.assumed]

    def on(self, path: Path, at: int, closely: bool) -> list[Any]:
        """The query about a path with some of the premises, or ``closely`` with the assumptions about close sets."""
        assumed = self._close[at] if closely else self._premises.assumed[at]
        known = {term.get_id(): term for term in (*self._premises.axioms[at], *path.known)}
        return [assumed, *known.values(), *path.conditions]
