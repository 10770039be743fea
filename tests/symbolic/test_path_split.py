"""A case of a query is split into paths: one of them has a model exactly if the case has."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path as File
from typing import Any
from unittest.mock import patch

import pytest
import z3

from floodmark.checkers.symbolic.methods.smtlib import PART, SmtScripts
from floodmark.checkers.symbolic.methods.task import ProofTask
from floodmark.checkers.symbolic.prove import prove_check
from floodmark.checkers.symbolic.tactics import portfolio
from floodmark.checkers.symbolic.tactics.path_split import Look, Path, path_by_path, split_path, start, undecided_atom
from floodmark.checkers.symbolic.tactics.portfolio import PortfolioQuery, Strategy
from floodmark.checkers.symbolic.terms.axioms import Axiom, Axioms
from floodmark.checkers.symbolic.terms.symbols import SymbolFactory
from tests.support.any_size_protocols import check_of
from tests.symbolic.test_case_split import FREE, HOLDS, TWO, drawn, has_model
from tools.second_solver import SolverAnswer, ask_all, opinion_of

ONLY = (Strategy(150_000, {"auto_config": False, "mbqi": False, "qi.eager_threshold": 0.0}, paths=100),)
"""Nothing is asked but path by path."""
X, Y = z3.Ints("x y")


def question(source: random.Random) -> tuple[Any, ...]:
    """A few terms with choices of truth values and of individuals, some of them within quantifiers."""
    a, b = (drawn(source, 2) for _ in range(2))
    one, another = FREE
    each = z3.Const("each", TWO)
    chosen = z3.If(a, one, z3.If(one == another, another, one))
    return (
        source.choice([b, drawn(source, 3)]),
        z3.If(b, HOLDS[0](chosen, another), z3.Not(HOLDS[1](chosen, chosen))),
        z3.ForAll([each], z3.Or(HOLDS[2](each, chosen), each == z3.If(a, one, another), drawn(source, 1))),
    )


def ends(path: Path) -> Iterator[Path]:
    """The paths that decide everything."""
    condition = undecided_atom(path)
    if condition is None:
        yield path
    else:
        for part in split_path(path, condition):
            yield from ends(part)


def test_a_case_has_a_model_exactly_if_one_of_its_paths_has() -> None:
    source = random.Random(5)
    satisfiable, several = 0, 0
    for _ in range(25):
        case = question(source)
        found = list(ends(start(case, ())))
        assert has_model(*case) == any(has_model(*path.conditions) for path in found), case
        satisfiable += has_model(*case)
        several += len(found) > 2
    assert 5 < satisfiable < 23
    assert several > 10


def test_each_path_says_what_the_case_says_where_its_conditions_are_true() -> None:
    """A model of a path is one of the case, so nothing of what breaks a property is lost on a path."""
    source = random.Random(6)
    parts = 0
    for _ in range(25):
        case = question(source)
        for path in ends(start(case, ())):
            parts += 1
            assert not has_model(*path.conditions, z3.Not(z3.And(case))), case
    assert parts > 50


def test_a_condition_that_says_a_value_puts_it_in_place() -> None:
    f = z3.Function("f", z3.IntSort(), z3.IntSort())
    whole = start((z3.If(f(X) == 3, Y, X) > f(X),), ())
    condition = undecided_atom(whole)
    assert condition is not None
    assert condition.eq(f(X) == 3)
    true, false = split_path(whole, condition)
    assert has_model(*true.conditions, Y == 4)
    assert not has_model(*true.conditions, Y == 3)
    assert "f(x)" not in str(true.conditions[1:])
    assert "f(x)" in str(false.conditions[1:])


def test_conditions_are_decided_from_within() -> None:
    """What decides the inner condition decides the outer one, which is then no longer asked."""
    inner = z3.If(X <= Y, X, Y)
    whole = start((z3.If(inner <= 5, inner, X + Y) >= 7,), ())
    condition = undecided_atom(whole)
    assert condition is not None
    assert condition.eq(X <= Y)
    assert [len(list(ends(path))) for path in split_path(whole, condition)] == [2, 2]


def test_conditions_within_quantifiers_are_decided_if_they_are_about_no_variable() -> None:
    each = z3.Int("each")
    f = z3.Function("f", z3.IntSort(), z3.IntSort())
    whole = start((z3.ForAll([each], z3.If(X <= Y, f(each), z3.If(each <= 0, f(X), f(Y))) > 0),), ())
    condition = undecided_atom(whole)
    assert condition is not None
    assert condition.eq(X <= Y)
    assert [len(list(ends(path))) for path in split_path(whole, condition)] == [1, 1]


def test_a_path_is_not_told_about_symbols_of_other_paths() -> None:
    axioms = Axioms(SymbolFactory())
    first, second, hidden = (axioms.symbols.fresh(name, z3.IntSort()) for name in ("first", "second", "hidden"))
    axioms.add([first], z3.If(X <= 0, first == hidden, first == Y))
    axioms.add([second], second == Y)
    axioms.add([hidden], hidden == 9)
    whole = start((z3.If(X <= 0, first, second) > 0,), axioms.about([first, second]))
    assert len(whole.known) == 3
    told = [{str(term) for term in path.known} for path in split_path(whole, X <= 0)]
    assert [len(terms) for terms in told] == [2, 1]
    assert "hidden == 9" in " ".join(told[0])
    assert "second == y" in " ".join(told[1])


def test_every_path_is_asked_and_none_is_forgotten() -> None:
    whole = start((z3.If(X <= 0, Y, -Y) + z3.If(X <= 5, 1, 2) > 0,), ())
    asked: list[tuple[Path, Look]] = []

    def answering(thoroughly: Any, at_a_glance: Any = z3.unknown) -> Callable[[Path, Look], Any]:
        def answer(path: Path, look: Look) -> Any:
            asked.append((path, look))
            return {"thoroughly": thoroughly, "at a glance": at_a_glance}.get(look, z3.unknown)

        asked.clear()
        return answer

    def looks() -> Counter[Look]:
        return Counter(look for _, look in asked)

    assert path_by_path(whole, answering(z3.unsat), 10) == z3.unsat
    assert looks() == {"at a glance": 6, "quickly": 7, "thoroughly": 4}
    ends_asked = [z3.And(path.conditions) for path, look in asked if look == "thoroughly"]
    assert not has_model(z3.Not(z3.Or(ends_asked)), *whole.conditions)
    assert path_by_path(whole, answering(z3.unknown), 10) == z3.unknown
    assert path_by_path(whole, answering(z3.sat), 10) == z3.sat
    assert path_by_path(whole, answering(z3.unsat), 1) == z3.unsat
    assert looks() == {"at a glance": 2, "quickly": 3, "thoroughly": 2}
    assert path_by_path(whole, answering(z3.sat, z3.unsat), 10) == z3.unsat
    assert looks() == {"at a glance": 2, "quickly": 1}


def test_what_a_condition_does_not_part_is_parted_further() -> None:
    """X is positive, so the first condition leaves one path, which is asked only when the second has parted it."""
    whole = start((z3.If(X <= 0, Y, -Y) + z3.If(X <= 0, Y, 3) + z3.If(X <= 5, 1, 2) > 0, X > 3), ())
    asked: list[Look] = []

    def answer(path: Path, look: Look) -> Any:
        asked.append(look)
        return z3.unsat if not has_model(*path.conditions) else z3.sat if look == "thoroughly" else z3.unknown

    assert path_by_path(whole, answer, 10) == z3.sat
    assert asked == ["quickly", "at a glance", "at a glance", "at a glance", "at a glance", "quickly", "thoroughly"]


def test_a_model_of_what_a_path_leaves_out_is_no_answer() -> None:
    """Of the likely assumptions alone, a path has a model; with all of them it has none, or one that counts."""
    goal = z3.If(X <= 0, Y, X) <= -3
    with patch.object(portfolio, "STRATEGIES", ONLY):
        query = PortfolioQuery([z3.And(Y > 0, X > -2)], lambda _: [], likely=[lambda: X > -2])
        assert query.answer(goal) == (z3.unsat, "")
        assert [has_model(*terms) for terms in query.parts] == [False] * len(query.parts)
        assert PortfolioQuery([z3.And(Y > -9, X > -2)], lambda _: [], likely=[lambda: X > -2]).answer(goal)[0] == z3.sat


def test_no_fact_is_asked_twice() -> None:
    """What is known of the assumptions and of the path is one axiom in the same simple terms."""
    f = z3.Function("f", z3.IntSort(), z3.IntSort())
    law = Axiom(frozenset([X.decl().get_id()]), z3.ForAll([Y], f(Y * 1) > X + 0))
    with patch.object(portfolio, "STRATEGIES", ONLY):
        query = PortfolioQuery([X > 3], lambda _: [law])
        assert query.answer(z3.If(X <= 5, Y, X) < z3.If(X <= 5, Y, 2))[0] == z3.unsat
    assert query.parts
    assert {sum(z3.is_quantifier(term) for term in terms) for terms in query.parts} == {1}


def test_parts_are_told_where_a_question_was_parted() -> None:
    known = [Axiom(frozenset([X.decl().get_id()]), X > 3)]
    query = PortfolioQuery([Y > 0], lambda _: known)
    assert query.answer(X < 2)[0] == z3.unsat
    assert query.parts == []
    each = z3.Int("each")
    two = z3.Or(z3.Exists([each], z3.And(each < 1, each > Y)), z3.Exists([each], z3.And(each > 4, each < X, X < 3)))
    with patch.object(portfolio, "STRATEGIES", ONLY):
        query = PortfolioQuery([Y > 0], lambda _: known)
        assert query.answer(two)[0] == z3.unsat
        assert len(query.parts) == 2
        assert not any(has_model(*terms) for terms in query.parts)


COMMIT = "specs/examples/two_phase_commit.toml"


@pytest.mark.slow
def test_a_proof_path_by_path_is_written_for_a_second_solver(tmp_path: File) -> None:
    with patch.object(portfolio, "STRATEGIES", ONLY):
        proved = prove_check(check_of(COMMIT), ProofTask(any_size=True), SmtScripts(tmp_path / "smt"))
    assert proved.verdict == "holds"
    files = sorted((tmp_path / "smt").rglob("*.smt2"))
    parts = [file for file in files if PART in file.name]
    assert len(files) - len(parts) == proved.facts["obligations"]
    assert len(parts) > 20
    opinions = list(ask_all(parts))
    assert {said.outcome for said in opinions} == {"agrees"}
    assert {said.expected for said in opinions} == {"unsat"}


def test_a_second_solver_agrees_about_an_obligation_if_it_does_about_all_parts(tmp_path: File) -> None:
    def said(name: str, answer: str) -> SolverAnswer:
        return SolverAnswer(tmp_path / "one" / f"{name}.smt2", "unsat", answer, 0.1)

    def opened(*answers: str) -> object:
        whole = [said("0001-act-p", "unknown"), said("0002-act-q", "unsat")]
        parts = [said(f"000{at + 3}-act-p{PART}{at + 1}", answer) for at, answer in enumerate(answers)]
        opinion = opinion_of([], [*whole, *parts], 9)
        assert opinion["obligations"] == 2
        return opinion["open"]

    assert opened("unsat", "unsat") == []
    assert opened("unsat", "unknown") == opened() == ["act-p"]
    with pytest.raises(RuntimeError, match="z3 says unsat, cvc5 sat"):
        opened("unsat", "sat")


@pytest.mark.slow
def test_a_countermodel_on_one_path_is_one_that_cpython_confirms() -> None:
    with patch.object(portfolio, "STRATEGIES", ONLY):
        proved = prove_check(check_of(COMMIT, "CommitsOnMajority"), ProofTask(any_size=True))
    assert proved.verdict == "undetermined"
    assert proved.lines[:2] == [
        "coordinator_commits does not preserve everyone_prepared_before_a_commit",
        "    in a state, with managers = 3, which is not reachable: a lemma that excludes it is missing:",
    ]
