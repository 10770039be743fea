"""Tests inference for any number of identifiers: what is inferred for a few is lifted, checked, and can be pasted."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest

from floodmark import Identifier
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.spec import read
from floodmark.checkers.search_result import Options
from floodmark.checkers.symbolic.attempts import inferred as attempts
from floodmark.checkers.symbolic.methods.cardinality_atoms import counts_of
from floodmark.checkers.symbolic.methods.clauses import ClauseLiteral
from floodmark.checkers.symbolic.methods.lemmas import lemmas_of
from floodmark.checkers.symbolic.methods.lifting import LiftedLemma, lifted_lemmas
from floodmark.checkers.symbolic.methods.task import ProofTask
from floodmark.checkers.symbolic.prove import prove_check
from floodmark.checkers.symbolic.tactics import portfolio
from floodmark.checkers.verdict.check import Check, CheckSettings, checks, variant_name
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.language.types import IdentifierType
from tests.support.any_size_protocols import as_invariants
from tests.support.projects import write

TWO_PHASE_COMMIT = Path(__file__).resolve().parents[2] / "specs" / "examples" / "two_phase_commit.toml"
INFER = ProofTask("infer", any_size=True, properties=("consistent",))


def _model() -> Check:
    return Check(read(TWO_PHASE_COMMIT), None, CheckSettings())


def _pasted(folder: Path, file: Path, cls: str, clauses: list[str]) -> Check:
    """A check of a copy of a model, with inferred clauses as its lemmas."""
    write(folder, {
        f"specs/examples/{file.name}": file.read_text(encoding="utf-8"),
        "specs/examples/pasted.py": f"from floodmark import lemma\nfrom specs.examples.{file.stem} import *\n\n"
        + "\n".join(clauses),
        "specs/examples/pasted.toml": f'model = "{file.name}:{cls}"\ninvariant_files = ["pasted.py"]\n',
    })
    return Check(read(folder / "specs" / "examples" / "pasted.toml"), None, CheckSettings())


@pytest.mark.slow
def test_inferred_lemmas_are_inductive_for_any_number_and_can_be_pasted(tmp_path: Path) -> None:
    proved = prove_check(_model(), INFER)
    assert proved.verdict == "holds"
    assert "lifted clauses" in proved.headline
    assert proved.facts["any_size"] == ["managers"]
    pasted = _pasted(tmp_path, TWO_PHASE_COMMIT.with_suffix(".py"), "TwoPhaseCommit", proved.facts["clauses"])
    again = prove_check(pasted, ProofTask(any_size=True, properties=("consistent",)))
    assert again.verdict == "holds"
    assert len(again.facts["lemmas"]) == len(proved.facts["clauses"])


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 3])
def test_what_more_identifiers_refute_is_dropped(place: int) -> None:
    """A clause that is wrong, here that nobody ever prepares or commits, is not believed because it was inferred."""
    check = _model()
    (guess,) = lifted_lemmas("TwoPhaseCommit", check.model().variable_types, [[ClauseLiteral(place, "==", 0, True)]])
    wrong = LiftedLemma(guess.text, replace(guess.lemma, name="wrong"))

    def with_another(*arguments: object) -> list[LiftedLemma]:
        return [*lifted_lemmas(*arguments), wrong]  # type: ignore[arg-type]

    with patch.object(attempts, "lifted_lemmas", with_another):
        proved = prove_check(check, INFER)
    assert proved.verdict == "holds"
    assert "wrong" not in proved.facts["lemmas"]


def test_a_clause_is_about_every_choice_of_different_identifiers() -> None:
    model = _model().model()
    (lemma,) = lifted_lemmas("TwoPhaseCommit", model.variable_types, [
        [
            ClauseLiteral(0, "==", 2, False), ClauseLiteral(1, "==", 0, False)
        ], [ClauseLiteral(2, "==", 2, False), ClauseLiteral(0, "==", 0, False)],
    ])
    assert lemma.text == """\
@lemma
def inferred_1(model: TwoPhaseCommit) -> bool:
    return all(
        model.managers_state[rm1] != Manager.COMMITTED
        or model.managers_state[rm2] != Manager.WORKING
        for rm1 in ResourceManager
        for rm2 in ResourceManager if rm2 != rm1
    )
"""


ELECTION = TWO_PHASE_COMMIT.with_name("election.toml")
ONE_LEADER = ProofTask("infer", any_size=True, properties=("epoch_has_one_leader",))


def _election(variant: str | None = None) -> Check:
    found = checks(read(ELECTION), CheckSettings(constants={"epochs": 1}))
    return next(it for it in found if (None if it.flawed is None else variant_name(it)) == variant)


@cache
def _proved() -> ProofResult:
    return prove_check(_election(), ONE_LEADER)


@pytest.mark.slow
def test_an_inferred_lemma_is_inductive_for_any_number_and_can_be_pasted(tmp_path: Path) -> None:
    pasted = _pasted(tmp_path, ELECTION.with_suffix(".py"), "Election", _proved().facts["clauses"])
    again = prove_check(pasted, ProofTask(any_size=True, properties=ONE_LEADER.properties))
    assert again.verdict == "holds"
    assert len(again.facts["lemmas"]) == len(_proved().facts["clauses"])


def test_a_majority_is_inferred_as_what_an_action_counts() -> None:
    """For three voters it is two of them, which is wrong of five: the guard itself says it of any number."""
    proved = _proved()
    assert proved.verdict == "holds"
    assert proved.facts["any_size"] == ["voters", "epochs"]
    assert "for every voters, epochs with epochs >= 1, voters >= 1; true of all" in proved.headline
    assert proved.facts["clauses"] == ["""\
