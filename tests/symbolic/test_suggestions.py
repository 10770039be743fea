"""Tests suggested lemmas for proofs of any size: how clauses are found, and that only an induction counts."""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from floodmark.checkers.native.search import reachable_set, search_states
from floodmark.checkers.project.properties import Property
from floodmark.checkers.project.spec import read
from floodmark.checkers.search_result import Limit, Options, Stop
from floodmark.checkers.symbolic.any_size.unbounded_constants import any_size_constants
from floodmark.checkers.symbolic.attempts import inferred
from floodmark.checkers.symbolic.attempts.attempt import Attempt
from floodmark.checkers.symbolic.crosscheck.enumeration import Enumeration
from floodmark.checkers.symbolic.methods.induction import induction
from floodmark.checkers.symbolic.methods.lemmas import lemmas_of
from floodmark.checkers.symbolic.methods.task import ProofTask
from floodmark.checkers.symbolic.prove import prove_check
from floodmark.checkers.symbolic.suggestions import sizes
from floodmark.checkers.symbolic.suggestions.batches import batch_of, batch_of_packed
from floodmark.checkers.symbolic.suggestions.covers import covers
from floodmark.checkers.symbolic.suggestions.examples import Examples, different
from floodmark.checkers.symbolic.suggestions.grammar import Grammar
from floodmark.checkers.symbolic.suggestions.scopes import AtomScope, scopes_of
from floodmark.checkers.symbolic.suggestions.sentences import AtomFilter, QuantifiedClause
from floodmark.checkers.symbolic.suggestions.sized import SizedSystem
from floodmark.checkers.symbolic.suggestions.sizes import Sizes, reachable_states, sizes_of
from floodmark.checkers.symbolic.suggestions.support import Support
from floodmark.checkers.symbolic.suggestions.vocabulary import vocabulary_of
from floodmark.checkers.symbolic.tactics.budget import Deadline
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.checkers.verdict.check import Check, CheckSettings, checks, variant_name
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.compiler.layout import lay_out
from floodmark.language.model import Model
from floodmark.language.reference import holds, initial_states
from tests.support.any_size_protocols import as_invariants
from tests.support.projects import write

COPIES = '''
from __future__ import annotations

from typing import Annotated

from floodmark import (
    Between, Capacity, Constant, Identifier, Map, Model, Record, Set, action, initial, invariant, require, rule,
)

Number = Annotated[int, Between(0, "max_number")]


class Replica(Identifier, count="replicas", prefix="r"):
    """Who has a copy."""


class News(Record):
    number: Number


class Copies(Model):
    """Copies of a number that only grows, told by messages that arrive in any order."""

    replicas = Constant(2)
    max_number = Constant(2)

    written: Number = 0
    copy: Map[Replica, Number]
    sent: Annotated[Set[News], Capacity("max_number + 1")] = Set()

    @initial
    def start(self) -> None:
        self.copy = Map({replica: 0 for replica in Replica})

    @rule
    def told(self) -> int:
        return self.written

    @action
    def writes(self) -> None:
        require(self.written < self.max_number)
        self.written += 1
        self.sent.add(News(number=self.told()))

    @action
    def hears(self, replica: Replica, news: News) -> None:
        require(news in self.sent)
        self.copy[replica] = max(self.copy[replica], news.number)

    @invariant
    def no_copy_is_ahead(self) -> bool:
        return all(self.copy[replica] <= self.written for replica in Replica)
'''
FLAWED = '''
from copies import Copies


class TellsAhead(Copies):
    """Tells the number that it will write next."""

    def told(self) -> int:
        return min(self.written + 1, self.max_number)
'''
SPEC = 'model = "copies.py:Copies"\n[[flawed]]\nclass = "flawed:TellsAhead"\nproperty = "no_copy_is_ahead"\n'
INFER = ProofTask("infer", any_size=True)


