"""Tests proofs for any number of identifiers: what fails at some number is never proved, and whatever CPython does at
some number is possible in the terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from floodmark.checkers.symbolic.any_size.unbounded_constants import any_size_constants
from floodmark.checkers.symbolic.attempts.any_size import counting_constants
from floodmark.checkers.symbolic.methods.induction import induction
from floodmark.checkers.symbolic.methods.task import ProofTask
from floodmark.checkers.symbolic.prove import prove_check
from floodmark.checkers.symbolic.tactics.relevant_lemmas import LATER, NeededHypotheses
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.language.errors import ModelError, SourceError
from floodmark.language.reference import initial_states, successors
from tests.support.any_size_agreement import disagreements, proved_but_refuted
from tests.support.any_size_models import Drawing
from tests.support.any_size_protocols import check_of
from tests.support.engines import imported, properties_of

SPECS = Path(__file__).resolve().parents[2] / "specs"
HEADER = """\
from __future__ import annotations

from typing import Annotated

from floodmark import (
    Bag, Between, Capacity, Constant, Identifier, Map, Model, Set, action, implies, initial, invariant, require,
)


class Node(Identifier, count="nodes", prefix="n"):
    \"\"\"One of any number.\"\"\"


class Drawn(Model):
    nodes = Constant(2)
    steps = Constant(2)
"""


def proof_of(body: str, directory: Path) -> tuple[str, list[str]]:
    """The outcome of an induction for any number of nodes, and what was not proved."""
    with imported(HEADER + body, "Drawn", directory) as cls:
        model, properties = cls(), properties_of(cls)
        names, _ = any_size_constants(model)
        proof = induction(system_of(model, properties, names, any_size=True), properties)
        return proof.outcome, [f"{it.action}: {it.property}" for it in proof.failing()]


# What can be said.

HOLDS = {
    "a set that only grows": """
    members: Set[Node] = Set()

    @action
    def join(self, node: Node) -> None:
        self.members.add(node)

    @invariant
    def law(self) -> bool:
        return len(self.members) <= self.nodes
""",
    "a pair is two elements": """
    members: Set[Node] = Set()

    @action
    def join(self, node: Node, other: Node) -> None:
        require(node != other)
        self.members = Set({node, other})

    @invariant
    def law(self) -> bool:
        return len(self.members) != 1 and len(self.members) <= 2 and (len(self.members) == 2 or len(self.members) < 1)
