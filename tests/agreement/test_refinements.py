"""Every engine says of a refinement what the graphs of the two models say."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

import tests.support.engines as engines
from floodmark.checkers.native import search as native_engine
from floodmark.checkers.reference import search as reference_engine
from floodmark.checkers.search_result import Options, SearchResult
from floodmark.language.errors import SourceError
from floodmark.language.members import abstract_steps
from floodmark.language.model import Model
from tests.support.engines import ENGINES, TooMany, imported, on_spark, outcome, plain_search, properties_of
from tests.support.level_agreement import Budget, agreement
from tests.support.refinements import Fails, drawn_pair, oracle

QUICK = range(40)


def _never_taken(found: SearchResult) -> set[str]:
    return {premise.text.split()[-3] for premise in found.vacuous}


def _compared(seed: int, directory: Path) -> str:
    """Compares all engines with the graphs of a drawn pair; returns what it showed."""
    with imported(drawn_pair(seed), "Impl", directory) as cls:
        properties = properties_of(cls)
        mapping = cls.as_spec  # type: ignore[attr-defined]
        try:
            plain, _ = plain_search(cls(), properties)
        except (TooMany, SourceError):
            return "nothing"
        for name in ("native, 1 worker", "reference"):
            assert outcome(ENGINES[name], cls(), properties) == plain, (seed, name)
        try:
            refines, shortest, taken = oracle(cls(), mapping, abstract_steps(mapping), 1000)
        except Fails:
            return "fails"
        if plain.verdict == "error":
            return "fails"
        assert refines == (plain.verdict == "holds"), seed
        assert plain.shortest == shortest, seed
        if refines:
            _same_actions(cls, taken)
        if shortest == 1:  # an initial state, which level by level is no step
            assert agreement(cls(), properties, Budget(steps=50)).shortest == 1
            return "violated at once"
        return "refines" if refines else "violated"


def _same_actions(cls: type[Model], taken: set[str]) -> None:
    """The actions of the other model that no step takes are those that no engine saw taken."""
    spec = sys.modules[cls.__module__].Spec
    properties = properties_of(cls)
    never = spec.methods("action").keys() - taken
    assert _never_taken(native_engine.search_states(cls(), properties, Options(workers=1))) == never
    assert _never_taken(engines.ENGINES["reference"](cls(), properties)) == never


def test_engines_and_graphs_agree_on_drawn_pairs_of_models(tmp_path: Path) -> None:
    shown = Counter(_compared(seed, tmp_path) for seed in QUICK)
    assert shown["refines"] >= 15
    assert shown["violated"] >= 3
    assert shown["violated at once"]


@pytest.mark.slow
@pytest.mark.parametrize("first", range(40, 1500, 100))
def test_engines_and_graphs_agree_on_many_drawn_pairs_of_models(first: int, tmp_path: Path) -> None:
    shown = Counter(_compared(seed, tmp_path) for seed in range(first, first + 100))
    assert shown["refines"] and shown["violated"]


@pytest.mark.slow
def test_a_cluster_agrees_on_drawn_pairs_of_models(tmp_path: Path) -> None:
    """Every level is distributed."""
    shown: Counter[str] = Counter()
    for seed in range(16):
        with imported(drawn_pair(seed), "Impl", tmp_path) as cls:
            properties = properties_of(cls)
            try:
                plain, _ = plain_search(cls(), properties)
            except (TooMany, SourceError):
                continue
            assert outcome(on_spark, cls(), properties) == plain, seed
            shown[plain.verdict] += 1
    assert shown["holds"] and shown["violated"]


TOKEN = '''
from floodmark import *

class Peer(Identifier, count=3, prefix="p"):
    """A peer."""

class Token(Model):
    holder: Peer | None = None
    @action
    def is_taken(self, peer: Peer) -> None:
        require(self.holder is None)
        self.holder = peer
    @action
    def is_dropped(self) -> None:
        require(self.holder is not None)
        self.holder = None

class Ring(Model):
    asked: Set[Peer] = Set()
    holder: Peer | None = None
    @action
    def asks(self, peer: Peer) -> None:
        self.asked.add(peer)
    @action
    def takes(self, peer: Peer) -> None:
        require(peer in self.asked and {guard})
        self.asked.discard(peer)
        self.holder = peer
    @action
    def drops(self) -> None:
        require(self.holder is not None)
        self.holder = None
    @refines
    def as_token(self) -> Token:
        return Token(holder={holder})
'''


@pytest.mark.parametrize(("guard", "verdict"), [("self.holder is None", "holds"), ("True", "violated")])
def test_a_step_to_a_renamed_state_is_no_stutter_under_symmetry(guard: str, verdict: str, tmp_path: Path) -> None:
    """Where a peer takes the token from another one, the states before and after differ in names alone."""
    with imported(TOKEN.format(guard=guard, holder="self.holder"), "Ring", tmp_path) as cls:
        properties = properties_of(cls)
        plain = native_engine.search_states(cls(), properties, Options(workers=1))
        for engine in (native_engine, reference_engine):
            found = engine.search_states(cls(), properties, Options(workers=1, symmetry=True))
            assert found.distinct < plain.distinct or verdict == "violated"
            assert bool(found.violations) == (verdict == "violated")
            assert [len(it.trace) for it in found.violations] == [len(it.trace) for it in plain.violations]


def test_a_mapping_that_names_an_identifier_is_refused_under_symmetry(tmp_path: Path) -> None:
    holder = "self.holder if self.holder != Peer(1) else None"
    with (
        imported(TOKEN.format(guard="True", holder=holder), "Ring", tmp_path) as cls,
        pytest.raises(SourceError, match=r"Peer\(1\) is named here.*use symmetry = false"),
    ):
        native_engine.search_states(cls(), properties_of(cls), Options(workers=1, symmetry=True))
