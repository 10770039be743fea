"""Each choice of a property's parameters is judged by itself, also where several of them print alike."""

from __future__ import annotations

from typing import Annotated

import pytest

from floodmark import Between, Identifier, Model, Record, Set, action, eventually, fair, leads_to, refines, require
from floodmark.checkers.project.mapped_properties import mapped_properties
from floodmark.checkers.project.properties import collect
from tests.support.engines import ENGINES


class Node(Identifier, count=2, prefix="n"):
    """A node; all print alike."""

    def __repr__(self) -> str:
        return "node"


class Message(Record):
    """A message; what it prints as leaves out whether it is lost."""

    lost: bool
    to: Annotated[int, Between(0, 1)]

    def __str__(self) -> str:
        return f"message to {self.to}"


class OneStarts(Model):
    """The first node never starts, and the second one does."""

    up: Set[Node] = Set()

    @fair
    @action
    def starts(self, node: Node) -> None:
        require(node == Node(2))
        self.up.add(node)

    @eventually
    def is_up(self, node: Node) -> bool:
        return node in self.up


class Network(Model):
    """Every message is received."""

    sent: Set[Message] = Set()

    @action
    def sends(self, message: Message) -> None:
        require(message not in self.sent)
        self.sent.add(message)

    @fair(each="message")
    @action
    def receives(self, message: Message) -> None:
        require(message in self.sent and self.arrives(message))
        self.sent.discard(message)

    def arrives(self, message: Message) -> bool:
        return True


class Loses(Network):
    """Lost messages are not received."""

    def arrives(self, message: Message) -> bool:
        return not message.lost

    @leads_to
    def is_received(self, message: Message) -> tuple[bool, bool]:
        return message in self.sent, message not in self.sent

    @refines
    def as_network(self) -> Network:
        return Network(sent=self.sent)


@pytest.mark.parametrize("engine", ENGINES)
def test_each_identifier_is_judged(engine: str) -> None:
    found = ENGINES[engine](OneStarts(), list(collect(OneStarts, []).values()))
    assert [finding.verdict for finding in found.liveness] == ["violated", "holds"]


@pytest.mark.parametrize("engine", ENGINES)
def test_each_step_of_a_refined_model_is_judged(engine: str) -> None:
    of_runs = mapped_properties(collect(Loses, [])["as_network"], collect(Network, []).values())
    found = ENGINES[engine](Loses(), of_runs)
    assert {(finding.arguments["message"].lost, finding.verdict) for finding in found.liveness} == {
        (True, "violated"), (False, "holds"),
    }  # fmt: skip


def test_each_record_is_judged() -> None:
    """Compiled code takes no records as parameters of such properties, CPython does."""
    found = ENGINES["reference"](Loses(), [collect(Loses, [])["is_received"]])
    assert {(finding.arguments["message"].lost, finding.verdict) for finding in found.liveness} == {
        (True, "violated"), (False, "holds"),
    }  # fmt: skip
