"""A number in an interval answers only what every number in it would answer."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest

from floodmark.language.partial_values import AtLeast, Undecided

MADE: dict[str, Callable[[Any], Any]] = {
    "itself": lambda n: n,
    "more": lambda n: n + 2,
    "more than a number": lambda n: 2 + n,
    "less": lambda n: n - 3,
    "less than a number": lambda n: 3 - n,
    "negated": lambda n: -n,
    "a multiple": lambda n: n * 3,
    "a negative multiple": lambda n: n * -2,
    "none of it": lambda n: 0 * n,
    "half": lambda n: n // 2,
    "half of what is left": lambda n: (5 - n) // 2,
    "twice, added": lambda n: n + n,
    "from below": lambda n: (n - 1) * 2 - n,
}
ASKED = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
FAR = 9
"""Where an interval has no end, numbers so far are asked."""


@pytest.mark.parametrize("name", MADE)
def test_what_is_decided_of_an_interval_is_so_of_each_number(name: str) -> None:
    make, decided = MADE[name], 0
    for low, high in ((0, None), (2, None), (2, 5), (-3, 2), (None, 3), (4, 4)):
        numbers = range(-FAR if low is None else low, (FAR if high is None else high) + 1)
        for ask in ASKED:
            for other in range(-12, 13):
                try:
                    said = ask(make(AtLeast(low, high)), other)
                except Undecided:
                    continue
                decided += 1
                assert {ask(make(number), other) for number in numbers} == {said}, (low, high, ask, other)
    assert decided > 200
