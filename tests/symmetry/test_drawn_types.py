"""Tests compiled representatives of states of drawn types against those in plain Python."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from floodmark.checkers.codegen.jit import GOOD, UNOPTIMISED
from floodmark.compiler.layout import lay_out
from floodmark.compiler.renaming import Orbits, SymmetryProof, symmetric_types
from tests.support.engines import imported
from tests.symmetry.test_compiled_representatives import Compiled, drawn

SOURCE = '''"""Types of everything that can hold an identifier."""
from __future__ import annotations
from enum import Enum
from typing import Annotated
from floodmark import Bag, Between, Capacity, Constant, Identifier, Map, Model, Record, Seq, Set

class Node(Identifier, count="nodes", prefix="n"):
    pass

class Item(Identifier, count="items", prefix="i"):
    pass

class Colour(Enum):
    RED = 1
    BLUE = 2
    GREEN = 3

class Pair(Record):
    node: Node | None
    colour: Colour
    item: Item

class Known(Record):
    colours: Map[Node, Colour]
    items: Set[Item]
    number: Annotated[int, Between(2, 7)]

class Drawn(Model):
    nodes = Constant(3)
    items = Constant(2)
'''


def drawn_type(chance: random.Random, depth: int) -> str:
    """The annotation of a type with at most so many containers within each other."""
    if depth == 0 or chance.random() < 0.2:
        number = f"Annotated[int, Between({chance.randint(0, 3)}, {chance.randint(4, 20)})]"
        return chance.choice(["Node", "Node", "Item", "Item", "Colour", "bool", "Pair", number])
    inner = drawn_type(chance, depth - 1)
    match chance.choice(["optional", "set", "bounded", "bounded", "map", "map", "record"]):
        case "optional":
            return inner.removesuffix(" | None") + " | None"
        case "set":
            return f"Set[{chance.choice(['Node', 'Item', 'Colour', 'Set[Node]', 'Set[Item]'])}]"
        case "bounded":
            return f"Annotated[{chance.choice(['Set', 'Bag', 'Seq'])}[{inner}], Capacity({chance.randint(1, 9)})]"
        case "map":
            keys = ["Node", "Node", "Item", "Item", "Colour", "bool", "Annotated[int, Between(0, 15)]", "Set[Colour]"]
            return f"Map[{chance.choice(keys)}, {inner}]"
    return chance.choice(["Pair", "Known"])


def states_compared(seed: int, tmp_path: Path) -> int:
    """How many states of a drawn model have the representatives of plain Python: 0 where it has no symmetric type."""
    chance = random.Random(seed)
    types = [drawn_type(chance, chance.randint(1, 3)) for _ in range(chance.randint(1, 4))]
    source = SOURCE + "".join(f"    variable_{number}: {kind}\n" for number, kind in enumerate(types))
    with imported(source, "Drawn", tmp_path) as cls:
        variables = cls(nodes=chance.randint(1, 5), items=chance.randint(1, 3)).variable_types
    kinds = tuple(symmetric_types(variables.values()))
    if chance.random() < 0.3:
        kinds = kinds[:1]
    if not kinds:
        return 0
    layout = lay_out(variables)
    orbits = Orbits(layout, kinds)
    states = [tuple(drawn(kind, chance) for kind in variables.values()) for _ in range(chance.randint(1, 40))]
    renamings = list(itertools.islice(orbits.renamings(), 100))
    states += [orbits.after(state, chance.choice(renamings)) for state in states]
    representatives = Compiled(layout, SymmetryProof(kinds), chance.choice([GOOD, UNOPTIMISED]))(states)
    assert representatives == [layout.pack(orbits.canonical(state)) for state in states], (seed, source)
    return len(states)


@pytest.mark.parametrize(
    "seeds",
    [range(12), *(pytest.param(range(start, start + 100), marks=pytest.mark.slow) for start in range(100, 700, 100))],
)
def test_states_of_drawn_types_have_the_representatives_of_plain_python(seeds: range, tmp_path: Path) -> None:
    """Also where some kinds of identifiers alone are symmetric."""
    compared = [states_compared(seed, tmp_path) for seed in seeds]
    assert sum(count > 0 for count in compared) > len(seeds) / 2
