"""Operations on sets and bags, as z3 terms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from floodmark.checkers.symbolic.terms.booleans import Truth, conj, disj, either, implied, negation
from floodmark.checkers.symbolic.translate.evaluation import EvaluationContext
from floodmark.checkers.symbolic.values.components import Relation
from floodmark.checkers.symbolic.values.types import Value
from floodmark.compiler import ir
from floodmark.language.types import BagType, SetType


class SetOperations:
    """Combines, compares and changes sets."""

    def __init__(self, context: EvaluationContext) -> None:
        self._context = context
        self._values = context.values

    def combine(self, node: ir.SetBinary, left: Value, right: Value) -> Value:
        """The union, the intersection, the difference or the symmetric difference of two sets."""
        kind, of = node.type, node.left.type
        assert isinstance(kind, SetType)
        assert isinstance(of, SetType)
        if isinstance(kind.element, ir.NothingType):
            return ()
        has = _COMBINED[node.op]
        if isinstance(left, Relation) or isinstance(right, Relation):
            return Relation(lambda item: has(left.holds(item), right.holds(item)), self._most(node.op, left, right))
        if of.capacity is None:
            return tuple(has(x, y) for x, y in zip(left, right, strict=True))
        if node.op in ("&", "-"):
            return self._filtered(kind, of, left, right, node.op == "&")
        if node.op == "^":
            left, right = self._filtered(of, of, left, right, False), self._filtered(of, of, right, left, False)
        return self._union(kind, of, left, right, node.at)

    def _union(self, kind: SetType, of: SetType, left: Value, right: Value, at: ir.Position) -> Value:
        assert kind.capacity is not None
        empty = (False, self._values.default(kind.element))
        result = (*left[: kind.capacity], *[empty] * (kind.capacity - len(left)))
        for there, _ in left[kind.capacity :]:
            self._context.fail_unless(negation(there), at)
        for there, item in self._values.containers.elements(of, right):
            room, larger = self._values.containers.with_element(kind, result, item)
            self._context.fail_unless(implied(there, room), at)
            result = self._values.either(kind, there, larger, result)
        return result

    def _filtered(self, kind: SetType, of: SetType, source: Value, other: Value, common: bool) -> Value:
        """The slots whose elements are in ``other`` too, if ``common``, or are not, moved together."""
        assert kind.capacity is not None

        def is_kept(there: Truth, item: Value) -> Truth:
            inside = self._values.containers.contains(of, other, item)
            return conj((there, inside if common else negation(inside)))

        if self._values.types.is_unordered(of):
            kept = tuple((is_kept(there, item), item) for there, item in source)
            return self._values.containers.resized(of, kind, kept)[1]
        result = self._values.default(kind)
        for there, item in self._values.containers.elements(of, source):
            result = self._values.either(kind, is_kept(there, item), ((True, item), *result[:-1]), result)
        return result

    def _most(self, op: str, left: Relation, right: Relation) -> Any:
        """The maximum number of elements of a combination of two sets; None if unknown."""
        if op == "-":
            return left.most
        if left.most is None or right.most is None:
            return (left.most if right.most is None else right.most) if op == "&" else None
        numbers = self._values.numbers
        return numbers.smaller(left.most, right.most) if op == "&" else numbers.plus(left.most, right.most)

    def is_subset(self, node: ir.Subset, left: Value, right: Value) -> Truth:
        kind = node.left.type
        assert isinstance(kind, SetType)
        contains = self._values.containers.contains
        if isinstance(left, Relation):
            item = self._values.components.variable(kind.element, "each")
            inside = self._values.quantifiers.of_every(item, implied(left.holds(item), contains(kind, right, item)))
        else:
            elements = self._values.containers.elements(kind, left)
            inside = conj(implied(there, contains(kind, right, item)) for there, item in elements)
        return conj((inside, negation(self._values.equal(kind, left, right)))) if node.strict else inside

    def change(self, node: ir.BagChange, value: Value, item: Value) -> Value:
        """A bag with one element more or less, or a set without an element."""
        kind = node.bag.type
        assert isinstance(kind, BagType | SetType)
        containers = self._values.containers
        if isinstance(value, Relation):
            self._context.fail_unless(value.holds(item), node.at)
            most = None if value.most is None else self._values.numbers.minus(value.most, 1)
            equal = self._values.equal
            return Relation(lambda x: conj((value.holds(x), negation(equal(kind.element, x, item)))), most)
        if kind.capacity is None:
            self._context.fail_unless(containers.contains(kind, value, item), node.at)
            here = containers.positions(kind.element, item)
            return tuple(conj((there, negation(it))) for there, it in zip(value, here, strict=True))
        if node.remove:
            possible, result = containers.without(kind.element, value, item)
        else:
            possible, result = containers.insert(kind.element, value, item, once=False)
        self._context.fail_unless(possible, node.at)
        return result


_COMBINED: dict[str, Callable[[Truth, Truth], Truth]] = {
    "|": lambda a, b: disj((a, b)),
    "&": lambda a, b: conj((a, b)),
    "-": lambda a, b: conj((a, negation(b))),
    "^": lambda a, b: either(a, negation(b), b),
}
