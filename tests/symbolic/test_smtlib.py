"""Obligations as SMT-LIB 2: all of them are written, they mean what z3 was asked, and cvc5 agrees with its answers."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import pytest
import z3
from click.testing import CliRunner

from docs.tools.opinions import digest_of, recorded_opinions
from floodmark.checkers.command_line.cli import command
from floodmark.checkers.symbolic.methods.smtlib import PART, SmtScripts
from floodmark.checkers.symbolic.terms.smt_text import SmtNames, text
from floodmark.language.errors import SourceError
from tests.support.projects import write
from tests.symbolic.test_prove import EVEN, FLAWED
from tools import second_solver
from tools.second_solver import (
    EFFORT,
    SPECS,
    WAYS,
    Journal,
    SolverAnswer,
    ask,
    ask_all,
    opinion_of,
    proofs_named,
    record,
    ways_for,
)
from tools.second_solver import write as write_recorded

SAMPLE = 30
"""So many obligations of the recorded quick proofs are asked about in every run of the tests."""

SPEC = 'model = "model.even:Even"\n[[flawed]]\nclass = "flawed:Odd"\nproperty = "not_five"\n'
LEMMA = """
from model.even import Even
from floodmark import lemma


@lemma
def even_number(model: Even) -> bool:
    return model.x % 2 == 0
"""
CLAIMS = """
from floodmark.claims import fails, holds
from floodmark import implies


@holds("nowhere")
def numbers_grow(number: int) -> bool:
    return implies(number > 0, number + number > number)


@fails("nowhere")
def numbers_are_small(number: int) -> bool:
    return number < 8
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path, {"model/even.py": EVEN, "specs/flawed.py": FLAWED, "specs/even.toml": SPEC,
                            "specs/unbounded.toml": 'model = "model.even:Unbounded"\n',
                            "specs/claims/mine.py": CLAIMS})


def written(*arguments: str, spec: str = "specs/even.toml") -> dict[str, str]:
    """The files that ``floodmark prove --smt`` writes, and which answer each expects; where it does, cvc5 gives it."""
    result = CliRunner().invoke(command, ["prove", spec, *arguments, "--smt", "smt"], standalone_mode=False)
    if isinstance(result.exception, SourceError):
        raise result.exception
    assert result.exception is None, result.output
    found = {}
    for file in sorted(Path("smt").rglob("*.smt2")):
        said = ask(file)
        assert said.outcome == "agrees" or said.expected == "unknown", file
        found["/".join(file.parts[1:])] = said.expected
    return found


@pytest.mark.usefixtures("project")
def test_induction_writes_its_obligations() -> None:
    folder = "even_induction"
    assert written() == {
        f"{folder}/0001-initial-not_five.smt2": "unsat",
        f"{folder}/0002-grow-declared_types.smt2": "unsat",
        f"{folder}/0003-grow-not_five.smt2": "sat",
        f"{folder}/0004-grow-rises.smt2": "unsat",
    }
    first, *_ = Path("smt/even_induction/0003-grow-not_five.smt2").read_text().splitlines()
    assert first == "; even induction: grow does not preserve not_five"


def test_lemmas_are_among_the_written_obligations(project: Path) -> None:
    write(project, {"invariants/even_lemmas.py": LEMMA})
    found = written()
    assert [name.partition("-")[2].removesuffix(".smt2") for name in found] == [
        "initial-not_five", "initial-even_number", "grow-declared_types", "grow-not_five", "grow-rises",
        "grow-even_number",
    ]
    assert set(found.values()) == {"unsat"}


@pytest.mark.usefixtures("project")
def test_the_obligations_of_a_proof_for_every_constant() -> None:
    found = written("--unbounded", spec="specs/unbounded.toml")
    assert len(found) == 5
    assert set(found.values()) == {"unsat"}
    assert "(set-logic ALL)" in Path("smt/unbounded_induction_unbounded/0004-grow-not_five.smt2").read_text()