@pytest.fixture
def copies(tmp_path: Path) -> Iterator[Check]:
    """A check of the model above; it needs few random runs to be known."""
    write(tmp_path, {"copies.py": COPIES, "flawed.py": FLAWED, "copies.toml": SPEC})
    with patch.object(sizes, "RUNS", 5):
        yield Check(read(tmp_path / "copies.toml"), None, CheckSettings())


def _flawed(check: Check) -> Check:
    return next(it for it in checks(check.spec, CheckSettings()) if it.flawed is not None)


def _scopes(model: Model) -> list[AtomScope]:
    names, counting = any_size_constants(model)
    vocabulary = vocabulary_of(model, names)
    return scopes_of(vocabulary, AtomFilter(model, vocabulary.names, names, counting))


def _sizes(model: Model) -> Sizes:
    return sizes_of(model, *any_size_constants(model))


def _support(model: Model, properties: list[Property], examples: int | None = None) -> tuple[Grammar, Support]:
    """A search for what supports properties, which knows so many batches of examples, or all."""
    chosen, deadline = _sizes(model), Deadline(None, inferred.SUGGESTION_EFFORT)
    grammar = Grammar(_scopes(model), list(reachable_states(chosen))[:examples])
    sized = [SizedSystem(each, properties, deadline) for each in chosen.queried]
    return grammar, Support(grammar, sized, properties, deadline)


def _clause(grammar: Grammar, text: str, affirmed: bool) -> QuantifiedClause:
    """The clause that consists of one literal."""
    for number, scope in enumerate(grammar.scopes):
        for place, atom in enumerate(scope.atoms):
            if atom.text == text and scope.mentions_all([place]):
                return QuantifiedClause(number, ((place, affirmed),))
    raise AssertionError(f"nothing asks {text}")


# How clauses are found.


def _covering(rows: np.ndarray, most: int) -> set[tuple[int, ...]]:
    """All smallest covers, by trying."""
    found: list[tuple[int, ...]] = []
    for size in range(1, most + 1):
        for chosen in itertools.combinations(range(rows.shape[1]), size):
            if rows[:, list(chosen)].any(axis=1).all() and not any(set(it) < set(chosen) for it in found):
                found.append(chosen)
    return set(found)


@pytest.mark.parametrize("seed", range(30))
def test_every_cover_is_found(seed: int) -> None:
    chance = np.random.default_rng(seed)
    rows = chance.random((int(chance.integers(1, 30)), 9)) < chance.uniform(0.2, 0.6)
    assert set(covers(rows, 3, 10_000)) == _covering(rows, 3)


@pytest.mark.parametrize("seed", range(10))
def test_clauses_are_those_that_no_example_refutes(seed: int) -> None:
    """Also where most examples are not looked at, at first, and where some are learnt later."""
    chance = np.random.default_rng(seed)
    rows = chance.random((2000, 10)) < 0.85
    examples = Examples(different([rows[:-2]], 10))
    examples.add(rows[-2:])
    refuting = chance.random(10) < 0.3
    for size in (1, 2, 3):
        found = {it for it in _covering(rows != refuting, 3) if len(it) == size}
        assert set(examples.clauses(refuting, size)) == found


def test_states_in_columns_are_the_states(copies: Check) -> None:
    model = copies.model()
    rows, packed = reachable_set(model, Options(workers=1))
    layout = lay_out(packed.variable_types)
    states = [layout.unpack(row) for row in rows]
    for batch in (batch_of(model, states), batch_of_packed(model, packed, rows)):
        assert [batch.state(number) for number in range(len(batch))] == states


