"""Tests that what compiled code relies on, special methods and names of the language, is not redefined."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from floodmark.checkers.reference import search as reference
from floodmark.language.errors import ModelError
from tests.support.broken import load, search
from tests.support.small_counter import agreed, both_engines, refused, text_of

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
