"""Tests a fixed slice of what ``python -m tools.mutants`` compares, and that it notices what it is there for."""

from __future__ import annotations

import ast
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from floodmark.checkers.native import search as native
from floodmark.checkers.project.modules import load_file
from floodmark.checkers.project.spec import read
from floodmark.checkers.reference import search as reference
from floodmark.checkers.search_result import Limits, Options
from floodmark.checkers.symbolic.prove import prove_check
from floodmark.checkers.symbolic.translate import effects, transition_system
from floodmark.checkers.symbolic.translate.expressions import ExpressionEvaluator
from floodmark.checkers.symbolic.translate.obligations import TYPES
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.compiler.node_builder import NodeBuilder
from floodmark.language.errors import SourceError
from floodmark.language.model import Model
from floodmark.language.source import source_of
from tests.agreement.doors import Doors, Rooms
from tests.support import counterexample_terms
from tests.support.engines import properties_of
from tests.support.level_agreement import Budget, agreement
from tools import mutant_archive, mutants
from tools.mutants import Scope, Subject, Variant, compare_terms, compare_variant, jobs, planted, subject, variants
from tools.rewriting import ALIKE, rewrites
from tools.rewriting.different import DIFFERENT
from tools.rewriting.scene import RewriteContext

ROOT = Path(__file__).parents[2]
TASKS = Path(__file__).parent / "tasks"
BUDGET = Budget(states=400, steps=120, late=2)


@pytest.fixture(autouse=True)
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "mutants.jsonl"
    monkeypatch.setattr(mutant_archive, "ARCHIVE", path)
    return path


def task(file: str, name: str) -> Subject:
    cls = vars(load_file(TASKS / f"{file}.py"))[name]
    return subject(name, cls(), properties_of(cls))


def function_of(subject: Subject, name: str) -> FunctionType:
    return next(each for each in subject.functions() if each.__name__ == name)


SLICE = [("locks", "FairLock", "position"), ("commits", "SagaByDistance", "undo")]


@pytest.mark.parametrize(("file", "name", "function"), SLICE)
def test_the_native_search_agrees_with_cpython_about_changed_models(file: str, name: str, function: str) -> None:
    model = task(file, name)
    plain = agreement(model.model, model.properties, BUDGET)
    changed = function_of(model, function)
    fates: Counter[str] = Counter()
    for variant in variants(model, changed, few=1):
        found = compare_variant(model, changed, variant, plain, BUDGET)
        fates[found["fate"]] += 1
        assert found["fate"] in ("agreed", "refused"), f"{found}\n{variant.text()}"
    assert fates["agreed"] > 10 > fates["refused"], fates


SCENE = '''
from enum import Enum
from floodmark import Identifier, Seq, Set, require

class Node(Identifier, count=2): pass
class Kind(Enum):
    A = 0
    B = 1

def helper(model, x):
    return model.x > x

def step(self, a: Node, b: Node):
    """A docstring."""
    require(a != b and self.x > 0 and a in self.s)
    require(helper(self, b))
    limit = self.x + 1
    require(limit < 3)
    if self.flag:
        self.x += 1
        self.s |= {a}
    else:
        self.x = self.x + 2
    y = 1 if self.flag else 2
    if self.x in (1, 2) and 0 < self.x <= 3:
        self.y = y
    else:
        self.y = 0
    for node in Node:
        if node in self.s:
            self.m[node] = 1
    for i in range(3):
        self.x = i
    for other in Node:
        self.m[other] = 0
    found = any(self.m[n] > 1 for n in Node if n in self.s)
    if found:
        self.x = 0

def leaves(self, a: Node):
    self.x = self.x + 1
    for node in Node:
        if node == a:
            break
        self.x += 1
    for node in Node:
        if node == a:
            self.x = 1
    if self.x > 1:
        self.x = 0

def first(self, a: Node) -> bool:
    for node in Node:
        if node == a:
            return True
    return False

def second(self, a: Node) -> bool:
    if self.x > 1:
        return self.x == 1
    if self.x == 0:
        return False
    return a in self.s
'''


