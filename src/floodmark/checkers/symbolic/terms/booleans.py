"""Truth values: Python constants if they are known, else z3 terms.

Folding constants here keeps the terms small: most of what a model does with finite types is known when it is read. The
sorts are known to be right at this point, so terms are built by z3's C functions: z3's operators check every operand's
sort again, which took longer than most proofs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import z3
from z3 import z3core
from z3.z3types import Ast

from floodmark.checkers.symbolic.terms.structure import QUANTIFIER, TermNode, node_of

Truth = Any
"""A bool, or a z3 Boolean term."""
CONTEXT = z3.main_ctx()


def as_truth(ast: Any) -> Truth:
    """The result of one of z3's C functions, as a Boolean term."""
    return z3.BoolRef(ast, CONTEXT)


def _joined(make: Any, parts: list[Truth]) -> Truth:
    return as_truth(make(CONTEXT.ref(), len(parts), (Ast * len(parts))(*[part.ast for part in parts])))


def is_same(a: Any, b: Any) -> bool:
    """Whether two terms are identical: z3 stores each term once."""
    same: bool = a.ast.value == b.ast.value
    return same


def conditional(kind: type[Any], condition: Truth, then: Any, otherwise: Any) -> Any:
    """One of two terms of the sort that belongs to the class ``kind``."""
    if is_same(then, otherwise):
        return then
    return kind(z3core.Z3_mk_ite(CONTEXT.ref(), condition.ast, then.ast, otherwise.ast), CONTEXT)


def same_term(a: Any, b: Any) -> Truth:
    """Whether two terms of one sort are equal."""
    return True if is_same(a, b) else as_truth(z3core.Z3_mk_eq(CONTEXT.ref(), a.ast, b.ast))


def conj(parts: Iterable[Truth]) -> Truth:
    """True if all parts are."""
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
    """True if at least one part is."""
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
    return as_truth(z3core.Z3_mk_not(CONTEXT.ref(), part.ast))


def implied(premise: Truth, conclusion: Truth) -> Truth:
    return disj((negation(premise), conclusion))


def same_truth(a: Truth, b: Truth) -> Truth:
    if a is b:
        return True
    if isinstance(a, bool):
        return b if a else negation(b)
    if isinstance(b, bool):
        return a if b else negation(a)
    return same_term(a, b)


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
    return conditional(z3.BoolRef, condition, then, otherwise)


def substituted(term: Any, old: list[Any], new: list[Any]) -> Any:
    """A term, or a known truth value, with symbols replaced."""
    return term if isinstance(term, bool | int) else z3.substitute(term, *zip(old, new, strict=True))


def as_term(truth: Truth) -> Any:
    """A truth value as a z3 term."""
    return z3.BoolVal(truth) if isinstance(truth, bool) else truth


def unbound(quantifier: Any) -> tuple[list[Any], Any]:
    """Constants for the variables of a quantifier, and its body about them.

    Their names are numbered by the depth of quantifiers nested in it. Terms that differ only in the names of variables
    thus become the same term, which z3 stores once.
    """
    depth = _nested(quantifier)
    own = [z3.Const(f"bound!{depth}!{at}", quantifier.var_sort(at)) for at in range(quantifier.num_vars())]
    return own, z3.substitute_vars(quantifier.body(), *reversed(own))


def _nested(term: Any) -> int:
    """The depth of nested quantifiers."""
    known: dict[int, int] = {}

    def within(node: TermNode) -> int:
        if node.key not in known:
            known[node.key] = max(map(within, node.parts), default=0) + (node.kind == QUANTIFIER)
        return known[node.key]

    return within(node_of(term))
