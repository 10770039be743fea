"""A query is split on its existentials: one of the cases has a model exactly if the query has."""

from __future__ import annotations

import random
from typing import Any

import pytest
import z3

from floodmark.checkers.symbolic.tactics.case_split import MAX_CASES, cases
from floodmark.checkers.symbolic.tactics.portfolio import STRATEGIES, PortfolioQuery, Strategy
from floodmark.checkers.symbolic.terms.symbols import SkolemConstants

TWO = z3.BitVecSort(1)
HOLDS = [z3.Function(f"holds{at}", TWO, TWO, z3.BoolSort()) for at in range(3)]
FREE = [z3.Const(f"free{at}", TWO) for at in range(2)]


def drawn(source: random.Random, depth: int, bound: tuple[Any, ...] = ()) -> Any:
    """A formula about two individuals, with quantifiers inside connectives and the other way round."""
    terms = [*FREE, *bound]
    kind = source.choice(["atom", "equal"] if depth == 0 else ["not", "and", "or", "implies", "all", "any", "if"])
    if kind == "atom":
        return source.choice(HOLDS)(source.choice(terms), source.choice(terms))
    if kind == "equal":
        return source.choice(terms) == source.choice(terms)
    if kind in ("all", "any"):
        variable = z3.FreshConst(TWO, "x")
        body = drawn(source, depth - 1, (*bound, variable))
        return z3.ForAll([variable], body) if kind == "all" else z3.Exists([variable], body)
    parts = [drawn(source, depth - 1, bound) for _ in range(3)]
    match kind:
        case "not":
            return z3.Not(parts[0])
        case "implies":
            return z3.Implies(parts[0], parts[1])
        case "if":
            return z3.If(parts[0], parts[1], parts[2])
    return z3.And(parts) if kind == "and" else z3.Or(parts)


def has_model(*terms: Any) -> bool:
    solver = z3.Solver()
    solver.add(*terms)
    answer = solver.check()
    assert answer != z3.unknown
    return bool(answer == z3.sat)


@pytest.mark.parametrize("count", [50, pytest.param(250, marks=pytest.mark.slow)])
def test_a_question_has_a_model_exactly_if_one_of_its_cases_has(count: int) -> None:
    source = random.Random(7)
    satisfiable, several = 0, 0
    for _ in range(count):
        question = drawn(source, 4)
        denied = [z3.Not(part) for part in (z3.Exists([z3.FreshConst(TWO, "y")], drawn(source, 2)),)]
        asked = z3.And(question, *denied)
        found = cases(asked, SkolemConstants())
        assert has_model(asked) == any(has_model(*case) for case in found), asked
        satisfiable += has_model(asked)
        several += len(found) > 1
    assert count // 5 < satisfiable < count * 24 // 25
    assert several > count // 12


def test_every_witness_is_a_constant_of_its_own_case() -> None:
    x, y = z3.Consts("x y", z3.IntSort())
    f = z3.Function("f", z3.IntSort(), z3.IntSort())
    question = z3.Not(z3.And(z3.ForAll([x], f(x) > 0), z3.ForAll([x, y], z3.Implies(f(x) == f(y), x == y))))
    first, second = cases(question, SkolemConstants())
    assert [len(case) for case in (first, second)] == [1, 2]
    assert not any(z3.is_quantifier(term) for case in (first, second) for term in case)


def test_there_are_not_too_many_cases() -> None:
    x = z3.Const("x", z3.IntSort())
    some = [z3.Function(f"f{at}", z3.IntSort(), z3.BoolSort()) for at in range(20)]
    choice = [z3.Or(z3.Exists([x], one(x)), z3.Exists([x], z3.Not(one(x)))) for one in some]
    nobody = [z3.ForAll([x], z3.Not(one(x))) for one in some]  # only the last choices are possible
    found = cases(z3.And(*choice, *nobody), SkolemConstants())
    assert 1 < len(found) <= MAX_CASES + 1
    assert any(has_model(*case) for case in found)


def test_no_strategy_refutes_what_is_possible() -> None:
    """Each way of query alone, about a set that is a part of another with the same number of elements or more."""
    person = z3.DeclareSort("Person")
    a, b = (z3.Function(name, person, z3.BoolSort()) for name in "ab")
    one = z3.Const("one", person)
    assumed = [z3.ForAll([one], z3.Implies(a(one), b(one)))]
    possible = z3.Exists([one], z3.And(b(one), z3.Not(a(one))))
    impossible = z3.Or(z3.Exists([one], z3.And(a(one), z3.Not(b(one)))), z3.And(possible, z3.ForAll([one], a(one))))
    for strategy in STRATEGIES:
        assert asked_once(assumed, possible, strategy) != z3.unsat
        assert asked_once(assumed, impossible, strategy) == z3.unsat


def asked_once(assumed: list[Any], goal: Any, strategy: Strategy) -> Any:
    query = PortfolioQuery(assumed, lambda _: [])
    answers = [query.answer_of(case, 0, strategy) for case in cases(goal, query.witnesses)]
    return z3.unsat if all(answer == z3.unsat for answer in answers) else z3.unknown


def test_a_model_of_fewer_assumptions_is_no_answer() -> None:
    x = z3.Int("x")
    query = PortfolioQuery([z3.And(x > 0, x < 2), x > 0], lambda _: [])
    assert query.answer(x == 3)[0] == z3.unsat
    assert query.answer(x == 1)[0] == z3.sat


def test_without_time_there_is_no_answer() -> None:
    x = z3.Int("x")
    assert PortfolioQuery([x > 0], lambda _: [], 0.0).answer(x < 0) == (z3.unknown, "the limit of 0 seconds")