@pytest.mark.usefixtures("project")
def test_bounded_search_writes_its_obligations() -> None:
    found = written("--method", "bmc", "--only-variant", "Odd")
    beyond = {name[-45:]: status for name, status in found.items() if status == "sat" or "/0001" in name}
    assert list(beyond.values()) == ["unsat", "sat"]
    assert list(beyond)[1].endswith("3-states-not_five-invariant.smt2")
    asked = {name: status for name, status in found.items() if "-3-states" not in name}
    assert set(asked.values()) == {"unsat"}


@pytest.mark.usefixtures("project")
def test_k_induction_writes_its_obligations() -> None:
    found = written("--method", "k-induction")
    steps = {re.sub(r".*?-", "", name, count=1): status for name, status in found.items() if "k=" in name}
    assert steps == {"induction/0004-k=1-step.smt2": "unsat"} or set(steps.values()) == {"sat", "unsat"}
    last = max(int(name.split("k=")[1].split("-")[0]) for name in found if "k=" in name)
    proof = {name.split("k=")[1]: status for name, status in found.items() if f"k={last}-" in name}
    assert proof == {f"{last}-step.smt2": "unsat", f"{last}-state.smt2": "unsat"}
    bases = [name for name in found if "-state-" in name or "-states-" in name]
    assert {int(name.split("-state")[0].rsplit("-", 1)[1]) for name in bases} == set(range(1, last + 1))
    assert {found[name] for name in bases} == {"unsat"}


@pytest.mark.usefixtures("project")
def test_inference_writes_the_obligations_of_its_invariant() -> None:
    found = written("--method", "infer", "--property", "not_five")
    assert [name.partition("-")[2] for name in found] == ["initial.smt2", "grow.smt2", "safety.smt2"]
    assert set(found.values()) == {"unsat"}


@pytest.mark.usefixtures("project")
def test_claims_write_their_queries() -> None:
    assert written(spec="specs/claims/mine.py") == {
        "claim_mine.numbers_grow/0001-premises.smt2": "sat",
        "claim_mine.numbers_grow/0002-claim.smt2": "unsat",
        "claim_mine.numbers_are_small/0001-premises.smt2": "sat",
        "claim_mine.numbers_are_small/0002-claim.smt2": "sat",
    }


def test_obligations_of_different_runs_do_not_mix(project: Path) -> None:
    written()
    with pytest.raises(SourceError, match="the folder is not empty"):
        written()
    with pytest.raises(SourceError, match="cannot be written"):
        SmtScripts(project / "model" / "even.py")


def test_subjects_of_one_name_have_folders_of_their_own(tmp_path: Path) -> None:
    scripts = SmtScripts(tmp_path / "smt")
    for subject in ("a b", "a/b", "a b"):
        scripts.of(subject)("x", "said", [True], "sat")
    assert sorted(folder.name for folder in scripts.folder.iterdir()) == ["a_b", "a_b-2", "a_b-3"]


def test_symbols_that_are_spelled_alike_stay_different() -> None:
    """x = 1 and x, which are two symbols of two sorts; f of one and of two arguments; a name that cannot be quoted."""
    one, other, odd = z3.Int("x"), z3.Bool("x"), z3.Bool("a | b")
    f = z3.Function("f", z3.IntSort(), z3.BoolSort())
    g = z3.Function("f", z3.IntSort(), z3.IntSort(), z3.BoolSort())
    symbols = SmtNames()
    terms = (one == 1, z3.Not(other), odd, z3.ForAll([one], z3.Implies(f(one), g(one, one + 1))), f(one), g(1, 3))
    said = text([symbols.plain(term) for term in terms], "sat")
    names = re.findall(r"\(declare-fun (\|[^|]*\||\S+)", said)
    assert len(set(names)) == len(names) == 5
    for more, answer in (("", "sat"), (f"(assert (not {names[1]}))", "sat"), (f"(assert {names[1]})", "unsat")):
        solver = z3.Solver()
        solver.from_string(said.replace("(check-sat)", more))
        assert str(solver.check()) == answer, more


