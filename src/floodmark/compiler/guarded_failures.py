"""Whether the rounds of a comprehension can fail, where a condition keeps out what would.

``failures.py`` judges each expression by itself, so to it ``m.epoch`` can fail if ``m`` is a record of several classes.
In ``any(m.epoch > 0 for m in self.messages if isinstance(m, Vote))`` it cannot: nothing is evaluated after a false
condition. Here an expression is judged by what is known where it is evaluated:

- the classes that a record of a union can have there, by ``isinstance``;
- that an optional value is not None there.

Why this is sound. What is known comes from conditions that were true, or false, on the way to the expression: earlier
conditions of the comprehension, earlier operands of ``and`` and ``or``, the condition of a choice or an ``if``, an
``assert`` or a ``require`` before it. It is about a value that is the same at both places: it is read from variables of
the model, loop variables and locals by fields and keys, and whatever changes a variable of the model counts as able to
fail. A local that is assigned within the rounds is read only if that is its only assignment, for the value that it was
given. Anything else, such as a call of a shared function, is judged as in ``failures.py``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from floodmark.compiler import ir
from floodmark.compiler.failures import can_fail, fails_itself, may_outgrow
from floodmark.compiler.joins import fits
from floodmark.language.types import TAG, OptionalType, UnionType

MAX_LOOKS = 20_000
"""Expressions that are looked at; more of them count as able to fail."""

Place = tuple[Any, ...]
"""Where a value is read: a variable, and the fields and keys from there."""


def rounds_can_fail(generators: list[ir.Generator], *parts: ir.Expr) -> bool:
    """Whether a round of a comprehension can fail: what it evaluates after its first domain, ``parts`` being its body
    and its key."""
    asked = [*parts, *_after_the_first_domain(generators)]
    if not any(can_fail(part) for part in asked):
        return False
    return _FailureAnalysis(asked).rounds(generators, parts, _Facts())


def _after_the_first_domain(generators: list[ir.Generator]) -> Iterator[ir.Expr]:
    for number, generator in enumerate(generators):
        if number:
            yield from _domain(generator)
        yield from generator.conditions


def _domain(generator: ir.Generator | ir.For) -> Iterator[ir.Expr]:
    match generator.domain:
        case ir.Range(low=low, high=high):
            yield from (low, high)
        case ir.Expr() as domain:
            yield domain


@dataclass(frozen=True)
class _Facts:
    """What is known at an expression: the numbers of the classes that a record may have, and the values that are not
    None, by their places."""

    classes: Mapping[Place, frozenset[int]] = field(default_factory=dict)
    non_null: frozenset[Place] = frozenset()

    def of_classes(self, place: Place, numbers: frozenset[int]) -> _Facts:
        narrower = self.classes.get(place, numbers) & numbers
        return _Facts({**self.classes, place: narrower}, self.non_null)

    def not_none(self, place: Place) -> _Facts:
        return _Facts(self.classes, self.non_null | {place})


class _FailureAnalysis:
    def __init__(self, asked: Iterable[ir.Expr]) -> None:
        self.assigned: dict[int, list[ir.Expr | None]] = defaultdict(list)
        """The values that are assigned to each local; None where an element or a result is."""
        for body in {id(body): body for part in asked for body in ir.called_bodies(part)}.values():
            for statement in ir.flat(body):
                match statement:
                    case ir.SetLocal(target=target, value=value):
                        self.assigned[target.slot].append(value)
                    case ir.Return(into=ir.Local(slot=slot)) | ir.For(variable=ir.Local(slot=slot)):
                        self.assigned[slot].append(None)
        self.left = MAX_LOOKS

    def rounds(
        self, generators: list[ir.Generator], parts: Iterable[ir.Expr], known: _Facts, first: bool = True
    ) -> bool:
        """Whether something after the first domain can fail; also in it, unless ``first``."""
        for generator in generators:
            if not first and any(self.fails(part, known) for part in _domain(generator)):
                return True
            first = False
            for condition in generator.conditions:
                if self.fails(condition, known):
                    return True
                known = self.learn(condition, True, known)
        return any(self.fails(part, known) for part in parts)

    def fails(self, node: ir.Expr, known: _Facts) -> bool:
        self.left -= 1
        if self.left < 0 or may_outgrow(node):
            return True
        match node:
            case ir.And(operands=operands) | ir.Or(operands=operands):
                for operand in operands:
                    if self.fails(operand, known):
                        return True
                    known = self.learn(operand, isinstance(node, ir.And), known)
                return False
            case ir.Choose(condition=condition, then=then, otherwise=otherwise):
                return (
                    self.fails(condition, known)
                    or self.fails(then, self.learn(condition, True, known))
                    or self.fails(otherwise, self.learn(condition, False, known))
                )
            case ir.Convert(operand=operand):
                return self.fails(operand, known) or not self._converts(node, known)
            case ir.Reduce(generators=generators):
                parts = [part for part in (node.body, node.key) if part is not None]
                others = [node.default] if node.default is not None else []
                return (
                    fails_itself(node)
                    or any(self.fails(other, known) for other in others)
                    or self.rounds(generators, parts, known, first=False)
                )
            case ir.Inline(body=body):
                return self.block(body, known)
            case ir.Applied():
                return can_fail(node) or ir.has_effects(node)
        return fails_itself(ir.closed(node)) or any(self.fails(child, known) for child in ir.children(node))

    def block(self, body: list[ir.Stmt], known: _Facts) -> bool:
        """Whether statements can fail."""
        for statement in body:
            match statement:
                case ir.SetVariable():
                    return True
                case ir.SetLocal(value=value):
                    if self.fails(value, known):
                        return True
                case ir.Require(condition=condition):
                    if self.fails(condition, known):
                        return True
                    known = self.learn(condition, True, known)
                case ir.Assert(condition=condition):
                    if self.fails(condition, known) or not self._is_true(condition, known):
                        return True
                case ir.If(condition=condition, then=then, otherwise=otherwise):
                    if self.fails(condition, known):
                        return True
                    if self.block(then, self.learn(condition, True, known)):
                        return True
                    if self.block(otherwise, self.learn(condition, False, known)):
                        return True
                    if then and isinstance(then[-1], ir.Return):
                        known = self.learn(condition, False, known)
                case ir.For(body=inner):
                    if any(self.fails(part, known) for part in _domain(statement)) or self.block(inner, known):
                        return True
                case ir.Return(value=value):
                    return value is not None and self.fails(value, known)
                case ir.Do(call=call):
                    if self.fails(call, known):
                        return True
                case ir.Break() | ir.Continue():
                    return False
        return False

    def _converts(self, node: ir.Convert, known: _Facts) -> bool:
        """Whether a value is known to be one of another type."""
        operand = node.operand
        if fits(operand.type, node.type):
            return True
        if not isinstance(operand.type, OptionalType) or not fits(operand.type.inner, node.type):
            return False
        place = self._place(operand)
        return (place is not None and place in known.non_null) or self._has_field(operand, known)

    def _has_field(self, node: ir.Expr, known: _Facts) -> bool:
        """Whether a field of a union is one of all classes that the record can have: then it has a value, unless it may
        be None in one of them."""
        if not isinstance(node, ir.Field) or not isinstance(node.record.type, UnionType):
            return False
        union, place = node.record.type, self._place(node.record)
        numbers = known.classes.get(place) if place is not None else None
        return numbers is not None and all(
            number in union.having(node.name) and not isinstance(union.members[number].field(node.name), OptionalType)
            for number in numbers
        )

    def learn(self, condition: ir.Expr, true: bool, known: _Facts) -> _Facts:
        """What is known where a condition was true, or false."""
        match condition:
            case ir.Not(operand=operand):
                return self.learn(operand, not true, known)
            case ir.And(operands=operands) if true:
                for operand in operands:
                    known = self.learn(operand, True, known)
                return known
            case ir.Or(operands=operands) if not true:
                for operand in operands:
                    known = self.learn(operand, False, known)
                return known
            case ir.IsNone(operand=operand) if not true:
                place = self._place(operand)
                return known if place is None else known.not_none(place)
        tested = self._tested(condition)
        if tested is None:
            return known
        place, numbers, every = tested
        return known.of_classes(place, numbers if true else every - numbers)

    def _is_true(self, condition: ir.Expr, known: _Facts) -> bool:
        """Whether a condition is known to be true."""
        match condition:
            case ir.Const(value=value):
                return value is True
            case ir.And(operands=operands):
                return all(self._is_true(operand, known) for operand in operands)
            case ir.Not(operand=ir.IsNone(operand=operand)):
                return self._place(operand) in known.non_null
        tested = self._tested(condition)
        if tested is None:
            return False
        place, numbers, _ = tested
        return place in known.classes and known.classes[place] <= numbers

    def _tested(self, condition: ir.Expr) -> tuple[Place, frozenset[int], frozenset[int]] | None:
        """The record, the numbers of the classes and those of all classes of a test for classes."""
        match condition:
            case ir.Equal(left=ir.Field(record=ir.Expr(type=UnionType() as union) as record, name=name), right=right):
                place = self._place(record)
                right = right.operand if isinstance(right, ir.Convert) else right
                if name == TAG and place is not None and isinstance(right, ir.Const):
                    return place, frozenset({right.value}), frozenset(range(len(union.members)))
            case ir.Or(operands=operands):
                tests = [self._tested(operand) for operand in operands]
                found = [test for test in tests if test is not None]
                if len(found) == len(tests) and len({place for place, *_ in found}) == 1:
                    place, _, every = found[0]
                    return place, frozenset().union(*(numbers for _, numbers, _ in found)), every
        return None

    def _place(self, node: ir.Expr) -> Place | None:
        """Where a value is read, if it is the same value wherever it is read in these rounds."""
        match node:
            case ir.Local(slot=slot):
                match self.assigned.get(slot):
                    case None:
                        return ("local", slot, node.type)
                    case [ir.Expr() as value]:
                        return self._place(value)
            case ir.Inline(body=[ir.Assert(), ir.Return(value=ir.Expr() as value)]):
                return self._place(value)
            case ir.StateVar(name=name, which=which):
                return ("variable", name, which)
            case ir.Field(record=record, name=name):
                found = self._place(record)
                return None if found is None else (*found, "field", name)
            case ir.MapGet(map=of, key=key):
                found, at = self._place(of), self._place(key)
                return None if found is None or at is None else (*found, "entry", at)
            case ir.Const(type=kind, value=value):
                return ("constant", kind, value)
            case ir.Convert(type=kind, operand=operand):
                found = self._place(operand)
                return None if found is None else (*found, "as", kind)
        return None
