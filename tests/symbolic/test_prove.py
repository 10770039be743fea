"""Tests ``floodmark prove``: what each method says of designs that are right, wrong, or beyond its reach."""

from __future__ import annotations

import itertools
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from docs.tools.proofs import page
from floodmark.checkers.command_line.cli import command
from floodmark.checkers.gate.entries import proof_entry
from floodmark.checkers.project.claim import claims_of, read_claims
from floodmark.checkers.project.spec import read
from floodmark.checkers.search_result import Limits
from floodmark.checkers.symbolic.attempts import inductive
from floodmark.checkers.symbolic.crosscheck import enumeration
from floodmark.checkers.symbolic.methods import claims
from floodmark.checkers.symbolic.methods.task import ProofTask, task_of
from floodmark.checkers.symbolic.prove import prove_check, prove_listed
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.language.errors import SourceError
from tests.support.projects import write

EVEN = """
from __future__ import annotations

from typing import Annotated

from floodmark import Between, Constant, Map, Identifier, Model, action, initial, invariant, require, transition


class Even(Model):
    '''A number that grows by two.'''

    most = Constant(6)
    flag = Constant(False)
    x: Annotated[int, Between(0, 7)]

    @initial
    def start(self) -> None:
        self.x = 0

    @action
    def grow(self) -> None:
        require(self.x < self.most)
        self.x += 2

    @invariant
    def not_five(self) -> bool:
        return self.x != 5

    @transition
    def rises(old: Even, new: Even) -> bool:
        return new.x > old.x


class Unbounded(Even):
    '''Its variable is bounded by its constant.'''

    x: Annotated[int, Between(0, "most")]

    @action
    def grow(self) -> None:
        require(self.x < self.most)
        self.x += 1

    @invariant
    def not_five(self) -> bool:
        return self.x >= 0
"""
FLAWED = """
from __future__ import annotations

from model.even import Even
from floodmark import initial, require


class Odd(Even):
    @initial
    def start(self) -> None:
        self.x = 1


class Five(Even):
    @initial
    def start(self) -> None:
        self.x = 5


class Overflows(Even):
    def grow(self) -> None:
        self.x += 2


class Sinks(Even):
    def grow(self) -> None:
        require(self.x > 3 or self.x == 0)
        self.x = 6 - self.x


class Stays(Even):
    def grow(self) -> None:
        require(self.x == 0)
        self.x = self.x
"""
DESIGNS = [
    ("Odd", "not_five"), ("Five", "not_five"), ("Overflows", "not_five"), ("Sinks", "rises"), ("Stays", "rises"),
]
ENTRIES = "".join(f'[[flawed]]\nclass = "flawed:{name}"\nproperty = "{prop}"\n' for name, prop in DESIGNS)
PROOFS = """
[[prove]]
method = "k-induction"
depth = 4

[[prove]]
method = "infer"
properties = ["not_five"]

[[prove]]
method = "bmc"
depth = 3
expect = "bounded"
constants = { most = 6 }
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    spec = f'model = "model.even:Even"\n{ENTRIES}{PROOFS}'
    return write(tmp_path, {"model/even.py": EVEN, "specs/flawed.py": FLAWED, "specs/even.toml": spec,
                            "specs/unbounded.toml": 'model = "model.even:Unbounded"\n'})


def said(*arguments: str, spec: str = "specs/even.toml") -> tuple[int, str]:
    """The exit code and the output of ``floodmark prove``."""
    result = CliRunner().invoke(command, ["prove", spec, *arguments], standalone_mode=False)
    if isinstance(result.exception, SourceError):
        raise result.exception
    assert result.exception is None, result.output
    return result.return_value, result.output


def of(name: str, method: str, *arguments: str) -> tuple[int, str]:
    return said("--method", method, "--only-variant", name, *arguments)


# Bounded search.


@pytest.mark.usefixtures("project")
def test_a_bounded_search_finds_violations_and_proves_nothing_beyond_its_depth() -> None:
    code, text = of("Even", "bmc", "--depth", "3")
    assert code == 3
    assert "undetermined  even  bmc: no violation within 3 states; deeper states were not searched" in text
    code, text = of("Odd", "bmc")
    assert code == 0
    assert "found         even Odd  bmc: violates not_five in 3 states; there is no shorter run" in text
    assert "x: 3 -> 5" in text
    assert "why not_five is false" in text
    code, text = of("Odd", "bmc", "--depth", "2")
    assert code == 3
    assert "undetermined  even Odd  bmc: no violation within 2 states; not_five fails after 3 states, which" in text
    code, text = of("Odd", "bmc", "--depth", "1")
    assert "no violation within 1 state;" in text


@pytest.mark.usefixtures("project")
def test_bounded_search_holds_where_no_run_is_longer() -> None:
    """0, 2, 4, 6 are four states; the transition property also looks at the step from the last."""
    code, text = of("Even", "bmc", "--depth", "4")
    assert (code, "deeper states were not searched" in text) == (3, True)
    code, text = of("Even", "bmc", "--depth", "5")
    assert code == 0
    assert "holds         even  bmc: no violation within 5 states, which lead to all 4 reachable states" in text
    code, text = of("Even", "bmc", "--depth", "4", "--property", "not_five")
    assert code == 0
    code, text = of("Even", "bmc", "--depth", "3", "--property", "not_five")
    assert code == 3


def test_bounded_search_of_what_is_not_enumerated(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enumeration, "ENUMERATION_LIMITS", Limits(states=2))
    code, text = of("Even", "bmc", "--depth", "9")
    assert (code, "deeper states were not searched" in text) == (3, True)


BOUNDED = 'model = "model.even:Even"\n[[prove]]\nmethod = "bmc"\ndepth = 3\n{}'


def test_a_table_says_that_a_bounded_search_is_enough(project: Path) -> None:
    write(project, {"specs/plain.toml": BOUNDED.format(""), "specs/bounded.toml": BOUNDED.format('expect = "bounded"')})
    plain, bounded = (read(project / "specs" / f"{name}.toml") for name in ("plain", "bounded"))
    proved = prove_listed(plain, plain.prove[0])
    assert (proved.verdict, int(proved.exit_code), proved.word) == ("undetermined", 3, "undetermined")
    proved = prove_listed(bounded, bounded.prove[0])
    assert (proved.verdict, int(proved.exit_code), proved.word) == ("undetermined", 0, "bounded")
    assert proved.headline == "no violation within 3 states, as the spec expects"
    assert proof_entry(proved, {}, "quick")["depth"] == 3


def test_bounded_is_not_enough_where_a_violation_is_known_or_time_ran_out(project: Path) -> None:
    write(project, {"specs/odd.toml": BOUNDED.format('expect = "bounded"').replace("depth = 3", "depth = 2")
                    .replace("model.even:Even", "flawed:Odd")})
    odd = read(project / "specs" / "odd.toml")
    proved = prove_listed(odd, odd.prove[0])
    assert (proved.verdict, int(proved.exit_code)) == ("undetermined", 3)
    assert "not_five fails after 3 states" in proved.headline
    ended = prove_check(Check(odd, None, CheckSettings()), ProofTask("bmc", 2, seconds=0.0, expect="bounded"))
    assert (ended.verdict, int(ended.exit_code)) == ("undetermined", 3)


@pytest.mark.usefixtures("project")
def test_bounded_search_finds_a_violated_transition_property() -> None:
    code, text = of("Sinks", "bmc")
    assert code == 0
    assert "violates rises in 3 states" in text


def test_bounded_search_of_a_design_that_leaves_its_types(project: Path) -> None:
    code, text = of("Overflows", "bmc", "--json", "out.json")
    assert code == 2
    assert "bmc: error after 4 states: " in text
    assert "outside of 0..7" in text
    (entry,) = json.loads((project / "out.json").read_text())["results"]
    assert (entry["verdict"], len(entry["trace"])) == ("error", 4)
    assert [state["state"]["x"] for state in entry["trace"]] == [0, 2, 4, 6]


def test_an_unexpected_violation_exits_with_one(project: Path) -> None:
    write(project, {"specs/odd.toml": 'model = "flawed:Odd"\n'})
    for method in ("bmc", "k-induction"):
        code, text = said("--method", method, spec="specs/odd.toml")
        assert code == 1
        assert text.startswith("violated ")
        assert "violates not_five in 3 states" in text
    code, text = said("--method", "infer", spec="specs/odd.toml")
    assert code == 1
    assert "violates not_five in 3 states" in text


def test_a_violation_of_what_is_not_enumerated(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, {"specs/odd.toml": 'model = "flawed:Odd"\n'})
    monkeypatch.setattr(enumeration, "ENUMERATION_LIMITS", Limits(states=1))
    code, text = said("--method", "infer", spec="specs/odd.toml")
    assert code == 1
    assert "a reachable state breaks a property; bmc shows the run" in text


# Induction.


@pytest.mark.usefixtures("project")
def test_induction_shows_what_a_lemma_has_to_exclude() -> None:
    code, text = of("Even", "induction")
    assert code == 3
    assert "grow does not preserve not_five" in text
    assert "in a state, which is not reachable: a lemma that excludes it is missing" in text
    assert "x: 3 -> 5" in text


@pytest.mark.usefixtures("project")
def test_induction_finds_reachable_breaches() -> None:
    code, text = of("Five", "induction")
    assert code == 1
    assert "not_five is false in an initial state" in text
    assert "as in an initial one" in text
    code, text = of("Overflows", "induction", "--property", "rises")
    assert "grow() leaves the declared types" in text
    code, text = of("Stays", "induction", "--property", "rises")
    assert code == 1
    assert "which is reachable" in text
    assert "the same state" in text


@pytest.mark.usefixtures("project")
def test_every_step_that_breaks_an_induction_is_taken_in_cpython(monkeypatch: pytest.MonkeyPatch) -> None:
    confirmed: list[str] = []
    monkeypatch.setattr(inductive, "confirm", lambda model, every, obligation: confirmed.append(obligation.action))
    assert of("Five", "induction")[0] == 1
    assert sorted(confirmed) == ["grow", "initial states"]


def test_nobody_says_what_is_reachable_when_there_is_too_much(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enumeration, "ENUMERATION_LIMITS", Limits(states=2))
    code, text = of("Even", "induction")
    assert code == 3
    assert "in a state:" in text
    code, text = of("Even", "infer", "--property", "not_five")
    assert code == 0
    assert "not checked in all reachable states: the limit of 2 states" in text


def test_a_constant_is_left_open(project: Path) -> None:
    code, text = said("--unbounded", spec="specs/unbounded.toml")
    assert code == 0
    assert "for every most" in text
    with pytest.raises(SourceError, match="no constant of Even only bounds integers"):
        of("Even", "induction", "--unbounded")
    with pytest.raises(SourceError, match="--unbounded needs --method induction"):
        said("--unbounded", "--method", "bmc", spec="specs/unbounded.toml")


# k-induction and inference.


@pytest.mark.usefixtures("project")
def test_k_induction_proves_at_the_k_that_is_enough() -> None:
    code, text = of("Even", "k-induction", "--depth", "4")
    assert code == 0
    assert "2 properties are 3-inductive" in text
    code, text = of("Even", "k-induction", "--depth", "2")
    assert code == 3
    assert "not 2-inductive; there is no violation within 2 states" in text
    assert "any state()" in text
    code, text = of("Odd", "k-induction", "--depth", "4")
    assert code == 1
    assert "violates not_five in 3 states" in text


@pytest.mark.usefixtures("project")
def test_inferred_invariants_are_checked_and_true_of_all_reachable_states() -> None:
    code, text = of("Even", "infer", "--property", "not_five")
    assert code == 0
    assert "(checked: initial states, every action, safety); true of all 4 reachable states" in text


TWINS = """
from __future__ import annotations

