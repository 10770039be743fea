"""Terms are simplified under the ranges that a query asserts: they are equal within these ranges."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
import z3

from floodmark.checkers.symbolic.tactics.path_questions import PathPremises
from floodmark.checkers.symbolic.tactics.simplification import Simplifier, ranges_in
from floodmark.checkers.symbolic.terms.axioms import Axiom
from floodmark.checkers.symbolic.terms.structure import node_of, nodes_of, parts_of, subterms
from tests.symbolic.test_case_split import FREE, TWO, has_model

LENGTH = z3.Function("length", TWO, z3.IntSort())
END, START = z3.Ints("end start")
EACH = z3.Const("each", TWO)
RANGES = [
    z3.ForAll([EACH], z3.And(LENGTH(EACH) >= 0, LENGTH(EACH) <= 2)),
    END >= 0,
    z3.Not(END >= 3),
]


def number(source: random.Random, depth: int, bound: tuple[Any, ...] = ()) -> Any:
    """A number with choices, such as Python's rules for positions make."""
    kind = source.choice(["symbol", "value"] if depth == 0 else ["if", "smaller", "plus", "half", "symbol"])
    if kind == "value":
        return z3.IntVal(source.randint(-1, 3))
    if kind == "symbol":
        return source.choice([END, START, *(LENGTH(it) for it in (*FREE, *bound))])
    one, other = (number(source, depth - 1, bound) for _ in range(2))
    match kind:
        case "smaller":
            return z3.If(one <= other, one, other)
        case "plus":
            return one + other
        case "half":
            return one / 2
    return z3.If(formula(source, depth - 1, bound), one, other)


def formula(source: random.Random, depth: int, bound: tuple[Any, ...] = ()) -> Any:
    kind = source.choice(["compare", "equal"] if depth == 0 else ["and", "or", "not", "implies", "all", "compare"])
    if kind == "all":
        variable = z3.FreshConst(TWO, "x")
        return z3.ForAll([variable], formula(source, depth - 1, (*bound, variable)))
    if kind in ("compare", "equal"):
        one, other = (number(source, max(0, depth - 1), bound) for _ in range(2))
        return one == other if kind == "equal" else source.choice([one <= other, one >= other, one < other])
    parts = [formula(source, depth - 1, bound) for _ in range(3)]
    match kind:
        case "not":
            return z3.Not(parts[0])
        case "implies":
            return z3.Implies(parts[0], parts[1])
    return z3.And(parts) if kind == "and" else z3.Or(parts)


def simpler(*terms: Any) -> list[Any]:
    """Terms where the ranges are as asserted."""
    return [Simplifier(ranges_in(RANGES)).of(term) for term in terms]


def test_a_term_is_as_simple_as_its_own_place_permits() -> None:
    p, q, r, s = z3.Bools("p q r s")
    either = z3.Implies(z3.Not(p), q)
    term = z3.Or(z3.And(p, r, either), z3.And(s, either))
    (found,) = simpler(term)
    assert not has_model(z3.Xor(term, found)), found
    assert len(found.sexpr()) < len(z3.simplify(term).sexpr())


@pytest.mark.parametrize("count", [60, pytest.param(300, marks=pytest.mark.slow)])
def test_a_simpler_term_is_the_same_in_the_ranges(count: int) -> None:
    source = random.Random(3)
    changed = 0
    for _ in range(count):
        term = formula(source, 3)
        (found,) = simpler(z3.simplify(term))
        assert not has_model(*RANGES, z3.Xor(term, found)), (term, found)
        changed += has_model(z3.Xor(term, found))
    assert changed > count // 8


def test_what_can_go_one_way_only_is_no_choice() -> None:
    """``log[:end]``, where no position is counted from the end."""
    length = LENGTH(FREE[0])
    place = z3.If(END < 0, z3.If(END + length < 0, 0, END + length), END)
    size = z3.If(place <= length, place, length)
    enough = z3.simplify(z3.Not(length < END))
    (found,) = simpler(z3.And(enough, size == START))
    assert "If" in str(size)
    assert "If" not in str(found)
    assert not has_model(*RANGES, z3.Xor(found, z3.And(length >= END, size == START)))


