"""Machine code grows in step with the types of a model and with the length of its source, and no faster.

What is measured is code, not time: the instructions that LLVM gets, and the bytes that it makes of them without
optimising, which also tell instructions on a register of 64 bits from those on thousands.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated

import pytest

from floodmark import (
    Bag,
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
    require,
)
from floodmark.checkers.codegen import cost, model_module
from floodmark.checkers.codegen.jit import UNOPTIMISED, _compile
from floodmark.checkers.codegen.model_module import CodePart, parts
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.spec import read
from floodmark.checkers.report.progress import describe
from floodmark.checkers.search_result import Options, Progress
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.compiler.program import read_program
from tests.support.agreement import assert_agrees


class Server(Identifier, count="servers", prefix="s"):
    pass


class Sort(Enum):
    VOTE = 1
    VOTED = 2
    FETCH = 3
    FETCHED = 4


class Message(Record):
    sort: Sort
    source: Server
    target: Server
    epoch: Annotated[int, Between(0, "epochs")]


class Network(Model):
    """Set algebra in helpers, some of them within a loop. With 15 epochs there are 1024 codes of messages."""

    servers = Constant(3)
    epochs = Constant(15)
    room = Constant(8)
    messages: Annotated[Set[Message], Capacity("room")]
    spare: Annotated[Set[Message], Capacity("room")]
    log: Annotated[Seq[Message], Capacity("room")]
    bag: Annotated[Bag[Message], Capacity("room")]
    latest: Map[Server, Annotated[Set[Message], Capacity("room")]]

    @initial
    def start(self) -> None:
        self.messages = Set()
        self.spare = Set()
        self.log = Seq()
        self.bag = Bag()
        self.latest = Map({server: Set() for server in Server})

    def exchanged(self, messages: Set[Message], one: Message, other: Message) -> Set[Message]:
        return (messages - {one}) | {other}

    def reply(self, to: Message) -> Message:
        return Message(sort=Sort.VOTED, source=to.target, target=to.source, epoch=to.epoch)

    @action
    def asks(self, source: Server, target: Server) -> None:
        require(source != target and len(self.messages) < 2)
        self.messages = self.messages | {Message(sort=Sort.VOTE, source=source, target=target, epoch=1)}

    @action
    def asks_again(self, source: Server, target: Server) -> None:
        require(source != target and len(self.messages) < 2)
        self.messages.add(Message(sort=Sort.VOTE, source=source, target=target, epoch=1))

    @action
    def answers(self, message: Message) -> None:
        require(message in self.messages and message.sort == Sort.VOTE)
        self.messages = self.exchanged(self.messages, message, self.reply(message))

    @action
    def all_answer(self) -> None:
        for message in self.messages:
            if message.sort == Sort.VOTE:
                self.messages = self.exchanged(self.messages, message, self.reply(message))

    @action
    def remembers(self, message: Message) -> None:
        require(message in self.messages and message not in self.spare and len(self.log) < 2)
        self.spare = self.spare ^ {message}
        self.log.append(message)
        self.bag.add(message)
        self.latest[message.source] = self.messages & self.spare

    @action
    def forgets(self) -> None:
        require(len(self.log) > 0)
        self.bag.remove(self.log[0])
        self.log = self.log[1:]
        self.spare = Set(message for message in self.spare if message in self.log)
        self.latest = Map({server: self.latest[server] - self.spare for server in Server})


def parts_of(model: Model) -> dict[str, CodePart]:
    found, _ = parts(read_program(model, {}), None)
    return {part.name.rsplit(".", 1)[-1]: part for part in found}


def instructions(model: Model) -> dict[str, int]:
    return {name: cost.size(part.module()) for name, part in parts_of(model).items()}


def machine_code(model: Model) -> dict[str, int]:
    return {name: len(_compile(part.module(), UNOPTIMISED)) for name, part in parts_of(model).items()}


ACTIONS = ("asks", "asks_again", "answers", "all_answer", "remembers", "forgets")


@pytest.mark.slow
@pytest.mark.parametrize("epochs", [1, 15, 1000])
def test_code_grows_no_faster_than_capacities(epochs: int) -> None:
    small, *larger = (Network(epochs=epochs, room=room) for room in (4, 8, 16, 32))
    least, bytes_of_least = instructions(small), machine_code(small)
    for factor, model in zip((2, 4, 8), larger, strict=True):
        count, size = instructions(model), machine_code(model)
        for name in ACTIONS:
            assert count[name] < least[name] * (1 + factor / 2), (name, factor)
            assert size[name] < bytes_of_least[name] * (1 + factor / 2), (name, factor)


def test_code_grows_no_faster_than_element_types() -> None:
    """From 64 codes of messages to 1,024 and to 65,536: the bits of an element grow by a factor of 1.7 and 2.7."""
    least, *wider = (machine_code(Network(epochs=epochs)) for epochs in (1, 15, 1000))
    for factor, sizes in zip((1.5, 2.0), wider, strict=True):
        for name in ACTIONS:
            assert sizes[name] < factor * least[name], (name, factor)


class Nested(Network):
    """One, two, three and four uses of set algebra, each within the other."""

    @action
    def one(self, a: Message) -> None:
        require(a in self.messages)
        self.messages = self.exchanged(self.messages, a, self.reply(a))

    @action
    def two(self, a: Message) -> None:
        require(a in self.messages)
        self.messages = self.exchanged(self.exchanged(self.messages, a, self.reply(a)), self.reply(a), a)

    @action
    def three(self, a: Message) -> None:
        require(a in self.messages)
        self.messages = self.exchanged(
            self.exchanged(self.exchanged(self.messages, a, self.reply(a)), self.reply(a), a), a, self.reply(a)
        )

    @action
    def four(self, a: Message) -> None:
        require(a in self.messages)
        self.messages = self.exchanged(
            self.exchanged(
                self.exchanged(self.exchanged(self.messages, a, self.reply(a)), self.reply(a), a), a, self.reply(a)
            ),
            self.reply(a),
            a,
        )


@pytest.mark.parametrize("epochs", [1, 15, 1000])
def test_code_grows_with_each_nested_use_by_as_much(epochs: int) -> None:
    for measured in (instructions, machine_code):
        found = measured(Nested(epochs=epochs, room=16))
        counts = [found[name] for name in ("one", "two", "three", "four")]
        steps = [more - fewer for fewer, more in itertools.pairwise(counts)]
        assert min(steps) > 0 and max(steps) < 1.25 * min(steps), steps


@pytest.mark.parametrize("epochs", [1, 15, 1000])
def test_a_union_with_one_element_costs_what_add_costs(epochs: int) -> None:
    for measured in (instructions, machine_code):
        found = measured(Network(epochs=epochs))
        assert found["asks"] <= found["asks_again"]


@pytest.mark.slow
@pytest.mark.parametrize(("epochs", "room"), [(1, 12), pytest.param(15, 30, marks=pytest.mark.slow), (1000, 30)])
def test_the_algebra_means_what_it_means_in_cpython(epochs: int, room: int) -> None:
    assert assert_agrees(Network, workers=(1,), servers=2, epochs=epochs, room=room).distinct == 430


LARGE = """\
from typing import Annotated

