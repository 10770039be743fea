"""Tests that of one state before, and of all steps that leave the extent of an expression as it is, the expression has
one outcome in CPython: it fails or not, has the same value, and meets the same premises."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from floodmark import Map, Model
from floodmark.checkers.codegen.footprint import footprint
from floodmark.checkers.codegen.stutter import Extent, Outcome, Stutter
from floodmark.checkers.project.properties import Property
from floodmark.checkers.reference.premises import premises_of
from floodmark.compiler.ir import Compare, Const, Equal, Or, Position, SeqSlice, Size, StateVar, Witness
from floodmark.compiler.layout import Layout, encode, lay_out
from floodmark.compiler.program import read_program
from floodmark.language.errors import ModelError, SourceError
from floodmark.language.model import State
from floodmark.language.reference import holds
from floodmark.language.types import WORD, BoolType, IntType, SeqType
from tests.support.drawn_states import drawn
from tests.support.engines import imported

MODEL = '''
from typing import Annotated
from floodmark import *

class Node(Identifier, count=2):
    pass

Level = Annotated[int, Between(0, 2)]

class Cell(Record):
    level: Level
    on: bool

class Place(Record):
    on: bool
    level: Level

class Entry(Record):
    owner: Node | None
    mark: Level

class Cells(Model):
    cells: Map[Node, Cell]
    entries: Map[Level, Entry]
    more: Map[Level, Map[Node, Level]]
    places: Map[Node, Place]
    of_places: Map[Place, Level]
    chosen: Set[Node]
    log: Annotated[Seq[Level], Capacity(2)]
    count: Level
    start: Annotated[int, Between(1, 2)]

    @initial
    def starts(self) -> None:
        self.cells = Map({node: Cell(level=0, on=False) for node in Node})
        self.entries = Map({level: Entry(owner=None, mark=0) for level in range(3)})
        self.more = Map({level: Map({node: 0 for node in Node}) for level in range(3)})
        self.places = Map({node: Place(on=False, level=0) for node in Node})
        self.of_places = Map({Place(on=on, level=level): 0 for on in (False, True) for level in range(3)})
        self.chosen = Set()
        self.log = Seq()
        self.count = 0
        self.start = 1

    @action
    def stays(self) -> None:
        self.count = self.count

    def entry_of(self, node: Node) -> Entry:
        level = self.cells[node].level
        assert self.entries[level].mark < 2, "it is forgotten"
        return self.entries[level]

    def mark_of(self, node: Node) -> Level:
        return self.entries[self.cells[node].level].mark

    def latest(self) -> Entry:
        count = self.count
        return self.entries[count]

    def first_on(self) -> Level:
        for node in Node:
            if self.cells[node].on:
                return self.cells[node].level
        return self.count

    def own(self, node: Node) -> Level:
        level = self.count
        if self.cells[node].on:
            level = self.cells[node].level
        return self.more[level][node]

    def is_marked(self, node: Node) -> bool:
        level = self.cells[node].level
        assert self.entries[level].mark < 2
        return self.entries[level].mark > 0

def keeps(old: Cells, new: Cells, node: Node) -> bool:
    assert new.count < 2
    return new.cells[node].level >= old.cells[node].level

def is_alike(old: Cells, new: Cells, node: Node) -> bool:
    level = new.cells[node].level
    return level == old.cells[node].level and new.entries[level].mark < 2

@transition
def calls(old: Cells, new: Cells) -> bool:
    return all(new.entry_of(node).mark >= old.entry_of(node).mark for node in Node)

@transition
def helped(old: Cells, new: Cells) -> bool:
    before = old.latest()
    after = new.latest()
    return implies(new.count != old.count, after.owner != before.owner) and new.chosen - old.chosen <= {after.owner}

@transition
def copied(old: Cells, new: Cells) -> bool:
    level = old.cells[Node(1)].level
    other = level
    return new.entries[other].mark >= old.entries[level].mark

@transition
def bound_again(old: Cells, new: Cells) -> bool:
    level = new.count
    level = new.cells[Node(2)].level
    return new.entries[level].mark == old.count or new.more[level][Node(1)] == 0

@transition
def from_start(old: Cells, new: Cells) -> bool:
    return new.entries[new.start].mark >= old.entries[old.start].mark

@transition
def beside_calls(old: Cells, new: Cells) -> bool:
    one = old.count
    other = old.count
    more = old.count
    again = old.count
    return any(new.entry_of(node).mark + one + other + more + again > 0 for node in Node)

@transition
def beside_others(old: Cells, new: Cells) -> bool:
    return all(new.cells[one].level == old.cells[other].level or new.count > 0 for one in Node for other in Node)

@transition
def either(old: Cells, new: Cells) -> bool:
    return all(new.cells[node].level > 0 for node in Node if new.cells[node].on) or new.count == old.count

@transition
def only_grows(old: Cells, new: Cells) -> bool:
    return new.log[:len(old.log)] == old.log and len(new.log[:new.count]) == len(old.log[:old.count])

@transition
def chosen_or(old: Cells, new: Cells) -> bool:
    return implies(new.cells[Node(1)].on, new.cells[Node(1)].level > 0) or new.count == old.count
'''
BY_HAND = ("calls", "helped", "copied", "bound_again", "from_start", "beside_calls", "beside_others", "either",
           "only_grows", "chosen_or")
FIELDS = ("level", "on", "owner", "mark")
DRAWN = 80
STATES = 8
STEPS = 4


class Grammar:
    """Properties of steps, as Python writes them."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.names = 0

    def truth(self, depth: int, nodes: list[str]) -> str:
        draw = self.chance.random()
        if depth == 0 or draw < 0.25:
            return self.leaf(nodes)
        if draw < 0.5:
            parts = [self.truth(depth - 1, nodes) for _ in range(self.chance.randint(2, 3))]
            return "(" + self.chance.choice([" and ", " or "]).join(parts) + ")"
        if draw < 0.58:
            return f"implies({self.truth(depth - 1, nodes)}, {self.truth(depth - 1, nodes)})"
        if draw < 0.64:
            return f"(not {self.truth(depth - 1, nodes)})"
        if draw < 0.7:
            one, condition, other = (self.truth(depth - 1, nodes) for _ in range(3))
            return f"({one} if {condition} else {other})"
        name = f"n{self.names}"
        self.names += 1
        inner = [*nodes, name]
        domain = self.chance.choice(["Node", "Node", "Node", "new.chosen - old.chosen", "new.chosen ^ old.chosen",
                                     "new.chosen", "old.chosen", "new.chosen | old.chosen",
                                     "(new.chosen | old.chosen) - new.chosen"])
        condition = f" if {self.truth(depth - 1, inner)}" if self.chance.random() < 0.6 else ""
        kind = self.chance.choice(["all", "all", "any"])
        return f"{kind}({self.truth(depth - 1, inner)} for {name} in {domain}{condition})"

    def leaf(self, nodes: list[str]) -> str:
        draw = self.chance.random()
        if draw < 0.55:  # both sides read the same, of two states or of one
            order = self.chance.choice(["==", "!=", "<=", ">=", "<", ">"])
            number = self.number(nodes)
            both = [number.replace("STATE", state) for state in self.chance.choice([("new", "old"), ("old", "new")])]
            return f"{both[0]} {order} {both[1]}"
        if draw < 0.6:
            order, shape = self.chance.choice(["==", "!=", ">="]), self.number(["NODE"])
            sides = [shape.replace("STATE", state).replace("NODE", self.node(nodes)) for state in ("new", "old")]
            return f"{sides[0]} {order} {sides[1]}"
        if draw < 0.64:
            return f"{self.chance.choice(['keeps', 'is_alike'])}(old, new, {self.node(nodes)})"
        if draw < 0.68:
            return f"{self.state()}.is_marked({self.node(nodes)})"
        if draw < 0.69:
            high = self.chance.choice([f"len({self.state()}.log)", f"{self.state()}.count", "1"])
            return f"{self.state()}.log[:{high}] {self.chance.choice(['==', '!='])} {self.state()}.log"
        if draw < 0.7:
            return f"new.cells[{self.node(nodes)}] {self.chance.choice(['==', '!='])} old.cells[{self.node(nodes)}]"
        if draw < 0.75:
            return f"{self.state()}.cells[{self.node(nodes)}].on"
        if draw < 0.82:
            return f"{self.node(nodes)} in {self.state()}.chosen"
        if draw < 0.9:
            node = self.node(nodes)
            return f"{self.state()}.entry_of({node}).owner == {self.node(nodes)}"
        order = self.chance.choice(["==", "<="])
        return f"{self.of_one(nodes)} {order} {self.of_one(nodes)}"

    def of_one(self, nodes: list[str]) -> str:
        return self.number(nodes).replace("STATE", self.state())

    def number(self, nodes: list[str]) -> str:
        node = self.node(nodes)
        return self.chance.choice([
            f"STATE.cells[{node}].level", f"STATE.entries[STATE.cells[{node}].level].mark",
            "STATE.entries[STATE.start].mark", f"STATE.mark_of({node})",
            f"STATE.entry_of({node}).mark", "STATE.latest().mark", "STATE.count", "len(STATE.chosen)", "1",
            f"STATE.more[STATE.count][{node}]", f"new.entries[STATE.cells[{node}].level].mark",
            f"STATE.entries[old.cells[{node}].level].mark", "STATE.first_on()", f"STATE.own({node})",
            f"STATE.more[STATE.cells[{node}].level][{self.node(nodes)}]", f"6 // (2 - STATE.cells[{node}].level)",
            f"STATE.more[STATE.more[STATE.count][{node}]][{node}]", f"STATE.of_places[STATE.places[{node}]]",
            f"new.of_places[STATE.places[{node}]]",
        ])

    def node(self, nodes: list[str]) -> str:
        return self.chance.choice([*nodes, *nodes, "Node(1)", "Node(2)"])

    def state(self) -> str:
        return self.chance.choice(["new", "new", "old"])