@pytest.mark.slow
@pytest.mark.parametrize("of", ["copies", "election", pytest.param("kip497", marks=pytest.mark.slow)])
def test_answers_are_what_cpython_says_of_a_clause(of: str, copies: Check) -> None:
    folder = Path(__file__).resolve().parents[2] / "specs"
    files = {"election": folder / "examples" / "election.toml", "kip497": folder / "alter_isr" / "core.toml"}
    model = (copies if of == "copies" else Check(read(files[of]), None, CheckSettings())).model()
    scopes, chance = _scopes(model), random.Random(of)
    (batch,) = reachable_states(Sizes([], [], [model]))
    grammar = Grammar(scopes, [batch])
    states = [batch.state(number) for number in chance.sample(range(len(batch)), min(8, len(batch)))]
    answers = [grammar.answers(model, state) for state in states]
    outcomes = set()
    for number, scope in enumerate(scopes):
        for _ in range(10 if scope.atoms else 0):
            chosen = chance.sample(range(len(scope.atoms)), min(2, len(scope.atoms)))
            clause = QuantifiedClause(number, tuple((it, chance.random() < 0.5) for it in chosen))
            function = scope.statement("said", clause).function
            for state, answered in zip(states, answers, strict=True):
                outcomes.add(holds(model, function, state))
                assert clause.holds(answered[number]) == holds(model, function, state), scope.sentence(clause)
    assert outcomes == {False, True}


@pytest.mark.slow
def test_initial_states_are_examples(copies: Check) -> None:
    """What steps preserve may be false at first, as that something has been sent: it must not be suggested."""
    model = copies.model()
    with patch.object(sizes, "_explored", lambda _: None):  # as where there are too many states
        batches = list(reachable_states(_sizes(model)))
    for sized in _sizes(model).explored:
        (_, start), = initial_states(sized)
        of_it = [it for it in batches if it.model.constant_values == sized.constant_values]
        assert start in [batch.state(number) for batch in of_it for number in range(len(batch))]
    grammar, _ = _support(model, [])
    clause = _clause(grammar, "len(model.sent) == 0", affirmed=False)
    (_, start), = initial_states(model)
    assert not clause.holds(grammar.answers(model, start)[clause.scope])
    assert grammar.suggest(grammar.answers(model, start), ()) is None


@pytest.mark.slow
def test_what_supports_a_property_is_inductive_at_each_size_that_was_asked_about(copies: Check) -> None:
    """Asked again by another part of the program, which knows no examples."""
    model, properties = copies.model(), copies.properties()
    grammar, support = _support(model, properties)
    found = support.clauses()
    _assert_inductive(model, properties, grammar, found)


def _assert_inductive(
    model: Model, properties: list[Property], grammar: Grammar, found: Mapping[str, QuantifiedClause]
) -> None:
    for sized in _sizes(model).queried:
        every = [*properties, *(grammar.scopes[it.scope].statement(name, it) for name, it in found.items())]
        assert induction(system_of(sized, every), every).outcome == "proved"


def test_countermodels_refute_what_few_examples_do_not(copies: Check) -> None:
    """With the initial states alone, most of what is suggested is wrong; what is left in the end is not."""
    model, properties = copies.model(), copies.properties()
    grammar, support = _support(model, properties, examples=1)
    found = support.clauses()
    assert support.refuted > 0
    _assert_inductive(model, properties, grammar, found)


@pytest.mark.slow
def test_a_refuted_clause_is_never_suggested_again(copies: Check) -> None:
    model = copies.model()
    grammar, _ = _support(model, [])
    reached = [batch.state(number) for batch in reachable_states(_sizes(model)) for number in range(len(batch))]
    both_sent = next(state for state in reached if state[0] == 2 and len(state[2]) == 2)
    bad = (1, *both_sent[1:])  # a number is told that was not written
    answers = grammar.answers(model, bad)
    clause = grammar.suggest(answers, ())
    assert clause is not None
    assert not clause.holds(answers[clause.scope])
    assert grammar.suggest(answers, [clause]) != clause
    grammar.learn(answers)
    assert grammar.suggest(answers, ()) is None


# That only an induction counts.


def _inferred(check: Check) -> ProofResult:
    return prove_check(check, INFER)


@pytest.mark.slow
def test_a_relation_is_suggested_that_ic3_does_not_find(copies: Check) -> None:
    """IC3 says which numbers are sent when so much is written; of any numbers, that one is not larger is to be said."""
    proved = _inferred(copies)
    assert proved.verdict == "holds"
    assert "with 1 suggested clause," in proved.headline
    assert proved.facts["unbounded"] == ["replicas", "max_number"]
    assert proved.facts["clauses"] == ["""\
@lemma
def inferred_1(model: Copies) -> bool:
    return all(
        news.number <= model.written
        for news in model.sent
    )
"""]