def test_a_difference_is_no_agreement(tmp_path: Path) -> None:
    file = tmp_path / "one.smt2"
    file.write_text("(set-info :status sat)\n(set-logic QF_BV)\n(assert false)\n(check-sat)\n")
    assert (ask(file).answer, ask(file).outcome) == ("unsat", "differs")
    assert SolverAnswer(file, "unsat", "unknown", 0.0).outcome == "undetermined"
    assert SolverAnswer(file, "unknown", "unsat", 0.0).outcome == "undetermined"
    file.write_text("(set-info :status sat)\n(set-logic QF_BV)\n(check-sat")
    with pytest.raises(RuntimeError):
        ask(file)


@pytest.mark.slow
def test_a_second_solver_agrees_about_some_recorded_obligations(tmp_path: Path) -> None:
    listed = proofs_named([SPECS / "examples" / "two_phase_commit.toml"])
    proofs = [(spec, proving) for spec, proving in listed if not proving.any_size]
    files = write_recorded(tmp_path / "smt", proofs, [SPECS / "claims" / "kip_455.py"])
    without_quantifiers = [file for file in files if "any-size" not in file.name]
    chosen = random.Random(1).sample(without_quantifiers, SAMPLE)
    assert len({file.parent for file in chosen}) > 2
    for said in ask_all(chosen):
        assert said.outcome == "agrees", said


@pytest.mark.slow
def test_a_second_solver_agrees_about_two_phase_commit_of_any_size(tmp_path: Path) -> None:
    listed = proofs_named([SPECS / "examples" / "two_phase_commit.toml"])
    files = write_recorded(tmp_path / "smt", [it for it in listed if it[1].any_size], [])
    assert len([file for file in files if PART not in file.stem]) == 55 + 112
    assert Counter(said.outcome for said in ask_all(files)) == {"agrees": len(files)}


def test_what_a_second_solver_says_is_recorded_for_each_proof(tmp_path: Path) -> None:
    file = tmp_path / "opinions.json"
    files = []
    for name in ("0001-act-p", "0002-act-the_q"):
        files.append(tmp_path / f"{name}.smt2")
        files[-1].write_text(name)
    said = [SolverAnswer(files[0], "unsat", "unsat", 0.1), SolverAnswer(files[1], "unsat", "unknown", 9.0)]
    one = opinion_of(files, said, 9)
    assert (one["units"], one["obligations"], one["open"]) == (9, 2, ["act-the_q"])
    record("one", one, file)
    record("two", opinion_of(files[:1], [SolverAnswer(files[0], "sat", "sat", 0.1)], 10), file)
    told = recorded_opinions(file)
    assert list(told) == ["one", "two"]
    assert told["one"] == one
    assert told["two"]["open"] == []
    with pytest.raises(RuntimeError, match="z3 says unsat, cvc5 sat"):
        opinion_of(files[:1], [SolverAnswer(files[0], "unsat", "sat", 0.1)], 9)


def test_an_opinion_is_about_the_questions_that_were_asked(tmp_path: Path) -> None:
    file = tmp_path / "proof" / "0001-act-p.smt2"
    file.parent.mkdir()
    file.write_text("(assert true)")
    opinion = opinion_of([file], [SolverAnswer(file, "unsat", "unsat", 0.1)], 9)
    digests = {digest_of([file])}
    file.write_text("(assert false)")
    digests.add(digest_of([file]))
    file.rename(file.with_stem("0001-act-q"))
    digests.add(digest_of(file.parent.iterdir()))
    assert len(digests) == 3
    assert opinion["questions"] in digests


def question(folder: Path, name: str, said: str, status: str = "unsat") -> Path:
    file = folder / f"{name}.smt2"
    file.write_text(f"; about {name}\n(set-info :status {status})\n(set-logic ALL)\n{said}\n(check-sat)\n")
    return file


