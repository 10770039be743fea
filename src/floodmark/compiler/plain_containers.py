"""The plain containers of Python that a value may contain: sets, lists and tuples beside ``Set`` and ``Seq``.

The expression graph does not distinguish ``[1]``, ``(1,)`` and ``Seq([1])``, nor ``{1}`` and ``Set({1})``: their
contents are equal. But Python does: a plain set has no reliable order, a list never equals a tuple, neither a set nor a
list can be in a set, and ``|=`` changes a plain set for all its aliases. A stored value, in a variable or in a field of
a record, is never plain.

The analysis over-approximates: a value may contain the forms of all its inputs.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Literal

from floodmark.compiler import ir
from floodmark.language.types import BagType, MapType, OptionalType, SeqType, SetType, Type

Form = Literal["set", "frozenset", "list", "tuple"]
Forms = frozenset[Form]
NONE: Forms = frozenset()
SETS: Forms = frozenset({"set", "frozenset"})
SEQUENCES: Forms = frozenset({"list", "tuple"})
UNHASHABLE: Forms = frozenset({"set", "list"})


class PlainContainers:
    """The forms of the values of one action or property."""

    def __init__(self) -> None:
        self._slots: dict[int, Forms] = {}
        self._made: dict[int, tuple[ir.Expr, Forms]] = {}  # with what was made, so that its identity remains its own

    def hold(self, variable: ir.Local, value: ir.Expr) -> None:
        """Records that a variable gets a value, or an element of one."""
        self._slots[variable.slot] = self._slots.get(variable.slot, NONE) | self.of(value)

    def may_be(self, slot: int, forms: Forms) -> None:
        """Records that a variable has values of these forms, whatever was read of it so far."""
        self._slots[slot] = self._slots.get(slot, NONE) | forms

    def with_forms(self, value: ir.Expr, forms: Forms) -> ir.Expr:
        """The same value with these forms, which replace those of its parts."""
        known = copy.copy(value)
        self._made[id(known)] = known, forms
        return known

    def of(self, value: ir.Expr) -> Forms:
        """The forms that occur in a value, its own included."""
        possible = _possible(_within(value.type))
        return self._of(value) & possible if possible else NONE

    def inside(self, value: ir.Expr) -> Forms:
        """The forms that occur in the elements of a container, their own included."""
        _, *kinds = _within(value.type)
        return self.of(value) & _possible(kinds)

    def differ(self, left: ir.Expr, right: ir.Expr) -> bool:
        """Whether one of two values may contain a list where the other has a tuple."""
        one, other = self.of(left), self.of(right)
        return ("list" in one and "tuple" in other) or ("tuple" in one and "list" in other)

    def _of(self, value: ir.Expr) -> Forms:
        if id(value) in self._made:
            return self._made[id(value)][1]
        match value:
            case ir.SetOf(elements=elements, typed=typed):
                return self._all(*elements) | (NONE if typed else frozenset({"set"}))
            case ir.SeqOf(elements=elements):
                return self._all(*elements)
            case ir.Reduce(kind="set", body=body, typed=typed):
                return self.of(body) | (NONE if typed else frozenset({"set"}))
            case ir.Reduce(body=body):
                return self.of(body)
            case ir.SetBinary(left=left, right=right):
                own = SETS if self.of(left) & SETS and self.of(right) & SETS else NONE
                return self.inside(left) | self.inside(right) | (self._all(left, right) & own)
            case ir.SeqConcat(left=left, right=right):
                own = SEQUENCES if self.of(left) & SEQUENCES and self.of(right) & SEQUENCES else NONE
                return self.inside(left) | self.inside(right) | (self._all(left, right) & own)
            case ir.Choose(then=then, otherwise=otherwise):
                return self._all(then, otherwise)
            case ir.Sorted(seq=seq):
                return self.inside(seq) | {"list"}
            case (
                ir.Convert(operand=inner)
                | ir.MapGet(map=inner)
                | ir.SeqGet(seq=inner)
                | ir.SeqSlice(seq=inner)
                | ir.BagChange(bag=inner)
            ):
                return self.of(inner)
            case ir.Local(slot=slot):
                return self._slots.get(slot, NONE)
            case ir.Inline(result=ir.Local(slot=slot)):
                return self._slots.get(slot, NONE)
            case ir.Applied(function=ir.SharedFunction(result=ir.Local(slot=slot))):
                return self._slots.get(slot, NONE)
        return NONE

    def _all(self, *values: ir.Expr) -> Forms:
        return frozenset(form for value in values for form in self.of(value))


def _possible(kinds: Iterable[Type]) -> Forms:
    found = NONE
    for kind in kinds:
        if isinstance(kind, SetType):
            found |= SETS
        elif isinstance(kind, SeqType):
            found |= SEQUENCES
    return found


def _within(kind: Type) -> Iterator[Type]:
    """A type and its parts, except for the fields of records, which are never plain."""
    yield kind
    match kind:
        case OptionalType(inner) | SetType(inner, _) | BagType(inner, _) | SeqType(inner, _) | MapType(_, inner):
            yield from _within(inner)


__all__ = ["NONE", "SEQUENCES", "SETS", "UNHASHABLE", "Form", "Forms", "PlainContainers"]
