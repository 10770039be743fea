"""Tests which parts of a program the compiler considers to distinguish an identifier, and which it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from floodmark.checkers.project.properties import collect
from floodmark.checkers.symmetry.proof import parts_of
from floodmark.compiler import statements
from floodmark.compiler.identifier_bias import first_bias
from floodmark.compiler.program import read_program
from floodmark.compiler.renaming import symmetric_types
from tests.support.broken import action_text, load, marked_lines, model_text, property_text

MORE = """\
order: Annotated[Seq[Node], Capacity(4)] = Seq()
groups: Set[Set[Node]] = Set()
lots: Annotated[Bag[Node], Capacity(3)] = Bag()
last: Map[Node, Node | None]
high: Map[Node, Small]
total: Annotated[int, Between(0, 20)] = 0
rows: Map[Node, Map[Node, bool]]
told: Map[Node, Message]

@rule
def raised(self, n: Node) -> int:
    self.per[n] = 1
    return 1

@rule
def guarded(self, n: Node) -> bool:
    require(n in self.some)
    return self.flag

"""


def biases(tmp_path: Path, body: str) -> list[tuple[int, str]]:
    module = load(tmp_path, model_text(MORE + body))
    model = module.M(nodes=3)
    program = read_program(model, {p.name: p.function for p in collect(module.M, [module]).values()})
    kinds = symmetric_types(program.variables.values())
    parts = parts_of(program)
    return [(found.at.line, found.what) for part in parts if (found := first_bias(part, kinds)) is not None]


IMPARTIAL = {
    "equality and membership": "require(n in self.some and self.node != n)\nself.node = n",
    "keys": "self.per[n] = self.per[n] + 1 if self.node == n else 0\nself.last[n] = self.node",
    "quantifiers": "require(all(m in self.some or self.per[m] == 0 for m in Node) and any(m == n for m in self.some))",
    "sums and extrema": "self.x = min(sum(1 for m in Node if m in self.some), max(self.per[m] for m in Node))",
    "sets and maps": "self.some = {m for m in Node if m not in self.some}\nself.per = Map({m: 0 for m in Node})",
    "a sorted sequence of integers": "self.x = sorted(self.per[m] for m in Node)[1]",
    "a median of a variable's": (
        "ends = [self.per[m] for m in self.some]\nrequire(len(ends) > 1)\nself.x = sorted(ends)[0]"
    ),
    "a bag of identifiers": "self.lots = Bag(m for m in self.some)",
    "what a sequence holds": "ends = [self.per[m] for m in Node]\nrequire(2 in ends)\nself.x = len(ends) - 1",
    "sequences of identifiers": "self.order = self.order[1:] + [n]\nself.node = self.order[0]",
    "a loop over numbers that stops": (
        "for i in range(3):\n    if self.x == i:\n        self.flag = True\n        break"
    ),
    "a loop over a log that stops": "for value in self.log:\n    if value > 1:\n        self.x = value\n        break",
    "rounds at their own key": "for m in Node:\n    if m in self.some:\n        self.per[m] = self.high[m]\n"
                               "    self.last[m] = None",
    "rounds at their own key in turn": (
        "for m in Node:\n    self.per[m] = 0\n    if self.per[m] == 0:\n        self.per[m] = 2"
    ),
    "a plain set among sets": "require({n} in self.groups)\nself.x = 1",
    "a field at its own key": "for m in Node:\n    self.told[m] = Message(node=m, value=0)\n"
                              "    self.told[m].urgent = m in self.some",
    "a union": "for m in Node:\n    if self.per[m] == 0:\n        self.some.add(m)",
    "a union of groups": "both = Set()\nfor group in self.groups:\n    both = both | group\nself.some = both",
    "an intersection": "for group in self.groups:\n    self.some &= group",
    "a count": "count = 0\nfor m in Node:\n    if m in self.some:\n        count += 1\nself.x = count",
    "a largest": "best = 0\nfor m in Node:\n    best = max(best, self.per[m])\nself.x = best",
    "a flag": "found = False\nfor m in Node:\n    if self.per[m] == 2:\n        found = True\nself.flag = found",
    "a flag by or": "found = False\nfor m in Node:\n    found = found or m in self.some\nself.flag = found",
    "things in a bag": "for m in self.some:\n    self.lots.add(m)",
    "a variable of the round": "for m in Node:\n    now = self.per[m]\n    if now > 0:\n        self.per[m] = now - 1",
    "a requirement of each": "for m in self.some:\n    require(self.per[m] == 0)\nself.x = 1",
    "a loop in a loop": (
        "for m in Node:\n    count = 0\n    for other in self.some:\n        count += 1\n    self.high[m] = count"
    ),
    "a type that no variable has": "for o in Other:\n    if o == Other(2):\n        self.x = 1\n        break",
}


@pytest.mark.parametrize("name", IMPARTIAL)
def test_impartial_code_has_no_bias(tmp_path: Path, name: str) -> None:
    assert biases(tmp_path, action_text(IMPARTIAL[name], "n: Node")) == []


PARTIAL = {
    "a name": "self.node = Node(1)  #!",
    "a name in a set": "require(n in {Node(1), n})  #!",
    "the first": "for m in Node:\n    if m in self.some:\n        self.node = m\n        break  #!",
    "the first, in a local": "first = n\nfor m in self.some:\n    first = m  #!\n    break\nself.node = first",
    "the last": "for m in self.some:\n    self.node = m  #!",
    "what others did": "for m in Node:\n    if len(self.some) < 2:\n        self.some.add(m)  #!",
    "what others did at another key": "for m in Node:\n    self.per[m] = self.per[n]  #!",
    "what others did to a part of an entry": (
        "for m in Node:\n    self.rows[m] = Map({k: False for k in Node})  #!\n    self.rows[n][m] = True"
    ),
    "what others did to the whole": (
        "for m in Node:\n    if self.last[m] is None:\n        self.last = Map({k: m for k in Node})  #!"
    ),
    "how many there were": (
        "count = 0\nfor m in Node:\n    count += 1\n    if m in self.some:\n        break  #!\nself.x = count"
    ),
    "how many came before, as an index": (
        "count = 0\nfor m in self.some:\n    self.high[m] = self.log[count]\n    count += 1  #!"
    ),
    "the largest before the end": (
        "best = 0\nfor m in Node:\n    best = max(best, self.per[m])  #!\n    if m in self.some:\n        break\n"
        "self.x = best"
    ),
    "one side of a choice": (
        "ends = [self.per[m] for m in Node] if self.flag else [0, 0, 0]  #!\nself.x = ends[0]"
    ),
    "more and less": "for m in Node:\n    if m in self.some:\n        self.x += 1  #!\n    else:\n        self.x -= 1",
    "added and taken away": "for m in Node:\n    self.some.add(m)  #!\n    self.some.discard(n)",
    "one flag and the other": (
        "for m in Node:\n    if m in self.some:\n        self.flag = True  #!\n    else:\n        self.flag = False"
    ),
    "two ways to stop": "self.flag = self.guarded(n)\nfor m in Node:\n    if m in self.some:\n        break  #!\n"
                        "    if m == n:\n        return",
    "a place in a sequence": "self.x = [self.per[m] for m in Node][0]  #!",
    "a place in a sequence of a variable's": "ends = [self.per[m] for m in Node]  #!\nself.x = ends[0]",
    "the other side of a choice": (
        "ends = [0, 0, 0] if self.flag else [self.per[m] for m in Node]  #!\nself.x = ends[0]"
    ),
    "an order that is stored": "self.order = Seq(m for m in self.some)  #!",
    "an order that is compared": "require([self.per[m] for m in Node] == [0, 1, 2])  #!",
    "an order by a branch": (
        "ends = [0]\nif self.flag:\n    ends = [self.per[m] for m in self.some]  #!\nself.x = ends[0]"
    ),
    "an order behind one that is known": "ends = [0] + [self.per[m] for m in Node]  #!\nself.x = ends[1]",
    "sets in their order": "for group in self.groups:\n    self.some = group  #!",
    "effects of a fold": "self.x = sum(self.raised(m) for m in Node)  #!",
    "requirements of a fold": "self.flag = any(self.guarded(m) for m in Node)  #!",
    "requirements behind an or": (
        "found = False\nfor m in Node:\n    found = found or self.guarded(m)  #!\nself.flag = found"
    ),
    "a failure behind what decides": "self.flag = any(self.log[self.per[m]] == 1 for m in Node)  #!",
    "a failure of a condition": "self.flag = any(m == n for m in Node if self.log[self.per[m]] == 1)  #!",
    "a failure of a second domain": (
        "self.flag = any(i == 1 for m in Node for i in range(self.log[self.per[m]]))  #!"
    ),
    "a name in a second key": "self.rows[n][Node(1)] = True  #!",
    "a name in the end of a slice": "self.log = self.log[: 1 if self.node == Node(1) else 0]  #!",
    "a name in the beginning of a slice": "self.log = self.log[1 if self.node == Node(1) else 0 :]  #!",
    "a failure before the end": "for m in Node:\n    if self.log[self.per[m]] == 1:\n        break  #!",
    "a failure or a requirement": (
        "for m in Node:\n    require(self.per[m] < 2)  #!\n    self.per[m] += 1\n    assert self.x < 3"
    ),
}


@pytest.mark.parametrize("name", PARTIAL)
def test_code_that_distinguishes_identifiers_is_found_by_line(tmp_path: Path, name: str) -> None:
    body = action_text(PARTIAL[name], "n: Node")
    lines = marked_lines(model_text(MORE + body))
    assert [line for line, _ in biases(tmp_path, body)] == lines


CALLS = [name for name, body in {**IMPARTIAL, **PARTIAL}.items() if "self.raised(" in body or "self.guarded(" in body]


@pytest.mark.parametrize("name", CALLS)
def test_a_function_that_calls_share_is_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(statements, "MAX_COPY", 0)
    body = action_text({**IMPARTIAL, **PARTIAL}[name], "n: Node")
    assert [line for line, _ in biases(tmp_path, body)] == marked_lines(model_text(MORE + body))


def test_what_has_to_be_true_may_fail_first(tmp_path: Path) -> None:
    """An invariant is violated where it is false and where it fails; a reachability property is not."""
    asked = "return all(self.log[self.per[m]] == 1 for m in Node)"
    assert biases(tmp_path, property_text(asked)) == []
    assert biases(tmp_path, property_text(f"return self.flag or {asked[7:]}")) == []
    loop = "for m in Node:\n    if self.log[self.per[m]] == 1:\n        return {}\nreturn {}"
    assert biases(tmp_path, property_text(loop.format("False", "True"))) == []
    for kind in ("reachable", "boundary"):
        assert len(biases(tmp_path, property_text(asked, kind))) == 1
    for other in (f"return {asked[7:]} or self.flag", f"return not {asked[7:]}", asked.replace("all", "any"),
                  loop.format("True", "self.flag")):
        assert len(biases(tmp_path, property_text(other))) == 1, other


@pytest.mark.parametrize("kind", ["invariant", "reachable", "boundary"])
def test_naming_an_identifier_is_a_bias_in_any_property(tmp_path: Path, kind: str) -> None:
    [(line, what)] = biases(tmp_path, property_text("return self.node != Node(2)", kind))
    assert what == "Node(2) is named here"
    assert line
