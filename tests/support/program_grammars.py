"""The grammars of which all small bodies are compared: each has one kind of loop, or one way to call a function.

Those of ``ANY_SIZE`` are about nodes of which there may be any number; they are compared at a few numbers of them.
"""

from __future__ import annotations

from dataclasses import replace

from tests.support.small_programs import Grammar, Template


def _action(name: str, size: int, before: str = "", after: str = "", helpers: str = "") -> Template:
    """An action with lines before and after the body."""
    text = helpers
    text += "    @action\n    def act{number}(self) -> None:\n"
    text += "".join(f"        {line}\n" for line in before.splitlines())
    text += "        {body}\n"
    text += "".join(f"        {line}\n" for line in after.splitlines())
    return Template(name, text, size, goes_on=bool(after))


_BITS = """\
    x: Bit
    y: Bit
    b: bool
"""
_SEQUENCE = """\
    q: Annotated[Seq[Bit], Capacity(2)]
    x: Bit
"""
_NUMBERS = """\
    s: Set[Bit]
    x: Bit
    b: bool
"""
_BEES = """\
    bees = Constant(2)
    s: Set[Bee]
    last: Bee
    b: bool
"""
_MAP = """\
    bees = Constant(2)
    m: Map[Bee, bool]
    last: Bee | None
"""

_ENDLESS = """\
    def ask{number}(self, i: Bit) -> Bit:
        {body}

    @action
    def act{number}(self) -> None:
        require(self.ask{number}(self.x) == 1)
        self.x = 0
"""
_INDIRECT = """\
    def ask{number}(self, i: Bit) -> Bit:
        {body}
        return i

    def via{number}(self, k: Bit) -> Bit:
        for k in range(k, 2):
            if self.ask{number}(k) == k:
                return k
        return 0

    @action
    def act{number}(self) -> None:
        require(self.via{number}(self.x) == 1)
        self.x = 0
"""
_BITS_AND_SET = """\
    s: Set[Bit]
    x: Bit
    b: bool

    def may(self, i: Bit) -> bool:
        require(i == 0 or self.b)
        return self.x == i
"""
_ASKED = ("i = 1 - i", "self.y = i", "require(self.b)", "assert i == self.x", "return i", "return 1 - i")


def _asked(name: str, size: int, *lines: str) -> Template:
    """An action that calls the function with the body."""
    helper = "    def ask{number}(self, i: Bit) -> Bit:\n        {body}\n        return i\n\n"
    action = "    @action\n    def act{number}(self) -> None:\n" + "".join(f"        {line}\n" for line in lines)
    return Template(name, helper + action, size)


def _law(name: str, size: int, result: str) -> Template:
    """A property that calls the function with the body."""
    helper = "    def ask{number}(self, i: Bit) -> bool:\n        {body}\n        return i == 1\n\n"
    return Template(name, helper + f"    def law{{number}}(self) -> bool:\n        {result}\n", size, judged=True)


_LAW = """\
    def law{number}(self) -> bool:
        i = self.x
        {body}
        return i == 1
"""

