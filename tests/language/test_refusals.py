"""Tests that what the language does not have is refused, with one error at the line that says what to write instead."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from floodmark.language.errors import ModelError
from tests.support.broken import HEAD, action_text, load, marked_lines, model_text, property_text, refusal, search
from tests.support.command import COMMAND
from tests.support.projects import write

STATEMENTS = {
    "while": ("while self.x < 3:  #!\n    self.x += 1", "for i in range(n)"),
    "try": ("try:  #!\n    self.x += 1\nexcept ValueError:\n    pass", "guard with require"),
    "match": ("match self.x:  #!\n    case 1:\n        self.x = 2", "if/elif/else"),
    "with": ("with open('f') as f:  #!\n    pass", "opens nothing"),
    "raise": ("raise ValueError  #!", "guard with require"),
    "import": ("import os  #!", "top of the file"),
    "global": ("global COUNT  #!\nCOUNT = 1", "declare one in the class"),
    "del": ("del self.x  #!", "assign a smaller value"),
    "yield": ("yield 1  #!", "one atomic step"),
    "function in a function": ("def f() -> int:  #!\n    return 1\nself.x = f()", "write a method"),
    "class in a function": ("class C:  #!\n    pass", "put it outside"),
    "list assignment": ("[a, b] = [1, 2]  #!", "one variable at a time"),
    "chained assignment": ("a = b = 1  #!", "one variable at a time"),
    "annotation alone": ("a: int  #!", "assign one"),
    "value alone": ("self.x == 1  #!", "assign it"),
    "ellipsis": ("...  #!", "assign it"),
    "call without effect": ("len(self.some)  #!", "assign its value"),
    "for else": ("for n in Node:  #!\n    pass\nelse:\n    pass", "for ... else"),
    "for over pairs": ("for a, b in self.per:  #!\n    pass", "only enumerate(...), zip(...) and a map's items()"),
    "for over nested pairs": ("for i, (a, b) in enumerate(self.log):  #!\n    pass", "a loop has one variable"),
    "three variables of two": ("for a, b, c in enumerate(self.log):  #!\n    pass", "gives 2 variables"),
    "zip that is strict": (
        "for a, b in zip(self.log, self.log, strict=True):  #!\n    pass", "assert len(a) == len(b)"),
    "zip of one": ("for a, b in zip(self.log):  #!\n    pass", "takes two containers or more"),
    "enumerate from a variable": ("for i, a in enumerate(self.log, self.x):  #!\n    pass", "is a constant"),
    "after return": ("return\nself.x = 1  #!", "never reached"),
    "after break": ("for n in Node:\n    break\n    self.x = 1  #!", "never reached"),
    "list that grows in a loop": (
        "found: list[int] = []\nfor entry in self.log:\n    found = found + [entry]  #!\nself.x = min(len(found), 3)",
        "build it in one comprehension"),
    "return of a value": ("return self.x  #!", "an action returns nothing"),
    "lambda": ("f = lambda x: x  #!", "write a method"),
    "lambda as key": ("self.x = max(self.log, key=lambda x: -x)  #!", "'key'"),
    "walrus": ("require((y := self.x) > 1)  #!", "line of its own"),
    "f-string": ("a = f'{self.x}'  #!", "use an Enum"),
    "string": ("require(self.colour == 'red')  #!", "use an Enum"),
    "bytes": ("a = b'x'  #!", "use bool, int, Enum or None"),
    "float": ("require(self.x < 1.5)  #!", "use bool, int, Enum or None"),
    "huge integer": ("self.x = 5_000_000_000_000_000_000 - 4_999_999_999_999_999_999  #!", "2**62"),
    "dict literal": ("self.per = {Node(1): 1, Node(2): 2}  #!", "{b: 0 for b in Broker}"),
    "dict literal in Map": ("self.per = Map({Node(1): 1})  #!", "{b: 0 for b in Broker}"),
    "partial map": ("self.per = Map({n: 1 for n in self.some})  #!", "a value for every key"),
    "filtered map": ("self.per = Map({n: 1 for n in Node if n != self.node})  #!", "without `if`"),
    "map with one key": ("self.per = Map({Node(1): 1 for n in Node})  #!", "a value for every key"),
    "map of other keys": ("self.per = Map({o: 1 for o in Other})  #!", "Map[Node, 0..3]"),
    "empty map": ("self.per = Map()  #!", "Map({b: ... for b in Broker})"),
    "integer as truth": ("require(self.x)  #!", "x != 0"),
    "integer as truth in if": ("if self.x:  #!\n    self.flag = True", "x != 0"),
    "integer as truth in not": ("require(not self.x)  #!", "x != 0"),
    "integer as truth in and": ("require(self.flag and self.x)  #!", "x != 0"),
    "integer as truth in a choice": ("self.x = 1 if self.x else 0  #!", "x != 0"),
    "optional as truth": ("require(self.node)  #!", "is not None"),
    "value of or": ("self.x = self.x or 1  #!", "x != 0"),
    "container in and": ("require(self.some and self.flag)  #!", "len(x) > 0"),
    "integer and enum compared": ("require(self.x == self.colour)  #!", "no value in common"),
    "optional and integer compared": ("require(self.node == self.x)  #!", "no value in common"),
    "bool and integer compared": ("require(self.flag == 1)  #!", "no value in common"),
    "kinds of identifiers compared": ("require(self.node == Other(1))  #!", "no value in common"),
    "order of enums": ("require(self.colour < Colour.GREEN)  #!", "an integer is needed"),
    "order of identifiers": ("require(self.node < Node(2))  #!", "an integer is needed"),
    "order of sequences": ("require(self.log < self.log)  #!", "one by one"),
    "is": ("require(self.flag is self.flag)  #!", "write =="),
    "integer in a set of nodes": ("require(self.x in self.some)  #!", "never an element"),
    "in an integer": ("require(self.node in self.x)  #!", "has no elements"),
    "in a map": ("require(self.node in self.per)  #!", "every key"),
    "in a class of others": ("require(self.x in Node)  #!", "is one of Node"),
    "optional in a class": ("require(self.node in Node)  #!", "is not None"),
    "in a range with a step": ("require(self.x in range(0, 4, 2))  #!", "with a step"),
    "unknown variable": ("self.y = 1  #!", "declare it: y: <type>"),
    "unknown attribute": ("self.x = self.y  #!", "its variables are x, node"),
    "unknown name": ("self.x = undefined  #!", "undefined is not defined"),
    "unknown method": ("self.helper()  #!", "no method 'helper'"),
    "assigned constant": ("self.nodes = 3  #!", "nodes is a constant, which a spec sets"),
    "unknown record field": ("self.messages.add(Message(node=Node(1), value=1, size=1))  #!", "it has node, value"),
    "missing record field": ("self.messages.add(Message(node=Node(1)))  #!", "needs the field 'value'"),
    "record by position": ("self.messages.add(Message(Node(1), 1))  #!", "Message(node=...)"),
    "record by **": ("self.messages.add(Message(**{}))  #!", "name the fields"),
    "record field of another type": ("self.messages.add(Message(node=1, value=1))  #!", "Message.node is Node"),
    "replace by position": ("for m in self.messages:\n    self.messages.add(m.replace(1))  #!", "name the fields"),
    "replace of an unknown field": ("for m in self.messages:\n    self.x = m.replace(z=1)  #!", "no field 'z'"),
    "mutated local": ("s = self.some\ns.add(Node(1))  #!", "write s = s | {e}"),
    "mutated copy of a part": (
        "s = self.some\ns.add(Node(1))  #!", "it is a copy of self.some: change that, or write s = s | {e}"
    ),
    "mutated local map": ("p = self.per\np[Node(1)] = 1  #!", "not a variable of the model"),
    "mutated loop variable": ("for m in self.messages:\n    m.value = 1  #!", "not a variable of the model"),
    "mutated literal": ("Set({Node(1)}).add(Node(2))  #!", "not a variable of the model"),
    "unordered set in a loop": ("for n in {Node(1), Node(2)}:  #!\n    self.x = 1", "iterate sorted(...) or Set(...)"),
    "set() in a loop": ("for n in set(self.some):  #!\n    self.node = n", "iterate sorted(...) or Set(...)"),
    "frozenset() in a loop": ("for n in frozenset(self.some):  #!\n    self.node = n", "no fixed order"),
    "unordered local in a loop": ("s = {n for n in self.some}\nfor n in s:  #!\n    self.x = 1", "no fixed order"),
    "unordered set in a list": ("self.log = [n for n in {1, 2}]  #!", "iterate sorted(...)"),
    "unordered set in a Seq": ("self.log = Seq({1, 2})  #!", "no fixed order"),
    "set of sequences in a loop": ("for s in Set({Seq([1])}):  #!\n    self.log = s", "no order to iterate in"),
    "set of sequences in a Seq": ("self.x = len(Seq(Set({Seq([1])})))  #!", "no order to iterate in"),
    "failing body over an unordered set": ("require(any(self.log[n] > 0 for n in {0, 1}))  #!", "any evaluates for it"),
    "failing body over a set without an order": (
        "require(any(s[0] > 0 for s in {Seq([1])}))  #!", "keep out what fails by an earlier `if`"
    ),
    "failing condition over an unordered set": (
        "require(all(n > 0 for n in {0, 1} if self.log[n] > 0))  #!", "all evaluates for it"
    ),
    "sequence changed in place": ("self.log[1:] = [1]  #!", "assign the whole sequence"),
    "slice with a step": ("self.log = self.log[::2]  #!", "a step"),
    "slice of a map": ("self.per = self.per[1:]  #!", "only a sequence has slices"),
    "index of a set": ("self.node = self.some[0]  #!", "cannot be indexed"),
    "index by a node": ("self.x = self.log[self.node]  #!", "an integer is needed"),
    "assignment at a node": ("self.log[self.node] = 1  #!", "an integer is needed"),
    "key of another type": ("self.x = self.per[1]  #!", "the key is Node"),
    "assigned key of another type": ("self.per[1] = 1  #!", "the key is Node"),
    "division": ("self.x = self.x / 2  #!", "divide with //"),
    "power": ("self.x = self.x ** 2  #!", "cannot be combined"),
    "sum of sets": ("self.some = self.some + {Node(1)}  #!", "| & - ^"),
    "sum of nodes": ("self.x = sum(self.some)  #!", "an integer is needed"),
    "a number and a set": ("self.some = self.x | self.some  #!", "cannot be combined"),
    "map over one key twice": ("m = {n: 0 for n in (Node(1), Node(1))}  #!", "a map has a value for every key"),
    "map over keys in another order": ("m = {n: 0 for n in (Node(2), Node(1))}  #!", "a map has a value for every key"),
    "best by a key": ("self.node = max(Node, key=self.rank)  #!", "compute the best value"),
    "pop of a set": ("self.node = self.some.pop()  #!", "let a parameter of the action choose"),
    "update of a map": ("self.per.update({})  #!", "assign each entry"),
    "index in a sequence": ("self.x = self.log.index(1)  #!", "write min(i for i, e in enumerate(self.log) if e == x)"),
    "smallest node": ("self.node = min(self.some)  #!", "an integer is needed"),
    "sorted nodes": ("for n in sorted(self.some):  #!\n    self.node = n", "no order"),
    "computed identifier": ("self.node = Node(self.x)  #!", "a constant number"),
    "identifier of an enum": ("self.node = Node(Colour.RED)  #!", "a constant number"),
    "identifier out of range": ("self.node = Node(9)  #!", "the model has 2"),
    "number of an identifier": ("self.x = self.node.number  #!", "interchangeable"),
    "value of an enum": ("self.x = self.colour.value  #!", "no attribute 'value'"),
    "unknown enum member": ("self.colour = Colour.BLUE  #!", "RED, GREEN"),
    "enum by value": ("self.colour = Colour(1)  #!", "name the member"),
    "model as a value": ("m = self  #!", "name one of its variables"),
    "method as a value": ("self.x = self.start  #!", "call it"),
    "module as a value": ("self.x = math  #!", "not a value"),
    "class as a value": ("self.node = Node  #!", "not a value"),
    "library function": ("self.x = math.floor(self.x)  #!", "not part of the modelling language"),
    "enumerate": ("for i in enumerate(Node):  #!\n    pass", "for index, epoch in enumerate(log)"),
    "print": ("print(self.x)  #!", "a report shows every step"),
    "isinstance": ("require(isinstance(self.x, int))  #!", "every other value has one known type"),
    "items": ("self.x = sum(1 for p in self.per.items())  #!", "for key, value in m.items()"),
    "get": ("self.x = self.per.get(self.node)  #!", "index it"),
    "pop": ("self.log.pop()  #!", "self.log[1:], or self.log[:-1] without the last"),
    "update": ("self.some.update({Node(1)})  #!", "|="),
    "add with a value": ("a = self.some.add(Node(1))  #!", "line of its own"),
    "add by name": ("self.some.add(Node(1), item=Node(2))  #!", "one element"),
    "add of two": ("self.some.add(Node(1), Node(2))  #!", "one element"),
    "add of another type": ("self.some.add(1)  #!", "the element is Node"),
    "method of a class without the model": ("M.step()  #!", "takes the model as its first argument: M.step(self)"),
    "append to a set": ("self.some.append(Node(1))  #!", "no method 'append'"),
    "discard from a bag": ("self.bag.discard(1)  #!", "no method 'discard'"),
    "assignment of another type": ("self.x = Colour.RED  #!", "self.x is 0..3"),
    "set of mixed elements": ("self.some = {1, Node(1)}  #!", "they need one type"),
    "local of two types": ("a = 1\na = Colour.RED  #!", "use two variables"),
    "local that may be unset": ("if self.flag:\n    a = 1\nself.x = a  #!", "before the branch"),
    "loop variable after the loop": ("for n in Node:\n    pass\nself.node = n  #!", "may have no value"),
    "range of nothing": ("for i in range():  #!\n    pass", "one to three integers"),
    "range with step 0": ("for i in range(1, 2, 0):  #!\n    pass", "other than 0"),
    "range as a value": ("self.log = range(3)  #!", "for loop"),
    "loop over an integer": ("for a in self.x:  #!\n    pass", "cannot be iterated"),
    "loop over the model": ("for a in self:  #!\n    pass", "name one of its variables"),
    "require of two": ("require(self.flag, self.flag)  #!", "one condition"),
    "require as a value": ("a = require(self.flag)  #!", "line of its own"),
    "implies of one": ("require(implies(self.flag))  #!", "2 arguments"),
    "none in a maximum": ("self.x = max((m if self.flag else None for m in self.log), default=0)  #!", "may meet None"),
    "none in a minimum of a sequence": ("self.x = min([None if self.flag else 1, 1])  #!", "may meet None"),
    "none in a maximum of a name that a later loop has again": (
        "a = [None if self.flag else n for n in self.log]\n"
        "self.x = max((x for x in a if x is not None for x in a), default=0)  #!", "may meet None"
    ),
    "sorted by key": ("self.log = sorted(self.log, key=abs)  #!", "reverse=True only"),
    "call of a value": ("a = self.x\nself.x = a(1)  #!", "cannot be called"),
    "length of a number": ("self.x = len(self.x)  #!", "has no length"),
    "default of another type": ("self.x = max(self.log, default=Colour.RED)  #!", "must be an integer"),
    "default of another type in a fold": (
        "self.x = max((n for n in self.log), default=Colour.RED)  #!", "must be an integer"
    ),
    "sorted of two": ("self.log = sorted(self.log, self.log)  #!", "one container"),
    "Set of two": ("self.some = Set(self.some, self.some)  #!", "one container"),
    "Map of a set": ("self.per = Map(self.some)  #!", "not from Set[Node]"),
    "an Enum by its value": ("self.colour = Colour(1)  #!", "Colour.RED"),
    "instance of another class": ("self.x = int(2)  #!", "not part of the modelling language"),
    "instance of a class of the library": ("a = Model()  #!", "not part of the modelling language"),
    "unknown function of a class": ("self.x = Node.first()  #!", "not defined"),
    "values of a map as a value": ("self.log = self.per.values()  #!", "for loop"),
    "values of a set": ("self.x = sum(self.some.values())  #!", "has no values()"),
    "field of a record that it lacks": ("for m in self.messages:\n    self.x = m.size  #!", "no field 'size'"),
    "field of a number": ("self.x.size = 1  #!", "no field 'size'"),
    "item of a number": ("self.x[0] = 1  #!", "cannot be indexed"),
    "assignment to a list": ("[self.x] = [1]  #!", "one variable at a time"),
    "starred target": ("*a, = self.log  #!", "write as many values on the right side"),
    "comprehension over pairs": ("self.x = sum(a for a, b in self.per)  #!", "only enumerate(...), zip(...)"),
    "sequences of unlike elements": ("self.log = [1] + [Colour.RED]  #!", "joins sequences"),
    "global that is no value": ("self.x = HEAVY  #!", "is not a value"),
    "global with an element that is no value": ("self.log = TEXTS  #!", "'a' is not a value"),
    "slice of a set": ("self.log = self.some[1:]  #!", "Set[Node]"),
    "generator as a value": ("a = (n for n in Node)  #!", "not part of the modelling language"),
    "too many elements": (
        "self.x = len([a for a in range(300) for b in range(300)])  #!", "loop over something smaller"
    ),
    "sum from a start": ("self.x = sum(self.log, 1)  #!", "one container"),
}


@pytest.mark.parametrize("name", STATEMENTS)
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_statements_outside_the_language_are_refused_with_a_reason(tmp_path: Path, name: str) -> None:
    statements, said = STATEMENTS[name]
    assert said in refusal(tmp_path, model_text(action_text(statements))).message


BODIES = {
    "a maximum of what a condition changes after it was tested": (
        "mark: Annotated[int, Between(0, 3)] | None\n\n"
        "def clear(self) -> bool:\n    self.mark = None\n    return True\n\n"
        + action_text("self.x = max((self.mark for n in [1] if self.mark is not None if self.clear()), default=0)  #!"),
        "may meet None",
    ),
    "recursion": (
        "def loop(self, x: int) -> int:\n    return self.loop(x)  #!\n\n" + action_text("self.x = self.loop(1)"),
        "recursion is not part of the language",
    ),
    "mutual recursion": (
        "def a(self) -> int:\n    return self.b()\n\ndef b(self) -> int:\n    return self.a()  #!\n\n"
        + action_text("self.x = self.a()"),
        "recursion is not part of the language",
    ),
    "*args of a helper": (
        "def many(self, *args: int) -> int:\n    return 1\n\n" + action_text("self.x = self.many(1)  #!"),
        "* or **",
    ),
    "/ of a helper": (
        "def same(self, a: int, /) -> int:\n    return a\n\n" + action_text("self.x = self.same(1)  #!"),
        "* or **",
    ),
    "a starred argument": (
        "def same(self, a: int) -> int:\n    return a\n\n" + action_text("self.x = self.same(*self.log)  #!"),
        "* is not part of the language",
    ),
    "an argument too many": (
        "def same(self, a: int) -> int:\n    return a\n\n" + action_text("self.x = self.same(1, 2)  #!"),
        "takes 1 argument, 2 given",
    ),
    "an argument too few": (
        "def same(self, a: int) -> int:\n    return a\n\n" + action_text("self.x = self.same()  #!"),
        "needs the argument 'a'",
    ),
    "an argument twice": (
        "def same(self, a: int) -> int:\n    return a\n\n" + action_text("self.x = self.same(1, a=2)  #!"),
        "twice",
    ),
    "an unknown argument": (
        "def same(self, a: int) -> int:\n    return a\n\n" + action_text("self.x = self.same(b=2)  #!"),
        "no parameter 'b'",
    ),
    "a helper that may not return": (
        "def part(self) -> int:  #!\n    if self.flag:\n        return 1\n\n" + action_text("self.x = self.part()"),
        "on every path",
    ),
    "a helper that returns nothing": (
        "def nothing(self) -> None:\n    pass\n\n" + action_text("self.x = self.nothing()  #!"),
        "returns no value",
    ),
    "an action as a value": (
        "@action\ndef other(self) -> None:\n    self.x = 1\n\n" + action_text("self.x = self.other()  #!"),
        "returns no value",
    ),
    "a helper that returns now and then": (
        "def mixed(self) -> int:\n    if self.flag:\n        return\n    return 1  #!\n\n"
        + action_text("self.x = self.mixed()"),
        "returns nothing elsewhere",
    ),
    "a helper that returns unlike values": (
        "def mixed(self) -> Any:\n    if self.flag:\n        return 1\n    return Colour.RED  #!\n\n"
        + action_text("self.x = self.mixed()"),
        "use two variables",
    ),
    "a helper that returns a value now and then": (
        "def mixed(self) -> Any:\n    if self.flag:\n        return 1\n    return  #!\n\n"
        + action_text("self.x = self.mixed()"),
        "return one here too",
    ),
    "arguments by **": (
        "def same(self, a: int) -> int:\n    return a\n\n" + action_text("self.x = self.same(**self.per)  #!"),
        "** is not part of the language",
    ),
    "a class that is assigned in a helper": (
        "def same(self, a: Any) -> int:  #!\n    a = 1\n    return a\n\n" + action_text("self.x = self.same(Node)"),
        "is not a value",
    ),
    "an optional number of another type": (action_text("self.x = self.colour + 1  #!"), "Colour"),
    "a property": (
        "@property\ndef double(self) -> int:\n    return 2\n\n" + action_text("self.x = self.double  #!"),
        "write a method",
    ),
    "a class method": (
        "@classmethod\ndef double(cls) -> int:\n    return 2\n\n" + action_text("self.x = self.double()  #!"),
        "not a method",
    ),
    "super without a base": (action_text("super().step()  #!"), "no base of M has a method 'step'"),
    "a guard with an effect": (
        "def take(self) -> bool:\n    self.x = 1\n    return True\n\n" + action_text("require(self.take())  #!"),
        "a guard must not change",
    ),
    "a parameter without a type": ("@action\ndef step(self, a) -> None:  #!\n    pass", "needs a type"),
    "a parameter of an unknown type": ("@action\ndef step(self, a: Nope) -> None:  #!\n    pass", "cannot be read"),
    "a parameter without bounds": ("@action\ndef step(self, a: int) -> None:  #!\n    pass", "Between(low, high)"),
    "a parameter that is assigned": (
        "@action\ndef step(self, a: Small) -> None:\n    a = a + 1  #!\n    self.x = a % 3",
        "assign to another variable",
    ),
    "a huge parameter": (
        "@action\ndef step(self, a: Annotated[int, Between(0, 10**6)]) -> None:  #!\n    self.x = 1",
        "require(a in self.requests)",
    ),
    "a huge parameter after a small one": (
        "@action\ndef step(self, a: Small, b: Annotated[int, Between(0, 10**6)]) -> None:  #!\n    self.x = a",
        "require(b in self.requests)",
    ),
    "a bag as a parameter after a small one": (
        "@action\ndef step(self, a: Small, b: Annotated[Bag[Small], Capacity(2)]) -> None:  #!\n    self.x = a",
        "must be drawn",
    ),
    "a huge set as a parameter": (
        "@action\ndef step(self, a: Set[Annotated[int, Between(0, 60)]]) -> None:  #!\n    self.x = 1",
        "require(a in self.requests)",
    ),
    "a bag as a parameter": (
        "@action\ndef step(self, a: Annotated[Bag[Small], Capacity(2)]) -> None:  #!\n    self.x = 1",
        "must be drawn",
    ),
    "a sequence as a parameter": (
        "@action\ndef step(self, a: Annotated[Seq[Small], Capacity(2)]) -> None:  #!\n    self.x = 1",
        "to choose an order, take a map of places",
    ),
    "a default of a parameter": ("@action\ndef step(self, a: Small = 1) -> None:  #!\n    self.x = a", "no defaults"),
    "*args of an action": ("@action\ndef step(self, *a: Small) -> None:  #!\n    self.x = 1", "no *"),
    "a keyword-only parameter": ("@action\ndef step(self, *, a: Small) -> None:  #!\n    self.x = 1", "no *"),
    "a positional-only parameter": ("@action\ndef step(self, a: Small, /) -> None:  #!\n    self.x = 1", "no /"),
    "an action without self": ("@action\ndef step() -> None:  #!\n    pass", "takes self"),
    "an action that is a class method": ("@action  #!\n@classmethod\ndef step(cls) -> None:\n    pass", "plain"),
    "an asynchronous action": ("@action\nasync def step(self) -> None:  #!\n    pass", "plain function"),
    "an action that is a lambda": ("step = action(lambda self: None)  #!", "plain function"),
    "an @initial parameter without a type": ("@initial\ndef other(self, a) -> None:  #!\n    pass", "needs a type"),
    "a huge @initial parameter": (
        "@initial\ndef other(self, a: Annotated[int, Between(0, 10**6)]) -> None:  #!\n    self.x = 1",
        "1000001 possible values",
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_methods_outside_the_language_are_refused_with_a_reason(tmp_path: Path, name: str) -> None:
    body, said = BODIES[name]
    assert said in refusal(tmp_path, model_text(body)).message


PROPERTIES = {
    "an integer": ("invariant", "self", "return self.x", "return a bool"),
    "an optional": ("reachable", "self", "return self.node", "return a bool"),
    "nothing": ("invariant", "self", "pass", "return a bool"),
    "not always": ("invariant", "self", "if self.flag:\n    return True", "on every path"),
    "a transition of one": ("transition", "self", "return True", "(old, new)"),
    "a transition of three": ("transition", "self, a, b", "return True", "(old, new)"),
    "an invariant of two": ("invariant", "self, a", "return True", "the model alone"),
    "a boundary of two": ("boundary", "self, a", "return True", "the model alone"),
    "a boundary of an integer": ("boundary", "self", "return self.x", "return a bool"),
}


@pytest.mark.parametrize("name", PROPERTIES)
def test_properties_of_the_wrong_shape_are_refused(tmp_path: Path, name: str) -> None:
    kind, parameters, statements, said = PROPERTIES[name]
    text = model_text(property_text(statements, kind, parameters)).replace("-> bool:\n", "-> bool:  #!\n")
    text = text.replace("def plus_one(x: int) -> bool:  #!", "def plus_one(x: int) -> bool:")
    assert said in refusal(tmp_path, text).message


EFFECTS = {
    "assignment": ("invariant", "self", "self.x = 1  #!\nreturn True", "must not change"),
    "addition": ("invariant", "self", "self.some.add(Node(1))  #!\nreturn True", "must not change"),
    "assignment to the new state": ("transition", "self, new", "new.x = 1  #!\nreturn True", "must not change"),
    "assignment in a boundary": ("boundary", "self", "self.x = 1  #!\nreturn True", "must not change"),
    "require": ("invariant", "self", "require(self.flag)  #!\nreturn True", "returns a bool instead"),
    "loop": ("invariant", "self", "while True:  #!\n    pass\nreturn True", "for i in range(n)"),
    "unlike results": ("invariant", "self", "if self.flag:\n    return True\nreturn 1  #!", "use two variables"),
}


@pytest.mark.parametrize("name", EFFECTS)
def test_properties_that_change_the_state_are_refused(tmp_path: Path, name: str) -> None:
    kind, parameters, statements, said = EFFECTS[name]
    assert said in refusal(tmp_path, model_text(property_text(statements, kind, parameters))).message


@pytest.mark.parametrize("statement", ["self.x = 1  #!", "require(self.flag)  #!"])
def test_properties_only_look_in_their_helpers_too(tmp_path: Path, statement: str) -> None:
    helper = f"def helper(self) -> bool:\n    {statement}\n    return True\n\n"
    refusal(tmp_path, model_text(helper + property_text("return self.helper()")))


CLASSES = """
class Unbounded(Record):
    size: int  {0}


