"""Tests that a name has one meaning, that of Python: what Python would silently keep, drop or wrap is refused.

Refusals are the same from every engine. What is not refused has the meaning that CPython gives it.
"""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest

from floodmark.checkers import reference
from floodmark.checkers.native import search as native
from floodmark.checkers.properties import collect
from floodmark.checkers.spec import read
from floodmark.language.errors import ModelError, SourceError
from tests.broken import load, search
from tests.engines import ENGINES, outcome, plain_search
from tests.projects import write

HEAD = """from __future__ import annotations

import dataclasses
import functools
from enum import Enum, Flag, IntEnum
from typing import Annotated

from floodmark import *

Small = Annotated[int, Between(0, 3)]


"""
COUNTER = """class Counter(Model):
    x: Small = 0

    @action
    def up(self) -> None:
        require(self.x < 3)
        self.x += 1


"""
FIRST, SECOND = "#1", "#2"
"""Stand at the ends of the lines of a name's two definitions."""


def text_of(text: str, before: str = COUNTER) -> str:
    return HEAD + before + dedent(text).lstrip("\n")


def refused(folder: Path, text: str, engine: object = native) -> SourceError:
    """The error with which a file, or the model ``M`` in it, is refused; it names all places that are marked."""
    with pytest.raises(SourceError) as caught:
        search(load(folder, text), engine)
    error = caught.value
    lines: dict[str, list[int]] = {FIRST: [], SECOND: []}
    for number, line in enumerate(text.splitlines(), 1):
        lines.get(line[-2:], []).append(number)
    assert error.file is not None, error
    assert Path(error.file).parent == folder, error
    assert [error.line] == lines[SECOND], error
    assert all(f"{error.file}:{number}" in error.message for number in lines[FIRST]), error
    return error


def agreed(folder: Path, text: str) -> str:
    """The verdict about ``M`` with all properties, the same from CPython's plain search and from every engine."""
    module = load(folder, text)
    properties = list(collect(module.M, [module]).values())
    wanted, _ = plain_search(module.M(), properties)
    for name, explore in ENGINES.items():
        assert (name, outcome(explore, module.M(), properties)) == (name, wanted)
    return wanted.verdict


both_engines = pytest.mark.parametrize("engine", [native, reference], ids=["native", "reference"])

# Names that are defined twice.

