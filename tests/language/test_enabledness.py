"""``enabled`` against the steps that there are: CPython and compiled code read the guards by one function, so that the
two agree does not show that they read them rightly."""

from __future__ import annotations

from pathlib import Path

import pytest

from floodmark.language.errors import ModelError
from floodmark.language.reference import choices, fire, holds
from tests.support.engines import ENGINES, imported, outcome, plain_search, properties_of
from tests.support.level_agreement import Budget, agreement

MODEL = '''
from typing import Annotated

from floodmark import (
    Bag, Between, Capacity, Identifier, Map, Model, Record, Seq, Set, action, enabled, initial, invariant, reachable,
    require,
)


class Node(Identifier, count=2, prefix="n"):
    """A node."""


class Vote(Record):
    epoch: Annotated[int, Between(0, 2)]
    to: Node | None = None


Number = Annotated[int, Between(-2, 3)]


class M(Model):
    x: Number
    leader: Node | None
    members: Set[Node]
    end: Map[Node, Number]
    log: Annotated[Seq[Number], Capacity(2)]
    queue: Annotated[Bag[Number], Capacity(2)]
    votes: Annotated[Set[Vote], Capacity(1)]

    @initial
    def start(self, x: Annotated[int, Between(-1, 1)], leader: Node | None) -> None:
        self.x = x
        self.leader = leader
        self.members = Set({Node(2)})
        self.end = Map({node: x for node in Node})
        self.log = Seq([x, 1])
        self.queue = Bag([x, 2])
        self.votes = Set()

    @action
    def moves(self, node: Node) -> None:
        require(len(self.votes) == 0)
        self.members = self.members ^ {node}
        self.end[node] = 1
        self.votes = Set({Vote(epoch=1, to=self.leader)})

    @action
    def asked(self, PARAMETERS) -> None:
        GUARDS
        self.log = self.log[1:]

    @reachable
    def is_enabled(self) -> bool:
        return enabled(self.asked)

    @invariant
    def is_always_enabled(self) -> bool:
        return enabled(self.asked)

    @invariant
    def is_never_enabled(self) -> bool:
        return not enabled(self.asked)
'''

ASKED = {
    "no guard": ("", []),
    "no parameter": ("", ["self.x > 0", "self.leader is not None"]),
    "one conjunction": ("node: Node", ["node in self.members and self.end[node] > self.x"]),
    "a guard behind one that needs a later parameter": (
        "first: Node, second: Node", ["first != second", "first in self.members", "self.x > 0 or self.leader is None"]
    ),
    "a guard of each parameter": (
        "first: Node, second: Node", ["self.end[first] > self.x", "self.end[second] <= self.x"]
    ),
    "drawn from a bag": ("number: Number, node: Node", ["number in self.queue", "number > 1 + self.end[node]"]),
    "drawn from a part that another parameter gives": (
        "index: Annotated[int, Between(0, 2)], number: Number", ["number in self.log[index:]", "number > index"]
    ),
    "drawn from a set of records": ("vote: Vote", ["vote in self.votes", "vote.to == self.leader and vote.epoch > 0"]),
    "an optional value": ("node: Node | None", ["node == self.leader", "node is not None"]),
    "a name used again": ("node: Node", ["any(node in self.members for node in Node)", "node == Node(1)"]),
    "a guard that protects a later one": (
        "node: Node", ["len(self.log) > 0 and node in self.members", "self.log[0] > 0"]
    ),
}


@pytest.mark.parametrize("asked", ASKED)
def test_an_action_is_enabled_where_it_has_a_step(asked: str, tmp_path: Path) -> None:
    """Each engine finds the shortest runs to a state in which it is enabled, and to one in which it is not."""
    parameters, guards = ASKED[asked]
    text = MODEL.replace("self, PARAMETERS", f"self, {parameters}" if parameters else "self")
    text = text.replace("GUARDS", "\n        ".join(f"require({guard})" for guard in guards) or "pass")
    with imported(text, "M", tmp_path) as cls:
        model, properties = cls(), properties_of(cls)
        prop = next(each for each in properties if each.kind == "reachable")
        _, states = plain_search(model, [prop])
        found = {bool(holds(model, prop.function, state)) for state in states}
        assert found == ({True} if asked == "no guard" else {True, False})
        for state in states:
            has_step = any(fire(model, state, step) is not None for step in choices(model, state, "asked"))
            assert holds(model, prop.function, state) == has_step, state
        for each in properties:
            expected, _ = plain_search(model, [each])
            for name, search_states in ENGINES.items():
                assert (name, outcome(search_states, cls(), [each])) == (name, expected)


OF_ANY_LENGTH = """
from typing import Annotated

from floodmark import Between, Capacity, Model, Record, Seq, Set, action, enabled, invariant, require


class Parcel(Record):
    numbers: Seq[Annotated[int, Between(0, 1)]] = ()


class M(Model):
    sent: Annotated[Set[Parcel], Capacity(1)] = Set()
    last: Annotated[int, Between(0, 3)] = 0

    @action
    def sends(self) -> None:
        require(len(self.sent) == 0)
        self.sent = Set({Parcel(numbers=[1, 0, 1][: self.last])})

    @action
    def receives(self, parcel: Parcel) -> None:
        require(parcel in self.sent)
        require(len(parcel.numbers) < 3)
        self.sent.remove(parcel)
        self.last = len(parcel.numbers) + 1

    @invariant
    def receives_what_is_sent(self) -> bool:
        return enabled(self.receives) == any(len(parcel.numbers) < 3 for parcel in self.sent)
"""


def test_a_parameter_that_has_any_length_is_drawn(tmp_path: Path) -> None:
    with imported(OF_ANY_LENGTH, "M", tmp_path) as cls:
        found = agreement(cls(), properties_of(cls), Budget())
        assert (found.verdict, sum(found.levels), found.whole) == ("holds", 8, True)


OF_MANY_VALUES = """
from typing import Annotated

from floodmark import Between, Model, action, enabled, invariant, require


class M(Model):
    last: Annotated[int, Between(0, 1000000)] = 0

    @action
    def takes(self, number: Annotated[int, Between(0, 1000000)]) -> None:
        require(number > self.last)
        self.last = number

    @invariant
    def takes_any(self) -> bool:
        return enabled(self.takes)
"""


def test_a_parameter_of_very_many_values_has_to_be_drawn(tmp_path: Path) -> None:
    with imported(OF_MANY_VALUES, "M", tmp_path) as cls:
        model, (prop,) = cls(), properties_of(cls)
        with pytest.raises(ModelError, match="cannot try every number"):
            holds(model, prop.function, (0,))
