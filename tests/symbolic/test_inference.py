"""Tests that an inferred proof depends on three separate queries, and that each of them is needed."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import pytest

from floodmark import Between, Identifier, Model, action, boundary, invariant, require, transition
from floodmark.checkers.project.properties import collect
from floodmark.checkers.project.spec import read
from floodmark.checkers.symbolic.methods.ic3 import (
    MAX_ATOMS_OF_A_NUMBER,
    Clause,
    Inference,
    InferenceResult,
    _atoms,
    check_clauses,
    infer,
)
from floodmark.checkers.symbolic.methods.task import ProofTask
from floodmark.checkers.symbolic.prove import prove_check
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.checkers.symbolic.values.components import Leaf
from floodmark.checkers.symbolic.values.types import UnsupportedError
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.language.types import BoolType, EnumType, IdentifierType, IntType, Type

SPECS = Path(__file__).resolve().parents[2] / "specs"


class Evens(Model):
    """0, 2, 4, 6; from an odd number it would come to 5, and from 7 out of its type."""

    x: Annotated[int, Between(0, 7)] = 0

    @action
    def up(self) -> None:
        require(self.x != 6)
        self.x += 2

    @invariant
    def not_five(self) -> bool:
        return self.x != 5


class Steps(Evens):
    """Its properties are kept by every step, but from 7 there is one that breaks the property of steps."""

    def up(self) -> None:
        self.x = 0 if self.x == 7 else min(self.x + 2, 4)

    def not_five(self) -> bool:
        return self.x >= 0

    @transition
    def no_fall(self, new: Steps) -> bool:
        return self.x <= new.x or new.x == 4


class Fails(Evens):
    """From 7 its step is a model error."""

    def up(self) -> None:
        self.x = min(self.x + 2, 4) // (7 - self.x) * (7 - self.x)

    def not_five(self) -> bool:
        return self.x >= 0


class Edge(Evens):
    """From 7, which nothing leads to, it would come to where nobody can say what is inside."""

    @boundary
    def near(self) -> bool:
        return 8 // (5 - self.x) != 100

    def up(self) -> None:
        require(self.x != 3)
        self.x = 5 if self.x == 7 else min(self.x + 2, 4)

    def not_five(self) -> bool:
        return True


class Outside(Evens):
    """From 0 it would come to 5, but the boundary is open at 2 only."""

    open: bool = False

    @boundary
    def near(self) -> bool:
        return self.open

    @action
    def jump(self) -> None:
        require(self.x == 0)
        self.x = 5

    @action
    def opens(self) -> None:
        require(self.x == 2)
        self.open = True


def _inference(cls: type[Model]) -> Inference:
    properties = list(collect(cls, []).values())
    return Inference(system_of(cls(), properties), properties)


def _at_most(search: Inference, most: int) -> Clause:
    """x <= most."""
    return frozenset([1 + next(i for i, atom in enumerate(search.atoms) if atom.text == f"x <= {most}")])


def _above(search: Inference, least: int) -> Clause:
    return frozenset(-literal for literal in _at_most(search, least))


def test_an_inferred_invariant_has_to_hold_initially() -> None:
    """x > 5 and x <= 6: kept and safe, and nobody begins there."""
    search = _inference(Evens)
    answers = check_clauses(search, [_above(search, 5), _at_most(search, 6)])
    assert answers == {"initial states": False, "every action": True, "safety": True}


def test_an_inferred_invariant_has_to_be_preserved() -> None:
    """x <= 2 is true at first and leads to nothing bad, but 4 follows 2."""
    search = _inference(Evens)
    checks = check_clauses(search, [_at_most(search, 2)])
    assert checks == {"initial states": True, "every action": False, "safety": True}


def test_properties_have_to_be_kept_by_every_action() -> None:
    """5 follows 3, and nothing excludes 3."""
    search = _inference(Evens)
    checks = check_clauses(search, [_at_most(search, 6)])
    assert checks == {"initial states": True, "every action": False, "safety": True}


def test_boundaries_have_to_be_kept_by_every_action() -> None:
    search = _inference(Edge)
    assert check_clauses(search, [])["every action"] is False
    assert set(check_clauses(search, [_at_most(search, 6)]).values()) == {True}


def test_nothing_leads_on_from_outside_of_the_boundary() -> None:
    properties = list(collect(Outside, []).values())
    found = infer(system_of(Outside(), properties), properties)
    assert not found.refuted
    assert found.found


@pytest.mark.parametrize("cls", [Steps, Fails])
def test_an_inferred_invariant_has_to_exclude_violations(cls: type[Model]) -> None:
    """7 is excluded by nothing: a step from there breaks a property of steps, or is an error."""
    search = _inference(cls)
    assert check_clauses(search, []) == {"initial states": True, "every action": True, "safety": False}
    assert set(check_clauses(search, [_at_most(search, 4)]).values()) == {True}


def test_inference_without_queries_finds_nothing() -> None:
    assert not InferenceResult().found
    assert not InferenceResult(checks={"initial states": True, "every action": True}).found


@pytest.mark.parametrize("wrong", [[], ["x <= 3"], ["x > 5"], ["x <= 6"]], ids=str)
def test_what_a_wrong_search_gives_is_not_proved(monkeypatch: pytest.MonkeyPatch, wrong: list[str]) -> None:
    properties = list(collect(Evens, []).values())

    def run(search: Inference) -> set[Clause]:
        every = {atom.text: number for number, atom in enumerate(search.atoms, 1)}
        every |= {atom.opposite: -number for number, atom in enumerate(search.atoms, 1)}
        return {frozenset([every[text]]) for text in wrong}

    assert infer(system_of(Evens(), properties), properties).found
    monkeypatch.setattr(Inference, "run", run)
    assert not infer(system_of(Evens(), properties), properties).found


def test_what_is_not_proved_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Inference, "run", lambda _: set())
    check = Check(read(SPECS / "examples" / "two_phase_commit.toml"), None, CheckSettings())
    with pytest.raises(RuntimeError, match="does not pass its check: every action"):
        prove_check(check, ProofTask("infer", properties=("consistent",)))


class Colour(Enum):
    RED = "red"
    GREEN = "green"
    BLUE = "blue"


class Peer(Identifier, prefix="p"):
    pass


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (BoolType(), ["v"]),
        (IntType(-1, 1), ["v <= -1", "v <= 0"]),
        (EnumType(Colour), ["v == RED", "v == GREEN", "v == BLUE"]),
        (IdentifierType(Peer, 3), ["v == p1", "v == p2", "v == p3"]),
    ],
)
def test_atoms_tell_the_values_of_a_component_apart(kind: Type, said: list[str]) -> None:
    atoms = _atoms(4, Leaf("v", kind, None))
    assert [atom.text for atom in atoms] == said
    assert {atom.leaf for atom in atoms} == {4}
    with pytest.raises(UnsupportedError, match="v has too many values"):
        _atoms(4, Leaf("v", IntType(0, MAX_ATOMS_OF_A_NUMBER + 1), None))