TWICE = {
    "two invariants": """
        class M(Counter):
            @invariant
            def p(self) -> bool:  #1
                return self.x < 2

            @invariant
            def p(self) -> bool:  #2
                return True
    """,
    "two actions": """
        class M(Counter):
            @action
            def down(self) -> None:  #1
                self.x = 0

            @action
            def down(self) -> None:  #2
                pass
    """,
    "two initial methods": """
        class M(Counter):
            @initial
            def start(self) -> None:  #1
                self.x = 3

            @initial
            def start(self) -> None:  #2
                self.x = 0
    """,
    "two reachable ones": """
        class M(Counter):
            @reachable
            def high(self) -> bool:  #1
                return self.x > 3

            @reachable
            def high(self) -> bool:  #2
                return self.x > 2
    """,
    "an invariant and a helper": """
        class M(Counter):
            @invariant
            def p(self) -> bool:  #1
                return self.x < 2

            def p(self) -> bool:  #2
                return True
    """,
    "an invariant and an attribute": """
        class M(Counter):
            @invariant
            def p(self) -> bool:  #1
                return self.x < 2

            p = None  #2
    """,
    "under a condition that is true": """
        class M(Counter):
            @invariant
            def p(self) -> bool:  #1
                return self.x < 2

            if True:
                def p(self) -> bool:  #2
                    return True
    """,
    "a variable twice": """
        class M(Counter):
            y: Small = 0  #1
            y: bool = False  #2
    """,
    "a variable and its value": """
        class M(Counter):
            y: Small  #1
            y = 0  #2
    """,
    "a constant twice": """
        class M(Counter):
            n = Constant(2)  #1
            n = Constant(3)  #2
    """,
    "a field twice": """
        class R(Record):
            a: Small  #1
            a: bool  #2

        class M(Counter):
            r: R | None = None
    """,
    "a field and a method": """
        class R(Record):
            a: Small  #1
            def a(self) -> int:  #2
                return 1

        class M(Counter):
            r: R | None = None
    """,
    "two properties in a file": """
        M = Counter

        @invariant
        def p(model: Counter) -> bool:  #1
            return model.x < 2

        @invariant
        def p(model: Counter) -> bool:  #2
            return True
    """,
    "a property and a helper in a file": """
        M = Counter

        @invariant
        def p(model: Counter) -> bool:  #1
            return model.x < 2

        @invariant
        def q(model: Counter) -> bool:
            return True

        def p(model: Counter) -> bool:  #2
            return True
    """,
    "two classes in a file": """
        class M(Counter):  #1
            @invariant
            def p(self) -> bool:
                return self.x < 2

        class M(Counter):  #2
            pass
    """,
    "a class and what is imported": """
        from floodmark import Model as M  #1

        class M(Counter):  #2
            pass
    """,
    "a property in a loop": """
        M = Counter

        @invariant
        def p(model: Counter) -> bool:  #1
            return model.x < 2

        for _ in range(2):
            @invariant
            def p(model: Counter) -> bool:  #2
                return True
    """,
    "a boundary and a property of the file": """
        class M(Counter):
            @boundary
            def small(self) -> bool:  #1
                return self.x <= 9

        @invariant
        def small(model: M) -> bool:  #2
            return model.x < 2
    """,
    "a variable and a property of the file": """
        class M(Counter):
            y: Small = 0  #1

        @invariant
        def y(model: M) -> bool:  #2
            return model.x < 2
    """,
    "an action and a property of the file": """
        class M(Counter):
            @action
            def down(self) -> None:  #1
                self.x = 0

        @reachable
        def down(model: M) -> bool:  #2
            return model.x == 3
    """,
    "an invariant over an action": """
        class Base(Counter):
            @action
            def p(self) -> None:  #1
                self.x = 3

        class M(Base):
            @invariant
            def p(self) -> bool:  #2
                return self.x < 2
    """,
    "an attribute over a variable": """
        class Base(Counter):
            y: Small = 0  #1

        class M(Base):
            y = 3  #2
    """,
    "a number over a constant": """
        class Base(Counter):
            n = Constant(3)  #1

        class M(Base):
            n = 1  #2
    """,
    "nothing over an action": """
        class Base(Counter):
            @action
            def down(self) -> None:  #1
                self.x = 0

        class M(Base):
            down = None  #2
    """,
    "a static method over an action": """
        class Base(Counter):
            @action
            def down(self) -> None:  #1
                self.x = 0

        class M(Base):
            @staticmethod
            def down(self) -> None:  #2
                pass
    """,
    "an action over an invariant beside it": """
        class Left(Counter):
            @action
            def p(self) -> None:  #2
                self.x = 3

        class Right(Counter):
            @invariant
            def p(self) -> bool:  #1
                return self.x < 2

        class M(Left, Right):
            pass
    """,
    "two kinds of identifiers": """
        class Place:
            class Node(Identifier, count=2):  #1
                pass

        class Node(Identifier, count=2):  #2
            pass

        class M(Counter):
            a: Place.Node = Place.Node(1)
            b: Node = Node(1)
    """,
    "an enum and a record": """
        class Place:
            class Kind(Enum):  #1
                A = 1

        class Kind(Record):  #2
            a: Small

        class M(Counter):
            a: Place.Kind = Place.Kind.A

            @action
            def go(self, kind: Kind) -> None:
                self.x = kind.a
    """,
}


@both_engines
@pytest.mark.parametrize("name", TWICE)
def test_a_name_is_defined_once(tmp_path: Path, name: str, engine: ModuleType) -> None:
    text = text_of(TWICE[name])
    said = refused(tmp_path, text, engine).message
    assert re.search("already|here and|another", said), said


