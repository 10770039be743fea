"""An expression whose evaluation fails is a model error wherever it stands, also where its value is not needed: where
its type alone says what a comparison gives, what a loop runs over, or that nothing is left to do. Likewise one that
calls a function with a ``require`` ends the action.

Operands of all kinds, each of which fails, are put into all kinds of places; CPython says what is true.
"""

from __future__ import annotations

import itertools
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated
from unittest.mock import patch

import pytest

from floodmark import Between, Model, action, invariant
from floodmark.checkers.adaptive_capacity import at_widths
from floodmark.checkers.symbolic.values.types import UnsupportedError
from floodmark.compiler.failures import can_fail
from floodmark.compiler.program import read_predicate
from floodmark.language.errors import ModelError, SourceError
from tests.support.engines import ENGINES, imported, outcome, plain_search
from tests.support.symbolic_agreement import assert_bounded_search_agrees

MODEL = """\
from __future__ import annotations
from enum import Enum
from typing import Annotated
from floodmark import *

class Node(Identifier, count=1, prefix="n"):
    pass

class Colour(Enum):
    RED = 0

class Told(Record):
    colour: Colour

class Asked(Record):
    colour: Colour
    bit: Annotated[int, Between(0, 1)]

Message = Told | Asked
PAIR = Seq((1, 0))

def bad(x: int) -> bool:
    BAD

def ignores(value) -> int:
    return 0

class Generated(Model):
    x: Annotated[int, Between(0, 1)]
    maybe: Annotated[int, Between(0, 1)] | None
    colour: Colour
    node: Node
    bits: Set[Annotated[int, Between(0, 1)]]
    colours: Set[Colour]
    log: Annotated[Seq[Annotated[int, Between(0, 1)]], Capacity(2)]
    by_node: Map[Node, Colour]
    told: Told
    message: Message
    latest: Message | None

    @initial
    def start(self) -> None:
        self.x = 0
        self.maybe = None
        self.colour = Colour.RED
        self.node = Node(1)
        self.bits = Set()
        self.colours = Set()
        self.log = Seq()
        self.by_node = Map({k: Colour.RED for k in Node})
        self.told = Told(colour=Colour.RED)
        self.message = Told(colour=Colour.RED)
        self.latest = None

    def nothing(self) -> int | None:
        return None if bad(self.x) else None

    @action
    def a0(self) -> None:
"""

WAYS = {"fails": "return PAIR[x + 2] == 0", "requires": "require(x == 2)\n    return True"}
"""How evaluating an operand ends the action: it is a model error, or a ``require`` in a function that it calls."""

OPERANDS = (
    "bad(self.x)",
    "(0 if bad(self.x) else 0)",
    "(None if bad(self.x) else None)",
    "self.nothing()",
    "Seq()[0]",
    "min(Seq())",
    "(self.maybe if bad(self.x) else None)",
    "(Colour.RED if bad(self.x) else Colour.RED)",
    "(self.colour if bad(self.x) else self.colour)",
    "(self.node if bad(self.x) else self.node)",
    "(Set() if bad(self.x) else Set())",
    "(self.bits if bad(self.x) else self.bits)",
    "(self.colours if bad(self.x) else self.colours)",
    "Set({Colour.RED if bad(self.x) else Colour.RED})",
    "(Seq() if bad(self.x) else Seq())",
    "(self.log if bad(self.x) else self.log)",
    "Seq([None if bad(self.x) else None])",
    "(Bag() if bad(self.x) else Bag())",
    "(self.by_node if bad(self.x) else self.by_node)",
    "Map({k: Colour.RED if bad(self.x) else Colour.RED for k in Node})",
    "(self.told if bad(self.x) else self.told)",
    "Told(colour=(Colour.RED if bad(self.x) else Colour.RED))",
    "(self.message if bad(self.x) else self.message)",
    "(self.latest if bad(self.x) else self.latest)",
)

BESIDE = (
    "0", "True", "None", "self.maybe", "self.x", "Colour.RED", "self.colour", "self.node", "Node(1)", "Set()",
    "self.bits", "self.colours", "Seq()", "self.log", "Bag()", "self.by_node", "self.told", "self.message",
    "self.latest",
)
"""What stands beside an operand in a comparison."""

