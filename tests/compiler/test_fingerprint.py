"""Tests that machine code cached for one model never runs for another with a different meaning."""

from __future__ import annotations

import enum
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import pytest

from floodmark import Between, Identifier, Model, Record, action, boundary, implies, invariant, require
from floodmark.checkers.codegen import model_module
from floodmark.checkers.codegen.model_module import Symbols, parts
from floodmark.checkers.kernel import compiled_model
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.arguments import spec_path
from floodmark.checkers.project.properties import Property, collect
from floodmark.checkers.project.spec import read
from floodmark.checkers.search_result import Options, SearchResult
from floodmark.compiler import ir
from floodmark.compiler.fingerprint import Fingerprints, fingerprint
from floodmark.compiler.identity_key import MAX_KEYS
from floodmark.compiler.ir import BOOL, And, Const, IsNone, Local, Not, Or, Position, Predicate, Universe, Witness
from floodmark.compiler.program import read_program
from floodmark.language.errors import ModelError
from floodmark.language.types import (
    BoolType,
    EnumType,
    IdentifierType,
    IntType,
    OptionalType,
    RecordType,
    SetType,
    Type,
)
from tests.support.broken import load, search

AT = Position("file.py", 1)
TRUE = Const(BOOL, AT, True)
ROOT = Path(__file__).parents[2]

Two = enum.Enum("Two", "A B")
Another = enum.Enum("Another", "A B")
Three = enum.Enum("Three", "A B C")


class Node(Identifier, count=2):
    pass


class Pair(Record):
    a: bool
    b: bool


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(compiled_model, "_KNOWN_LOOPS", {})


def test_loops_are_known_by_their_names_their_constants_and_the_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_model, "_KNOWN_LOOPS", {})
    monkeypatch.setattr(compiled_model, "is_kept", lambda *_: False)
    monkeypatch.setattr(compiled_model, "object_image", lambda source, _, effort: (*source.values(), effort))
    monkeypatch.setattr(compiled_model, "MachineCode", lambda images: images[0])
    made = [
        compiled_model._loops([loop], {"NW": words}, good)
        for loop, words, good in itertools.product((load, search), (1, 2), (False, True))
    ]
    assert len(set(made)) == len(made) == 8


# What is written can be read in one way only.