ONCE = {
    "branches": """
        class M(Counter):
            if True:
                LIMIT = 2
            else:
                LIMIT = 4

            @invariant
            def p(self) -> bool:
                return self.x < self.LIMIT
    """,
    "a try": """
        try:
            from nowhere import limit
        except ImportError:
            def limit() -> int:
                return 2

        class M(Counter):
            @invariant
            def p(self) -> bool:
                return self.x < limit()
    """,
    "imports of one package": """
        import os
        import os.path

        class M(Counter):
            @invariant
            def p(self) -> bool:
                return self.x < 2
    """,
    "an override": """
        class Base(Counter):
            @invariant
            def p(self) -> bool:
                return True

            @rule
            def limit(self) -> int:
                return 9

            def helper(self) -> int:
                return 9

        class M(Base):
            def p(self) -> bool:
                return self.x < self.limit() + self.helper()

            def limit(self) -> int:
                return 1

            @staticmethod
            def helper() -> int:
                return 1
    """,
    "a variable with another initial value": """
        class Base(Counter):
            y: Small = 0

        class M(Base):
            y: Small = 1

            @invariant
            def p(self) -> bool:
                return self.y == 0
    """,
    "one action under two names": """
        class M(Counter):
            @action
            def jump(self) -> None:
                require(self.x == 0)
                self.x = 3

            leap = jump

            @invariant
            def p(self) -> bool:
                return self.x < 3
    """,
    "a mixin": """
        class Jumps:
            def up(self) -> None:
                self.x = 3

            def limit(self) -> int:
                return 3

        class M(Jumps, Counter):
            @invariant
            def p(self) -> bool:
                return self.x < Jumps.limit(self)
    """,
    "a range of the model's own": """
        def range(end: int) -> Set[Small]:
            return Set({2})

        class M(Counter):
            @invariant
            def p(self) -> bool:
                return all(self.x < i for i in range(3)) and self.x not in range(9)
    """,
    "integers with names in their own order": """
        class Size(IntEnum):
            LARGE = 2
            SMALL = 1

        class M(Counter):
            some: Set[Size] = Set({Size.SMALL, Size.LARGE})
            taken: Size = Size.LARGE

            @action
            def take(self) -> None:
                for size in self.some:
                    self.taken = size

            @invariant
            def p(self) -> bool:
                return self.taken == Size.LARGE
    """,
    "closures over different values": """
        def below(limit: int):
            def test(x: int) -> bool:
                return x < limit
            return test

        low, high = below(2), below(9)

        class M(Counter):
            @invariant
            def p(self) -> bool:
                return low(self.x) and high(self.x)
    """,
    "a wrapper": """
        def strict(function):
            @functools.wraps(function)
            def inner(x: int) -> bool:
                return function(x) and x < 2
            return inner

        @strict
        def fine(x: int) -> bool:
            return x < 9

        class M(Counter):
            @invariant
            def p(self) -> bool:
                return fine(self.x)
    """,
    "code of another function": """
        def fine(x: int) -> bool:
            return x < 9

        def strict(x: int) -> bool:
            return x < 2

        fine.__code__ = strict.__code__

        class M(Counter):
            @invariant
            def p(self) -> bool:
                return fine(self.x)
    """,
    "a value that was there when the function was made": """
        limit = 9

        def fine(x: int, limit: int = 2, *, more: int = limit) -> bool:
            return x < limit and x < more

        class M(Counter):
            @invariant
            def p(self) -> bool:
                return fine(self.x)
    """,
    "a type of the class's own": """
        class M(Counter):
            Small = Annotated[int, Between(0, 1)]

            @action
            def jump(self, to: Small) -> None:
                self.x = to + 1

            @invariant
            def p(self) -> bool:
                return self.x < 2
    """,
}


@pytest.mark.parametrize("name", ONCE)
def test_what_python_means_is_meant(tmp_path: Path, name: str) -> None:
    assert agreed(tmp_path, text_of(ONCE[name])) == "violated"


# Decorators.

