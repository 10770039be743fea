"""What the explorer's page sends, and the stretches in which a watched value stays the same."""

from __future__ import annotations

from typing import Any

import pytest

from floodmark.checkers.explorer.page import _stretches
from floodmark.checkers.explorer.session import MAX_WATCHED, PageAddress


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([], []), (["a"], [(0, 0, "a")]), (["a", "a"], [(0, 1, "a")]), (["a", "b"], [(0, 0, "a"), (1, 1, "b")]),
        (["a", "b", "b", "a"], [(0, 0, "a"), (1, 2, "b"), (3, 3, "a")]),
    ],
    ids=str,
)
def test_a_stretch_of_equal_values_has_its_ends(values: list[str], found: list[tuple[int, int, str]]) -> None:
    assert list(_stretches(values)) == found


def address(**changed: Any) -> PageAddress:
    return PageAddress.of({"design": "", "beside": "", "path": ["a", "b"], "at": 1, **changed})


@pytest.mark.parametrize(("at", "shown"), [(-7, -1), (-1, -1), (0, 0), (1, 1), (2, 1), (9, 1)])
def test_the_step_that_is_shown_is_one_of_the_path(at: int, shown: int) -> None:
    assert address(at=at).at == shown


@pytest.mark.parametrize("watch", ["x", [1], ["x", 1], ["x"] * (MAX_WATCHED + 1)], ids=["text", "number", "x", "many"])
def test_what_is_watched_is_a_list_of_expressions(watch: Any) -> None:
    with pytest.raises(ValueError, match="the watched expressions must be a list of at most"):
        address(watch=watch)
    assert address(watch=["x"]).watch == ("x",) and address(watch=[]).watch == ()
