"""Comparisons of the size of a set of any size with a small number, by naming its elements."""

from __future__ import annotations

from collections.abc import Callable

from floodmark.checkers.symbolic.terms.booleans import Truth, conj, negation
from floodmark.checkers.symbolic.translate.any_size_loops import MIRRORED, plain_number
from floodmark.checkers.symbolic.translate.evaluation import Evaluate
from floodmark.checkers.symbolic.values.components import Relation
from floodmark.checkers.symbolic.values.value import Values
from floodmark.compiler import ir
from floodmark.language.types import IntType, SetType, Type

MAX_NAMED = 3
"""The largest number with which the size of a set of any size is compared by naming its elements."""


class SmallCounts:
    """Compares sizes with small numbers."""

    def __init__(
        self, values: Values, evaluate: Evaluate, summed_set: Callable[[ir.Reduce], tuple[Type, Relation] | None]
    ) -> None:
        self._values = values
        self._evaluate = evaluate
        self._summed_set = summed_set

    def compare(self, node: ir.Compare | ir.Equal) -> Truth | None:
        """A comparison of such a size with such a number; None if it is another comparison."""
        if not self._values.types.any_size or not isinstance(node.left.type, IntType):
            return None
        operator = "==" if isinstance(node, ir.Equal) else node.op
        for counted, number, op in ((node.left, node.right, operator), (node.right, node.left, MIRRORED[operator])):
            limit = _small(number)
            found = None if limit is None else self._counted_set(counted)
            if limit is None or found is None:
                continue
            element, members = found
            some = {count: self._at_least(element, members, count) for count in (limit, limit + 1)}
            match op:
                case ">=":
                    return some[limit]
                case ">":
                    return some[limit + 1]
                case "<":
                    return negation(some[limit])
                case "<=":
                    return negation(some[limit + 1])
            return conj((some[limit], negation(some[limit + 1])))
        return None

    def _counted_set(self, node: ir.Expr) -> tuple[Type, Relation] | None:
        """The set whose elements an expression counts, if it may have any size."""
        node = plain_number(node)
        if isinstance(node, ir.Size) and self._values.types.is_relation(node.container.type):
            assert isinstance(node.container.type, SetType)
            return node.container.type.element, self._evaluate(node.container)
        if isinstance(node, ir.Reduce) and node.kind == "sum":
            return self._summed_set(node)
        return None

    def _at_least(self, element: Type, members: Relation, count: int) -> Truth:
        """Whether a set has so many elements."""
        named = [self._values.components.variable(element, "one") for _ in range(count)]
        different = (
            negation(self._values.equal(element, a, b)) for index, a in enumerate(named) for b in named[:index]
        )
        return self._values.quantifiers.of_some(tuple(named), conj((*map(members.holds, named), *different)))


def _small(node: ir.Expr) -> int | None:
    node = plain_number(node)
    if isinstance(node, ir.Const) and isinstance(node.value, int) and node.value <= MAX_NAMED:
        return node.value
    return None