""",
    "two majorities meet": """
    first: Set[Node] = Set()
    second: Set[Node] = Set()
    decided: bool = False

    @action
    def decide(self, one: Set[Node], other: Set[Node]) -> None:
        require(len(one) > self.nodes // 2 and 2 * len(other) > self.nodes)
        self.first = one
        self.second = other
        self.decided = True

    @invariant
    def law(self) -> bool:
        return implies(self.decided, any(node in self.second for node in self.first))
""",
    "the middle of a sorted list": """
    level: Map[Node, Annotated[int, Between(0, 9)]]
    reached: Annotated[int, Between(0, 9)] = 0
    least: Annotated[int, Between(0, 9)] = 0

    @initial
    def start(self) -> None:
        self.level = Map({node: 0 for node in Node})

    @action
    def rise(self, node: Node) -> None:
        require(self.level[node] < 9)
        self.level[node] += 1

    @action
    def look(self) -> None:
        ranked = sorted((self.level[node] for node in Node), reverse=True)
        self.reached = max(self.reached, ranked[self.nodes // 2])
        self.least = sorted(self.level[node] for node in Node)[0]

    @invariant
    def law(self) -> bool:
        return 2 * sum(1 for node in Node if self.level[node] >= self.reached) > self.nodes

    @invariant
    def lowest(self) -> bool:
        return all(self.level[node] >= self.least for node in Node)
""",
    "the least of a map": """
    level: Map[Node, Annotated[int, Between(0, 9)]]

    @initial
    def start(self) -> None:
        self.level = Map({node: 3 for node in Node})

    @action
    def sink(self, node: Node) -> None:
        require(self.level[node] > min(self.level[other] for other in Node))
        self.level[node] -= 1

    @invariant
    def law(self) -> bool:
        return max(self.level[node] for node in Node) == 3 and all(self.level[node] >= 3 for node in Node)
""",
    "sets of sets, and a loop that adds": """
    groups: Set[Set[Node]] = Set()
    everyone: Set[Node] = Set()

    @action
    def form(self, group: Set[Node]) -> None:
        self.groups.add(group)
        reached = self.everyone
        for each in self.groups:
            reached = reached | each
        self.everyone = reached

    @invariant
    def law(self) -> bool:
        return all(group <= self.everyone for group in self.groups)
""",
}


HOLDS |= {
    "a loop that keeps the best": """
    level: Map[Node, Annotated[int, Between(0, 9)]]
    top: Node | None = None

    @initial
    def start(self) -> None:
        self.level = Map({node: 3 for node in Node})

    @action
    def rise(self, node: Node) -> None:
        require(self.level[node] < 9)
        self.level[node] += 1
        self.top = None

    @action
    def choose(self) -> None:
        most = -1
        found = self.top
        for node in Node:
            level = self.level[node]
            if level < 9 and level > most:
                most = level
                found = node
        self.top = found

    @invariant
    def law(self) -> bool:
        return self.top is None or all(
            self.level[node] <= self.level[self.top] or self.level[node] == 9 for node in Node
        )
""",
    "a map with any number of steps": """
    taken: Map[Annotated[int, Between(0, "steps")], Node | None]
    now: Annotated[int, Between(0, "steps")] = 0

    @initial
    def start(self) -> None:
        self.taken = Map({step: None for step in range(self.steps + 1)})

    @action
    def go(self, node: Node) -> None:
        require(self.now < self.steps)
        self.now += 1
        self.taken[self.now] = node

    @invariant
    def law(self) -> bool:
        return all(implies(self.taken[step] is not None, 0 < step <= self.now) for step in range(self.steps + 1))
""",
}


HOLDS |= {
    "a number that is known, in a map that begins with another value there": """
    taken: Map[Annotated[int, Between(0, "steps")], Node | None]
    first: Node | None = None

    @initial
    def start(self, node: Node) -> None:
        require(self.steps >= 1)
        self.taken = Map({step: node if step == 1 else None for step in range(self.steps + 1)})
        self.first = self.taken[1]

    @action
    def go(self, step: Annotated[int, Between(0, "steps")], node: Node) -> None:
        require(self.taken[step] is None)
        self.taken[step] = node

    @invariant
    def law(self) -> bool:
        return self.first is not None and self.taken[1] == self.first
""",
    "a set of few possible elements": """
    level: Map[Node, Annotated[int, Between(0, 2)]]
    seen: Set[Annotated[int, Between(0, 2)]] = Set()

    @initial
    def start(self) -> None:
        self.level = Map({node: 0 for node in Node})

    @action
    def rise(self, node: Node) -> None:
        require(self.level[node] < 2)
        self.level[node] += 1

    @action
    def look(self) -> None:
        self.seen = self.seen | Set(self.level[node] for node in Node)

    @invariant
    def law(self) -> bool:
        return len(Set(self.level[node] for node in Node)) <= 3 and all(
            self.level[node] in Set(self.level[other] for other in Node) for node in Node
        )
""",
    "a loop that adds from the left": """
    members: Set[Node] = Set()
    everyone: bool = False

    @action
    def join(self) -> None:
        found = self.members
        for node in Node:
            found = {node} | found
        self.members = found
        self.everyone = True

    @invariant
    def law(self) -> bool:
        return implies(self.everyone, all(node in self.members for node in Node))
""",
    "what one of two elements lets in": """
    members: Set[Node] = Set()
    group: Set[Node] = Set()
    gathered: bool = False

    @action
    def join(self, node: Node) -> None:
        require(not self.gathered)
        self.members = self.members | {node}

    @action
    def gather(self) -> None:
        self.group = {node for node in Node for other in Node if node in self.members and other in self.members}
        self.gathered = True

    @invariant
    def law(self) -> bool:
        return implies(self.gathered, self.members <= self.group)
""",
    "sets in a bag, which is in the order of its elements": """
    held: Annotated[Bag[Set[Annotated[int, Between(0, "steps")]]], Capacity(2)] = Bag()
    one: Set[Annotated[int, Between(0, "steps")]] = Set()

    @action
    def grow(self, step: Annotated[int, Between(0, "steps")]) -> None:
        self.one = self.one | {step}

    @action
    def hold(self) -> None:
        require(len(self.held) < 2)
        self.held.add(self.one)

    @invariant
    def law(self) -> bool:
        return all(group <= self.one for group in self.held)
""",
    "what a loop keeps need have no value before": """
    level: Map[Node, Annotated[int, Between(0, 9)]]
    most: Annotated[int, Between(0, 9)] = 0

    @initial
    def start(self) -> None:
        self.level = Map({node: 3 for node in Node})

    @action
    def look(self) -> None:
        most = 0
        for node in Node:
            if self.level[node] > most:
                most = self.level[node]
                found = node
        self.most = most

    @invariant
    def law(self) -> bool:
        return self.most in {0, 3} and all(self.level[node] == 3 for node in Node)
""",
}


@pytest.mark.parametrize("name", HOLDS)
def test_what_holds_for_every_number_is_proved(name: str, tmp_path: Path) -> None:
    assert proof_of(HOLDS[name], tmp_path) == ("proved", [])


# What holds for some numbers only, or for infinitely many identifiers only.

FAILS = {
    "what is added may be none": ("gather: declared types", """
    members: Set[Node] = Set()
    more: Set[Node] | None = None

    @action
    def know(self, node: Node) -> None:
        self.more = {node}

    @action
    def gather(self) -> None:
        found = self.members
        for node in Node:
            found = found | self.more
        self.members = found

    @invariant
    def law(self) -> bool:
        return len(self.members) <= self.nodes
"""),
    "the middle of a part": ("look: law", """
    level: Map[Node, Annotated[int, Between(0, 9)]]
    reached: Annotated[int, Between(0, 9)] = 0

    @initial
    def start(self) -> None:
        self.level = Map({node: 0 for node in Node})

    @action
    def rise(self, node: Node) -> None:
        require(self.level[node] < 9)
        self.level[node] += 1

    @action
    def look(self) -> None:
        risen = sum(1 for node in Node if self.level[node] > 0)
        require(risen > 0)
        ranked = sorted((self.level[node] for node in Node if self.level[node] > 0), reverse=True)
        self.reached = ranked[risen // 2]

    @invariant
    def law(self) -> bool:
        return 2 * sum(1 for node in Node if self.level[node] >= self.reached) > self.nodes
"""),
    "one node is everyone": ("join: law", """
    members: Set[Node] = Set()

    @action
    def join(self, node: Node) -> None:
        self.members.add(node)

    @invariant
    def law(self) -> bool:
        return len(self.members) < 3
"""),
    "half is no majority": ("decide: law", """
    first: Set[Node] = Set()
    second: Set[Node] = Set()
    decided: bool = False

    @action
    def decide(self, one: Set[Node], other: Set[Node]) -> None:
        require(2 * len(one) >= self.nodes and 2 * len(other) >= self.nodes)
        self.first = one
        self.second = other
        self.decided = True

    @invariant
    def law(self) -> bool:
        return implies(self.decided, any(node in self.second for node in self.first))
"""),
    "the others may lag": ("rise: law", """
    level: Map[Node, Annotated[int, Between(0, 9)]]

    @initial
    def start(self) -> None:
        self.level = Map({node: 3 for node in Node})

    @action
    def rise(self, node: Node) -> None:
        require(self.level[node] < 9)
        self.level[node] += 1

    @invariant
    def law(self) -> bool:
        return min(self.level[node] for node in Node) == max(self.level[node] for node in Node)
"""),
    "the smallest of nothing": ("ask: declared types", """
    level: Map[Node, Annotated[int, Between(0, 9)]]
    asked: Set[Node] = Set()
    least: Annotated[int, Between(0, 9)] = 0

    @initial
    def start(self) -> None:
        self.level = Map({node: 3 for node in Node})

    @action
    def ask(self) -> None:
        self.least = min(self.level[node] for node in self.asked)

    @invariant
    def law(self) -> bool:
        return True
"""),
    "the smallest of nothing is the default": ("ask: law", """
    level: Map[Node, Annotated[int, Between(0, 9)]]
    asked: Set[Node] = Set()
    least: Annotated[int, Between(0, 9)] = 3

    @initial
    def start(self) -> None:
        self.level = Map({node: 3 for node in Node})

    @action
    def ask(self) -> None:
        self.least = min((self.level[node] for node in self.asked), default=0)

    @invariant
    def law(self) -> bool:
        return self.least == 3 and all(self.level[node] == 3 for node in Node)
"""),
    "a division by zero for one of them": ("share: declared types", """
    level: Map[Node, Annotated[int, Between(0, 9)]]
    large: bool = False

    @initial
    def start(self) -> None:
        self.level = Map({node: 3 for node in Node})

    @action
    def share(self) -> None:
        self.large = any(9 // self.level[node] > 5 for node in Node)

    @invariant
    def law(self) -> bool:
        return True
"""),
    "only with an even number": ("pair: law", """
    odd: bool = False
    members: Set[Node] = Set()

    @action
    def pair(self) -> None:
        self.odd = self.nodes % 2 == 1

    @invariant
    def law(self) -> bool:
        return not self.odd
"""),
}


FAILS |= {
    "a set that depends on two nodes": ("grow: law", """
    groups: Map[Node, Set[Node]]

    @initial
    def start(self) -> None:
        self.groups = Map({node: Set() for node in Node})

    @action
    def grow(self, node: Node, other: Node) -> None:
        self.groups[node].add(other)

    @invariant
    def law(self) -> bool:
        return all(
            2 * len(Set(node for node in self.groups[one] if node in self.groups[other])) == 2 * len(self.groups[one])
            for one in Node
            for other in Node
        )
"""),
    "not the first of the best": ("choose: law", """
    level: Map[Node, Annotated[int, Between(0, 9)]]
    top: Node | None = None
    last: Node | None = None

    @initial
    def start(self) -> None:
        self.level = Map({node: 3 for node in Node})

    @action
    def choose(self) -> None:
        most = -1
        found = self.top
        for node in Node:
            if self.level[node] >= most:
                most = self.level[node]
                found = node
        self.last = self.top
        self.top = found

    @invariant
    def law(self) -> bool:
        return self.top is None or self.top == Node(1)
"""),
    "the best of none": ("choose: law", """
    chosen: Set[Node] = Set()
    level: Map[Node, Annotated[int, Between(0, 9)]]
    most: Annotated[int, Between(-1, 9)] = 0

    @initial
    def start(self) -> None:
        self.level = Map({node: 3 for node in Node})

    @action
    def choose(self) -> None:
        most = -1
        for node in Node:
            if node in self.chosen and self.level[node] > most:
                most = self.level[node]
        self.most = most

    @invariant
    def law(self) -> bool:
        return self.most >= 0
"""),
    "another step": ("go: law", """
    taken: Map[Annotated[int, Between(0, "steps")], bool]
    now: Annotated[int, Between(0, "steps")] = 0

    @initial
    def start(self) -> None:
        self.taken = Map({step: False for step in range(self.steps + 1)})

    @action
    def go(self) -> None:
        require(self.now < self.steps)
        self.taken[self.now] = True
        self.now += 1

    @invariant
    def law(self) -> bool:
        return all(implies(self.taken[step], step == 0) for step in range(self.steps + 1))
"""),
}


FAILS |= {
    "a number that is known, in a map that begins with another value elsewhere": ("initial states: law", """
    taken: Map[Annotated[int, Between(0, "steps")], Node | None]
    first: Node | None = None

    @initial
    def start(self, node: Node) -> None:
        require(self.steps >= 2)
        self.taken = Map({step: node if step == 1 else None for step in range(self.steps + 1)})
        self.first = self.taken[2]

    @action
    def stay(self) -> None:
        require(self.first is not None)

    @invariant
    def law(self) -> bool:
        return self.first is not None
"""),
    "another addition changes a condition in an earlier round": ("go: law", """
    a: Set[Node] = Set()
    b: Set[Node] = Set()
    t: Set[Node] = Set()
    done: bool = False

    @action
    def add(self, x: Node, y: Node) -> None:
        require(not self.done)
        self.a = self.a | {x}
        self.b = self.b | {y}

    @action
    def go(self) -> None:
        require(not self.done)
        s: Set[Node] = Set()
        t: Set[Node] = Set()
        for x in Node:
            if x in self.b:
                if len(s) < 2:
                    t = t | {x}
            if x in self.a:
                s = s | {x}
        self.t = t
        self.done = True

    @invariant
    def law(self) -> bool:
        return not self.done or len(self.b) == 0 or len(self.t) > 0
"""),
    "another addition changes a condition in the same round": ("go: law", """
    t: Set[Node] = Set()
    done: bool = False

    @action
    def go(self) -> None:
        s: Set[Node] = Set()
        t: Set[Node] = Set()
        for x in Node:
            s = s | {x}
            if len(s) < 1:
                t = t | {x}
        self.t = t
        self.done = True

    @invariant
    def law(self) -> bool:
        return not self.done or len(self.t) > 0
"""),
    "the same set grows where the condition is not met": ("go: law", """
    b: Set[Node] = Set()
    t: Set[Node] = Set()
    done: bool = False

    @action
    def add(self, x: Node) -> None:
        require(not self.done)
        self.b = self.b | {x}

    @action
    def go(self) -> None:
        require(not self.done)
        t: Set[Node] = Set()
        for x in Node:
            if len(t) < 1 and x in self.b:
                t = t | {x}
            else:
                t = t | {Node(1)}
        self.t = t
        self.done = True

    @invariant
    def law(self) -> bool:
        return not self.done or len(self.b) == 0 or any(x in self.b for x in self.t)
"""),
    "the order of the slots of a set is not that of its elements": ("gathers: law", """
    sent: Annotated[Set[Node], Capacity(2)] = Set()
    b: Set[Node] = Set()
    added: Node | None = None

    @action
    def gathers(self, old: Node, new: Node) -> None:
        require(self.added is None and len(self.sent) == 0)
        self.sent.add(old)
        self.sent.add(new)
        first: Set[Node] = Set()
        for x in self.sent:
            if len(first) < 1:
                first = first | {x}
        self.b = first
        self.added = new

    @invariant
    def law(self) -> bool:
        return implies(self.added is not None, all(self.added == x for x in self.b))

    @invariant
    def nothing_yet(self) -> bool:
        return implies(self.added is None, len(self.b) == 0 and len(self.sent) == 0)
"""),
}


FAILS |= {
    "two levels are not all": ("look: law", """
    level: Map[Node, Annotated[int, Between(0, 2)]]
    seen: Set[Annotated[int, Between(0, 2)]] = Set()

    @initial
    def start(self) -> None:
        self.level = Map({node: 0 for node in Node})

    @action
    def rise(self, node: Node) -> None:
        require(self.level[node] < 2)
        self.level[node] += 1

    @action
    def look(self) -> None:
        self.seen = Set(self.level[node] for node in Node)

    @invariant
    def law(self) -> bool:
        return len(self.seen) < 3
"""),
}


FAILS |= {
    "each node's best is its own": ("pass_on: law", """
    level: Map[Node, Annotated[int, Between(0, 2)]]

    @initial
    def start(self) -> None:
        self.level = Map({node: 0 for node in Node})

    @action
    def pass_on(self, node: Node, other: Node) -> None:
        require(node != other)
        self.level[node] = 1

    @invariant
    def law(self) -> bool:
        return all(max(self.level[other] for other in Node if other == node) == 0 for node in Node)
"""),
}


SLOW_FAILURES = {"a set that depends on two nodes"}
"""z3 does all that it may before it gives up."""


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[pytest.mark.slow] if name in SLOW_FAILURES else []) for name in FAILS
])
def test_what_fails_at_some_number_is_not_proved(name: str, tmp_path: Path) -> None:
    obligation, body = FAILS[name]
    outcome, failing = proof_of(body, tmp_path)
    assert outcome != "proved"
    assert obligation in failing


# What cannot be said is refused, with its line.

REFUSED = {
    "has a value before the loop": """
    level: Map[Node, Annotated[int, Between(0, 9)]]
    most: Annotated[int, Between(0, 9)] = 0

    @initial
    def start(self) -> None:
        self.level = Map({node: 3 for node in Node})

    @action
    def choose(self) -> None:
        most = 0
        level = 0
        for node in Node:
            level = self.level[node]
            if level > most:
                most = level
        self.most = most + level
""",
    "has to become the number": """
    level: Map[Node, Annotated[int, Between(0, 9)]]
    most: Annotated[int, Between(0, 9)] = 0

    @initial
    def start(self) -> None:
        self.level = Map({node: 3 for node in Node})

    @action
    def choose(self) -> None:
        most = 0
        for node in Node:
            if self.level[node] > most:
                most = self.level[node] - 1
        self.most = most
""",
    "a loop over any number of elements may only add to sets": """
    chosen: Node | None = None

    @action
    def choose(self) -> None:
        last = self.chosen
        for node in Node:
            last = node
        self.chosen = last
""",
    "any number of elements may only add to sets": """
    chosen: Set[Node] = Set()
    asked: bool = False

    def asks(self) -> bool:
        self.asked = not self.asked
        return self.asked

    @action
    def choose(self) -> None:
        found: Set[Node] = Set()
        for node in Node:
            if self.asks():
                found = found | {node}
        self.chosen = found
""",
    "over any number of elements may only add to sets": """
    chosen: Set[Node] = Set()
    limit: Annotated[int, Between(0, 1)] | None = None

    @action
    def choose(self) -> None:
        found: Set[Node] = Set()
        for node in Node:
            if node in found and self.limit > 0:
                found = found | {node}
        self.chosen = found
""",
    "this list may have any length": """
    leader: Map[Node, Node]
    first: Node | None = None

    @initial
    def start(self) -> None:
        self.leader = Map({node: node for node in Node})

    @action
    def choose(self) -> None:
        self.first = [self.leader[node] for node in Node][0]
""",
    "how often something occurs in a list of any length": """
    leader: Map[Node, Node]
    few: bool = False

    @initial
    def start(self) -> None:
        self.leader = Map({node: node for node in Node})

    @action
    def look(self) -> None:
        self.few = len([self.leader[node] for node in Node]) < 3
""",
    "lists of any length cannot be compared": """
    level: Map[Node, Annotated[int, Between(0, 9)]]
    group: Set[Node] = Set()

    @initial
    def start(self) -> None:
        self.level = Map({node: 3 for node in Node})

    @action
    def compare(self) -> None:
        require([self.level[node] for node in self.group] == [self.level[node] for node in Node])
        self.group = Set()
""",
    "cannot depend on a condition": """
    level: Map[Node, Annotated[int, Between(0, 9)]]
    group: Set[Node] = Set()

    @initial
    def start(self) -> None:
        self.level = Map({node: 3 for node in Node})

    @action
    def choose(self) -> None:
        held = [self.level[node] for node in self.group]
        if 3 in held:
            held = [self.level[node] for node in Node]
        require(3 in held)
        self.group = Set()
""",
    "a sum over any number of elements": """
    level: Map[Node, Annotated[int, Between(0, 9)]]
    total: Annotated[int, Between(0, 99)] = 0

    @initial
    def start(self) -> None:
        self.level = Map({node: 3 for node in Node})

    @action
    def add(self) -> None:
        self.total = sum(self.level[node] for node in Node)
""",
    "has an order": """
    queue: Annotated[Bag[Node], Capacity(2)] = Bag()

    @action
    def push(self, node: Node) -> None:
        require(len(self.queue) < 2)
        self.queue.add(node)
""",
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_cannot_be_said_is_refused_with_its_line(reason: str, tmp_path: Path) -> None:
    law = "\n    @invariant\n    def law(self) -> bool:\n        return True\n"
    with pytest.raises(ModelError, match=reason) as refused:
        proof_of(REFUSED[reason] + law, tmp_path)
    assert refused.value.file is not None
    assert refused.value.line is not None
    assert refused.value.line > HEADER.count("\n")


def test_a_model_without_identifiers_has_nothing_to_prove_for_any_number() -> None:
    with pytest.raises(SourceError, match="counts identifiers"):
        prove_check(check_of("specs/examples/peterson.toml"), ProofTask(any_size=True))


def test_a_count_that_is_also_the_capacity_of_a_bag_is_said_to_be(tmp_path: Path) -> None:
    body = """
    queue: Annotated[Bag[Node], Capacity("nodes")] = Bag()

    @action
    def push(self, node: Node) -> None:
        require(node not in self.queue)
        self.queue.add(node)
"""
    with imported(HEADER + body, "Drawn", tmp_path) as cls, pytest.raises(SourceError, match="nodes of a Bag"):
        counting_constants(cls())


def test_a_constant_that_no_type_depends_on_is_not_left_open(tmp_path: Path) -> None:
    body = """
    least = Constant(2)
    quiet = Constant(0)
    here: Annotated[int, Between(0, "steps")] = 0
    group: Set[Node] = Set()

    @action
    def walk(self) -> None:
        require(self.here < self.steps and len(self.group) >= self.least + self.quiet)
        self.here += 1
"""
    with imported(HEADER + body, "Drawn", tmp_path) as cls:
        assert any_size_constants(cls()) == (["nodes", "steps"], ["nodes"])
        asked = [it._model.constant_values for it in NeededHypotheses(cls(), [])._sized]
    assert [(it["nodes"], it["steps"]) for it in asked] == [(2, 2 + LATER), (1, 2), (3, 2)]


# CPython, state by state.


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_terms_allow_what_cpython_does(seed: int, tmp_path: Path) -> None:
    _agrees(seed, tmp_path, (1, 2))


def test_no_obligation_is_proved_that_fails_at_some_size(tmp_path: Path) -> None:
    with imported(Drawing(0).model(), "Drawn", tmp_path) as cls:
        assert proved_but_refuted(cls(), properties_of(cls), (1, 2)) == []


MESSAGES = """
    sent: Annotated[Set[Node], Capacity(2)] = Set()
    level: Map[Node, Annotated[int, Between(0, 1)]]
    low: Set[Node] = Set()

    @initial
    def start(self) -> None:
        self.level = Map({node: 0 for node in Node})

    @action
    def send(self, node: Node) -> None:
        require(len(self.sent) < 2)
        self.sent.add(node)
        self.level[node] = 1

    @action
    def receive(self, node: Node) -> None:
        require(node in self.sent)
        self.sent.discard(node)

    @action
    def look(self) -> None:
        found = self.low
        for node in Node:
            if self.level[node] == 0:
                found = found | {node}
        self.low = found

    @invariant
    def law(self) -> bool:
        return all(self.level[node] == 1 for node in self.sent)
"""


BEST = """
    level: Map[Node, Annotated[int, Between(0, 2)]]
    taken: Map[Annotated[int, Between(0, "steps")], Node | None]
    now: Annotated[int, Between(0, "steps")] = 0

    @initial
    def start(self) -> None:
        self.level = Map({node: 0 for node in Node})
        self.taken = Map({step: None for step in range(self.steps + 1)})

    @action
    def rise(self, node: Node) -> None:
        require(self.level[node] < 2)
        self.level[node] += 1

    @action
    def choose(self, least: Annotated[int, Between(0, 2)]) -> None:
        most = least
        found = self.taken[self.now]
        for node in Node:
            level = self.level[node]
            if node != self.taken[0] and most < level:
                found = node
                most = level
        self.taken[self.now] = found
        self.now = min(self.now + 1, self.steps)

    @invariant
    def law(self) -> bool:
        return all(self.taken[step] is None for step in range(self.steps + 1) if step > self.now)
"""


RANKED = """
    level: Map[Node, Annotated[int, Between(0, 2)]]
    high: Annotated[int, Between(0, 2)] = 0
    low: Annotated[int, Between(0, 2)] = 0

    @initial
    def start(self) -> None:
        self.level = Map({node: 0 for node in Node})

    @action
    def rise(self, node: Node) -> None:
        require(self.level[node] < 2)
        self.level[node] += 1

    @action
    def look(self, place: Annotated[int, Between(0, "steps")]) -> None:
        require(place < self.nodes)
        self.high = sorted((self.level[node] for node in Node), reverse=True)[place]
        self.low = sorted(self.level[node] for node in Node)[-1 - place]

    @action
    def look_further(self, without: Node) -> None:
        others = sum(1 for node in Node if node != without)
        require(others > 0)
        self.low = sorted(self.level[node] for node in Node if node != without)[others // 2]

    @invariant
    def law(self) -> bool:
        return sorted(self.level[node] for node in Node)[0] == min(self.level[node] for node in Node)
"""


LOOPS = """
    a: Set[Node] = Set()
    b: Set[Node] = Set()
    groups: Set[Set[Node]] = Set()
    sent: Annotated[Set[Node], Capacity(3)] = Set()

    @initial
    def start(self, one: Set[Node], other: Set[Node]) -> None:
        self.groups = Set({one, other})

    @action
    def counts(self, one: Set[Node], other: Set[Node]) -> None:
        a: Set[Node] = Set()
        b: Set[Node] = Set()
        for x in Node:
            if x in one and len(a) < 2:
                b = b | {x}
            if x in other:
                a = a | {x}
        self.a = a
        self.b = b

    @action
    def takes_turns(self, one: Set[Node], other: Set[Node]) -> None:
        a = Set(x for x in one)
        b: Set[Node] = Set()
        for x in other:
            if len(b) < len(a):
                b = b | {x}
            elif x in one:
                a = a | {Node(1)}
            if x not in b:
                a = a | {x}
        self.a = a
        self.b = b

    @action
    def gathers(self, limit: Annotated[int, Between(1, 2)]) -> None:
        gathered: Set[Node] = Set()
        for group in self.groups:
            if len(gathered) < limit:
                gathered = gathered | group
        self.a = gathered

    @action
    def sends(self, x: Node, y: Node) -> None:
        self.sent = Set()
        self.sent.add(x)
        self.sent.add(y)
        first: Set[Node] = Set()
        for each in self.sent:
            if len(first) < 1:
                first = first | {each}
        self.b = first

    @invariant
    def law(self) -> bool:
        return len(self.a) > 0
"""


LARGE = {("messages", 2), ("best", 2), ("ranked", 2), ("ranked", 3)}
"""Numbers of identifiers about which z3 needs seconds, or about which others say as much."""


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [1, 2, 3])
def test_terms_allow_what_cpython_does_in_loops_that_look_at_what_they_added(nodes: int, tmp_path: Path) -> None:
    with imported(HEADER + LOOPS, "Drawn", tmp_path) as cls:
        found, counts = disagreements(cls(nodes=nodes), properties_of(cls), 60)
        assert found == []
        assert counts["steps"] > 20


@pytest.mark.parametrize(("body", "nodes"), [
    pytest.param(body, nodes, id=f"{name}-{nodes}", marks=[pytest.mark.slow] if (name, nodes) in LARGE else [])
    for name, body in (("messages", MESSAGES), ("best", BEST), ("ranked", RANKED)) for nodes in (1, 2, 3)
])
def test_terms_allow_what_cpython_does_with_messages_and_loops(body: str, nodes: int, tmp_path: Path) -> None:
    with imported(HEADER + body, "Drawn", tmp_path) as cls:
        found, counts = disagreements(cls(nodes=nodes), properties_of(cls), 8)
        assert found == []
        assert counts["steps"] > 4


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(64))
def test_terms_allow_what_cpython_does_in_many_models(seed: int, tmp_path: Path) -> None:
    _agrees(seed, tmp_path, (1, 2, 3))
    with imported(Drawing(seed).model(), "Drawn", tmp_path) as cls:
        assert proved_but_refuted(cls(), properties_of(cls), (1, 2)) == []


def _agrees(seed: int, directory: Path, sizes: Sequence[int]) -> None:
    with imported(Drawing(seed).model(), "Drawn", directory) as cls:
        for size in sizes:
            found, counts = disagreements(cls(nodes=size), properties_of(cls), 3)
            assert found == []
            assert counts["properties"] >= 3


@pytest.mark.slow
def test_most_models_that_are_drawn_take_steps(tmp_path: Path) -> None:
    """So that agreement about steps is about some."""
    taken = 0
    for seed in range(64):
        with imported(Drawing(seed).model(), "Drawn", tmp_path) as cls:
            model = cls(nodes=2)
            taken += any(next(successors(model, state), None) is not None for _, state in initial_states(model))
    assert taken >= 50
