"""Which bits of a packed state count for what a mapping says of it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from floodmark import Map
from floodmark.checkers.codegen.footprint import footprint
from floodmark.checkers.codegen.memory import packed
from floodmark.checkers.native.search import search_states
from floodmark.checkers.search_result import Options
from floodmark.compiler.ir import Inline, walk
from floodmark.compiler.layout import lay_out
from floodmark.compiler.program import read_program
from floodmark.language.model import Model, State
from floodmark.language.reference import image
from floodmark.language.types import MapType, RecordType, Type
from floodmark.language.universe import universe
from tests.support.engines import imported, properties_of, remember_in

SOURCE = '''
from enum import Enum
from typing import Annotated
from floodmark import *

class Node(Identifier, count=3, prefix="n"):
    pass

Small = Annotated[int, Between(0, 6)]

class Colour(Enum):
    RED = "red"
    GREEN = "green"
    BLUE = "blue"

class Inner(Record):
    hint: Small
    level: Small

class Entry(Record):
    noise: Small
    inner: Inner
    seen: Set[Node]

class Seen(Model):
    first: Small = 0
    @action
    def changes(self, first: Small) -> None:
        self.first = first

class Wide(Model):
    entries: Map[Node, Entry]
    deep: Map[Node, Map[Colour, Inner]]
    listed: Annotated[Seq[Small], Capacity(3)] = Seq()
    chosen: Node = Node(1)
    flag: bool = False
    @initial
    def start(self) -> None:
        none = Inner(hint=0, level=0)
        self.entries = Map({node: Entry(noise=0, inner=none, seen=Set()) for node in Node})
        self.deep = Map({node: Map({colour: none for colour in Colour}) for node in Node})
    @refines
    def as_seen(self) -> Seen:
        return Seen(first=SEEN)
'''
MAPPINGS = {
    "a field of an entry": "self.entries[Node(2)].inner.level",
    "a field of each entry": "max(self.entries[node].inner.level for node in Node)",
    "an entry that a variable chooses": "self.entries[self.chosen].noise",
    "an entry of an entry": "self.deep[Node(3)][Colour.GREEN].hint",
    "entries that are chosen within an entry": "sum(self.deep[Node(1)][colour].hint // 3 for colour in Colour)",
    "a whole record": "6 if self.entries[Node(1)].inner == self.entries[Node(3)].inner else 0",
    "a local variable": "shown(self)",
    "a map that is made": "Map({node: self.entries[node].noise for node in Node})[self.chosen]",
    "a sequence": "self.listed[0] if len(self.listed) > 1 else 0",
    "a comparison of two parts": "6 if self.flag and self.entries[Node(1)].seen <= self.entries[Node(2)].seen else 0",
}
HELPER = '''
def shown(model: Wide) -> Small:
    entry = model.entries[Node(2)]
    return entry.inner.hint if model.flag else entry.inner.level
'''


OFTEN = ("an entry that a variable chooses", "an entry of an entry", "a map that is made", "a local variable")
"""The mappings of a quick run."""


def _drawn(kind: Type, draw: random.Random) -> object:
    if isinstance(kind, MapType):
        return Map({key: _drawn(kind.value, draw) for key in universe(kind.key)})
    if isinstance(kind, RecordType):
        return kind.made_of({name: _drawn(of, draw) for name, of in kind.fields})
    return draw.choice(list(universe(kind)))


def _image_of(model: Model) -> Inline:
    program = read_program(model, {each.name: each.function for each in properties_of(type(model))})
    (predicate,) = program.predicates
    return next(it for it in walk(predicate.value) if isinstance(it, Inline) and it.of_state == "new")


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[] if name in OFTEN else [pytest.mark.slow]) for name in MAPPINGS
])
def test_what_a_mapping_does_not_read_cannot_change_what_it_says(name: str, tmp_path: Path) -> None:
    """Two drawn states, mixed: the bits that count are from one of them, the others from the other one."""
    draw = random.Random(name)
    with imported(SOURCE.replace("SEEN", MAPPINGS[name]) + HELPER, "Wide", tmp_path) as cls:
        model, mapping = cls(), cls.as_seen  # type: ignore[attr-defined]
        layout = lay_out(model.variable_types)
        masks = footprint(_image_of(model), "new", layout)
        assert 0 < sum(mask.bit_count() for mask in masks) < layout.bits
        said = set()
        for _ in range(200):
            one, other = (_state(model, draw) for _ in range(2))
            words = zip(layout.pack(one), layout.pack(other), masks, strict=True)
            mixed = layout.unpack([first & mask | second & ~mask for first, second, mask in words])
            assert image(model, mapping, mixed).state == image(model, mapping, one).state
            said.add(image(model, mapping, one).state)
        assert len(said) > 1


def _state(model: Model, draw: random.Random) -> State:
    return tuple(_drawn(kind, draw) for kind in model.variable_types.values())


def test_a_field_of_one_entry_counts_alone(tmp_path: Path) -> None:
    with imported(SOURCE.replace("SEEN", MAPPINGS["a field of an entry"]), "Wide", tmp_path) as cls:
        layout = lay_out(cls().variable_types)
        assert sum(mask.bit_count() for mask in footprint(_image_of(cls()), "new", layout)) == 3
        assert not any(footprint(_image_of(cls()), "old", layout))


FORGETFUL = '''
from typing import Annotated
from floodmark import *

class Node(Identifier, count=2, prefix="n"):
    pass

Number = Annotated[int, Between(0, 2500)]

class Steady(Model):
    value: Number = 0
    @action
    def counts(self) -> None:
        require(self.value < 2500)
        self.value += 1

class Cell(Record):
    noise: bool
    value: Number

class Cells(Model):
    jump = Constant(1)
    cells: Map[Node, Cell]
    @initial
    def start(self) -> None:
        self.cells = Map({node: Cell(noise=False, value=0) for node in Node})
    @action
    def counts(self) -> None:
        cell = self.cells[Node(2)]
        require(cell.value < 2400)
        by = self.jump if cell.value == 2000 and cell.noise else 1
        self.cells[Node(2)] = cell.replace(value=cell.value + by)
    @action
    def makes_noise(self) -> None:
        cell = self.cells[Node(2)]
        self.cells[Node(2)] = cell.replace(noise=not cell.noise)
    @refines
    def as_steady(self) -> Steady:
        return Steady(value=self.cells[Node(2)].value)
'''


@pytest.mark.parametrize("room", [1 << 8, 1 << 13])
@pytest.mark.parametrize(("jump", "verdict"), [(1, "holds"), (2, "violated"), (300, "violated")])
def test_more_images_than_are_remembered_say_nothing_of_others(
    jump: int, verdict: str, room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember_in(room, tmp_path, monkeypatch)
    with imported(FORGETFUL, "Cells", tmp_path) as cls:
        found = search_states(cls(jump=jump), properties_of(cls), Options(workers=1))
        assert ("violated" if found.violations else "holds") == verdict
        assert [len(violation.trace) for violation in found.violations] in ([], [2003])


FULL_WORD = '''
from typing import Annotated
from floodmark import *

class Node(Identifier, count=8, prefix="n"):
    pass

class Once(Model):
    begun: bool = True
    @action
    def begins(self) -> None:
        self.begun = True

class Bytes(Model):
    of: Map[Node, Annotated[int, Between(0, 255)]]
    @initial
    def start(self) -> None:
        self.of = Map({node: 0 for node in Node})
    @action
    def counts(self, node: Node) -> None:
        require(all(self.of[each] == 0 for each in Node))
        self.of[node] = 255
    @refines
    def as_once(self) -> Once:
        return Once(begun=all(self.of[node] == 0 for node in Node))
'''


def test_a_state_without_bits_is_not_remembered_before_it_was_mapped(tmp_path: Path) -> None:
    """The mapping reads each bit of a word, so no bit of a key tells a place that is empty from the state of zeros."""
    with imported(FULL_WORD, "Bytes", tmp_path) as cls:
        layout = lay_out(cls().variable_types)
        assert footprint(_image_of(cls()), "new", layout) == ((1 << 64) - 1,)
        found = search_states(cls(), properties_of(cls), Options(workers=1))
        assert [len(violation.trace) for violation in found.violations] == [2]


WIDE = """
from typing import Annotated
from floodmark import *

