"""Drops premises that another conjunct already guarantees.

``all(a(x) and b(x) for x in ...)`` is two statements, and Python evaluates ``b(x)`` only if ``a(x)`` is true: "for
every x, a", and "for every x, if a then b". The premise is redundant then, but it may mention a set that depends on x,
and statements about such sets get fewer instances (``instantiation.py``).

Statements are replaced one after the other, each using the present form of the others, so no two are dropped because of
each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import z3

from floodmark.checkers.symbolic.terms.structure import subterms


def unconditional(statements: Sequence[Any]) -> list[Any]:
    """Statements whose conjunction is equivalent."""
    found = list(statements)
    by_sorts: dict[tuple[int, ...], list[int]] = {}
    for at, term in enumerate(found):
        if z3.is_quantifier(term) and term.is_forall() and not term.num_patterns():
            sorts = tuple(term.var_sort(variable).get_id() for variable in range(term.num_vars()))
            by_sorts.setdefault(sorts, []).append(at)
    for places in by_sorts.values():
        first = found[places[0]]
        own = [z3.FreshConst(first.var_sort(variable), "each") for variable in range(first.num_vars())]
        bodies = _without([z3.substitute_vars(found[at].body(), *reversed(own)) for at in places])
        for at, body in zip(places, bodies, strict=True):
            found[at] = z3.ForAll(own, body)
    return found


def _without(bodies: list[Any]) -> list[Any]:
    """A conjunction, with ``true`` for each conjunct that repeats another."""
    within = [_within(body) for body in bodies]
    for at, body in enumerate(bodies):
        for other in range(len(bodies)):
            if other != at and body.get_id() in within[other]:
                bodies[other] = z3.simplify(z3.substitute(bodies[other], (body, z3.BoolVal(True, body.ctx))))
                within[other] = _within(bodies[other])
    return bodies


def _within(body: Any) -> set[int]:
    return {it.get_id() for it in subterms([body])}
