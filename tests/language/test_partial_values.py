"""A number in an interval answers only what every number in it would answer."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import pytest

from floodmark.language.partial_values import BoundDependence, Interval

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
INTERVALS: tuple[tuple[int | None, int | None], ...] = ((0, None), (2, None), (2, 5), (-3, 2), (None, 3), (4, 4))
FAR = 9
"""Where an interval has no end, numbers so far are asked."""


def numbers_of(low: int | None, high: int | None) -> range:
    return range(-FAR if low is None else low, (FAR if high is None else high) + 1)


@pytest.mark.parametrize("name", MADE)
def test_what_is_decided_of_an_interval_is_so_of_each_number(name: str) -> None:
    make, decided = MADE[name], 0
    for low, high in INTERVALS:
        numbers = numbers_of(low, high)
        for ask in ASKED:
            for other in range(-12, 13):
                try:
                    said = ask(make(Interval(low, high)), other)
                except BoundDependence:
                    continue
                decided += 1
                assert {ask(make(number), other) for number in numbers} == {said}, (low, high, ask, other)
    assert decided > 200


def test_a_map_of_a_growing_range_has_the_entries_of_the_least() -> None:
    found = Interval(3).map(lambda key: 2 * key, Interval(3))
    assert [found[key] for key in range(3)] == [0, 2, 4]
    later = Interval(3).map(lambda key: 2 * key, 1, Interval(3))
    for ask in (lambda: found[3], lambda: later[0], lambda: len(found)):
        with pytest.raises(BoundDependence):
            ask()
    for last in (Interval(None, 3), Interval(3, 4), Interval(None), 3):
        with pytest.raises(BoundDependence):
            Interval(3).map(lambda key: key, last)


def test_two_intervals_are_compared_where_all_their_numbers_agree() -> None:
    decided = 0
    for (one, other), ask in itertools.product(itertools.product(INTERVALS, repeat=2), ASKED):
        try:
            said = ask(Interval(*one), Interval(*other))
        except BoundDependence:
            continue
        decided += 1
        assert {ask(a, b) for a, b in itertools.product(numbers_of(*one), numbers_of(*other))} == {said}
    assert decided > 10


def test_a_number_is_true_where_it_is_not_zero() -> None:
    assert Interval(1) and Interval(None, -1) and Interval(1) != 0
    with pytest.raises(BoundDependence):
        bool(Interval(0))