DIFFERENT: list[tuple[tuple[Any, ...], tuple[Any, ...]]] = [
    (("a", "b"), ("ab",)),
    (("a\x1fb",), ("a", "b")),
    (("1:a",), ("a",)),
    ((["a"], "b"), (["a", "b"],)),
    (([], []), ([[]],)),
    (({"a": "b"},), (["a", "b"],)),
    ((1,), (True,)),
    ((1,), ("1",)),
    ((None,), ("None",)),
    ((0,), (False,)),
    ((IntType(0, 1),), (BoolType(),)),
    ((IntType(0, 1),), (IntType(1, 2),)),
    ((IntType(0, 1),), (0, 1)),
    ((EnumType(Two),), (EnumType(Three),)),
    ((EnumType(Two), EnumType(Two)), (EnumType(Two), EnumType(Another))),
    ((EnumType(Two),), (IdentifierType(Node, 2),)),
    ((OptionalType(IntType(0, 1)),), (IntType(0, 1),)),
    ((And(BOOL, AT, [TRUE, TRUE]),), (Or(BOOL, AT, [TRUE, TRUE]),)),
    ((Not(BOOL, AT, TRUE),), (IsNone(BOOL, AT, TRUE),)),
    ((SetType(IntType(0, 1)),), (SetType(IntType(0, 1), 2),)),
    (
        (RecordType(Pair, (("a", BOOL), ("b", IntType(0, 1)))),),
        (RecordType(Pair, (("b", BOOL), ("a", IntType(0, 1)))),),
    ),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_graphs_have_different_fingerprints(one: tuple[Any, ...], other: tuple[Any, ...]) -> None:
    assert fingerprint(*one) != fingerprint(*other)


def test_types_of_one_shape_have_one_fingerprint() -> None:
    assert fingerprint(EnumType(Two)) == fingerprint(EnumType(Another))
    assert fingerprint(RecordType(Pair, (("a", EnumType(Two)),))) == fingerprint(
        RecordType(Pair, (("a", EnumType(Another)),))
    )


def test_constants_of_one_code_have_one_fingerprint() -> None:
    class Says(enum.Enum):
        LEADER = 1
        LEARNER = 2
        ALSO_LEADER = 1  # noqa: PIE796

        def __repr__(self) -> str:
            return self.name[0]

    kind = EnumType(Says)
    codes = [fingerprint(Const(kind, AT, member)) for member in (Says.LEADER, Says.LEARNER, Says["ALSO_LEADER"])]
    assert codes[0] != codes[1]
    assert codes[0] == codes[2]
    assert fingerprint(Const(BOOL, AT, True)) != fingerprint(Const(IntType(1, 1), AT, 1))


def test_what_has_no_code_has_no_fingerprint() -> None:
    with pytest.raises(TypeError, match="no code is made of"):
        fingerprint(1.5)


def _true() -> Const:
    return Const(BOOL, AT, True)


def _false() -> Const:
    return Const(BOOL, AT, False)


def _function(*body: ir.Stmt) -> ir.SharedFunction:
    return ir.SharedFunction("f", AT, [], list(body), None)


_SAMPLES: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "Type": (BoolType, lambda: IntType(0, 2)),
    "RecordType": (lambda: RecordType(Pair, (("a", BOOL),)), lambda: RecordType(Pair, (("b", BOOL),))),
    "Local": (lambda: Local(BOOL, AT, 1, "x"), lambda: Local(BOOL, AT, 2, "x")),
    "Local | None": (lambda: None, lambda: Local(BOOL, AT, 2, "x")),
    "int": (lambda: 0, lambda: 1),
    "int | None": (lambda: None, lambda: 0),
    "bool": (lambda: False, lambda: True),
    "str": (lambda: "x", lambda: "y"),
    "Which | None": (lambda: None, lambda: "old"),
    "Expr": (_true, _false),
    "Expr | None": (lambda: None, _false),
    "Inline": (lambda: ir.Inline(BOOL, AT, [], None), lambda: ir.Inline(BOOL, AT, [ir.Break(AT)], None)),
    "Inline | Applied": (lambda: ir.Inline(BOOL, AT, [], None), lambda: ir.Applied(BOOL, AT, _function(), [])),
    "SharedFunction": (lambda: _function(), lambda: _function(ir.Break(AT))),
    "Any": (lambda: True, lambda: False),
    "Domain": (lambda: Universe(BOOL), lambda: Universe(IntType(0, 2))),
}


def _samples(annotation: str) -> tuple[Any, Any]:
    """Two different values for a field of a node."""
    if annotation.startswith(("list[", "dict[")):
        return ([], [_true()]) if annotation.startswith("list[") else ({}, {"a": _true()})
    known = "str" if annotation == "Which" or annotation.startswith("Literal") else annotation
    first, second = _SAMPLES[known]
    return first(), second()


def _nodes() -> Iterator[type]:
    for value in vars(ir).values():
        is_node = is_dataclass(value) and isinstance(value, type) and not issubclass(value, Type)
        if is_node and value not in (Position, ir.PremiseSite):
            yield value


@pytest.mark.parametrize("kind", list(_nodes()), ids=lambda kind: str(kind.__name__))
def test_every_field_of_a_node_counts(kind: type) -> None:
    every = {field.name: str(field.type) for field in fields(kind)}
    places = {"at": AT} if every.pop("at", None) else {}
    samples = {name: _samples(annotation) for name, annotation in every.items()}
    node = kind(**places, **{name: pair[0] for name, pair in samples.items()})
    for name, (_, other) in samples.items():
        changed = replace(node, **{name: other})
        of_source = (Local, "name"), (ir.SharedFunction, "name"), (Predicate, "premises"), (kind, "places")
        counts = (kind, name) not in of_source
        assert (fingerprint(node) != fingerprint(changed)) == counts, name


def test_a_part_that_is_shared_is_written_once() -> None:
    shared = _true()
    for _ in range(60):
        shared = ir.And(BOOL, AT, [shared, shared])  # type: ignore[assignment]
    assert fingerprint(shared) == fingerprint(shared)


