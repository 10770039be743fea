"""What somebody new to the language writes, and what they are told to write instead."""

from __future__ import annotations

import os
import pty
import subprocess
import time
from pathlib import Path
from textwrap import dedent, indent
from typing import Annotated

import pytest

from floodmark import Bag, Between, Constant, Identifier, Map, Model, ModelError, Record, Seq, Set, action, require
from floodmark.checkers.project.modules import load_file
from floodmark.checkers.reference import search
from floodmark.checkers.search_result import Options
from floodmark.compiler.program import read_program
from floodmark.language.errors import ActionDisabled, SourceError
from floodmark.language.values import running
from tests.support.agreement import assert_agrees
from tests.support.command import COMMAND
from tests.support.projects import write

HEAD = '''
import dataclasses
import functools
import random
import time
from typing import Annotated, Any
from floodmark import *

SEEN = []

class N(Identifier, count="n"):
    "A node."

@dataclasses.dataclass
class Row:
    size: int

@functools.cache
def cached(x):
    return x + 1

class Entry(Record):
    size: Annotated[int, Between(0, 3)]

class M(Model):
    n = Constant(2)
    x: Annotated[int, Between(0, 3)] = 0
    log: Annotated[Seq[Annotated[int, Between(0, 3)]], Capacity(2)] = Seq()
    bag: Annotated[Bag[Annotated[int, Between(0, 3)]], Capacity(2)] = Bag()
    map: Map[N, Annotated[int, Between(0, 3)] | None]
    entry: Entry = Entry(size=0)
{more}
    @initial
    def start(self) -> None:
        self.map = Map({{n: None for n in N}})

    @action
    def step(self) -> None:
{body}
'''


def read(tmp_path: Path, body: str = "pass", more: str = "") -> None:
    (tmp_path / "m.py").write_text(HEAD.format(more=indent(more, "    "), body=indent(body, "        ")), "utf-8")
    read_program(vars(load_file(tmp_path / "m.py"))["M"](), {})


