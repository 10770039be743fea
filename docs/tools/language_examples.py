"""The examples of docs/language.md: every type, expression and statement of the language, with what it means and costs.

``Examples`` is the model that they are about; ``tests/repository/test_language_page.py`` compiles each of them in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
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
    initial,
)


@dataclass(frozen=True, slots=True)
class Example:
    """A piece of source, what it means, and what it costs."""

    code: str
    meaning: str
    cost: str


class Broker(Identifier, count="brokers", prefix="b"):
    """One of the brokers."""


class State(Enum):
    FENCED = "fenced"
    ACTIVE = "active"
    STOPPED = "stopped"


Epoch = Annotated[int, Between(0, 3)]


class Vote(Record):
    """A request for a vote."""

    epoch: Epoch
    to: Broker

    def is_newer(self, than: int) -> bool:
        return self.epoch > than


class Beat(Record):
    """A heartbeat."""

    epoch: Epoch
    state: State


LATE = Set({State.FENCED, State.STOPPED})
FIRST = Vote(epoch=0, to=Broker(1))


class Examples(Model):
    """A variable of each type."""

    brokers = Constant(3)
    restarts = Constant(True)

    flag: bool = False
    x: Annotated[int, Between(0, 6)] = 0
    y: Annotated[int, Between(-3, 3)] = 0
    state: State = State.FENCED
    controller: Broker = Broker(1)
    leader: Broker | None = None
    vote: Vote
    message: Vote | Beat
    isr: Set[Broker] = Set()
    votes: Annotated[Set[Vote], Capacity(3)] = Set()
    messages: Annotated[Set[Vote | Beat], Capacity(3)] = Set()
    network: Annotated[Bag[Epoch], Capacity(2)] = Bag()
    log: Annotated[Seq[Epoch], Capacity(4)] = Seq()
    queue: Seq[Epoch] = Seq()
    end: Map[Broker, Epoch]
    leaders: Map[Broker, Broker | None]

    @initial
    def start(self) -> None:
        self.vote = Vote(epoch=0, to=Broker(1))
        self.message = Vote(epoch=0, to=Broker(1))
        self.end = Map({b: 0 for b in Broker})
        self.leaders = Map({b: None for b in Broker})

    def helper(self, broker: Broker, by: int = 1) -> int:
        return self.end[broker] + by

    def moves(self) -> None:
        self.x = 0


TYPES: Mapping[str, Example] = {
    "flag": Example("bool", "`False`, `True`", "1"),
    "x": Example(
        "Annotated[int, Between(0, 6)]", "the integers from 0 to 6, both included", "those of the number of values"
    ),
    "state": Example(
        "State",
        "the members of an `Enum`, which is Python's: `from enum import Enum`",
        "those of the number of members",
    ),
    "controller": Example(
        "Broker",
        "an `Identifier`: one of as many names as its count says, without order or arithmetic; with"
        " `symmetry = true` renaming makes no new state",
        "those of the count",
    ),
    "leader": Example("Broker | None", "a value or `None`; any type may be optional", "those of one value more"),
    "vote": Example("Vote", "a `Record`: named fields of any types", "those of its fields"),
    "message": Example(
        "Vote | Beat",
        "a record of one of several classes; common fields have one type and one order in all of them",
        "the class, common fields once, others with room for None",
    ),
    "isr": Example("Set[Broker]", "any set of elements; at most 1,024 different ones", "1 for each possible element"),
    "votes": Example(
        "Annotated[Set[Vote], Capacity(3)]",
        "a set of at most 3 elements",
        "capacity times those of an element and None",
    ),
    "network": Example(
        "Annotated[Bag[Epoch], Capacity(2)]",
        "a multiset of at most 2 elements",
        "capacity times those of an element and None",
    ),
    "log": Example(
        "Annotated[Seq[Epoch], Capacity(4)]",
        "a sequence of at most 4 elements",
        "those of the length, and capacity times those of an element",
    ),
    "queue": Example(
        "Seq[Epoch]",
        "a sequence of any length; so is a bag, and a set of more than 1,024 possible elements, of any size",
        "as if its width were its capacity: 2 at first, doubled as often as the model needs",
    ),
    "end": Example("Map[Broker, Epoch]", "a value for every key", "those of a value times the number of keys"),
    "leaders": Example("Map[Broker, Broker | None]", "a map in which a key may be without a value", "as any map's"),
}

FREE, COPY, EACH = "negligible", "a copy of the packed value", "one round for each element"

EXPRESSIONS: dict[str, list[Example]] = {
    "Names and constants": [
        Example("self.x", "a variable of the model", FREE),
        Example("self.brokers", "a constant, which the spec sets; known at compile time", "nothing"),
        Example("True", "a truth value", "nothing"),
        Example("-2", "an integer; beyond 64 bits anything is a model error", "nothing"),
        Example("None", "no value", "nothing"),
        Example("State.ACTIVE", "a member of an enum", "nothing"),
        Example("Broker(1)", "an identifier by its number; it breaks symmetry", "nothing"),
        Example("LATE", "a constant of the module: any value, such as a record or a set of records", "nothing"),
        Example("FIRST.epoch", "a field of such a record; its values have to fit the model", "nothing"),
        Example(
            "self.vote.epoch", "a field of a record; of a union, a model error if its class has no such field", FREE
        ),
    ],
    "Truth": [
        Example("self.flag and self.x > 0", "both; nothing after a false one is evaluated", FREE),
        Example("self.flag or self.x > 0", "either; nothing after a true one is evaluated", FREE),
        Example("not self.flag", "negation", FREE),
        Example("self.x > 0 if self.flag else self.y > 0", "one of two values; only that one is evaluated", FREE),
        Example(
            "implies(self.flag, self.x > 0)",
            "both are evaluated; a premise that is never true is reported, also one in a conclusion",
            FREE,
        ),
        Example(
            "not self.isr",
            "whether a container is empty; `if` and `require` take one as well, `and` and `or` do not; integers are no "
            "truth values",
            FREE,
        ),
    ],
    "Comparisons": [
        Example(
            "self.leader == self.controller", "equality of any two values of one type", "a comparison of packed values"
        ),
        Example("self.x != self.y", "the opposite", "the same"),
        Example("0 <= self.x < self.y", "order of integers, also chained", FREE),
        Example("self.x >= 1", "also `>`", FREE),
        Example("self.leader is None", "whether an optional value is there; `is` compares with None only", FREE),
        Example("self.leader is not None", "the opposite", FREE),
        Example(
            "self.controller in self.isr",
            "whether a set, a sequence or a bag has an element",
            "one bit of a set, else a comparison for each slot",
        ),
        Example("self.x not in (1, 2)", "whether a value is one of those listed", FREE),
        Example("self.x in range(1, 4)", "whether an integer is in a range", FREE),
        Example("self.x in self.end.values()", "whether some key has this value", "a comparison for each key"),
        Example(
            "isinstance(self.message, Vote)", "whether a record of a union is of a class, or of one of several", FREE
        ),
        Example("self.isr <= Set(Broker)", "subset; also `<`, `>=` and `>`", "for slots, size * size comparisons"),
        Example("self.isr.isdisjoint(Set({Broker(1)}))", "whether sets have nothing in common", "that of `&`"),
    ],
    "Integers": [
        Example("self.x + self.y", "also `-` and `*`", FREE),
        Example("self.x // 2", "division rounds down; by zero, a model error", FREE),
        Example("self.x % 2", "the remainder has the sign of the divisor", FREE),
        Example("-self.x", "also `abs(x)`", FREE),
        Example("abs(self.y)", "the distance from zero", FREE),
        Example("min(self.x, self.y, 3)", "also `max`", FREE),
        Example(
            "len(self.isr)",
            "the number of elements of a container, or of an identifier's or an enum's values",
            "counting bits; else stored or counted",
        ),
    ],
    "Records": [
        Example("Vote(epoch=1, to=Broker(1))", "a record; a field with a default may be left out", COPY),
        Example("self.vote.replace(epoch=2)", "a copy with some fields changed", COPY),
        Example("self.vote.is_newer(self.x)", "a method of the record's class; it changes nothing", "inlined"),
    ],
    "Sets": [
        Example("Set()", "the empty set", "nothing"),
        Example("{self.controller}", "a set of given elements; `Set({...})` has an order of iteration", FREE),
        Example("Set(Broker)", "a set of an iterable's elements", EACH),
        Example(
            "self.isr | {self.controller}",
            "union; also `&`, `-` and `^`",
            "one operation on bits; for slots, size * size comparisons",
        ),
        Example("self.isr & Set(Broker)", "the intersection", "the same"),
        Example("self.isr - {self.controller}", "the difference", "the same"),
        Example("self.isr ^ Set(Broker)", "the symmetric difference", "the same"),
        Example("{b for b in Broker if self.end[b] > 0}", "a set comprehension", EACH),
    ],
    "Sequences and bags": [
        Example("Seq([1, self.x])", "a sequence; a list or a tuple in brackets is one, too", COPY),
        Example("self.log[0]", "an element; negative indices count from the end; outside, a model error", FREE),
        Example("self.log[1:self.x]", "a part, clipped as in Python; no step", COPY),
        Example("self.log + [self.x]", "one after the other", COPY),
        Example("[e for e in self.log if e > 0]", "a list comprehension, which makes a sequence", EACH),
        Example("sorted(self.log, reverse=True)", "integers in order", "size * size comparisons"),
        Example("Bag([1, 1])", "a multiset", COPY),
        Example("self.network.count(1)", "how often an element is in a bag", "a comparison for each slot"),
    ],
    "Maps": [
        Example(
            "Map({b: 0 for b in Broker})",
            "a map has a value for every key, so it is made by a loop over all of them",
            EACH,
        ),
        Example("self.end[self.controller]", "the value of a key", FREE),
    ],
    "Folds": [
        Example("any(self.end[b] > 0 for b in Broker)", "whether it is true of some; it stops at the first", EACH),
        Example(
            "all(self.end[b] > 0 for b in Broker if b in self.isr)",
            "whether it is true of all; where the `if` is never true, the property is reported as vacuous",
            EACH,
        ),
        Example("sum(1 for b in Broker if self.end[b] > 0)", "a sum, or a count", EACH),
        Example(
            "max(self.end[b] for b in Broker)",
            "also `min`; of nothing a model error, unless there is a `default`",
            EACH,
        ),
        Example("min((e for e in self.log), default=0)", "the default counts where there is nothing", EACH),
    ],
    "What loops run over": [
        Example(
            "[b for b in Broker if b in self.isr]",
            "every value of an identifier or an enum, in order",
            "one round for each",
        ),
        Example("sum(i for i in range(0, self.x, 2))", "integers; the step is a constant", EACH),
        Example(
            "[e for e in Set(self.log)]", "a `Set` in the order of its type; a plain set has none, so folds only", EACH
        ),
        Example("sum(e for e in self.end.values())", "the values of a map; also its keys, `keys()`", EACH),
        Example("[b for b, e in self.end.items() if e > 0]", "keys with their values", EACH),
        Example(
            "sum(i * e for i, e in enumerate(self.log))",
            "elements with their indices; `enumerate(log, 1)` counts from 1",
            EACH,
        ),
        Example(
            "all(a <= b for a, b in zip(self.log, self.log[1:]))",
            "elements side by side, as far as the shortest goes",
            EACH,
        ),
        Example("sum(1 for b in Broker for e in self.log if e > 0)", "one loop inside of another", "the product"),
    ],
    "Calls": [
        Example(
            "self.helper(self.controller, by=2)", "a method without a decorator, or a `@rule`", "inlined at each call"
        ),
        Example(
            "Examples.helper(self, self.controller)",
            "the method of a certain class; in a method also `super()`",
            "the same",
        ),
    ],
}

STATEMENTS: dict[str, list[Example]] = {
    "Assignments": [
        Example("self.x = 1", "assigns a variable of the model", FREE),
        Example("self.vote.epoch = 1", "assigns a part of it: a field, an entry, an element", "a copy of the variable"),
        Example("self.end[self.controller] += 1", "also `-=`, `*=`, `//=`, `%=`, `|=`, `&=`, `^=`", "the same"),
        Example("self.log[0] = 1", "an element that is there", "the same"),
        Example("self.isr.add(self.controller)", "one element more", "one bit; else a comparison for each slot"),
        Example("self.isr.discard(self.controller)", "one fewer, if it is there", "the same"),
        Example("self.isr.remove(self.controller)", "one fewer; if it is not there, a model error", "the same"),
        Example("self.network.remove(1)", "one occurrence of a bag; also `add`", "a comparison for each slot"),
        Example("self.log.append(1)", "at the end of a sequence; if it is full, a model error", FREE),
        Example("before = self.isr", "a local variable, which keeps this value", FREE),
        Example("self.x, self.y = self.y, self.x", "several at once, of as many values", "the same"),
        Example(
            "both = self.isr | {self.controller}",
            "a local set or sequence that changes; `both |= ...` would change a plain set for all its names",
            "as the operator",
        ),
    ],
    "Control": [
        Example(
            "require(self.x > 0)",
            "a guard: if it is false, the action has no step with these arguments; anywhere in an"
            " action or its helpers",
            "the first ones are tested before the others' parameters are chosen",
        ),
        Example("if self.flag: self.x = 1\nelif self.x > 1: self.x = 2\nelse: self.x = 3", "a choice", FREE),
        Example(
            "for b in Broker: self.end[b] = 0",
            "a loop over anything with a fixed order; its variable is a local, which keeps its last value",
            "the body for each element",
        ),
        Example("for i, e in enumerate(self.log): self.x = i", "a loop with several variables", "the same"),
        Example(
            "for b in Broker:\n    if b in self.isr: break\n    if self.flag: continue",
            "leaves the loop, or goes on with the next element",
            FREE,
        ),
        Example("assert self.x > 0, 'a reason'", "a model error if it is false", FREE),
        Example("self.moves()", "calls a helper for its assignments", "inlined"),
        Example("pass", "nothing", "nothing"),
    ],
}
