"""Tests that what proofs for any number of identifiers know about the sizes of sets is true of every finite number.

Each law is proved by induction on the number of identifiers, which are numbered from 1: z3 is asked about none of them,
and about one more than k. The statements are those of ``individuals.py``, about the identifiers up to k.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import z3

from floodmark.checkers.symbolic.any_size.open_identifiers import laws, strict_law
from floodmark.checkers.symbolic.any_size.set_sorts import SetSort
from floodmark.checkers.symbolic.terms.axioms import Axioms
from floodmark.checkers.symbolic.terms.symbols import SymbolFactory

K, X = z3.Ints("k x")
SETS = {name: z3.Function(name, z3.IntSort(), z3.BoolSort()) for name in "abc"}
SIZES = {name: z3.Function(f"size of {name}", z3.IntSort(), z3.IntSort()) for name in "abc"}
A, B, C = SETS.values()


def every(k: Any, said: Any) -> Any:
    return z3.ForAll([X], z3.Implies(z3.And(X >= 1, k >= X), said))


def some(k: Any, said: Any) -> Any:
    return z3.Exists([X], z3.And(X >= 1, k >= X, said))


def size(name: str, k: Any) -> Any:
    return SIZES[name](k)


LAWS: dict[str, Callable[[Any], Any]] = {
    "a size lies between nothing and everyone": lambda k: z3.And(size("a", k) >= 0, size("a", k) <= k),
    "whoever has a member has a size": lambda k: z3.Implies(some(k, A(X)), size("a", k) >= 1),
    "whoever has a size has a member": lambda k: z3.Implies(size("a", k) >= 1, some(k, A(X))),
    "as many as there are is everyone": lambda k: z3.Implies(size("a", k) >= k, every(k, A(X))),
    "everyone is as many as there are": lambda k: z3.Implies(every(k, A(X)), size("a", k) >= k),
    "a subset is no larger": lambda k: z3.Implies(every(k, z3.Implies(A(X), B(X))), size("a", k) <= size("b", k)),
    "two sets that do not meet leave room for each other": lambda k: z3.Implies(
        every(k, z3.Not(z3.And(A(X), B(X)))), size("a", k) + size("b", k) <= k
    ),
    "two sets that do not meet fit together": lambda k: z3.Implies(
        every(k, z3.And(z3.Implies(A(X), C(X)), z3.Implies(B(X), C(X)), z3.Not(z3.And(A(X), B(X))))),
        size("a", k) + size("b", k) <= size("c", k),
    ),
    "a subset that lacks a member is smaller": lambda k: z3.Implies(
        every(k, z3.Implies(A(X), B(X))),
        size("a", k) + z3.If(some(k, z3.And(B(X), z3.Not(A(X)))), 1, 0) <= size("b", k),
    ),
}


def proved(*hypotheses: Any, goal: Any) -> bool:
    solver = z3.Solver()
    solver.set(timeout=10_000)
    solver.add(*hypotheses, z3.Not(goal))
    return bool(solver.check() == z3.unsat)


@pytest.mark.parametrize("name", LAWS)
def test_a_law_holds_for_every_number(name: str) -> None:
    law, first = LAWS[name], LAWS["a size lies between nothing and everyone"]
    none = [size(each, 0) == 0 for each in "abc"]
    one_more = [size(each, K + 1) == size(each, K) + z3.If(SETS[each](K + 1), 1, 0) for each in "abc"]
    assert proved(*none, goal=law(z3.IntVal(0)))
    assert proved(*one_more, K >= 0, law(K), first(K), goal=law(K + 1))


def test_the_translation_says_no_more_and_no_less() -> None:
    """Each law of the translation is one of those above: for some choice of the members that it names, it follows from
    that one, and that one follows from it.
    """
    axioms = Axioms(SymbolFactory())
    sort = z3.DeclareSort("Someone")
    members = SetSort("Sets of someone", [sort], axioms)
    count = z3.Function("size", members.sort, z3.IntSort())
    n = z3.Int("n")
    stated = [*laws(count, members, n, axioms), strict_law(count, members, axioms)]
    assert len(stated) == len(LAWS)
    a, b, c = z3.Consts("a b c", members.sort)
    x = z3.Const("x", sort)

    def holds(one: Any) -> Any:
        return members.holds(one, x)

    def within(one: Any, other: Any) -> Any:
        return z3.ForAll([x], z3.Implies(holds(one), holds(other)))

    apart = z3.Not(z3.Exists([x], z3.And(holds(a), holds(b))))
    consequences = [
        z3.And(count(a) >= 0, count(a) <= n),
        z3.Implies(z3.Exists([x], holds(a)), count(a) >= 1),
        z3.Implies(count(a) >= 1, z3.Exists([x], holds(a))),
        z3.Implies(count(a) >= n, z3.ForAll([x], holds(a))),
        z3.Implies(z3.ForAll([x], holds(a)), count(a) >= n),
        z3.Implies(within(a, b), count(a) <= count(b)),
        z3.Implies(apart, count(a) + count(b) <= n),
        z3.Implies(z3.And(within(a, c), within(b, c), apart), count(a) + count(b) <= count(c)),
        z3.Implies(z3.And(within(a, b), holds(b), z3.Not(holds(a))), count(a) < count(b)),
    ]
    for law, statement in zip(stated, consequences, strict=True):
        assert proved(law, goal=statement)
        given = [{"a": a, "b": b, "c": c, "x": x}[law.var_name(at)] for at in range(law.num_vars())]
        body = z3.substitute_vars(law.body(), *reversed(given))
        named = _named_members(body)
        others = [z3.FreshConst(sort, "chosen") for _ in named]
        for_some = z3.substitute(body, *zip(named, others, strict=True))
        assert proved(statement, goal=z3.Exists(others, for_some) if others else for_some)


def _named_members(body: Any) -> list[Any]:
    """The members that a law names by functions of sets."""
    found: dict[int, Any] = {}
    waiting = [body]
    while waiting:
        part = waiting.pop()
        waiting += part.children()
        if part.num_args() and part.sort().kind() == z3.Z3_UNINTERPRETED_SORT:
            found[part.get_id()] = part
    return list(found.values())
