"""Tests compiled representatives of drawn states of every type against those in plain Python."""

from __future__ import annotations

import ctypes
import itertools
import mmap
import os
import random
from enum import Enum
from typing import Annotated, Any

import numpy as np
import pytest

from floodmark import Bag, Between, Capacity, Constant, Identifier, Map, Model, Record, Seq, Set
from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.jit import GOOD, UNOPTIMISED, Effort, MachineCode, object_image
from floodmark.checkers.codegen.lane_renaming import is_straight
from floodmark.checkers.codegen.permutation import CHUNK, emit_canonical
from floodmark.compiler.layout import Layout, lay_out
from floodmark.compiler.renaming import Orbits, SymmetryProof, symmetric_types
from floodmark.language.model import State
from floodmark.language.types import (
    BagType,
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


class Followed(Record):
    offsets: Map[Node, Number]
    fetched: Set[Node]


class Leaders(Model):
    """What a leader knows of each other node, some of it wider than a word."""

    nodes = Constant(3)
    known: Map[Node, Followed]
    last: Followed | None
    votes: Map[Node, Set[Node]]
    epoch_of: Map[Number, Node | None]


class Assigned(Model):
    """Two kinds of identifiers, of which either may be tied, and nothing that needs a branch."""

    nodes = Constant(3)
    items = Constant(2)
    item_of: Map[Node, Item | None]
    sets_of: Map[Item, Set[Node]]
    sets: Set[Set[Item]]
    held: Annotated[Bag[Pair], Capacity(4)]
    known: Map[Node, Followed]
    broad: Map[Item, Map[Node, Number]]
    queues: Map[Node, Annotated[Seq[Item], Capacity(3)]]
    rows: Annotated[Seq[Broad], Capacity(2)]


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
    row: Annotated[Seq[Pair], Capacity(9)]
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
        self.canonical = self.code.function("canonical", 2)
        self.layout = layout

    def __call__(self, states: list[State]) -> list[tuple[int, ...]]:
        rows = np.array([self.layout.pack(state) for state in states], dtype=np.uint64).reshape(-1)
        self.canonical(rows.ctypes.data, len(states))
        return [tuple(int(word) for word in row) for row in rows.reshape(-1, self.layout.words)]


SIZES: list[tuple[type[Model], dict[str, int]]] = [
    *((Messages, {"nodes": nodes}) for nodes in (2, 3, 4, 5)),
    *((Own, {"nodes": nodes}) for nodes in (2, 5, 6)),
    *((Leaders, {"nodes": nodes}) for nodes in (2, 4, 5)),
    *((Assigned, {"nodes": nodes, "items": items}) for nodes, items in ((2, 4), (3, 2), (4, 3), (5, 2))),
    *((Nested, {"nodes": nodes, "items": items}) for nodes, items in ((2, 2), (3, 3), (5, 2))),
]


def test_both_ways_to_rename_are_tried() -> None:
    """Side by side, and one state after the other."""
    for cls, constants in SIZES:
        kinds = cls(**constants).variable_types.values()
        renamed = symmetric_types(kinds)
        assert all(is_straight(kind, renamed) for kind in kinds) == (cls is not Nested)


@pytest.mark.parametrize("effort", [GOOD, UNOPTIMISED])
@pytest.mark.parametrize(("cls", "constants"), SIZES)
def test_compiled_representatives_are_those_of_plain_python(
    cls: type[Model], constants: dict[str, int], effort: Effort
) -> None:
    """Of any number of states at once."""
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
    assert canonical(states) == wanted
    for count in range(CHUNK + 2):
        assert canonical(states[count : 2 * count]) == wanted[count : 2 * count]


@pytest.mark.parametrize("nodes", [2, 4])
def test_states_behind_the_last_one_are_neither_read_nor_written(nodes: int) -> None:
    """The last state is at the end of a page, behind which a process of its own may read nothing."""
    variables = Messages(nodes=nodes).variable_types
    layout = lay_out(variables)
    kinds = tuple(symmetric_types(variables.values()))
    compiled = Compiled(layout, SymmetryProof(kinds), GOOD)
    pages = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    process = os.fork()
    if process == 0:
        ctypes.CDLL(None).mprotect(ctypes.c_void_p(begin + mmap.PAGESIZE), mmap.PAGESIZE, 0)
        for count in [*range(1, CHUNK), *range(CHUNK, 0, -1)]:  # also with what a longer chunk has left in the frame
            compiled.canonical(begin + mmap.PAGESIZE - count * layout.words * 8, count)
        os._exit(0)
    assert os.waitpid(process, 0)[1] == 0
