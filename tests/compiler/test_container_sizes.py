"""The largest size of each container with a capacity is reported, and is what CPython counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import pytest
from click.testing import CliRunner

from floodmark import Bag, Between, Capacity, Map, Model, Record, Seq, Set, action, initial, require
from floodmark.checkers.command_line.cli import command
from floodmark.checkers.native.search import search_states
from floodmark.checkers.reference import search
from floodmark.checkers.search_result import Options
from tests.compiler.test_code_size import Network
from tests.compiler.test_compiler import Logs, Messages, Nested
from tests.symmetry.test_symmetry import Slots

MOST = 1 << 40
Wide40 = Annotated[int, Between(0, MOST)]
Flag = Annotated[int, Between(0, 1)]


class Box(Record):
    before: Flag
    held: Annotated[Seq[Wide40], Capacity(5)] | None
    after: Annotated[Set[Wide40], Capacity(7)]


class Left(Record):
    log: Annotated[Seq[Wide40], Capacity(2)]


class Right(Record):
    flag: Flag


class Boxes(Model):
    """Codes that cross words, at offsets within a word, below optional values, whose codes are one more."""

    flag: Flag
    boxes: Map[Flag, Box | None]
    bag: Annotated[Bag[Wide40], Capacity(4)] | None
    empty: Annotated[Seq[Wide40], Capacity(3)]
    side: Left | Right | None
    never: Annotated[Seq[Wide40], Capacity(0)]
    least: Annotated[Set[Wide40], Capacity(0)]

    @initial
    def start(self) -> None:
        self.flag = 0
        self.boxes = Map({flag: None for flag in range(2)})
        self.bag = None
        self.empty = Seq()
        self.never = Seq()
        self.side = None
        self.least = Set()

    @action
    def fills(self, flag: Flag) -> None:
        box = self.boxes[flag]
        if box is None:
            self.boxes[flag] = Box(before=1, held=None, after=Set())
        elif box.held is None:
            self.boxes[flag] = Box(before=0, held=Seq([MOST]), after=box.after)
        else:
            require(len(box.held) < 3 + flag)
            self.boxes[flag] = Box(before=flag, held=box.held + Seq([0]), after=box.after | {len(box.held)})

    @action
    def turns(self) -> None:
        self.side = Left(log=Seq([MOST])) if self.side is None else Right(flag=1)

    @action
    def bags(self) -> None:
        self.flag = 1 - self.flag
        self.bag = Bag([0, 0]) if self.bag is None else None


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", [Nested(), Network(servers=2, epochs=1), Boxes(), Slots()], ids=lambda model: type(model).__name__
)
def test_packed_states_tell_what_cpython_counts(model: Model) -> None:
    for symmetry in (False, True) if isinstance(model, Slots) else (False,):
        ours, theirs = (engine(model, [], Options(1, symmetry)) for engine in (search_states, search.search_states))
        assert ours.sizes == theirs.sizes


def test_every_place_of_a_container_is_told() -> None:
    assert search_states(Boxes(), [], Options(workers=2)).sizes == {
        "boxes[...].held": 4, "boxes[...].after": 3, "bag": 2, "empty": 0, "side.log": 1, "never": 0, "least": 0,
    }
    assert {cls.__name__ for cls in (Logs, Messages, Nested) if search_states(cls(), [], Options(1)).sizes} >= {
        "Logs", "Messages",
    }


TEXT = """\
from typing import Annotated

from floodmark import Between, Capacity, Constant, Model, Seq, action, initial, invariant, require


class Queue(Model):
    room = Constant(4)
    items: Annotated[Seq[Annotated[int, Between(0, 1)]], Capacity("room")]
    done: Annotated[Seq[bool], Capacity(9)]

    @initial
    def start(self) -> None:
        self.items = Seq()
        self.done = Seq()

    @action
    def adds(self) -> None:
        require(len(self.items) < 3)
        self.items.append(1)

    @action
    def takes(self) -> None:
        require(len(self.items) > 0 and len(self.done) < 2)
        self.items = self.items[1:]
        self.done.append(True)

    @invariant
    def short(self) -> bool:
        return len(self.items) <= 3
"""


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_check_says_how_full_containers_became(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "queue.py").write_text(TEXT, encoding="utf-8")
    (tmp_path / "queue.toml").write_text('model = "queue.py:Queue"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    ran = CliRunner().invoke(command, ["check", "queue.toml", "--engine", engine, "--json", "found.json"])
    assert ran.exit_code == 0 and "largest sizes: items 3 of 4, done 2 of 9" in ran.output, ran.output
    (entry,) = json.loads(Path("found.json").read_text(encoding="utf-8"))["results"]
    assert entry["sizes"] == {"items": 3, "done": 2}
    overfull = CliRunner().invoke(command, ["check", "queue.toml", "--engine", engine, "--set", "room=2"])
    assert "more than its capacity of 2" in overfull.output
    assert "largest sizes: items 2 of 2, done 1 of 9" in overfull.output, overfull.output