DECORATED = {
    "beside an invariant": """
        M = Counter

        def strict(function):
            @functools.wraps(function)
            def inner(model):
                return function(model) and model.x < 2
            return inner

        @invariant
        @strict  #2
        def p(model: Counter) -> bool:
            return model.x < 9
    """,
    "over an invariant, which gets lost": """
        M = Counter

        def strict(function):
            return lambda model: function(model) and model.x < 2

        @strict  #2
        @invariant
        def p(model: Counter) -> bool:
            return model.x < 9
    """,
    "over an action": """
        def guarded(function):
            def inner(self):
                function(self)
            return inner

        class M(Counter):
            @guarded  #2
            @action
            def down(self) -> None:
                self.x = 0
    """,
    "of a class body": """
        class M(Counter):
            def guarded(function):
                return function

            @action
            @guarded  #2
            def down(self) -> None:
                self.x = 0
    """,
    "of another package": """
        class M(Counter):
            @invariant  #2
            @functools.cache
            def p(self) -> bool:
                return self.x < 2
    """,
    "of a mixin": """
        def guarded(function):
            return lambda self: True

        class Mixin:
            @guarded  #2
            @invariant
            def p(self) -> bool:
                return self.x < 2

        class M(Mixin, Counter):
            pass
    """,
    "two of the language": """
        class M(Counter):
            @rule  #2
            @action
            def down(self) -> None:
                self.x = 0
    """,
    "around a class": """
        M = Counter

        @invariant  #2
        class P:
            pass
    """,
}


@both_engines
@pytest.mark.parametrize("name", DECORATED)
def test_what_a_decorator_would_add_or_drop_is_refused(tmp_path: Path, name: str, engine: ModuleType) -> None:
    said = refused(tmp_path, text_of(DECORATED[name]), engine).message
    assert re.search("next to|plain function|only one of them", said), said


LOST = """
def strict(function):
    return lambda model: function(model) and model.x < 2


@strict
@invariant
def q(model: Counter) -> bool:
    return model.x < 9


"""


def test_a_file_whose_only_property_gets_lost_is_refused(tmp_path: Path) -> None:
    model, properties = load(tmp_path, text_of("")), load(tmp_path, text_of(LOST))
    with pytest.raises(ModelError, match="next to @invariant"):
        collect(model.Counter, [properties])


def test_a_file_of_which_only_a_property_is_imported_is_refused(tmp_path: Path) -> None:
    kept = "@invariant\ndef p(model: Counter) -> bool:\n    return model.x < 9\n"
    properties = load(tmp_path, text_of(LOST + kept))
    model = load(tmp_path, text_of(""))
    model.p = properties.p  # type: ignore[attr-defined]
    with pytest.raises(ModelError, match="next to @invariant"):
        collect(properties.Counter, [model])


def test_a_lambda_in_a_decorator_is_not_taken_for_what_it_decorates(tmp_path: Path) -> None:
    text = text_of("""
        def instead(other):
            return lambda function: other

        @instead(lambda x: x < 2)
        def fine(x: int) -> bool:
            return x < 9

        class M(Counter):
            @invariant
            def p(self) -> bool:
                return fine(self.x)
    """)
    with pytest.raises(ModelError, match="not a plain function"):
        search(load(tmp_path, text))


# Special methods, and names of the language.

_RETURNS = "\n        return True"