def scene(tmp_path: Path, name: str) -> RewriteContext:
    file = tmp_path / "scene.py"
    file.write_text(SCENE)
    namespace: dict[str, Any] = {}
    exec(compile(SCENE, str(file), "exec"), namespace)
    tree = next(node for node in ast.parse(SCENE).body if isinstance(node, ast.FunctionDef) and node.name == name)
    helper = next(node for node in ast.parse(SCENE).body if isinstance(node, ast.FunctionDef))
    members = {"Node": [ast.parse(f"Node({n})", mode="eval").body for n in (1, 2)]}

    def called(call: ast.Call) -> tuple[FunctionType, ast.FunctionDef] | None:
        return (namespace["helper"], helper) if ast.unparse(call.func) == "helper" else None

    return RewriteContext(namespace[name], tree, {"x": ["y"]}, called, members.get)


def test_every_kind_of_rewrite_is_made(tmp_path: Path) -> None:
    made = {each.kind for name in ("step", "first", "second", "leaves") for each in rewrites(scene(tmp_path, name), 1)}
    assert made == {kind.__name__ for kind in [*ALIKE, *DIFFERENT]}


def test_a_rewrite_that_means_something_else_is_noticed() -> None:
    model = task("locks", "Mutex")
    plain = agreement(model.model, model.properties, BUDGET)
    function = function_of(model, "acquire")
    other = next(each for each in variants(model, function) if each.kind == "mutate: comparison")
    found = compare_variant(model, function, replace(other, alike=True), plain, BUDGET)
    assert found["fate"] == "disagreed"
    assert "of the model Found(" in found["why"]


def test_a_compiler_that_is_wrong_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path))
    model = task("locks", "FairLock")
    plain = agreement(model.model, model.properties, BUDGET)
    monkeypatch.setattr(NodeBuilder, "all_of", NodeBuilder.any_of)
    function = function_of(model, "position")
    swapped = next(each for each in variants(model, function) if each.kind == "comparisons_turned")
    assert compare_variant(model, function, swapped, plain, BUDGET)["fate"] == "disagreed"


def of_spec(name: str) -> Subject:
    check = Check(read(ROOT / "specs" / "examples" / f"{name}.toml"), None, CheckSettings())
    return replace(subject(name, check.cls()(**check.constants), check.properties()), check=check)


def terms_of_mutants(scope: Scope, one_in: int) -> tuple[Counter[str], Counter[str]]:
    """What became of mutants of a subject whose terms were compared, and what was asked of them."""
    fates: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for function in scope.subject.functions():
        for variant in [*mutants.mutants(function)][::one_in]:
            found = compare_terms(scope, function, variant)
            fates[found["fate"]] += 1
            asked.update(found["asked"])
    return fates, asked


def test_terms_of_changed_models_mean_what_cpython_does() -> None:
    fates, asked = terms_of_mutants(Scope(of_spec("election")), 2)
    assert set(fates) <= {"agreed", "refused"}
    assert fates["agreed"] > 3
    for question in ("steps", "predicates", "for any size: steps", "for any size: properties"):
        assert asked[question] > 0, question


def last_operand_lost(whole: Any) -> Any:
    return lambda self, operands, stop_at: whole(self, operands[:-1], stop_at)


def nothing_assigned(whole: Any) -> Any:
    def fire(values: Any, variables: Any, action: Any, state: Any, parameters: Any) -> Any:
        return replace(whole(values, variables, action, state, parameters), after=dict(state))

    return fire


def never_failing(whole: Any) -> Any:
    def fire(*arguments: Any) -> Any:
        return replace(whole(*arguments), failures=[])

    return fire