def parts_of(kind: Any, value: Any, chance: Random) -> Iterator[Any]:
    """Values that differ from one in a part of it."""
    if not isinstance(value, Map):
        yield drawn(kind, chance)
        return
    for key in value:
        new = drawn(kind.value, chance)
        fields = {it: getattr(new, it) for it in FIELDS if hasattr(new, it)}
        for field, content in fields.items():
            if chance.random() < 0.6:
                yield Map({**value, key: value[key].replace(**{field: content})})
        if not fields:
            yield Map({**value, key: new})


def mask_of(extent: Extent, packed: tuple[int, ...]) -> tuple[int, ...]:
    """The bits of an extent in a packed state."""
    mask = extent.bits
    for entry in extent.entries:
        code = packed[entry.word] >> entry.offset & ((1 << entry.width) - 1)
        mask = tuple(one | other for one, other in zip(mask, entry.bits[code], strict=True))
    return mask


def steps_that_leave(extent: Extent, model: Model, layout: Layout, old: State, chance: Random) -> Iterator[State]:
    """States that agree with one on an extent."""
    kinds = model.variable_types
    codes = {name: encode(kind, value) for (name, kind), value in zip(kinds.items(), old, strict=True)}
    mask = sum(bits << WORD * word for word, bits in enumerate(mask_of(extent, layout.pack(old))))
    new = old
    for _ in range(STEPS):
        for place, (name, kind) in enumerate(kinds.items()):
            slot = layout.slots[name]
            for part in parts_of(kind, new[place], chance):
                changed = (encode(kind, part) ^ codes[name]) << WORD * slot.word + slot.offset
                if not changed & mask:
                    new = (*new[:place], part, *new[place + 1 :])
        yield new


