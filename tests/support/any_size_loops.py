"""Draws models of one long step about any number of identifiers: loops with several additions, and laws of the outcome.

The step takes sets as its parameters, so one step from the initial state meets every choice of them, and a search at a
few sizes says of each law whether it holds there. Loops run over identifiers, sets, sets of sets and sets with a
capacity; conditions read what was added before, by the same addition or another one, count it, and compare it with
thresholds; guards and conditions call functions, some of which change a variable; bodies may do nothing; there are two
classes of identifiers. The identifiers that the set with a capacity got first and second are kept, as its order is that
of its elements and not that of its slots.
"""

from __future__ import annotations

import random

HEADER = '''\
from __future__ import annotations

from typing import Annotated

from floodmark import Between, Capacity, Constant, Identifier, Map, Model, Set, action, initial, invariant, require


class Node(Identifier, count="nodes", prefix="n"):
    """One of any number."""


class Site(Identifier, count="sites", prefix="s"):
    """Its location, which may be one of any number."""


class Drawn(Model):
    """A step, and what it leads to."""

    nodes = Constant(2)
    sites = Constant(2)
    a: Set[Node] = Set()
    b: Set[Node] = Set()
    t: Set[Node] = Set()
    u: Set[Node] = Set()
    v: Set[Site] = Set()
    few: Annotated[Set[Node], Capacity(2)] = Set()
    first: Node | None = None
    second: Node | None = None
    asked: Set[Node] = Set()
    groups: Set[Set[Node]] = Set()
    level: Map[Node, Annotated[int, Between(0, 2)]]
    home: Map[Node, Site]
    best: Node | None = None
    top: Annotated[int, Between(0, 2)] = 0
    done: bool = False

    @initial
    def start(self) -> None:
        self.level = Map({node: 0 for node in Node})
        self.home = Map({node: Site(1) for node in Node})

    def is_fit(self, node: Node) -> bool:
        if self.level[node] == 0:
            return node in self.b
        return node in self.a

    def is_asked(self, node: Node) -> bool:
        self.asked = self.asked | {node}
        return node in self.a

    def may_go(self, limit: int) -> bool:
        require(len(self.t) <= limit)
        require(not self.done)
        return True

    @action
    def go(self, a: Set[Node], b: Set[Node], p: Node, q: Node, far: Site) -> None:
        require(self.may_go(1))
        self.a = a
        self.b = b
        self.level = Map({node: 2 if node in a and node in b else 1 if node in b else 0 for node in Node})
        self.home = Map({node: far if node in b else Site(1) for node in Node})
        self.groups = Set({a, b, a & b})
        self.few = Set()
        self.asked = Set()
        self.few.add(p)
        self.few.add(q)
        self.first = p
        self.second = q
        t: Set[Node] = Set()
        u: Set[Node] = Set()
        v: Set[Site] = Set()
'''