REDEFINED = {
    "equality of a record": ("R(Record)", f"def __eq__(self, other: object) -> bool:  #2{_RETURNS}"),
    "hash of a record": ("R(Record)", f"def __hash__(self) -> int:  #2{_RETURNS}"),
    "no hash": ("R(Record)", "__hash__ = None  #2"),
    "a lambda": ("R(Record)", "__eq__ = lambda self, other: True  #2"),
    "replace of a record": ("R(Record)", f"def replace(self, **given: int) -> R:  #2{_RETURNS}"),
    "a field called replace": ("R(Record)", "replace: Small = 0  #2"),
    "a field with an underscore": ("R(Record)", "_a: Small = 0  #2"),
    "making a record": ("R(Record)", f"def __init__(self, a: int = 1) -> None:  #2{_RETURNS}"),
    "attributes of a record": ("R(Record)", f"def __getattribute__(self, name: str) -> int:  #2{_RETURNS}"),
    "subclasses of a record": ("R(Record)", f"def __init_subclass__(cls) -> None:  #2{_RETURNS}"),
    "equality of an identifier": ("R(Identifier)", f"def __eq__(self, other: object) -> bool:  #2{_RETURNS}"),
    "the number of an identifier": ("R(Identifier)", "number = 3  #2"),
    "equality of an enum": ("R(Enum)", f"A = 1\n    def __eq__(self, other: object) -> bool:  #2{_RETURNS}"),
    "missing members": ("R(Enum)", f"A = 1\n    def _missing_(cls, value: int) -> bool:  #2{_RETURNS}"),
    "a flag": ("R(Flag):  #2", "A = 1\n    B = 2\n    BOTH = 3"),
    "members that are floats": ("R(float, Enum):  #2", "A = 1.5"),
    "attributes of a model": ("B(Counter)", f"def __getattr__(self, name: str) -> int:  #2{_RETURNS}"),
    "equality of a model": ("B(Counter)", f"def __eq__(self, other: object) -> bool:  #2{_RETURNS}"),
    "making a model": ("B(Counter)", f"def __init__(self, **given: int) -> None:  #2{_RETURNS}"),
    "a constant with a name of the language": ("B(Counter)", "snapshot = Constant(2)  #2"),
    "fields of the language": ("B(Counter)", "_values = Set({1})  #2"),
}


def redefining(name: str) -> str:
    head, body = REDEFINED[name]
    colon = head if head.endswith("#2") else f"{head}:"
    base, member = ("Counter", "r: R | None = None") if head.startswith("R") else ("B", "pass")
    return text_of(f"class {colon}\n    {body}\n\n\nclass M({base}):\n    {member}\n")


@both_engines
@pytest.mark.parametrize("name", REDEFINED)
def test_what_compiled_code_relies_on_is_not_redefined(tmp_path: Path, name: str, engine: ModuleType) -> None:
    refused(tmp_path, redefining(name), engine)


LATE = {
    "a record": ("R.__eq__ = lambda self, other: True", "defines __eq__"),
    "a record by a decorator": ("R = functools.total_ordering(type('R', (R,), {'__lt__': len}))", "defines"),
    "a model": ("Counter.up = lambda self: None", "assigned from outside"),
    "a model that loses an action": ("del Counter.up", "deleted from outside"),
}


@both_engines
@pytest.mark.parametrize("name", LATE)
def test_classes_stay_as_they_are_written(tmp_path: Path, name: str, engine: ModuleType) -> None:
    line, said = LATE[name]
    member = "\n\nclass M(Counter):\n    r: R | None = None\n"
    text = text_of(f"class R(Record):\n    a: Small = 0\n\n\n{line}\n{member}")
    if name.endswith("decorator"):
        text = text.replace("R = functools", "Ordered = functools").replace("r: R |", "r: Ordered |")
    with pytest.raises(ModelError, match=said):
        search(load(tmp_path, text), engine)


def test_what_only_shows_values_may_be_defined(tmp_path: Path) -> None:
    shown = "def __repr__(self) -> str:\n        return 'x'\n"
    text = text_of(f"""
class Kind(Enum):
    A = 1
    B = 2
    {shown}

class Node(Identifier, count=2):
    {shown}

class Note(Record):
    kind: Kind
    node: Node
    {shown}

class M(Counter):
    note: Note = Note(kind=Kind.A, node=Node(1))

    @action
    def go(self, kind: Kind, node: Node) -> None:
        self.note = Note(kind=kind, node=node)

    @invariant
    def p(self) -> bool:
        return self.note != Note(kind=Kind.B, node=Node(2))
""")
    assert agreed(tmp_path, text) == "violated"


