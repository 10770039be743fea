"""Tests that no proof is trusted alone: what compiled code finds in a reachable state overrides z3."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from floodmark import Model
from floodmark.checkers.command_line.cli import command
from floodmark.checkers.project.properties import Property
from floodmark.checkers.reference import search
from floodmark.checkers.search_result import Limits, Options
from floodmark.checkers.symbolic.crosscheck import enumeration
from floodmark.checkers.symbolic.crosscheck.enumeration import enumerate_states
from floodmark.checkers.symbolic.crosscheck.spot_checks import SpotChecks
from floodmark.checkers.symbolic.methods.clauses import ClauseLiteral, predicate_of
from floodmark.checkers.symbolic.methods.ic3 import Inference
from floodmark.checkers.symbolic.methods.induction import CounterexampleToInduction, Obligation, confirm
from floodmark.checkers.symbolic.translate.effects import PredicateEvaluation
from floodmark.checkers.symbolic.translate.transition_system import System, system_of
from floodmark.checkers.symbolic.values.types import UnsupportedError
from floodmark.checkers.verdict.result import ExitCode
from floodmark.compiler.layout import lay_out
from floodmark.language.model import State
from floodmark.language.reference import Step, holds
from floodmark.language.types import BoolType, IntType, MapType, SetType
from model.alter_isr.core import AlterIsr
from specs.examples.two_phase_commit import TwoPhaseCommit
from tests.compiler.test_compiler import MODELS
from tests.support.projects import write
from tests.symbolic.test_boundary_proofs import Divides

METHODS = ["induction", "bmc", "k-induction", "infer"]
COUNTER = """
from typing import Annotated

from floodmark import Between, Constant, Model, action, boundary, invariant, require


class Counter(Model):
    most = Constant(5)
    x: Annotated[int, Between(0, "most")] = 0

    @boundary
    def near(self) -> bool:
        return 10 // (7 - self.x) > 0

    @action
    def up(self) -> None:
        require(self.x < self.most)
        self.x += 1

    @invariant
    def small(self) -> bool:
        return self.x >= 0
"""
LEMMA = """
from model.counter import Counter
from floodmark import lemma


@lemma
def not_three(model: Counter) -> bool:
    return model.x != 3
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path, {"model/counter.py": COUNTER, "specs/counter.toml": 'model = "model.counter:Counter"\n'})


def prove(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(command, ["prove", "specs/counter.toml", *arguments], standalone_mode=False)
    assert result.exception is None, result.output
    return result.return_value, result.output


def _blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """z3 is told that every property is true wherever it is looked at."""
    monkeypatch.setattr(System, "judge", lambda self, predicate, *_: PredicateEvaluation(predicate, True, []))
    monkeypatch.setattr("floodmark.checkers.symbolic.methods.induction._breaks", lambda *_: False)


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("method", METHODS)
def test_it_is_said_in_how_many_states_a_proof_was_looked_at(method: str) -> None:
    code, text = prove("--method", method)
    assert code == 0
    assert "all 6 reachable states" in text


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("self.x >= 0", "self.x < 3", "internal error in floodmark: small fails after 4 states, where z3 says"),
        ("(7 - self.x)", "(3 - self.x)", "internal error in floodmark: ZeroDivisionError"),
    ],
)
def test_a_wrong_proof_is_an_internal_error(
    project: Path, monkeypatch: pytest.MonkeyPatch, method: str, right: str, wrong: str, said: str
) -> None:
    """z3 overlooks a property, or a boundary, that fails in a reachable state."""
    write(project, {"model/counter.py": COUNTER.replace(right, wrong)})
    _blind(monkeypatch)
    code, text = prove("--method", method)
    assert code == ExitCode.INTERNAL_ERROR
    assert text.startswith("error ")
    assert said in text
    assert "x: 2 -> 3" in text


