"""A variable that is assigned again takes exactly the values that it would take the first time."""

from __future__ import annotations

import itertools
from typing import Annotated, Any

import pytest

from floodmark import Bag, Between, Capacity, Identifier, Map, Model, Record, Seq, Set
from floodmark.language.errors import ValueOutOfRange
from floodmark.language.values import admit, readmit, running

Digit = Annotated[int, Between(0, 2)]


class Peer(Identifier, count=2, prefix="p"):
    """A peer."""


class Vote(Record):
    epoch: Digit
    to: Peer | None = None


class Holder(Model):
    """A variable of each kind."""

    digits: Annotated[Seq[Digit], Capacity(2)] = Seq()
    votes: Annotated[Seq[Vote | None], Capacity(2)] = Seq()
    bag: Annotated[Bag[Digit], Capacity(2)] = Bag()
    ends: Map[Peer, Digit | None]
    logs: Map[Peer, Annotated[Seq[Digit], Capacity(2)]]
    peers: Set[Peer] = Set()
    vote: Vote | None = None


def _assigned() -> dict[str, list[Any]]:
    """Values that somebody may try to assign to each variable, some of which it does not take."""
    one, two = Peer(1), Peer(2)
    votes = [Vote(epoch=0), Vote(epoch=1, to=one)]
    items: list[Any] = [0, 2, 3, None, True]
    sequences = [Seq(each) for size in range(4) for each in itertools.product(items, repeat=size)]
    return {
        "digits": sequences,
        "votes": [Seq(each) for size in range(3) for each in itertools.product([*votes, None, 1], repeat=size)],
        "bag": [Bag(each) for size in range(4) for each in itertools.combinations_with_replacement(items[:3], size)]
        + [Set({0}), 1],
        "ends": [Map({one: a, two: b}) for a in items for b in items] + [Map({one: 0})],
        "logs": [Map({one: a, two: b}) for a in sequences[:31] for b in (Seq(), Seq([0]), Seq([None]))],
        "peers": [Set(), Set({one}), Set({one, two}), Set({0})],
        "vote": [None, *votes, 1, votes[0].replace(to=two)],
    }


@pytest.mark.parametrize("name", _assigned())
def test_a_value_is_admitted_whatever_the_variable_holds(name: str) -> None:
    model = Holder()
    kind, values = model.variable_types[name], _assigned()[name]
    with running(model):
        first = [_tried(admit, kind, value) for value in values]
        held = [value for value in first if not isinstance(value, ValueOutOfRange) and value is not None]
        assert any(isinstance(value, ValueOutOfRange) for value in first)
        for before, (value, wanted) in itertools.product(held, zip(values, first, strict=True)):
            again = _tried(readmit, kind, value, before)
            assert repr(again) == repr(wanted), (before, value)


def _tried(how: Any, kind: Any, value: Any, *held: Any) -> Any:
    try:
        return how(kind, value, "it", *held)
    except ValueOutOfRange as error:
        return error
