"""Premises that another conjunct guarantees are dropped from quantified formulas, which keeps their meaning."""

from __future__ import annotations

import random

import pytest
import z3

from floodmark.checkers.symbolic.tactics.premise_elimination import unconditional
from floodmark.checkers.symbolic.terms.booleans import unbound
from floodmark.checkers.symbolic.terms.structure import subterms
from tests.symbolic.test_case_split import FREE, TWO, drawn, has_model

A, B = (z3.Function(name, z3.IntSort(), z3.BoolSort()) for name in "ab")
X, Y = z3.Ints("x y")


@pytest.mark.parametrize("count", [40, pytest.param(150, marks=pytest.mark.slow)])
def test_statements_say_the_same_together(count: int) -> None:
    source = random.Random(9)
    changed, possible = 0, 0
    for _ in range(count):
        x, y = z3.FreshConst(TWO, "x"), z3.FreshConst(TWO, "y")
        parts = [drawn(source, 1, (x, y)) for _ in range(3)]
        bodies = [parts[0], z3.Implies(parts[source.randrange(2)], parts[1]), z3.Or(parts[2], z3.Not(parts[0]))]
        source.shuffle(bodies)
        stated = [z3.ForAll([x, y], z3.simplify(body)) for body in bodies]
        stated = [it for it in stated if z3.is_quantifier(it)]
        found = unconditional(stated)
        assert not has_model(z3.And(stated) != z3.And(found)), stated
        changed += not all(one.body().eq(other.body()) for one, other in zip(stated, found, strict=True))
        possible += has_model(*stated)
    assert changed > count // 5
    assert possible > count // 5


def test_what_is_true_of_everything_is_no_condition() -> None:
    found = unconditional([z3.ForAll([X], A(X)), z3.ForAll([Y], z3.Or(z3.Not(A(Y)), B(Y)))])
    assert found[1].body().decl().eq(B)
    assert found[0].body().decl().eq(A)


def test_each_of_two_that_are_conditions_of_each_other_is_left_once() -> None:
    same = unconditional([z3.ForAll([X], A(X)), z3.ForAll([Y], A(Y))])
    assert has_model(z3.Not(A(0)))
    assert not has_model(z3.Not(A(0)), *same)


def test_a_statement_about_some_is_left_as_it_is() -> None:
    stated = [z3.Exists([X], A(X)), z3.ForAll([Y], z3.Or(z3.Not(A(Y)), B(Y))), A(X)]
    assert all(one.eq(other) or z3.is_quantifier(one) for one, other in zip(stated, unconditional(stated), strict=True))
    assert has_model(*unconditional(stated), z3.Not(A(1)))


def again(term: z3.ExprRef) -> z3.ExprRef:
    """A term whose quantifiers were opened and bound again."""
    if z3.is_quantifier(term):
        own, body = unbound(term)
        return (z3.ForAll if term.is_forall() else z3.Exists)(own, again(body))
    return term.decl()(*map(again, term.children())) if term.num_args() else term


def test_terms_that_differ_in_the_names_of_variables_become_the_same() -> None:
    one, other = (z3.ForAll([x], z3.Exists([y], z3.And(A(x), B(x + y)))) for x, y in ((X, Y), (Y, X)))
    assert not one.eq(other)
    assert again(one).eq(again(other))
    (outer,), body = unbound(one)
    (inner,), _ = unbound(body)
    assert not outer.eq(inner)


@pytest.mark.parametrize("count", [50, pytest.param(200, marks=pytest.mark.slow)])
def test_variables_that_are_opened_and_bound_again_say_the_same(count: int) -> None:
    """No variable is mistaken for one of another quantifier around it."""
    source = random.Random(3)
    nested = 0
    for _ in range(count):
        term = drawn(source, 4, tuple(FREE))
        assert not has_model(term != again(term)), term
        nested += sum(z3.is_quantifier(it) for it in subterms([term])) > 1
    assert nested > count * 3 // 20