def test_a_known_fingerprint_is_that_of_the_same_node_in_the_same_place() -> None:
    """Equal nodes are written again, and so is everything behind another beginning: only the very node is known."""
    one, equal, other = _true(), _true(), Const(BOOL, AT, False)
    begun, elsewhere = Fingerprints("a beginning"), Fingerprints("another")
    first = begun.of("part", (one, 1))
    assert Fingerprints("a beginning").of("part", [one, 1]) == begun.of("part", (equal, 1)) == first
    different = [
        begun.of("part", (other, 1)), begun.of("part", (one, 2)), begun.of("part", (one, True)),
        begun.of("part", one, 1), begun.of("another part", (one, 1)), elsewhere.of("part", (one, 1)),
    ]
    assert len({first, *different}) == 1 + len(different)


def test_fingerprints_of_nodes_that_are_gone_are_of_no_others() -> None:
    """Python gives the identity of what is gone to what comes next; what is known is known of nodes that are kept."""
    found = set()
    for number in range(3 * MAX_KEYS):
        found.add(Fingerprints().of(Const(IntType(0, 1000), AT, number)))
    assert len(found) == 3 * MAX_KEYS


# Equal keys mean equal code.


def _texts(model: Model, functions: Mapping[str, Callable[..., bool]]) -> Iterator[tuple[str, str]]:
    """The key of each part with its text, in which values have their numbers for names."""
    made, _ = parts(read_program(model, functions), None)
    for part in made:
        yield part.key, re.sub(r'%"[^"]*_(\d+)"', r"%\1", str(part.module()))


SPECS = ["examples/two_phase_commit", "examples/philosophers", "examples/paxos_commit"]
LARGE = ["alter_isr/core", "kraft/sizes@one_voter"]


@pytest.mark.parametrize("path", [*SPECS, *(pytest.param(path, marks=pytest.mark.slow) for path in LARGE)])
def test_equal_keys_mean_equal_code(path: str) -> None:
    spec = read(spec_path(path))
    known: dict[str, str] = {}
    shared = 0
    for cls in [spec.model_class(), *(spec.flawed_class(flawed) for flawed in spec.flawed[:4])]:
        properties = {name: prop.function for name, prop in spec.properties(cls).items()}
        for chosen in [properties, *({name: properties[name]} for name in list(properties)[::5])]:
            for key, text in _texts(cls(**spec.constants), chosen):
                shared += key in known
                assert known.setdefault(key, text) == text
    assert shared > len(known) / 2 or not spec.flawed


Small = Annotated[int, Between(0, 3)]


class Counters(Model):
    """Two properties with a premise each, of which one never comes true."""

    x: Small = 0
    y: Small = 0

    @action
    def up(self) -> None:
        require(self.x < 3)
        self.x += 1

    @action
    def both(self) -> None:
        require(self.y > 0)
        self.y -= 1

    @invariant
    def empty(self) -> bool:
        return implies(self.y == 1, self.x == 0)

    @invariant
    def told(self) -> bool:
        return implies(self.x == 1, self.y == 0)


def _found(cls: type[Model], *names: str) -> SearchResult:
    properties = collect(cls, ())
    return search_states(cls(), [properties[name] for name in names or properties], Options(workers=1))


@pytest.mark.usefixtures("fresh_cache")
def test_a_premise_keeps_its_place_when_other_properties_are_left_out() -> None:
    for names in [("empty", "told"), ("told",), ("empty",), ("told", "empty")]:
        found = _found(Counters, *names)
        assert {premise.property for premise in found.vacuous} == {"empty"} & set(names)


@pytest.mark.usefixtures("fresh_cache")
def test_an_action_keeps_its_counter_when_others_are_left_out() -> None:
    class Up(Model):
        x: Small = 0

        @action
        def up(self) -> None:
            require(self.x < 3)
            self.x += 1

        @action
        def never(self) -> None:
            require(self.x > 3)

    class Never(Model):
        x: Small = 0

        @action
        def never(self) -> None:
            require(self.x > 3)

        @action
        def up(self) -> None:
            require(self.x < 3)
            self.x += 1

    assert _found(Up).actions == _found(Never).actions == {"up": 3, "never": 0}


