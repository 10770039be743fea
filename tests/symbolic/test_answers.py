"""Recorded answers are asked again and never believed: whatever a record says, it proves nothing that is false."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args
from unittest.mock import patch

import pytest
import z3
from click.testing import CliRunner

from floodmark.checkers.command_line.cli import command
from floodmark.checkers.gate.basis import Bases
from floodmark.checkers.gate.job import ProofJob
from floodmark.checkers.project.properties import Property
from floodmark.checkers.project.spec import ListedProof, Spec, read
from floodmark.checkers.report.progress import described
from floodmark.checkers.symbolic.any_size.unbounded_constants import any_size_constants
from floodmark.checkers.symbolic.methods.induction import InductionProgress, InductionProof, QueryRunner, induction
from floodmark.checkers.symbolic.prove import prove_listed
from floodmark.checkers.symbolic.records import answer_file, narrowing, replay
from floodmark.checkers.symbolic.records.answer_file import AnswerRecord, keep, recorded_answers
from floodmark.checkers.symbolic.records.fresh_context import RecordedQuery
from floodmark.checkers.symbolic.records.replay import QueryReplay, ways_of
from floodmark.checkers.symbolic.records.term_names import TermNames
from floodmark.checkers.symbolic.tactics import portfolio
from floodmark.checkers.symbolic.tactics.answers import (
    Answer,
    AnswerBook,
    Answers,
    Instance,
    MalformedAnswerError,
    ObligationKey,
    Refutation,
    Sight,
    Split,
    Style,
    as_data,
    from_data,
    solver_version,
)
from floodmark.checkers.symbolic.tactics.budget import MAX_EFFORT
from floodmark.checkers.symbolic.tactics.lazy_cardinality import _parted, counted_sets
from floodmark.checkers.symbolic.tactics.path_split import conditions_of, start
from floodmark.checkers.symbolic.terms.booleans import Truth
from floodmark.checkers.symbolic.terms.smt_text import SolverStatus
from floodmark.checkers.symbolic.translate.transition_system import System, system_of
from floodmark.checkers.verdict.check import Check
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.language.errors import SourceError
from tests.support.any_size_protocols import SPECS, all_properties, check_of

COMMIT = "specs/examples/two_phase_commit.toml"
A_PROPERTY = ("manager_learns_of_commit", "consistent")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of answers beside no spec, which begins with those that the repository has."""
    spec, _ = listed()
    content = answer_file.path_of(spec).read_text(encoding="utf-8")
    path = tmp_path / "two_phase_commit.answers"
    path.write_text(content, encoding="utf-8")
    monkeypatch.setattr(answer_file, "path_of", lambda spec: path)
    return path


def listed() -> tuple[Spec, ListedProof]:
    """The proof of two-phase commit for any number of managers."""
    spec = read(SPECS.parent / COMMIT)
    return spec, next(it for it in spec.prove if it.any_size and it.method == "induction")


def made(find: bool = False) -> ProofResult:
    return prove_listed(*listed(), find=find)


def open_in(proved: ProofResult) -> list[ObligationKey]:
    return [(action, name) for action, name, *_ in proved.facts["open"]]


def test_a_recorded_proof_goes_through_without_a_search(file: Path) -> None:
    with patch.object(portfolio, "STRATEGIES", ()):
        proved = made()
    assert (proved.verdict, open_in(proved)) == ("holds", [])


def test_an_answer_that_needs_a_lemma_more_leaves_its_obligation_open_and_no_other(file: Path) -> None:
    spec, proving = listed()
    known = dict(recorded_answers(spec, proving).answers)
    known[A_PROPERTY] = (Refutation("models"),)
    keep(spec, proving, AnswerRecord("1.0", known))
    proved = made()
    assert (proved.verdict, int(proved.exit_code), open_in(proved)) == ("undetermined", 3, [A_PROPERTY])
    said = "\n".join(proved.lines)
    assert "the recorded answer fails with z3" in said and "z3 1.0 gave it" in said
    assert "floodmark prove specs/examples/two_phase_commit.toml --proof induction --find searches for another" in said


@pytest.mark.slow
def test_an_obligation_without_an_answer_is_open_and_found_when_told(file: Path) -> None:
    spec, proving = listed()
    before = file.read_text(encoding="utf-8")
    known = dict(recorded_answers(spec, proving).answers)
    del known[A_PROPERTY]
    keep(spec, proving, AnswerRecord(solver_version(), known))
    assert open_in(made()) == [A_PROPERTY]
    with patch.object(
        RecordedQuery, "immediate_answers", autospec=True, side_effect=RecordedQuery.immediate_answers
    ) as search:
        assert made(find=True).verdict == "holds"
    assert search.call_count == 1
    assert file.read_text(encoding="utf-8") == before