CONDITIONS = (
    *(text.replace("Y", beside) for beside in BESIDE for text in (
        "X == Y", "Y != X", "X in (Y, Y)", "Y in (X, Y)", "Y in X", "X in Y", "(X if self.x == 0 else Y) == Y",
    )),
    *(text.replace("Y", beside) for beside in ("Set()", "self.bits", "self.colours") for text in (
        "len(X | Y) == 0", "len(Y - X) == 0", "X <= Y", "Y < X",
    )),
    *(text.replace("Y", beside) for beside in ("0", "self.x") for text in (
        "max(X, Y) > 0", "X < Y", "X in range(Y)", "Y in range(X)", "Y in range(X, 0)", "X + Y == 0", "X * Y == 0",
        "Y % (X + 1) == 0",
    )),
    "X", "not X", "X and self.x == 0", "X or self.x == 0", "self.x == 0 and X", "0 <= X <= 1", "-X == 0", "abs(X) == 0",
    "implies(X, True)", "implies(False, X)", "implies(True, X)", "ignores(X) == 0", "X is None", "X is not None",
    "(self.log if X else self.log) == Seq()", "(0 if X else 0) == 0", "(None if X else None) is None",
    "(None if X else None) == self.maybe", "len(X) == 0", "any(True for _ in X)", "any(X for y in range(1))",
    "all(False for y in X if y == 0)", "len({X for y in range(1)}) == 1", "sum(0 for y in range(X)) == 0",
    "sum(X) == 0", "min(X, default=0) == 0", "min(self.log, default=X) == 0", "sorted(X) == Seq()",
    "len(Seq([X])) == 1", "len(Set({X})) == 1", "len(Bag([X])) == 1", "len(Map({k: X for k in Node})) == 1",
    "len(Set(X)) == 0", "len(Seq(X)) == 0", "len(Bag(X)) == 0", "len(set(X)) == 0", "len(tuple(X)) == 0", "[X][0] == 0",
    "isinstance(X, Told)", "isinstance(X, Asked)", "isinstance(X, (Told, Asked))", "X.colour == Colour.RED",
    "Told(colour=X) == self.told", "self.told.replace(colour=X) == self.told",
    "X.replace(colour=Colour.RED) == self.told", "X[Node(1)] == Colour.RED", "self.by_node[X] == Colour.RED",
    "X[0] == 0", "X[1:] == Seq()", "self.log[X:] == Seq()", "self.log[:X] == Seq()", "len(X.values()) == 0",
    "any(k == k for k in X.keys())", "X.count(0) == 0", "Bag().count(X) == 0", "self.message.colour == X",
)

STATEMENTS = (
    *(f"if {condition}: self.x = 1" for condition in CONDITIONS),
    *(f"require(implies({condition}, True))\nself.x = 1" for condition in CONDITIONS),
    *(f"self.{name} = X" for name in (
        "x", "maybe", "colour", "node", "bits", "colours", "log", "by_node", "told", "message", "latest")),
    "require(X)", "require(not X)", "held = X\nself.x = 1", "held = X\nif held == held: self.x = 1",
    "held = X\nheld = X\nself.x = 1", "held = [X]\nself.x = 1", "held = {X}\nself.x = 1",
    "for y in X:\n    self.x = 1", "for y in sorted(X):\n    self.x = 1", "for y in range(X, 0):\n    self.x = 1",
    "for i, y in enumerate(X):\n    self.x = 1", "for y, z in zip(X, self.log):\n    self.x = 1",
    "for y, z in zip(self.log, X):\n    self.x = 1", "for y, z in zip(Seq(), X):\n    self.x = 1",
    "for y in X.values():\n    self.x = 1", "for k, y in X.items():\n    self.x = 1", "self.by_node[X] = Colour.RED",
    "self.by_node[Node(1)] = X", "self.bits.add(X)", "self.bits.discard(X)", "self.bits.remove(X)", "self.bits |= X",
    "self.colours &= X", "self.colours.discard(X)", "self.log.append(X)", "self.log += X",
)

NOTICED = (
    ("(None if bad(self.x) else None)", "if X == self.maybe: self.x = 1"),
    ("(None if bad(self.x) else None)", "if self.colour != X: self.x = 1"),
    ("self.nothing()", "if None != X: self.x = 1"),
    ("self.nothing()", "if self.maybe in (X, self.maybe): self.x = 1"),
    ("bad(self.x)", "if (None if X else None) == self.maybe: self.x = 1"),
    ("Seq()[0]", "for y in X:\n    self.x = 1"),
    ("Seq()[0]", "if all(False for y in X if y == 0): self.x = 1"),
    ("Seq()[0]", "if len(Set(X)) == 0: self.x = 1"),
    ("Seq()[0]", "for y, z in zip(Seq(), X):\n    self.x = 1"),
)
"""Those that the compiler once left out."""