RANGES = Grammar(
    "a range", _BITS,
    ("i = self.y", "i = 1 - i", "self.x = i", "self.y += i", "require(self.b)", "assert i == self.x", "return"),
    ("self.b", "i == 1"),
    ("for i in range(2)", "for i in range(self.y)"),
    (_action("bound before, read afterwards", 4, "i = self.x", "self.x = i"), _action("alone", 3)),
)
NAMES = Grammar(
    "two names", _BITS,
    ("i = j", "j = 1 - i", "self.x = i", "self.y = j", "require(i == j)"),
    ("i == j",),
    ("for i in range(2)", "for j in range(2)", "for j in range(i)"),
    (_action("bound before, read afterwards", 4, "i = self.x\nj = self.y", "self.x = i\nself.y = j"),
     _action("one bound before", 3, "i = self.x", "self.y = i")),
)
SUMS = Grammar(
    "a sum", _BITS,
    ("n += 1", "n += i", "n = 0", "i = n", "self.x = n", "require(n < 2)", "assert n < 3"),
    ("n > 1", "self.b"),
    ("for i in range(2)", "for i in range(n)"),
    (_action("bound before, read afterwards", 3, "n = self.x\ni = self.y", "self.x = n"),),
)
SEQUENCES = Grammar(
    "a sequence", _SEQUENCE,
    ("i = self.x", "self.x = i", "self.q.append(i)", "self.q = self.q[1:]", "require(i in self.q)",
     "assert len(self.q) > 0", "return"),
    ("i == self.x", "len(self.q) > 1"),
    ("for i in self.q", "for i in self.q[1:]"),
    (_action("bound before, read afterwards", 4, "i = 1 - self.x", "self.x = i"), _action("alone", 3)),
)
ENUMERATIONS = Grammar(
    "an enumeration", _SEQUENCE,
    ("k = i", "i = 1 - k", "self.q[k] = i", "self.x = k", "require(self.x == k)", "assert i == k"),
    ("k == i", "self.x == 0"),
    ("for k, i in enumerate(self.q)", "for i in range(len(self.q))"),
    (_action("bound before, read afterwards", 4, "k = self.x\ni = 0", "self.x = i"),
     _action("one bound before", 3, "i = self.x", "self.x = i"), _action("alone", 3)),
)
BEST = Grammar(
    "the best", """\
    q: Annotated[Seq[Bit], Capacity(2)]
    x: Bit | None
""",
    ("best = i", "best = None", "i = best", "self.x = best", "require(best is not None)", "assert best != 0"),
    ("best is None or i > best", "i == self.x"),
    ("for i in self.q", "for best in self.q"),
    (_action("bound before, read afterwards", 3, "best = None\ni = 1", "self.x = best"),
     _action("one bound before", 3, "best = self.x", "self.x = best")),
)
SETS = Grammar(
    "a set of numbers", _NUMBERS,
    ("i = self.x", "self.x = i", "self.s.add(i)", "self.s.discard(1 - i)", "self.s.remove(i)", "require(i in self.s)",
     "return"),
    ("i in self.s", "self.b"),
    ("for i in self.s", "for i in sorted(self.s)"),
    (_action("bound before, read afterwards", 4, "i = 1 - self.x", "self.x = i"), _action("alone", 3)),
)
BEES = Grammar(
    "identifiers", _BEES,
    ("i = self.last", "self.last = i", "self.s.add(i)", "self.s.remove(i)", "require(i in self.s)",
     "self.b = not self.b", "return"),
    ("i == self.last", "self.b"),
    ("for i in Bee", "for i in self.s"),
    (_action("bound before, read afterwards", 4, "i = self.last", "self.s.add(i)"), _action("alone", 3)),
)
MAPS = Grammar(
    "a map", _MAP,
    ("self.m[i] = v", "v = not v", "i = self.last", "self.last = i", "self.last = None", "require(self.m[i])"),
    ("v", "self.last is None"),
    ("for i in self.m", "for i, v in self.m.items()"),
    (_action("bound before, read afterwards", 4, "i = Bee(1)\nv = self.m[i]", "self.m[Bee(2)] = v"),
     _action("one bound before", 3, "v = True", "self.m[Bee(2)] = v"), _action("alone", 3)),
)
CALLS = Grammar(
    "calls", _BITS + """\

    def may(self, i: Bit) -> bool:
        require(i == 0 or self.b)
        return self.y == i

    def first(self, i: Bit) -> Bit:
        for i in range(i, 2):
            if self.b:
                return i
        return 0

    def other(self, i: Bit) -> Bit:
        i = 1 - i
        return i

    def must(self, i: Bit) -> None:
        if self.b:
            return
        require(i == self.x)
        self.y = i
""",
    ("self.must(i)", "i = self.first(i)", "i = self.other(i)", "self.b = self.may(i)", "self.x = i",
     "require(self.may(i))", "assert self.may(i)"),
    ("self.may(i)", "any(self.may(k) for k in range(i, 2))"),
    ("for i in range(2)", "for i in range(self.other(i))"),
    (_action("bound before, read afterwards", 4, "i = self.x", "self.x = i"), _action("alone", 3)),
)
FUNCTIONS = Grammar(
    "functions", _BITS, _ASKED,
    ("i == 1", "self.b"),
    ("for i in range(2)", "for i in range(self.y, 2)"),
    (_asked("a guard", 4, "require(self.ask{number}(self.x) == 1)", "self.x = 0"),
     _asked("a guard after an assignment", 3, "self.x = 1 - self.x", "require(self.ask{number}(self.x) == 1)"),
     _asked("assigned", 3, "self.x = self.ask{number}(self.x)"),
     _asked("an augmented assignment", 3, "self.x += self.ask{number}(0)"),
     _asked("any, in a guard", 3, "require(any(self.ask{number}(k) == 1 for k in range(2)))", "self.x = 0"),
     _asked("all, in a condition", 3, "if all(self.ask{number}(k) == 1 for k in range(2)):", "    self.x = 0"),
     _asked("a set", 3, "self.x = len(Set(self.ask{number}(k) for k in range(2))) - 1"),
     _asked("a filter", 3, "self.x = sum(k for k in range(2) if self.ask{number}(k) == 1)"),
     _asked("a loop", 3, "for k in range(2):", "    self.x = self.ask{number}(k)"),
     _asked("what a loop runs over", 3, "for k in range(self.ask{number}(self.x)):", "    self.x = 1 - self.x"),
     _asked("itself", 3, "self.x = self.ask{number}(self.ask{number}(self.x))"),
     _asked("an operand", 3, "self.b = self.b or self.ask{number}(self.x) == 1"),
     _asked("a choice", 3, "self.x = self.ask{number}(0) if self.b else self.ask{number}(1)"),
     _asked("an assertion", 3, "assert self.ask{number}(self.x) == 1"),
     Template("a guard, with every path returning", _ENDLESS, 3, goes_on=False),
     Template("a guard, called in a loop of another function", _INDIRECT, 3),
     _asked("an effect alone", 3, "self.ask{number}(self.x)")),
)
LAWS = Grammar(
    "properties", _BITS,
    ("i = 1 - i", "i = self.y", "assert i == self.y", "return i == self.x", "return self.b"),
    ("i == 1", "self.b"),
    ("for i in range(2)", "for i in range(self.x, 2)"),
    (Template("a property", _LAW, 4, judged=True),
     _law("called by a property", 3, "return self.ask{number}(self.x)"),
     _law("all, in a property", 3, "return all(self.ask{number}(k) for k in range(2))"),
     _law("any, in a property", 3, "return not any(self.ask{number}(k) for k in range(2))"),
     _law("a conclusion", 3, "return implies(self.b, self.ask{number}(self.x))"),
     _law("a premise", 3, "return implies(self.ask{number}(self.x), self.b)")),
)
CHOICES = Grammar(
    "parameters", _BITS_AND_SET,
    ("require(i in self.s)", "require(self.may(i))", "require(k == self.x and i != k)", "assert i == 0 or self.b",
     "self.s.add(k)", "self.s.remove(i)", "self.x = i", "self.b = k in self.s"),
    ("i == k", "self.may(k)"),
    ("for j in range(i)",),
    (Template("alone", "    @action\n    def act{number}(self, i: Bit, k: Bit) -> None:\n        {body}\n", 3,
           goes_on=False),),
)
CHOSEN_BEES = Grammar(
    "parameters that are identifiers", _BEES,
    ("require(i in self.s)", "require(i != self.last)", "self.s.add(j)", "self.s.discard(i)", "self.last = j",
     "j = self.last", "self.b = not self.b", "return"),
    ("j in self.s", "self.b"),
    ("for j in Bee", "for j in self.s"),
    (Template("alone", "    @action\n    def act{number}(self, i: Bee) -> None:\n        j = i\n        {body}\n", 3,
           goes_on=False),),
)
EFFECTS = Grammar(
    "effects in expressions", _BITS + """\

    def take(self) -> Bit:
        self.x = 1 - self.x
        return self.x

    def put(self, i: Bit) -> bool:
        self.y = i
        require(self.b or i == 0)
        return self.x == i
""",
    ("i = self.take()", "i = self.x + self.take() - self.y", "self.y = self.take() - self.x", "self.b = self.put(i)",
     "self.b = self.b and self.put(self.take())", "self.b = self.put(i) or self.put(self.x)",
     "self.x = i if self.put(i) else self.take()", "self.take()", "self.x += self.take()",
     "self.b = any(self.put(k) for k in range(2))"),
    ("self.take() == i", "self.put(i) == self.b"),
    ("for i in range(self.take(), 2)",),
    (_action("bound before, read afterwards", 3, "i = self.y", "self.y = i"),),
)
SCOPES = Grammar(
    "scopes of comprehensions", _BITS,
    ("i = sum(i for i in range(2))", "j = max((i for i in range(j)), default=i)", "self.x = i", "self.y = j",
     "self.b = any(i == j for j in range(2))", "require(all(j <= i for j in range(i, 2)))",
     "i = len([j for i in range(2) for j in range(i)])"),
    ("any(i != j for i in range(2))", "i == j"),
    ("for i in range(2)", "for j in [i for i in range(2) if i != j]"),
    (_action("bound before, read afterwards", 3, "i = self.x\nj = self.y", "self.x = i\nself.y = j"),),
)
RECORDS = Grammar(
    "records", """\
    r: Pair
    o: Pair | None
""",
    ("p = self.r", "self.r = p", "self.r.a = i", "p = Pair(a=i, b=not p.b)", "i = p.a", "self.o = p", "self.o = None",
     "self.r.b = self.o.b", "require(p.b)", "assert self.r != p"),
    ("p == self.o", "self.r.b"),
    ("for i in range(2)", "for p in [self.r, Pair(a=i, b=True)]"),
    (_action("bound before, read afterwards", 3, "p = self.r\ni = 1 - p.a", "self.r = p"),),
)
BAGS = Grammar(
    "bags", """\
    g: Annotated[Bag[Bit], Capacity(2)]
    x: Bit
""",
    ("self.g.add(i)", "self.g.remove(i)", "self.x = i", "i = self.x", "require(i in self.g)",
     "assert self.g.count(i) < 2", "self.g = Bag()"),
    ("self.g.count(i) == 1", "self.x == i"),
    ("for i in self.g", "for i in range(2)"),
    (_action("bound before, read afterwards", 3, "i = 1 - self.x", "self.x = i"), _action("alone", 3)),
)
SEVERAL = Grammar(
    "several at once", _SEQUENCE + """\
    y: Bit

    def take(self) -> Bit:
        self.x = 1 - self.x
        return self.x
""",
    ("i, j = j, i", "i, self.x = self.x, 1 - i", "self.x, self.y = self.y, i", "i, self.q[i] = j, 1 - j",
     "self.q[i], i = self.x, j", "self.x, j = self.take() + self.take() - 1, self.x", "self.q, self.x = self.q[1:], j"),
    ("i == j", "self.x == i"),
    ("for j, i in enumerate(self.q)", "for i, j in zip(self.q, self.q[1:])"),
    (_action("bound before, read afterwards", 4, "i = self.x\nj = self.y", "self.x, self.y = i, j"),),
)
UNIONS = Grammar(
    "unions", """\
    r: Pair | One | None
    o: Pair | One
""",
    ("p = self.r", "self.r = p", "p = One(a=i)", "self.o = Pair(a=i, b=p is None)", "self.r = None", "i = self.o.a",
     "require(isinstance(p, One))", "assert p is None or p.a == i", "i = 1 if p.b else 0", "self.o.a = i"),
    ("isinstance(p, Pair)", "p == self.o", "p is None"),
    ("for p in [self.r, self.o]",),
    (_action("bound before, read afterwards", 3, "p = self.r\ni = 1", "self.r = p"),),
)
_NODES = """\
    nodes = Constant(2)
    a: Set[Node]
    last: Node
"""
_TWO_SETS = """\
    nodes = Constant(2)
    a: Set[Node]
    b: Set[Node]
"""
_FEW = """\
    nodes = Constant(2)
    c: Annotated[Set[Node], Capacity(2)]
    b: Set[Node]
"""
_TWO_ADDED = """\
    nodes = Constant(2)
    c: Annotated[Set[Node], Capacity(2)]
    first: Node
    last: Node
    d: bool
"""
_GATHERED = """\
    @action
    def act{number}(self) -> None:
        s: Set[Node] = Set()
        t: Set[Node] = Set()
        for x in Node:
            {body}
        self.a = s
        self.b = t
"""
_ASKED_OF_NODES = """\
    def ask{number}(self, x: Node) -> bool:
        {body}
        return x == self.last

"""