def without_plain_queries(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that finds no case refuted as a whole, as z3 refutes no query that says nothing."""

    def called(*arguments: Any) -> Any:
        with patch.object(QueryReplay, "plain", lambda self, case, way: [z3.BoolVal(True, self.always.ctx)]):
            return method(*arguments)

    return called


def test_an_answer_is_recorded_by_paths_where_no_case_is_refuted_as_a_whole(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, proving = listed()
    split, whole = ("manager_chooses_to_abort", "stable"), ("coordinator_commits", "messages_tell_the_decision")
    answers = recorded_answers(spec, proving).answers
    others = {key: answers[key] for key in answers if key not in (split, whole)}
    keep(spec, proving, AnswerRecord(solver_version(), others))
    with monkeypatch.context() as patched:
        for limit in ("FIRST_STRATEGY_EFFORT", "MAX_RECORDED_EFFORT"):
            patched.setattr(narrowing, limit, 400)
        for name in ("narrow_answers", "immediate_answers"):
            patched.setattr(RecordedQuery, name, without_plain_queries(getattr(RecordedQuery, name)))
        assert made(find=True).verdict == "holds"
    found = recorded_answers(spec, proving).answers
    assert [type(answer) for key in (split, whole) for answer in found[key]] == [Split, Refutation]
    assert {way.view for key in (split, whole) for answer in found[key] for way in ways_of(answer)} == {"set pairs"}
    monkeypatch.setattr(portfolio, "STRATEGIES", ())
    assert made().verdict == "holds"


def test_a_proof_without_a_record_is_undetermined(file: Path) -> None:
    file.unlink()
    proved = made()
    assert proved.verdict == "undetermined"
    command = "floodmark prove specs/examples/two_phase_commit.toml --proof induction --find"
    assert proved.lines == [f"{len(open_in(proved))} obligations: no answer is recorded; {command} searches for one"]


def test_the_command_of_a_listed_proof_makes_it(file: Path) -> None:
    ran = CliRunner().invoke(command, ["prove", str(SPECS.parent / COMMIT), "--proof", "induction any size"])
    assert ran.exit_code == 0
    assert "1 question, each as expected" in ran.output
    for words, message in (
        (["--proof", "inductoin"], "the spec lists no proof 'inductoin'; did you mean 'induction'?"),
        (["--find", "--any-size"], "--find is for proofs that a spec lists, which say their own any size"),
        (["--proof", "infer", "--set", "managers=2"], "--proof is for proofs that a spec lists"),
    ):
        ran = CliRunner().invoke(command, ["prove", str(SPECS.parent / COMMIT), *words])
        assert message in str(ran.exception)


SEEN = """
from floodmark import Constant, Identifier, Model, Set, action, initial, invariant


class Node(Identifier, count="nodes", prefix="n"):
    pass


class Seen(Model):
    nodes = Constant(2)
    seen: Set[Node]

    @initial
    def start(self) -> None:
        self.seen = Set()

    @action
    def sees(self, node: Node) -> None:
        self.seen.add(node)

    @invariant
    def is_counted(self) -> bool:
        return len(self.seen) <= self.nodes
"""


def test_a_verdict_of_the_gate_depends_on_the_answers(file: Path, tmp_path: Path) -> None:
    (tmp_path / "seen.py").write_text(SEEN)
    (tmp_path / "seen.toml").write_text('model = "seen.py:Seen"\n[[prove]]\nmethod = "induction"\nany_size = true\n')
    spec = read(tmp_path / "seen.toml")
    (proving,) = spec.prove
    job = ProofJob("it", spec, proving)
    subject = job.load()
    before = job.key(subject, Bases({})).text
    assert job.key(subject, Bases({})).text == before
    keep(spec, proving, AnswerRecord("1.0", {A_PROPERTY: (Refutation("models"),)}))
    assert job.key(subject, Bases({})).text != before


def test_answers_are_read_as_they_were_written(file: Path) -> None:
    spec, proving = listed()
    odd: Answers = (
        Split(
            'a "b"\\ = (c)', Refutation("late", ("x",), "set pairs", (Instance("in both of 2", ("s", "t#2")),)), None
        ),
        Refutation("models"),
    )
    keep(spec, proving, AnswerRecord("5.0", {("act", "prop"): odd}))
    assert recorded_answers(spec, proving) == AnswerRecord("5.0", {("act", "prop"): odd})
    assert from_data(as_data(odd)) == odd


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "has a list of answers"),
        ([{}], "a case has no answer"),
        ([3], "an answer is a table"),
        ([{"style": "smt.ignore"}], "there is no style 'smt.ignore'"),
        ([{"style": "late", "view": "nothing"}], "there is no view 'nothing'"),
        ([{"style": "late", "options": {"arith.solver": 1}}], "an answer has no 'options'"),
        ([{"style": "late", "needs": "everything"}], "should be texts"),
        ([{"style": "late", "laws": [["in both of 2"]]}], "a law has a name and the sets"),
        ([{"split": "x", "true": {"style": "late"}, "maybe": {}}], "an answer has no 'maybe'"),
    ],
)
def test_what_is_no_answer_is_refused(data: Any, message: str) -> None:
    with pytest.raises(MalformedAnswerError, match=message):
        from_data(data)


def test_a_damaged_file_is_an_error_at_its_line(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    entry = f'"{" preserves ".join(A_PROPERTY)}" = ['
    line = text[: text.index(entry)].count("\n") + 1
    for damaged in (text.replace(entry, f"{entry}{{}}, "), text.replace(entry, f"{entry} 1, ")):
        file.write_text(damaged, encoding="utf-8")
        with pytest.raises(SourceError) as caught:
            made()
        assert (caught.value.file, caught.value.line) == (str(file), line)
    file.write_text(text + "<<<<", encoding="utf-8")
    with pytest.raises(SourceError, match="not valid TOML"):
        made()


# What a hostile record can say.


def flawed_obligations(path: str, variant: str, size: int) -> tuple[System, list[Any], list[ObligationKey]]:
    """A design that is wrong, of any size, and the obligations that fail with so many identifiers."""
    check: Check = check_of(path, variant)
    model, properties = all_properties(check)
    names, counting = any_size_constants(model)
    sized = type(model)(**{**model.constant_values, **dict.fromkeys(counting, size)})
    proof = induction(system_of(sized, properties), properties, effort=MAX_EFFORT)
    failing = [(it.action, it.property) for it in proof.failing() if it.outcome == "fails"]
    assert failing
    return system_of(model, properties, names, any_size=True), properties, failing


def hostile(replayed: QueryReplay) -> Iterator[Answers]:
    """Records of any kind: fewer and more cases, every style and view with everything or nothing, sides left out, every
    law of every set."""
    every = (*replayed.statements, "no_such_lemma")
    count = len(replayed.cases)
    yield ()
    yield (Refutation("models", every),) * (count - 1)
    yield (Refutation("models", every),) * (count + 1)
    for style, view in itertools.product(get_args(Style), get_args(Sight)):
        yield (Refutation(style, every, view),) * count
    yield (Refutation("late relevant", (), "simpler"),) * count
    yield (Refutation("late", every, "set pairs", tuple(laws_of(replayed, every))),) * count
    for answer in splits(replayed, every):
        yield (answer,) * count


def laws_of(replayed: QueryReplay, needed: tuple[str, ...]) -> Iterator[Instance]:
    for case in replayed.cases:
        asking = replayed.on_paths(case, needed)
        terms = asking.on(asking.whole, 0, closely=True)
        names = TermNames(terms)
        laws, _ = _parted(terms, replayed.sets)
        sets = [names.of(it) for it in counted_sets(terms, replayed.sets)][:3]
        for law in laws:
            yield from (Instance(law.name, chosen) for chosen in itertools.product(sets, repeat=law.arity))
        yield Instance("in both of 2", ("no such set", "nor this"))


def splits(replayed: QueryReplay, needed: tuple[str, ...]) -> Iterator[Answer]:
    way = Refutation("late relevant", needed, "simpler")
    for case in replayed.cases:
        whole = replayed.on_paths(case, needed).whole
        names = TermNames([*whole.conditions, *whole.known])
        for condition in [*{names.of(it) for it in conditions_of(whole)}][:4]:
            yield Split(condition, None, None)
            yield Split(condition, way, None)
            yield Split(condition, None, way)
            yield Split(condition, way, way)
    yield Split("false", None, way)
    yield Split("False", None, None)


@pytest.mark.parametrize(("path", "variant"), [
    (COMMIT, "CommitsOnMajority"),
    pytest.param("specs/examples/paxos_commit.toml", "FastPath", marks=pytest.mark.slow),
])
def test_no_record_proves_what_fails(path: str, variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "REPLAY_EFFORT", 60_000)
    monkeypatch.setattr(replay, "SEEDS", (0,))
    system, properties, failing = flawed_obligations(path, variant, 3)
    tried = 0

    def through(self: QueryReplay, answers: Answers) -> bool:
        nonlocal tried
        for record in hostile(self):
            tried += 1
            assert not GOES_THROUGH(self, record), record
        return False

    monkeypatch.setattr(QueryReplay, "goes_through", through)
    known = dict.fromkeys(failing, (Refutation("models", tuple(it.name for it in properties)),))
    proof: InductionProof = induction(system, properties, book=AnswerBook(known))
    assert {(it.action, it.property) for it in proof.failing()} >= {*failing}
    assert tried > 50


GOES_THROUGH = QueryReplay.goes_through


def test_every_side_of_a_condition_is_asked() -> None:
    """A case that is refuted on one side only is not refuted by a record that leaves the other out."""
    a = z3.Bool("a")
    x = z3.Int("x")
    age = z3.Function("age", z3.IntSort(), z3.IntSort())
    goal = age(z3.If(a, x, z3.IntVal(1))) > 0
    for assumed, refuted in ((age(x) < 0, False), (z3.And(age(x) < 0, age(1) < 0), True)):
        replayed = QueryReplay(goal, assumed, {}, lambda _: [])
        names = TermNames([*replayed.cases[0]])
        (condition,) = {names.of(it) for it in conditions_of(start(replayed.cases[0], ()))}
        way = Refutation("models", (), "simpler")
        assert replayed.goes_through((Split(condition, way, way),)) == refuted
        assert not replayed.goes_through((Split(condition, way, None),))


def test_every_law_of_a_record_is_said_of_sets_that_the_query_has(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (z3.Const(name, z3.SetSort(z3.IntSort())) for name in ("one", "other"))
    monkeypatch.setattr(replay, "counted_sets", lambda *_: [one, other])
    first, second = map(TermNames([one == other]).of, (one, other))
    laws = (Instance("of one", (first,)), Instance("of none", ("gone",)), Instance("of two", (second, first)))
    replayed = QueryReplay(z3.Int("number") > 0, z3.BoolVal(True), {}, lambda _: [])
    said = list(replayed._instances([one == other], Refutation("late", (), "set pairs", laws)))
    told = [(law, [str(it) for it in sets]) for law, sets in said]
    assert told == [("of one", ["one"]), ("of two", ["other", "one"])]


def test_a_record_goes_through_only_if_every_case_is_refuted() -> None:
    number = z3.Int("number")
    age, height = (z3.Function(name, z3.IntSort(), z3.IntSort()) for name in ("age", "height"))
    young, small = (z3.ForAll([number], of(number) < 0) for of in (age, height))
    goal = z3.Or(z3.Exists([number], age(number) > 0), z3.Exists([number], height(number) > 0))
    for assumed, refuted in ((young, False), (small, False), (z3.And(young, small), True)):
        replayed = QueryReplay(goal, assumed, {}, lambda _: [])
        assert len(replayed.cases) == 2
        assert replayed.goes_through((Refutation("models"), Refutation("models"))) == refuted
        assert not replayed.goes_through((Refutation("models"),))


def test_terms_have_the_same_names_whatever_numbers_their_symbols_have() -> None:
    one, two = (z3.Int(f"{number}:age") for number in (3, 11))
    again, another = (z3.Int(f"{number}:age") for number in (40, 112))
    assert TermNames([one + two > 0]).of(one > two) == TermNames([another + again > 0]).of(again > another)
    assert TermNames([one > two]).of(one > two) != TermNames([one > two]).of(two > one)
    assert TermNames([one == two]).of(one == two) == TermNames([one == two]).of(two == one)
    assert TermNames([one > 0]).of(one > 0) == ">(age, 0)"


def test_a_lemma_that_a_model_has_no_more_selects_nothing() -> None:
    x = z3.Int("x")
    replayed = QueryReplay(x > 0, x > -9, {"small": x < 0}, lambda _: [])
    assert replayed.goes_through((Refutation("models", ("small", "gone")),))
    assert not replayed.goes_through((replace(Refutation("models"), assumptions=("gone",)),))


def test_progress_says_which_obligation_is_asked_how_many_are_left_and_what_is_open() -> None:
    asked_now = InductionProgress(("act", "safe"), 3, 10, [("start", "small")])
    assert described(asked_now) == (
        "7 left of 10 obligations, asking whether act preserves safe; 1 open: start preserves small"
    )
    standings: list[InductionProgress] = []
    spec, proving = listed()
    for workers in (1, 2):
        standings.clear()
        book = AnswerBook(recorded_answers(spec, proving).answers)
        induction(*commit(), book=book, watch=standings.append, workers=workers)
        assert [it.done for it in standings] == sorted(it.done for it in standings)
        assert {it.total for it in standings} == {55}
        assert ("manager_prepares", "consistent") in [it.current for it in standings]


def commit() -> tuple[System, list[Property]]:
    """Two-phase commit for any number of managers, and what is proved of it."""
    model, properties = all_properties(check_of(COMMIT))
    names, _ = any_size_constants(model)
    return system_of(model, properties, names, any_size=True), properties


@pytest.mark.parametrize("ways", [
    ((False, 1, 1), (False, 3, -1)),
    pytest.param(((False, 1, 1), (False, 2, 1), (False, 3, -1)), marks=pytest.mark.slow),
    pytest.param(((True, 1, 1), (True, 2, -1)), marks=pytest.mark.slow),
], ids=["two", "three", "finding"])
def test_neither_the_number_of_processes_nor_the_order_makes_a_difference(
    ways: tuple[tuple[bool, int, int], ...],
) -> None:
    """With one answer missing, and one that is none: each obligation is the same question, whoever asks it when. A way
    says whether answers are looked for, the number of processes, and the sign of an obligation's cost."""
    known = dict(recorded_answers(*listed()).answers)
    missing, *_, wrong = (it for it, answers in known.items() if answers != (Refutation("models"),))
    del known[missing]
    known[wrong] = (Refutation("models"),)
    found = []
    for finds, workers, cost in ways:
        with patch.object(QueryRunner, "_cost", lambda self, asked, cost=cost: cost * len(asked.property)):
            kept: dict[ObligationKey, Answers] = {}
            book = AnswerBook(known, finds, keep=kept.update)
            written: list[tuple[str, SolverStatus, str]] = []

            def record(name: str, about: str, terms: Iterable[Truth] | str, status: SolverStatus) -> None:
                written.append((name, status, terms if isinstance(terms, str) else ""))  # noqa: B023

            proof = induction(*commit(), record=record, book=book, workers=workers)
        asked_for = [(it.action, it.property, it.outcome, it.reason) for it in proof.obligations]
        found.append((finds, asked_for, book.found, kept, written))
    first, *others = found
    assert all(other == first for other in others)
    finds, asked_for, _, kept, _ = first
    left_open = [] if finds else [(*it, "undetermined") for it in (missing, wrong)]
    assert [it[:3] for it in asked_for if it[2] != "proved"] == left_open
    assert not finds or {*kept} >= {missing, wrong}


def test_an_obligation_is_open_if_its_process_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(self: RecordedQuery, answers: Answers, *others: Any) -> Any:
        if answers == known[A_PROPERTY]:
            os.kill(os.getpid(), signal.SIGKILL)
        return replayed(self, answers, *others)

    known = recorded_answers(*listed()).answers
    replayed = RecordedQuery.replay
    monkeypatch.setattr(RecordedQuery, "replay", dies)
    proof = induction(*commit(), book=AnswerBook(known), workers=2)
    assert A_PROPERTY in [(it.action, it.property) for it in proof.failing()]
    assert all(known[it.action, it.property] == known[A_PROPERTY] for it in proof.failing())
    (reason,) = {it.reason for it in proof.failing()}
    assert reason == "its process was killed by SIGKILL, perhaps for lack of memory"


def test_an_interrupt_ends_all_processes_of_a_proof_and_keeps_what_they_found() -> None:
    """Also when they look for answers that take long, as z3 does not listen meanwhile."""

    def interrupted(at: InductionProgress) -> None:
        if kept:
            raise KeyboardInterrupt

    kept: dict[ObligationKey, Answers] = {}
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        induction(*commit(), book=AnswerBook({}, finds=True, keep=kept.update), watch=interrupted, workers=2)
    assert kept and not multiprocessing.active_children()
    assert time.monotonic() - started < 30


@pytest.mark.slow
def test_processes_of_a_proof_keep_its_limit_after_one_with_a_limit() -> None:
    """z3 waits for limits in threads, which a process that forks does not pass on."""
    known = recorded_answers(*listed()).answers
    assert induction(*commit(), 60.0, book=AnswerBook(known)).outcome == "proved"
    assert induction(*commit(), 60.0, book=AnswerBook(known), workers=2).outcome == "proved"
    late = induction(*commit(), 0.0, book=AnswerBook(known), workers=2)
    assert {it.reason for it in late.failing()} == {"the limit of 0 seconds"}