def test_a_sum_is_within_no_range_that_one_of_its_parts_may_leave() -> None:
    """Nothing is known of START."""
    for term in (START + END >= 0, START + END <= 2, START + LENGTH(FREE[0]) >= -1, END + LENGTH(FREE[0]) <= 4):
        (found,) = simpler(term)
        assert not has_model(*RANGES, z3.Xor(found, term))
        assert z3.is_true(found) == (not has_model(*RANGES, z3.Not(term)))


def test_what_stands_beside_a_term_is_not_left_out_because_of_it() -> None:
    """Each of two equal parts says that the other is true; one of them has to stay."""
    for part in (START <= 4, START == 7):
        (found,) = simpler(z3.And(z3.Or(part, END > START), z3.Or(part, part), part))
        assert not has_model(z3.Xor(found, part))
        (found,) = simpler(z3.Or(z3.And(part, END <= 2), part))
        assert not has_model(z3.Xor(found, part), *RANGES)


def test_what_says_a_range_stays() -> None:
    assert simpler(*RANGES) == RANGES
    assert has_model(z3.Not(z3.And(simpler(*RANGES))))


def test_only_what_is_said_of_every_argument_is_a_range() -> None:
    one, other = z3.Consts("one other", TWO)
    two = z3.Function("two", TWO, TWO, z3.IntSort())
    some = [
        z3.ForAll([one], two(one, one) >= 0),
        z3.ForAll([one], two(one, FREE[0]) >= 0),
        z3.ForAll([one], z3.Or(LENGTH(one) <= 2, one == other)),
        z3.Exists([one], LENGTH(one) <= 2),
        LENGTH(other) <= 2,
        z3.Not(z3.And(START >= 0, END >= 0)),
    ]
    assert ranges_in(some).of == {}
    said = ranges_in([z3.ForAll([one, other], z3.And(two(other, one) >= 0, z3.Not(two(one, other) >= 5)))])
    assert list(said.of.values()) == [(0, 4)]


def test_a_deep_term_is_left_as_it_is() -> None:
    deep: Any = START
    for _ in range(2_000):
        deep = z3.If(deep <= END, END, deep + 1)
    assert simpler(deep >= 0)[0].eq(deep >= 0)


def test_each_case_is_simpler_in_the_ranges_of_its_own_facts() -> None:
    """Also where the cases of one question have terms in common, which have become simpler in other ranges."""
    context = z3.Context()
    number, small, large = z3.Int("number", context), z3.Bool("small", context), z3.Bool("large", context)
    head = frozenset({small.decl().get_id(), large.decl().get_id()})

    def known(terms: Sequence[Any]) -> list[Axiom]:
        return [Axiom(head, limit) for mark, limit in ((small, number <= 2), (large, number >= 5)) if mark in terms]

    premises = PathPremises([z3.BoolVal(True, context)], known, [])
    for mark, is_possible in ((small, False), (large, True), (small, False), (large, True)):
        asking = premises.about((mark, number > 3))
        solver = z3.SimpleSolver(ctx=context)
        solver.add(*asking.on(asking.whole, 0, closely=False))
        assert (solver.check() == z3.sat) == is_possible


def test_a_term_consists_of_what_z3_says() -> None:
    context = z3.Context()
    both = z3.Ints("one other", context)
    each = z3.Int("each", context)
    stated = z3.ForAll([each], z3.If(each > both[0], z3.And(each <= both[1], both[0] == 3), z3.Not(each == 0)))
    met = set()
    for term in subterms([stated, stated]):
        assert term.get_id() not in met
        met.add(term.get_id())
        inner = [term.body()] if z3.is_quantifier(term) else term.children()
        assert [it.get_id() for it in parts_of(term)] == [it.get_id() for it in inner]
        if z3.is_app(term):
            assert node_of(term).kind == term.decl().kind()
        is_open = z3.is_var(term) or z3.is_quantifier(term) or any(not node_of(it).is_closed for it in inner)
        assert node_of(term).is_closed != is_open
    assert nodes_of(context) is nodes_of(context)
    assert nodes_of(z3.main_ctx()) is not nodes_of(z3.main_ctx())
