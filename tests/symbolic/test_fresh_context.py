"""Queries of any size run in fresh contexts, so that earlier queries of the process do not affect them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest
import z3

from floodmark.checkers.symbolic.any_size.unbounded_constants import any_size_constants
from floodmark.checkers.symbolic.methods.induction import check_obligations, induction
from floodmark.checkers.symbolic.records import fresh_context
from floodmark.checkers.symbolic.records.fresh_context import in_fresh_context
from floodmark.checkers.symbolic.tactics import relevant_lemmas
from floodmark.checkers.symbolic.tactics.portfolio import PortfolioQuery
from floodmark.checkers.symbolic.terms.axioms import Axioms
from floodmark.checkers.symbolic.terms.canonical import CanonicalCopies
from floodmark.checkers.symbolic.terms.smt_text import SmtNames, text
from floodmark.checkers.symbolic.terms.symbols import WITNESS, SkolemConstants
from floodmark.checkers.symbolic.terms.symbols import SymbolFactory as Numbered
from floodmark.checkers.symbolic.translate.transition_system import system_of
from tests.support.any_size_protocols import all_properties, check_of

COMMIT = "specs/examples/two_phase_commit.toml"
PERSON = z3.DeclareSort("Person")
KNOWS = z3.Function("0:knows", PERSON, PERSON, z3.BoolSort())
ANN = z3.Const("1:ann", PERSON)
AGE = z3.Function("2:age of", PERSON, z3.IntSort())


def says_the_same(term: Any, copy: Any, symbols: SmtNames) -> bool:
    """Whether two terms of different contexts are the same node by node, but for the names that ``symbols`` gave."""
    waiting, met = [(term, copy)], set()
    while waiting:
        one, other = waiting.pop()
        if z3.is_distinct(one) and z3.is_and(other) and z3.is_true(other.arg(1)):
            other = other.arg(0)  # z3 writes so that two things are distinct
        if (one.get_id(), other.get_id()) in met:
            continue
        met.add((one.get_id(), other.get_id()))
        if z3.is_int_value(one):
            same = one.as_long() == z3.simplify(other).as_long()
        elif z3.is_var(one):
            same = z3.is_var(other) and z3.get_var_index(one) == z3.get_var_index(other)
        elif z3.is_quantifier(one):
            same = z3.is_quantifier(other) and _heads(one) == _heads(other)
            waiting.append((one.body(), other.body()))
            if not same:
                return False
            for at in range(one.num_patterns()):
                waiting += zip(one.pattern(at).children(), other.pattern(at).children(), strict=True)
        else:
            own = one.decl().kind() == z3.Z3_OP_UNINTERPRETED
            name = symbols.name_of(one.decl()) if own else one.decl().name()
            same = (name, one.decl().kind(), one.num_args()) == (
                other.decl().name(), other.decl().kind(), other.num_args()
            ) and one.sort().sexpr() == other.sort().sexpr()
            if one.num_args() == 0 and not own:
                same = same and one.sexpr() == other.sexpr()
            waiting += zip(one.children(), other.children(), strict=False)
        if not same:
            return False
    return True


def _heads(term: Any) -> tuple[Any, ...]:
    variables = [(term.var_name(at), term.var_sort(at).sexpr()) for at in range(term.num_vars())]
    return term.is_forall(), term.is_exists(), term.num_patterns(), variables


class Compared(CanonicalCopies):
    """Copies that are compared with what they are copies of."""

    made = 0

    def of(self, terms: Iterable[Any]) -> list[Any]:
        given = list(terms)
        copies = super().of(given)
        for term, copy in zip(given, copies, strict=True):
            Compared.made += 1
            assert says_the_same(term, copy, self._symbols), (term, copy)
        return copies


def compared(path: str, at_most: int) -> int:
    """Proves what a spec says for any size, and compares every copy; tells how many there were."""
    model, properties = all_properties(check_of(path))
    system = system_of(model, properties, any_size_constants(model)[0], any_size=True)
    Compared.made = 0
    name = "CanonicalCopies"
    with patch.object(fresh_context, name, Compared), patch.object(relevant_lemmas, name, Compared):
        if at_most:
            wanted = [(it.action.name, prop.name) for it in system.fired for prop in properties]
            check_obligations(system, properties, wanted[:: len(wanted) // at_most])
        else:
            assert induction(system, properties).failing() == []
    return Compared.made


@pytest.mark.slow
def test_a_copy_says_what_the_question_says() -> None:
    assert compared(COMMIT, 0) > 100


@pytest.mark.slow
@pytest.mark.parametrize("path", ["specs/alter_isr/core.toml", "specs/examples/paxos_commit.toml"])
def test_copies_of_large_questions_say_the_same(path: str) -> None:
    assert compared(path, 20) > 100


def test_a_comparison_notices_what_differs() -> None:
    context, symbols = z3.Context(), SmtNames()
    each, other = z3.Consts("each other", PERSON)
    statement = z3.ForAll([each], z3.Exists([other], z3.And(KNOWS(each, other), AGE(other) > -3)), patterns=[AGE(each)])
    symbols.plain(statement)
    (copy,) = CanonicalCopies(symbols).of([statement])
    assert says_the_same(statement, copy, symbols)
    said = text([symbols.plain(statement)], "unknown")
    for old, new in (
        ("each other)", "other each)"),
        ("forall", "exists"),
        ("(- 3)", "3"),
        (">", "<"),
        (":pattern ( (|2:age of| each) )", ":weight 1"),
    ):
        (wrong,) = z3.parse_smt2_string(said.replace(old, new), ctx=context)
        assert old in said
        assert not says_the_same(statement, wrong, symbols), old


@contextmanager
def after(history: str) -> Iterator[None]:
    """What a process may have done before; terms of it are alive."""
    kept: list[Any] = []
    if history == "other terms":
        kept = [z3.Int(f"{at}:other") + at > z3.Int(f"{at}:another") for at in range(12_000)][::3]
    if history == "other sorts":
        kept = [z3.Const(f"{at}:of", z3.DeclareSort(f"Sort{at}")) for at in range(50)]
    if history == "other questions":
        kept = [z3.FreshConst(PERSON, "person") for _ in range(300)]
        solver = z3.Solver()
        solver.add(z3.ForAll([ANN], z3.Exists([kept[0]], KNOWS(ANN, kept[0]))), kept[1] != kept[2])
        solver.check()
    yield
    kept.clear()


def effort_for(history: str) -> tuple[list[int], list[str]]:
    """The effort of each question of two-phase commit for any size, and what it is asked in its context."""
    units: list[int] = []
    texts: list[str] = []
    checked = PortfolioQuery._checked

    def counting(self: PortfolioQuery, terms: Any, strategy: Any) -> Any:
        context = terms[0].ctx
        before = _units(context)
        found = checked(self, terms, strategy)
        units.append(_units(context) - before)
        texts.append(text(list(terms), "unknown"))
        return found

    model, properties = all_properties(check_of(COMMIT))
    with after(history), patch.object(PortfolioQuery, "_checked", counting):
        system = system_of(model, properties, any_size_constants(model)[0], any_size=True)
        assert induction(system, properties).failing() == []
    return units, texts


def _units(context: Any) -> int:
    solver = z3.SimpleSolver(ctx=context)
    solver.check()
    return next(int(value) for name, value in solver.statistics() if name == "rlimit count")


@pytest.mark.slow
@pytest.mark.parametrize("history", [
    pytest.param("other terms", marks=pytest.mark.slow), pytest.param("other sorts", marks=pytest.mark.slow),
    "other questions",
])
def test_the_effort_of_a_question_does_not_hang_on_what_was_asked_before(history: str) -> None:
    alone, texts = effort_for("nothing")
    assert sum(alone) > 10_000
    assert effort_for(history) == (alone, texts)


def test_what_is_known_is_known_of_the_copies() -> None:
    axioms = Axioms(Numbered())
    older = axioms.symbols.fresh("older", PERSON)
    axioms.add([older], AGE(older) > AGE(ANN))
    axioms.add([AGE], z3.ForAll([ANN], AGE(ANN) >= 0))
    hidden = axioms.symbols.fresh("hidden", PERSON)
    axioms.add([hidden], KNOWS(hidden, ANN))
    terms = [KNOWS(older, ANN), KNOWS(ANN, ANN)]
    with pytest.raises(AssertionError, match="variables of quantifiers"):
        CanonicalCopies(SmtNames()).with_axioms(terms, axioms)
    axioms = Axioms(Numbered())
    one = z3.Const("each", PERSON)
    axioms.add([older], AGE(older) > AGE(ANN))
    axioms.add([AGE], z3.ForAll([one], AGE(one) >= 0))
    axioms.add([hidden], KNOWS(hidden, ANN))
    copies, known = CanonicalCopies(SmtNames()).with_axioms(terms, axioms)
    assert [len(known.about([copy])) for copy in copies] == [2, 0]
    assert [len(axioms.about([term])) for term in terms] == [2, 0]
    answer = in_fresh_context(SmtNames(), z3.And(KNOWS(older, ANN), AGE(older) == 0), [z3.BoolVal(True)], axioms)
    assert answer.answer == z3.unsat
    likely = in_fresh_context(SmtNames(), AGE(ANN) == 7, [z3.BoolVal(True)], axioms, likely=[lambda: AGE(ANN) < 7])
    assert likely.answer == z3.sat


def test_no_symbol_is_called_like_a_witness() -> None:
    witnesses = SkolemConstants()
    assert [str(witnesses.fresh(PERSON, "one")) for _ in range(2)] == ["one!0", "one!1"]
    assert WITNESS not in str(Numbered().fresh("one!0", PERSON))
