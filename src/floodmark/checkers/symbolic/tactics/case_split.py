"""Splits a query into cases: z3 answers several short queries with quantifiers sooner than a long one, and more
reliably.

"The action breaks the property" is a disjunction of existential statements ("some candidate has a vote that ..."). Each
disjunct is a case, whose witnesses become Skolem constants: an existential statement is satisfiable exactly if it is
for a fresh constant. No case is left out, so the query is satisfiable exactly if one of the cases is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import z3

from floodmark.checkers.symbolic.terms.symbols import SkolemConstants

Case = tuple[Any, ...]
"""Terms that are true together."""

MAX_CASES = 64
"""The maximum number of cases of a query; beyond that, some cases are disjunctions."""


def cases(question: Any, witnesses: SkolemConstants) -> list[Case]:
    """The cases of a query, which is satisfiable exactly if one of them is; ``witnesses`` makes their constants."""
    done: list[Case] = []
    waiting = [tuple(_conjuncts(question, witnesses))]
    while waiting:
        case = waiting.pop()
        parts = None if len(done) + len(waiting) >= MAX_CASES else _alternatives(case, witnesses)
        if parts is None:
            done.append(case)
        else:
            waiting += reversed(parts)
    return [simple for case in done if (simple := _simplified(case)) is not None]


def _simplified(case: Case) -> Case | None:
    """A case, simplified; None if it is false."""
    found: list[Any] = []
    for term in case:
        simple = z3.simplify(term)
        if z3.is_false(simple):
            return None
        found += [simple] if not z3.is_and(simple) else simple.children()
    return tuple(term for term in found if not z3.is_true(term))


def _conjuncts(term: Any, witnesses: SkolemConstants) -> Iterator[Any]:
    """The conjuncts of a term, with Skolem constants for existential variables."""
    waiting = [(term, True)]
    while waiting:
        part, true = waiting.pop()
        if z3.is_not(part):
            waiting.append((part.arg(0), not true))
        elif z3.is_and(part) if true else z3.is_or(part):
            waiting += ((child, true) for child in reversed(part.children()))
        elif z3.is_implies(part) and not true:
            waiting += ((part.arg(1), False), (part.arg(0), True))
        elif z3.is_quantifier(part) and not part.is_lambda() and part.is_exists() == true:
            own = [witnesses.fresh(part.var_sort(at), part.var_name(at)) for at in range(part.num_vars())]
            waiting.append((z3.substitute_vars(part.body(), *reversed(own)), true))
        else:
            yield part if true else z3.Not(part)


def _alternatives(case: Case, witnesses: SkolemConstants) -> list[Case] | None:
    """The cases of the first conjunct that is a disjunction with existential parts."""
    for at, part in enumerate(case):
        options = _options(part)
        if any(_says_something_exists(option) for option in options):
            return [(*case[:at], *_conjuncts(option, witnesses), *case[at + 1 :]) for option in options]
    return None


def _options(term: Any) -> list[Any]:
    """The parts of a disjunction."""
    if z3.is_or(term):
        return list(term.children())
    if z3.is_implies(term):
        return [z3.Not(term.arg(0)), term.arg(1)]
    if z3.is_not(term) and z3.is_and(term.arg(0)):
        return [z3.Not(part) for part in term.arg(0).children()]
    return []


def _says_something_exists(term: Any) -> bool:
    denied = z3.is_not(term)
    inner = term.arg(0) if denied else term
    return z3.is_quantifier(inner) and not inner.is_lambda() and inner.is_exists() != denied
