"""Audits the terms of a system for places where a bit vector could wrap around.

It does not use the intervals that terms were made with: it starts from the widths of the symbols, which it assumes to
have any value, and follows z3's operations.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import z3

from floodmark.checkers.symbolic.terms.booleans import as_term
from floodmark.checkers.symbolic.translate.transition_system import System

Interval = tuple[int, int]


def assert_nothing_wraps(system: System) -> None:
    """Fails where an operation of a system's terms has a result that its width does not hold."""
    assert not wrapping(terms_of(system))


def terms_of(system: System) -> list[Any]:
    """The terms in every method's queries: actions, their successors, their failures, properties and boundaries."""
    found: list[Any] = [system.well_formed(system.now.state)]
    old = system.replica("old:").state
    for fired in system.fired:
        found += [fired.enabled, fired.failed, *(leaf.term for leaf in system.leaves(fired.after))]
    for predicate in (*system.program.predicates, *system.program.boundaries):
        judged = system.judge(predicate, system.now.state, old if predicate.kind == "transition" else None)
        found += [judged.truth, judged.failed]
    return [as_term(term) for term in found]


def wrapping(terms: Iterable[Any]) -> list[str]:
    """The operations that can wrap around, as text."""
    known: dict[int, Interval | None] = {}
    wrong: list[str] = []
    kept = list(terms)
    stack = list(kept)
    while stack:
        term = stack[-1]
        if term.get_id() in known:
            stack.pop()
            continue
        parts = term.children()
        waiting = [part for part in parts if part.get_id() not in known]
        if waiting:
            stack += waiting
            continue
        stack.pop()
        kept.append(term)  # an id is of one term only as long as the term is there
        known[term.get_id()] = _interval(term, [known[part.get_id()] for part in parts], wrong)
    return wrong


def _full(width: int) -> Interval:
    return -(1 << width - 1), (1 << width - 1) - 1


def _interval(term: Any, parts: list[Interval | None], wrong: list[str]) -> Interval | None:
    """Between what a bit vector lies; None for what is none."""
    if not z3.is_bv(term):
        return None
    width = term.size()
    if z3.is_bv_value(term):
        return term.as_signed_long(), term.as_signed_long()
    if z3.is_const(term):
        return _full(width)
    of = [part for part in parts if part is not None]
    found = _result(term.decl().kind(), of, term)
    if found is None or not _holds(width, found):
        wrong.append(f"{term.decl()} of {of} in {width} bits: {found}")
        return _full(width)
    return found


def _holds(width: int, values: Interval) -> bool:
    return _full(width)[0] <= values[0] <= values[1] <= _full(width)[1]


def _is_low(extract: Any) -> bool:
    """Whether the bits that are taken are the lowest: they are the number itself when it fits."""
    return bool(extract.params()[1] == 0)


def _quotients(a: Interval, b: Interval) -> Interval:
    """Between what z3's quotients lie, which are cut off; of a division by 0 they are 1 and -1."""
    divisors = [y for y in (*b, -1, 1) if b[0] <= y <= b[1] and y != 0]
    found = [abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x in a for y in divisors]
    found += [-1, 1] if b[0] <= 0 <= b[1] else []
    return min(found), max(found)


def _result(kind: int, of: list[Interval], term: Any) -> Interval | None:
    """Between what the results of an operation lie among integers; None when it does not mean what it means there."""
    match kind:
        case z3.Z3_OP_BADD:
            return sum(low for low, _ in of), sum(high for _, high in of)
        case z3.Z3_OP_BSUB:
            (a, b), (c, d) = of
            return a - d, b - c
        case z3.Z3_OP_BMUL:
            products = [x * y for x, y in itertools.product(*of)]
            return min(products), max(products)
        case z3.Z3_OP_SIGN_EXT:
            return of[0]
        case z3.Z3_OP_ITE:
            return min(low for low, _ in of), max(high for _, high in of)
        case z3.Z3_OP_EXTRACT:  # cut on purpose, beside the condition that nothing is lost
            return of[0] if _is_low(term) and _holds(term.size(), of[0]) else _full(term.size())
        case z3.Z3_OP_BUDIV:
            return (0, of[0][1]) if of[0][0] >= 0 and of[1][0] > 0 else None
        case z3.Z3_OP_BSDIV:
            return _quotients(*of)
        case z3.Z3_OP_BSREM:
            most = max(map(abs, of[0]))
            return max(-most, _full(term.size())[0]), min(most, _full(term.size())[1])
        case z3.Z3_OP_BSMOD:
            (a, b), (c, d) = of
            most = min(b, d - 1) if a >= 0 and c >= 0 else d - 1
            found = [0, *([most] if d > 0 else []), *([c + 1] if c < 0 else []), *(of[0] if c <= 0 <= d else [])]
            return min(found), max(found)
    return None
