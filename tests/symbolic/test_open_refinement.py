"""Refinements are proved for every value of constants that bound integers, or refused with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from floodmark.checkers.project.spec import read
from floodmark.checkers.symbolic.crosscheck import spot_checks
from floodmark.checkers.symbolic.methods.task import ProofTask
from floodmark.checkers.symbolic.prove import prove_check
from floodmark.checkers.verdict.check import CheckSettings, checks
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.language.errors import SourceError

COUNTERS = '''
from typing import Annotated
from floodmark import *

class Node(Identifier, count="nodes", prefix="n"):
    pass

Number = Annotated[int, Between(0, "most")]

class Mark(Model):
    """A mark that only rises, as far as all nodes have come, and a number of its own."""
    nodes = Constant(2)
    most = Constant(2)
    mark: Number
    reached: Map[Node, Number]
    {other_default}

    @initial
    def start(self{parameter}) -> None:
        self.mark = {first}
        self.reached = Map({{node: 0 for node in Node}})

    @action
    def goes_on(self, node: Node) -> None:
        require(self.reached[node] < self.most)
        self.reached[node] += 1

    @action
    def rises(self, to: Number) -> None:
        require(to > self.mark and all(self.reached[node] >= to for node in Node))
        {rising}

class Nodes(Model):
    nodes = Constant(2)
    most = Constant(2)
    {own_bound}
    known: Map[Node, Number]
    mark: Number = {own_first}

    @initial
    def start(self) -> None:
        self.known = Map({{node: 0 for node in Node}})

    @action
    def counts(self, node: Node) -> None:
        require(self.known[node] < self.most)
        self.known[node] += 1

    @action
    def marks(self) -> None:
        require({guard})
        self.mark = {to}

    @invariant
    def mark_is_known(self) -> bool:
        return all(self.known[node] >= self.mark for node in Node)

    @refines
    def as_mark(self) -> Mark:
        return Mark(nodes=self.nodes, most={given}, mark=self.mark, reached=self.known{other})
'''
LEAST = "min(self.known[node] for node in Node)"
GOOD = {
    "first": "0", "parameter": "", "rising": "self.mark = to", "own_first": "0", "own_bound": "", "given": "self.most",
    "guard": f"{LEAST} > self.mark", "to": LEAST, "other_default": "", "other": "",
}


def _proved(directory: Path, **changes: str) -> ProofResult:
    (directory / "counters.py").write_text(COUNTERS.format(**{**GOOD, **changes}))
    (directory / "counters.toml").write_text('model = "counters.py:Nodes"\n')
    (check,) = checks(read(directory / "counters.toml"), CheckSettings(workers=1))
    return prove_check(check, ProofTask(unbounded=True))


@pytest.mark.parametrize("large", [20, pytest.param(spot_checks.LARGE_VALUE, marks=pytest.mark.slow)])
def test_a_refinement_is_proved_for_every_bound(large: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mark may be any number: what the action takes is what the mark becomes. With 1,000 numbers the spot check
    takes half a minute."""
    monkeypatch.setattr(spot_checks, "LARGE_VALUE", large)
    proved = _proved(tmp_path)
    assert proved.verdict == "holds"
    assert "for every most" in proved.headline


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"guard": "self.mark < max(self.known[node] for node in Node)", "to": "max(self.known[node] for node in Node)"},
        {"rising": "self.mark = to\n        self.reached[Node(1)] = 0"},
        {"first": "min(1, max(0, self.most - 2))"},
        {"own_first": "0", "first": "self.most - self.most + (1 if self.most == 3 else 0)"},
    ],
    ids=["a step", "an effect", "the beginning of large ones", "the beginning of one"],
)
def test_what_does_not_refine_at_some_bound_is_not_proved(changes: dict[str, str], tmp_path: Path) -> None:
    """At the constants of the spec all of these begin rightly."""
    assert _proved(tmp_path, **changes).verdict != "holds"


def test_a_beginning_that_is_wrong_at_larger_bounds_is_not_proved(tmp_path: Path) -> None:
    assert _proved(tmp_path, first="1 if self.most > 2 else 0").verdict != "holds"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rising": "self.mark = to if to > 0 else 0"}, "has to assign it to a variable of its type"),
        ({"rising": "self.mark = to\n        self.mark = 0"}, "has to assign it to a variable of its type"),
        ({"rising": "if to > 1:\n            self.mark = to"}, "has to assign it to a variable of its type"),
        ({"rising": "if self.mark > 1:\n            return\n        self.mark = to"}, "has to assign it to a variable"),
        ({"rising": "self.mark = to\n        self.reached[Node(1)] += to"}, "may fail"),
        ({"rising": "self.mark = to\n        assert to < 3"}, "may fail"),
        ({"own_bound": "top = Constant(2)\n    high: Annotated[int, Between(0, 'top')] = 0", "given": "self.top"},
         "a constant of another name"),
        ({"first": "0\n        if self.nodes > 1:\n            self.extra = False", "other_default": "extra: bool",
          "other": ", extra=False"}, "has to assign extra whatever happens"),
    ],
    ids=[
        "not itself", "something else later", "not always", "a return", "an overflow", "an assertion", "another name",
        "no value",
    ],
)  # fmt: skip
def test_what_cannot_be_asked_of_every_number_is_refused(changes: dict[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=said):
        _proved(tmp_path, **changes)
