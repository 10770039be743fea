"""Sets of any size as values of an uninterpreted sort, characterised by their membership predicate.

Sets are not z3's arrays: with arrays, z3 refuted what is possible with one element, as random models showed. The axioms
here all hold for finite sets. Extensionality is stated where the equality of two sets is used (``same``) and where a
relation distinguishes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import z3

from floodmark.checkers.symbolic.terms.axioms import Axioms
from floodmark.checkers.symbolic.terms.booleans import Truth, is_same


class SetSort:
    """The sets whose elements have components of these sorts."""

    def __init__(self, name: str, elements: Sequence[Any], axioms: Axioms) -> None:
        self.sort = z3.DeclareSort(name)
        self._axioms = axioms
        function = axioms.symbols.function
        self.holds = function(f"is in {name}", [self.sort, *elements], z3.BoolSort())
        self._differences = [function(f"difference in {name}", [self.sort, self.sort], sort) for sort in elements]
        self._same: Any = None

    def differ(self, one: Any, other: Any) -> Truth:
        """The statement that an element, always the same for these sets, is in exactly one of two sets."""
        element = [difference(one, other) for difference in self._differences]
        return z3.Xor(self.holds(one, *element), self.holds(other, *element))

    def same(self, one: Any, other: Any) -> Truth:
        """Whether two sets are equal."""
        if is_same(one, other):
            return True
        if self._same is None:
            self._same = self._axioms.symbols.function(f"equal {self.sort}", [self.sort, self.sort], z3.BoolSort())
            a, b = z3.Consts("a b", self.sort)
            statement = z3.If(self._same(a, b), a == b, self.differ(a, b))
            self._axioms.add([self._same], z3.ForAll([a, b], statement, patterns=[self._same(a, b)]))
        return self._same(one, other)

    def empty(self) -> Any:
        """The set without elements."""
        nothing = self._axioms.symbols.fresh("nothing", self.sort)
        elements = [z3.Const("each", self.holds.domain(at)) for at in range(1, self.holds.arity())]
        self._axioms.add([nothing], z3.ForAll(elements, z3.Not(self.holds(nothing, *elements))))
        return nothing


def tells_members_only(relation: Any, over: int, sets: dict[int, SetSort], axioms: Axioms) -> None:
    """An axiom about a relation with sets among its arguments, those with positions in ``sets``.

    It treats sets with the same members alike. The first ``over`` arguments are parameters of the relation.
    """
    fixed = [z3.Const(f"p{at}", relation.domain(at)) for at in range(over)]
    a, b = (
        [z3.Const(f"{side}{at}", relation.domain(at)) for at in range(over, relation.arity())] for side in "ab"
    )
    here, there = relation(*fixed, *a), relation(*fixed, *b)
    apart = [sets[at].differ(x, y) if at in sets else x != y for at, (x, y) in enumerate(zip(a, b, strict=True))]
    statement = z3.Or(z3.Not(here), there, *apart)
    axioms.add([relation], z3.ForAll([*fixed, *a, *b], statement, patterns=[z3.MultiPattern(here, there)]))