def _of_nodes(name: str, size: int, *lines: str) -> Template:
    """An action that calls the function with the body about nodes."""
    action = "    @action\n    def act{number}(self) -> None:\n" + "".join(f"        {line}\n" for line in lines)
    return Template(name, _ASKED_OF_NODES + action, size)


def _law_of_nodes(name: str, size: int, result: str) -> Template:
    law = f"    def law{{number}}(self) -> bool:\n        return {result}\n"
    return Template(name, _ASKED_OF_NODES + law, size, judged=True)


ADDITIONS = Grammar(
    "loops that add", _TWO_SETS,
    ("s = s | {x}", "t = t | {x}"),
    ("x in self.a", "len(s) < 1", "x in t"),
    (),
    (Template("every node", _GATHERED, 3, goes_on=False),),
)
FEW_ADDITIONS = Grammar(
    "loops over a set with a capacity", _FEW,
    ("s = s | {x}", "t = t | {x}"),
    ("x in self.b", "len(s) < 1", "x in t"),
    (),
    (Template("at most two nodes", """\
    @action
    def act{number}(self) -> None:
        s: Set[Node] = Set()
        t = self.b
        for x in self.c:
            {body}
        self.b = s | t
""", 2, goes_on=False),),
)
ADDED = Grammar(
    "loops over a set in the order of its elements", _TWO_ADDED,
    ("s = s | {x}", "t = t | {x}"),
    ("x == self.last", "len(s) < 1", "x in t"),
    (),
    (Template("two nodes, added one after the other", """\
    @action
    def act{number}(self) -> None:
        s: Set[Node] = Set()
        t: Set[Node] = Set()
        self.c = Set()
        self.c.add(self.first)
        self.c.add(self.last)
        for x in self.c:
            {body}
        self.d = self.first in s | t
""", 2, goes_on=False),),
)
NODES = Grammar(
    "any number of nodes", _NODES,
    ("x = self.last", "self.last = x", "self.a.add(x)", "self.a.discard(x)", "require(x in self.a)",
     "assert len(self.a) > 0", "return"),
    ("x in self.a", "len(self.a) > 1"),
    ("for x in Node", "for x in self.a"),
    (_action("bound before, read afterwards", 2, "x = self.last", "self.a.add(x)"), _action("alone", 2)),
)
NODE_FUNCTIONS = Grammar(
    "functions of nodes", _NODES,
    ("require(x in self.a)", "assert len(self.a) > 0", "return x not in self.a", "return True", "x = self.last"),
    ("x in self.a", "len(self.a) > 1"),
    ("for x in self.a",),
    (_of_nodes("a guard", 2, "require(self.ask{number}(self.last))", "self.a = Set()"),
     _of_nodes("any, in a guard", 2, "require(any(self.ask{number}(y) for y in Node))", "self.a = Set()"),
     _of_nodes("all, in a guard", 2, "require(all(self.ask{number}(y) for y in self.a))", "self.a = Set()"),
     _of_nodes("a set", 2, "self.a = Set(y for y in Node if self.ask{number}(y))"),
     _of_nodes("a condition", 2, "if self.ask{number}(self.last):", "    self.a = Set()")),
)
NODE_LAWS = Grammar(
    "properties of nodes", _NODES,
    ("assert len(self.a) > 0", "return x not in self.a", "return True", "x = self.last"),
    ("x in self.a", "len(self.a) > 1"),
    ("for x in self.a",),
    (_law_of_nodes("called by a property", 2, "self.ask{number}(self.last)"),
     _law_of_nodes("all, in a property", 2, "all(self.ask{number}(y) for y in Node)"),
     _law_of_nodes("any, in a property", 2, "any(self.ask{number}(y) for y in self.a)"),
     _law_of_nodes("counted in a property", 2, "sum(1 for y in Node if self.ask{number}(y)) * 2 > len(self.a)")),
)
SHARED = Grammar(
    "shared functions", _BITS, _ASKED, FUNCTIONS.conditions, FUNCTIONS.loops,
    tuple(replace(place, size=2, shared=True) for place in FUNCTIONS.places if place.name in (
        "a guard", "assigned", "any, in a guard", "a loop", "itself", "a choice", "an effect alone",
        "a guard, called in a loop of another function",
    )),
)
SHARED_LAWS = Grammar(
    "shared functions of properties", _BITS, LAWS.simple, LAWS.conditions, LAWS.loops,
    tuple(replace(place, size=2, shared=True) for place in LAWS.places[1:]),
)
GRAMMARS = (
    RANGES, NAMES, SUMS, SEQUENCES, ENUMERATIONS, BEST, SETS, BEES, MAPS, CALLS, FUNCTIONS, LAWS, CHOICES, CHOSEN_BEES,
    EFFECTS, SCOPES, RECORDS, BAGS, SEVERAL, UNIONS, SHARED, SHARED_LAWS,
)

ANY_SIZE = (ADDITIONS, FEW_ADDITIONS, ADDED, NODES, NODE_FUNCTIONS, NODE_LAWS)
EVERY = (*GRAMMARS, *ANY_SIZE)