@pytest.mark.slow
def test_a_suggested_lemma_can_be_pasted(copies: Check, tmp_path: Path) -> None:
    clauses = _inferred(copies).facts["clauses"]
    pasted = _pasted(tmp_path, "from copies import *", 'model = "copies.py:Copies"\n', clauses)
    again = prove_check(pasted, ProofTask(any_size=True))
    assert again.verdict == "holds"
    assert again.facts["lemmas"] == ["inferred_1"]


def _pasted(folder: Path, imports: str, spec: str, clauses: list[str]) -> Check:
    write(folder, {
        "pasted.py": f"from floodmark import lemma\n{imports}\n\n" + "\n".join(clauses),
        "pasted.toml": f'invariant_files = ["pasted.py"]\n{spec}',
    })
    return Check(read(folder / "pasted.toml"), None, CheckSettings())


def test_nothing_is_suggested_for_a_known_bad_design(copies: Check) -> None:
    proved = _inferred(_flawed(copies))
    assert proved.verdict != "holds"


def test_nothing_supports_what_a_step_breaks(copies: Check) -> None:
    """Even if no search is made first: no clause excludes a state that can be reached."""
    with patch.object(Attempt, "enumerated", lambda *_: Enumeration(reason=Stop(Limit.SECONDS))), _without_ic3():
        proved = _inferred(_flawed(copies))
    assert proved.verdict == "undetermined"
    assert "no clause excludes a state in which hears breaks no_copy_is_ahead" in proved.headline


def _without_ic3() -> AbstractContextManager[object]:
    found: AbstractContextManager[object] = patch("floodmark.checkers.symbolic.attempts.inferred.IC3_EFFORT", 1)
    return found


class _Stubborn:
    """Stands in for a search that keeps a wrong clause, whatever it is told."""

    questions = refuted = 0

    def __init__(self, real: Support, wrong: QuantifiedClause) -> None:
        self._clauses = {**real.clauses(), "wrong": wrong}

    def clauses(self) -> dict[str, QuantifiedClause]:
        return self._clauses

    def drop(self, names: Collection[str]) -> None:
        assert names == ["wrong"]


@pytest.mark.parametrize(("text", "affirmed"), [
    ("len(model.sent) == 0", False),  # preserved, and false at first
    ("len(model.sent) == 0", True),  # true at first, and not preserved
    pytest.param("model.written <= model.copy[replica]", True, marks=pytest.mark.slow),
])
def test_a_wrong_clause_is_no_lemma(text: str, affirmed: bool, copies: Check) -> None:
    real = inferred._support

    def stubborn(*arguments: object) -> tuple[Grammar, object]:
        grammar, support = real(*arguments)  # type: ignore[arg-type]
        return grammar, _Stubborn(support, _clause(grammar, text, affirmed))

    with patch.object(inferred, "_support", stubborn), patch.object(inferred, "SUGGESTION_ROUNDS", 2):
        proved = _inferred(copies)
    assert proved.verdict == "undetermined"
    assert [property for _, property, *_ in proved.facts["open"]] == ["inferred_2"] * len(proved.facts["open"])


def test_what_is_not_inductive_at_any_size_is_replaced(copies: Check) -> None:
    """A clause is dropped for good, and another is looked for: here there is none, so nothing is proved."""
    _, support = _support(copies.model(), copies.properties())
    (name,) = support.clauses()
    support.drop([name])
    others = support.clauses()
    assert len(others) >= 1
    assert name not in others


def test_a_limit_in_z3s_own_units_ends_the_search(copies: Check) -> None:
    with patch.object(inferred, "SUGGESTION_EFFORT", 100):
        proved = _inferred(copies)
    assert proved.verdict == "undetermined"
    assert "ended by z3's limit of 100 units" in proved.headline


