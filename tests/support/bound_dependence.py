"""Ways in which a model may find out how large its bound is, and places where it may do so.

Each reading is true at the bound 3. In each place it decides whether the model gets stuck.
"""

from __future__ import annotations

_MODEL = """\
from typing import Annotated
from floodmark import (Between, Constant, Map, Model, Record, Seq, Set, action, always_eventually, fair,
    implies, initial, require)
Epoch = Annotated[int, Between(0, "lim")]

class Slot(Record):
    marks: Map[Epoch, bool]
    size: Epoch = 0

def few(model: "Walk") -> bool:
    return model.lim < 6

def count(seen: Map[Epoch, bool]) -> int:
    return len(seen)

def tell(a: int, b: int = 6) -> bool:
    return a < b

class Walk(Model):
    lim = Constant(3, bound=True)
    c: Epoch = 0
    seen: Map[Epoch, bool]
    deep: Map[bool, Map[Epoch, Annotated[int, Between(0, 9)]]]
    slot: Slot
    maybe: Map[Epoch, bool] | None
    held: Set[Epoch] = Set()
    log: Seq[Epoch] = Seq()
    low: bool = False
    stuck: bool = False

    @initial
    def start(self) -> None:
        self.seen = Map({e: False for e in range(0, self.lim + 1)})
        self.deep = Map({b: Map({e: 0 for e in range(0, self.lim + 1)}) for b in (False, True)})
        self.slot = Slot(marks=Map({e: False for e in range(0, self.lim + 1)}))
        self.maybe = Map({e: False for e in range(0, self.lim + 1)})
        START

    def room(self) -> bool:
        return self.lim < 6

    def is_small(self) -> bool:
        return READ

    @staticmethod
    def still(model: "Walk") -> bool:
        return model.lim < 6

    @fair
    @action
    def counts(self) -> None:
        require(not self.stuck)
        require(self.c < self.lim)
        self.c += 1
        self.seen[self.c] = True

    @action
    def sticks(self) -> None:
        require(self.c == 1)
        GUARD
        EFFECT

    @always_eventually
    def never_stuck(self) -> bool:
        GOAL
"""

READINGS = (
    "self.lim < 6",
    "len(self.seen) < 6",
    "len(self.seen.keys()) < 6",
    "len(self.seen.values()) < 6",
    "len(self.seen.items()) < 6",
    "len(Set(self.seen)) < 6",
    "len(Set(self.seen.keys())) < 6",
    "sum(1 for e in self.seen) < 6",
    "sum(1 for e in self.seen.keys() if e >= 0) < 6",
    "sum(1 for v in self.seen.values() if not v) < 6",
    "sum(1 for k, v in self.seen.items() if not v) < 6",
    "not any(e >= 6 for e in self.seen)",
    "all(e < 6 for e in self.seen.keys())",
    "5 not in self.seen",
    "6 not in self.seen.keys()",
    "max(self.seen) < 6",
    "max(self.seen.keys()) < 6",
    "max(e for e in self.seen) < 6",
    "len(self.deep[True]) < 6",
    "sum(len(m) for m in self.deep.values()) < 12",
    "all(len(m) < 6 for m in self.deep.values())",
    "len(self.slot.marks) < 6",
    "self.maybe is not None and len(self.maybe) < 6",
    "self.lim // 6 == 0",
    "6 - self.lim > 0",
    "-self.lim > -6",
    "2 * self.lim < 12",
    "self.lim * self.lim < 36",
    "self.lim % 6 > 0",
    "5 not in range(self.lim)",
    "sum(1 for e in range(self.lim)) < 6",
    "sum(e for e in range(self.lim)) < 15",
    "len([e for e in range(self.lim)]) < 6",
    "len({e for e in range(self.lim)}) < 6",
    "len(Set(range(self.lim))) < 6",
    "len(Seq(range(self.lim))) < 6",
    "len(Map({e: False for e in range(0, self.lim + 1)})) < 6",
    "min(self.lim, 6) < 6",
    "max(self.lim, 6) == 6",
    "sorted([self.lim, 6])[0] < 6",
    "sorted(self.seen)[-1] < 6",
    "self.room()",
    "few(self)",
    "Walk.still(self)",
    "self.still(self)",
    "tell(self.lim)",
    "tell(b=6, a=self.lim)",
    "count(self.seen) < 6",
    "(lambda n: n < 6)(self.lim)",
    "(self.lim if self.c == 1 else 9) < 6",
    "self.lim != 6 and self.lim < 9",
    "not (self.lim >= 6)",
    "0 < self.lim < 6",
    "bool(6 - self.lim) and self.lim < 6",
    "abs(self.lim - 6) > 0 and self.lim < 7",
    "self.lim in (3, 4, 5)",
    "self.lim in Set({3, 4, 5})",
    "self.lim in [3, 4, 5]",
    "self.seen == Map({0: False, 1: True, 2: False, 3: False})",
    "list(self.seen) == [0, 1, 2, 3]",
    "list(self.seen.values()) == [False, True, False, False]",
    "Slot(marks=self.seen).marks == Map({0: False, 1: True, 2: False, 3: False})",
    "self.slot == Slot(marks=Map({0: False, 1: False, 2: False, 3: False}))",
    "[x for x in (1, 6) if x > self.lim] == [6]",
    "all(True if e < 6 else False for e in self.seen)",
    "Map({e: True for e in self.seen}) != Map({0: True})",
    "any(self.lim == n for n in (3, 4, 5))",
    "[False, False, False, True, True, True, False, False, False, False, False, False, False, False, False][self.lim]",
    "Seq([True, True, True, True])[self.lim - 3 : self.lim][0]",
    "len(Seq([1, 2, 3, 4, 5, 6, 7, 8, 9])[: self.lim]) < 6",
    "len(Seq([1, 2, 3, 4, 5, 6, 7])[self.lim:]) > 2",
    "self.log == Seq() and self.lim < 6",
    "len(self.held | {self.lim}) == 1 and self.lim < 6",
    "Set({self.lim}) == Set({3})",
    "Set({self.lim}) <= Set({3, 4, 5})",
    "implies(self.lim >= 6, False)",
)

CONTEXTS = {
    "effect": {"EFFECT": "self.stuck = READ"},
    "guard": {"GUARD": "require(READ)"},
    "local": {"EFFECT": "small = READ\n        require(small)\n        self.stuck = True"},
    "branch": {"EFFECT": "if READ:\n            self.stuck = True"},
    "helper": {"EFFECT": "self.stuck = self.is_small()"},
    "helper of a guard": {"GUARD": "require(self.is_small())"},
    "initial": {"START": "self.low = READ", "EFFECT": "self.stuck = self.low"},
    "initial for a guard": {"START": "self.low = READ", "GUARD": "require(self.low)"},
    "goal": {"GOAL": "return not (self.stuck and READ)"},
}
"""The texts for the placeholders of the model, where they differ from ``_PLAIN``."""
_PLAIN = {"START": "pass", "GUARD": "pass", "EFFECT": "self.stuck = True", "GOAL": "return not self.stuck"}


def source_of(reading: str, context: str) -> str:
    """A model as text that finds out about its bound in one way, in one place."""
    text = _MODEL
    for place, code in {**_PLAIN, **CONTEXTS[context]}.items():
        text = text.replace(place, code)
    return text.replace("READ", reading)
