"""Draws models that are about identifiers, as source: sets of them, maps from them, messages that mention them."""

from __future__ import annotations

import random

HEADER = '''\
from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import (
    Between, Capacity, Constant, Identifier, Map, Model, Record, Set, action, implies, initial, invariant, require,
)


class Node(Identifier, count="nodes", prefix="n"):
    """One of them."""


class Colour(Enum):
    """A few."""

    RED = 0
    BLUE = 1


class Note(Record):
    """A message."""

    node: Node
    group: Set[Node]
    number: Annotated[int, Between(0, 3)]


class Drawn(Model):
    """A model of any number of nodes."""

    nodes = Constant(2)
    a: Set[Node]
    b: Set[Node]
    leader: Node | None
    number: Annotated[int, Between(0, 3)]
    levels: Map[Node, Annotated[int, Between(0, 3)]]
    views: Map[Node, Set[Node]]
    colours: Map[Node, Colour]
    groups: Set[Set[Node]]
    notes: Annotated[Set[Note], Capacity(2)]
    seen: Set[Node] = Set()

    @initial
    def start(self) -> None:
        self.a = Set()
        self.b = Set(node for node in Node)
        self.leader = None
        self.number = 1
        self.levels = Map({node: 1 for node in Node})
        self.views = Map({node: Set({node}) for node in Node})
        self.colours = Map({node: Colour.RED for node in Node})
        self.groups = Set({Set()})
        self.notes = Set()
'''


class Drawing:
    """Draws one model."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = 0

    def model(self) -> str:
        """The source of a model called Drawn."""
        text = HEADER
        for number in range(3):
            text += f"\n    @action\n    def step{number}(self, node: Node, group: Set[Node]) -> None:\n"
            text += f"        require({self.truth(2, ['node'], ['group'])})\n"
            for _ in range(self.random.randint(1, 2)):
                text += self.statement(["node"], ["group"])
        for number in range(3):
            text += f"\n    @invariant\n    def law{number}(self) -> bool:\n        return {self.truth(3, [], [])}\n"
        return text

    def fresh(self) -> str:
        self.names += 1
        return f"x{self.names}"

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def statement(self, nodes: list[str], groups: list[str]) -> str:
        set_of, number = self.group(2, nodes, groups), self.number(2, nodes, groups)
        node = self.node(nodes)
        kept = f"min(3, max(0, {number}))"
        changed = self.pick("a", "b", "seen")
        note = f"Note(node={node}, group={set_of}, number={kept})"
        x = self.fresh()
        options = [
            f"self.{changed} = {set_of}",
            f"self.{changed}.add({node})",
            f"self.{changed}.discard({node})",
            f"self.leader = {self.pick('None', node)}",
            f"self.number = {kept}",
            f"self.levels[{node}] = {kept}",
            f"self.views[{node}] = {set_of}",
            f"self.views[{node}].add({self.node(nodes)})",
            f"self.colours[{node}] = {self.pick('Colour.RED', 'Colour.BLUE')}",
            f"self.groups.add({set_of})",
            f"self.groups.discard({set_of})",
            f"if len(self.notes) < 2:\n            self.notes.add({note})",
            f"self.notes.discard({note})",
            f"self.levels = Map({{{x}: min(3, max(0, {self.number(1, [*nodes, x], groups)})) for {x} in Node}})",
            f"self.views = Map({{{x}: {self.group(1, [*nodes, x], groups)} for {x} in Node}})",
            f"gathered = {set_of}\n        for {x} in self.{self.pick('a', 'b')}:\n"
            f"            if {self.truth(1, [*nodes, x], groups)}:\n"
            f"                gathered = gathered | {self.group(1, [*nodes, x], groups)}\n"
            f"        self.{changed} = gathered",
        ]
        lines = self.random.choice(options)
        if self.random.random() < 0.3:
            indented = lines.replace("\n", "\n    ")
            return f"        if {self.truth(1, nodes, groups)}:\n            {indented}\n"
        return f"        {lines}\n"

    def node(self, nodes: list[str]) -> str:
        return self.pick(*nodes, "Node(1)") if nodes else "Node(1)"

    def group(self, depth: int, nodes: list[str], groups: list[str]) -> str:
        """An expression for a set of nodes."""
        simple = ["self.a", "self.b", "self.seen", f"self.views[{self.node(nodes)}]", f"Set({{{self.node(nodes)}}})"]
        if depth == 0:
            return self.pick(*simple, *groups)
        one, other = (self.group(depth - 1, nodes, groups) for _ in range(2))
        x = self.fresh()
        chosen = self.truth(depth - 1, [*nodes, x], groups)
        return self.pick(
            *simple,
            *groups,
            f"({one} {self.pick('|', '&', '-', '^')} {other})",
            f"Set({x} for {x} in {self.pick('Node', one)} if {chosen})",
            f"({one} if {self.truth(depth - 1, nodes, groups)} else {other})",
        )

    def number(self, depth: int, nodes: list[str], groups: list[str]) -> str:
        """An expression for an integer."""
        simple = ["self.number", f"self.levels[{self.node(nodes)}]", self.pick("0", "1", "2")]
        if depth == 0:
            return self.pick(*simple)
        group = self.group(depth - 1, nodes, groups)
        x = self.fresh()
        inner = self.number(depth - 1, [*nodes, x], groups)
        truth = self.truth(depth - 1, [*nodes, x], groups)
        return self.pick(
            *simple,
            f"len({group})",
            f"({self.number(depth - 1, nodes, groups)} {self.pick('+', '-')} {self.number(0, nodes, groups)})",
            f"{self.pick('min', 'max')}(({inner} for {x} in {self.pick('Node', group)} if {truth}), default=1)",
            f"sum(1 for {x} in {self.pick('Node', group)} if {truth})",
            f"max((note.number for note in self.notes), default={self.pick('0', '1')})",
        )

    def truth(self, depth: int, nodes: list[str], groups: list[str]) -> str:
        """An expression for a truth value."""
        node = self.node(nodes)
        simple = [
            f"{node} in {self.group(0, nodes, groups)}",
            f"{node} == {self.node(nodes)}",
            f"self.leader == {node}",
            "self.leader is None",
            f"self.colours[{node}] == Colour.RED",
            f"{self.group(0, nodes, groups)} in self.groups",
        ]
        if depth == 0:
            return self.pick(*simple)
        one, other = (self.truth(depth - 1, nodes, groups) for _ in range(2))
        group, more = (self.group(depth - 1, nodes, groups) for _ in range(2))
        x = self.fresh()
        inner = self.truth(depth - 1, [*nodes, x], groups)
        about_group = self.truth(depth - 1, nodes, [*groups, x])
        return self.pick(
            *simple,
            f"not ({one})",
            f"(({one}) {self.pick('and', 'or')} ({other}))",
            f"implies({one}, {other})",
            f"{self.pick('any', 'all')}({inner} for {x} in {self.pick('Node', group)})",
            f"{self.pick('any', 'all')}({about_group} for {x} in self.groups)",
            f"{self.pick('any', 'all')}({x}.node in {group} or {x}.group <= {more} for {x} in self.notes)",
            f"{group} {self.pick('==', '!=', '<=', '<')} {more}",
            f"len({group}) {self.pick('<', '<=', '==', '>=', '>')} {self.pick('0', '1', '2', 'self.nodes')}",
            f"2 * len({group}) > self.nodes",
            f"{self.number(depth - 1, nodes, groups)} {self.pick('<', '<=', '==')} "
            f"{self.number(depth - 1, nodes, groups)}",
        )