@pytest.mark.slow
def test_a_majority_is_suggested_as_what_an_action_counts() -> None:
    """Its guard has a variable of its own, which is not the one that is asked about."""
    election = Path(__file__).resolve().parents[2] / "specs" / "examples" / "election.toml"
    check = Check(read(election), None, CheckSettings(constants={"epochs": 1}))
    with _without_ic3():
        proved = prove_check(check, ProofTask("infer", any_size=True, properties=("epoch_has_one_leader",)))
    assert proved.verdict == "holds"
    assert "suggested clause" in proved.headline
    (clause,) = proved.facts["clauses"]
    assert "sum((1 for voter in Voter if model.vote[epoch][voter] == one_voter))" in clause


# KIP-497, without the lemmas that were written for it.

CORE = Path(__file__).resolve().parents[2] / "specs" / "alter_isr" / "core.toml"
TARGETS = ("leader_assumes_superset", "isr_counts_when_nothing_is_pending", "isr_holds_committed")


def _core(variant: str | None = None) -> Check:
    found = checks(read(CORE), CheckSettings())
    return next(it for it in found if (None if it.flawed is None else variant_name(it)) == variant)


@pytest.mark.slow
def test_kip_497_is_inferred_for_any_number_of_brokers(tmp_path: Path) -> None:
    proved = prove_check(_core(), ProofTask("infer", any_size=True, properties=TARGETS))
    assert proved.verdict == "holds"
    assert "suggested clauses" in proved.headline
    assert proved.facts["any_size"] == ["brokers"]
    imports = "from model.alter_isr.core import *"
    given = "".join(f"{name} = {value}\n" for name, value in proved.constants.items() if name != "duplicates")
    spec = f'model = "model.alter_isr.core:AlterIsr"\n[constants]\n{given}'
    pasted = _pasted(tmp_path, imports, spec, proved.facts["clauses"])
    pasted_lemmas = [it for it in lemmas_of(pasted.spec, pasted.cls()) if it.name.startswith("inferred_")]
    assert len(pasted_lemmas) == len(proved.facts["clauses"])
    properties = [it for it in _core().properties() if it.name in TARGETS]
    names, _ = any_size_constants(pasted.model())
    every = [*properties, *pasted_lemmas]
    assert induction(system_of(pasted.model(), every, names, any_size=True), every).outcome == "proved"
    for constants in (
        {"brokers": 2, "max_partition_epoch": 4, "max_leader_epoch": 3},
        {"brokers": 3},
        {"brokers": 4, "max_offset": 1, "max_partition_epoch": 1, "in_flight": 1},
    ):
        model = type(pasted.model())(**{**proved.constants, **constants})
        found = search_states(model, as_invariants(pasted_lemmas), Options(workers=1))
        assert found.complete
        assert found.violations == []


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["IgnoresPendingExpand", "JoinsBelowHighWatermark"])
def test_nothing_is_inferred_for_a_known_bad_leader(variant: str) -> None:
    """Neither by a search of all states nor, without one, by the clauses."""
    with patch.object(Attempt, "enumerated", lambda *_: Enumeration(reason=Stop(Limit.SECONDS))), _without_ic3():
        proved = prove_check(_core(variant), ProofTask("infer", any_size=True, properties=TARGETS))
    assert proved.verdict != "holds"


@pytest.mark.parametrize(("kind", "name"), [("Lambda", "one_lambda"), ("All", "one_all"), ("Replica", "replica")])
def test_variables_of_clauses_have_names_for_which_python_has_no_other_use(
    kind: str, name: str, tmp_path: Path
) -> None:
    write(tmp_path, {"copies.py": COPIES.replace("Replica", kind), "copies.toml": SPEC.partition("[[")[0]})
    model = Check(read(tmp_path / "copies.toml"), None, CheckSettings()).model()
    pairs = vocabulary_of(model, any_size_constants(model)[0]).pairs
    assert (name, f"other_{kind.lower()}") in [(one.name, other.name) for one, other in pairs]
    assert all(scope.atoms for scope in _scopes(model))
