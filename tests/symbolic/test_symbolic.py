"""The symbolic checker: its terms mean what CPython means, and its methods find what is there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, Phase, assume, given, settings

from floodmark import Between, Capacity, Constant, Model, ModelError, Seq, Set, action, invariant, require, transition
from floodmark.checkers.command_line.cli import command
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.properties import Property, collect
from floodmark.checkers.project.spec import Spec, read
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.search_result import Limit, Options, Stop
from floodmark.checkers.symbolic.any_size.unbounded_constants import unbounded_constants
from floodmark.checkers.symbolic.crosscheck.enumeration import enumerate_states
from floodmark.checkers.symbolic.methods.bmc import BmcResult, search
from floodmark.checkers.symbolic.methods.ic3 import infer
from floodmark.checkers.symbolic.methods.induction import induction
from floodmark.checkers.symbolic.methods.k_induction import k_induction
from floodmark.checkers.symbolic.methods.lemmas import lemmas_of
from floodmark.checkers.symbolic.methods.task import ProofTask
from floodmark.checkers.symbolic.prove import prove_check
from floodmark.checkers.symbolic.tactics.budget import Deadline
from floodmark.checkers.symbolic.translate.obligations import TYPES
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.checkers.verdict.check import Check, CheckSettings, checks, variant_name
from model.alter_isr.batch import AlterIsrBatch
from model.alter_isr.core import AlterIsr, ShippedAlterIsr
from model.alter_isr.failover import AlterIsrFailover
from specs.examples.two_phase_commit import TwoPhaseCommit
from tests.compiler.test_compiler import MODELS
from tests.support.engines import imported
from tests.support.model_strategy import GeneratedModel, models
from tests.support.shipped import shipped
from tests.support.symbolic_agreement import assert_steps_agree, levels_by_cpython, levels_by_solver

SPECS = Path(__file__).resolve().parents[2] / "specs"
PROTOCOLS: list[Model] = [
    TwoPhaseCommit(managers=3),
    AlterIsr(brokers=3, max_offset=2, max_partition_epoch=2, max_leader_epoch=1),
    ShippedAlterIsr(brokers=3, max_offset=2, max_partition_epoch=3),
    AlterIsrFailover(),
    AlterIsrBatch(),
]
SLOW_MODELS = {"Messages", "Wide"}
QUICK_DEPTH = 3
"""Flawed designs with longer shortest counterexamples are for the slow tests."""


def _parameters(classes: Sequence[type[Model]]) -> Sequence[object]:
    return [
        pytest.param(cls, id=cls.__name__, marks=[pytest.mark.slow] if cls.__name__ in SLOW_MODELS else [])
        for cls in classes
    ]


@pytest.mark.parametrize("cls", _parameters(MODELS))
def test_terms_mean_what_cpython_means(cls: type[Model]) -> None:
    assert_steps_agree(cls())


@pytest.mark.parametrize("model", [
    pytest.param(model, id=type(model).__name__,
                 marks=[pytest.mark.slow] if isinstance(model, ShippedAlterIsr | AlterIsrFailover) else [])
    for model in PROTOCOLS
])
def test_terms_of_protocols_mean_what_cpython_means(model: Model) -> None:
    assert_steps_agree(model, count=4)


def _agree_about_generated(example: GeneratedModel, directory: Path) -> None:
    with imported(example.source(), example.name, directory) as cls:
        try:
            assert_steps_agree(cls(), count=4)
        except ModelError:  # the compiler refuses it, or a set of sequences has no order in z3
            assume(False)


@settings(max_examples=15, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck),
          phases=[Phase.generate])
@given(example=models())
def test_terms_of_generated_models_agree_with_cpython(
    tmp_path_factory: pytest.TempPathFactory, example: GeneratedModel
) -> None:
    _agree_about_generated(example, tmp_path_factory.mktemp("generated"))


@pytest.mark.slow
@settings(max_examples=150, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(example=models())
def test_terms_of_many_generated_models_agree_with_cpython(
    tmp_path_factory: pytest.TempPathFactory, example: GeneratedModel
) -> None:
    _agree_about_generated(example, tmp_path_factory.mktemp("generated"))


@pytest.mark.parametrize(
    ("model", "depth"),
    [
        (TwoPhaseCommit(managers=3), 4),
        (AlterIsr(brokers=2, max_offset=1, max_partition_epoch=1, max_leader_epoch=1), 4),
    ],
    ids=["TwoPhaseCommit", "AlterIsr"],
)
def test_z3_and_cpython_reach_the_same_states_in_k_steps(model: Model, depth: int) -> None:
    assert levels_by_solver(model, depth) == levels_by_cpython(model, depth)


# Bounded search.


def _flawed() -> Sequence[object]:
    """The known-bad designs; every fourth of those with a short counterexample of KIP-497 is asked quickly."""
    found = []
    quick = 0
    for spec in shipped().values():
        for check in checks(spec, CheckSettings()):
            if check.flawed is None or check.tier != "quick" or check.wanted_property == "deadlock":
                continue
            short = (check.wanted_depth or QUICK_DEPTH + 1) <= QUICK_DEPTH and check.spec.name.startswith("alter_isr")
            name = f"{check.spec.name}-{variant_name(check)}"
            quick += short
            found.append(pytest.param(check, id=name, marks=[] if short and quick % 8 == 1 else [pytest.mark.slow]))
    return found


@pytest.mark.parametrize("check", _flawed())
def test_shortest_counterexamples_are_as_long_as_the_native_ones(check: Check) -> None:
    native = run_check(check)
    if native.violation is None or native.violation.kind in ("deadlock", "liveness"):
        pytest.skip("it breaks no invariant")
    length = len(native.violation.trace)
    assert native.subject is not None
    wanted = [prop for prop in native.properties if prop.kind != "reachable" and not prop.is_liveness]
    found = search(system_of(native.subject, wanted), wanted, length, Deadline(1800))
    assert not found.stopped
    assert found.violation is not None, f"nothing within {length} states"
    assert native.search_result is not None  # which holds all that its last level violates
    shortest = [(violation.property, len(violation.trace)) for violation in native.search_result.violations]
    assert (found.violation.property, len(found.violation.trace)) in shortest


def test_bounded_search_finds_nothing_in_a_good_design() -> None:
    model = TwoPhaseCommit(managers=3)
    properties = list(collect(TwoPhaseCommit, []).values())
    found = search(system_of(model, properties), properties, 11)
    assert (found.violation, found.depth) == (None, 11)
    assert found.reached == {"prepared_managers_abort": 8, "all_committed": 11}


# Induction.


def _core(name: str) -> tuple[Spec, type[Model], list[Property], list[Property]]:
    spec = read(SPECS / "alter_isr" / f"{name}.toml")
    cls = spec.model_class()
    properties = [prop for prop in spec.properties(cls).values() if prop.kind != "reachable"]
    return spec, cls, properties, lemmas_of(spec, cls)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["core", "shipped"])
def test_invariants_of_kip_497_are_inductive(name: str) -> None:
    spec, cls, properties, lemmas = _core(name)
    proof = induction(system_of(cls(**spec.constants), [*properties, *lemmas]), [*properties, *lemmas])
    assert proof.failing() == []
    assert len(proof.obligations) > 400


@pytest.mark.slow
@pytest.mark.parametrize("name", ["core", pytest.param("shipped", marks=pytest.mark.slow)])
def test_invariants_of_kip_497_are_inductive_without_bounds(name: str) -> None:
    spec, cls, properties, lemmas = _core(name)
    model = cls(**spec.constants)
    unbounded = unbounded_constants(model)
    assert unbounded == ["max_offset", "max_partition_epoch", "max_leader_epoch"]
    proof = induction(system_of(model, [*properties, *lemmas], unbounded), [*properties, *lemmas])
    assert proof.failing() == []


@pytest.mark.parametrize("name", ["core", "shipped"])
def test_lemmas_are_true_of_every_reachable_state(name: str) -> None:
    spec, cls, _, lemmas = _core(name)
    as_invariants = [
        Property(lemma.name, "invariant", lemma.function, lemma.file, lemma.line, lemma.doc) for lemma in lemmas
    ]
    model = cls(**{**spec.constants, "max_offset": 1})
    found = search_states(model, as_invariants, Options(workers=1))
    assert found.violations == []
    assert found.complete


@pytest.mark.parametrize("unbounded", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_flawed_design_is_not_proved(unbounded: bool) -> None:
    spec, _, properties, lemmas = _core("core")
    flawed = next(entry for entry in spec.flawed if entry.name == "IgnoresPendingExpand")
    model = spec.flawed_class(flawed)(**spec.constants)
    names = unbounded_constants(model) if unbounded else []
    proof = induction(system_of(model, [*properties, *lemmas], names), [*properties, *lemmas])
    broken = {obligation.property for obligation in proof.failing() if obligation.outcome == "fails"}
    assert "isr_holds_committed" in broken
    assert TYPES not in broken


def test_without_lemmas_the_counterexample_is_not_reachable() -> None:
    spec = replace(read(SPECS / "examples" / "two_phase_commit.toml"), invariant_files=())
    result = prove_check(Check(spec, None, CheckSettings()), ProofTask(method="induction"))
    assert (result.verdict, int(result.exit_code)) == ("undetermined", 3)
    text = "\n".join(result.lines)
    assert "manager_learns_of_commit does not preserve consistent" in text
    assert "which is not reachable: a lemma that excludes it is missing" in text


# k-induction and inference.


def _two_phase_commit() -> tuple[Model, list[Property]]:
    properties = [prop for prop in collect(TwoPhaseCommit, []).values() if prop.kind == "invariant"]
    return TwoPhaseCommit(managers=2), properties


def test_k_induction_proves_what_induction_alone_does_not() -> None:
    model, properties = _two_phase_commit()
    system = system_of(model, properties)
    assert induction(system, properties).outcome == "fails"
    assert k_induction(system, properties, 2).outcome == "fails"
    found = k_induction(system, properties, 20)
    assert found.outcome == "proved"
    assert 2 < found.depth < 20


def test_inferred_clauses_are_an_inductive_invariant() -> None:
    model, properties = _two_phase_commit()
    found = infer(system_of(model, properties), properties)
    assert found.found
    assert found.checks == dict.fromkeys(["initial states", "every action", "safety"], True)
    assert "abort_message  =>  not commit_message" in found.clauses
    assert found.predicate is not None
    assert enumerate_states(model, [*properties, found.predicate]).complete


@pytest.mark.slow
@pytest.mark.parametrize("cls", [AlterIsr, ShippedAlterIsr])
def test_high_watermark_invariants_are_inferred(cls: type[Model]) -> None:
    spec, _, _, _ = _core("core")
    names = ("leader_assumes_superset", "isr_counts_when_nothing_is_pending", "isr_holds_committed")
    every = spec.properties(cls)
    model = cls(brokers=2, max_offset=1, max_partition_epoch=1, max_leader_epoch=1, in_flight=1)
    found = infer(system_of(model, [every[name] for name in names]), [every[name] for name in names], 120)
    assert found.found


def test_a_flawed_design_has_no_inductive_invariant() -> None:
    spec = read(SPECS / "examples" / "two_phase_commit.toml")
    cls = spec.flawed_class(spec.flawed[0])
    properties = [prop for prop in spec.properties(cls).values() if prop.kind == "invariant"]
    found = infer(system_of(cls(managers=3), properties), properties)
    assert found.refuted


# The command.


def test_prove_says_what_it_found(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    spec = SPECS / "examples" / "two_phase_commit.toml"
    arguments = ["prove", str(spec), "--method", "induction", "--json", str(file)]
    result = CliRunner().invoke(command, arguments, standalone_mode=False)
    assert result.return_value == 0, result.output
    (entry,) = json.loads(file.read_text())["results"]
    assert (entry["verdict"], entry["engine"], entry["method"]) == ("holds", "symbolic", "induction")
    assert "consistent" in entry["properties"]
    assert "prepared_managers_wait" in entry["lemmas"]


@pytest.mark.parametrize("method", ["induction", "bmc", "k-induction", "infer"])
def test_a_limit_leaves_the_answer_undetermined(method: str) -> None:
    spec = str(SPECS / "examples" / "two_phase_commit.toml")
    arguments = ["prove", spec, "--method", method, "--max-seconds", "0.001"]
    result = CliRunner().invoke(command, arguments, standalone_mode=False)
    assert result.return_value == 3, result.output
    assert "limit of 0.001 seconds" in result.output


class DividesByNone(Model):
    """A property that cannot be evaluated in any state."""

    none = Constant(0)
    x: Annotated[int, Between(0, 1)] = 0

    @action
    def flip(self) -> None:
        self.x = 1 - self.x

    @invariant
    def quotient(self) -> bool:
        return 1 // self.none >= 0


def test_a_property_that_always_fails_is_an_error_of_the_first_state() -> None:
    properties = list(collect(DividesByNone, []).values())
    violation = search(system_of(DividesByNone(), properties), properties, 1).violation
    assert violation is not None
    assert (violation.kind, violation.property, len(violation.trace)) == ("error", "quotient", 1)


class Families(Model):
    """A set of sets."""

    some: Set[Set[Annotated[int, Between(0, 2)]]] = Set()

    @action
    def add(self, value: Set[Annotated[int, Between(0, 2)]]) -> None:
        self.some.add(value)

    @invariant
    def few(self) -> bool:
        return len(self.some) < 4


def test_each_set_in_a_set_counts_once() -> None:
    properties = list(collect(Families, []).values())
    violation = search(system_of(Families(), properties), properties, 5).violation
    assert violation is not None
    assert (violation.property, len(violation.trace)) == ("few", 5)


class ReadsWhatIsGone(Model):
    """A property that cannot be evaluated after a step."""

    log: Annotated[Seq[Annotated[int, Between(0, 1)]], Capacity(1)] = Seq((1,))

    @action
    def clears(self) -> None:
        self.log = Seq()

    @invariant
    def begins(self) -> bool:
        return self.log[0] >= 0


def test_every_method_finds_a_property_that_cannot_be_evaluated_after_a_step() -> None:
    properties = list(collect(ReadsWhatIsGone, []).values())
    system = system_of(ReadsWhatIsGone(), properties)
    assert [(it.action, it.property) for it in induction(system, properties).failing()] == [("clears", "begins")]
    for violation in (search(system, properties, 2).violation, k_induction(system, properties, 3).violation):
        assert violation is not None
        assert (violation.kind, len(violation.trace)) == ("error", 2)
    assert infer(system, properties).refuted


class LeavesZeroOnce(Model):
    """Its first step breaks a property of steps, and nothing leads back to where it began."""

    x: Annotated[int, Between(0, 5)] = 0

    @action
    def up(self) -> None:
        require(self.x < 5)
        self.x += 1

    @transition
    def stays_at_zero(self, new: LeavesZeroOnce) -> bool:
        return self.x > 0 or new.x == 0


def test_k_induction_searches_its_first_steps_for_properties_of_steps() -> None:
    properties = list(collect(LeavesZeroOnce, []).values())
    violation = k_induction(system_of(LeavesZeroOnce(), properties), properties, 4).violation
    assert violation is not None
    assert (violation.property, len(violation.trace)) == ("stays_at_zero", 2)


def test_k_induction_proves_nothing_if_its_base_was_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that goes through says nothing of the states with which it begins."""
    system = system_of(Toggles(), toggling := list(collect(Toggles, []).values()))
    assert k_induction(system, toggling, 1).outcome == "proved"
    stopped = BmcResult(stopped=Stop(Limit.SECONDS))
    monkeypatch.setattr("floodmark.checkers.symbolic.methods.k_induction.search", lambda *_, **__: stopped)
    assert k_induction(system, toggling, 1).outcome == "undetermined"


class Toggles(Model):
    """A property that is inductive."""

    x: Annotated[int, Between(0, 2)] = 0

    @action
    def flip(self) -> None:
        self.x = 1 - self.x if self.x < 2 else 0

    @invariant
    def small(self) -> bool:
        return self.x < 2
