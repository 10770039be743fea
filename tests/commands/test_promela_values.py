"""The cells that a value takes in Promela, and how one of several values is chosen."""

from __future__ import annotations

import pytest

from floodmark import ModelError
from floodmark.checkers.export.promela_values import MAX_C_INTEGER, Number, cell_type, choose, must_fit, pick
from floodmark.language.types import BoolType, IntType, OptionalType, SeqType, Type

LARGE = IntType(0, MAX_C_INTEGER)


@pytest.mark.parametrize(
    ("kind", "cell"),
    [
        (BoolType(), "bit"), (IntType(0, 0), "bit"), (IntType(0, 1), "bit"), (IntType(0, 2), "byte"),
        (IntType(0, 255), "byte"), (IntType(0, 256), "short"), (IntType(-1, 1), "short"),
        (IntType(-(2**15), 2**15 - 1), "short"), (IntType(0, 2**15), "int"), (IntType(0, 2**16 - 1), "int"),
        (IntType(-(2**15) - 1, 0), "int"), (OptionalType(IntType(0, 3)), "byte"), (SeqType(BoolType(), 1), "bit"),
        (SeqType(BoolType(), 2), "byte"), (SeqType(IntType(-9, 3), 7), "short"), (LARGE, "int"),
    ],
    ids=str,
)
def test_a_cell_holds_every_part_of_a_value_and_is_no_larger_than_it_has_to_be(kind: Type, cell: str) -> None:
    assert cell_type(kind) == cell


def test_integers_that_would_wrap_around_are_refused() -> None:
    for kind in (LARGE, IntType(-MAX_C_INTEGER, 0)):
        must_fit(kind, None)
    for kind in (IntType(0, MAX_C_INTEGER + 1), IntType(-MAX_C_INTEGER - 1, 0)):
        with pytest.raises(ModelError, match="Spin's have 32 bits"):
            must_fit(kind, None)


def test_the_value_with_an_index_is_chosen() -> None:
    kind, values = IntType(0, 9), [Number("a"), Number("b"), Number("c")]
    assert pick(kind, list(values), "1") == Number("b")
    assert pick(kind, list(values), "3") == pick(kind, [], "i") == Number("0")
    assert pick(kind, list(values), "i") == Number("((i == 0) -> a : ((i == 1) -> b : c))")


def test_nothing_is_chosen_where_the_condition_is_known() -> None:
    a, b = Number("a"), Number("b")
    assert [choose(IntType(0, 9), condition, a, b) for condition in ("0", "1")] == [b, a]
    assert choose(IntType(0, 9), "x", a, b) == Number("(x -> a : b)")
