"""Every construct of Python that the language has, with what stands for it, and those that it has not.

The values and the bodies stand in one model with a variable of each kind, whose initial states are ``case`` by case.
Each of them has to mean in every engine what it means in CPython, or to be refused;
``tests/agreement/test_constructs.py`` puts them into each of ``CONTEXTS`` and holds what they consist of against the
list in ``floodmark/compiler/constructs.py``.
"""

from __future__ import annotations

HEAD = '''from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import *

FIVE = 5
LISTED = [1]
DIGITS = Seq((1, 0, 2))
PRIMES = (2, 3)
len_of = len


class Node(Identifier, count="nodes", prefix="n"):
    """A node."""


class Colour(Enum):
    RED = 1
    GREEN = 2
    CRIMSON = 1


Num = Annotated[int, Between(-3, 3)]
Small = Annotated[int, Between(0, 2)]


class Pair(Record):
    """Two numbers."""

    a: Num
    b: bool = False

    def sum_with(self, other: int) -> int:
        return self.a + other

    @staticmethod
    def twice(number: int) -> int:
        return 2 * number


class Told(Record):
    by: Node
    what: Num


class Asked(Record):
    by: Node


class Group(Record):
    members: Set[Small]


PAIR = Pair(a=2, b=True)
PAIRS = Set({Pair(a=1), PAIR})
TOLD = Told(by=Node(2), what=1)
GROUP = Group(members=Set({2, 0}))
WEIGHTS = Map({Colour.RED: 2, Colour.GREEN: 1})
PARTNERS = Map({Node(1): Asked(by=Node(2)), Node(2): Asked(by=Node(2))})
COINS = Bag([1, 0, 1])
TOO_LARGE = Pair(a=9)
A_THIRD = Told(by=Node(3), what=1)
PLAIN = Group(members={1})
RANKS = Map({0: 1, 1: 2, 2: 0})
HALF = Map({Colour.RED: 1})
TEXTS = Map({Node(1): "a", Node(2): "b"})


def plus(x: int, y: int = FIVE, *, scale: int = 1) -> int:
    return (x + y) * scale


class Variables(Model):
    """Variables of each kind."""

    nodes = Constant(2)
    most = Constant(2)
    n: Num
    k: Small
    on: bool
    maybe: Small | None
    colour: Colour
    node: Node
    some: Set[Node]
    nums: Annotated[Set[Num], Capacity(3)]
    log: Annotated[Seq[Num], Capacity(3)]
    lots: Annotated[Bag[Small], Capacity(2)]
    per: Map[Node, Small]
    sets: Map[Node, Set[Small]]
    pair: Pair
    message: Told | Asked | None
    out: Annotated[int, Between(-999, 999)] = 0

    def rule_of_the_model(self) -> int:
        return 1

    @initial
    def start(self, case: Annotated[int, Between(0, 6)]) -> None:
        self.set_up(case)

    @action
    def takes(self, x: Small, c: Colour) -> None:
        require(self.n > 0)
        require(x == self.k and c != self.colour and self.needs_none(x))
        self.k = 2

    @action
    def takes_one_of(self, m: Node, first: bool) -> None:
        require(m in self.some and self.log[0] > 0)
        require(not first or self.on)

    @action
    def waits(self) -> None:
        require(self.message is not None and self.message.by in self.some)

    @action
    def always_goes(self) -> None:
        self.on = not self.on

    @action
    def takes_later(self) -> None:
        require(self.on)
        self.k = 1
        require(self.n > 0)

    @action
    def takes_large(self, number: Annotated[int, Between(0, 9999)]) -> None:
        require(number > 5)
        self.k = 1

    def needs_none(self, x: int) -> bool:
        return x != 1 or self.maybe is not None

    def set_up(self, case: int) -> None:
        self.n = [1, -3, 0, 3, 2, -1, 1][case]
        self.k = [0, 1, 2, 2, 1, 0, 1][case]
        self.on = case % 2 == 0
        self.maybe = [None, 0, 1, 2, None, 1, 1][case]
        self.colour = Colour.RED if case % 3 == 0 else Colour.GREEN
        self.node = Node(1) if case in (0, 2, 3) else Node(2)
        self.some = [Set(), {Node(1)}, {Node(2)}, {Node(1), Node(2)}, {Node(1)}, Set(), {Node(2)}][case]
        self.nums = [Set(), {1}, {-3, 2}, {0, 1, 3}, {2}, {-1, -2}, {1, 2}][case]
        self.log = [[], [1], [1, 2], [2, -1, 3], [3, 0], [1, 2], [1, 1, 1]][case]
        self.lots = [[], [1], [1, 1], [0, 2], [2, 1], [2], [0, 1]][case]
        self.per = Map({m: (case + (1 if m == Node(2) else 0)) % 3 for m in Node})
        self.sets = Map({m: {case % 3} if m == Node(1) else Set() for m in Node})
        self.pair = Pair(a=[1, 0, 2, -3, 1, 1, 3][case], b=case > 3)
        self.message = [
            None, Told(by=Node(1), what=1), Asked(by=Node(1)), Asked(by=Node(2)), Told(by=Node(2), what=-1), None,
            Told(by=Node(2), what=1),
        ][case]
'''
HELPERS = '''def always(self) -> bool:
    return True

def bump(self) -> int:
    self.k = 2 - self.k
    return self.k

def moved(self) -> Node:
    self.node = Node(2) if self.node == Node(1) else Node(1)
    return self.node

def needs(self, number: int) -> int:
    require(number > 0)
    return number

def spoilt(self) -> int:
    assert self.n > 0
    return 1

def logged(self) -> int:
    self.log = Seq([2])
    return 0

def grows(self, xs) -> int:
    xs += [2]
    return len(xs)

def default(self, xs=[1]) -> int:
    xs += [2]
    return len(xs)

def given(self, xs):
    return xs

def gives(self):
    return {8, 1}

def passes(self, s):
    return s

def passed_on(self, s):
    for i in range(2):
        t = s
    return s

def loops(self) -> int:
    s = Set({1, 8})
    t = 0
    for i in range(2):
        t = t * 100 + self.ordered(s)
        s = {8, 1}
    return t

def ordered(self, s) -> int:
    t = 0
    for x in s:
        t = t * 10 + x
    return t

def moved_by(self) -> int:
    self.node = Node(2) if self.node == Node(1) else Node(1)
    return 1

@staticmethod
def doubled(x: int) -> int:
    return 2 * x

@property
def length(self) -> int:
    return len(self.log)

@classmethod
def made(cls) -> int:
    return 1

def many(self, *xs: int) -> int:
    return len(xs)

def named(self, **xs: int) -> int:
    return len(xs)

def again(self) -> int:
    return self.again()

def with_default(self, x: int = FIVE, *, y: tuple[int, ...] = (1, 2)) -> int:
    return x + len(y)

def of_class(self, kind: type) -> int:
    return len(kind)

def untold(self) -> int:
    if self.on:
        return 1

def of_two_kinds(self):
    return 1 if self.on else None

def nothing(self) -> None:
    self.k = 0

async def later(self) -> int:
    return 1
'''
_STEP = "@action\ndef part_{i}(self) -> None:\n"
_NUMBER = "def help_{i}(self) -> int:\n    return {number}\n\n"
_TRUTH = "def help_{i}(self) -> bool:\n    return {truth}\n\n"
OUTSIDE = "\n\n# After the class.\n"
"""The separator before text that belongs to the file, not to the class."""
_BEGIN = "@initial\ndef part_{i}(self, case: Annotated[int, Between(0, 6)]) -> None:\n    self.set_up(case)\n"
CONTEXTS: dict[str, str] = {
    "action": _STEP + "    self.out = {number}",
    "guard": _STEP + "    require({truth})\n    self.out = 1",
    "later guard": _STEP + "    self.out = 2\n    if self.on:\n        require({truth})\n    self.out = 3",
    "any in a guard": _STEP + "    require(any({truth} for each in range(2)))\n    self.out = 1",
    "comprehension": _STEP + "    self.out = sum([{number} for each in range(2)])",
    "loop": _STEP + "    for each in range(2):\n        self.out = self.out * each + {number}",
    "branch": _STEP + "    if {truth}:\n        self.out = 1",
    "helper": _NUMBER + _STEP + "    self.out = self.help_{i}()",
    "helper of a guard": _TRUTH + _STEP + "    require(self.help_{i}())\n    self.out = 1",
    "helper in any": _TRUTH + _STEP + "    require(any(self.help_{i}() for each in range(2)))\n    self.out = 1",
    "rule of a design": (
        "def help_{i}(self) -> int:\n    return super().rule_of_the_model() + {number}\n\n"
        + _STEP + "    self.out = self.help_{i}()"
    ),
    "invariant": "@invariant\ndef part_{i}(self) -> bool:\n    return {truth}",
    "helper of an invariant": _TRUTH + "@invariant\ndef part_{i}(self) -> bool:\n    return self.help_{i}()",
    "reachability": "@reachable\ndef part_{i}(self) -> bool:\n    return {truth}",
    "transition": "@transition\ndef part_{i}(old, self) -> bool:\n    return {truth} or old.k > 1",
    "boundary": "@boundary\ndef part_{i}(self) -> bool:\n    return {truth}",
    "initial": _BEGIN + "    self.out = {number}",
    "guard of an initial": _BEGIN + "    require({truth})\n    self.out = 1",
    "lemma": OUTSIDE + "@lemma\ndef part_{i}(self: M) -> bool:\n    return {truth}",
    "helper of a lemma": _TRUTH + OUTSIDE + "@lemma\ndef part_{i}(self: M) -> bool:\n    return self.help_{i}()",
    "goal of runs": OUTSIDE + "@always_eventually\ndef part_{i}(self: M) -> bool:\n    return {truth}",
    "ranking": OUTSIDE + "@ranking()\ndef part_{i}(self: M) -> int:\n    return {number}",
    "helper of a ranking": _NUMBER + OUTSIDE + "@ranking()\ndef part_{i}(self: M) -> int:\n    return self.help_{i}()",
}
"""The contexts of a value: ``number`` is its integer form, ``truth`` its Boolean form."""
BODY_CONTEXTS: dict[str, str] = {
    "helper": _STEP + "    self.out = self.help_{i}()",
    "helper of a guard": _STEP + "    require(self.help_{i}() > 1)\n    self.out = 1",
    "helper in any": _STEP + "    require(any(self.help_{i}() > each for each in range(3)))\n    self.out = 1",
    "helper in a comprehension": _STEP + "    self.out = sum([self.help_{i}() for each in range(2)])",
    "helper in a loop": _STEP + "    for each in range(2):\n        self.out = self.help_{i}()",
    "invariant": "@invariant\ndef part_{i}(self) -> bool:\n    return self.help_{i}() > 1",
    "boundary": "@boundary\ndef part_{i}(self) -> bool:\n    return self.help_{i}() > 1",
    "initial": _BEGIN + "    self.out = self.help_{i}()",
    "lemma": OUTSIDE + "@lemma\ndef part_{i}(self: M) -> bool:\n    return self.help_{i}() > 1",
    "goal of runs": OUTSIDE + "@always_eventually\ndef part_{i}(self: M) -> bool:\n    return self.help_{i}() > 1",
    "ranking": OUTSIDE + "@ranking()\ndef part_{i}(self: M) -> int:\n    return self.help_{i}()",
}
"""The contexts in which a function may be called."""
NUMBERS: dict[str, tuple[str, ...]] = {
    "order of evaluation": (
        "self.maybe + self.needs(self.k)", "self.needs(self.k) + self.maybe",
        "self.log[self.maybe] + self.needs(self.k)", "self.log[self.needs(self.k)]", "self.log[5] + self.needs(0)",
        "self.needs(0) + self.log[5]", "plus(self.log[5], self.needs(0))", "plus(self.needs(0), self.log[5])",
        "max(self.maybe, self.needs(self.k))", "[self.log[5], self.needs(0)][1]",
        "Pair(a=self.n + 3, b=self.needs(self.k) > 0).a",
        "self.pair.replace(a=self.n + 3, b=self.needs(self.k) > 0).a", "Pair(a=9, b=self.needs(0) > 0).a",
        "self.per[None if self.on else self.node] + self.needs(self.k)",
        "(self.maybe if self.on else self.needs(self.k))", "sum([self.maybe, self.needs(self.k)])",
        "sum(x for x in [self.maybe, 1])", "len({self.maybe, self.needs(self.k)})",
        "min(self.log) + self.needs(self.k)", "self.n // (self.needs(self.k) - 1)", "(self.n // 0) * self.needs(0)",
        "self.needs(0) * (self.n // 0)", "self.message.what + self.needs(self.k)",
        "self.needs(self.k) + self.message.what", "abs(self.maybe) + self.needs(self.k)",
        "-self.maybe + self.needs(self.k)", "len(self.log[self.maybe:]) + self.needs(self.k)",
        "self.lots.count(self.needs(self.k))", "sum(range(self.maybe)) + self.needs(self.k)",
        "{m: self.needs(self.k) for m in Node}[self.node]",
        "{m: self.log[0] + self.needs(0) for m in Node}[self.node]", "sorted([self.log[5], self.needs(0)])[0]",
        "(self.log + [self.needs(self.k)])[5]", "sum(self.needs(x) // x for x in self.log)",
        "sum(x // (x - 1) + self.needs(x) for x in self.log)", "sum(x for x in self.log if self.needs(x) > 0)",
        "len([x for x in self.log if self.needs(x + 1) > 1])",
        "sum(1 for x in self.log for y in range(self.needs(x)))",
        "self.k * 2 + (self.bump() if self.on else self.k) * self.k", "(self.bump(), self.k, self.bump())[self.k]",
        "[self.bump() for _ in range(3)][self.k]", "self.log[self.bump() : self.k][0]",
        "{m: self.bump() for m in Node}[self.node] + self.k", "sum(self.bump() * self.k for _ in self.log)",
        "self.doubled(self.bump()) + self.k", "plus(self.k, y=self.bump(), scale=self.k)",
        "plus(scale=self.bump(), x=self.k)", "self.with_default(self.k, y=(self.bump(), self.k))",
        "max(self.k, self.bump(), self.k)", "min([self.k, self.bump(), self.k])",
        "self.pair.sum_with(self.bump()) + self.k", "Pair(a=self.bump()).sum_with(self.k)",
        "self.per[self.moved()] * 10 + self.per[self.node]", "len(self.log) * 10 + self.logged() + len(self.log)",
        "sum(self.log) + self.logged() * sum(self.log)", "sum(x + self.logged() for x in self.log) + len(self.log)",
        "sum(len(self.log) + self.logged() for x in self.log)", "max(x + self.logged() for x in self.log)",
        "sum(self.bump() for m in Node) + self.k", "sum(1 for m in Node if self.bump() > 0) * 10 + self.k",
        "max(self.bump() for m in Node) * 10 + self.k", "len({m for m in Node if self.bump() > 0}) * 10 + self.k",
        "sum(1 for m in Node for x in range(self.bump())) * 10 + self.k",
    ),
    "functions": (
        "self.doubled(self.n)", "self.with_default()", "self.with_default(1, y=(1,))", "self.of_class(Node)",
        "self.of_class(Colour)", "self.of_two_kinds()", "Variables.rule_of_the_model(self)",
    ),
    "names": (
        "FIVE", "self.n", "self.most", "len_of(self.log)", "len(PRIMES)", "DIGITS[1]",
        "PAIR.a", "PAIR.sum_with(self.k)", "Pair.twice(PAIR.a)", "PAIR.replace(a=self.k).a", "TOLD.what",
        "sum(it.a for it in PAIRS)", "max(it.a for it in PAIRS if it.b)", "len(PAIRS | {self.pair})",
        "len(PAIRS - {PAIR})", "sum(GROUP.members)", "len(GROUP.members & self.nums)", "WEIGHTS[self.colour]",
        "RANKS[self.k]",
        "WEIGHTS[Colour.CRIMSON]", "sum(WEIGHTS.values())", "sum(w for c, w in WEIGHTS.items() if c == self.colour)",
        "COINS.count(self.k)", "len(COINS)", "self.per[PARTNERS[self.node].by]",
        "(1 if PAIRS.isdisjoint({self.pair}) else 0)",
    ),
    "integers": (
        "self.n // 2", "self.n % 2", "self.n // -2", "self.n % -2", "-self.n // 2", "-self.n % 2", "-(self.n // 2)",
        "self.n * self.n - 1", "2 - self.n - 1", "2 - (self.n - 1)", "self.n // self.k", "self.n % self.k",
        "self.n // self.n", "-5 // 2", "-5 % 3", "5 % -3", "--self.n", "0x10", "1_0", "abs(self.n)",
        "abs(self.n - 1)", "self.n // (self.k - 1)", "-self.k", "self.k * -1", "self.n - -1",
        "self.k * 4611686018427387903 // 4611686018427387903",
    ),
    "truth": (
        "(1 if self.log else 0)", "(1 if self.some else 0)", "(1 if self.on else 2)",
        "(1 if self.on else 2 if self.n > 0 else 3)", "(self.spoilt() if self.n > 0 else 0)",
        "(self.maybe if self.maybe is not None else -1)", "(-1 if self.maybe is None else self.maybe)",
        "(self.maybe + 1 if self.maybe is not None else 0)", "(5 if True else self.spoilt())",
        "(self.spoilt() if False else 5)",
    ),
    "sequences": (
        "self.log[0]", "self.log[-1]", "self.log[self.n]", "self.log[5]", "len(self.log[1:])", "len(self.log[:-1])",
        "len(self.log[-2:])", "len(self.log[self.n :])", "len(self.log[: self.n])", "self.log[:][0]",
        "(self.log + [1])[0]", "([1] + self.log)[-1]", "([1] + [2])[1]", "((1,) + (2,))[1]", "len((1,) + self.log)",
        "len(self.log + (1,))", "len(self.log + self.log)", "[5, 6][self.k]", "(5, 6)[self.k]", "[5, 6][-1]",
        "Seq([5, 6])[1]", "len(Seq())", "len(Seq(self.log))", "len(list(self.log))", "len(tuple(self.log))",
        "len(list(self.some))", "len(list(Node))", "len(list(range(self.k)))", "[x for x in self.log][0]",
        "len([x for x in self.log if x > 0])", "len([x for x in self.log if x > 0 if x < 2])", "[[1, 2], [3]][0][1]",
        "len([[1, 2], [3]][1])", "([x for x in (3, 1)] + [2])[0]", "self.log[self.bump() - 1]",
        "self.log[self.logged()]", "(self.log, [9])[1][0]", "[self.logged(), len(self.log)][1]",
        "[len(self.log), self.logged()][0]", "len(self.log) + self.logged() + len(self.log)",
        "(self.log + [self.logged()])[0]", "(self.log[0], self.logged())[0]", "self.log[self.maybe :][0]",
        "self.log[self.maybe]", "sorted(self.log)[0]", "sorted(self.log, reverse=True)[0]", "sorted(self.lots)[0]",
        "sorted(self.nums)[0]", "sorted({3, 1, 2})[0]", "sorted(x * x for x in self.log)[0]",
        "sorted(range(3), reverse=True)[0]", "sorted(self.log, reverse=0)[0]",
    ),
    "sets": (
        "len(self.some | {self.node})", "len(self.some & {self.node})", "len(self.some - {self.node})",
        "len(self.some ^ {self.node})", "len({1, self.k})", "len({1, 1})", "len(set())", "len(Set())",
        "len({x % 2 for x in self.log})", "len(Set(x for x in self.log))", "len(set(self.log))",
        "len(frozenset(self.log))", "len(set(self.lots))", "len({1} | {2})", "len({1, 2} - {2})",
        "len({Set({1}), Set({1})})", "len({frozenset({1}), Set({1})})", "len({(1,), (1,)})", "len({None, 1})",
        "len({Colour.RED, Colour.CRIMSON})", "len({Pair(a=1), Pair(a=1)})",
        "len({self.message, Asked(by=self.node)})", "len({x for x in range(3)} & {1})", "sum({3, 3})",
        "sum({x // 2 for x in self.log})", "sum([x // 2 for x in self.log])", "sum(x // 2 for x in self.log)",
        "max({x for x in self.log})",
    ),
    "maps": (
        "self.per[self.node]", "self.per[Node(1)]", "self.per[None]", "len(self.per)", "sum(self.per.values())",
        "sum(self.per[m] for m in self.per)", "sum(v for m, v in self.per.items())",
        "sum(1 for m in self.per.keys() if m == self.node)", "max(self.per.values())", "len({m: 0 for m in Node})",
        "{m: self.k for m in Node}[self.node]", "Map({m: self.k for m in Node})[self.node]",
        "{i: i for i in range(3)}[self.k]", "{c: 1 for c in Colour}[self.colour]", "dict(self.per)[self.node]",
        "len(self.sets[self.node] | {2})", "self.per[self.moved()]", "{m: self.bump() for m in Node}[Node(1)]",
        "sum(x for m in Node for x in self.sets[m])", "[v for m, v in self.per.items()][0]",
        "list(self.per.values())[0]", "self.per[self.node]",
    ),
    "bags": (
        "self.lots.count(1)", "self.lots.count(7)", "self.lots.count(self.maybe)", "len(self.lots)",
        "sum(self.lots)", "len(Bag())", "len(Bag([1, 1]))", "Bag([1, 1]).count(1)",
        "sum(x for x in self.lots if x > 1)", "[x for x in self.lots][0]", "max(self.lots)", "len(set(self.lots))",
        "len(Bag(self.nums))", "list(self.lots)[0]",
    ),
    "records": (
        "self.pair.a", "Pair(a=self.n).a", "Pair(b=True, a=1).a", "Pair(a=9).a", "self.pair.replace(a=2).a",
        "self.pair.replace().a", "self.pair.sum_with(3)", "self.pair.twice(3)", "Pair.twice(self.n)",
        "Pair.sum_with(self.pair, 2)", "Pair(b=self.bump() > 0, a=self.k).a", "Pair(a=self.k, b=self.bump() > 0).a",
        "self.pair.replace(b=self.bump() > 0, a=self.k).a", "Pair(b=self.spoilt() > 0, a=self.needs(self.k)).a",
        "Pair(a=self.needs(self.k), b=self.spoilt() > 0).a",
        "(self.message.what if isinstance(self.message, Told) else 0)", "self.message.what",
        "len(Group(members={1}).members)", "Pair(a=Pair(a=2).a).a",
    ),
    "enums": (
        "len(Colour)", "sum(1 for c in Colour if c == self.colour)", "sum(1 for c in Colour)",
    ),
    "identifiers": (
        "len(Node)", "sum(1 for m in Node)",
    ),
    "folds": (
        "sum(self.log)", "sum([])", "sum(x > 0 for x in self.log)", "sum([self.on, True])", "sum(range(4))",
        "min(self.log)", "max(self.log)", "min(self.log, default=9)", "max(self.log, default=self.k)",
        "max((x for x in self.log if x > 1), default=-5)", "max(self.n, self.k)", "min(self.n, self.k, 1)",
        "max([])", "max(x for x in self.log)", "max(self.maybe, 1)", "max(range(self.k))", "max(range(1, 3))",
        "max(self.bump(), self.k)", "max(self.k, self.bump())", "max(self.log[0], 1, self.log[-1])",
        "sum(self.bump() for x in range(3))", "sum(self.needs(x) for x in self.log)",
        "sum(1 for x in self.log for y in self.log if x < y)", "sum(1 for x in self.log if x > 0 for y in range(x))",
        "sum(y for x in range(3) for y in range(x))", "max(max(x, y) for x, y in zip(self.log, self.log[1:]))",
        "sum(i * x for i, x in enumerate(self.log))", "sum(i for i, x in enumerate(self.log, 1))",
        "sum(i for i, x in enumerate(self.log, start=2))", "min({3, 1})", "max(self.nums)",
        "min(x * x for x in self.nums)", "sum(self.nums)", "sum(x for x in self.nums)",
    ),
    "scopes": (
        "sum(x for x in [x for x in self.log])", "sum(x for x in range(3) for x in range(x))",
        "[x for x in range(2)][0] + sum(x for x in [4])", "sum(FIVE for FIVE in [1, 2]) + FIVE",
        "sum(self for self in [1, 2])", "sum(self.n for y in [1] if self.n > 0)",
        "sum(y for x in self.log for y in [x] if y > 0)", "sum(len for len in [1, 2])",
    ),
    "calls": (
        "plus(1)", "plus(1, 2)", "plus(x=1)", "plus(1, y=2)", "plus(y=2, x=1)", "plus(1, scale=2)",
        "plus(self.bump(), self.k)", "plus(self.k, self.bump())", "plus(y=self.bump(), x=self.k)",
        "plus(x=self.k, y=self.bump())", "plus(plus(1), plus(2))", "self.bump() + self.k", "self.k + self.bump()",
        "self.k - self.bump() * self.k", "self.needs(self.n)", "self.needs(self.n) if self.on else 0",
        "self.spoilt() + self.needs(self.k)", "self.needs(self.k) + self.spoilt()",
    ),
}
"""Integers."""
TRUTHS: dict[str, tuple[str, ...]] = {
    "enabled": (
        "enabled(self.takes)", "enabled(self.takes_one_of)", "enabled(self.waits)", "not enabled(self.waits)",
        "enabled(self.always_goes)", "self.n > 0 and enabled(self.takes)",
        "any(enabled(self.waits) for m in self.some)", "implies(enabled(self.takes), self.n > 0)",
    ),
    "names": (
        "self.pair == PAIR", "PAIR == Pair(a=2, b=True)", "self.pair in PAIRS", "PAIR in PAIRS", "TOLD == self.message",
        "self.message == TOLD and TOLD.what == self.message.what", "TOLD.by in self.some",
        "PARTNERS[self.node].by == TOLD.by", "self.k in COINS", "Bag([self.k]) == COINS",
        "WEIGHTS == Map({c: self.k for c in Colour})", "GROUP.members <= self.sets[self.node]",
        "all(w > 0 for w in WEIGHTS.values())", "isinstance(TOLD, Told)",
    ),
    "order of evaluation": (
        "self.maybe < self.needs(self.k)", "self.needs(self.k) < self.maybe", "self.n < self.log[5] < self.needs(0)",
        "self.maybe in [self.needs(self.k)]", "self.log[5] in [self.needs(0)]", "self.needs(0) in [self.log[5]]",
        "self.needs(self.k) in range(self.maybe)", "self.node in self.some and self.needs(self.k) > 0",
        "self.needs(self.k) == self.log[0]", "self.log[0] == self.needs(self.k)",
        "self.message.what == self.needs(self.k)", "isinstance(self.message, Told) and self.message.what > 0",
        "self.message is not None and self.message.by == self.node", "self.on and self.maybe > 0",
        "self.maybe is not None and self.maybe > 0", "self.maybe is None or self.maybe > self.needs(self.k)",
        "implies(self.maybe is not None, self.maybe > 0)", "implies(self.needs(self.k) > 0, self.log[0] > 0)",
        "any([self.needs(x) > 1 for x in self.log])", "all([2 // x > 1 for x in self.log])",
        "any({2 // x > 1 for x in self.log})", "all([self.needs(x) > 1 for x in self.log if x < 3])",
        "any([self.bump() > 1 for x in self.log]) and self.k > 1",
        "any(x > self.needs(self.k) for x in self.log)", "all(self.needs(x) > 1 for x in self.log)",
        "any(self.needs(x) > 1 or self.log[x] > 0 for x in self.log)", "not (self.needs(self.k) > 1)",
        "(self.needs(self.k) > 1) == self.on", "self.some <= ({self.moved()} | self.some)",
        "{self.moved()} <= self.some", "self.log == [self.needs(x) for x in self.log]",
        "self.log == self.log + [self.logged()]", "self.log + [self.logged()] == self.log",
        "[self.logged(), 2] == self.log", "self.bump() == self.k == self.k", "self.k < 1 < self.bump()",
        "self.k == (self.bump() if self.on else self.k)", "self.bump() > 0 and self.k > 0",
        "self.k > 0 and self.bump() > 0 or self.k > 1", "not self.bump() > 0 or self.k > 0",
        "self.per == {m: self.bump() for m in Node}", "self.lots == Bag([self.bump(), self.k])",
        "self.nums.isdisjoint({self.bump(), self.k})", "any(self.bump() > 1 for x in self.log) and self.k > 1",
        "all(self.bump() > 1 for x in self.log) or self.k > 1", "any(self.bump() > 2 for m in Node) or self.k > 1",
        "all(self.bump() > 1 for m in Node) or self.k > 1", "all(self.bump() < 3 for m in Node) and self.k > 1",
        "self.sets[self.moved()] == self.sets[self.node]",
    ),
    "comparisons": (
        "self.n < self.k", "self.n < self.k < 2", "-1 <= self.n <= self.k != 2", "self.n == self.k == 0",
        "0 < self.n in self.nums", "1 < 2 > self.n", "self.n != self.k", "not self.n < self.k", "self.maybe is None",
        "self.maybe is not None", "self.maybe == None", "self.maybe != None", "self.maybe == self.k",
        "self.maybe == 1", "self.maybe < 1", "self.maybe == 5", "self.n == 9", "self.node == Node(1)",
        "self.colour == Colour.RED", "self.colour == Colour.CRIMSON", "self.colour != Colour.GREEN",
        "self.on == True", "self.on != self.on", "self.pair == Pair(a=1)", "self.pair.b == self.on",
        "self.message == Asked(by=self.node)", "self.message == Told(by=self.node, what=1)", "self.log == [1, 2]",
        "self.log == (1, 2)", "self.log == Seq((1, 2))", "[1] == [1]", "(self.n, 1) == (1, 1)",
        "(self.n,) == Seq([self.n])", "[self.n, 1] != [1, 1]", "self.log == []", "self.log == ()",
        "self.log[:1] == [self.n]", "tuple(self.log) == (1, 2)", "[x for x in self.log] == [1, 2]",
        "self.some == {Node(1)}", "self.some == Set({Node(1)})", "{1, 2} == {2, 1}", "{self.n, 1} == {1}",
        "self.lots == Bag([1, 1])", "Bag([2, 1]) == Bag((1, 2))", "self.some < {Node(1), Node(2)}",
        "self.some <= {self.node}", "self.some >= {self.node}", "self.some > Set()", "{1} < {1, 2} <= {2, 1, 3}",
        "self.per == Map({m: 0 for m in Node})", "self.per == {m: self.k for m in Node}",
        "self.n == (1 if self.on else None)", "self.n <= (1 if self.on else None)",
        "self.bump() < self.k < self.bump()", "self.bump() < self.k", "self.k < self.bump()",
    ),
    "truth": (
        "self.on and self.n > 0", "self.on or self.n > 0", "not self.on", "not self.log", "not self.some",
        "not self.lots", "not not self.on", "True and self.on", "False or self.on", "self.on and True",
        "self.on or True", "self.on and False", "self.on and self.spoilt() == 1",
        "self.n > 0 and self.spoilt() == 1", "self.n <= 0 or self.spoilt() == 1", "self.spoilt() == 1 and False",
        "self.spoilt() == 1 or True", "implies(self.on, self.n > 0)", "implies(self.n > 0, self.spoilt() == 1)",
        "not self.per", "(self.n > 0) == (self.k > 0)",
        "self.on and (self.n > 0 or self.k > 1) and not self.maybe is None", "(None if self.on else 1) is None",
    ),
    "membership": (
        "self.node in self.some", "self.node not in self.some", "self.n in self.log", "self.n in self.lots",
        "self.n in range(2)", "self.n in range(-1, self.k)", "self.n in (1, 2)", "self.n in [1, self.k]",
        "self.n in {1, self.k}", "self.n in ()", "self.n in Set()", "self.n in []", "self.maybe in (None, 1)",
        "self.maybe in {1, 2}", "self.maybe in self.lots", "None in (self.maybe, 1)", "None in self.log",
        "self.node in Node", "self.colour in Colour", "self.k in self.per.values()", "self.log in [[1, 2]]",
        "[1, 2] in [self.log]", "(1, 2) in [self.log]", "(self.n,) in {(1,), (2,)}", "self.on in (True, False)",
        "self.n in self.nums | {7}", "9 in self.log", "self.colour in (Colour.RED, Colour.GREEN)",
        "self.colour in {Colour.CRIMSON}", "self.pair in [Pair(a=1)]", "self.message in (Asked(by=self.node), None)",
        "{1} in [{1}]", "{1} in {Set({1})}", "Set({1}) in [{1}, {2}]", "self.bump() in self.lots",
        "self.bump() in [self.k, 0]", "self.k in [self.bump(), 0]", "self.n in self.log[1:]",
        "self.bump() in range(self.k, 3)", "self.n in sorted(self.log)", "self.n in [x + 1 for x in self.log]",
        "self.n in {x + 1 for x in self.log}",
    ),
    "sets": (
        "self.some.isdisjoint({self.node})", "{1}.isdisjoint({2})",
    ),
    "maps": (
        "self.sets[self.node] == {1}", "list(self.per)[0] == Node(1)", "list(self.per.keys())[0] == Node(1)",
    ),
    "records": (
        "Pair(a=self.n).b", "self.pair.replace(b=True).b", "Pair.b", "isinstance(self.message, Told)",
        "isinstance(self.message, Asked)", "isinstance(self.message, (Told, Asked))",
        "isinstance(self.message, Told | Asked)", "isinstance(self.message, Record)",
        "isinstance(self.message, Pair)", "isinstance(self.pair, Pair)", "self.message.by == self.node",
        "(self.message.by == self.node if self.message is not None else False)",
        "Group(members={1, 2}).members == {2, 1}",
    ),
    "enums": (
        "[c for c in Colour][0] == self.colour", "list(Colour)[1] == self.colour",
    ),
    "identifiers": (
        "Node(1) == self.node", "list(Node)[0] == self.node", "[m for m in Node if m != self.node][0] == Node(1)",
        "len(self.some) * 2 > len(Node)",
    ),
    "folds": (
        "any(x > 0 for x in self.log)", "all(x > 0 for x in self.log)", "any([x > 0 for x in self.log])",
        "all({x > 0 for x in self.log})", "any([])", "all([])", "any([self.on, self.n > 0])",
        "all((self.on, self.n > 0))", "any(x > 0 for x in [])", "all(v == 0 for v in self.per.values())",
        "any(self.on for _ in range(0))", "any(any(x > y for x in self.log) for y in self.nums)",
        "any(self.spoilt() == 1 for x in self.log if x > 0)", "all(self.n > 0 and self.spoilt() == 1 for x in [1])",
        "any(self.bump() > 1 for x in range(3))", "any(self.needs(x) > 5 for x in self.log)",
        "any(True for x in self.nums if x < 0)",
    ),
    "scopes": (
        "any(Node == Node for Node in [1])",
    ),
    "calls": (
        "self.always() == True", "self.on and self.needs(self.n) > 1",
    ),
}
"""Truth values."""
BODIES: dict[str, tuple[str, ...]] = {
    "several at once": (
        "self.n, self.k = self.k, self.n\nreturn self.n * 10 + self.k",
        "a, b = self.k, self.n\na, b = b, a\nreturn a * 10 + b",
        "a, b, c = 1, self.k, 3\nb, c, a = a, b, c\nreturn a * 100 + b * 10 + c",
        "self.k, self.per[self.node] = self.per[self.node], self.k\nreturn self.per[self.node] * 10 + self.k",
        "i, self.log[i] = 0, self.n\nreturn self.log[0] + i",
        "self.k, self.log[self.k] = 0, self.n\nreturn self.log[0] * 10 + self.k",
        "self.node, self.per[self.node] = Node(2), 2\nreturn self.per[Node(2)] * 10 + self.per[Node(1)]",
        "a, b = self.bump(), self.k\nreturn a * 10 + b",
        "a, b = self.k, self.bump()\nreturn a * 10 + b",
        "a, b = self.log[5], self.needs(0)\nreturn a + b",
        "a, b = self.needs(0), self.log[5]\nreturn a + b",
        "self.n, self.k = 9, self.needs(0)\nreturn 1",
        "self.k, self.n = 9, self.log[5]\nreturn 1",
        "self.some, before = self.some | {self.node}, self.some\nreturn len(self.some) * 10 + len(before)",
        "self.some, self.per[Node(1)] = Set(), len(self.some)\nreturn self.per[Node(1)] * 10 + len(self.some)",
        "a, b = None, self.maybe\nif self.on:\n    a, b = b, a\nreturn 0 if a is None else a",
        "self.pair.a, self.pair.b = self.k, self.n > 0\nreturn self.pair.a + (1 if self.pair.b else 0)",
        "self.message, self.pair = Asked(by=self.node), PAIR\nreturn self.pair.a",
        "self.log, self.lots = [self.k], [self.k]\nreturn len(self.log) * 10 + len(self.lots)",
        "a, a = self.k, self.n\nreturn a",
        "t = 0\na, b = 0, 1\nfor x in self.log:\n    a, b = b, a + b\n    t += a * x\nreturn t",
        "(a, b) = (self.n, self.k)\nreturn a * 10 + b",
        "a, = (self.n,)\nreturn a",
    ),
    "alias": (
        "a = self.some\nb = a\na |= {self.node}\nreturn len(b) * 10 + len(self.some)",
        "a = Set({1})\nb = a\na |= {2}\nreturn len(b)",
        "a = self.given([1])\nreturn len(a)",
        "m = {k: 0 for k in Node}\nn = m\nreturn len(n)",
    ),
    "order": (
        "t = 0\nfor x in Set({8, 1}) & {8, 1}:\n    t = t * 10 + x\nreturn t",
        "t = 0\nfor x in {8, 1} & Set({8, 1}):\n    t = t * 10 + x\nreturn t",
        "t = 0\nfor x in {8, 1} - Set({3}):\n    t = t * 10 + x\nreturn t",
        "s = Group(members={2, 1}).members\nt = 0\nfor x in s:\n    t = t * 10 + x\nreturn t",
        "s = self.sets[self.node]\nt = 0\nfor x in s:\n    t = t * 10 + x\nreturn t",
        (
            "a = {8}\nt = 0\nfor i in range(2):\n    b = a\n    for x in Set(b):\n        t = t * 10 + x\n"
            "    a = a | {1}\nreturn t"
        ),
    ),
    "aug": (
        "self.k += self.bump()\nreturn self.k",
        "self.k -= self.bump()\nreturn self.k",
        "x = 1\nx += self.bump()\nreturn x",
        "x = self.k\nx *= self.bump()\nreturn x",
        "self.pair.a += 1\nreturn self.pair.a",
        "self.k = self.bump() + self.k\nreturn self.k",
        "self.per[self.node] = self.moved_by()\nreturn self.per[Node(1)] * 10 + self.per[Node(2)]",
        "self.per[self.moved()] = self.per[self.node]\nreturn self.per[Node(1)] * 10 + self.per[Node(2)]",
        "self.some |= {self.moved()}\nreturn len(self.some)",
        "self.nums -= {1}\nreturn len(self.nums)",
        "self.n //= 2\nreturn self.n",
        "self.n %= 2\nreturn self.n",
        "self.log += [1]\nreturn len(self.log)",
        "self.maybe += 1\nreturn 1",
        "self.sets[self.node] |= {1}\nreturn len(self.sets[Node(1)])",
        "self.sets[self.node].add(1)\nreturn len(self.sets[Node(1)])",
        "self.sets[self.node].discard(1)\nreturn len(self.sets[Node(1)])",
        "self.sets[self.node].remove(1)\nreturn len(self.sets[Node(1)])",
        "self.log.append(1)\nreturn self.log[-1]",
        "self.log[0] = self.log[-1]\nreturn self.log[0]",
        "self.log[self.n] = 1\nreturn self.log[0]",
        "self.log[-1] -= 1\nreturn self.log[-1]",
        "self.lots.add(1)\nreturn len(self.lots)",
        "self.lots.remove(1)\nreturn len(self.lots)",
        "self.pair = self.pair.replace(a=0)\nreturn self.pair.a",
        "self.pair.b = self.pair.a > 0\nreturn 1 if self.pair.b else 0",
        "self.per = self.per\nreturn 1",
        "FIVE = 6\nreturn FIVE",
        "(self.k) = 1\nreturn self.k",
        "self.k: int = 1\nreturn self.k",
        "x: int = 1\nreturn x",
    ),
    "flow": (
        "x = None\nfor y in self.log:\n    if x is None or y > x:\n        x = y\nreturn -1 if x is None else x",
        "if self.on:\n    x = 1\nelse:\n    x = 2\nreturn x",
        "t = Set()\nfor m in Node:\n    if self.bump() > 0:\n        t = t | {m}\nreturn len(t) * 10 + self.k",
        "t = Set()\nfor m in Node:\n    if m in self.some:\n        t = t | {m}\nreturn len(t)",
        "t = Set()\nfor m in self.some:\n    if len(t) < 1:\n        t = t | {m}\nreturn len(t)",
        "t = 0\nfor m in Node:\n    if self.per[m] > t:\n        t = self.per[m]\nreturn t",
        "t = 0\nfor m in Node:\n    if self.per[m] >= t and self.bump() > 0:\n        t = self.per[m]\nreturn t",
        "for m in Node:\n    if self.per[m] > 1:\n        return self.per[m]\nreturn 0",
        "for m in Node:\n    self.per[m] = self.k\nreturn self.per[self.node]",
        "for m in Node:\n    require(self.per[m] < 2)\nreturn 1",
        "for m in self.some:\n    assert self.per[m] < 2\nreturn 1",
        "x = 0\nif self.on:\n    x = 1\nelif self.n > 0:\n    x = 2\nreturn x",
        "if self.on:\n    return 1\nreturn 2",
        "if self.on:\n    return 1\nelse:\n    return 2",
        "for x in self.log:\n    if x > 1:\n        return x\nreturn 0",
        "for x in self.log:\n    for y in self.log:\n        if x < y:\n            return x\nreturn 0",
        (
            "t = 0\nfor x in self.log:\n    if x < 0:\n        break\n    for y in self.log:\n        if y > 1:\n"
            "            break\n        if y == x:\n            continue\n        t += 1\n    else_ = 1\n"
            "    t += else_\nreturn t"
        ),
        "t = 0\nfor x in range(self.k):\n    self.k = 0\n    t += 1\nreturn t",
        "t = 0\nfor x in self.log:\n    self.log = Seq()\n    t += 1\nreturn t",
        "t = 0\nfor x in self.some:\n    self.some = Set()\n    t += 1\nreturn t",
        "t = 0\nfor x, v in self.per.items():\n    self.per[Node(2)] = 0\n    t = t * 3 + v\nreturn t",
        "t = 0\nfor v in self.per.values():\n    self.per[Node(2)] = 0\n    t = t * 3 + v\nreturn t",
        "t = 0\nfor i, v in enumerate(self.log):\n    self.log = Seq([2])\n    t = t * 3 + v + i\nreturn t",
        "t = 0\nfor v, w in zip(self.log, self.log):\n    self.log = Seq([2])\n    t = t * 3 + v + w\nreturn t",
        "t = 0\nfor v in self.lots:\n    self.lots = Bag()\n    t = t * 3 + v\nreturn t",
        "t = 0\nfor x in [self.bump(), self.k]:\n    t = t * 3 + x\nreturn t",
        "t = 0\nfor x in range(self.bump(), 3):\n    t = t * 3 + x\nreturn t",
        "t = 0\nfor x in range(self.k, self.bump() + 1):\n    t = t * 3 + x\nreturn t",
        "t = 0\nfor x in range(2, -1, -1):\n    t = t * 3 + x\nreturn t",
        "t = 0\nfor x in range(0, self.k, 2):\n    t = t * 3 + x\nreturn t",
        "t = 0\nfor c in Colour:\n    t += 1 if c == self.colour else 10\nreturn t",
        "t = 0\nfor x in (1, 2):\n    t += x\nreturn t",
        "t = 0\nfor x in [y for y in self.log if y > 0]:\n    t += x\nreturn t",
        "assert self.n > 0\nreturn 1",
        "assert self.n > 0, 'no'\nreturn 1",
        "assert self.log\nreturn 1",
        "assert self.n > 0, f'{self.n}'\nreturn 1",
        "require(self.n > 0)\nreturn 1",
        "require(self.log)\nreturn 1",
        "if self.n > 0:\n    require(self.k > 0)\nself.k = 0\nreturn 1",
        "self.k = 0\nrequire(self.n > 0)\nreturn 1",
        "for x in self.log:\n    require(x > 0)\nreturn 1",
        "if self.on:\n    pass\nreturn 1",
        "'doc'\nreturn 1",
        "self.bump()\nreturn self.k",
        "self.needs(self.n)\nreturn 1",
        "self.spoilt()\nreturn 1",
        "pass\nreturn 1",
        "for x in self.log: pass\nreturn 1",
        "x = 1\nif self.on:\n    x = None\nreturn 0 if x is None else x",
        "len = 3\nreturn len",
        "Node = 1\nreturn Node",
        "sum = 0\nfor x in self.log:\n    sum += x\nreturn sum",
        "x = [5]\nreturn sum(x for x in x) + len(x)",
        "x = 7\ny = None\nif y is None or any(x > y for x in self.log):\n    pass\nreturn x",
        "x = 7\ny = None\nif y is not None and any(x > y for _, x in enumerate(self.log)):\n    pass\nreturn x",
        "x = 7\nreturn sum(x for y in [x] for x in [y]) + x",
        "i = 3\nreturn sum(1 for i in range(i))",
        "i = 3\nreturn sum(x + i for i, x in enumerate(self.log) if i > 0) + i",
        "m = 1\nreturn sum(v for m, v in self.per.items()) + m",
    ),
}
"""Functions that return an integer."""
NOT_VALUES: dict[str, tuple[tuple[str, str], ...]] = {
    "enabled": (("enabled(self.takes)", "enabled belongs in a property; an action has its own guards"),),
    "names": (
        ("TOO_LARGE.a", "TOO_LARGE.a would become 9, outside of -3..3"),
        ("self.pair == TOO_LARGE", "TOO_LARGE.a would become 9, outside of -3..3"),
        ("A_THIRD.what", "A_THIRD.by would become n3, which is not a value of Node"),
        ("len(PLAIN.members)", "PLAIN has a plain container in a field; write Set(...), Seq(...) or Map(...)"),
        ("HALF[self.colour]", "HALF needs a value for every key, an identifier, a member of an enum or one of some"),
        ("TEXTS[self.node] == self.node", "is not a value of the modelling language"),
        ("PAIR.c", "Pair has no field 'c'; it has a, b"),
        ("self.colour in WEIGHTS", "a map has every key; where one may be without a value let that be None"),
    ),
    "order of evaluation": (
        ("sum(x for x in range(self.maybe, self.needs(self.k)))", "an end of this range may be None"),
        ("(self.per[self.node], self.moved())[0]", "they need one type"),
    ),
    "functions": (
        ("self.length", "write a method and call it"), ("self.length()", "a property is not part of the language"),
        ("self.made()", "is not a method"), ("self.many(1)", "has * or ** or / among its parameters"),
        ("self.named(x=1)", "has * or ** or / among its parameters"),
        ("self.again()", "recursion is not part of the language"),
        ("self.untold()", "does not return a value on every path"), ("self.nothing() == 1", "returns no value"),
        ("self.later()", "is not a plain function"),
    ),
    "integers": (
        ("+self.n", "'+self.n' (UnaryOp) is not part of the modelling language"),
        ("~self.n", "'~self.n' (UnaryOp) is not part of the modelling language"),
        ("self.n << 1", "-3..3 and 1..1 cannot be combined in 'self.n << 1';"),
        ("self.n >> 1", "-3..3 and 1..1 cannot be combined in 'self.n >> 1';"),
        ("self.k & 1", "0..2 and 1..1 cannot be combined in 'self.k & 1'; integers"),
        ("self.k | 1", "0..2 and 1..1 cannot be combined in 'self.k | 1'; integers"),
        ("self.k ^ 1", "0..2 and 1..1 cannot be combined in 'self.k ^ 1'; integers"),
        ("self.n ** 2", "-3..3 and 2..2 cannot be combined in 'self.n ** 2';"),
        ("self.n / 1", "-3..3 and 1..1 cannot be combined in 'self.n / 1'; divide"),
        ("self.n @ self.n", "-3..3 and -3..3 cannot be combined in 'self.n @ self.n';"),
        ("True + 1", "an integer is needed here, but this is bool"),
        ("self.on + 1", "an integer is needed here, but this is bool"),
        ("divmod(self.n, 2)[0]", "divmod is not part of the modelling language"),
        ("pow(self.n, 2)", "pow is not part of the modelling language"),
        ("round(self.n)", "round is not part of the modelling language"),
        ("int(self.n)", "int is not part of the modelling language; write 1 if ..."),
        ("int(self.on)", "int is not part of the modelling language; write 1 if ..."),
        ("self.n.bit_length()", "-3..3 has no method 'bit_length'"),
        ("self.n.real", "-3..3 has no attribute 'real'"),
        ("1.5", "1.5 is not part of the language; use bool, int, Enum or None"),
        ("1j", "1j is not part of the language; use bool, int, Enum or None"),
        ("self.n * self.on", "an integer is needed here, but this is bool"),
        ("10 ** 3", "10..10 and 3..3 cannot be combined in '10 ** 3'; integers"),
    ),
    "comparisons": (
        ("self.n in self.nums == True", "this compares Set[-3..3] and bool, which have no value in"),
        ("self.n == 1 != self.on", "this compares 1..1 and bool, which have no value in common"),
        ("self.n is self.k", "`is` compares with None only; write =="),
        ("self.n is 1", "`is` compares with None only; write =="),
        ("None is self.maybe", "`is` compares with None only; write =="),
        ("self.node is Node(1)", "`is` compares with None only; write =="),
        ("self.node < Node(2)", "an integer is needed here, but this is Node"),
        ("self.node != self.maybe", "this compares Node and 0..2 | None, which have no value in"),
        ("self.colour is Colour.RED", "`is` compares with None only; write =="),
        ("self.colour == 1", "this compares Colour and 1..1, which have no value in common"),
        ("self.on is True", "`is` compares with None only; write =="),
        ("self.on == 1", "this compares bool and 1..1, which have no value in common"),
        ("self.pair == self.message", "this compares Pair and Asked | Told | None, which have no"),
        ("[1, 2] == (1, 2)", "a list never equals a tuple; write both as lists, or one as"),
        ("[self.n] == (self.n,)", "a list never equals a tuple; write both as lists, or one as"),
        ("list(self.log) == tuple(self.log)", "a list never equals a tuple; write both as lists, or one as"),
        ("tuple(self.log) == [1, 2]", "a list never equals a tuple; write both as lists, or one as"),
        ("[x for x in self.log] == (1, 2)", "a list never equals a tuple; write both as lists, or one as"),
        ("self.nums == self.lots", "this compares Set[-3..3] and Bag[0..2], which have no value"),
        ("self.lots == [1, 1]", "this compares Bag[0..2] and Seq[1..1], which have no value"),
        ("self.lots == (1, 1)", "this compares Bag[0..2] and Seq[1..1], which have no value"),
        ("self.log < [1]", "sequences have no order here; compare their elements one by"),
        ("self.per == self.sets", "this compares Map[Node, 0..2] and Map[Node, Set[0..2]],"),
        ("Node == Node", "Node is not a value of the modelling language"),
        ("self.k < self.bump() < 2", "self.bump() changes a variable; assign its value to a local"),
        ("self.k == self.bump() == self.k", "self.bump() changes a variable; assign its value to a local"),
    ),
    "truth": (
        ("self.on and self.n", "`and` and `or` take truth values; write x != 0, x is not"),
        ("self.n or 1", "`and` and `or` take truth values; write x != 0, x is not"),
        ("self.log and self.on", "`and` and `or` take truth values; write x != 0, x is not"),
        ("(self.maybe or 0) + 1", "`and` and `or` take truth values; write x != 0, x is not"),
        ("not self.maybe", "0..2 | None is not a truth value here; write `is not None`"),
        ("not self.n", "an integer is not a truth value here; write x != 0"),
        ("bool(self.n)", "bool is not part of the modelling language; write a"),
        ("bool(self.log)", "bool is not part of the modelling language; write a"),
        ("not None", "None is not a truth value here; write `is not None` or a"),
        ("self.on ^ True", "bool and bool cannot be combined in 'self.on ^ True';"),
        ("self.on & (self.n > 0)", "bool and bool cannot be combined in 'self.on & (self.n >"),
        ("self.on | (self.n > 0)", "bool and bool cannot be combined in 'self.on | (self.n >"),
        ("not self.pair", "Pair is not a truth value here; write `is not None` or a"),
        ("not self.message", "Asked | Told | None is not a truth value here; write `is"),
        ("not self.colour", "Colour is not a truth value here; write `is not None` or a"),
        ("not self.node", "Node is not a truth value here; write `is not None` or a"),
        ("(1 if self.n else 0)", "an integer is not a truth value here; write x != 0"),
        ("(1 if self.maybe else 0)", "0..2 | None is not a truth value here; write `is not None`"),
        ("((1 if self.on else None) or 2)", "`and` and `or` take truth values; write x != 0, x is not"),
    ),
    "membership": (
        ("self.n in range(0, 3, 2)", "`in range` with a step is not part of the language"),
        ("self.n in Node", "this asks whether -3..3 is one of Node; write `is not None`"),
        ("self.node in self.per", "a map has every key; where one may be without a value let"),
        ("self.node in self.per.keys()", "keys() belongs in a for loop, a comprehension or a fold"),
        ("(self.node, self.k) in self.per.items()", "the elements are Node and 0..2; they need one type"),
        ("(1,) in [[1]]", "a list never equals a tuple; write both as lists, or one as"),
        ("[1] in [(1,)]", "a list never equals a tuple; write both as lists, or one as"),
        ("True in (1, 2)", "this compares bool and 1..1, which have no value in common"),
        ("1 in (self.on, True)", "this compares 1..1 and bool, which have no value in common"),
        ("self.n in 5", "5..5 has no elements"),
        ("self.n in self.node", "Node has no elements"),
        ("self.n in enumerate(self.log)", "enumerate belongs in a for loop or a comprehension with"),
        ("self.n in zip(self.log)", "zip belongs in a for loop or a comprehension with several"),
        ("self.n in reversed(self.log)", "reversed is not part of the modelling language; loop over"),
        ("self.n in (x for x in self.log)", "a generator is not part of the modelling language but"),
        ("(1,) in {(1,), [1]}", "a plain list cannot be in a set; write a tuple or Seq(...)"),
        ("({1},) in {(Set({1}),)}", "a plain set cannot be in a set; write Set(...)"),
    ),
    "sequences": (
        ("len(self.log[::2])", "a slice with a step is not part of the language"),
        ("len(self.log[::-1])", "a slice with a step is not part of the language"),
        ("len([1] + (2,))", "a list cannot be joined with a tuple; write both as lists,"),
        ("len((1,) + [2])", "a list cannot be joined with a tuple; write both as lists,"),
        ("len(self.log * 2)", "an integer is needed here, but this is Seq[-3..3]"),
        ("len([0] * 3)", "an integer is needed here, but this is Seq[0..0]"),
        ("len([*self.log, 1])", "* is not part of the language; join with + or |, or list"),
        ("self.log.index(1)", "Seq[-3..3] has no method 'index'"),
        ("self.log.count(1)", "Seq[-3..3] has no method 'count'"),
        ("[1, 1].count(1)", "Seq[1..1] has no method 'count'"),
        ("self.log[None]", "an integer is needed here, but this is None"),
        ("self.log[True]", "an integer is needed here, but this is bool"),
        ("self.log[1.0]", "1.0 is not part of the language; use bool, int, Enum or None"),
        ("self.log[0:None][0]", "an integer is needed here, but this is None"),
        ("sorted([True, False])[0]", "sorted takes integers; bool has no order in Python"),
        ("len(sorted(self.some))", "sorted takes integers; Node has no order in Python"),
        ("sorted(self.log, key=abs)[0]", "sorted takes reverse=True only"),
        ("sorted(self.log, key=None)[0]", "sorted takes reverse=True only"),
        ("sorted(self.log)[::-1][0]", "a slice with a step is not part of the language"),
        ("sorted([(1, 2), (0, 3)])[0][0]", "sorted takes integers; Seq[0..3] has no order in Python"),
        ("sorted(self.log, reverse=self.on)[0]", "sorted takes reverse=True only"),
        ("list(reversed(self.log))[0]", "reversed is not part of the modelling language; loop over"),
        ("list(enumerate(self.log))[0][1]", "enumerate belongs in a for loop or a comprehension with"),
        ("list(zip(self.log, self.log))[0][0]", "zip belongs in a for loop or a comprehension with several"),
        ("next(iter(self.log))", "next is not part of the modelling language"),
        ("list(map(abs, self.log))[0]", "map is not part of the modelling language; write a"),
        ("list(filter(None, self.log))[0]", "filter is not part of the modelling language; write a"),
    ),
    "sets": (
        ("len({*self.nums})", "* is not part of the language; join with + or |, or list"),
        ("len(self.some.union({self.node}))", "Set[Node] has no method 'union'; write a | b"),
        ("len(self.nums | self.lots)", "Set[-3..3] and Bag[0..2] cannot be combined in 'self.nums |"),
        ("self.some.issubset(self.some)", "Set[Node] has no method 'issubset'; write a <= b"),
        ("len({{1}})", "a plain set cannot be in a set; write Set(...)"),
        ("len({[1]})", "a plain list cannot be in a set; write a tuple or Seq(...)"),
        ("len({True, 1})", "the elements are bool and 1..1; they need one type"),
        ("self.nums.pop()", "Set[-3..3] has no method 'pop'; let a parameter of"),
        ("len({})", "a map is written as a comprehension over its keys: {b: 0"),
        ("len(+self.some)", "'+self.some' (UnaryOp) is not part of the modelling language"),
    ),
    "maps": (
        ("self.per[1]", "the key is Node, but this is 1..1"),
        ("self.per.get(self.node)", "Map[Node, 0..2] has no method 'get'; a map has every key:"),
        ("self.per.get(self.node, 0)", "Map[Node, 0..2] has no method 'get'; a map has every key:"),
        ("{Colour.RED: 1, Colour.GREEN: 2}[self.colour]", "a map is written as a comprehension over its keys: {b: 0"),
        ("{**self.per}[self.node]", "a map is written as a comprehension over its keys: {b: 0"),
        ("dict(a=1)['a']", "dict takes one container"),
        ("(self.per | self.per)[self.node]", "Map[Node, 0..2] and Map[Node, 0..2] cannot be combined in"),
        ("min(self.per)", "an integer is needed here, but this is Node"),
        ("list(self.per.items())[0][1]", "items() belongs in a loop or a comprehension: for key,"),
        (
            "{(a, b): 1 for a in range(2) for b in range(2)}[(0, 1)]",
            "a map has a value for every key: {b: ... for b in Broker},",
        ),
        ("{o: 0 for o in (True, False)}[self.on]", "a map has a value for every key: {b: ... for b in Broker},"),
        ("{i: 0 for i in range(self.k, 3)}[2]", "a map has a value for every key: {b: ... for b in Broker},"),
    ),
    "bags": (
        ("sum(x for x in self.lots if x)", "an integer is not a truth value here; write x != 0"),
        ("self.lots[0]", "Bag[0..2] cannot be indexed"),
        ("len(self.lots + self.lots)", "an integer is needed here, but this is Bag[0..2]"),
    ),
    "records": (
        ("Pair(1, True).a", "name the fields: Pair(a=...)"),
        ("Pair().a", "Pair needs the field 'a'"),
        ("Pair(a=1, c=2).a", "Pair has no field 'c'; it has a, b"),
        ("self.pair.replace(c=1).a", "Pair has no field 'c'; it has a, b"),
        ("self.pair.replace(a=1, c=1).a", "Pair has no field 'c'; it has a, b"),
        ("self.pair.c", "Pair has no field 'c'; it has a, b"),
        ("Pair.a", "Pair.a is not part of the modelling language"),
        ("Pair(**{'a': 1}).a", "name the fields: Pair(a=...)"),
        ("isinstance(self.n, int)", "int is not a class of records; every other value has one"),
        ("isinstance(self.on, int)", "int is not a class of records; every other value has one"),
        ("isinstance(self.on, bool)", "bool is not a class of records; every other value has one"),
        ("isinstance(self.maybe, int)", "int is not a class of records; every other value has one"),
        ("isinstance(self.message, type(None))", "type is not part of the modelling language"),
        ("isinstance(self.some, Set)", "Set is not a class of records; every other value has one"),
        ("type(self.message) == Told", "type is not part of the modelling language"),
        ("type(self.pair) is Pair", "`is` compares with None only; write =="),
        ("hasattr(self.pair, 'a')", "hasattr is not part of the modelling language"),
        ("getattr(self.pair, 'a')", "getattr is not part of the modelling language"),
        ("self.pair.__class__ == Pair", "Pair has no field '__class__'; it has a, b"),
        ("self.pair.a.real", "-3..3 has no attribute 'real'"),
        ("vars(self.pair)['a']", "vars is not part of the modelling language"),
        ("id(self.pair) == 0", "id is not part of the modelling language"),
        ("hash(self.pair) == 0", "hash is not part of the modelling language"),
        (
            "Told(by=self.node, what=1) == Asked(by=self.node)",
            "this compares Told and Asked, which have no value in common",
        ),
        ("Pair(a=1) < Pair(a=2)", "an integer is needed here, but this is Pair"),
        ("Pair(a=self.n, b=self.n).a", "Pair.b is bool, but this is -3..3"),
        ("len(self.pair)", "Pair has no length"),
        ("self.pair[0]", "Pair cannot be indexed"),
        ("Pair._annotations", "Pair._annotations is not a value of the modelling language;"),
    ),
    "enums": (
        ("self.colour.value", "Colour has no attribute 'value'"),
        ("self.colour.name == 'RED'", "Colour has no attribute 'name'"),
        ("Colour.RED.value", "Colour has no attribute 'value'"),
        ("Colour(1) == self.colour", "name the member: Colour.RED"),
        ("Colour['RED'] == self.colour", "Colour is not a value of the modelling language; its"),
        ("Colour.BLUE == self.colour", "Colour.BLUE is not part of the modelling language; its"),
        ("Colour.__members__", "Colour.__members__ is not a value of the modelling language"),
        ("max(Colour)", "an integer is needed here, but this is Colour"),
        ("self.colour.RED == Colour.RED", "Colour has no attribute 'RED'"),
    ),
    "identifiers": (
        ("Node(3) == self.node", "there is no Node(3): the model has 2"),
        ("Node(self.k) == self.node", "Node(...) takes a constant number"),
        ("self.node.number", "Node has no attribute 'number'; identifiers are"),
        ("Node(number=1) == self.node", "Node takes 1 argument"),
        ("Node.count", "Node.count is not a value of the modelling language; use"),
        ("Node(True) == self.node", "Node(...) takes a constant number"),
        ("Node(FIVE - 4) == self.node", "Node(...) takes a constant number"),
        ("min(Node)", "an integer is needed here, but this is Node"),
        ("Node.prefix", "Node.prefix is not a value of the modelling language; use"),
        ("next(iter(Node)) == self.node", "next is not part of the modelling language"),
    ),
    "folds": (
        ("any(self.log)", "an integer is not a truth value here; write x != 0"),
        ("all(self.log)", "an integer is not a truth value here; write x != 0"),
        ("any(x for x in self.log)", "an integer is not a truth value here; write x != 0"),
        ("sum(self.log, 1)", "sum takes one container"),
        ("sum(self.log, start=1)", "sum takes no 'start' here"),
        ("sum(self.log, default=1)", "sum takes no 'default' here"),
        ("any([], default=True)", "any takes no 'default' here"),
        ("sum((x for x in self.log), 2)", "sum takes one container"),
        ("sum([[1], [2]], [])", "sum takes one container"),
        ("max(self.n, default=1)", "-3..3 cannot be iterated"),
        ("max(self.log, default=2 // self.k)", "the default is evaluated in any case, and this one can fail, require"),
        ("min((x for x in self.log), default=self.needs(1))", "the default is evaluated in any case, and this one"),
        ("max(self.log, default=self.bump())", "the default is evaluated in any case, and this one can fail, require"),
        ("max(self.log, key=abs)", "max takes no 'key' here"),
        ("max(self.on, True)", "an integer is needed here, but this is bool"),
        ("max([True, self.on])", "an integer is needed here, but this is bool"),
        ("min(self.node, Node(1)) == self.node", "an integer is needed here, but this is Node"),
        ("max(*self.log)", "* is not part of the language; join with + or |, or list"),
        ("len(self.n)", "-3..3 has no length"),
        ("len(range(3))", "range belongs in a for loop, a comprehension or after `in`"),
        ("len(x for x in self.log)", "a generator is not part of the modelling language but"),
        ("len(self.pair)", "Pair has no length"),
        ("len('ab')", "strings are not part of the language; use an Enum"),
        ("len(self.maybe)", "0..2 has no length"),
    ),
    "scopes": (
        ("sum(x for y in self.log if x > 0 for x in [1])", "x is a variable of this comprehension, which has no value"),
        ("sum(x + y for x, y in [(1, 2)])", "only enumerate(...), zip(...) and a map's items() give"),
        ("sum(x for x, in [(1,)])", "only enumerate(...), zip(...) and a map's items() give"),
        ("sum(a.b for a.b in [1])", "a loop has one variable, or some in a row: for index, epoch"),
        ("sum(x for x in x)", "x is not defined"),
        ("sum(x for _, x in zip([self.bump()], [1]))", "changes a variable; assign it to a local first"),
    ),
    "calls": (
        ("plus(1, 2, 3)", "plus takes 2 arguments, 3 given"),
        ("plus()", "plus needs the argument 'x'"),
        ("plus(1, z=2)", "plus has no parameter 'z'"),
        ("plus(1, x=2)", "plus is given 'x' twice"),
        ("plus(*[1, 2])", "list the arguments of plus; * is not part of the language"),
        ("plus(**{'x': 1})", "name the arguments of plus; ** is not part of the language"),
        ("plus", "plus is not a value of the modelling language; call it:"),
        ("self.bump", "self.bump is not a value of the modelling language; call"),
        ("self.nowhere()", "M has no method 'nowhere'"),
        ("print(1)", "print is not part of the modelling language; a report shows"),
        ("FIVE()", "FIVE is not a plain function; write one: def name(...)"),
        ("self.n()", "self.n is not a method"),
        ("(lambda x: x)(1)", "lambda is not part of the language; write a method with a"),
        ("Variables.always(self) == True", "Variables.always is not defined"),
        ("Variables.most() == 1", "Variables.most is not a plain function"),
        ("type(self).always(self) == True", "type is not part of the modelling language"),
        ("self.__class__", "self.__class__ is not a value of the modelling language"),
        ("super().always() == True", "no base of M has a method 'always'"),
        ("any(super().rule_of_the_model() > x for x in [0])", "super() finds no model inside a comprehension; write"),
        ("plus(1).real", "6..6 has no attribute 'real'"),
        ("len(self.log).bit_length()", "0..3 has no method 'bit_length'"),
        ("str(1) == '1'", "str is not part of the modelling language; use an Enum"),
        ("f'{self.n}' == '1'", "strings are not part of the language; use an Enum"),
        ("'a' == 'a'", "strings are not part of the language; use an Enum"),
        ("b'a' == b'a'", "b'a' is not part of the language; use bool, int, Enum or"),
        ("...  == 1", "... is not part of the language; use bool, int, Enum or None"),
        ("(x := 1)", ":= is not part of the language; assign on a line of its own"),
        ("input() == 1", "input is not part of the modelling language; let a"),
        ("open('x') == 1", "open is not part of the modelling language; a step depends"),
        ("eval('1')", "eval is not part of the modelling language"),
        ("globals()", "globals is not part of the modelling language"),
        ("self.state_of() == 1", "M has no method 'state_of'"),
        ("self.load", "self.load is not a value of the modelling language; call"),
        ("self._constants", "M has no attribute '_constants'; its variables are n, k,"),
        ("self.constant_values", "self.constant_values is not a value of the modelling"),
        ("self.variable_types", "self.variable_types is not a value of the modelling"),
    ),
}
"""Expressions that are refused, and what the message says."""
NOT_BODIES: dict[str, tuple[tuple[str, str], ...]] = {
    "alias": (
        ("a = {1}\nb = a\na |= {2}\nreturn len(b)", "|= changes a plain set for all names that it has; write a ="),
        ("a = [1]\nb = a\na += [2]\nreturn len(b)", "+= changes a plain list for all names that it has; write a"),
        ("a = (1,)\nb = a\na += (2,)\nreturn len(b)", "+= changes a plain list for all names that it has; write a"),
        (
            "a = self.log\nb = a\na += [2]\nreturn len(b) * 10 + len(self.log)",
            "+= changes a plain list for all names that it has; write a",
        ),
        ("a = {1}\nb = a\na -= {1}\nreturn len(b)", "-= changes a plain set for all names that it has; write a ="),
        ("a = {1}\nb = a\na &= {2}\nreturn len(b)", "&= changes a plain set for all names that it has; write a ="),
        ("a = {1}\nb = a\na ^= {2}\nreturn len(b)", "^= changes a plain set for all names that it has; write a ="),
        ("a = [1]\na += (2,)\nreturn len(a)", "a list cannot be joined with a tuple; write both as lists,"),
        ("a = [1]\na += self.log\nreturn len(a)", "+= changes a plain list for all names that it has; write a"),
        ("a = (1,)\na += [2]\nreturn len(a)", "a list cannot be joined with a tuple; write both as lists,"),
        (
            "a = list(self.log)\nb = a\na += [2]\nreturn len(b)",
            "+= changes a plain list for all names that it has; write a",
        ),
        (
            "a = [[1]]\nb = a[0]\nb += [2]\nreturn len(a[0])",
            "+= changes a plain list for all names that it has; write b",
        ),
        (
            "return self.grows([1]) * 10 + self.grows([1])",
            "+= changes a plain list for all names that it has; write xs",
        ),
        (
            "a = [1]\nn = self.grows(a)\nreturn len(a) * 10 + n",
            "+= changes a plain list for all names that it has; write xs",
        ),
        ("return self.default() * 10 + self.default()", "xs is assigned in default but is not a value"),
        (
            "a = {1}\nfor x in [1, 2]:\n    a |= {x + 1}\nreturn len(a)",
            "|= changes a plain set for all names that it has; write a =",
        ),
        (
            "a = LISTED\na += [2]\nreturn len(a) * 10 + len(LISTED)",
            "+= changes a plain list for all names that it has; write a",
        ),
        (
            "a = [1]\nfor x in a:\n    if len(a) < 3:\n        a += [x]\nreturn len(a)",
            "+= changes a plain list for all names that it has; write a",
        ),
        ("a = [1]\nb = a + []\na += [1]\nreturn len(b)", "+= changes a plain list for all names that it has; write a"),
        (
            "a = []\nb = a\nfor x in self.log:\n    a += [x]\nreturn len(b)",
            "+= changes a plain list for all names that it has; write a",
        ),
        (
            "a = set()\na |= {1}\nb = a\nb |= {2}\nreturn len(a)",
            "|= changes a plain set for all names that it has; write a =",
        ),
    ),
    "order": (
        ("t = 0\nfor x in {8} | {1}:\n    t = t * 10 + x\nreturn t", "this set has no fixed order in Python"),
        (
            (
                "s = Set({1, 8})\nt = 0\nfor i in range(2):\n    for x in s:\n        t = t * 10 + x\n"
                "    s = {8, 1}\nreturn t"
            ),
            "this set has no fixed order in Python; iterate sorted(...)",
        ),
        (
            "s = {8, 1}\nt = 0\nfor x in s:\n    t = t * 10 + x\nreturn t",
            "this set has no fixed order in Python; iterate sorted(...)",
        ),
        (
            "t = 0\nfor s in [{8, 1}]:\n    for x in s:\n        t = t * 10 + x\nreturn t",
            "this set has no fixed order in Python; iterate sorted(...)",
        ),
        (
            "m = Map({m: {8, 1} for m in Node})\nt = 0\nfor x in m[self.node]:\n    t = t * 10 + x\nreturn t",
            "this set has no fixed order in Python; iterate sorted(...)",
        ),
        (
            (
                "m = Map({m: {8, 1} for m in Node})\nt = 0\nfor s in m.values():\n    for x in s:\n"
                "        t = t * 10 + x\nreturn t"
            ),
            "this set has no fixed order in Python; iterate sorted(...)",
        ),
        (
            (
                "m = Map({m: {8, 1} for m in Node})\nt = 0\nfor k, s in m.items():\n    for x in s:\n"
                "        t = t * 10 + x\nreturn t"
            ),
            "this set has no fixed order in Python; iterate sorted(...)",
        ),
        (
            "q = [{8, 1}]\nt = 0\nfor x in q[0]:\n    t = t * 10 + x\nreturn t",
            "this set has no fixed order in Python; iterate sorted(...)",
        ),
        (
            "q = Seq([{8, 1}])\nt = 0\nfor x in q[0]:\n    t = t * 10 + x\nreturn t",
            "this set has no fixed order in Python; iterate sorted(...)",
        ),
        (
            "q = ({8, 1},)\nt = 0\nfor i, s in enumerate(q):\n    for x in s:\n        t = t * 10 + x\nreturn t",
            "this set has no fixed order in Python; iterate sorted(...)",
        ),
        (
            "t = 0\nfor x in (Set({8, 1}) if self.on else {8, 1}):\n    t = t * 10 + x\nreturn t",
            "this set has no fixed order in Python; iterate sorted(...)",
        ),
        (
            "t = 0\nfor x in self.gives():\n    t = t * 10 + x\nreturn t",
            "this set has no fixed order in Python; iterate sorted(...)",
        ),
        (
            "t = 0\nfor x in self.passes({8, 1}):\n    t = t * 10 + x\nreturn t",
            "this set has no fixed order in Python; iterate sorted(...)",
        ),
        (
            "b = Bag([{8, 1}])\nt = 0\nfor s in b:\n    for x in s:\n        t = t * 10 + x\nreturn t",
            "this set has no fixed order in Python; iterate sorted(...)",
        ),
        (
            "t = 0\nfor s in {frozenset({8, 1})}:\n    t = t + len(s)\nreturn t",
            "this set has no fixed order in Python; iterate sorted(...)",
        ),
        (
            "t = 0\nfor s in Set({frozenset({8, 1})}):\n    for x in s:\n        t = t * 10 + x\nreturn t",
            "this set has no fixed order in Python; iterate sorted(...)",
        ),
        ("return [x for s in [{8, 1}] for x in s][0]", "this set has no fixed order in Python; iterate sorted(...)"),
        ("return [x for x in [{8, 1}][0]][0]", "this set has no fixed order in Python; iterate sorted(...)"),
        ("return list([{8, 1}][0])[0]", "this set has no fixed order in Python; iterate sorted(...)"),
        (
            (
                "s = {8, 1} if self.on else None\nt = 0\nif s is not None:\n    for x in s:\n"
                "        t = t * 10 + x\nreturn t"
            ),
            "this set has no fixed order in Python; iterate sorted(...)",
        ),
        (
            "s = self.passed_on({8, 1})\nt = 0\nfor x in s:\n    t = t * 10 + x\nreturn t",
            "this set has no fixed order in Python; iterate sorted(...)",
        ),
        ("t = 0\nfor x in min([{8, 1}], key=len):\n    t = x\nreturn t", "min takes no 'key' here"),
        (
            (
                "s = Set({8, 1})\nu = s\nfor i in range(2):\n    u = s\n    s = {8, 1}\nt = 0\nfor x in u:\n"
                "    t = t * 10 + x\nreturn t"
            ),
            "this set has no fixed order in Python; iterate sorted(...)",
        ),
        ("return self.loops()", "this set has no fixed order in Python; iterate sorted(...)"),
    ),
    "aug": (
        (
            "self.per[self.node] += self.moved_by()\nreturn self.per[Node(1)] * 10 + self.per[Node(2)]",
            "self.moved_by() changes a variable; assign its value to a",
        ),
        (
            "self.log[self.k] += self.bump()\nreturn self.log[0]",
            "self.bump() changes a variable; assign its value to a local",
        ),
        ("self.per[self.moved()] += 0\nreturn 1", "self.per[self.moved()] changes a variable; assign its value"),
        (
            "self.some.add(self.moved())\nreturn len(self.some)",
            "self.moved() changes a variable; assign its value to a",
        ),
        ("self.n **= 2\nreturn self.n", "-3..3 and 2..2 cannot be combined in 'self.n ** 2';"),
        ("self.k <<= 1\nreturn self.k", "0..2 and 1..1 cannot be combined in 'self.k << 1'; integers"),
        ("self.on &= True\nreturn self.k", "bool and bool cannot be combined in 'self.on & True';"),
        ("self.on |= True\nreturn self.k", "bool and bool cannot be combined in 'self.on | True';"),
        ("self.lots += [1]\nreturn 1", "an integer is needed here, but this is Bag[0..2]"),
        ("x = None\nx += 1\nreturn x", "an integer is needed here, but this is None"),
        (
            "self.log.append(self.bump())\nreturn len(self.log)",
            "self.bump() changes a variable; assign its value to a local",
        ),
        ("self.message.by = self.node\nreturn 1", "Asked | Told | None has no field 'by'"),
        ("self.log[0:1] = [1]\nreturn 1", "assign the whole sequence: self.log = self.log[:n] + ..."),
        ("self.x = 1\nreturn 1", "x is not a variable of the model; declare it: x: <type>"),
        ("self.most = 1\nreturn 1", "most is a constant, which a spec sets; what changes is a"),
        ("Colour.RED = 2\nreturn 1", "Colour is not a variable of the model, so it cannot be"),
        ("Node.count = 3\nreturn 1", "Node is not a variable of the model, so it cannot be"),
        ("x: int\nreturn 1", "a variable without a value is not part of the language;"),
        ("x = y = 1\nreturn x", "assign one variable at a time"),
        ("[x] = [1]\nreturn x", "assign one variable at a time"),
        ("x, *y = 1, 2\nreturn x", "write as many values on the right side as variables on the left"),
        ("x, *y = [1, 2]\nreturn x", "write as many values on the right side as variables on the left"),
        ("x, y = [1, 2]\nreturn x + y", "write as many values on the right side as variables on the left"),
        ("x, y = PRIMES\nreturn x + y", "write as many values on the right side as variables on the left"),
        ("x, y = 1, 2, 3\nreturn x + y", "write as many values on the right side as variables on the left"),
        ("x, (y, z) = 1, (2, 3)\nreturn x + y + z", "write as many values on the right side as variables on the left"),
        ("x, y = z, w = 1, 2\nreturn x + y + z + w", "assign one variable at a time"),
        ("x, self.most = 1, 2\nreturn x", "most is a constant, which a spec sets; what changes is a"),
        ("x, x = 1, self.node\nreturn 1", "x is 1..1 here and Node there; use two variables"),
    ),
    "flow": (
        ("if self.on:\n    x = 1\nreturn x", "x may have no value here; assign it before the branch"),
        ("if self.on:\n    return 1", "does not return a value on every path"),
        ("for x in self.log:\n    pass\nelse:\n    return 1\nreturn 2", "for ... else is not part of the language"),
        ("while self.on:\n    return 1\nreturn 2", "while is not part of the language; loop with `for i in"),
        (
            "t = 0\nfor x in range(0, 3, self.k):\n    t = t * 3 + x\nreturn t",
            "the step of a range is a constant other than 0",
        ),
        (
            "t = 0\nfor x in reversed(self.log):\n    t += x\nreturn t",
            "reversed is not part of the modelling language; loop over",
        ),
        (
            "t = 0\nfor x in sorted(self.some):\n    t += 1\nreturn t",
            "sorted takes integers; Node has no order in Python",
        ),
        ("t = 0\nfor x in self.maybe:\n    t += x\nreturn t", "0..2 cannot be iterated"),
        ("t = 0\nfor x in self.n:\n    t += x\nreturn t", "-3..3 cannot be iterated"),
        (
            "t = 0\nfor x in (y for y in self.log if y > 0):\n    t += x\nreturn t",
            "a generator is not part of the modelling language but",
        ),
        ("assert self.n\nreturn 1", "an integer is not a truth value here; write x != 0"),
        ("assert (self.n > 0, 'x')\nreturn 1", "strings are not part of the language; use an Enum"),
        ("assert self.n > 0, self.needs(self.k)\nreturn 1", "the message of an assertion is a text in quotes"),
        ("assert self.n > 0, f'{self.needs(self.k)}'\nreturn 1", "the message of an assertion calls nothing"),
        ("assert self.n > 0, f'{self.n:{self.needs(self.k)}}'\nreturn 1", "the message of an assertion calls nothing"),
        ("require(self.n)\nreturn 1", "an integer is not a truth value here; write x != 0"),
        ("require(condition=self.on)\nreturn 1", "require takes one condition"),
        ("x = require(self.on)\nreturn 1", "require must be on a line of its own"),
        ("require(self.n > 0, self.on)\nreturn 1", "require takes one condition"),
        ("1\nreturn 1", "a value alone on a line does nothing; assign it,"),
        ("self.always()\nreturn 1", "this call has no effect; assign its value"),
        ("return", "returns no value; call it on a line of its own"),
        ("raise ValueError\nreturn 1", "raise is not part of the language; guard with require,"),
        ("global FIVE\nreturn 1", "a model changes its own variables only; declare one in the"),
        ("import os\nreturn 1", "import at the top of the file"),
        ("from os import path\nreturn 1", "import at the top of the file"),
        ("yield from [1]", "an action is one atomic step"),
        ("del self.k\nreturn 1", "del is not part of the language; assign a smaller value, or"),
        ("try:\n    return 1\nfinally:\n    pass", "try is not part of the language; guard with require, or"),
        ("with self.k:\n    return 1", "with is not part of the language; a model opens nothing"),
        (
            "match self.k:\n    case 0:\n        return 1\nreturn 2",
            "match is not part of the language; write if/elif/else",
        ),
        ("def f():\n    return 1\nreturn f()", "a function inside a function is not part of the language;"),
        ("class C:\n    pass\nreturn 1", "a class inside a function is not part of the language; put"),
        ("f = lambda: 1\nreturn f()", "lambda is not part of the language; write a method with a"),
        ("f = self.bump\nreturn f()", "self.bump is not a value of the modelling language; call"),
        ("f = plus\nreturn f(1)", "plus is not a value of the modelling language; call it:"),
        ("c = Node\nreturn len(c)", "Node is not a value of the modelling language"),
        ("yield 1", "an action is one atomic step; yield and await are not part"),
        ("return (yield 1)", "an action is one atomic step; yield and await are not part"),
        ("print(1)\nreturn 1", "print is not part of the modelling language; a report shows"),
        ("breakpoint()\nreturn 1", "breakpoint is not part of the modelling language; it stops"),
        ("len(self.log)\nreturn 1", "this call has no effect; assign its value"),
        ("self.some.union({self.node})\nreturn 1", "Set[Node] has no method 'union'; write a | b"),
        ("self.nums.clear()\nreturn 1", "Set[-3..3] has no method 'clear'; assign an empty one"),
        ("self.nums.update({1})\nreturn 1", "Set[-3..3] has no method 'update'; write self.isr |= {...}"),
        ("self.log.extend([1])\nreturn 1", "Seq[-3..3] has no method 'extend'; write self.log ="),
        ("self.log.insert(0, 1)\nreturn 1", "Seq[-3..3] has no method 'insert'; assign the whole:"),
        ("self.log.pop()\nreturn 1", "Seq[-3..3] has no method 'pop'; assign a smaller one:"),
        ("self.log.sort()\nreturn 1", "Seq[-3..3] has no method 'sort'"),
        ("self.log.reverse()\nreturn 1", "Seq[-3..3] has no method 'reverse'"),
        ("self.nums.add(1, 2)\nreturn 1", "add takes one element"),
        ("self.nums.add(item=1)\nreturn 1", "add takes one element"),
        ("x = self.nums.add(1)\nreturn 1", "add changes a variable and returns nothing; write it on a"),
        ("a = self.nums\na.add(1)\nreturn 1", "a is not a variable of the model, so it cannot be changed"),
        ("a = [1]\na.append(2)\nreturn len(a)", "a is not a variable of the model, so it cannot be changed"),
        ("a = {1}\na.add(2)\nreturn len(a)", "a is not a variable of the model, so it cannot be changed"),
        ("a = [1, 2]\na[0] = 3\nreturn a[0]", "a is not a variable of the model, so it cannot be changed"),
        ("a = self.pair\na.a = 1\nreturn a.a", "a is not a variable of the model, so it cannot be changed"),
        ("LISTED.append(1)\nreturn 1", "LISTED is not a variable of the model, so it cannot be"),
        ("for self.k in [1]:\n    pass\nreturn 1", "a loop has one variable, or some in a row: for index, epoch"),
        ("x = 1\ndel x\nreturn 1", "del is not part of the language; assign a smaller value, or"),
        ("x = True\nx = 1\nreturn x", "x is bool here and 1..1 there; use two variables"),
        ("x = self.k\nx = self.node\nreturn 1", "x is 0..2 here and Node there; use two variables"),
        ("x = len(self.log)\nlen = x\nreturn x", "len may have no value here; assign it first"),
        ("self = 1\nreturn self", "but is not a value"),
        ("x = x + 1\nreturn x", "x may have no value here; assign it first"),
        ("return sum(y for x in self.log for y in y)", "y is a variable of this comprehension, which has no value"),
        (
            "y = [1]\nreturn sum(y for x in self.log for y in y)",
            "y is a variable of this comprehension, which has no value",
        ),
        (
            "x = 7\nreturn sum(x for y in self.log if x > 0 for x in [1])",
            "x is a variable of this comprehension, which has no value",
        ),
        (
            "y = 2\nreturn sum(1 for x in self.log if y > 0 for y in [1])",
            "y is a variable of this comprehension, which has no value",
        ),
        (
            "i = 3\nreturn sum(1 for j in range(2) for i in range(i))",
            "i is a variable of this comprehension, which has no value",
        ),
    ),
}
"""Functions that are refused, and what the message says."""
NOT_ENABLED: tuple[tuple[str, str], ...] = (
    ("enabled(self.takes_later)", "enabled cannot ask takes_later, which requires something after its first lines"),
    ("enabled(self.takes_large)", "enabled cannot try every number: begin the action with require(number in"),
    ("enabled(self.always)", "enabled takes an action of the model: enabled(self.sends)"),
    ("enabled(self.takes(0, Colour.RED))", "enabled takes an action of the model: enabled(self.sends)"),
    ("enabled(Variables.takes)", "enabled takes an action of the model: enabled(self.sends)"),
    ("enabled(action=self.takes)", "enabled takes an action of the model: enabled(self.sends)"),
    ("enabled()", "enabled takes an action of the model: enabled(self.sends)"),
)
"""Questions about actions that are refused in an invariant, and what the message says."""
