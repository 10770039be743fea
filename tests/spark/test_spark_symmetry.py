"""Symmetry on Spark: the same orbits as in one process, and a model that is not symmetric is refused."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import pytest

from floodmark import Between, Constant, Identifier, Model, Set, action, initial, require
from floodmark.checkers.native import search as native
from floodmark.checkers.reference import search as reference
from floodmark.checkers.search_result import Options
from floodmark.checkers.spark.search import Distribution, search_states
from floodmark.checkers.symmetry import proof
from floodmark.language.errors import ModelError
from specs.examples.two_phase_commit import TwoPhaseCommit

pytestmark = pytest.mark.usefixtures("spark")

SYMMETRIC = Options(workers=1, symmetry=True)
DISTRIBUTED = Distribution(partitions=2, wide=0)


def test_orbits_are_the_native_ones() -> None:
    model = TwoPhaseCommit(managers=4)
    found, wanted = search_states(model, [], SYMMETRIC, None, DISTRIBUTED), native.search_states(model, [], SYMMETRIC)
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


class SecondIsServed(Model):
    """The second person alone is served, and only at one of many times."""

    people = Constant(3)
    waiting: Set[Person] = Set()
    time: Annotated[int, Between(0, 20)] = 0
    served: bool = False

    def may(self, person: Person) -> bool:
        require(person == Person(2))
        return True

    @action
    def wait(self, time: Annotated[int, Between(0, 20)]) -> None:
        self.time = time

    @action
    def come(self, person: Person) -> None:
        require(len(self.waiting) == 0)
        self.waiting.add(person)

    @action
    def serve(self, person: Person) -> None:
        require(person in self.waiting and self.time == 17)
        require(self.may(person))
        self.served = True


@pytest.mark.parametrize("engine", ["spark", "reference"])
def test_a_wrong_symmetry_proof_is_an_internal_error(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path))
    monkeypatch.setattr(proof, "_require_proof", lambda *_: None)  # z3 proves whatever it is asked
    monkeypatch.setattr(reference, "COMPARED", 1000)
    run = partial(search_states, distribution=DISTRIBUTED) if engine == "spark" else reference.search_states
    with pytest.raises(RuntimeError, match=r"a permitted renaming, to .*, is not one of"):
        run(SecondIsServed(), [], SYMMETRIC)


def test_a_model_that_is_not_symmetric_is_refused() -> None:
    options = Options(workers=1, symmetry=True)
    with pytest.raises(ModelError, match="which of them comes first decides, so the model is not symmetric"):
        search_states(FirstComesFirst(), [], options, None, Distribution(partitions=2, wide=0))
