"""Tests which names code is found to read, and that hashes do not depend on what was hashed before."""

from __future__ import annotations

import argparse
import dis
import inspect
from types import CodeType

import pytest

from floodmark.checkers.gate.values import ValueHasher, _mentioned


def described(code: CodeType) -> tuple[set[str], set[str]]:
    """The names of the module that code reads and writes, as ``dis`` describes its instructions."""
    read: set[str] = set()
    written: set[str] = set()
    for each in dis.get_instructions(code):
        if each.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"):
            read.add(each.argval)
        elif each.opname == "IMPORT_NAME":
            read.add("__import__")
        elif each.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            written.add(each.argval)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            more = described(inner)
            read, written = read | more[0], written | more[1]
    return read, written


MANY = "\n".join([
    "def function(first):",
    "    global " + ", ".join(f"written_{number}" for number in range(0, 700, 7)),
    *(f"    first.attribute_{number} = read_{number}(first)" for number in range(700)),
    *(f"    written_{number} = first" for number in range(0, 700, 7)),
    "    import late",
    "    return [inner for inner in first if inner.value > limit]",
])


@pytest.mark.parametrize("text", [MANY, inspect.getsource(argparse), inspect.getsource(inspect)])
def test_the_names_that_code_reads_are_those_that_dis_describes(text: str) -> None:
    code = compile(text, "some.py", "exec")
    found = _mentioned(code)
    assert (set(found.names), set(found.written)) == described(code)


def shared(step: int) -> int:
    return step + LIMIT


def first() -> int:
    return shared(1)


def second() -> int:
    return shared(2)


def third() -> int:
    return shared(3)


LIMIT = 3


def test_a_hash_does_not_depend_on_what_was_hashed_before() -> None:
    hasher = ValueHasher()
    before = [hasher.digest(roots) for roots in ([first], [first, second], [first, third], [second, first])]
    alone = [ValueHasher().digest(roots) for roots in ([first], [first, second], [first, third], [second, first])]
    assert before == alone
    assert len({text for text, _ in alone}) == 4


def test_a_hash_tells_what_only_a_later_object_reaches(monkeypatch: pytest.MonkeyPatch) -> None:
    was = ValueHasher().digest([third, first])
    monkeypatch.setitem(globals(), "LIMIT", 4)
    assert ValueHasher().digest([third, first]) != was
    assert ValueHasher().digest([[], first]) != ValueHasher().digest([first, []])
