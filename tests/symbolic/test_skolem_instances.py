"""Instances of assumptions at Skolem constants: the assumptions imply them; they suffice where E-matching fails."""

from __future__ import annotations

import random
from unittest.mock import patch

import pytest
import z3

from floodmark.checkers.symbolic.tactics import portfolio
from floodmark.checkers.symbolic.tactics.case_split import cases
from floodmark.checkers.symbolic.tactics.portfolio import PortfolioQuery, Strategy
from floodmark.checkers.symbolic.tactics.skolem_instances import View, assumptions_in_view
from floodmark.checkers.symbolic.terms.symbols import SkolemConstants
from tests.symbolic.test_case_split import TWO, drawn, has_model

PERSON = z3.DeclareSort("Person")
KNOWS = z3.Function("knows", PERSON, PERSON, z3.BoolSort())
AGE = z3.Function("age", PERSON, z3.IntSort())
ANN, BEN, SOMEBODY = z3.Consts("ann ben somebody", PERSON)
AGES = z3.And(z3.ForAll([SOMEBODY], AGE(SOMEBODY) > 0), z3.ForAll([SOMEBODY], AGE(SOMEBODY) < 0))
SUGGESTED = {"auto_config": False, "mbqi": False}
NEW = SkolemConstants()


@pytest.mark.parametrize(("uncounted", "view"), [
    pytest.param([], "namesakes", id="counted-namesakes"),
    pytest.param([TWO], "witnesses", id="uncounted-witnesses"),
    pytest.param([], "witnesses", id="counted-witnesses", marks=pytest.mark.slow),
    pytest.param([TWO], "namesakes", id="uncounted-namesakes", marks=pytest.mark.slow),
])
def test_what_is_possible_stays_possible(view: View, uncounted: list[z3.SortRef]) -> None:
    source = random.Random(11)
    possible, less = 0, 0
    for _ in range(50):
        assumed, goal = drawn(source, 4), drawn(source, 3)
        for case in cases(goal, NEW):
            given = has_model(assumed, *case)
            left = has_model(*assumptions_in_view(view, assumed, case, uncounted, NEW))
            assert left or not given, (assumed, case)
            possible += given
            less += left and not given
    assert possible > 10
    assert (less > 0) == bool(uncounted)


def _is_refuted(stated: list[z3.ExprRef]) -> bool:
    """By instances that terms suggest, and no others."""
    solver = z3.SimpleSolver()
    solver.set(**SUGGESTED)
    solver.add(*stated)
    return bool(solver.check() == z3.unsat)


def test_identifiers_that_nobody_counts_are_looked_at_as_witnesses() -> None:
    """No term suggests that what is said of everybody's age is said of Ann's."""
    case = (KNOWS(ANN, BEN),)
    assert not _is_refuted(assumptions_in_view("everything", AGES, case, [PERSON], NEW))
    assert not _is_refuted(assumptions_in_view("witnesses", AGES, case, [], NEW))
    assert _is_refuted(assumptions_in_view("witnesses", AGES, case, [PERSON], NEW))


def test_variables_are_about_witnesses_of_their_name() -> None:
    owner, other = z3.Const("7:owner", PERSON), z3.Const("8:other", PERSON)
    witness, stranger = z3.Const("91:owner!3", PERSON), z3.Const("12:stranger", PERSON)
    assumed = z3.ForAll([owner], z3.ForAll([other], KNOWS(owner, other)))
    said = assumptions_in_view("namesakes", assumed, (z3.Not(KNOWS(witness, stranger)),), [], NEW)
    assert said[2].body().eq(z3.ForAll([other], KNOWS(witness, other)).body())


def test_a_model_of_what_witnesses_leave_is_no_answer() -> None:
    """A model that z3 finds under fewer assumptions need not exist."""
    x = z3.Const("x", PERSON)
    query = PortfolioQuery([z3.ForAll([x], KNOWS(x, x))], lambda _: [], uncounted=[PERSON])
    goal = z3.Not(KNOWS(z3.Const("one", PERSON), z3.Const("another", PERSON)))
    assert query.answer_of((goal,), 0, Strategy(300_000, view="witnesses")) == z3.sat
    assert query.answer(goal)[0] == z3.sat
    lost = PortfolioQuery([z3.And(z3.ForAll([x], KNOWS(x, x)), z3.Exists([x], z3.Not(KNOWS(x, x))))], lambda _: [])
    assert lost.answer(goal)[0] == z3.unsat


def test_a_likely_part_is_found_once_and_its_model_is_no_answer() -> None:
    x = z3.Const("x", PERSON)
    found: list[int] = []

    def likely() -> z3.BoolRef:
        found.append(1)
        return AGE(ANN) > 0

    either = z3.Or(z3.Exists([x], KNOWS(x, ANN)), z3.Exists([x], KNOWS(BEN, x)))
    ways = (Strategy(300_000, SUGGESTED), Strategy(300_000, SUGGESTED, "witnesses"))
    with patch.object(portfolio, "STRATEGIES", ways):
        assert PortfolioQuery([AGES], lambda _: [], likely=[likely]).answer(either)[0] == z3.unknown
        assert found == [1]
        query = PortfolioQuery([AGES], lambda _: [], likely=[likely])
        assert query.answer(z3.And(either, AGE(ANN) < 0))[0] == z3.unsat
        assert found == [1]