class Node(Identifier, count=5, prefix="n"):
    pass

Number = Annotated[int, Between(0, 2**20 - 1)]

class Counts(Model):
    of: Map[Node, Number]
    @initial
    def start(self) -> None:
        self.of = Map({node: 0 for node in Node})
    @action
    def counts(self, node: Node) -> None:
        require(self.of[node] < 40)
        self.of[node] += 1

class Hears(Model):
    values: Map[Node, Number]
    noise: bool = False
    @initial
    def start(self) -> None:
        self.values = Map({node: 0 for node in Node})
    @action
    def counts(self, node: Node) -> None:
        require(node in (Node(4), Node(5)) and self.values[node] < 20)
        self.values[node] += 1
    @action
    def makes_noise(self) -> None:
        self.noise = not self.noise
    @refines
    def as_counts(self) -> Counts:
        return Counts(of=self.values)
"""


def test_an_image_of_several_words_is_remembered_whole(tmp_path: Path) -> None:
    """Of its 100 bits those are set that lie around the end of a word."""
    with imported(WIDE, "Hears", tmp_path) as cls:
        found = search_states(cls(), properties_of(cls), Options(workers=1))
        assert found.distinct == 2 * 21 * 21
        assert not found.violations


APART = """
from typing import Annotated
from floodmark import *

