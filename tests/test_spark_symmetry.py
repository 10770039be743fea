"""Symmetry on Spark: the same orbits as in one process, and a model that is not symmetric is refused."""

from __future__ import annotations

import pytest

from floodmark import Constant, Identifier, Model, Set, action, initial
from floodmark.checkers.exploration import Options
from floodmark.checkers.native import search as native
from floodmark.checkers.spark.search import Distribution, explore
from floodmark.language.errors import ModelError
from specs.examples.two_phase_commit import TwoPhaseCommit

SYMMETRIC = Options(workers=1, symmetry=True)
DISTRIBUTED = Distribution(partitions=2, wide=0)


def test_orbits_are_the_native_ones() -> None:
    model = TwoPhaseCommit(managers=4)
    found, wanted = explore(model, [], SYMMETRIC, None, DISTRIBUTED), native.explore(model, [], SYMMETRIC)
    assert (found.engine, wanted.engine) == ("spark", "native")
    assert (found.distinct, found.digest) == (wanted.distinct, wanted.digest)


class Person(Identifier, count="people"):
    pass


class FirstComesFirst(Model):
    """The order of names decides, so names cannot be exchanged."""

    people = Constant(3)
    waiting: Set[Person]
    favourite: Person
    served: Person | None

    @initial
    def start(self, favourite: Person) -> None:
        self.waiting = Set()
        self.favourite = favourite
        self.served = None

    @action
    def come(self, person: Person) -> None:
        self.waiting.add(person)

    @action
    def serve(self) -> None:
        for person in Person:
            if person in self.waiting:
                self.served = person
                break


def test_a_model_that_is_not_symmetric_is_refused() -> None:
    with pytest.raises(ModelError, match="which of them comes first decides, so the model is not symmetric"):
        explore(FirstComesFirst(), [], Options(workers=1, symmetry=True), None, Distribution(partitions=2, wide=0))
