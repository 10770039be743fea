"""Writes models, some of them broken on purpose, and loads them as a spec would."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from pathlib import Path
from textwrap import dedent, indent
from types import ModuleType
from typing import Any

import pytest

from floodmark.checkers.native import search as native
from floodmark.checkers.project.properties import collect
from floodmark.checkers.search_result import Options, SearchResult
from floodmark.language.errors import ModelError

HEAD = '''from __future__ import annotations

import math
from enum import Enum
from typing import Annotated, Any

from floodmark import *


class Node(Identifier, count="nodes", prefix="n"):
    pass


class Other(Identifier, count=2, prefix="o"):
    pass


class Colour(Enum):
    RED = 1
    GREEN = 2


Small = Annotated[int, Between(0, 3)]


class Message(Record):
    node: Node
    value: Small
    urgent: bool = False


HEAVY = {"a": 1}
TEXTS = ["a"]


def plus_one(x: int) -> int:
    return x + 1


'''
MODEL = '''class M(Model):
    nodes = Constant(2)
    x: Small = 0
    node: Node | None = None
    some: Set[Node] = Set()
    messages: Set[Message] = Set()
    log: Annotated[Seq[Small], Capacity(3)] = Seq()
    bag: Annotated[Bag[Small], Capacity(2)] = Bag()
    flag: bool = False
    colour: Colour = Colour.RED
    per: Map[Node, Small]

    @initial
    def start(self) -> None:
        self.per = Map({n: 0 for n in Node})

'''
"""A model of every kind of variable, to be continued."""
MARK = "#!"
"""Stands at the end of the line that an error has to name."""

_numbers = itertools.count()


def model_text(body: str, model: str = MODEL, head: str = HEAD) -> str:
    """The text of a file with a model whose class body ends with ``body``."""
    return head + model + indent(dedent(body).strip("\n"), "    ") + "\n"


def action_text(statements: str, parameters: str = "") -> str:
    """A class body with one action of these statements."""
    comma = ", " if parameters else ""
    return f"@action\ndef step(self{comma}{parameters}) -> None:\n" + indent(dedent(statements).strip("\n"), "    ")


def property_text(statements: str, kind: str = "invariant", parameters: str = "self") -> str:
    """A class body with one property of these statements."""
    return f"@{kind}\ndef checked({parameters}) -> bool:\n" + indent(dedent(statements).strip("\n"), "    ")


def marked_lines(text: str) -> list[int]:
    return [number for number, line in enumerate(text.splitlines(), 1) if line.endswith(MARK)]


def load(folder: Path, text: str) -> ModuleType:
    """The module of a text, from a file of its own."""
    name = f"broken_{next(_numbers)}"
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def search(module: ModuleType, engine: Any = native, options: Options | None = None, **constants: int) -> SearchResult:
    """Explores the model ``M`` of a module with all its properties."""
    properties = list(collect(module.M, [module]).values())
    return engine.search_states(module.M(**constants), properties, options or Options(workers=1))  # type: ignore[no-any-return]


def refusal(folder: Path, text: str, **constants: int) -> ModelError:
    """The error with which a model is refused, which has to name the marked line of its file."""
    with pytest.raises(ModelError) as caught:
        search(load(folder, text), native, None, **constants)
    error = caught.value
    assert error.file is not None, f"no file: {error.message}"
    assert Path(error.file).parent == folder, error
    assert [error.line] == marked_lines(text), error
    return error
