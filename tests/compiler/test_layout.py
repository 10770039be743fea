"""Tests that the packed layout of a state numbers the values of each type one by one."""

from __future__ import annotations

from enum import Enum

import pytest

from floodmark import Identifier, Record
from floodmark.compiler.layout import decode, encode, lay_out
from floodmark.language.types import (
    BagType,
    BoolType,
    EnumType,
    IdentifierType,
    IntType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
)
from floodmark.language.universe import universe


class Colour(Enum):
    RED = "red"
    GREEN = "green"
    BLUE = "blue"


class Node(Identifier):
    pass


class Pair(Record):
    low: int
    high: bool | None


SMALL, COLOUR, NODE = IntType(-2, 2), EnumType(Colour), IdentifierType(Node, 3)
PAIR = RecordType(Pair, (("low", SMALL), ("high", OptionalType(BoolType()))))
KINDS: list[Type] = [
    SMALL, COLOUR, NODE, PAIR, OptionalType(SMALL), OptionalType(PAIR), SetType(COLOUR), SetType(SMALL, 2),
    SetType(SetType(COLOUR)), BagType(COLOUR, 3), BagType(OptionalType(NODE), 2), MapType(NODE, SMALL),
    MapType(COLOUR, PAIR), MapType(NODE, MapType(COLOUR, BoolType())), SeqType(SMALL, 3), SeqType(SetType(NODE), 2),
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_value_has_a_code_of_its_own_and_is_decoded_from_it(kind: Type) -> None:
    values = list(universe(kind))
    codes = [encode(kind, value) for value in values]
    assert [decode(kind, code) for code in codes] == values
    assert len(set(codes)) == len(values) > 2
    assert max(codes).bit_length() <= kind.bits


def test_variables_that_stand_behind_others_begin_with_a_word_of_their_own() -> None:
    layout = lay_out({"small": SMALL}, {"node": NODE, "colour": COLOUR})
    assert layout.slots["small"] == lay_out({"small": SMALL}).slots["small"]
    assert {layout.slots[name].word for name in ("node", "colour")} == {1}
    assert (layout.words, layout.bits) == (2, SMALL.bits + NODE.bits + COLOUR.bits)