def test_an_identifier_of_a_derived_kind_is_another(tmp_path: Path) -> None:
    text = text_of("""
        class Node(Identifier, count=2):
            pass

        class Leader(Node, count=2):
            pass

        class M(Counter):
            node: Node = Node(1)

            @action
            def go(self) -> None:
                self.node = Leader(1)
    """)
    module = load(tmp_path, text)
    with pytest.raises(ModelError, match="is Node, but this is Leader"):
        search(module)
    assert "which is not a value of Node" in search(module, reference).violations[0].message


# What CPython does with names of a function.

MEANT = {
    "a global that is assigned": ("require(self.x < LIMIT)  #2\nLIMIT = 2\nself.x += 1", "may have no value"),
    "a loop variable afterwards": ("for LIMIT in range(2):\n    pass\nself.x = LIMIT  #2", "may have no value"),
    "effects in a sum over a plain set": ("self.x = sum(self.put(v) for v in {3, 1, 2})  #2", "changes a variable"),
    "effects in a minimum": ("self.x = min(self.put(v) for v in {3, 1, 2})  #2", "changes a variable"),
    "effects in a maximum": ("self.x = max([self.put(v) for v in {3, 1, 2}])  #2", "fixed order"),
    "effects in a set": ("self.x = len({self.put(v) for v in {3, 1, 2}})  #2", "changes a variable"),
    "effects in what is sorted": ("self.x = sorted(self.put(v) for v in {3, 1, 2})[0]  #2", "changes a variable"),
    "effects in a condition": ("self.x = sum(1 for v in {3, 1, 2} if self.put(v) > 0)  #2", "changes a variable"),
    "effects in a domain": ("self.x = sum(w for v in {3, 1} for w in range(self.put(v)))  #2", "changes a variable"),
    "failures in a domain": ("self.f = any(w > 0 for v in {2, 0} for w in range(2 // v))  #2", "can fail"),
    "a state outside of the model": ("self.hidden = 1  #2", "declare it"),
}


@pytest.mark.parametrize("name", MEANT)
def test_what_python_leaves_open_is_refused(tmp_path: Path, name: str) -> None:
    statements, said = MEANT[name]
    body = "\n".join(f"        {line}" for line in statements.splitlines())
    text = text_of(f"""
LIMIT = 3


class M(Counter):
    y: Small = 0
    f: bool = False

    def put(self, value: int) -> int:
        self.y = value
        return 1

    @action
    def go(self) -> None:
{body}
""")
    assert said in refused(tmp_path, text).message


def test_cpython_keeps_no_state_outside_of_the_model(tmp_path: Path) -> None:
    text = text_of("""
        class M(Counter):
            @action
            def go(self) -> None:
                self.hidden = 1
    """)
    assert "declare it: hidden: <type>" in search(load(tmp_path, text), reference).violations[0].message


def test_effects_over_a_set_with_an_order_agree(tmp_path: Path) -> None:
    text = text_of("""
        class M(Counter):
            y: Small = 0

            def put(self, value: int) -> int:
                self.y = value
                return 1

            @action
            def go(self) -> None:
                self.x = sum(self.put(v) for v in Set({3, 1, 2}))

            @invariant
            def p(self) -> bool:
                return self.y != 3
    """)
    assert agreed(tmp_path, text) == "violated"


@pytest.mark.parametrize("kind", ["property", "action"])
def test_a_generator_is_no_answer_in_cpython_either(tmp_path: Path, kind: str) -> None:
    text = text_of(f"""
        class M(Counter):
            @invariant
            def p(self) -> bool:
                {"yield" if kind == "property" else "return"} self.x < 2

            @action
            def go(self) -> None:
                {"pass" if kind == "property" else "yield"}
    """)
    said = search(load(tmp_path, text), reference).violations[0].message
    assert ("has to return a bool" if kind == "property" else "returns a value") in said