from typing import Annotated

from floodmark import Between, Constant, Identifier, Map, Model, action, initial, invariant, require


class Node(Identifier, count="nodes"):
    pass


class Twins(Model):
    nodes = Constant(2)
    one: Map[Node, bool]
    other: Map[Node, bool]
    ever: bool

    @initial
    def start(self) -> None:
        self.one = Map({node: False for node in Node})
        self.other = Map({node: False for node in Node})
        self.ever = False

    @action
    def turn(self, node: Node) -> None:
        require(not self.one[node])
        self.one[node] = True
        self.other[node] = True

    @action
    def compare(self, node: Node) -> None:
        require(self.one[node] and not self.other[node])
        self.ever = True

    @invariant
    def twins_are_alike(self) -> bool:
        return all(self.one[node] == self.other[node] for node in Node)

    @invariant
    def nobody_turns_alone(self) -> bool:
        return all(self.one[node] or not self.other[node] for node in Node)

    @invariant
    def never(self) -> bool:
        return not self.ever
"""


@pytest.mark.parametrize("size", [(), ("--any-size",)])
def test_an_invariant_that_would_exclude_a_counterexample_is_named(
    size: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"model/twins.py": TWINS, "specs/twins.toml": 'model = "model.twins:Twins"\n'})
    code, text = said("--property", "never", *size, spec="specs/twins.toml")
    assert code == 3
    assert "compare does not preserve never" in text
    assert "which twins_are_alike would exclude, if proved together with this:" in text
    code, text = said("--property", "never", "--property", "twins_are_alike", *size, spec="specs/twins.toml")
    assert code == 0, text


# Proofs that a spec lists, and the page.


def test_proofs_of_a_spec_make_a_page(project: Path) -> None:
    write(project, {"specs/claims/mine.py": CLAIMS})
    spec = read(project / "specs" / "even.toml")
    proofs = [(task_of(proving), prove_listed(spec, proving)) for proving in spec.prove]
    assert [proved.verdict for _, proved in proofs] == ["holds", "holds", "undetermined"]
    assert [proved.reproduce for _, proved in proofs] == [
        "floodmark prove specs/even.toml --proof k-induction",
        "floodmark prove specs/even.toml --proof infer",
        "floodmark prove specs/even.toml --proof bmc",
    ]
    unbounded = read(project / "specs" / "unbounded.toml")
    check = Check(unbounded, None, CheckSettings())
    whole, every = prove_check(check, ProofTask()), prove_check(check, ProofTask(unbounded=True))
    proofs += [(ProofTask(), whole), (ProofTask(unbounded=True), every)]
    answers = [claims.ask(claim) for claim in claims_of([project / "specs" / "claims"])]
    text = page(proofs, answers, {})
    assert "| even bmc most=6 | bounded search, 3 states | 2 |" in text
    assert "| `floodmark prove specs/even.toml --proof bmc` |" in text
    proved = "| even k-induction | k-induction, k = 3 | 2 |  | most = 6, flag = False |  | proved | 4 |"
    assert proved in _no_seconds(text)
    assert "| unbounded | induction | 2 | 0 | flag = False | most | proved | 7 |" in _no_seconds(text)
    assert "- properties: `not_five`, `rises`" in text
    assert "| mine: sets are small | nowhere | **fails, not as expected** |  | one = {1,2} |" in text
    assert "| mine: numbers are small | nowhere | fails |  | number = 4 |" in text


CLAIMS = """
from __future__ import annotations
from floodmark.claims import fails, holds
from floodmark import Identifier, Set

