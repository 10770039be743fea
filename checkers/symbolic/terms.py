"""Truth values and numbers that are Python constants where they are known and z3 terms where they are not.

Folding constants here keeps the terms small: most of what a model does with finite types is known when it is read.
The sorts of what is put together are right by then, so terms are made by z3's own functions: its operators look at
every operand's sort again, which took longer than most proofs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import z3
from z3 import z3core
from z3.z3types import Ast

Truth = Any
"""A bool, or a z3 Boolean term."""
Number = Any
"""An int, or a z3 term of the sort that its Numbers says."""


_CONTEXT = z3.main_ctx()


def _truth(ast: Any) -> Truth:
    return z3.BoolRef(ast, _CONTEXT)


def _joined(make: Any, parts: list[Truth]) -> Truth:
    return _truth(make(_CONTEXT.ref(), len(parts), (Ast * len(parts))(*[part.ast for part in parts])))


def _is_same(a: Any, b: Any) -> bool:
    """Whether two terms are one: z3 keeps no term twice."""
    same: bool = a.ast.value == b.ast.value
    return same


def _chosen(kind: type[Any], condition: Truth, then: Any, otherwise: Any) -> Any:
    """One of two terms of one sort, which is that of the class ``kind``."""
    if _is_same(then, otherwise):
        return then
    return kind(z3core.Z3_mk_ite(_CONTEXT.ref(), condition.ast, then.ast, otherwise.ast), _CONTEXT)


def _equal(a: Any, b: Any) -> Truth:
    return True if _is_same(a, b) else _truth(z3core.Z3_mk_eq(_CONTEXT.ref(), a.ast, b.ast))


def conj(parts: Iterable[Truth]) -> Truth:
    """All of them."""
    kept = []
    for part in parts:
        if part is False:
            return False
        if part is not True:
            kept.append(part)
    if not kept:
        return True
    return kept[0] if len(kept) == 1 else _joined(z3core.Z3_mk_and, kept)


def disj(parts: Iterable[Truth]) -> Truth:
    """At least one of them."""
    kept = []
    for part in parts:
        if part is True:
            return True
        if part is not False:
            kept.append(part)
    if not kept:
        return False
    return kept[0] if len(kept) == 1 else _joined(z3core.Z3_mk_or, kept)


def negation(part: Truth) -> Truth:
    if isinstance(part, bool):
        return not part
    if z3.is_not(part):
        return part.arg(0)
    return _truth(z3core.Z3_mk_not(_CONTEXT.ref(), part.ast))


def implied(premise: Truth, conclusion: Truth) -> Truth:
    return disj((negation(premise), conclusion))


def same_truth(a: Truth, b: Truth) -> Truth:
    if a is b:
        return True
    if isinstance(a, bool):
        return b if a else negation(b)
    if isinstance(b, bool):
        return a if b else negation(a)
    return _equal(a, b)


def either(condition: Truth, then: Truth, otherwise: Truth) -> Truth:
    """A truth value that depends on a condition."""
    if condition is True:
        return then
    if condition is False:
        return otherwise
    if then is otherwise:
        return then
    if isinstance(then, bool):
        return disj((condition, otherwise)) if then else conj((negation(condition), otherwise))
    if isinstance(otherwise, bool):
        return disj((negation(condition), then)) if otherwise else conj((condition, then))
    return _chosen(z3.BoolRef, condition, then, otherwise)


def as_term(truth: Truth) -> Any:
    """A truth value as a z3 term."""
    return z3.BoolVal(truth) if isinstance(truth, bool) else truth


class Numbers:
    """Numbers of one sort: bit vectors of one width, or integers."""

    def __init__(self, sort: Any) -> None:
        self.sort = sort
        self._kind = z3.BitVecRef if z3.is_bv_sort(sort) else z3.ArithRef

    def fresh(self, name: str) -> Number:
        return z3.Const(name, self.sort)

    def term(self, number: Number) -> Any:
        """A number as a z3 term."""
        if not isinstance(number, int):
            return number
        return z3.BitVecVal(number, self.sort) if z3.is_bv_sort(self.sort) else z3.IntVal(number)

    def value(self, term: Any) -> int:
        """The integer that a numeral of z3 is."""
        number: int = term.as_signed_long() if z3.is_bv_value(term) else term.as_long()
        return number

    def either(self, condition: Truth, then: Number, otherwise: Number) -> Number:
        if condition is True:
            return then
        if condition is False:
            return otherwise
        if then is otherwise or (isinstance(then, int) and isinstance(otherwise, int) and then == otherwise):
            return then
        return _chosen(self._kind, condition, self.term(then), self.term(otherwise))

    def equal(self, a: Number, b: Number) -> Truth:
        if isinstance(a, int) and isinstance(b, int):
            return a == b
        return _equal(self.term(a), self.term(b))

    def less(self, a: Number, b: Number) -> Truth:
        if isinstance(a, int) and isinstance(b, int):
            return a < b
        a, b = self.term(a), self.term(b)
        return False if _is_same(a, b) else a < b

    def at_most(self, a: Number, b: Number) -> Truth:
        if isinstance(a, int) and isinstance(b, int):
            return a <= b
        a, b = self.term(a), self.term(b)
        return True if _is_same(a, b) else a <= b

    def plus(self, a: Number, b: Number) -> Number:
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if isinstance(b, int) and b == 0:
            return a
        if isinstance(a, int) and a == 0:
            return b
        return self.term(a) + self.term(b)

    def minus(self, a: Number, b: Number) -> Number:
        if isinstance(a, int) and isinstance(b, int):
            return a - b
        return a if isinstance(b, int) and b == 0 else self.term(a) - self.term(b)

    def times(self, a: Number, b: Number) -> Number:
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        return self.term(a) * self.term(b)

    def divided(self, a: Number, b: Number) -> Number:
        """The quotient, rounded down as Python rounds it; ``b`` is not 0."""
        if isinstance(a, int) and isinstance(b, int):
            return a // b if b else 0
        a, b = self.term(a), self.term(b)
        if z3.is_bv_sort(self.sort):
            quotient, rest = a / b, z3.SRem(a, b)
            return z3.If(z3.And(rest != 0, (rest < 0) != (b < 0)), quotient - 1, quotient)
        quotient, rest = a / b, a % b  # Euclidean: the rest is never negative
        return z3.If(z3.And(rest != 0, b < 0), quotient - 1, quotient)

    def rest(self, a: Number, b: Number) -> Number:
        """What the quotient leaves, with the sign of ``b``."""
        if isinstance(a, int) and isinstance(b, int):
            return a % b if b else 0
        return self.minus(a, self.times(self.divided(a, b), b))

    def count(self, truths: Iterable[Truth]) -> Number:
        """How many are true."""
        total: Number = 0
        for truth in truths:
            total = self.plus(total, self.either(truth, 1, 0))
        return total


def bits(width: int) -> Numbers:
    """Signed bit vectors of this width."""
    return Numbers(z3.BitVecSort(width))


def unbounded() -> Numbers:
    """Integers."""
    return Numbers(z3.IntSort())
