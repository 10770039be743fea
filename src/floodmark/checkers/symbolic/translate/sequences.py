"""Sequences and their positions, as z3 terms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from floodmark.checkers.symbolic.terms.booleans import Truth, as_term, conj, implied
from floodmark.checkers.symbolic.translate.evaluation import EvaluationContext
from floodmark.checkers.symbolic.values.components import Relation
from floodmark.checkers.symbolic.values.types import UnsupportedError, Value
from floodmark.compiler import ir
from floodmark.language.types import IntType, SeqType, Type


def require_positions(value: Value) -> Value:
    """A sequence, which has to be one whose elements have positions."""
    if isinstance(value, Relation):
        message = "a list of any length has no positions here, so it cannot be indexed, cut, joined or sorted"
        raise UnsupportedError(message)
    return value


class Sequences:
    """Reads and makes sequences."""

    def __init__(self, context: EvaluationContext) -> None:
        self._context = context
        self._values = context.values

    def element(self, kind: SeqType, value: Value, index: Any, at: ir.Position) -> Value:
        """The element at a position; fails if the index is out of range."""
        if isinstance(value, Relation):
            return self._some_element(kind.element, value, index, at)
        if kind.capacity == 0:
            self._context.fail_unless(False, at)
            return self._values.default(kind.element)
        return self._values.containers.selected(kind.element, value[1], self.positions(kind, value, index, at))

    def positions(self, kind: SeqType, value: Value, index: Any, at: ir.Position) -> list[Truth]:
        """The condition, for each position, that an index denotes it, as in Python; fails if the index is out of range.
        """
        numbers = self._values.numbers
        length = value[0]
        index = numbers.either(numbers.less(index, 0), numbers.plus(index, length), index)
        self._context.fail_unless(conj((numbers.at_most(0, index), numbers.less(index, length))), at)
        return [numbers.equal(index, position) for position in range(kind.capacity)]

    def _some_element(self, kind: Type, value: Relation, index: Any, at: ir.Position) -> Value:
        """The element at a position of a list of any length: some element, if the list has that position.

        If the list is sorted, the elements up to that position are at least as good (as large or larger, if the largest
        come first), and they number one more than the position. All better elements come before it, so they number at
        most as many as the position.
        """
        if value.length is None or not isinstance(kind, IntType):
            raise UnsupportedError("this list may have any length, which is not known, so it cannot be indexed here")
        numbers, axioms = self._values.numbers, self._values.axioms
        place = numbers.either(numbers.less(index, 0), numbers.plus(index, value.length), index)
        inside = conj((numbers.at_most(0, place), numbers.less(place, value.length)))
        self._context.fail_unless(inside, at)
        example = self._values.components.variable(kind, "element")
        over = axioms.free(as_term(value.holds(example)), as_term(inside), besides=[example])
        element = axioms.chosen("element", example.sort(), over)
        known = [value.holds(element)]
        if value.order and value.among is not None:
            falls = value.order == "descending"
            reached = value.among(lambda it: numbers.at_most(element, it) if falls else numbers.at_most(it, element))
            better = value.among(lambda it: numbers.less(element, it) if falls else numbers.less(it, element))
            known += [numbers.less(place, reached), numbers.at_most(better, place)]
        axioms.add([element], implied(inside, conj(known)))
        return element

    def cut(self, kind: SeqType, value: Value, low: Any, high: Any) -> Value:
        """A slice of a sequence; its bounds may be None."""
        numbers = self._values.numbers
        length, items = value
        low = 0 if low is None else self._clipped(low, length)
        high = length if high is None else self._clipped(high, length)
        size = numbers.minus(high, low)
        size = numbers.either(numbers.less(size, 0), 0, size)
        empty = self._values.default(kind.element)
        taken = []
        for position in range(kind.capacity):
            which = [numbers.equal(numbers.plus(low, position), index) for index in range(kind.capacity)]
            item = self._values.containers.selected(kind.element, items, which)
            taken.append(self._values.either(kind.element, numbers.less(position, size), item, empty))
        return (size, tuple(taken))

    def _clipped(self, index: Any, length: Any) -> Any:
        numbers = self._values.numbers
        index = numbers.either(numbers.less(index, 0), numbers.plus(index, length), index)
        index = numbers.either(numbers.less(index, 0), 0, index)
        return numbers.either(numbers.less(length, index), length, index)

    def join(self, kind: SeqType, first: Value, second: Value) -> Value:
        """Two sequences, one after the other."""
        numbers = self._values.numbers
        length, items = first
        grown = list(items) + [self._values.default(kind.element)] * (kind.capacity - len(items))
        for index, item in enumerate(second[1]):
            inside = numbers.less(index, second[0])
            target = numbers.plus(length, index)
            for position in range(index, kind.capacity):
                here = conj((inside, numbers.equal(target, position)))
                grown[position] = self._values.either(kind.element, here, item, grown[position])
        return (numbers.plus(length, second[0]), tuple(grown))

    def sort(self, kind: SeqType, value: Value, reverse: bool) -> Value:
        """A sequence of numbers, sorted."""
        if isinstance(value, Relation):
            return replace(value, order="descending" if reverse else "ascending")
        numbers = self._values.numbers
        length, items = value
        ordered = list(items)
        for end in range(kind.capacity - 1, 0, -1):
            for index in range(end):
                low, high = ordered[index], ordered[index + 1]
                wrong = numbers.less(low, high) if reverse else numbers.less(high, low)
                swap = conj((numbers.less(index + 1, length), wrong))
                ordered[index] = numbers.either(swap, high, low)
                ordered[index + 1] = numbers.either(swap, low, high)
        return (length, tuple(ordered))