def outcome(model: Model, prop: Property, asked: list[Any], old: State, new: State) -> tuple[Any, ...]:
    """What CPython says of a step: that the property fails, is false, or is true and meets these premises."""
    try:
        true = holds(model, prop.function, old, new)
    except SourceError:
        return ("fails",)
    return (true, *(it.is_met(model, old, new) for it in asked)) if true else (False,)


def compare(
    cls: type[Model], names: Sequence[str], functions: dict[str, Any], chance: Random, seen: Counter[str]
) -> None:
    model = cls()
    program = read_program(model, {name: functions[name] for name in names})
    layout = lay_out(program.variables)
    kinds = model.variable_types
    for predicate in program.predicates:
        found = Stutter(layout, predicate.value).outcome(predicate.value)
        prop = Property(predicate.name, "transition", functions[predicate.name], __file__, 1, "")
        asked = premises_of(model, prop)
        read = sum(map(int.bit_count, footprint(predicate.value, "new", layout)))
        seen["less"] += found.extent.size < read
        seen["entries"] += bool(found.extent.entries)
        seen["trivial"] += found.truth is True and found.silent
        seen["known to be false"] += found.truth is False
        for _ in range(STATES):
            old = tuple(drawn(kind, chance) for kind in kinds.values())
            wanted = outcome(model, prop, asked, old, old)
            seen[str(wanted[0])] += 1
            require(found, wanted, len(asked), predicate.name)
            for new in steps_that_leave(found.extent, model, layout, old, chance):
                assert outcome(model, prop, asked, old, new) == wanted, (predicate.name, old, new, found)
                seen["steps"] += new != old


