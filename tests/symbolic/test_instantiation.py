"""Instances of assumptions at the sets that a query mentions: implied by the assumptions, and finitely many."""

from __future__ import annotations

import random

import pytest
import z3

from floodmark.checkers.symbolic.tactics.case_split import cases
from floodmark.checkers.symbolic.tactics.instantiation import instantiated
from floodmark.checkers.symbolic.terms.structure import subterms
from floodmark.checkers.symbolic.terms.symbols import SkolemConstants
from tests.symbolic.test_case_split import HOLDS, TWO, drawn, has_model

VOTERS = z3.DeclareSort("Voters")
PERSON = z3.DeclareSort("Person")
FOLLOWERS = z3.Function("followers", PERSON, VOTERS)
IN = z3.Function("in", VOTERS, PERSON, z3.BoolSort())
SOME = z3.Function("some", VOTERS, PERSON)
ANN, ONE, OTHER = z3.Consts("ann one other", PERSON)


@pytest.mark.parametrize("count", [40, pytest.param(120, marks=pytest.mark.slow)])
def test_what_is_possible_stays_possible(count: int) -> None:
    """Here one of two is a set, which each of two has: so every variable may be one on which a set depends."""
    its = z3.Function("its", TWO, TWO)
    source = random.Random(4)
    possible, less = 0, 0
    for _ in range(count):
        assumed, goal = drawn(source, 4), drawn(source, 3)
        of_sets = (HOLDS[0], HOLDS[0](its(z3.Var(0, TWO)), z3.Var(1, TWO)))
        assumed = z3.substitute_funs(assumed, of_sets)
        for case in [(), *cases(goal, SkolemConstants())]:
            given, left = has_model(assumed, *case), has_model(instantiated(assumed, case, [TWO]), *case)
            assert left or not given, (assumed, case)
            possible += given
            less += left and not given
    assert possible > count // 4
    assert less > 0


def test_sets_are_those_of_what_the_question_mentions() -> None:
    """Whoever is known of a set has followers in turn, of whom nothing is said."""
    grows = z3.ForAll([ONE], z3.ForAll([OTHER], z3.Implies(IN(FOLLOWERS(ONE), OTHER), IN(FOLLOWERS(OTHER), OTHER))))
    close = instantiated(grows, (IN(FOLLOWERS(ANN), SOME(FOLLOWERS(ANN))),), [VOTERS])
    sets = {str(term) for term in subterms([close]) if z3.is_app(term) and term.decl().eq(FOLLOWERS)}
    assert sets == {"followers(ann)", "followers(some(followers(ann)))"}
    assert not any(map(z3.is_quantifier, subterms([close])))


def test_other_variables_are_still_about_everything() -> None:
    """Whoever is in the set of somebody that the question mentions, mentioned or not."""
    said = z3.ForAll([ONE], z3.ForAll([OTHER], z3.Implies(IN(FOLLOWERS(ONE), OTHER), OTHER == ONE)))
    close = instantiated(said, (IN(FOLLOWERS(ANN), ANN),), [VOTERS])
    assert z3.is_quantifier(close)
    assert not has_model(close, IN(FOLLOWERS(ANN), OTHER), OTHER != ANN)
    assert instantiated(said, (IN(FOLLOWERS(ANN), ANN),), []).num_vars() == 1


def test_a_number_is_what_stands_where_the_variable_does() -> None:
    known = z3.Function("known", z3.IntSort(), z3.BoolSort())
    voters = z3.Function("voters", z3.IntSort(), VOTERS)
    epoch, now, age = z3.Ints("epoch now age")
    said = z3.ForAll([epoch], z3.Implies(known(epoch), IN(voters(epoch), ANN)))
    close = instantiated(said, (known(now + 1), age > 3), [VOTERS])
    assert close.eq(z3.Implies(known(now + 1), IN(voters(now + 1), ANN)))
    assert z3.is_true(z3.simplify(instantiated(said, (age > 3,), [VOTERS])))
