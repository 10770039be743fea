"""Tests compiled representatives of drawn states of every type against those in plain Python."""

from __future__ import annotations

import itertools
import random
from enum import Enum
from typing import Annotated, Any

import numpy as np
import pytest

from floodmark import Bag, Between, Capacity, Constant, Identifier, Map, Model, Record, Seq, Set
from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.jit import GOOD, UNOPTIMISED, Effort, MachineCode, object_image
from floodmark.checkers.codegen.permutation import CHUNK, emit_canonical, remembered_words
from floodmark.compiler.layout import Layout, lay_out
from floodmark.compiler.renaming import Orbits, SymmetryProof, symmetric_types
from floodmark.language.model import State
from floodmark.language.types import (
    BagType,
    IdentifierType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
)
from floodmark.language.universe import universe


class Node(Identifier, count="nodes", prefix="n"):
    pass


class Item(Identifier, count="items", prefix="i"):
    pass


class Colour(Enum):
    RED = 1
    BLUE = 2
    GREEN = 3


Number = Annotated[int, Between(0, 5)]


class Pair(Record):
    node: Node | None
    others: Set[Node]
    number: Number


class Broad(Record):
    """Wider than a word where there are five nodes."""

    numbers: Map[Node, Annotated[int, Between(0, 4000)]]
    friends: Set[Node]
    points: Map[Node, Node | None]
    sets: Set[Set[Node]]
    row: Annotated[Seq[Node], Capacity(2)]


class Messages(Model):
    """What a protocol has: most identifiers are told apart, and messages name them."""

    nodes = Constant(3)
    status: Map[Node, Colour]
    leader: Node | None
    pending: Set[Set[Node]]
    sent: Annotated[Set[Pair], Capacity(3)]
    held: Annotated[Bag[Pair], Capacity(2)]
    count: Number


class Own(Model):
    """Nodes are told apart by their own state alone."""

    nodes = Constant(3)
    status: Map[Node, Colour]
    some: Set[Node]
    by_colour: Map[Colour, Node | None]


class Nested(Model):
    """Two kinds of identifiers, in types within types, of which some are wider than a word."""

    nodes = Constant(3)
    items = Constant(2)
    broad: Map[Node, Broad]
    pairs: Annotated[Set[Pair], Capacity(5)]
    maybe: Broad | None
    item_of: Map[Node, Item | None]
    sets_of: Map[Item, Set[Node]]
    keyed: Map[Set[Item], Node]
    row: Annotated[Seq[Pair], Capacity(2)]
    words: Annotated[Set[Broad], Capacity(2)]
    number: Annotated[int, Between(0, 5)]


def drawn(kind: Type, draw: random.Random) -> Any:
    """A value of a type, small ones more often."""
    match kind:
        case OptionalType(inner):
            return drawn(inner, draw) if draw.random() < 0.7 else None
        case RecordType(_, fields):
            return kind.made_of({name: drawn(of, draw) for name, of in fields})
        case SetType(element, capacity):
            most = 3 if capacity is None else capacity
            return Set(drawn(element, draw) for _ in range(draw.randint(0, most)))
        case BagType(element, capacity):
            return Bag(drawn(element, draw) for _ in range(draw.randint(0, capacity or 0)))
        case SeqType(element, capacity):
            return Seq(drawn(element, draw) for _ in range(draw.randint(0, capacity)))
        case MapType(key, value):
            some = [drawn(value, draw) for _ in range(draw.choice((1, 2, 9)))]
            return Map({each: draw.choice(some) for each in universe(key)})
    return draw.choice(list(universe(kind))[:8])


class Compiled:
    """``canonical`` for the states of a model."""

    def __init__(self, layout: Layout, proof: SymmetryProof, effort: Effort) -> None:
        module = ir.Module("representatives")
        emit_canonical(module, layout, proof)
        text = str(module)
        self.code = MachineCode([object_image({"test": text}, lambda: text, effort)])
        self.layout = layout
        self.orders = np.zeros(remembered_words(layout, proof), dtype=np.uint64)

    def __call__(self, states: list[State], remembers: bool) -> list[tuple[int, ...]]:
        rows = np.array([self.layout.pack(state) for state in states], dtype=np.uint64).reshape(-1)
        orders = self.orders.ctypes.data if remembers else 0
        self.code.function("canonical", 3)(rows.ctypes.data, len(states), orders)
        return [tuple(int(word) for word in row) for row in rows.reshape(-1, self.layout.words)]


SIZES: list[tuple[type[Model], dict[str, int]]] = [
    *((Messages, {"nodes": nodes}) for nodes in (2, 3, 4, 5)),
    *((Own, {"nodes": nodes}) for nodes in (2, 5, 6)),
    *((Nested, {"nodes": nodes, "items": items}) for nodes, items in ((2, 2), (3, 3), (5, 2))),
]


@pytest.mark.parametrize("effort", [GOOD, UNOPTIMISED])
@pytest.mark.parametrize(("cls", "constants"), SIZES)
def test_compiled_representatives_are_those_of_plain_python(
    cls: type[Model], constants: dict[str, int], effort: Effort
) -> None:
    """Of single states and of many, whether or not orders are remembered, and whatever else is remembered by then."""
    variables = cls(**constants).variable_types
    layout = lay_out(variables)
    kinds = tuple(symmetric_types(variables.values()))
    orbits = Orbits(layout, kinds)
    canonical = Compiled(layout, SymmetryProof(kinds), effort)
    draw = random.Random(f"{cls.__name__} {constants}")
    states = [tuple(drawn(kind, draw) for kind in variables.values()) for _ in range(CHUNK)]
    renamings = list(itertools.islice(orbits.renamings(), 200))
    states += [orbits.after(state, draw.choice(renamings)) for state in states]
    states += draw.choices(states, k=5)
    wanted = [layout.pack(orbits.canonical(state)) for state in states]
    assert wanted[:CHUNK] == wanted[CHUNK : 2 * CHUNK]
    for remembers in (False, True, True):
        assert canonical(states, remembers) == wanted
    for state, representative in zip(states[:10], wanted, strict=False):
        for remembers in (False, True):
            assert canonical([state], remembers) == [representative]
    assert canonical([], remembers=True) == []


def test_an_order_is_remembered_with_all_that_it_depends_on() -> None:
    """Without memory there is one place for all: what the first chunk leaves there is told from states that differ from
    it in one variable each."""
    variables = Messages(nodes=3).variable_types
    layout = lay_out(variables)
    kind: IdentifierType = symmetric_types(variables.values())[0]
    orbits, proof = Orbits(layout, [kind]), SymmetryProof((kind,))
    canonical = Compiled(layout, proof, GOOD)
    draw = random.Random(7)
    for _ in range(200):
        state = [drawn(of, draw) for of in variables.values()]
        states = [tuple(state)] * CHUNK
        for place, of in enumerate(variables.values()):
            states.append((*state[:place], drawn(of, draw), *state[place + 1 :]))
        wanted = {each: layout.pack(orbits.canonical(each)) for each in states}
        assert canonical(states, remembers=False) == [wanted[each] for each in states]
