"""Identifier classes with any number of members: an uninterpreted sort, constants, numbers of identifiers, and
cardinality. Every symbol here has an interpretation for each number of identifiers from one up, in which the axioms
about it are true:

- ``Broker(k)`` is a constant of the sort; where it is mentioned, there are at least k.
- ``number`` is an injective function from identifiers to 1 .. their count; the order of codes follows it. ``code`` is
  an injective function from sets to integers.
- ``size`` is the number of elements of a set. It is axiomatised by its ``laws``, each of which holds for all finite
  sets; a test proves them for every number of identifiers. In particular, two subsets of a third set intersect if
  together they have more elements than it: a proof knows nothing else about majorities.
"""

from __future__ import annotations

from typing import Any

import z3

from floodmark.checkers.symbolic.any_size.set_sorts import SetSort
from floodmark.checkers.symbolic.terms.axioms import Axioms
from floodmark.checkers.symbolic.terms.integers import Number
from floodmark.language.types import OpenIdentifierType


class OpenIdentifiers:
    """The identifiers of one kind, ``limit`` of them."""

    def __init__(self, kind: OpenIdentifierType, limit: Number, axioms: Axioms) -> None:
        self.kind = kind
        self.limit = limit
        self.sort = z3.DeclareSort(kind.cls.__name__)
        self.sets = SetSort(f"Set[{kind}]", [self.sort], axioms)
        self._axioms = axioms
        self._named: dict[int, Any] = {}
        self._number: Any = None
        self._size: Any = None

    @property
    def least(self) -> int:
        """The smallest number of identifiers for which everything mentioned exists."""
        return max(self._named, default=1)

    @property
    def are_counted(self) -> bool:
        """Whether any expression so far uses the size of a set of them."""
        return self._size is not None

    def named(self, number: int) -> Any:
        """The identifier with a number that the model mentions."""
        if number not in self._named:
            one = self._axioms.symbols.fresh(f"{self.kind.cls.__name__}({number})", self.sort)
            self._axioms.add([one], self.limit >= number)
            for other in self._named.values():
                self._axioms.add([one], one != other)
            self._named[number] = one
            if self._number is not None:
                self._axioms.add([self._number], self._number(one) == number)
        return self._named[number]

    def number(self, one: Any) -> Any:
        if self._number is None:
            name = f"number of {self.kind.cls.__name__}"
            self._number = self._axioms.symbols.function(name, [self.sort], z3.IntSort())
            back = self._axioms.symbols.function(f"with that {name}", [z3.IntSort()], self.sort)
            each = z3.Const("each", self.sort)
            its = self._number(each)
            statement = z3.And(its >= 1, its <= self.limit, back(its) == each)
            self._axioms.add([self._number], z3.ForAll([each], statement, patterns=[its]))
            for number, known in self._named.items():
                self._axioms.add([self._number], self._number(known) == number)
        return self._number(one)

    def size(self, members: Any) -> Any:
        """The number of elements of a set."""
        if self._size is None:
            self._size = self._axioms.symbols.function(f"size of Set[{self.kind}]", [self.sets.sort], z3.IntSort())
            for law in laws(self._size, self.sets, self.limit, self._axioms):
                self._axioms.add([self._size], law)
        return self._size(members)

    def strict_law(self) -> Any:
        """A further law, for claims: it has an instance for each member of any two sets, and no induction of this
        repository needs it.
        """
        return strict_law(self._size, self.sets, self._axioms)


def laws(size: Any, members: SetSort, limit: Any, axioms: Axioms) -> list[Any]:
    """The cardinality laws."""
    holds, sets, sort = members.holds, members.sort, members.holds.domain(1)
    a, b, c = z3.Consts("a b c", sets)
    x = z3.Const("x", sort)
    member = axioms.symbols.function("some member", [sets], sort)
    left_out = axioms.symbols.function("left out", [sets], sort)
    only = axioms.symbols.function("only in the first", [sets, sets], sort)
    common = axioms.symbols.function("in both", [sets, sets], sort)

    def exceeds(one: Any, other: Any) -> Any:
        return z3.And(holds(one, only(one, other)), z3.Not(holds(other, only(one, other))))

    meet = z3.And(holds(a, common(a, b)), holds(b, common(a, b)))
    return [
        z3.ForAll([a], z3.And(size(a) >= 0, size(a) <= limit), patterns=[size(a)]),
        z3.ForAll([a, x], z3.Implies(holds(a, x), size(a) >= 1), patterns=[z3.MultiPattern(size(a), holds(a, x))]),
        z3.ForAll([a], z3.Implies(size(a) >= 1, holds(a, member(a))), patterns=[size(a)]),
        z3.ForAll([a, x], z3.Implies(size(a) >= limit, holds(a, x))),
        z3.ForAll([a], z3.Or(size(a) >= limit, z3.Not(holds(a, left_out(a)))), patterns=[size(a)]),
        z3.ForAll([a, b], z3.Or(size(a) <= size(b), exceeds(a, b)), patterns=[z3.MultiPattern(size(a), size(b))]),
        z3.ForAll([a, b], z3.Or(size(a) + size(b) <= limit, meet), patterns=[z3.MultiPattern(size(a), size(b))]),
        z3.ForAll(
            [a, b, c],
            z3.Or(size(a) + size(b) <= size(c), exceeds(a, c), exceeds(b, c), meet),
            patterns=[z3.MultiPattern(size(a), size(b), size(c))],
        ),
    ]


def strict_law(size: Any, members: SetSort, axioms: Axioms) -> Any:
    """The law that a proper subset is smaller."""
    holds, sort = members.holds, members.holds.domain(1)
    a, b = z3.Consts("a b", members.sort)
    x = z3.Const("x", sort)
    only = axioms.symbols.function("only in the smaller", [members.sort, members.sort], sort)(a, b)
    exceeds = z3.And(holds(a, only), z3.Not(holds(b, only)))
    statement = z3.Or(size(a) < size(b), exceeds, z3.Not(holds(b, x)), holds(a, x))
    return z3.ForAll([a, b, x], statement, patterns=[z3.MultiPattern(size(a), size(b), holds(b, x))])
