"""Loops with several variables: ``enumerate``, ``zip`` and ``items`` do in every engine what they do in CPython."""

from __future__ import annotations

from typing import Annotated

import pytest

from floodmark import (
    Between,
    Capacity,
    Constant,
    Identifier,
    Map,
    Model,
    ModelError,
    Seq,
    Set,
    action,
    initial,
    invariant,
    require,
)
from floodmark.checkers.native.search import search_states
from floodmark.checkers.search_result import Options
from tests.support.agreement import assert_agrees
from tests.support.symbolic_agreement import assert_steps_agree

Small = Annotated[int, Between(0, 3)]


class Node(Identifier, count="nodes", prefix="n"):
    """A node."""


class Logs(Model):
    """Two logs, and what loops over them find."""

    nodes = Constant(2)
    log: Map[Node, Annotated[Seq[Small], Capacity(2)]]
    found: Map[Node, Small]
    sum: Annotated[int, Between(0, 20)] = 0

    @initial
    def start(self) -> None:
        self.log = Map({node: Seq() for node in Node})
        self.found = Map({node: 0 for node in Node})

    @action
    def appends(self, node: Node, epoch: Annotated[int, Between(0, 1)]) -> None:
        require(len(self.log[node]) < 2)
        self.log[node].append(epoch)

    @action
    def counts(self, node: Node, other: Node) -> None:
        require(node != other)
        self.sum = sum(index * epoch for index, epoch in enumerate(self.log[node], 1))
        for index, epoch in enumerate(self.log[node]):
            if epoch == 1:
                self.found[node] = index
                break
        for one, two in zip(self.log[node], self.log[other], strict=False):
            if one != two:
                self.found[other] = one + two

    @action
    def shifts(self) -> None:
        for node, log in self.log.items():
            self.log = Map({other: Seq() for other in Node})  # the loop goes on over what was there
            self.found[node] = len(log)

    def common(self, one: Seq[Small], two: Seq[Small]) -> int:
        return sum(1 for a, b in zip(one, two, strict=False) if a == b)

    @invariant
    def no_more_than_there_are(self) -> bool:
        return all(self.common(self.log[a], self.log[b]) <= 2 for a in Node for b in Node)

    @invariant
    def each_in_its_place(self) -> bool:
        return all(log[index] == epoch for log in self.log.values() for index, epoch in enumerate(log))

    @invariant
    def each_of_a_map(self) -> bool:
        return Set(node for node, found in self.found.items() if found > 0) == Set(
            node for node in Node if self.found[node] > 0)


@pytest.mark.slow
def test_every_engine_sees_the_same() -> None:
    assert not assert_agrees(Logs, workers=(1,)).violations


def test_z3_takes_the_same_steps() -> None:
    assert_steps_agree(Logs(), 6)


class Ranked(Model):
    """The number of a node shows."""

    nodes = Constant(2)
    best: Node | None = None

    @action
    def elects(self) -> None:
        for rank, node in enumerate(Node):
            if rank == 1:
                self.best = node


def test_a_number_given_to_identifiers_is_no_symmetry() -> None:
    with pytest.raises(ModelError, match="the model is not symmetric"):
        search_states(Ranked(), [], Options(workers=1, symmetry=True))
    assert search_states(Ranked(), [], Options(workers=1)).distinct == 2