def compared(way: str, operand: str, statement: str, folder: Path, engines: list[str]) -> bool:
    """Asks the engines and z3 about one model. False where CPython or the compiler takes it for none."""
    lines = statement.replace("X", operand).split("\n")
    source = MODEL.replace("BAD", WAYS[way]) + "".join(f"        {line}\n" for line in lines)
    with imported(source, "Generated", folder) as cls, patch("floodmark.checkers.verdict.check.require_read_locals"):
        try:
            wanted, _ = plain_search(cls(), [])
            found = [outcome(ENGINES[name], cls(), []) for name in engines]
            with suppress(UnsupportedError):
                at_widths(cls(), partial(assert_bounded_search_agrees, properties=[], wanted=wanted, depth=3, most=24))
        except (ModelError, SourceError):
            return False
    for name, one in zip(engines, found, strict=True):
        assert (one.verdict, one.distinct) == (wanted.verdict, wanted.distinct), (name, way, operand, statement)
    return True


@pytest.mark.parametrize(("operand", "statement"), NOTICED)
def test_what_is_not_needed_fails_all_the_same(operand: str, statement: str, tmp_path: Path) -> None:
    assert compared("fails", operand, statement, tmp_path, list(ENGINES))


@pytest.mark.parametrize(("operand", "statement"), [it for it in NOTICED if "Seq()[0]" not in it])
def test_what_is_not_needed_is_required_all_the_same(operand: str, statement: str, tmp_path: Path) -> None:
    assert compared("requires", operand, statement, tmp_path, ["native, 1 worker"])


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("operand", OPERANDS)
def test_an_operand_that_ends_the_action_is_noticed_in_every_place(way: str, operand: str, tmp_path: Path) -> None:
    """Most places take operands of few types, so most pairs are no models."""
    done = [compared(way, operand, statement, tmp_path, ["native, 1 worker"]) for statement in STATEMENTS]
    assert sum(done) > 30


def test_operands_and_places_differ() -> None:
    assert len(set(OPERANDS)) == len(OPERANDS) and len(set(STATEMENTS)) == len(STATEMENTS)
    assert all(operand in OPERANDS and statement in STATEMENTS for operand, statement in NOTICED)
    assert len(list(itertools.product(OPERANDS, STATEMENTS))) > 5000


class Careful(Model):
    """A helper that may fail in either branch, in both, or in none."""

    low: bool = False
    high: bool = False

    def checked(self) -> bool:
        if self.low:
            assert self.high
        return self.low

    def checked_otherwise(self) -> bool:
        if self.low:
            found = True
        else:
            assert self.high
            found = False
        return found

    def unchecked(self) -> bool:
        return self.low or self.high

    @action
    def rises(self) -> None:
        self.high = True

    @invariant
    def then(self) -> bool:
        return self.checked()

    @invariant
    def otherwise(self) -> bool:
        return self.checked_otherwise()

    @invariant
    def never(self) -> bool:
        return self.unchecked()


def test_what_a_branch_asserts_can_fail() -> None:
    methods = Careful.methods("invariant")
    read = {name: read_predicate(Careful(), name, method, "invariant") for name, method in methods.items()}
    assert {name: can_fail(predicate.value) for name, predicate in read.items()} == {
        "then": True, "otherwise": True, "never": False,
    }


class Divides(Model):
    """Divisors that may be zero, and some that never are."""

    x: Annotated[int, Between(-4, 4)] = 1
    by: Annotated[int, Between(1, 3)] = 1

    @action
    def moves(self) -> None:
        self.x = -self.x

    @invariant
    def by_a_number(self) -> bool:
        return self.x % 2 < 2 and self.x // -3 < 9

    @invariant
    def by_what_is_positive(self) -> bool:
        return self.x // self.by < 9

    @invariant
    def by_what_may_be_zero(self) -> bool:
        return self.x % (self.by - 1) < 9

    @invariant
    def by_both_signs(self) -> bool:
        return self.by // self.x < 9


def test_a_division_can_fail_only_where_its_divisor_can_be_zero() -> None:
    methods = Divides.methods("invariant")
    read = {name: read_predicate(Divides(), name, method, "invariant") for name, method in methods.items()}
    assert {name: can_fail(predicate.value) for name, predicate in read.items()} == {
        "by_a_number": False, "by_what_is_positive": False, "by_what_may_be_zero": True, "by_both_signs": True,
    }