class Broker(Identifier, count=3, prefix=""):
    pass

@holds("nowhere")
def sets_are_small(one: Set[Broker]) -> bool:
    return len(one) < 2

@fails("nowhere")
def numbers_are_small(number: int) -> bool:
    '''No number is larger than three.'''
    twice = number + number
    return twice < 8
"""


def _no_seconds(text: str) -> str:
    return re.sub(r" [\d.]+ s \|", "", text)


def test_a_proof_of_an_unknown_property_is_an_error(project: Path) -> None:
    path = write(project, {"specs/typo.toml": 'model = "model.even:Even"\n[[prove]]\nmethod = "bmc"\n'
                                              'properties = ["not_fife"]\n'}) / "specs" / "typo.toml"
    wrong = read(path)
    with pytest.raises(SourceError, match="not_fife") as caught:
        prove_listed(wrong, wrong.prove[0])
    assert caught.value.line == 2


# Claims.


def test_prove_answers_the_claims_of_a_folder(project: Path) -> None:
    write(project, {"specs/claims/mine.py": CLAIMS})
    code, text = said("--json", "out.json", "--max-seconds", "60", spec="specs/claims")
    assert code == 1
    assert "found         mine.numbers_are_small  claim: false," in text
    assert "there: twice = 8" in text
    assert "No number is larger than three." in text
    assert "2 questions, 1 as expected (exit 1:" in text
    witness = {entry["name"]: entry["witness"] for entry in json.loads((project / "out.json").read_text())["results"]}
    assert witness["mine.numbers_are_small"] == {"number": 4}


def test_a_file_that_cannot_be_written(project: Path) -> None:
    with pytest.raises(SourceError, match="cannot be written"):
        of("Even", "bmc", "--json", str(project))


def test_limits_end_a_proof(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count(time.perf_counter())
    monkeypatch.setattr("floodmark.checkers.symbolic.tactics.budget.time.perf_counter", lambda: next(ticks))
    code, text = of("Even", "k-induction", "--max-seconds", "5")
    assert code == 3
    assert "undetermined at k = " in text
    assert "the limit of 5 seconds" in text


@pytest.mark.usefixtures("project")
def test_a_claim_beyond_z3_is_undetermined(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    text = CLAIMS.replace("return twice < 8", "return number * number * number != twice * number * 7 + 5")
    write(project, {"specs/claims/mine.py": text})
    claim = read_claims(project / "specs/claims/mine.py")[1]
    answered: Any = claims.ClaimResult(claim, "undetermined", reason="timeout")
    monkeypatch.setattr(claims, "ask", lambda *_: answered)
    code, said_text = said(spec="specs/claims/mine.py")
    assert code == 3
    assert "z3 does not know: timeout" in said_text


