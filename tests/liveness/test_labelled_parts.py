"""Tests that the code of steps with labels is kept under keys that tell all of it apart."""

from __future__ import annotations

from itertools import product
from typing import Annotated

from floodmark import Between, Model, action, boundary, initial, require
from floodmark.checkers.liveness.assumptions import assumptions_of
from floodmark.checkers.liveness.labelled_module import labelled_parts
from floodmark.language.bounding import UnboundedAction
from floodmark.language.fairness import Fairness

Step = Annotated[int, Between(1, 2)]


class Grows(Model):
    count: Annotated[int, Between(0, 3)]

    @initial
    def start(self) -> None:
        self.count = 0

    @action
    def grow(self, by: Step) -> None:
        require(self.count + by <= 3)
        self.count += by


class Shrinks(Model):
    count: Annotated[int, Between(0, 3)]

    @action
    def shrink(self) -> None:
        require(self.count > 0)
        self.count -= 1


class GrowsFirst(Grows, Shrinks):
    pass


class ShrinksFirst(Shrinks, Grows):
    pass


class Small(GrowsFirst):
    @boundary
    def is_small(self) -> bool:
        return self.count < 3


class Doubles(GrowsFirst):
    @action
    def grow(self, by: Step) -> None:
        require(self.count + by <= 3)
        self.count = min(3, 2 * self.count + by)


CLASSES = (GrowsFirst, ShrinksFirst, Small, Doubles)
FAIR: tuple[dict[str, Fairness | None], ...] = (
    {},
    {"grow": Fairness(strong=False, each=())},
    {"grow": Fairness(strong=False, each=("by",))},
    {"shrink": Fairness(strong=False, each=())},
    {"grow": Fairness(strong=False, each=()), "shrink": Fairness(strong=False, each=())},
)


def test_parts_of_one_key_are_the_same_code_whatever_the_model() -> None:
    """Whatever differs: an action and its place, what is fair, what a bound steers or rules out, and a boundary."""
    known: dict[str, str] = {}
    names: dict[str, set[str]] = {}
    for cls, fair, ruled, steered in product(CLASSES, FAIR, ("", "count"), ("", "count")):
        model = cls()
        grow = cls.methods("action")["grow"]
        beyond = UnboundedAction(grow, (), frozenset(ruled.split()), frozenset(steered.split()))
        made, _ = labelled_parts(model, [], assumptions_of(model, fair), {"grow": beyond})
        for part in made:
            text = str(part.module())
            assert known.setdefault(part.key, text) == text, part.name
            names.setdefault(part.name, set()).add(text)
    assert max(map(len, names.values())) >= 20