@pytest.mark.parametrize(("body", "said"), [
    ("breakpoint()", "it stops where CPython runs the model: floodmark check SPEC --engine reference"),
    ("SEEN.append(1)", "SEEN is not a variable of the model, so it cannot be changed in place"),
    ("self.x = int(time.time())", "time.time is not part of the modelling language; a step depends on the state alone"),
    ("self.x = random.randint(0, 3)", "let a parameter of the action choose"),
    ("self.x = cached(1)", "leave out the decorator of cached"),
    ("self.n = 3", "n is a constant, which a spec sets; what changes is a variable"),
    ("log = self.log\nlog.append(1)", "write log = log + [e]"),
    ("bag = self.bag\nbag.add(1)", "change the variable itself, as in self.network.add(e)"),
    ("entry = self.entry\nentry.size = 1", "write entry = entry.replace(field=...)"),
    ("m = self.map\nm[N(1)] = 1", "write m = Map({k: ... for k in N})"),
    ("self.x = 1 if N(1) in self.map else 0", "let that be None: self.x[key] is not None"),
    ("self.x = self.map.get(N(1), 0)", "where one may be without a value let that be None"),
    ("del self.map[N(1)]", "or None where a map may lack one"),
])
def test_code_that_would_not_mean_what_it_says_is_refused_with_its_line(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(ModelError) as caught:
        read(tmp_path, body)
    assert said in caught.value.message
    assert caught.value.line == len(HEAD.splitlines()) - 1 + body.count("\n") + 1


def test_a_helper_may_change_a_bag(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        read(tmp_path, "self.put(self.bag)", "def put(self, bag: Bag[int]) -> None:\n    bag.add(1)\n")
    assert "change the variable itself, as in self.network.add(e)" in caught.value.message


def test_a_guard_in_a_helper_draws_nothing(tmp_path: Path) -> None:
    more = dedent("""
        @action
        def takes(self, m: Annotated[int, Between(0, 9000)]) -> None:
            self.receive(m)

        def receive(self, m: int) -> None:
            require(m in self.bag)
    """)
    (tmp_path / "m.py").write_text(HEAD.format(more=indent(more, "    "), body="        pass"), "utf-8")
    model = vars(load_file(tmp_path / "m.py"))["M"]()
    found = search.search_states(model, [], Options())
    assert "begin the action with require(m in self.requests), not a helper" in found.violations[0].message


@pytest.mark.parametrize(("written", "said"), [
    ("float", "float is not a type of the modelling language; there are no fractions: count in whole units"),
    ("str", "str is not a type of the modelling language; name the values in an Enum"),
    ("list[N]", "list[N] is not a type of the modelling language; write Annotated[Seq[T], Capacity(4)]"),
    ("dict[N, Entry]", "dict[N, Entry] is not a type of the modelling language; write Map[K, V]"),
    ("set[N]", "set[N] is not a type of the modelling language; write Set[T]"),
    ("Seq", "Seq is not a type of the modelling language; say of what"),
    ("Row", "Row is not a type of the modelling language; derive Row from Record"),
    ("Any", "Any is not a type of the modelling language; say which values there are"),
])
def test_a_variable_of_a_type_of_pythons(tmp_path: Path, written: str, said: str) -> None:
    with pytest.raises(ModelError) as caught:
        read(tmp_path, more=f"\ny: {written}\n")
    assert caught.value.message.startswith(f"variable y: {said}")
    assert "floodmark_" not in caught.value.message


def test_files_that_import_each_other_are_refused(tmp_path: Path) -> None:
    write(tmp_path, {
        "specs/a.toml": "",
        "model/a.py": "from model.b import helper\nfrom floodmark import Model\nclass M(Model):\n    x: bool = False\n",
        "model/b.py": "from model.a import M\ndef helper() -> bool:\n    return True\n",
        "model/c.py": "from model.b import nothing\n",
    })
    with pytest.raises(SourceError, match=r"this file and a.py import each other, so M is not defined there yet"):
        load_file(tmp_path / "model/a.py")
    (tmp_path / "model/b.py").write_text("helper = 1\n", encoding="utf-8")
    with pytest.raises(SourceError, match=r"^there is no nothing in b.py|c.py:1: there is no nothing in b.py"):
        load_file(tmp_path / "model/c.py")


Small = Annotated[int, Between(0, 3)]


class Node(Identifier, count="nodes", prefix="n"):
    """A node."""


class Entry(Record):
    """It has a field with a name of Python's, and methods."""

    next: Small
    owner: Node | None

    def after(self, by: int) -> int:
        return min(3, self.next + by)

    @staticmethod
    def first() -> Entry:
        return Entry(next=0, owner=None)


class Brackets(Model):
    """Decorators with brackets, records with methods, a method called next."""

    nodes = Constant(2)
    entry: Entry = Entry(next=1, owner=None)

    @action()
    def goes_on(self, node: Node) -> None:
        require(self.entry.after(1) < 3)
        self.entry.next = self.next(self.entry)
        self.entry.owner = node

    @action()
    def restarts(self) -> None:
        self.entry = Entry.first()

    def next(self, entry: Entry) -> int:
        return entry.after(by=1)


def test_records_may_be_indexed_and_have_methods() -> None:
    assert assert_agrees(Brackets, workers=(1,)).distinct == 6


DECORATORS = ("initial", "action", "rule", "boundary", "invariant", "transition", "reachable", "lemma", "eventually",
              "always_eventually", "eventually_always", "leads_to", "recoverable", "fair")  # fmt: skip


@pytest.mark.parametrize("brackets", ["", "()"])
@pytest.mark.parametrize("name", DECORATORS)
def test_a_decorator_may_have_empty_brackets(tmp_path: Path, name: str, brackets: str) -> None:
    given = "self, old: Any" if name == "transition" else "self"
    more = f"\n@{name}{brackets}\n{'@action' if name == 'fair' else ''}\ndef one({given}) -> None:\n    pass\n"
    (tmp_path / "m.py").write_text(HEAD.format(more=indent(more, "    "), body="        pass"), "utf-8")
    model = vars(load_file(tmp_path / "m.py"))["M"]
    assert "one" in model.methods("action" if name == "fair" else name)


def test_a_model_shows_what_it_is() -> None:
    model = Brackets(nodes=3)
    assert repr(model) == "Brackets(nodes=3)"
    model.reset()
    assert repr(model) == "Brackets(nodes=3) in (entry=Entry(next=1, owner=None))"


def test_calling_a_disabled_action_names_the_false_guard() -> None:
    with pytest.raises(ActionDisabled, match="a require is false: the action is not enabled here"):
        require(False)


@pytest.mark.parametrize(("value", "said"), [
    (Set([1]), "x = x | {e}"), (Seq([1]), "x = x + [e]"), (Bag([1]), "self.network.add(e)"),
])
def test_cpython_reports_the_same_mistake(value: Set[int] | Seq[int] | Bag[int], said: str) -> None:
    with pytest.raises(ModelError) as caught:
        value.append(2) if isinstance(value, Seq) else value.add(2)
    assert said in caught.value.message


def test_records_and_maps_that_are_no_variables() -> None:
    with running(Brackets()), pytest.raises(ModelError, match=r"write x = x.replace\(field=...\)"):
        Entry(next=0, owner=None).next = 1
    with pytest.raises(ModelError, match="make a new one"):
        Map({1: 2})[1] = 3


MODEL = """
from floodmark import Model, action, invariant

class M(Model):
    x: bool = False

    @action
    def step(self) -> None:
        breakpoint()
        self.x = True

    @invariant
    def fine(self) -> bool:
        return True
"""


@pytest.mark.slow
def test_a_breakpoint_stops_on_the_terminal(tmp_path: Path) -> None:
    write(tmp_path, {"m.py": MODEL, "m.toml": 'model = "m.py:M"\n'})
    command = [*COMMAND, "check", "m.toml", "--engine", "reference"]
    none = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, start_new_session=True)
    assert "m.py:8: breakpoint() needs a terminal, and there is none" in none.stdout
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(tmp_path)
        os.execvp(command[0], command)
    seen, answered, until = b"", 0, time.monotonic() + 60
    while time.monotonic() < until:
        try:
            seen += os.read(terminal, 4096)
        except OSError:
            break
        if seen.count(b"(Pdb)") > answered:
            answered += 1
            os.write(terminal, b"p 'x is', self.x\n" if answered == 1 else b"c\n")
    os.waitpid(child, 0)
    assert b"('x is', False)" in seen
    assert b"holds" in seen