def test_a_premise_that_may_be_met_before_is_not_forgotten() -> None:
    """An operand that meets a premise is evaluated before the one that is true of all such steps."""
    number, at = IntType(0, 3), Position("", 1)
    new, old = StateVar(number, at, "a", "new"), StateVar(number, at, "a", "old")
    other = Compare(BoolType(), at, ">", StateVar(number, at, "b", "new"), Const(number, at, 1))
    layout = lay_out({"a": number, "b": number})
    for first, read in ((other, 1), (Witness(BoolType(), at, 0, other), 2)):
        whole = Or(BoolType(), at, [first, Equal(BoolType(), at, new, old)])
        found = Stutter(layout, whole).outcome(whole)
        assert found.truth is True and found.silent == (read == 1)
        assert found.extent.size == read * number.bits


@pytest.mark.parametrize("measured", ["log", "other"])
def test_a_sequence_is_a_slice_of_itself_up_to_its_own_length(measured: str) -> None:
    kind, at = SeqType(IntType(0, 3), 2), Position("", 1)
    new, old = StateVar(kind, at, "log", "new"), StateVar(kind, at, "log", "old")
    part = SeqSlice(kind, at, new, None, Size(IntType(0, 2), at, StateVar(kind, at, measured, "old")))
    whole = Equal(BoolType(), at, part, old)
    found = Stutter(lay_out({"log": kind, "other": kind}), whole).outcome(whole)
    assert found.truth is (True if measured == "log" else None)


def require(found: Outcome, wanted: tuple[Any, ...], premises: int, name: str) -> None:
    """A known truth is the value unless the property fails; a silent one does not fail, and meets no premise."""
    if found.truth is not None:
        assert wanted[0] in (found.truth, "fails"), name
    if found.silent:
        assert wanted[0] != "fails", name
        assert found.truth is not True or not any(wanted[1:]), (name, premises)


@pytest.mark.parametrize("is_shared", [False, True], ids=["copied calls", "shared functions"])
def test_an_expression_has_one_outcome_of_all_steps_that_leave_its_extent(
    is_shared: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_shared:
        monkeypatch.setattr("floodmark.compiler.statements.MAX_COPY", 0)
    chance = Random(6 if is_shared else 5)
    count = DRAWN // 4 if is_shared else DRAWN
    grammar = Grammar(chance)
    bodies = [grammar.truth(3, []) for _ in range(count)]
    source = MODEL + "".join(
        f"\n@transition\ndef drawn_{at}(old: Cells, new: Cells) -> bool:\n    return {body}\n"
        for at, body in enumerate(bodies)
    )
    seen: Counter[str] = Counter()
    with imported(source, "Cells", tmp_path) as cls:
        functions = vars(sys.modules[cls.__module__])
        for names in (BY_HAND, *([f"drawn_{at}"] for at in range(count))):
            try:
                compare(cls, names, functions, chance, seen)
                seen["properties"] += 1
            except ModelError:
                seen["refused"] += 1
    assert seen["properties"] > count // 2, seen
    for what in ("less", "entries", "trivial", "known to be false", "True", "False", "fails", "steps"):
        assert seen[what] > 3, seen
