"""Conditions that keep out what would fail: what the compiler takes for granted of them is true in CPython."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from floodmark.compiler.program import read_predicate
from floodmark.language.errors import ModelError, SourceError
from floodmark.language.model import Model
from floodmark.language.reference import holds
from floodmark.language.universe import universe
from floodmark.language.values import Set, running
from tests.support.engines import imported, properties_of
from tests.support.level_agreement import Budget, agreement

MODEL = '''
from typing import Annotated

from floodmark import Between, Constant, Identifier, Map, Model, Record, Set, action, initial, invariant

Small = Annotated[int, Between(0, 1)]


class Node(Identifier, count="nodes", prefix="n"):
    """A node."""


class Ask(Record):
    at: Node | None
    term: Small
    by: Node | None


class Beat(Record):
    at: Node | None
    term: Small
    index: Small


class Ping(Record):
    at: Node | None
    index: Small


class Mailbox(Model):
    nodes = Constant(2)
    messages: Set[Ask | Beat | Ping]
    leader: Node | None
    end: Map[Node, Small]

    @initial
    def start(self, leader: Node | None):
        self.messages = Set()
        self.leader = leader
        self.end = Map({n: 0 for n in Node})

    @action
    def sends(self, message: Ask | Beat | Ping):
        self.messages = Set({message})

    @action
    def appends(self, node: Node):
        self.end[node] = 1

    def is_old(self, m) -> bool:
        if not isinstance(m, Ask | Beat):
            return True
        return m.term == 0

    def at_end(self, m) -> bool:
        node = m.by
        if node is None:
            return False
        return self.end[node] > 0

    def forgets(self, m) -> bool:
        node = m.by
        if node is None:
            return False
        node = self.leader
        return self.end[node] > 0

    def goes_on(self, m) -> bool:
        least = 0
        if m.by is None:
            least = 1
        return self.end[m.by] > least

    def asserts(self, m) -> bool:
        assert isinstance(m, Ask)
        return self.leader is None
'''
TESTS = (
    "isinstance(m, Ask)", "isinstance(m, Ask | Beat)", "not isinstance(m, Ping)", "m.term > 0", "m.by is not None",
    "self.end[m.by] > 0", "self.leader is not None", "self.end[self.leader] > 0", "self.is_old(m)", "self.at_end(m)",
    "self.forgets(m)", "self.goes_on(m)", "self.asserts(m)",
)
SHAPES: tuple[str, ...] = (
    "any({0} and {1} for m in {{x for x in self.messages}})",
    "all({0} or {1} for m in {{x for x in self.messages}})",
    "all(not ({0}) or {1} for m in {{x for x in self.messages}})",
    "any({1} for m in {{x for x in self.messages}} if {0})",
    "any({1} if {0} else True for m in {{x for x in self.messages}})",
    "any(True if {0} else {1} for m in {{x for x in self.messages}})",
    "any(not ({0} or {1}) for m in {{x for x in self.messages}})",
)
TRIPLES = (
    "any({0} and {1} and {2} for m in {{x for x in self.messages}})",
    "any(({0} or {1}) and {2} for m in {{x for x in self.messages}})",
    "any({2} for m in {{x for x in self.messages}} if {0} if not ({1}))",
    "any(any({1} for n in {{m}} if {2}) for m in {{x for x in self.messages}} if {0})",
)


def _laws(bodies: list[str]) -> str:
    """The model with an invariant for each body."""
    laws = (f"@invariant\ndef law{number}(self) -> bool:\n    return {body}\n" for number, body in enumerate(bodies))
    return MODEL + indent("\n".join(laws), "    ")


def _accepted(model: Model, bodies: list[str]) -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """The invariants that the compiler accepts, with their names and texts."""
    for number, body in enumerate(bodies):
        name = f"law{number}"
        with suppress(ModelError):
            read_predicate(model, name, getattr(type(model), name), "invariant")
            yield name, body, getattr(type(model), name)


def _states(model: Model) -> list[tuple[Any, ...]]:
    """Every state with a single message."""
    kinds = model.variable_types
    with running(model):
        messages = [Set({message}) for message in universe(kinds["messages"].element)]  # type: ignore[attr-defined]
        return list(product(messages, universe(kinds["leader"]), universe(kinds["end"])))


def _assert_none_fails(bodies: list[str], directory: Path) -> int:
    with imported(_laws(bodies), "Mailbox", directory) as cls:
        model = cls()
        states, count = _states(model), 0
        for _, body, function in _accepted(model, bodies):
            count += 1
            for state in states:
                try:
                    holds(model, function, state)
                except SourceError as error:
                    pytest.fail(f"{body} fails in {state}: {error.message}")
        return count


def test_what_is_accepted_over_a_set_without_an_order_fails_for_no_element(tmp_path: Path) -> None:
    bodies = [shape.format(*tests) for shape in SHAPES for tests in product(TESTS, repeat=2)]
    assert 150 < _assert_none_fails(bodies, tmp_path) < len(bodies) // 2


@pytest.mark.slow
@pytest.mark.parametrize("shape", TRIPLES)
def test_three_conditions_keep_out_what_fails(shape: str, tmp_path: Path) -> None:
    assert _assert_none_fails([shape.format(*tests) for tests in product(TESTS, repeat=3)], tmp_path) > 100


@pytest.mark.parametrize("body", [
    "any(m.term > 0 for m in {x for x in self.messages} if isinstance(m, Ask | Beat))",
    "all(m.index > 0 for m in {x for x in self.messages} if not isinstance(m, Ask))",
    "any(self.end[m.by] > 0 for m in {x for x in self.messages} if isinstance(m, Ask) and m.by is not None)",
    "all(self.leader is None or self.end[self.leader] > 0 for m in {x for x in self.messages})",
    "any(self.at_end(m) for m in {x for x in self.messages} if isinstance(m, Ask))",
    "any(isinstance(m, Ask) and self.asserts(m) for m in {x for x in self.messages})",
    "any(not self.is_old(m) for m in {x for x in self.messages})",
    "any(n.term > m.term for m in {x for x in self.messages} if isinstance(m, Beat)"
    " for n in {y for y in self.messages} if isinstance(n, Ask))",
])
def test_a_condition_keeps_out_what_fails(body: str, tmp_path: Path) -> None:
    with imported(_laws([body]), "Mailbox", tmp_path) as cls:
        model = cls()
        assert [*_accepted(model, [body])]
        agreement(model, properties_of(cls), Budget())


@pytest.mark.parametrize("body", [
    "any(m.term > 0 for m in {x for x in self.messages} if isinstance(m, Ask) or self.leader is None)",
    "any(m.term > 0 for m in {x for x in self.messages} if isinstance(m, Beat | Ping))",
    "any(m.term > 0 and isinstance(m, Ask) for m in {x for x in self.messages})",
    "any(self.end[m.by] > 0 for m in {x for x in self.messages} if isinstance(m, Ask))",
    "any(self.end[m.by] > 0 for m in {x for x in self.messages} if isinstance(m, Ask) and m.by is None)",
    "any(n.term > 0 for m in {x for x in self.messages} if isinstance(m, Ask) for n in {y for y in self.messages})",
    "any(m.term > 0 for m in {x for x in self.messages} for n in {y for y in self.messages}"
    " if isinstance(m, Ask) or isinstance(n, Ask))",
    "any(m.index > 0 for m in {x for x in self.messages} if not (isinstance(m, Ask) and self.leader is None))",
    "any(self.end[m.at] > 0 for m in {x for x in self.messages} if isinstance(m, Ask))",
    "any(self.asserts(m) for m in {x for x in self.messages} if isinstance(m, Ask | Beat))",
    "any(self.forgets(m) for m in {x for x in self.messages} if isinstance(m, Ask))",
    "any(self.goes_on(m) for m in {x for x in self.messages} if isinstance(m, Ask))",
])
def test_a_condition_about_something_else_keeps_out_nothing(body: str, tmp_path: Path) -> None:
    with imported(_laws([body]), "Mailbox", tmp_path) as cls:
        assert not [*_accepted(cls(), [body])]