@lemma
def inferred_1(model: Election) -> bool:
    return all(
        (2 * sum((1 for voter in Voter if model.vote[e1][voter] == v1)) > model.voters)
        or v1 not in model.leaders[e1]
        for e1 in Epoch
        for v1 in Voter
    )
"""]


@pytest.mark.parametrize("of", [pytest.param("two-phase commit", marks=pytest.mark.slow), "election"])
def test_inferred_clauses_hold_in_the_reachable_states_of_a_few_sizes(of: str, tmp_path: Path) -> None:
    if of == "election":
        file, cls, size, others = ELECTION.with_suffix(".py"), "Election", "voters", {"epochs": 2}
        proved = _proved()
    else:
        file, cls, size, others = TWO_PHASE_COMMIT.with_suffix(".py"), "TwoPhaseCommit", "managers", {}
        proved = prove_check(_model(), INFER)
    pasted = _pasted(tmp_path, file, cls, proved.facts["clauses"])
    model = pasted.spec.model_class()
    lemmas = lemmas_of(pasted.spec, model)
    assert len(lemmas) == len(proved.facts["clauses"])
    for number in (2, 3, 4):
        found = search_states(model(**{size: number, **others}), as_invariants(lemmas), Options(workers=1))
        assert found.complete
        assert found.violations == []


@pytest.mark.slow
def test_without_what_actions_count_nothing_about_three_voters_is_true_of_any_number() -> None:
    few = patch.object(portfolio, "STRATEGIES", portfolio.STRATEGIES[:2])
    uncounted: AbstractContextManager[object] = patch.object(attempts, "counts_of", lambda _: [])
    with uncounted, few, patch.object(attempts, "attempt_suggested") as next_way:
        proved = prove_check(_election(), ONE_LEADER)
    assert proved.verdict == "undetermined"
    next_way.assert_called_once()


@pytest.mark.parametrize("variant", ["VotesAgain", "OneVoteWins"])
def test_nothing_is_inferred_of_a_known_bad_election(variant: str) -> None:
    proved = prove_check(_election(variant), ONE_LEADER)
    assert proved.verdict != "holds"


def test_a_count_is_asked_of_every_choice_of_identifiers() -> None:
    model = _election().model()
    found = counts_of(model)
    assert [it.text for it in found] == [
        f"(2 * sum((1 for voter in Voter if model.vote[e1][voter] == {name})) > model.voters)"
        for name in ("v1", "v2", "v3")
    ]


UNEQUAL_COUNT = """\
from floodmark import Constant, Identifier, Model, Set, action, invariant, require

class Voter(Identifier, count="voters"): ...

class Votes(Model):
    voters = Constant(2)
    ready: Set[Voter] = Set()
    over: bool = False

    @action
    def votes(self, voter: Voter) -> None:
        require(not self.over)
        self.ready.add(voter)

    @action
    def ends(self) -> None:
        require(len(self.ready) != self.voters)
        self.over = True

    @invariant
    def goes_on(self) -> bool:
        return not self.over
"""


def test_an_action_may_ask_whether_a_count_is_unequal(tmp_path: Path) -> None:
    """The condition is part of the name of a symbol, in which an exclamation mark would stand for a witness."""
    write(tmp_path, {"votes.py": UNEQUAL_COUNT, "votes.toml": 'model = "votes.py:Votes"\n'})
    check = Check(read(tmp_path / "votes.toml"), None, CheckSettings())
    assert prove_check(check, ProofTask("infer", any_size=True)).verdict != "holds"


class Peer(Identifier, count=2, prefix="a peer "):
    """A peer, whose prefix begins no name."""


class Node(Identifier, count=2, prefix="n"):
    """A node; all print alike."""

    def __repr__(self) -> str:
        return "the node"


class Name(Identifier, count=2, prefix="n"):
    """A name, which has the prefix of a node."""


def _lifted(kind: type[Identifier]) -> list[LiftedLemma]:
    different = [ClauseLiteral(0, "==", 0, True), ClauseLiteral(1, "==", 1, False)]
    return lifted_lemmas("M", {"one": IdentifierType(kind, 2), "other": IdentifierType(kind, 2)}, [different])


def test_an_identifier_has_a_name_whatever_it_prints_as() -> None:
    for kind, name in ((Node, "n"), (Peer, "peer")):
        (lemma,) = _lifted(kind)
        assert f"model.one == {name}1" in lemma.text and f"model.other != {name}2" in lemma.text
        assert f"for {name}2 in {kind.__name__} if {name}2 != {name}1" in lemma.text


def test_identifiers_of_two_classes_with_one_prefix_are_told_apart() -> None:
    types = {"one": IdentifierType(Node, 2), "other": IdentifierType(Name, 2)}
    (lemma,) = lifted_lemmas("M", types, [[ClauseLiteral(0, "==", 0, True), ClauseLiteral(1, "==", 1, False)]])
    assert "model.one == n1" in lemma.text and "model.other != name1" in lemma.text
    assert "for n1 in Node" in lemma.text and "for name1 in Name" in lemma.text
