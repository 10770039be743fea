"""Tests that a name has one meaning, that of Python: what Python would silently keep or drop is refused.

Refusals are the same from every engine. What is not refused has the meaning that CPython gives it.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import ModuleType

import pytest

from floodmark.checkers.project.spec import read
from floodmark.language.bindings import module_names, statements_in
from floodmark.language.errors import SourceError
from tests.support.projects import write
from tests.support.small_counter import agreed, both_engines, refused, text_of

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
def test_names_mean_what_python_resolves(tmp_path: Path, name: str) -> None:
    assert agreed(tmp_path, text_of(ONCE[name])) == "violated"


def test_one_constant_has_one_name(tmp_path: Path) -> None:
    text = text_of("""
        class M(Counter):
            a = b = Constant(2)  #2
    """)
    assert "the same Constant" in refused(tmp_path, text).message


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


def test_known_bad_designs_of_one_name_are_refused(tmp_path: Path) -> None:
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


def test_a_class_of_a_module_that_is_not_listed_knows_its_names_by_its_functions() -> None:
    class Alone:
        number = 1

        def ask(self) -> None:
            """Its names are those of this file."""

    assert module_names(Alone) is globals()
    Alone.__module__ = "a module that is not listed"
    assert module_names(Alone) is globals()


def test_statements_are_found_in_every_branch() -> None:
    (node,) = ast.parse("try:\n    a = 1\nexcept KeyError:\n    b = 1\nexcept ValueError:\n    c = 1\n").body
    assert [ast.unparse(each) for each in statements_in(node)] == ["a = 1", "b = 1", "c = 1"]
