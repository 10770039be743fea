"""A boundary that cannot be evaluated is an error for every method that proves something, as it is for a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import pytest

from floodmark import Between, Constant, Model, action, boundary, invariant, require
from floodmark.checkers.project.properties import Property, collect
from floodmark.checkers.reference import search as reference
from floodmark.checkers.search_result import Options
from floodmark.checkers.symbolic.crosscheck.enumeration import enumerate_states
from floodmark.checkers.symbolic.methods.bmc import search
from floodmark.checkers.symbolic.methods.ic3 import infer
from floodmark.checkers.symbolic.methods.induction import confirm, induction
from floodmark.checkers.symbolic.methods.k_induction import k_induction
from floodmark.checkers.symbolic.translate.obligations import BOUNDARY, INITIAL
from floodmark.checkers.symbolic.translate.transition_system import system_of

Digit = Annotated[int, Between(0, 9)]


class Divides(Model):
    """Nobody can say whether 3 is inside."""

    x: Digit = 0

    @boundary
    def near(self) -> bool:
        return 10 // (3 - self.x) > 0

    @action
    def up(self) -> None:
        require(self.x < 9)
        self.x += 1

    @invariant
    def small(self) -> bool:
        return self.x <= 5


class BeginsThere(Divides):
    x: Digit = 3


class NeverThere(Divides):
    """Passes by: 0, 2, 4."""

    def up(self) -> None:
        require(self.x < 8)
        self.x += 2


class Excluded(Divides):
    """3 would be reached from 2, which is not reachable."""

    def up(self) -> None:
        require(self.x == 2)
        self.x += 1


class Behind(Divides):
    """The second boundary is not looked at where the first is false."""

    @boundary
    def farther(self) -> bool:
        return 10 // (3 - self.x) > 0

    def near(self) -> bool:
        return self.x < 3


class Left(Model):
    """Its boundary fails at the end, wherever that is."""

    most = Constant(4)
    x: Annotated[int, Between(0, "most")] = 0

    @boundary
    def near(self) -> bool:
        return 10 % (self.most - self.x) >= 0

    @action
    def up(self) -> None:
        require(self.x < self.most)
        self.x += 1

    @invariant
    def counts(self) -> bool:
        return self.x >= 0


def _properties(cls: type[Model]) -> Sequence[Property]:
    return list(collect(cls, []).values())


@pytest.mark.parametrize("cls", [Divides, BeginsThere])
def test_every_method_finds_a_boundary_that_fails(cls: type[Model]) -> None:
    model, properties = cls(), _properties(cls)
    system = system_of(model, properties)
    assert enumerate_states(model, properties).violation is not None
    bounded = search(system, properties, 5)
    assert bounded.violation is not None
    assert bounded.violation.kind == "error"
    assert "ZeroDivisionError" in bounded.violation.message
    proof = induction(system, properties)
    assert (proof.outcome, {it.property for it in proof.failing()}) == ("fails", {BOUNDARY})
    for obligation in proof.failing():
        confirm(model, properties, obligation)
    unrolled = k_induction(system, properties, 8)
    assert unrolled.violation is not None
    assert unrolled.violation.message == bounded.violation.message
    assert infer(system, properties).refuted


def test_a_boundary_fails_at_first() -> None:
    proof = induction(system_of(BeginsThere(), _properties(BeginsThere)), _properties(BeginsThere))
    assert (INITIAL, BOUNDARY) in [(it.action, it.property) for it in proof.failing()]


@pytest.mark.parametrize("cls", [NeverThere, Excluded])
def test_a_boundary_that_fails_where_nothing_leads(cls: type[Model]) -> None:
    """Induction alone does not know that; who knows which states are reachable proves it."""
    model, properties = cls(), _properties(cls)
    system = system_of(model, properties)
    assert enumerate_states(model, properties).complete
    assert {it.property for it in induction(system, properties).failing()} == {BOUNDARY}
    assert k_induction(system, properties, 8).outcome == "proved"
    found = infer(system, properties)
    assert found.found
    assert found.predicate is not None
    assert enumerate_states(model, [*properties, found.predicate]).complete


def test_a_boundary_behind_a_false_one_is_not_evaluated() -> None:
    """CPython does not come to it, so neither z3 nor compiled code must say that it fails."""
    model, properties = Behind(), _properties(Behind)
    assert reference.search_states(model, properties, Options()).distinct == 3
    assert enumerate_states(model, properties).states == 3
    system = system_of(model, properties)
    assert search(system, properties, 6).violation is None
    assert induction(system, properties).outcome == "proved"


def test_a_boundary_that_fails_for_every_constant() -> None:
    model, properties = Left(), _properties(Left)
    for unbounded in ([], ["most"]):
        proof = induction(system_of(model, properties, unbounded), properties)
        assert {it.property for it in proof.failing()} == {BOUNDARY}