@pytest.mark.parametrize("head", ["*, limit: int = 2", "limit: int = 2", "*more: int"])
def test_a_property_has_no_parameters_of_its_own(tmp_path: Path, head: str) -> None:
    text = text_of(f"""
        M = Counter
        limit = 9

        @invariant
        def p(model: Counter, {head}) -> bool:  #2
            return model.x < limit
    """)
    assert re.search("takes the model alone|must take", refused(tmp_path, text).message)


def test_a_guard_of_another_require_draws_nothing(tmp_path: Path) -> None:
    text = text_of("""
        class M(Model):
            x: Small = 0

            @action
            def go(self, to: Small) -> None:
                require(self.x > 1)
                self.x = to

            @invariant
            def p(self) -> bool:
                return self.x < 1
    """, "def require(condition: bool) -> None:\n    pass\n\n\n")  # fmt: skip
    text = text.replace("import *", "import Between, Model, action, invariant")
    assert agreed(tmp_path, text) == "violated"


def test_super_means_the_class_that_a_method_is_written_in(tmp_path: Path) -> None:
    text = text_of("""
        class Other(Counter):
            def up(self) -> None:
                super().up()  #2

        class M(Counter):
            up = Other.up
    """)
    assert "written in the class" in refused(tmp_path, text).message
    found = search(load(tmp_path, text), reference)
    assert "TypeError" in found.violations[0].message


def test_one_constant_has_one_name(tmp_path: Path) -> None:
    text = text_of("""
        class M(Counter):
            a = b = Constant(2)  #2
    """)
    assert "the same Constant" in refused(tmp_path, text).message


def test_a_step_outside_of_a_class_is_not_lost(tmp_path: Path) -> None:
    text = text_of("""
        M = Counter

        @boundary  #2
        def small(model: Counter) -> bool:
            return model.x < 2
    """)
    assert "is not a method" in refused(tmp_path, text).message


def test_a_star_import_is_not_overridden_unseen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "properties_of_others.py").write_text(text_of("""
        @invariant
        def p(model: Counter) -> bool:
            return model.x < 2
    """), encoding="utf-8")  # fmt: skip
    text = text_of("""
        from properties_of_others import *

        M = Counter

        @invariant  #2
        def p(model: Counter) -> bool:
            return True
    """, "").replace("Small = ", "Tiny = ")  # fmt: skip
    assert "is already defined at" in refused(tmp_path, text).message


def test_two_star_imports_are_refused(tmp_path: Path) -> None:
    text = text_of("""
        from math import *  #2
        x = pi

        M = Counter
    """)
    assert "import the names one by one" in refused(tmp_path, text).message


def test_no_property_is_called_deadlock(tmp_path: Path) -> None:
    text = text_of("""
        M = Counter

        @invariant
        def deadlock(model: Counter) -> bool:  #2
            return True
    """)
    assert "rename this property" in refused(tmp_path, text).message


# Names in a spec.


def spec_error(folder: Path, text: str) -> SourceError:
    write(folder, {"model.toml": 'model = "model.py:M"\n' + text})
    with pytest.raises(SourceError) as caught:
        read(folder / "model.toml")
    return caught.value


def test_known_bad_designs_of_one_name(tmp_path: Path) -> None:
    entry = '[[flawed]]\nclass = "{}:Bad"\nproperty = "{}"\n'
    for files, properties in [("ab", "pq"), ("aa", "pp"), ("ab", "pp")]:
        error = spec_error(tmp_path, "".join(map(entry.format, files, properties)))
        assert error.line == 5
        assert "Bad already breaks p at line 2" in error.message
    error = spec_error(tmp_path, '[[flawed]]\nclass = "a:M"\nproperty = "p"\n')
    assert "M is also the name of the spec's model" in error.message
    write(tmp_path, {"fine.toml": 'model = "model.py:M"\n' + entry.format("a", "p") + entry.format("a", "q")})
    assert len(read(tmp_path / "fine.toml").flawed) == 2


def test_a_property_is_asked_for_once(tmp_path: Path) -> None:
    assert "p is listed twice" in spec_error(tmp_path, 'invariants = ["p", "q", "p"]\n').message