class Unknown(Record):
    size: Nope  {1}


class Itself(Record):
    inner: Itself | None  {2}


class Nothing(Enum):
    pass


class Nobody(Identifier, count=0):
    pass


class Many(Identifier, count="most"):
    pass


"""
TYPES = {
    "int": "an integer needs bounds: write Annotated[int, Between(low, high)]",
    "str": "is not a type of the modelling language",
    "float": "is not a type of the modelling language",
    "Any": "is not a type of the modelling language",
    "None": "is not a type of the modelling language",
    "list[Small]": "is not a type of the modelling language",
    "tuple[int, int]": "is not a type of the modelling language",
    "Model": "is not a type of the modelling language",
    "Set": "is not a type of the modelling language",
    "Set[Node, Node]": "Set takes one type: Set[T]",
    "Map[Node]": "Map takes two types: Map[K, V]",
    "dict[str, Annotated[int, Between(0, 1)]]": "dict[str, int] is not a type of the modelling language",
    "Small | Node": "a union is T | None, or of records",
    "Small | Node | None": "a union is T | None, or of records",
    "Nope": "cannot be read",
    "math.nothing": "cannot be read",
    '"Annotated[int, "': "cannot be read",
    'Annotated[int, Between(0, "most")]': "the constant 'most', which the model does not have (it has: nodes)",
    'Annotated[int, Between(0, "a b")]': "not an expression over constants",
    'Annotated[int, Between(0, "max(1, 2)")]': "integers, constants, + - * and // only",
    'Annotated[int, Between(0, "nodes // 0")]': "divides by zero",
    "Annotated[int, Between(0, 1.5)]": "not 1.5",
    "Annotated[int, Between(None, 1)]": "not None",
    "Annotated[int, Between(3, 1)]": "contain no integer",
    "Annotated[int, Between(0, 2**62)]": "within 2**62",
    "Annotated[int, Between]": "an integer needs bounds",
    'Annotated[Seq[Small], Capacity("most")]': "the constant 'most'",
    "Annotated[Seq[Small], Capacity(-1)]": "negative",
    "Annotated[Small | None, Capacity(3)]": "a capacity belongs to a Set, a Bag or a Seq",
    "Annotated[Set[Small], Between(0, 3)]": "bounds belong to an integer",
    "Annotated[Seq[Small], Capacity(2**62)]": "too large",
    "Map[Annotated[int, Between(0, 5000)], bool]": "it takes 5001 bits, more than 4096",
    "Annotated[Seq[Annotated[int, Between(0, 10**9)]], Capacity(500)]": "make its type smaller",
    "Nothing": "Nothing has no members",
    "Nobody": "at least one Nobody",
    "Many": "the constant 'most'",
}


@pytest.mark.parametrize("annotation", TYPES)
def test_types_outside_the_language_are_refused(tmp_path: Path, annotation: str) -> None:
    model = f"class M(Model):\n    nodes = Constant(2)\n    y: {annotation}  #!\n"
    text = model_text(action_text("pass"), model, HEAD + CLASSES.format("", "", ""))
    error = refusal(tmp_path, text)
    assert TYPES[annotation] in error.message
    assert error.message.startswith("variable y: ")


@pytest.mark.parametrize(("number", "name"), [(0, "Unbounded"), (1, "Unknown"), (2, "Itself")])
def test_record_fields_outside_the_language_are_refused(tmp_path: Path, number: int, name: str) -> None:
    """The error is where the record is declared."""
    model = f"class M(Model):\n    nodes = Constant(2)\n    y: {name} | None\n"
    marks = ["#!" if number == other else "" for other in range(3)]
    error = refusal(tmp_path, model_text(action_text("pass"), model, HEAD + CLASSES.format(*marks)))
    assert error.message.startswith("field ")


def test_a_variable_that_is_never_assigned_is_an_error(tmp_path: Path) -> None:
    text = model_text(action_text("pass"), "class M(Model):\n    y: Small  #!\n")
    assert "no @initial method sets the variable 'y'" in refusal(tmp_path, text).message


def test_a_variable_that_initial_forgets(tmp_path: Path) -> None:
    text = model_text("@initial\ndef start(self) -> None:\n    pass", "class M(Model):\n    y: Small  #!\n")
    assert "no @initial method sets the variable 'y'" in refusal(tmp_path, text).message


def test_a_value_in_the_class_body_that_does_not_fit(tmp_path: Path) -> None:
    text = model_text(action_text("pass"), "class M(Model):\n    y: Small = 9  #!\n")
    violation = search(load(tmp_path, text)).violations[0]
    assert (violation.kind, violation.trace, [violation.line]) == ("error", (), marked_lines(text))
    assert "y would become 9" in violation.message


def test_unknown_and_missing_constants_are_refused(tmp_path: Path) -> None:
    model = "class M(Model):  #!\n    most: Constant[int] = Constant()\n    y: Small = 0\n"
    text = model_text(action_text("pass"), model)
    assert "--set most=3" in refusal(tmp_path, text).message
    assert "has no constant 'least'; it has most" in refusal(tmp_path, text, most=1, least=1).message
    assert "needs int" in refusal(tmp_path, text, most=True).message
    assert search(load(tmp_path, text), most=1).complete


def test_a_model_without_an_initial_state_is_refused(tmp_path: Path) -> None:
    start = "@initial\ndef start(self) -> None:\n    require(self.y > 0)"
    text = model_text(start, "class M(Model):  #!\n    y: Small = 0\n")
    assert "no initial state" in refusal(tmp_path, text).message


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("state_of: Small = 0\n\n@action\ndef load(self) -> None:  #!\n    pass", "it cannot be a method"),
        ("reset: Small = 0  #!", "it cannot be a variable"),
        ("step: Small = 0  #!\n\n@action\ndef step(self) -> None:\n    pass", "a variable and a method"),
        ("@staticmethod\n@action\ndef step() -> None:  #!\n    pass", "a plain method with self"),
    ],
)
def test_clashing_names_are_refused(tmp_path: Path, body: str, said: str) -> None:
    text = model_text(body).replace("@action\ndef load(self) -> None:  #!", "@action\ndef load(self) -> None:")
    marked = [i for i, line in enumerate(text.splitlines(), 1) if line.endswith("#!")]
    with pytest.raises(ModelError) as caught:
        load(tmp_path, text)
    assert said in caught.value.message
    assert caught.value.line in (*marked, *(line - 1 for line in marked), *(line - 2 for line in marked))


COMMANDED = ["while", "lambda", "float", "dict literal", "unordered set in a loop", "integer as truth"]


def _project(root: Path, texts: dict[str, str]) -> Path:
    files = {"specs/holds.toml": 'model = "model.good:M"\n'}
    files["model/good.py"] = model_text(property_text("return self.x == 0"))
    for number, text in enumerate(texts.values()):
        files[f"model/broken_{number}.py"] = text
        files[f"specs/broken_{number}.toml"] = f'model = "model.broken_{number}:M"\n'
    for name, text in files.items():
        write(root, {name: ""})
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.mark.slow
def test_the_command_says_each_error_in_one_line(tmp_path: Path) -> None:
    checked = property_text("return self.x == 0")
    texts = {name: model_text(checked + "\n\n" + action_text(STATEMENTS[name][0])) for name in COMMANDED}
    texts |= {name: model_text(checked + "\n\n" + BODIES[name][0]) for name in ("recursion", "a huge parameter")}
    texts["an unbounded integer"] = model_text(checked + "\n\ny: int")
    texts["no constant"] = model_text(checked + "\n\nmost: Constant[int] = Constant()")
    texts["broken Python"] = model_text(checked + "\n\ndef f(:")
    texts["an import that fails"] = "import no_such_module\n" + model_text(checked)
    texts["an error while loading"] = model_text(checked + "\n\nzero = 1 // 0")
    texts["a variable and a method"] = model_text(checked + "\n\nstep: Small = 0\n\n" + action_text("pass"))
    root = _project(tmp_path, texts)
    done = subprocess.run([*COMMAND, "check", "--workers", "1"], cwd=root, text=True, capture_output=True)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    for number, name in enumerate(texts):
        lines = [line for line in done.stdout.splitlines() if f"model/broken_{number}.py:" in line]
        assert len(lines) == 1, (name, done.stdout)


def test_one_error_is_all_that_the_command_says(tmp_path: Path) -> None:
    text = model_text(property_text("return self.x == 0") + "\n\n" + action_text(STATEMENTS["while"][0]))
    root = _project(tmp_path, {"while": text})
    done = subprocess.run([*COMMAND, "check", "specs/broken_0.toml"], cwd=root, text=True, capture_output=True)
    assert done.returncode == 2
    line = text.splitlines().index("        while self.x < 3:  #!") + 1
    said = f"model/broken_0.py:{line}: while is not part of the language; loop with `for i in range(n)` and break"
    assert done.stdout.count(said) == 1, done.stdout
