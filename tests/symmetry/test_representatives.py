"""Tests which identifiers need no second order in a representative, and the successors that a worker remembers."""

from __future__ import annotations

import itertools
from enum import Enum
from typing import Annotated

import pytest

from floodmark import (
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
    require,
)
from floodmark.checkers.codegen.signature import is_determined
from floodmark.checkers.kernel import compiled_model
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.properties import collect
from floodmark.checkers.reference import search as reference
from floodmark.checkers.search_result import Options
from floodmark.compiler.layout import decode
from floodmark.compiler.renaming import _parts, renamed
from floodmark.language.types import IdentifierType, IntType, SetType, Type


class Node(Identifier, count="nodes", prefix="n"):
    pass


class Item(Identifier, count="items", prefix="i"):
    pass


class Colour(Enum):
    RED = 1
    BLUE = 2


class Pair(Record):
    node: Node | None
    others: Set[Node]


class Kinds(Model):
    """A variable of each type that may or may not relate two identifiers."""

    nodes = Constant(3)
    items = Constant(2)
    one: Node
    perhaps: Node | None
    some: Set[Node]
    own_map: Map[Node, Colour]
    by_colour: Map[Colour, Node | None]
    sets_by_colour: Map[Colour, Set[Node]]
    pair: Pair
    number: Annotated[int, Between(0, 3)]
    item: Item
    items_of: Map[Item, Colour]
    points: Map[Node, Node | None]
    set_map: Map[Node, Set[Node]]
    item_of: Map[Node, Item]
    node_of: Map[Item, Node]
    pairs: Set[Pair]
    optional_pair: Pair | None
    sets: Set[Set[Node]]
    row: Annotated[Seq[Node], Capacity(2)]


DETERMINED = {"one", "perhaps", "some", "own_map", "by_colour", "sets_by_colour", "pair", "number", "item", "items_of"}
MAX_CODES = 4096


def kinds() -> dict[str, Type]:
    return Kinds().variable_types


def is_accepted(kind: Type) -> bool:
    node = IdentifierType(Node, 3)
    return is_determined(kind, node, {Node, Item})


def can_be_exchanged(kind: Type) -> bool:
    """Whether exchanging two nodes with equal parts never changes a value, by trying all values up to a limit."""
    node, classes = IdentifierType(Node, 3), {Node, Item}
    for code in range(min(kind.codes, MAX_CODES)):
        value = decode(kind, code)
        for i, j in itertools.combinations(range(1, 4), 2):
            numbers = [1, 2, 3]
            numbers[i - 1], numbers[j - 1] = j, i
            one, other = (list(_parts(kind, value, node, number, classes)) for number in (i, j))
            if one == other and renamed(value, {Node: tuple(numbers)}) != value:
                return False
    return True


@pytest.mark.parametrize("name", kinds())
def test_identifiers_with_equal_signatures_can_be_exchanged_in_accepted_types(name: str) -> None:
    kind = kinds()[name]
    assert is_accepted(kind) == (name in DETERMINED)
    if name in DETERMINED:
        assert can_be_exchanged(kind)


def test_types_that_relate_two_identifiers_are_refused_for_a_reason() -> None:
    undetermined = {name for name in kinds() if name not in DETERMINED and not can_be_exchanged(kinds()[name])}
    assert undetermined >= {"points", "set_map", "pairs", "row", "sets"}


def test_a_signature_has_all_words_of_a_wide_value() -> None:
    kind = SetType(IntType(0, 69))
    assert list(_parts(kind, Set({0, 69}), IdentifierType(Node, 3), 1, {Node, Item})) == [1, 1 << 69 - 64]


class Ring(Model):
    """Nodes are told apart by their own state alone, and there are ties in most states."""

    nodes = Constant(4)
    colour: Map[Node, Colour]
    held: Set[Node]
    owner: Node | None = None

    @initial
    def start(self) -> None:
        self.colour = Map({node: Colour.RED for node in Node})
        self.held = Set()

    @action
    def takes(self, node: Node) -> None:
        require(self.owner is None)
        self.owner = node
        self.held.add(node)

    @action
    def paints(self, node: Node) -> None:
        require(self.owner == node)
        self.colour[node] = Colour.BLUE if self.colour[node] == Colour.RED else Colour.RED
        self.owner = None

    @action
    def drops(self, node: Node) -> None:
        require(node in self.held)
        self.held.discard(node)

    @invariant
    def owner_holds_or_dropped(self) -> bool:
        return self.owner is None or self.owner in self.held or len(self.held) < 4


@pytest.mark.parametrize("recent_bits", [0, 1, 3, 13])
@pytest.mark.parametrize("workers", [1, 2])
def test_remembered_successors_change_no_figure(
    recent_bits: int, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled_model, "RECENT_BITS_OF_ORBITS", recent_bits)
    properties = list(collect(Ring, ()).values())
    wanted = reference.search_states(Ring(), properties, Options(symmetry=True))
    found = search_states(Ring(), properties, Options(symmetry=True, workers=workers))
    for name in ("distinct", "generated", "depth", "levels", "digest", "actions", "violations"):
        assert getattr(found, name) == getattr(wanted, name), name


class Falls(Model):
    """Ends in the state whose code is zero, in a layout with nothing else."""

    nodes = Constant(2)
    up: Map[Node, bool]

    @initial
    def start(self) -> None:
        self.up = Map({node: True for node in Node})

    @action
    def falls(self, node: Node) -> None:
        require(self.up[node])
        self.up[node] = False


def test_state_of_zeros_is_found_though_empty_cells_are_zero() -> None:
    found = search_states(Falls(), [], Options(symmetry=True, workers=1))
    assert (found.distinct, found.depth, found.complete) == (3, 3, True)
