"""Tests what is said of an action that is not enabled: the guard that is false, of the choice that comes furthest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import pytest

from floodmark import Between, Map, Model, action, boundary, initial, require
from floodmark.checkers.liveness.disabling_guard import why_disabled
from floodmark.language.reference import Step, initial_states

Digit = Annotated[int, Between(0, 3)]


class Steps(Model):
    """Actions that are disabled in one state, each in its way."""

    n: Digit = 1
    seen: Map[Digit, bool]

    @initial
    def start(self) -> None:
        self.seen = Map({place: place == 2 for place in range(4)})

    @action
    def second_guard(self) -> None:
        require(self.n == 1)
        require(self.n == 2)
        self.n = 3

    @action
    def further(self, to: Digit) -> None:
        require(to < 3)
        require(self.seen[to])
        require(self.n == 0)
        self.n = to

    @action
    def later(self) -> None:
        self.n += 1
        require(self.n == 0)

    @action
    def in_lines(self) -> None:
        self.n += 1
        require(
            self.n == 0
        )  # fmt: skip

    @action
    def in_a_helper(self) -> None:
        self.asks()

    def asks(self) -> None:
        require(self.n == 0)

    @action
    def long(self) -> None:
        require(self.n == 0 or self.seen[0] or self.seen[1] or self.seen[3] or not self.seen[2] or self.n > 2
                or self.n + 1 == 0)
        self.n = 3

    @action
    def as_it_is(self) -> None:
        self.n = 1

    @action
    def outside(self) -> None:
        self.n = 3

    @boundary
    def inside(self) -> bool:
        return self.n < 3


HERE = Path(__file__).name


def why_here(name: str, is_meant: Callable[[Step], bool]) -> str:
    """Why an action is not enabled in the one initial state."""
    model = Steps()
    ((_, state),) = initial_states(model)
    return why_disabled(model, state, name, is_meant)


def line(text: str) -> int:
    return next(number for number, each in enumerate(Path(__file__).read_text().splitlines(), 1) if text in each)


@pytest.mark.parametrize(
    ("name", "said", "place"),
    [
        ("second_guard", "it requires self.n == 2", "require(self.n == 2)"),
        ("further", "further(to=2) requires self.n == 0", "require(self.n == 0)"),
        ("later", "it requires self.n == 0", ""),
        ("in_lines", "it requires self.n == 0", ""),
        ("in_a_helper", "it requires what a helper requires", ""),
        ("as_it_is", "as_it_is() changes nothing", "def as_it_is"),
        ("outside", "outside() leaves the boundary", "def outside"),
    ],
)
def test_the_guard_that_is_false_is_named(name: str, said: str, place: str) -> None:
    found = why_here(name, lambda step: True)
    assert found.startswith(f"{said} ("), found
    assert not place or f"{HERE}:{line(place)})" in found, found


def test_a_long_guard_is_cut() -> None:
    found = why_here("long", lambda step: True)
    said = found.removeprefix("it requires ").rpartition(" (")[0]
    assert len(said) == 100 and said.endswith(" ..."), found


@pytest.mark.parametrize(("name", "place"), [("further", "require(to < 3)"), ("later", "def later")])
def test_where_no_choice_is_meant_the_first_guard_is_shown(name: str, place: str) -> None:
    found = why_here(name, lambda step: False)
    assert found.startswith("no choice of its parameters is allowed by its guards (")
    assert f"{HERE}:{line(place)})" in found, found