from floodmark import Between, Model, action, initial


class Large(Model):
    x: Annotated[int, Between(0, 2)]

    @initial
    def start(self) -> None:
        self.x = 0

    @action
    def counts(self) -> None:
        self.x = sum(1 for a in range(3) for b in range(a)) % 3
        self.x = (self.x + {}) % 3
"""


def test_what_is_dear_is_named_before_it_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "large.py").write_text(LARGE.format(" + ".join(["self.x"] * 100)), encoding="utf-8")
    (tmp_path / "large.toml").write_text('model = "large.py:Large"\n', encoding="utf-8")
    monkeypatch.setattr(cost, "MIN_REPORTED_INSTRUCTIONS", 120)
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    check = Check(read(tmp_path / "large.toml"), None, CheckSettings())
    told: list[str] = []

    def watch(progress: Progress) -> None:
        told.append(describe(check, progress))

    search_states(check.model(), [], Options(workers=1), watch)
    (line,) = told
    count, dearest = (int(word.replace(",", "")) for word in line.split() if word[0].isdigit())
    assert line == (
        f"large Large: compiling action counts: {count:,} instructions, {dearest:,} of them for large.py:16"
    )
    assert count > dearest > 80


def test_what_is_small_is_compiled_in_silence() -> None:
    told: list[Sequence[str]] = [cost.compilation_note(part, part.module()) for part in parts_of(Network()).values()]
    assert set(told) == {""}


def test_only_small_actions_are_copied_for_each_value_of_their_first_parameters(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    def copied() -> dict[str, int]:
        found = {name: part.module().unrolled_loops for name, part in parts_of(Network()).items()}
        return {name: loops for name, loops in found.items() if loops}

    assert copied() == {"asks": 2, "asks_again": 2}
    monkeypatch.setattr(model_module, "_MAX_UNROLLED", 150)
    assert copied() == {"asks": 1, "asks_again": 1}
    monkeypatch.setattr(model_module, "_MAX_UNROLLED", 50)
    assert copied() == {}
