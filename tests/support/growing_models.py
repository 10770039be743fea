"""Models with containers without a capacity, which outgrow the widths with which a search begins."""

from __future__ import annotations

from typing import Annotated

from floodmark import (
    Bag,
    Between,
    Capacity,
    Constant,
    Identifier,
    Map,
    Model,
    Record,
    Seq,
    Set,
    action,
    initial,
    invariant,
    reachable,
    require,
    transition,
)

Flag = Annotated[int, Between(0, 1)]
Wide = Annotated[int, Between(0, 10**6)]


class Node(Identifier, count="nodes", prefix="n"):
    pass


class Note(Record):
    to: Node
    entries: Seq[Flag]


class Post(Model):
    """Logs grow, notes carry them, and what arrives is kept until it is forgotten."""

    nodes = Constant(2)
    most = Constant(3)
    logs: Map[Node, Seq[Flag]]
    sent: Bag[Note]
    kept: Set[Seq[Flag]]

    @initial
    def start(self) -> None:
        self.logs = Map({node: Seq() for node in Node})
        self.sent = Bag()
        self.kept = Set()

    @action
    def appends(self, node: Node) -> None:
        require(sum(len(log) for log in self.logs.values()) < self.most)
        self.logs[node].append(len(self.logs[node]) % 2)

    @action
    def sends(self, node: Node) -> None:
        require(len(self.sent) < self.most and len(self.logs[node]) > 1)
        self.sent.add(Note(to=node, entries=self.logs[node]))

    @action
    def arrives(self, note: Note) -> None:
        require(note in self.sent)
        self.sent.remove(note)
        self.kept.add(note.entries)

    @action
    def forgets(self, entries: Seq[Flag]) -> None:
        require(entries in self.kept)
        self.kept.remove(entries)

    @invariant
    def logs_are_short(self) -> bool:
        return all(len(log) <= self.most for log in self.logs.values())

    @reachable
    def one_is_full(self) -> bool:
        return any(len(log) == 3 for log in self.logs.values())


class Late(Post):
    """Properties that are false only where containers have grown."""

    @invariant
    def is_never_known(self) -> bool:
        return Seq((0, 1, 0)) not in self.kept

    @transition
    def sends_little(self, new: Late) -> bool:
        return len(new.sent) < 3 or len(self.sent) == 3


class Through(Model):
    """A step holds larger intermediate values than it stores, in a bag, a set and a record."""

    times = Constant(3)
    bag: Bag[Flag]
    wide: Set[Wide]
    count: Annotated[int, Between(0, 9)] = 0

    @initial
    def start(self) -> None:
        self.bag = Bag()
        self.wide = Set()

    @action
    def fills_and_empties(self, many: Annotated[int, Between(0, 4)]) -> None:
        require(self.count < self.times and many <= self.times)
        for number in range(many):
            self.bag.add(number % 2)
            self.wide.add(number * 1000)
        for number in range(many):
            self.bag.remove(number % 2)
        self.wide = self.wide - {1000, 2000}
        self.count = max(self.count, many)

    @invariant
    def bag_is_empty(self) -> bool:
        return len(self.bag) == 0


class Hold(Record):
    wide: Set[Wide]
    inner: Seq[Seq[Flag]]


class Aside(Model):
    """A record that no variable holds, made in a guard, in a step and in a property; a container in a container."""

    level: Annotated[int, Between(0, 6)] = 0
    stack: Seq[Seq[Flag]]
    odd: bool = False

    @initial
    def start(self) -> None:
        self.stack = Seq()

    @action
    def climbs(self) -> None:
        require(len(Hold(wide=Set({number * 999 for number in range(self.level)}), inner=self.stack).wide) < 6)
        self.level += 1
        if self.level < 4:
            self.stack.append(Seq([0 for _ in range(self.level)]))
        else:
            self.stack = Seq()

    @invariant
    def fits(self) -> bool:
        held = Hold(wide=Set({number + 1 for number in range(2 * self.level)}), inner=Seq())
        return len(held.wide) == 2 * self.level


class Endless(Model):
    """Nothing says how long the queue becomes."""

    queue: Seq[Annotated[int, Between(0, 2**60)]]

    @initial
    def start(self) -> None:
        self.queue = Seq()

    @action
    def adds(self) -> None:
        self.queue.append(1)


class Broken(Endless):
    """A model error behind two restarts, and one that is no model error before it."""

    most = Constant(5)
    other: Annotated[Seq[Flag], Capacity(3)]

    @initial
    def start(self) -> None:
        self.queue = Seq()
        self.other = Seq()

    @action
    def overfills(self) -> None:
        require(len(self.queue) == self.most)
        for _ in range(4):
            self.other.append(0)


MODELS: dict[str, Model] = {
    "post": Post(),
    "late": Late(),
    "later": Late(most=4),
    "through": Through(),
    "aside": Aside(),
}
WIDTHS = {
    "post": {"logs[...]": 4, "sent": 4, "the field entries": 4, "an element of kept": 4},
    "through": {"bag": 4, "wide": 4},
    "aside": {"the field wide": 16, "stack": 4, "an element of stack": 4, "the field inner": 4,
              "an element of the field inner": 4},
}
FIGURES = ("complete", "distinct", "generated", "depth", "levels", "actions", "cut", "digest", "widths", "sizes")
