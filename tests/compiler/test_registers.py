"""Values that fill the registers of compiled code to their last bit."""

from __future__ import annotations

from typing import Annotated

import pytest

from floodmark import (
    Bag,
    Capacity,
    Constant,
    Identifier,
    Map,
    Model,
    Record,
    action,
    initial,
    invariant,
    reachable,
    require,
)
from floodmark.checkers.native import search as native
from floodmark.checkers.search_result import Options
from tests.support.agreement import assert_agrees
from tests.support.engines import properties_of


class Only(Identifier, count=1, prefix="o"):
    """The only one, which takes no bit."""


class FillsItsWords(Record):
    """Its first field takes no bit, and the other one all of the words that it is in."""

    first: Map[Only, Only]
    rest: Annotated[Bag[Only], Capacity("slots")]


class BesideNoBits(Model):
    slots = Constant(128)
    entry: FillsItsWords
    before: FillsItsWords

    @initial
    def start(self) -> None:
        self.entry = FillsItsWords(first=Map({each: each for each in Only}), rest=Bag())
        self.before = self.entry

    @action
    def one(self) -> None:
        self.entry = FillsItsWords(first=Map({each: Only(1) for each in Only}), rest=Bag([Only(1)]))

    @action
    def more(self, each: Only) -> None:
        require(len(self.entry.rest) < 3)
        self.before = self.entry
        self.entry.rest.add(each)

    @invariant
    def few(self) -> bool:
        return len(self.entry.rest) <= 3

    @reachable
    def none(self) -> bool:
        return len(self.before.rest) == 2


@pytest.mark.slow
@pytest.mark.parametrize("slots", [64, 128, 192])
def test_a_field_without_bits_stands_before_one_that_fills_its_words(slots: int) -> None:
    found = assert_agrees(BesideNoBits, workers=(1,), slots=slots)
    assert found.distinct == 6
    options = Options(workers=1, symmetry=True)
    renamed = native.search_states(BesideNoBits(slots=slots), properties_of(BesideNoBits), options)
    assert renamed.distinct == 6