class LoopDrawing:
    """Draws one model, called Drawn."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.focus = self.random.choices(["anything", "order", "calls"], [6, 3, 1])[0]
        """The focus of most loops and laws: a mistake in one construct shows in few of all combinations."""

    def model(self) -> str:
        text = HEADER
        for _ in range(self.random.randint(1, 2)):
            text += self.selection() if self.focus == "anything" and self.random.random() < 0.2 else self.loop()
        text += "        self.t = t\n        self.u = u\n        self.v = v\n        self.done = True\n"
        for number in range(16):
            law = f"not self.done or {self.law() if number % 4 else self.something()}"
            text += f"\n    @invariant\n    def law{number}(self) -> bool:\n        return {law}\n"
        return text

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def loop(self) -> str:
        """A loop that adds to sets, on conditions."""
        anything = self.pick("nodes", "nodes", "few", "groups", "sites")
        kind = {"order": "few", "calls": "nodes"}.get(self.focus, anything)
        domain = {
            "nodes": self.pick("Node", "self.a", "self.b", "Set(y for y in Node if self.level[y] > 0)", "self.a - b"),
            "few": "self.few",
            "groups": "self.groups",
            "sites": "Site",
        }[kind]
        text = f"        for x in {domain}:\n"
        for _ in range(self.random.randint(1, 3)):
            text += self.addition(kind, 12)
        return text

    def addition(self, kind: str, indent: int) -> str:
        pad = " " * indent
        if self.random.random() < 0.65 and indent < 20:
            text = f"{pad}if {self.condition(kind)}:\n{self.addition(kind, indent + 4)}"
            if self.random.random() < 0.3:
                text += f"{pad}else:\n{self.addition(kind, indent + 4)}"
            return text
        share = 0.5 if self.focus == "calls" else 0.95
        return pad + (self.added(kind) if self.random.random() < share else "pass") + "\n"

    def added(self, kind: str) -> str:
        if kind == "sites":
            return "v = v | {x}"
        target = self.pick("t", "u")
        what = {
            "nodes": self.pick("{x}", "{x}", "{x}", "{p}", "Set(y for y in self.b if self.home[y] == self.home[x])"),
            "few": self.pick("{x}", "{x, q}"),
            "groups": self.pick("x", "x", "x - self.a", "{p}"),
        }[kind]
        if kind == "nodes" and self.random.random() < 0.15:
            return "v = v | {self.home[x]}"
        return f"{target} = {target} | {what}"

    def condition(self, kind: str) -> str:
        known = {
            "nodes": ["x in self.a", "x in self.b", "x == p", "self.level[x] > 0", "self.is_fit(x)", "x != Node(1)",
                      "self.home[x] == far", "x in self.a and x != q"],
            "few": ["x in self.a", "x == p", "self.is_fit(x)", "x != q"],
            "groups": ["p in x", "len(x) > 1", "x <= self.a", "2 * len(x) > len(Node)", "x != self.a"],
            "sites": ["x == far", "any(self.home[y] == x for y in self.a)", "x != Site(1)"],
        }[kind]  # fmt: skip
        one, other = self.pick("t", "u"), self.pick("t", "u", "self.a", "self.b")
        unknown = [
            f"len({one}) < {self.pick('1', '2', '3')}", f"len({one}) < len({other})", f"len({one}) > 0",
            f"2 * len({one}) <= len(Node)", f"{one} <= self.a", "len(v) < 1", f"any(y in {one} for y in self.b)",
            f"p in {one}",
        ]  # fmt: skip
        if kind in ("nodes", "few"):
            unknown.append(f"x not in {one}")
        if self.focus == "order" and self.random.random() < 0.6:
            return self.pick(f"len({one}) < 1", f"len({one}) == 0", f"len({one}) > 0")
        if kind in ("nodes", "few") and self.focus == "calls" and self.random.random() < 0.4:
            return self.pick("self.is_asked(x)", "self.is_asked(x) or x == p", "x in self.b and self.is_asked(x)")
        return self.random.choice(known if self.random.random() < 0.5 else unknown)

    def selection(self) -> str:
        """A loop that keeps the best."""
        domain, op = self.pick("Node", "self.a", "self.b"), self.pick(">", ">=")
        chosen = self.pick("", "x != q and ", "x in self.b and ")
        return f"""\
        top = {self.pick('0', '1')}
        best = None if top == 0 else p
        for x in {domain}:
            if {chosen}self.level[x] {op} top:
                top = self.level[x]
                best = x
        self.top = top
        self.best = best
"""

    def group(self) -> str:
        return self.pick("self.t", "self.t", "self.u", "self.a", "self.b", "self.few", "self.t | self.u", "self.a & b",
                         "self.t - self.a", "Set(x for x in Node if self.level[x] > 1)").replace("& b", "& self.b")

    def something(self) -> str:
        """Checks that something is added where there is something to add: what only the first rounds of a loop
        tell."""
        given, result = self.pick("self.a", "self.b", "self.few", "Node"), self.pick("self.t", "self.u", "self.v")
        some = self.pick(f"len({result}) > 0", f"any(x in {given} for x in {result})")
        return f"len({given}) == 0 or {f'len({result}) > 0' if result == 'self.v' else some}"

    def law(self) -> str:
        """A law that may hold after the step at every number of identifiers, at small ones, or at none."""
        result, one, other = self.pick("self.t", "self.u"), self.group(), self.group()
        limit = self.pick("1", "2", "3", "4", "5")
        simple = [
            f"len({result}) < {limit}", f"len({result}) >= {limit}", f"len({one}) <= len({other})",
            f"{result} <= {one}", f"{one} <= {result}", f"{result} == {one}", f"len({one} & {other}) == 0",
            f"2 * len({one}) <= len(Node)", f"all(x in {one} for x in {other})", f"any(x in {one} for x in {other})",
            f"len({one}) > 0", f"len({one}) == 0", f"all(self.level[x] > 0 for x in {result})",
            f"len(self.v) < {limit}", "Site(1) in self.v", "len(self.v) > 0", f"len(Node) < {limit}",
            "self.best is None or self.level[self.best] == self.top", "self.best is None or self.best in self.b",
            f"all(self.level[x] <= self.top for x in {one})", f"len(Node) + len(Site) < {limit} + 3",
        ]  # fmt: skip
        of_order = [f"self.{it} in {result}" for it in ("first", "second")]
        of_order += [f"len({result}) == 0 or {it}" for it in of_order]
        of_calls = [f"len(self.asked) < {limit}", "len(self.asked) == 0"]
        of_calls += ["self.asked <= self.a", "self.asked <= self.b"]
        focused = {"anything": simple, "order": of_order, "calls": of_calls}[self.focus]
        if self.random.random() < 0.5:
            return self.random.choice(focused)
        drawn = [self.random.choice(simple) for _ in range(self.random.randint(1, 3))]
        return " or ".join(self.pick("{}", "{}", "not ({})").format(it) for it in drawn)


__all__ = ["HEADER", "LoopDrawing"]
