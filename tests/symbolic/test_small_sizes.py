"""Tests what is said of small numbers of identifiers beside a proof for every number, and where none begins."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest

from floodmark.checkers.project.spec import read
from floodmark.checkers.search_result import Limits
from floodmark.checkers.symbolic.attempts import any_size, small_sizes
from floodmark.checkers.symbolic.attempts.attempt import NO_INTEGER_LIMIT
from floodmark.checkers.symbolic.methods.induction import InductionProof
from floodmark.checkers.symbolic.methods.task import ProofTask
from floodmark.checkers.symbolic.prove import prove_check
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.checkers.verdict.result import ExitCode
from tests.support.projects import write

MODEL = '''\
from floodmark import Constant, Identifier, Model, Set, action, initial, invariant, require


class Node(Identifier, count="nodes", prefix="n"):
    """One of any number."""


class Drawn(Model):
    nodes = Constant(2)
    members: Set[Node] = Set()

    @initial
    def start(self) -> None:
        require(BEGINS)

    @action
    def join(self, node: Node) -> None:
        self.members.add(node)

    @invariant
    def law(self) -> bool:
        return LAW
'''


def proof(folder: Path, law: str = "len(self.members) <= self.nodes", begins: str = "True") -> ProofResult:
    text = MODEL.replace("LAW", law).replace("BEGINS", begins)
    write(folder, {"drawn.py": text, "mine.toml": 'model = "drawn.py:Drawn"\n'})
    return prove_check(Check(read(folder / "mine.toml"), None, CheckSettings()), ProofTask(any_size=True))


def test_what_is_proved_for_any_number_is_searched_with_up_to_five(tmp_path: Path) -> None:
    proved = proof(tmp_path)
    assert proved.verdict == "holds"
    assert proved.facts["searched"] == [
        {"constants": {"nodes": size}, "states": 2**size, "complete": True} for size in (1, 2, 3, 4, 5)
    ]


def test_what_fails_only_with_unequal_numbers_of_two_classes_is_searched(tmp_path: Path) -> None:
    """Whatever mistake the terms may have: here each obligation counts as proved."""
    text = MODEL.replace("LAW", "len(Site) <= len(Node) or len(self.members) < 1").replace("BEGINS", "True")
    more = "nodes = Constant(2)\n    sites = Constant(2)\n    here: Set[Site] = Set()"
    text = text.replace("nodes = Constant(2)", more)
    site = 'class Site(Identifier, count="sites", prefix="s"):\n    """A place."""\n\n\nclass Drawn'
    write(tmp_path, {"drawn.py": text.replace("class Drawn", site), "mine.toml": 'model = "drawn.py:Drawn"\n'})
    with patch.object(any_size, "induction", lambda *_, **__: InductionProof()):
        proved = prove_check(Check(read(tmp_path / "mine.toml"), None, CheckSettings()), ProofTask(any_size=True))
    assert (proved.verdict, proved.exit_code) == ("error", ExitCode.INTERNAL_ERROR)
    assert "with nodes = 1, sites = 2" in proved.headline


def test_a_search_that_was_not_finished_is_said(tmp_path: Path) -> None:
    with patch.object(small_sizes, "SEARCH_LIMITS", Limits(states=10)):
        proved = proof(tmp_path)
    assert proved.verdict == "holds"
    assert "nodes = 3 (8 states); nodes = 4 (the first" in proved.lines[0]
    assert [it["complete"] for it in proved.facts["searched"]] == [True, True, True, False, False]


@pytest.mark.parametrize("first", [3, 4, 5])
def test_no_wrong_proof_survives_what_fails_with_up_to_five(first: int, tmp_path: Path) -> None:
    """Whatever mistake the terms may have: here each obligation counts as proved."""
    with patch.object(any_size, "induction", lambda *_, **__: InductionProof()):
        proved = proof(tmp_path, f"len(self.members) < {first}")
    assert (proved.verdict, proved.exit_code) == ("error", ExitCode.INTERNAL_ERROR)
    assert f"law fails after {first + 1} states" in proved.headline
    assert f"with nodes = {first}" in proved.headline
    assert proved.lines


@pytest.mark.parametrize("first", [4, 5, 7])
def test_a_law_that_fails_first_at_some_number_is_not_proved(first: int, tmp_path: Path) -> None:
    assert proof(tmp_path, f"len(self.members) < {first}").verdict == "undetermined"
    assert proof(tmp_path, f"len(self.members) < {first} or len(Node) < {first}").verdict == "undetermined"


@pytest.mark.parametrize(("most", "outcome", "said"), [
    (3, "fails", "1 fail"), (7, "undetermined", "1 are undetermined"),
])  # fmt: skip
def test_what_is_not_proved_fails_if_a_few_identifiers_show_it(
    most: int, outcome: str, said: str, tmp_path: Path
) -> None:
    found = proof(tmp_path, f"len(self.members) < {most} or len(Node) < 3")
    assert [row[:3] for row in found.facts["open"]] == [["join", "law", outcome]]
    assert found.headline.endswith(f"; {said}")


def test_what_is_not_proved_again_is_an_internal_error(tmp_path: Path) -> None:
    failing = [SimpleNamespace(outcome=outcome) for outcome in ("undetermined", "fails")]
    again = SimpleNamespace(seconds=0.0, outcome="fails", failing=lambda: failing)
    with (
        patch.object(small_sizes, "induction", lambda *_, **__: again),
        pytest.raises(RuntimeError, match=r"is wrong for nodes = \d: .*'fails'"),
    ):
        proof(tmp_path)


@pytest.mark.parametrize(("begins", "said"), [
    ("len(Node) < 3", "no initial state with nodes = 3"),
    ("len(Node) != 4", "no initial state with nodes = 4"),
    ("len(Node) < 300", "no initial state with 1,000 or more of nodes"),
    ("len(Node) < 8 or len(Node) > 500", "no initial state with nodes = 8"),
    ("len(Node) < 30 or len(Node) > 500", "no initial state with nodes = 30"),
    ("len(Node) < 90 or len(Node) > 110", "no initial state with nodes = 100"),
])  # fmt: skip
def test_where_there_is_no_initial_state_nothing_is_proved(begins: str, said: str, tmp_path: Path) -> None:
    proved = proof(tmp_path, begins=begins)
    assert (proved.verdict, proved.exit_code) == ("undetermined", ExitCode.UNDETERMINED)
    assert f"but there is {said}, so nothing is proved there" in proved.headline


def test_z3_is_asked_for_an_initial_state_that_has_too_many_choices(tmp_path: Path) -> None:
    with patch.object(small_sizes, "MAX_INITIAL_CHOICES", 0):
        proved = proof(tmp_path, begins="len(Node) < 9 or len(Node) > 500")
    assert proved.verdict == "undetermined"
    assert "no initial state with nodes = 10, so nothing is proved there" in proved.headline


def test_a_proof_for_every_number_says_that_integers_have_no_limit(tmp_path: Path) -> None:
    proved = proof(tmp_path)
    assert proved.lines[-1] == NO_INTEGER_LIMIT
    assert "check has one of 64 bits" in NO_INTEGER_LIMIT
    assert proved.as_json()["integers"] == "unbounded"


def test_a_model_may_need_more_than_one_identifier(tmp_path: Path) -> None:
    proved = proof(tmp_path, begins="len(Node) > 1")
    assert proved.verdict == "holds"
    assert proved.lines[0].startswith("searched with nodes = 1 (no initial state); nodes = 2 (4 states)")


def test_a_number_that_is_too_small_for_what_is_mentioned_is_not_searched(tmp_path: Path) -> None:
    proved = proof(tmp_path, begins="Node(2) not in self.members")
    assert proved.verdict == "holds"
    assert proved.lines[0].startswith("searched with nodes = 2 (4 states); nodes = 3")


def test_a_countermodel_of_a_size_without_initial_states_is_shown(tmp_path: Path) -> None:
    found = proof(tmp_path, "len(self.members) < 3", begins="len(Node) < 3")
    assert found.verdict == "undetermined"
    assert "    in a state, with nodes = 3:" in found.lines
    assert any(re.fullmatch(r"      members: \{n\d,n\d\}", line) for line in found.lines)
