"""How many distinct values a variable takes is exact, whatever is dropped before it is sorted."""

from __future__ import annotations

import random

import numpy as np
import pytest

from floodmark.checkers.search.statistics import DistinctCodes, Rows


def _pieces(draw: random.Random, words: int, values: int) -> list[Rows]:
    """Some pieces of codes, of which there are at most so many; most are near one another, as real codes are."""
    known = [[draw.choice((draw.randrange(64), draw.getrandbits(64))) for _ in range(words)] for _ in range(values)]
    lengths = [draw.choice((0, 1, 7, 2000)) for _ in range(8)]
    rows = [np.array(draw.choices(known, k=length), dtype=np.uint64).reshape(length, words) for length in lengths]
    return [piece[:, 0].copy() if words == 1 else piece for piece in rows]


@pytest.mark.parametrize("words", [1, 2, 3])
@pytest.mark.parametrize("values", [1, 2, 50, 3000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_distinct_codes_are_those_of_a_set(words: int, values: int) -> None:
    draw = random.Random(f"{words} {values}")
    for _ in range(5):
        distinct, expected = DistinctCodes(), set()
        for piece in _pieces(draw, words, values):
            distinct.add(piece)
            expected |= {tuple(np.atleast_1d(code).tolist()) for code in piece}
        assert distinct.count() == len(expected)
        if expected:
            assert [tuple(np.atleast_1d(code).tolist()) for code in distinct.codes()] == sorted(expected)