MISTAKES = {
    "an operand of and, or": (ExpressionEvaluator, "_chain", last_operand_lost, "two_phase_commit"),
    "what is assigned": (transition_system, "fire", nothing_assigned, "election"),
    "failures": (transition_system, "fire", never_failing, "peterson"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_terms_that_mean_something_else_are_noticed(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those for any number of identifiers, where a subject has them."""
    where, name, changed, spec = MISTAKES[mistake]
    scope = Scope(of_spec(spec))
    monkeypatch.setattr(where, name, changed(getattr(where, name)))
    fates, _ = terms_of_mutants(scope, 4)
    assert fates["disagreed"] > 0
    assert not fates["failed"]


def of_doors(limit: int) -> Subject:
    return subject(f"doors {limit}", Doors(limit=limit), properties_of(Doors))


def of_rooms() -> Subject:
    return subject("rooms", Rooms(), properties_of(Rooms))


def test_terms_are_asked_where_the_changed_line_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a larger model, or in drawn states, where the smallest one does not reach it; what cannot run is told."""
    monkeypatch.setattr(mutants, "subjects_of_specs", lambda: [of_doors(0), of_doors(2)])
    mutants.compare(tmp_path, jobs([], 1, BUDGET, "terms"), 1)
    found = {(entry["function"], entry["what"]): entry for entry in mutants.results(tmp_path)}
    assert {entry["fate"] for entry in found.values()} == {"agreed"}
    opens = found["Doors.opens", "- self.opened = self.limit  + (dropped)"]
    repaired = found["Doors.is_repaired", "- self.repaired = True  + (dropped)"]
    moved = found["Doors.is_moved", "- self.broken = True  + (dropped)"]
    assert opens["asked of"] == "doors 2" and opens["asked"]["runs"] > 0
    assert repaired["asked of"] == "doors 0" and repaired["asked"]["runs"] > 0
    assert not moved["asked"]["runs"]
    assert "1 changes of lines that it runs in none" in " ".join(mutants.table(tmp_path))


def test_terms_of_what_no_search_reaches_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    doors = of_doors(0)
    function = function_of(doors, "is_repaired")
    variant = next(each for each in mutants.mutants(function) if each.kind == "mutate: assignment")
    tree = ast.parse(variant.text().replace("pass", "self.repaired = self.broken")).body[0]
    assert isinstance(tree, ast.FunctionDef)
    other = replace(variant, tree=tree)
    scope = Scope(doors)
    witnesses = scope.questions_at(function, [variant.place])[variant.place]
    assert compare_terms(scope, function, other, witnesses)["fate"] == "agreed"
    monkeypatch.setattr(transition_system, "fire", nothing_assigned(effects.fire))
    assert compare_terms(scope, function, other)["fate"] == "agreed"
    assert compare_terms(scope, function, other, witnesses)["fate"] == "disagreed"


def beginnings(scope: Scope) -> tuple[Counter[str], Counter[str]]:
    function = function_of(scope.subject, "start")
    found = [compare_terms(scope, function, variant) for variant in mutants.mutants(function)]
    return Counter(it["fate"] for it in found), sum((Counter(it["asked"]) for it in found), Counter())


def test_beginnings_of_changed_models_mean_what_cpython_does() -> None:
    fates, asked = beginnings(Scope(of_rooms()))
    assert fates["agreed"] >= 3
    assert fates["refused"] == 2  # without a value of a variable
    assert asked["beginnings"] > 0
    assert asked["for any size: initial"] > 0
    assert asked["runs"] == fates["agreed"]


def test_wrong_beginnings_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    scope = Scope(of_rooms())
    with monkeypatch.context() as patching:
        patching.setattr(transition_system.System, "initial", lambda self, state: True)
        assert beginnings(scope)[0]["disagreed"] > 0
    monkeypatch.setattr(transition_system, "fire", lambda *given: replace(effects.fire(*given), enabled=False))
    assert beginnings(scope)[0]["disagreed"] > 0


def test_what_keeps_a_changed_model_from_terms_is_told() -> None:
    doors = of_rooms()
    function, entering = function_of(doors, "start"), function_of(doors, "enters")
    scope = Scope(doors)
    fates = {}
    for name, changing, text in (
        ("undefined", entering, "def enters(self, guest: Guest) -> None:\n    self.key = host"),
        ("unset", function, "def start(self, first: Guest, second: Guest) -> None:\n    self.key = first"),
    ):
        tree = ast.parse(text).body[0]
        assert isinstance(tree, ast.FunctionDef)
        tree.args = source_of(changing).tree.args
        fates[name] = compare_terms(scope, changing, Variant("mutate: assignment", False, name, tree))["fate"]
    assert fates == {"undefined": "refused", "unset": "refused"}


def denied_counterexample() -> str:
    """What the terms deny of the counterexample of a mutant."""
    violated = of_spec("peterson")
    function = function_of(violated, "one_at_a_time")
    variant = next(each for each in mutants.mutants(function) if each.kind == "mutate: comparison")
    found = mutants.check_counterexample(violated, function, variant)
    assert found["steps"][0] > 1
    return str(found["why"])


def test_a_counterexample_that_the_terms_of_a_method_deny_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert denied_counterexample() == ""
    for where, name, wrong, said in (
        (transition_system.System, "initial", lambda *given: False, "runs do not begin"),
        (transition_system, "fire", nothing_assigned(effects.fire), "does not lead"),
        (counterexample_terms, "violation_condition", lambda *given: False, "is not broken"),
        (counterexample_terms, "goals_of", lambda *given: [(TYPES, False)], "induction excludes"),
    ):
        with monkeypatch.context() as patching:
            patching.setattr(where, name, wrong)
            assert said in denied_counterexample()


def test_proof_methods_are_asked_about_a_violated_mutant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proof of one is a disagreement."""
    monkeypatch.setattr(mutants, "subjects_of_specs", lambda: [of_spec("peterson")])
    every = [job for job in mutants.proof_jobs([], BUDGET, "") if job.kind == "mutate: comparison"]
    mutants.compare(tmp_path / "right", every, 1)
    (entry,) = mutants.results(tmp_path / "right")
    assert (entry["fate"], entry["verdict"]) == ("agreed", "violated")
    assert len(entry["proofs"]) > len(mutants.TASKS)
    assert not any(said.endswith(": holds") for said in entry["proofs"])
    mutants.compare(tmp_path / "right", every, 1)
    assert len(mutants.results(tmp_path / "right")) == 1
    monkeypatch.setattr(mutants, "prove_check", lambda check, task: replace(prove_check(check, task), verdict="holds"))
    mutants.compare(tmp_path / "wrong", every, 1)
    (entry,) = mutants.results(tmp_path / "wrong")
    assert entry["fate"] == "disagreed"


def test_functions_that_a_change_needs_are_gone_afterwards() -> None:
    model = task("locks", "FairLock")
    function = function_of(model, "join")
    variant: Variant = next(each for each in variants(model, function) if each.helpers)
    before = set(function.__globals__)
    with planted(function, variant):
        assert set(function.__globals__) - before
    assert set(function.__globals__) == before


def test_a_campaign_goes_on_where_it_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    model = task("locks", "Mutex")
    monkeypatch.setattr(mutants, "subjects_of_specs", lambda: [model])
    every = jobs([], 4, BUDGET)
    mutants.compare(tmp_path, every[:1], 1)
    first = mutants.results(tmp_path)
    mutants.compare(tmp_path, every, 1)
    second = mutants.results(tmp_path)
    assert first
    assert second[: len(first)] == first
    assert len({entry["key"] for entry in second}) == len(second) > len(first)
    assert mutants.table(tmp_path)[0].startswith(f"{len(second)} changed models")
    assert "disagreed" not in capfd.readouterr().out


def test_a_campaign_of_terms_counts_what_was_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = of_spec("election")
    monkeypatch.setattr(mutants, "subjects_of_specs", lambda: [model])
    mutants.compare(tmp_path, jobs([], 6, BUDGET, "terms"), 1)
    found = mutants.results(tmp_path)
    assert found
    told = " ".join(mutants.table(tmp_path))
    assert f"{len(found)} of them were compared" in told
    assert f"{sum(entry['asked'].get('steps', 0) for entry in found):,} steps" in told


@pytest.mark.parametrize("question", ["terms", "counterexamples"])
def test_another_machine_asks_only_about_jobs_that_the_archive_has_not_or_that_have_changed(
    question: str, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutants, "subjects_of_specs", lambda: [of_doors(0), of_rooms()])
    first, second = jobs([], 1, Budget(), question)
    mutants.compare(tmp_path / "one", [first], 1)
    mutants.table(tmp_path / "one")
    (done,) = mutant_archive.read()
    assert (done.job, done.content, done.summary.changes) == (str(first), first.content(), len(first.keys()))

    mutants.compare(tmp_path / "two", [first, second], 1)
    found = mutants.results(tmp_path / "two")
    assert {entry["key"] for entry in found} == {*second.keys()}
    told = " ".join(mutants.table(tmp_path / "two"))
    assert len(mutant_archive.read()) == 2
    assert f"{len(first.keys()) + len(second.keys())} of them were compared" in told

    archive.write_text(archive.read_text().replace(done.content, "of other texts"))
    mutants.compare(tmp_path / "three", [first, second], 1)
    assert {entry["key"] for entry in mutants.results(tmp_path / "three")} == {*first.keys()}


def test_the_archive_has_neither_unfinished_jobs_nor_disagreements(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutants, "subjects_of_specs", lambda: [of_doors(0), of_rooms()])
    mutants.compare(tmp_path, jobs([], 1, Budget(), "terms"), 1)
    *others, last = mutants.results(tmp_path)
    lines = [json.dumps(entry) for entry in others]
    for fate in (None, "disagreed"):
        kept = [*lines, *([json.dumps(last | {"fate": fate})] if fate else [])]
        (tmp_path / "compared.jsonl").write_text("\n".join(kept))
        told = " ".join(mutants.table(tmp_path))
        assert [done.job.startswith(last["subject"]) for done in mutant_archive.read()] == [False]
        assert f"{len(kept)} of them were compared" in told
        assert f"those of {int(fate is not None)} do not" in told


FEW_STATES = Limits(states=2_000, generated=20_000)


def runs_judged(engine: Any, model: Model, check: Check) -> tuple[object, ...]:
    """What an engine says of the runs of a model, if it is searched to its end; else that it is refused, or open."""
    try:
        found = engine.search_states(model, check.properties(), Options(workers=1, limits=FEW_STATES))
    except SourceError:
        return ("refused",)
    if not found.complete and not found.violations:
        return ("open",)
    return found.complete, sorted((it.property, it.kind) for it in found.violations)


def unlike_runs(name: str, one_in: int) -> tuple[list[str], Counter[str]]:
    """The changed models of a spec with properties of runs about which the native search and CPython differ. What the
    compiler refuses, CPython may run.
    """
    check = Check(read(ROOT / "specs" / "examples" / f"{name}.toml"), None, CheckSettings())
    model = check.cls()(**check.constants)
    properties = check.properties()
    assert any(prop.is_liveness for prop in properties)
    changing, told, counts = Subject(name, model, tuple(properties), False, check), [], Counter[str]()
    every = [(function, variant) for function in changing.functions() for variant in variants(changing, function, 1)]
    for function, variant in every[::one_in]:
        with planted(function, variant):
            one, other = (runs_judged(engine, model, check) for engine in (native, reference))
        counts[str(one[0])] += 1
        if one != other and one != ("refused",):
            told.append(f"{function.__qualname__}: {variant.what}: {one}, CPython {other}")
    return told, counts


def test_runs_of_changed_models_are_judged_alike() -> None:
    told, counts = unlike_runs("peterson", 12)
    assert told == []
    assert counts["True"] > 3
    assert counts["False"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["alternating_bit", "dekker", "peterson"])
def test_runs_of_many_changed_models_are_judged_alike(name: str) -> None:
    told, counts = unlike_runs(name, 1)
    assert told == []
    assert counts["False"] > 3
