"""What is asked about the paths of a case: assumptions, facts and the case itself, in the ranges of their numbers.

The ranges are asserted as part of everything that is assumed, and they hold on each path. A path may be asked with less
than everything: what has no model in these ranges with less, has none with everything, which says the ranges.
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
from floodmark.checkers.symbolic.tactics.simplification import Range, Simpler, conjuncts, ranges_in
from floodmark.checkers.symbolic.terms.axioms import Fact

FactsOf = Callable[[Sequence[Any]], Sequence[Fact]]


class Premises:
    """What is assumed: first everything, then parts of it; with the facts about them, which ``known`` tells.

    ``sets`` are the sorts of the sets that are counted.
    """

    def __init__(self, assumed: Sequence[Any], known: FactsOf, sets: Sequence[Any]) -> None:
        self._known = known
        self._stated = [*conjuncts(z3.simplify(assumed[0]))]
        self.sets = sets
        self._simplers: dict[frozenset[tuple[int, Range]], Simpler] = {}
        simpler = self._simpler(known(assumed))
        simple_parts = ([simpler.of(it) for it in conjuncts(z3.simplify(term))] for term in assumed)
        self.assumed = [z3.And(unconditional(parts)) for parts in simple_parts]
        self.facts = [[simpler.of(it.term) for it in simple(known([term]))] for term in assumed]

    def about(self, case: Case) -> PathQuestions:
        """The questions about a case."""
        facts = self._known(case)
        simpler = self._simpler(facts)
        said = [simpler.of(z3.simplify(term)) for term in case]
        return PathQuestions(self, start(said, [Fact(it.heads, simpler.of(it.term)) for it in simple(facts)]))

    def _simpler(self, facts: Iterable[Fact]) -> Simpler:
        ranges = ranges_in([*self._stated, *(it.term for it in simple(facts))])
        same = self._simplers.setdefault(frozenset(ranges.of.items()), Simpler(ranges))
        return Simpler(ranges, same)


class PathQuestions:
    """What is asked about the paths of one case, all of which are the path ``whole``."""

    def __init__(self, premises: Premises, whole: Path) -> None:
        self._premises = premises
        self.whole = whole

    @cached_property
    def _close(self) -> list[Any]:
        """What is assumed, as far as it is about sets of what the case mentions."""
        it = self._premises
        return [z3.simplify(instantiated(term, self.whole.stated, it.sets)) for term in it.assumed]

    def on(self, path: Path, at: int, closely: bool) -> list[Any]:
        """What is asked about a path with some of the premises, or ``closely`` with what is assumed of close sets."""
        assumed = self._close[at] if closely else self._premises.assumed[at]
        known = {term.get_id(): term for term in (*self._premises.facts[at], *path.known)}
        return [assumed, *known.values(), *path.stated]