def test_a_wrong_proof_for_every_constant_is_an_internal_error(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever else would be said of such a proof."""
    write(project, {"model/counter.py": COUNTER.replace("self.x >= 0", "self.x < 3")})
    _blind(monkeypatch)
    monkeypatch.setattr("floodmark.checkers.symbolic.attempts.inductive.spot_check", lambda *_: SpotChecks())
    code, text = prove("--unbounded")
    assert code == ExitCode.INTERNAL_ERROR
    assert "small fails after 4 states, where z3 says: inductive" in text


def test_a_wrong_lemma_is_an_internal_error(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, {"invariants/counter_lemmas.py": LEMMA})
    _blind(monkeypatch)
    code, text = prove()
    assert code == ExitCode.INTERNAL_ERROR
    assert "not_three fails after 4 states" in text


def test_a_wrong_clause_is_an_internal_error(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """x <= 2 was inferred, and the questions about it answered wrongly."""
    monkeypatch.setattr(Inference, "run", lambda self: {frozenset([3])})
    monkeypatch.setattr(Inference, "pruned", lambda self, clauses: list(clauses))
    monkeypatch.setattr("floodmark.checkers.symbolic.methods.ic3.check_clauses",
                        lambda *_: dict.fromkeys(("initial states", "every action", "safety"), True))
    code, text = prove("--method", "infer")
    assert code == ExitCode.INTERNAL_ERROR
    assert "inferred clauses fails after 4 states" in text
    assert "3 <= 2" in text


@pytest.mark.usefixtures("project")
def test_a_wrong_refutation_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Inference, "_meets_first", lambda self, cube: True)
    monkeypatch.setattr(System, "judge", lambda self, predicate, *_: PredicateEvaluation(predicate, False, []))
    result = CliRunner().invoke(command, ["prove", "specs/counter.toml", "--method", "infer"], standalone_mode=False)
    assert isinstance(result.exception, RuntimeError)
    assert "none of the 6 does" in str(result.exception)


def test_a_proof_of_what_is_expected_to_break_is_not_as_expected(project: Path) -> None:
    write(project, {"specs/counter.toml": 'model = "model.counter:Counter"\n[expect]\nverdict = "violated"\n'
                                          'property = "small"\n'})
    for method in METHODS:
        code, text = prove("--method", method)
        assert code == 1
        assert "but the spec expects small to be violated" in text


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("most", [Limits(states=0), Limits(generated=0)], ids=["states", "steps"])
def test_an_incomplete_cross_check_is_reported(monkeypatch: pytest.MonkeyPatch, most: Limits) -> None:
    monkeypatch.setattr(enumeration, "ENUMERATION_LIMITS", most)
    code, text = prove()
    assert code == 0
    assert "not checked in all reachable states: the limit of 0 " in text


def test_a_model_that_the_engine_cannot_have_is_not_enumerated(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object) -> object:
        raise UnsupportedError("too wide")

    monkeypatch.setattr("floodmark.checkers.native.search.search_states", refuses)
    found = enumerate_states(Divides(), [])
    assert (found.complete, str(found.reason)) == (False, "too wide")


# Counterexamples to induction.


def test_a_counterexample_that_cpython_does_not_see_is_an_internal_error() -> None:
    """From 1 the step leads to 2, which is small."""
    prop = Property("small", "invariant", Divides.small, "", 1, "")
    for name, after in (("small", (2,)), ("small", (3,)), ("declared types", None), ("the boundary", (2,))):
        shown = CounterexampleToInduction((1,), Step("up"), after)
        with pytest.raises(RuntimeError, match="CPython that it does"):
            confirm(Divides(), [prop], Obligation("up", name, "fails", shown))


# Inferred clauses as a function.


def _some_states(model: Model) -> list[State]:
    """A few reachable states, as CPython finds them."""
    found: list[State] = []

    def keep(state: State) -> bool:
        found.append(state)
        return True

    prop = Property("kept", "invariant", lambda subject: keep(subject.snapshot()), "", 1, "")
    search.search_states(model, [prop], Options(limits=Limits(states=60)))
    return found[:: max(1, len(found) // 25)]


def _questions(system: System) -> list[ClauseLiteral]:
    """Everything that a clause could ask about each component of a state, up to a few codes."""
    asked = []
    for index, leaf in enumerate(system.leaves(system.now.state)):
        if isinstance(leaf.type, BoolType):
            asked.append(ClauseLiteral(index, "", 0, True))
        elif isinstance(leaf.type, IntType):
            asked += [ClauseLiteral(index, "<=", code, True) for code in range(leaf.type.low, min(leaf.type.high, 3))]
        else:
            asked += [ClauseLiteral(index, "==", code, True) for code in range(min(leaf.type.codes, 3))]
    return asked


def _answer(system: System, state: State, asked: ClauseLiteral) -> bool:
    """What z3's own components of a state say."""
    import z3

    term = system.leaves(system.constant(state))[asked.component].term
    code = int(z3.is_true(z3.simplify(term))) if z3.is_bool(term) else term.as_signed_long()
    return {"": code == 1, "<=": code <= asked.code, "==": code == asked.code}[asked.relation]


def _sample(questions: Sequence[ClauseLiteral]) -> Sequence[ClauseLiteral]:
    return questions[:: max(1, len(questions) // 30)]


@pytest.mark.parametrize(
    "model",
    [*(cls() for cls in MODELS if cls.__name__ != "Wide"), TwoPhaseCommit(managers=3),
     pytest.param(AlterIsr(brokers=2, max_offset=1, max_partition_epoch=1, max_leader_epoch=1),
                  marks=pytest.mark.slow)],
    ids=lambda model: type(model).__name__,
)
def test_a_clause_means_the_same_to_those_who_know_nothing_of_z3(model: Model) -> None:
    """CPython's answers are z3's, in every literal that a clause can have; and the native engine can have them all."""
    system = system_of(model, [])
    states = _some_states(model)
    sample = _sample(_questions(system))
    for asked in sample:
        denied = ClauseLiteral(asked.component, asked.relation, asked.code, False)
        one, other = (predicate_of(system.variables, [[literal]]).function for literal in (asked, denied))
        for state in states:
            expected = _answer(system, state, asked)
            assert (holds(model, one, state), holds(model, other, state)) == (expected, not expected), asked
    whole = predicate_of(
        system.variables, [[it, ClauseLiteral(it.component, it.relation, it.code, False)] for it in sample]
    )
    found = enumerate_states(model, [whole])
    assert found.violation is None, found.violation
    assert found.states > 0, found.reason


def test_no_clause_is_true_and_an_empty_one_is_false() -> None:
    model = Divides()
    assert holds(model, predicate_of(model.variable_types, []).function, (0,))
    assert not holds(model, predicate_of(model.variable_types, [[]]).function, (0,))


def test_a_value_that_cannot_be_written_is_refused() -> None:
    key = MapType(BoolType(), BoolType())
    with pytest.raises(UnsupportedError, match="cannot be written as one expression"):
        predicate_of({"x": SetType(key)}, [])
    with pytest.raises(UnsupportedError, match="no components"):
        predicate_of({"x": type("Odd", (), {})()}, [])


def test_every_reachable_state_is_looked_at() -> None:
    """A clause that is false of a single one is found, with the way there."""
    model = AlterIsr(brokers=2, max_offset=1, max_partition_epoch=1, max_leader_epoch=1)
    from floodmark.checkers.native.search import reachable_set

    layout = lay_out(model.variable_types)
    rows, _ = reachable_set(model, Options(workers=1))
    system = system_of(model, [])
    for row in itertools.islice(rows, 0, None, max(1, len(rows) // 5)):
        state: Any = layout.unpack(row)
        literals = []
        for index, leaf in enumerate(system.leaves(system.constant(state))):
            relation = {BoolType: "", IntType: "<="}.get(type(leaf.type), "==")
            code = 0 if relation == "" else leaf.term.as_signed_long()
            holds_there = _answer(system, state, ClauseLiteral(index, relation, code, True))
            literals.append(ClauseLiteral(index, relation, code, not holds_there))
            if isinstance(leaf.type, IntType) and code > leaf.type.low:
                literals.append(ClauseLiteral(index, relation, code - 1, True))
        found = enumerate_states(model, [predicate_of(system.variables, [literals])])
        assert found.violation is not None
        assert found.violation.trace[-1].state == state


def test_every_counterexample_to_induction_is_confirmed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    more = "\n    @invariant\n    def other(self) -> bool:\n        return self.x != 4\n"
    write(project, {"model/counter.py": COUNTER.replace("self.x >= 0", "self.x != 2") + more})
    seen: list[str] = []
    monkeypatch.setattr("floodmark.checkers.symbolic.attempts.inductive.confirm",
                        lambda model, every, obligation: seen.append(obligation.property))
    code, _ = prove()
    assert code == ExitCode.NOT_AS_EXPECTED and seen == ["small", "other"]
