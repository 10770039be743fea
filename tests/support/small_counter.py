"""Small files with a counter, of which each says that a model is refused or what it means."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from floodmark.checkers.native import search as native
from floodmark.checkers.project.properties import collect
from floodmark.checkers.reference import search as reference
from floodmark.language.errors import SourceError
from tests.support.broken import load, search
from tests.support.engines import ENGINES, outcome, plain_search

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
    for name, search_states in ENGINES.items():
        assert (name, outcome(search_states, module.M(), properties)) == (name, wanted)
    return wanted.verdict


both_engines = pytest.mark.parametrize("engine", [native, reference], ids=["native", "reference"])