def test_no_obligation_is_written_twice(tmp_path: Path) -> None:
    """What was answered is known again, also in another file; what was not, is asked only with more effort."""
    journal = Journal(tmp_path / "journal.jsonl")
    asked: list[str] = []

    def answer(text: str, file: Path, options: dict[str, str]) -> str:
        asked.append(options["rlimit-per"])
        return "unknown" if "hard" in text else "unsat"

    with patch.object(second_solver, "_answer", answer):
        for name in ("0001-act-p", "0002-act-q"):
            assert ask(question(tmp_path, name, "(assert false)"), 100, journal).answer == "unsat"
        assert asked == ["10"]
        hard = question(tmp_path, "0003-act-r", "(assert (forall ((x Int)) (not (= x x)))) ; hard")
        for effort in (100, 100, 50):
            assert ask(hard, effort, journal).answer == "unknown"
        assert asked[1:] == ["10"] * len(WAYS) + ["100"] * len(WAYS)
        assert ask(hard, 200, journal).answer == "unknown"
        assert asked[1 + 2 * len(WAYS) :] == ["20"] * len(WAYS) + ["200"] * len(WAYS)
        with patch.object(second_solver, "cache_directory", lambda: tmp_path):
            (tmp_path / "journal.jsonl").rename(tmp_path / "second_solver.jsonl")
            again = Journal.in_cache()
        assert ask(hard, 200, again).answer == "unknown"
    assert len(asked) == 1 + 4 * len(WAYS)


def doubled(times: int) -> str:
    """What holds of no number, with a quantifier of which each part has the one before twice."""
    said = "(and (p x x) (> x 5))"
    for level in range(times):
        said = f"(let ((l{level} {said})) (and (or l{level} (p x {level})) (or l{level} (not (p x {level})))))"
    return f"(declare-fun p (Int Int) Bool)\n(assert (forall ((x Int)) {said}))\n(assert (not (p 3 3)))"


def test_of_a_quantifier_that_is_large_as_a_tree_no_contradicting_instances_are_looked_for(tmp_path: Path) -> None:
    """For these cvc5 would walk all of it without spending any of its effort."""
    small, large = question(tmp_path, "0001-act-p", doubled(5)), question(tmp_path, "0002-act-q", doubled(60))
    assert ways_for(small.read_text(encoding="utf-8"), small) == WAYS
    assert {way.get("cbqi") for way in ways_for(large.read_text(encoding="utf-8"), large)} == {"false"}
    assert ask(small).answer == "unsat"


def test_the_parts_of_a_question_get_the_effort(tmp_path: Path) -> None:
    names = ["0001-act-p", f"0002-act-p{PART}1", f"0003-act-p{PART}2", f"0004-act-p{PART}3", "0005-act-q"]
    files = [question(tmp_path, name, f"(assert false) ; {name}") for name in names]
    efforts: list[int] = []

    def one(file: Path, effort: int, journal: Journal | None) -> SolverAnswer:
        efforts.append(effort)
        return SolverAnswer(file, "unsat", "unknown" if file in files[:3:2] else "unsat", 0.0)

    with patch.object(second_solver, "ask", one):
        said = list(ask_all(files, 1000))
    assert efforts == [100, 1000, 1000, 100, 1000]
    assert opinion_of(files, said, 1000)["open"] == ["act-p"]


@pytest.mark.slow
def test_a_second_solver_agrees_about_the_core_of_kip_497_for_any_number_of_brokers(tmp_path: Path) -> None:
    listed = [it for it in proofs_named([SPECS / "alter_isr" / "core.toml"]) if it[1].any_size]
    files = write_recorded(tmp_path / "smt", listed, [])
    assert len(files) > 600
    assert opinion_of(files, list(ask_all(files)), EFFORT)["open"] == []