@pytest.mark.usefixtures("fresh_cache")
def test_a_boundary_counts_in_what_judges_successors() -> None:
    class Open(Model):
        x: Small = 0

        @action
        def up(self) -> None:
            require(self.x < 3)
            self.x += 1

    class Bounded(Open):
        @boundary
        def low(self) -> bool:
            return self.x < 2

    class Narrow(Open):
        @boundary
        def low(self) -> bool:
            return self.x < 1

    assert [_found(cls).distinct for cls in (Open, Bounded, Narrow, Open)] == [4, 2, 1, 4]


@pytest.mark.usefixtures("fresh_cache")
def test_a_boundary_and_a_property_of_one_name_are_two_functions() -> None:
    class Bounded(Model):
        x: Small = 0

        @action
        def up(self) -> None:
            require(self.x < 3)
            self.x += 1

        @boundary
        def small(self) -> bool:
            return self.x < 3

    @invariant
    def small(model: Bounded) -> bool:
        return model.x < 1

    made, _ = parts(read_program(Bounded(), {"small": small}), None)
    assert len({part.name for part in made}) == len(made)
    found = search_states(Bounded(), [Property("small", "invariant", small, __file__, 1, "")], Options(workers=1))
    assert [len(violation.trace) for violation in found.violations] == [2]


@pytest.mark.usefixtures("fresh_cache")
def test_variables_in_another_order_are_other_words() -> None:
    class One(Model):
        x: Small = 0
        y: Small = 3

        @invariant
        def low(self) -> bool:
            return self.x == 0

    class Other(Model):
        y: Small = 3
        x: Small = 0

        @invariant
        def low(self) -> bool:
            return self.x == 0

    assert not _found(One).violations
    assert not _found(Other).violations


ENUM = """
from enum import Enum
from floodmark import Model, action, invariant


class K(Enum):
    A = "a"
    AA = {value!r}
    C = "c"
    D = "d"
{shown}

class M(Model):
    k: K = K.A

    @action
    def go(self, k: K) -> None:
        self.k = k

    @invariant
    def never(self) -> bool:
        return self.k != K.{never}
"""
SHORT = """
    def __repr__(self) -> str:
        return self.name[0]

"""


@pytest.mark.usefixtures("fresh_cache")
def test_a_member_that_is_no_alias_any_more_has_a_code_of_its_own(tmp_path: Path) -> None:
    for value in ("a", "aa", "a"):
        module = load(tmp_path, ENUM.format(value=value, shown="", never="D"))
        assert [violation.property for violation in search(module).violations] == ["never"]


@pytest.mark.usefixtures("fresh_cache")
def test_members_that_are_shown_alike_have_their_own_codes(tmp_path: Path) -> None:
    texts = [ENUM.format(value="aa", shown=SHORT, never=never) for never in ("A", "AA")]
    for text, trace in zip(texts, (1, 2), strict=True):
        found = search(load(tmp_path, text)).violations
        assert [len(violation.trace) for violation in found] == [trace]


def test_the_fingerprint_of_a_witness_depends_on_its_premise() -> None:
    assert fingerprint(Witness(BOOL, AT, 0, _true())) != fingerprint(Witness(BOOL, AT, 1, _true()))


def test_two_functions_of_one_role_and_name_have_two_symbols() -> None:
    symbols = Symbols()
    asked = [("invariant", "safe"), ("invariant", "safe"), ("action", "safe"), ("invariant", "fair")]
    found = ["invariant.0.safe", "invariant.1.safe", "action.0.safe", "invariant.0.fair"]
    assert [symbols.new(*each) for each in asked] == found


class TwoLaws(Model):
    done: bool = False

    @invariant
    def one(self) -> bool:
        return not self.done

    @invariant
    def other(self) -> bool:
        return self.one()


def test_properties_of_one_kind_are_as_many_as_a_word_has_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    program = read_program(TwoLaws(), {"one": TwoLaws.one, "other": TwoLaws.other})
    assert len(parts(program, None)[1].state_predicates) == 2
    monkeypatch.setattr(model_module, "MAX_PREDICATES", 1)
    with pytest.raises(ModelError, match="more than 1 properties of one kind"):
        parts(program, None)
