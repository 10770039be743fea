"""Sums over constants that are left open: what is said of them is so for all values of the constants."""

from __future__ import annotations

import itertools

import pytest

from floodmark.language.linear import Bound, Linear, left_open

N, M = left_open("n"), left_open("m")
SUMS: dict[str, Bound] = {
    "n": N,
    "-n": -N,
    "n + 3": N + 3,
    "2 * n - 1": 2 * N - 1,
    "-2 * n + 4": 4 - N * 2,
    "m + n": N + M,
    "-m + n": N - M,
    "-m - 3 * n": -3 * N - M,
}


@pytest.mark.parametrize("text", SUMS)
def test_a_sum_is_what_is_written_and_its_bounds_are_met_and_never_left(text: str) -> None:
    found = SUMS[text]
    assert isinstance(found, Linear) and eval(str(found), {"n": 7, "m": 5}) == eval(text, {"n": 7, "m": 5})
    for n, m in itertools.product(range(4), repeat=2):
        assert found.at({"n": n, "m": m}) == eval(text, {"n": n, "m": m})
    near, far = ([found.at({"n": n, "m": m}) for n, m in itertools.product(range(most), repeat=2)] for most in (9, 99))
    assert found.lowest == (min(near) if min(near) == min(far) else None)
    assert found.highest == (max(near) if max(near) == max(far) else None)


def test_a_sum_is_written_without_what_goes_without_saying() -> None:
    assert [str(each) for each in (N, -N, N + 3, 2 * N - 1, M - N)] == ["n", "-n", "n + 3", "2 * n - 1", "m - n"]
