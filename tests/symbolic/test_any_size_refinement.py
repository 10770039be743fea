"""A refinement is proved for every number of identifiers, and none that fails at some number."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from unittest.mock import patch

import pytest

from floodmark.checkers.symbolic.any_size.unbounded_constants import any_size_constants
from floodmark.checkers.symbolic.methods.induction import induction
from floodmark.checkers.symbolic.methods.task import ProofTask
from floodmark.checkers.symbolic.prove import prove_check
from floodmark.checkers.symbolic.tactics import portfolio
from floodmark.checkers.symbolic.translate.obligations import INITIAL
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.language.errors import SourceError
from tests.support.any_size_agreement import disagreements, proved_but_refuted
from tests.support.any_size_protocols import check_of
from tests.support.engines import imported, properties_of
from tests.support.refinements import drawn_pair

COMMIT = "specs/examples/transaction_commit.toml"


@pytest.mark.slow
def test_two_phase_commit_refines_transaction_commit_for_any_number_of_managers() -> None:
    proved = prove_check(check_of(COMMIT), ProofTask(any_size=True))
    assert proved.verdict == "holds"
    assert "for every managers" in proved.headline
    assert "managers = 5" in proved.lines[0], "and it is searched with up to five"


VOTES = '''
from typing import Annotated
from floodmark import *

class Node(Identifier, count="nodes", prefix="n"):
    pass

class Elected(Model):
    """Some node leads, and then nodes hear of it one by one."""
    nodes = Constant(2)
    leader: Node | None = None
    told: Set[Node] = Set()
    held: Map[Node, Annotated[int, Between(0, 1)]]

    @initial
    def start(self) -> None:
        {other_start}
        self.held = Map({{node: 0 for node in Node}})

    @action
    def elects(self, node: Node) -> None:
        require(self.leader is None)
        self.leader = node

    @action
    def tells(self, node: Node) -> None:
        require(self.leader is not None)
        {telling}
        self.told.add(node)

    @action
    def takes(self, node: Node) -> None:
        {taking}
        self.held[node] = 1

class Votes(Model):
    nodes = Constant(2)
    vote: Map[Node, Node | None]
    leader: Node | None = None
    heard: Set[Node] = Set()
    held: Map[Node, Annotated[int, Between(0, 1)]]

    @initial
    def start(self) -> None:
        self.vote = Map({{node: None for node in Node}})
        self.held = Map({{node: 0 for node in Node}})
        {start}

    @action
    def votes(self, node: Node, other: Node) -> None:
        require(self.vote[node] is None)
        self.vote[node] = other

    @action
    def wins(self, node: Node) -> None:
        require({winning} and all(self.vote[voter] == node for voter in Node))
        self.leader = node

    @action
    def hears(self, node: Node, other: Node) -> None:
        require({hearing})
        self.heard.add(node)
        {also}

    @action
    def takes(self, node: Node) -> None:
        require(self.held[node] == 0)
        self.held[node] = 1

    @refines
    def as_elected(self) -> Elected:
        return Elected(nodes={given}, leader=self.leader, told={told}, held=self.held)
'''
GOOD = {
    "other_start": "pass", "telling": "pass", "taking": "require(self.held[node] == 0)",
    "start": "pass", "winning": "self.leader is None", "hearing": "self.leader is not None", "also": "pass",
    "told": "self.heard", "given": "self.nodes",
}  # fmt: skip


def _open(directory: Path, **changes: str) -> set[str]:
    """The actions, or initial states, of which z3 does not prove at once that they refine, for any number of nodes."""
    with imported(VOTES.format(**{**GOOD, **changes}), "Votes", directory) as cls:
        properties = properties_of(cls)
        names, _ = any_size_constants(cls())
        system = system_of(cls(), properties, names, any_size=True)
        with patch.object(portfolio, "STRATEGIES", portfolio.STRATEGIES[:2]):
            answers = [it for it in induction(system, properties).obligations if it.property == "as_elected"]
        assert {it.action for it in answers} == {INITIAL, *(it.action.name for it in system.fired)}
        return {it.action for it in answers if it.outcome != "proved"}


def test_whichever_identifier_an_abstract_action_chooses_is_found(tmp_path: Path) -> None:
    """Among those that it assigns (elects), adds to a set (tells) and uses as a key (takes)."""
    assert _open(tmp_path) == set()


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"also": "self.heard.add(other)"}, {"hears"}),
        ({"also": "if len(Node) > 5:\n            self.heard.add(other)"}, {"hears"}),
        ({"hearing": "True"}, {"hears"}),
        ({"winning": "True"}, {"wins"}),
        ({"telling": "require(len(Node) < 6)"}, {"hears"}),
        ({"telling": "assert len(Node) < 6"}, {"hears", "takes"}),
        ({"taking": "assert len(Node) < 6"}, {"wins", "hears", "takes"}),
        ({"other_start": "require(len(Node) < 6)"}, {INITIAL}),
        ({"start": "self.leader = Node(1) if len(Node) > 5 else None"}, {INITIAL}),
    ],
    ids=["two at once", "two at once among many", "before there is a leader", "another leader", "a guard among many",
         "a failure among many", "another choice that fails", "no initial state among many",
         "an initial state among many"],
)  # fmt: skip
def test_what_does_not_refine_at_some_number_is_not_proved(
    changes: dict[str, str], where: set[str], tmp_path: Path
) -> None:
    """Many of these refine with up to five nodes, which are all that a search looks at. A failing choice of an abstract
    action is an error, whichever action is taken and whatever explains it.
    """
    assert _open(tmp_path, **changes) == where


def test_the_two_models_have_as_many_identifiers(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"Elected has 2 Node, and the model nodes"):
        _open(tmp_path, given="2")


# Drawn pairs of models.


def _drawn(seed: int) -> str:
    """A drawn pair, in which a constant counts the peers."""
    text = drawn_pair(seed).replace("count=2", 'count="peers"')
    text = text.replace("    top = Constant(2)\n", "    peers = Constant(2)\n    top = Constant(2)\n")
    return text.replace("Spec(top=", "Spec(peers=self.peers, top=")


def _compared(seeds: range, directory: Path, numbers: tuple[int, ...]) -> Counter[str]:
    """What CPython says of pairs of reachable states of drawn models, and whether the terms allow it."""
    counts: Counter[str] = Counter()
    for seed in seeds:
        for number in numbers:
            with imported(_drawn(seed), "Impl", directory) as cls:
                try:
                    found, asked = disagreements(cls(peers=number), properties_of(cls), most=5)
                except SourceError:
                    counts["refused"] += 1
                    continue
            assert not found, (seed, number)
            counts += asked
    return counts


def test_terms_of_a_refinement_allow_what_cpython_says_of_two_states(tmp_path: Path) -> None:
    counts = _compared(range(10, 13), tmp_path, (2,))
    assert counts["transitions that are True"] and counts["transitions that are False"]


@pytest.mark.slow
@pytest.mark.parametrize("first", range(13, 93, 20))
def test_terms_of_many_refinements_allow_what_cpython_says_of_two_states(first: int, tmp_path: Path) -> None:
    counts = _compared(range(first, first + 20), tmp_path, (1, 2, 3))
    assert counts["transitions that are False"] > 50


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 60, 20))
def test_no_step_of_drawn_models_is_proved_to_refine_that_does_not_at_some_number(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 20):
        with imported(_drawn(seed), "Impl", tmp_path) as cls:
            try:
                wrong = proved_but_refuted(cls(), properties_of(cls), (1, 2))
            except SourceError:
                continue
        assert wrong == [], seed
