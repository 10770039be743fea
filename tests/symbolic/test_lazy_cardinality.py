"""Cardinality axioms are instantiated for pairs of sets: enough for majorities, and no instance is false."""

from __future__ import annotations

import itertools
import operator
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import z3

from floodmark.checkers.symbolic.any_size.open_identifiers import laws
from floodmark.checkers.symbolic.any_size.set_sorts import SetSort
from floodmark.checkers.symbolic.tactics.lazy_cardinality import _law, by_set_pairs
from floodmark.checkers.symbolic.terms.axioms import Axioms
from floodmark.checkers.symbolic.terms.structure import subterms
from floodmark.checkers.symbolic.terms.symbols import SymbolFactory

FACTS = Axioms(SymbolFactory())
PERSON = z3.DeclareSort("Person")
SETS = SetSort("Set[Person]", [PERSON], FACTS)
IN = SETS.holds
SIZE = z3.Function("size", SETS.sort, z3.IntSort())
EVERYONE = z3.Int("everyone")
LAWS = [*laws(SIZE, SETS, EVERYONE, FACTS), EVERYONE >= 1]
VOTERS, A, B, C = z3.Consts("voters a b c", SETS.sort)
ANN, BOB, X = z3.Consts("ann bob x", PERSON)


def asked(*question: Any, assumed: Iterable[Any] = ()) -> tuple[bool, list[Any]]:
    """Whether a question is refuted, and what was said instead of it."""
    solver = z3.SimpleSolver()
    solver.set(auto_config=False, mbqi=False)
    found, said = by_set_pairs([*LAWS, *assumed, *question], question, [SETS.sort], solver, solver.check)
    return found == z3.unsat, said


def is_majority(members: Any) -> Any:
    return SIZE(members) > SIZE(VOTERS) / 2


def is_within(one: Any, other: Any) -> Any:
    return z3.ForAll([X], z3.Implies(IN(one, X), IN(other, X)), patterns=[IN(one, X)])


def are_apart(one: Any, other: Any) -> Any:
    return z3.ForAll([X], z3.Not(z3.And(IN(one, X), IN(other, X))), patterns=[IN(one, X), IN(other, X)])


def test_two_majorities_intersect() -> None:
    within = [is_within(A, VOTERS), is_within(B, VOTERS)]
    assert asked(is_majority(A), is_majority(B), are_apart(A, B), *within)[0]
    assert not asked(is_majority(A), are_apart(A, B), *within)[0]
    assert not asked(is_majority(A), is_majority(B), are_apart(A, B))[0]


def test_a_superset_of_a_majority_is_a_majority() -> None:
    assert asked(is_majority(A), z3.Not(is_majority(B)), is_within(A, B))[0]
    assert not asked(is_majority(A), z3.Not(is_majority(B)), is_within(B, A))[0]


def test_a_majority_has_a_member() -> None:
    nobody = z3.ForAll([X], z3.Not(IN(A, X)), patterns=[IN(A, X)])
    assert asked(is_majority(A), nobody)[0]


def test_of_a_crowd_of_sets_few_are_told_anything() -> None:
    crowd = [z3.Const(f"crowd{at}", SETS.sort) for at in range(30)]
    assumed = [it for one in crowd for it in (is_majority(one), is_within(one, VOTERS))]
    question = (is_majority(A), is_majority(B), are_apart(A, B), is_within(A, VOTERS), is_within(B, VOTERS))
    refuted, said = asked(*question, assumed=assumed)
    assert refuted
    told = [it for it in said if any(z3.is_app(one) and "in both" in str(one.decl()) for one in subterms([it]))]
    assert 0 < len(told) < 10


def test_the_code_of_a_set_is_not_its_size() -> None:
    """Any number may belong to a set, of which laws say nothing."""
    code = z3.Function("code", SETS.sort, z3.IntSort())
    larger = [code(A) > SIZE(VOTERS), code(B) < SIZE(VOTERS), is_within(A, B)]
    assert not asked(*larger)[0]
    assert asked(*larger, is_majority(A), z3.Not(is_majority(B)))[0]


@dataclass(frozen=True)
class Statement:
    """A statement about sets and people, for z3 and for given sets and people."""

    said: Any
    is_true: Callable[[Sequence[frozenset[int]], Sequence[int]], bool]


NAMED = (VOTERS, A, B)
PEOPLE = (ANN, BOB)


def drawn(source: random.Random) -> Statement:
    one, other, third = (source.randrange(len(NAMED)) for _ in range(3))
    who, denied = source.randrange(len(PEOPLE)), source.random() < 0.4
    first, second, last = NAMED[one], NAMED[other], NAMED[third]
    plain = [
        Statement(is_within(first, second), lambda sets, _: sets[one] <= sets[other]),
        Statement(are_apart(first, second), lambda sets, _: not sets[one] & sets[other]),
        Statement(SIZE(first) > SIZE(second), lambda sets, _: len(sets[one]) > len(sets[other])),
        Statement(SIZE(first) > SIZE(second) / 2, lambda sets, _: len(sets[one]) > len(sets[other]) // 2),
        Statement(
            SIZE(first) + SIZE(second) > SIZE(last),
            lambda sets, _: len(sets[one]) + len(sets[other]) > len(sets[third]),
        ),
        Statement(IN(first, PEOPLE[who]), lambda sets, people: people[who] in sets[one]),
    ]
    found = source.choice(plain)
    if denied:
        return Statement(z3.Not(found.said), lambda sets, people: not found.is_true(sets, people))
    return found


def is_possible(statements: Sequence[Statement]) -> bool:
    """Whether some sets of at most three people are as stated: a z3-free oracle."""
    for count in (1, 2, 3):
        everyone = range(count)
        each = [frozenset(it) for size in range(count + 1) for it in itertools.combinations(everyone, size)]
        for sets in itertools.product(each, repeat=len(NAMED)):
            for people in itertools.product(everyone, repeat=len(PEOPLE)):
                if all(it.is_true(sets, people) for it in statements):
                    return True
    return False


@pytest.mark.parametrize("questions", [80, pytest.param(1000, marks=pytest.mark.slow)])
def test_what_is_possible_is_not_refuted(questions: int) -> None:
    source = random.Random(11)
    possible, refuted = 0, 0
    for _ in range(questions):
        statements = [drawn(source) for _ in range(source.randrange(3, 7))]
        found, _ = asked(*map(operator.attrgetter("said"), statements))
        wanted = is_possible(statements)
        assert not (found and wanted), [it.said for it in statements]
        possible += wanted
        refuted += found
    assert possible > questions / 5
    assert refuted > questions / 5


def test_a_law_names_the_size_of_each_of_its_sets_once() -> None:
    of_sets, of_nodes = z3.DeclareSort("sets"), z3.DeclareSort("nodes")
    one = z3.Const("one", of_sets)
    member, node = z3.Function("member", of_sets, of_nodes), z3.Const("node", of_nodes)
    size, other = (z3.Function(name, of_sets, z3.IntSort()) for name in ("size", "other"))
    named = member(one) == node
    assert _law(z3.ForAll([one], z3.Or(named, size(one) < 1)), [of_sets]) is not None
    assert _law(z3.ForAll([one], named), [of_sets]) is None
    assert _law(z3.ForAll([one], z3.Or(named, size(one) < other(one))), [of_sets]) is None