Number = Annotated[int, Between(0, 20)]

class Counts(Model):
    value: Number = 0
    @action
    def counts(self) -> None:
        require(self.value < 20)
        self.value += 1

class Jumps(Model):
    wide: Annotated[int, Between(0, 2**61)] = 0
    value: Number = 0
    @action
    def widens(self) -> None:
        self.wide = 5 - self.wide if self.wide < 6 else 0
    @action
    def jumps(self) -> None:
        require(self.value < 20)
        self.value += 2
    @refines
    def as_counts(self) -> Counts:
        return Counts(value=self.value)
"""


def test_what_changes_behind_the_first_word_is_judged(tmp_path: Path) -> None:
    with imported(APART, "Jumps", tmp_path) as cls:
        slots = lay_out(cls().variable_types).slots
        assert (slots["wide"].word, slots["value"].word) == (0, 1)
        found = search_states(cls(), properties_of(cls), Options(workers=1))
        assert [len(violation.trace) for violation in found.violations] == [2]


@pytest.mark.parametrize("draw", range(20))
def test_words_of_a_key_that_are_put_into_fewer_keep_each_bit(draw: int) -> None:
    chance = random.Random(draw)
    masks = [chance.getrandbits(64) & chance.getrandbits(64) & chance.getrandbits(64) for _ in range(6)]
    turns, kept = packed([(1 << 64) - 1, *masks])
    used = [0] * len(kept)
    for mask, (place, by) in zip([(1 << 64) - 1, *masks], turns, strict=True):
        turned = sum(1 << (bit + by) % 64 for bit in range(64) if mask >> bit & 1)
        assert not used[place] & turned
        used[place] |= turned
    assert used == list(kept)


def test_two_halves_of_words_are_put_into_one() -> None:
    assert packed([0xFFFFFFFF, 0xFFFFFFFF]) == (((0, 0), (0, 32)), ((1 << 64) - 1,))
    assert packed([0xF00000000000000F, 0xFFFF]) == (((0, 0), (0, 4)), (0xF0000000000FFFFF,))
