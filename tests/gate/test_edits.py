"""Tests edits that change a verdict: no cached verdict may survive any of them."""

from __future__ import annotations

import fractions
import math
import os
import py_compile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from floodmark.checkers.gate.basis import Bases, own_definitions
from floodmark.checkers.gate.job import CheckJob
from floodmark.checkers.gate.modules import Modules
from floodmark.checkers.gate.values import NotCacheable
from floodmark.checkers.project.modules import Project
from floodmark.checkers.project.spec import read
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.language import members as members_module
from floodmark.language.values import Record
from tests.support.gates import Ended, forget, run
from tests.support.projects import write

HEAD = """
from __future__ import annotations
from typing import Annotated, Any
from floodmark import (
    Between, Capacity, Constant, Identifier, Model, Record, Set, action, initial, invariant, require, rule,
)
"""
BODY = """
class M({base}):
    x: Annotated[int, Between(0, 9)] = 0
    {inside}
    @action
    def up(self) -> None:
        require(self.x < 5)
        self.x += 1

    @invariant
    def small(self) -> bool:
        return self.x <= {bound}
"""
SPEC = 'model = "model.m:M"\n'


@dataclass(frozen=True)
class Edit:
    """A model whose x stays below ``bound``, and a change of one text into another in ``file``: the bound is 5 first,
    and 3 afterwards, which x passes. ``variable`` is changed instead where a verdict rests on the environment."""

    name: str
    before: str = ""
    bound: str = "LIMIT"
    inside: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    file: str = "model/m.py"
    was: str = "5  # limit"
    now: str = "3  # limit"
    variable: str = ""
    spec: str = SPEC
    base: str = "Model"

    def write(self, root: Path) -> None:
        body = BODY.replace("{bound}", self.bound).replace("{inside}", self.inside).replace("{base}", self.base)
        text = HEAD + self.before + body
        write(root, {"pyproject.toml": "", "model/m.py": text, "specs/m.toml": self.spec, **self.files})

    def make(self, root: Path) -> None:
        if self.variable:
            os.environ[self.variable] = "3"
            return
        path = root / self.file
        text = path.read_text() if path.exists() else ""
        assert text.count(self.was) == 1
        path.write_text(text.replace(self.was, self.now))


SIZES = {"lib/sizes.py": "LIMIT = 5  # limit\n"}
IN_SIZES = "lib/sizes.py"
EDITS = [
    Edit("a plain global", "LIMIT = 5  # limit\n"),
    Edit("a member that is called as the global is", "LIMIT = 5  # limit\n", "self.LIMIT", "LIMIT = LIMIT"),
    Edit("a comprehension whose variable shadows a global", "LIMIT = 5  # limit\n",
         "LIMIT + sum(LIMIT for LIMIT in (0, 0))"),
    Edit("a lambda whose parameter shadows a global", "LIMIT = 5  # limit\n", "LIMIT + (lambda LIMIT: LIMIT)(0)"),
    Edit("a class attribute of a global", "LIMIT = 5  # limit\n", "self.most", "most = LIMIT + 0"),
    Edit("a class attribute that a loop computes", "LIMIT = 5  # limit\n", "self.most",
         "most = sum(1 for _ in range(LIMIT))"),
    Edit("an import for its effects", "import lib.sizes\nimport lib.patch\n", "lib.sizes.LIMIT",
         files={"lib/sizes.py": "LIMIT = 0\n", "lib/patch.py": "import lib.sizes\nlib.sizes.LIMIT = 5  # limit\n"},
         file="lib/patch.py"),
    Edit("an import for its effects, of a module that is known by name", "import lib.patch\n"
         "from lib.sizes import LIMITS\n",
         "LIMITS[0]",
         files={"lib/sizes.py": "LIMITS = [0]\n",
                "lib/patch.py": "from lib import sizes\nsizes.LIMITS[0] = 5  # limit\n"}, file="lib/patch.py"),
    Edit("a registry that a decorator fills",
         "LIMITS = []\ndef register(f):\n    LIMITS.append(f())\n    return f\n"
         "@register\ndef limit():\n    return 5  # limit\n", "LIMITS[0]"),
    Edit("a registry that is an object",
         "class Registry:\n    def __init__(self):\n        self.limits = []\n    def add(self, f):\n"
         "        self.limits.append(f())\n        return f\nREGISTRY = Registry()\n"
         "@REGISTRY.add\ndef limit():\n    return 5  # limit\n", "REGISTRY.limits[0]"),
    Edit("a list that is made of others", "LIMITS = [0] * 2\nmore = LIMITS.append(5)  # limit\n", "LIMITS[2]",
         was="append(5)", now="append(3)"),
    Edit("a list that a function makes", "LIMITS = sorted([1])\nmore = LIMITS.append(5)  # limit\n", "LIMITS[1]",
         was="append(5)", now="append(3)"),
    Edit("a list that is one of two", "LIMITS = [] if True else None\nmore = LIMITS.append(5)  # limit\n", "LIMITS[0]",
         was="append(5)", now="append(3)"),
    Edit("a list within a tuple", "LIMITS = ([],)\nmore = LIMITS[0].append(5)  # limit\n", "LIMITS[0][0]",
         was="append(5)", now="append(3)"),
    Edit("a list of a walrus", "if (LIMITS := []) is not None:\n    some = 0\nmore = LIMITS.append(5)  # limit\n",
         "LIMITS[0]", was="append(5)", now="append(3)"),
    Edit("a list in a branch", "if True:\n    LIMITS = []\nmore = LIMITS.append(5)  # limit\n", "LIMITS[0]",
         was="append(5)", now="append(3)"),
    Edit("a registry that subclasses fill",
         "class Base:\n    limits = []\n    def __init_subclass__(cls):\n        Base.limits.append(cls.limit)\n"
         "class One(Base):\n    limit = 5  # limit\n", "Base.limits[0]"),
    Edit("a registry in another file", "from lib.registry import LIMITS\nimport lib.plugin\n", "LIMITS[0]",
         files={"lib/registry.py": "LIMITS = []\ndef add(f):\n    LIMITS.append(f())\n",
                "lib/plugin.py": "from lib.registry import add\n@add\ndef limit():\n    return 5  # limit\n"},
         file="lib/plugin.py"),
    Edit("importlib", "import importlib\nLIMIT = importlib.import_module('lib.sizes').LIMIT\n",
         files=SIZES, file=IN_SIZES),
    Edit("importlib with a name that is put together",
         "import importlib\nLIMIT = importlib.import_module('.'.join(['lib', 'siz' + 'es'])).LIMIT\n", files=SIZES,
         file=IN_SIZES),
    Edit("__import__", "LIMIT = __import__('lib.sizes').sizes.LIMIT\n", files=SIZES, file=IN_SIZES),
    Edit("a loader by hand",
         "import importlib.util, pathlib\n"
         "place = pathlib.Path(__file__).parent.parent / 'lib/sizes.py'\n"
         "spec = importlib.util.spec_from_file_location('sizes', place)\n"
         "sizes = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(sizes)\nLIMIT = sizes.LIMIT\n",
         files=SIZES, file=IN_SIZES),
    Edit("exec", "exec('LIMIT = 5  # limit')\n"),
    Edit("exec of a file", "import pathlib\nexec((pathlib.Path(__file__).parent / 'sizes.txt').read_text())\n",
         files={"model/sizes.txt": "LIMIT = 5  # limit\n"}, file="model/sizes.txt"),
    Edit("runpy", "import runpy, pathlib\n"
         "LIMIT = runpy.run_path(str(pathlib.Path(__file__).parent / 'sizes.txt'))['LIMIT']\n",
         files={"model/sizes.txt": "LIMIT = 5  # limit\n"}, file="model/sizes.txt"),
    Edit("the environment", "import os\nLIMIT = int(os.environ['EDITS_LIMIT'])\n", variable="EDITS_LIMIT"),
    Edit("the environment by getenv", "from os import getenv\nLIMIT = int(getenv('EDITS_LIMIT', '5'))\n",
         variable="EDITS_LIMIT"),
    Edit("the environment while a search runs", "import os\n", "int(os.environ['EDITS_LIMIT'])",
         variable="EDITS_LIMIT"),
    Edit("the environment in another file while a search runs", "from lib.sizes import limit\n", "limit()",
         files={"lib/sizes.py": "import os\ndef limit():\n    return int(os.environ['EDITS_LIMIT'])\n"},
         variable="EDITS_LIMIT"),
    Edit("a data file", "import json, pathlib\n"
         "LIMIT = json.loads((pathlib.Path(__file__).parent / 'sizes.json').read_text())['limit']\n",
         files={"model/sizes.json": '{"limit": 5}\n'}, file="model/sizes.json", was="5", now="3"),
    Edit("a data file while a search runs", "FILE = __file__.replace('m.py', 'sizes.txt')\n", "int(open(FILE).read())",
         files={"model/sizes.txt": "5\n"}, file="model/sizes.txt", was="5", now="3"),
    Edit("a data file that need not be there",
         "import os\nLIMIT = 3 if os.path.exists(__file__.replace('m.py', 'sizes_3')) else 5\n",
         file="model/sizes_3", was="", now="it is"),
    Edit("a file of invariants that patches the model", "LIMIT = 0\n",
         files={"specs/patch.py": "from model.m import M\nimport model.m\nfrom floodmark import invariant\n"
                "model.m.LIMIT = 5  # limit\n@invariant\ndef fine(m: M) -> bool:\n    return True\n"},
         spec=SPEC + 'invariant_files = ["patch.py"]\n', file="specs/patch.py"),
    Edit("another spec's file of invariants that patches the model", "LIMIT = 0\n",
         files={"specs/patch.py": "from model.m import M\nimport model.m\nfrom floodmark import invariant\n"
                "model.m.LIMIT = 5  # limit\n@invariant\ndef fine(m: M) -> bool:\n    return True\n",
                "specs/other.toml": SPEC + 'invariant_files = ["patch.py"]\ninvariants = ["fine"]\n'},
         file="specs/patch.py"),
    Edit("what a function captured", "def make(n):\n    def limit():\n        return n\n    return limit\n"
         "limit = make(5)  # limit\n", "limit()", was="5)  # limit", now="3)  # limit"),
    Edit("a default", "def limit(n=5):  # limit\n    return n\n", "limit()", was="5):  # limit", now="3):  # limit"),
    Edit("a default that was computed", "LIMIT = 5  # limit\ndef limit(*, n=LIMIT):\n    return n\n", "limit()"),
    Edit("a global that was computed", "NUMBERS = [n for n in range(5)]  # limit\nLIMIT = len(NUMBERS)\n",
         was="5)]  # limit", now="3)]  # limit"),
    Edit("a decorator", "import functools\ndef plus(n):\n    def around(f):\n        def inner(*a):\n"
         "            return f(*a) + n\n"
         "        return inner\n    return around\n@plus(5)  # limit\ndef limit():\n    return 0\n", "limit()",
         was="5)  # limit", now="3)  # limit"),
    Edit("a partial function", "import functools\nlimit = functools.partial(max, 5)  # limit\n", "limit(0)",
         was="5)  # limit", now="3)  # limit"),
    Edit("a star import", "from lib.sizes import *\n", files=SIZES, file=IN_SIZES),
    Edit("a star import behind a definition", "from lib.middle import LIMIT\n",
         files={**SIZES, "lib/middle.py": "LIMIT = 0\nfrom lib.sizes import *\n"}, file=IN_SIZES),
    Edit("lists that grow one by the other", "LIMITS = []\nOTHERS = []\nMORE = []\na = LIMITS.append(OTHERS)\n"
         "b = OTHERS.append(MORE)\nc = MORE.append(5)  # limit\n", "LIMITS[0][0][0]", was="5)  # limit",
         now="3)  # limit"),
    Edit("a conditional import", "from lib.switch import NEW\nif NEW:\n    from lib.sizes import LIMIT\nelse:\n"
         "    LIMIT = 3\n",
         files={**SIZES, "lib/switch.py": "NEW = True  # limit\n"}, file="lib/switch.py", was="True", now="False"),
    Edit("the other branch of a conditional import",
         "try:\n    from lib.missing import LIMIT\nexcept ImportError:\n    from lib.sizes import LIMIT\n", files=SIZES,
         file=IN_SIZES),
    Edit("the __init__ of a package", "import lib\n", "lib.LIMIT", files={"lib/__init__.py": "LIMIT = 5  # limit\n"},
         file="lib/__init__.py"),
    Edit("the __init__ of a package that is on the way", "from lib.sizes import LIMITS\n", "LIMITS[0]",
         files={"lib/__init__.py": "from lib.sizes import LIMITS\nLIMITS[0] = 5  # limit\n",
                "lib/sizes.py": "LIMITS = [0]\n"}, file="lib/__init__.py"),
    Edit("the __init__ of a package that a function's import has on the way",
         "def limit():\n    from lib.sizes import LIMITS\n    return LIMITS[0]\nLIMIT = limit()\n",
         files={"lib/__init__.py": "import lib.sizes\nlib.sizes.LIMITS[0] = 5  # limit\n",
                "lib/sizes.py": "LIMITS = [0]\n"}, file="lib/__init__.py"),
    Edit("a relative import", "from lib.middle import LIMIT\n",
         files={**SIZES, "lib/__init__.py": "", "lib/middle.py": "from .sizes import LIMIT\n"}, file=IN_SIZES),
    Edit("a relative import of a module", "from lib.middle import sizes\n", "sizes.LIMIT",
         files={**SIZES, "lib/__init__.py": "", "lib/middle.py": "from . import sizes\n"}, file=IN_SIZES),
    Edit("an edit of sys.path", "import sys, pathlib\n"
         "sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / 'far'))\n"
         "from edits_far import LIMIT\nsys.path.pop(0)\n", files={"far/edits_far.py": "LIMIT = 5  # limit\n"},
         file="far/edits_far.py"),
    Edit("a module under another name", "import lib.sizes as s\n", "s.LIMIT", files=SIZES, file=IN_SIZES),
    Edit("two modules of a package", "import lib.sizes\nimport lib.other\n", "lib.sizes.LIMIT",
         files={**SIZES, "lib/other.py": ""}, file=IN_SIZES),
    Edit("globals()", "globals()['LIM' + 'IT'] = 5  # limit\n"),
    Edit("globals() while a search runs", "A = 5  # limit\n", "globals()['A']"),
    Edit("getattr by a text", "from lib import sizes\n", "getattr(sizes, 'LIM' + 'IT')", files=SIZES, file=IN_SIZES),
    Edit("a module's __getattr__", "from lib import sizes\n", "sizes.LIMIT",
         files={"lib/sizes.py": "def __getattr__(name):\n    if name != 'LIMIT':\n        raise AttributeError(name)\n"
                "    return 5  # limit\n"}, file=IN_SIZES),
    Edit("a name from a module's __getattr__", "from lib.sizes import LIMIT\n",
         files={"lib/sizes.py": "def __getattr__(name):\n    if name != 'LIMIT':\n        raise AttributeError(name)\n"
                "    return 5  # limit\n"}, file=IN_SIZES),
    Edit("try", "try:\n    LIMIT = 5  # limit\nexcept ValueError:\n    LIMIT = 0\n"),
    Edit("the name of an exception", "try:\n    raise ValueError(5)  # limit\nexcept ValueError as error:\n"
         "    LIMIT = error.args[0]\n", was="5)  # limit", now="3)  # limit"),
    Edit("match", "match [5]:  # limit\n    case [LIMIT]:\n        pass\n", was="5]:  # limit", now="3]:  # limit"),
    Edit("a walrus", "if (LIMIT := 5):  # limit\n    pass\n", was="5):  # limit", now="3):  # limit"),
    Edit("a walrus in a comprehension", "_ = [LIMIT := n for n in (1, 5)]  # limit\n", was="5)]  # limit",
         now="3)]  # limit"),
    Edit("for at the top", "for LIMIT in range(6):  # limit\n    pass\n", was="6):  # limit", now="4):  # limit"),
    Edit("with at the top", "import contextlib\nwith contextlib.nullcontext(5) as LIMIT:  # limit\n    pass\n",
         was="(5)", now="(3)"),
    Edit("del", "max = min\ndel max  # limit\n", "max(0, 5)", was="del max  # limit", now="# limit"),
    Edit("a global that a function sets", "LIMIT = 0\ndef begin():\n    global LIMIT\n    LIMIT = 5  # limit\n"
         "begin()\n"),
    Edit("the order of statements", "LIMITS = [0]\nn = [5]\nLIMITS[0] = n[0]\nn[0] = 3  # limit\n", "LIMITS[0]",
         was="LIMITS[0] = n[0]\nn[0] = 3  # limit\n", now="n[0] = 3  # limit\nLIMITS[0] = n[0]\n"),
    Edit("the order of statements in a line", "LIMITS = [5]\n"
         "LIMIT = LIMITS[-1]; more = LIMITS.append(3)  # limit\n",
         was="LIMIT = LIMITS[-1]; more = LIMITS.append(3)", now="more = LIMITS.append(3); LIMIT = LIMITS[-1]"),
    Edit("the order of statements and of a default", "LIMITS = [5]\n"
         "def limit(n=LIMITS[-1]):\n    return n\nmore = LIMITS.append(3)  # limit\n", "limit()",
         was="def limit(n=LIMITS[-1]):\n    return n\nmore = LIMITS.append(3)  # limit\n",
         now="more = LIMITS.append(3)\ndef limit(n=LIMITS[-1]):\n    return n\n"),
    Edit("what a function remembers of a module that another model changes",
         "from lib.sizes import LIMITS\ndef make(n):\n    def limit():\n        return n\n    return limit\n"
         "limit = make(LIMITS[0])\n", "limit()",
         files={"lib/sizes.py": "LIMITS = [0]\n", "specs/a.toml": 'model = "model.a:A"\n[expect]\ndistinct = 2\n',
                "model/a.py": "import lib.sizes\nfrom floodmark import *\nlib.sizes.LIMITS[0] = 5  # limit\n"
                              "class A(Model):\n    x: bool = False\n    @action\n    def sets(self) -> None:\n"
                              "        self.x = True\n"},
         file="model/a.py"),
    Edit("a nested function", "def limit():\n    def inner():\n        return 5  # limit\n    return inner()\n",
         "limit()"),
    Edit("a type alias", "Level = Annotated[int, Between(0, 5)]  # limit\n", "9", "y: Level = 5",
         was="5)]  # limit", now="3)]  # limit"),
    Edit("a type alias in a text", "Level = 'Annotated[int, Between(0, 5)]'  # limit\n", "9", "y: Level = 5",
         was="5)]'  # limit", now="3)]'  # limit"),
    Edit("a bound from another file", "from lib.sizes import LIMIT\n", "9", "y: Annotated[int, Between(0, LIMIT)] = 5",
         files=SIZES, file=IN_SIZES),
    Edit("an enum whose members are computed", "from enum import Enum\nN = 5  # limit\nclass K(Enum):\n    A = N\n",
         "K.A.value"),
    Edit("an enum that is made by a call", "from enum import Enum\nK = Enum('K', {'A': 5})  # limit\n", "K.A.value",
         was="5})", now="3})"),
    Edit("a constant from another file", "from lib.sizes import LIMIT\n", "self.limit", "limit = Constant(LIMIT)",
         files=SIZES, file=IN_SIZES),
    Edit("a base class in another file", "from lib.base import Base\n", "self.most()",
         files={"lib/base.py": "from floodmark import Model\nclass Base(Model):\n    def most(self) -> int:\n"
                "        return 5  # limit\n"}, file="lib/base.py", base="Base"),
    Edit("a method of a record", "class R(Record):\n    a: Annotated[int, Between(0, 9)]\n    def most(self) -> int:\n"
         "        return 5  # limit\n", "R(a=1).most()"),
    Edit("how many identifiers there are", "class B(Identifier, count=5):  # limit\n    pass\n", "sum(1 for _ in B)",
         "b: Set[B] = Set()", was="5):  # limit", now="3):  # limit"),
    Edit("a set", "LIMITS = {'a', 'b', 5}  # limit\n", "(5 if 5 in LIMITS else 3)", was="5}", now="3}"),
    Edit("a dataclass", "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass C:\n"
         "    limit: int = 5  # limit\n"
         "SETTINGS = C()\n", "SETTINGS.limit"),
    Edit("a named tuple of typing", "from typing import NamedTuple\nclass C(NamedTuple):\n    limit: int\n"
         "SETTINGS = C(5)  # limit\n", "SETTINGS.limit", was="C(5)", now="C(3)"),
    Edit("a named tuple", "from collections import namedtuple\nC = namedtuple('C', 'limit')\n"
         "SETTINGS = C(5)  # limit\n",
         "SETTINGS.limit", was="C(5)", now="C(3)"),
    Edit("setattr of a module", "from lib import sizes\nsetattr(sizes, 'LIMIT', 5)  # limit\n", "sizes.LIMIT",
         files={"lib/sizes.py": "LIMIT = 0\n"}, was="5)  # limit", now="3)  # limit"),
    Edit("a metaclass", "class Meta(type):\n    @property\n    def limit(cls):\n        return 5  # limit\n"
         "class C(metaclass=Meta):\n    pass\n", "C.limit"),
    Edit("a descriptor", "class D:\n    def __get__(self, instance, owner):\n        return 5  # limit\nclass C:\n"
         "    d = D()\n",
         "C.d"),
    Edit("a class that calls itself floodmark's",
         "class K:\n    limit = 5  # limit\nK.__module__ = 'floodmark.language'\n", "K.limit"),
    Edit("a function that calls itself floodmark's",
         "def limit():\n    return 5  # limit\nlimit.__module__ = 'floodmark.language'\n", "limit()"),
    Edit("a builtin that is replaced", "import builtins\nbuiltins.edits_limit = 5  # limit\n", "edits_limit"),
    Edit("arguments by name", "def limit(a, b):  # limit\n    return a + 0 * b\n", "limit(a=5, b=3)",
         was="limit(a, b):  # limit\n    return a + 0 * b", now="limit(b, a):  # limit\n    return b + 0 * a"),
    Edit("a constant of the spec", "", "self.limit", "limit = Constant(1)", spec=SPEC + "[constants]\nlimit = 5\n",
         file="specs/m.toml", was="5", now="3"),
    Edit("which invariants a spec asks for", "", "3", spec=SPEC + 'invariants = ["fine"]\n',
         inside="@invariant\n    def fine(self) -> bool:\n        return True\n", file="specs/m.toml", was='"fine"',
         now='"fine", "small"'),
]


KEPT = (
    "a plain global", "a comprehension whose variable shadows a global", "an import for its effects",
    "a registry in another file", "what a function captured", "a partial function", "a star import",
    "the __init__ of a package", "a relative import", "a module's __getattr__", "a type alias",
    "an enum whose members are computed", "an enum that is made by a call", "a constant from another file",
    "a method of a record", "a set", "a dataclass", "a named tuple", "a named tuple of typing", "a metaclass",
    "a descriptor", "arguments by name",
    "a file of invariants that patches the model",
)


UNSEEN = (
    "importlib with a name that is put together", "a loader by hand", "an edit of sys.path",
    "another spec's file of invariants that patches the model",
    "what a function remembers of a module that another model changes",
)
"""What only a running program knows, and what is no part of the spec: the lock has the figures of the search for it."""


@pytest.fixture(autouse=True)
def limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("EDITS_LIMIT", "5")


def verdict(ended: Ended) -> tuple[int, list[list[str]]]:
    """The exit code and the rows of the table, without times."""
    return ended.code, [line.split()[:4] for line in ended.lines if line.split()[1:2] in (["m"], ["other"])]


def sources(root: Path) -> Mapping[str, str]:
    """What the lock says of the model and its properties."""
    forget(root)
    return CheckJob("m", None, Check(read(root / "specs/m.toml"), None, CheckSettings())).model_sources()


def anew(root: Path, cache: bool) -> Ended:
    """The gate as another process would run it."""
    forget(root)
    return run(root, cache=cache)


HASHED = [edit for edit in EDITS if edit.file.endswith(".py") and edit.name not in UNSEEN and not edit.variable]
"""Edits of source, which the hashes in the lock notice."""
NEVER_CACHED = {
    "exec": "m.py:6 executes text",
    "exec of a file": "m.py:7 opens a file",
    "the environment": "m.py:7 reads the environment",
    "the environment by getenv": "m.py:7 reads the environment",
    "the environment while a search runs": "m.py:16 M.small uses os",
    "the environment in another file while a search runs": "sizes.py:2 limit uses os",
    "a data file": "m.py:7 opens a file",
    "a data file while a search runs": "m.py:16 M.small uses open",
    "globals() while a search runs": "m.py:16 M.small uses globals",
}
"""Edits of what a verdict can rest on without a trace in any text: the gate gives the reason, and caches nothing."""
OF_MODEL = [edit for edit in HASHED if edit.file == "model/m.py"]
REPLACED = ("a constant from another file", "a loader by hand", "__import__")
"""Edits whose old bytecode must not be taken either."""
OFTEN = [
    edit for edit in EDITS
    if edit.name not in (*REPLACED, *NEVER_CACHED) and (edit not in OF_MODEL or OF_MODEL.index(edit) % 9 == 0)
]
"""The key of a cached verdict has a hash of each whole file, so edits of the model's own file are instances of one.
Other tests edit what is replaced, and find that what is never cached has no verdict in the cache."""


@pytest.mark.parametrize(
    "edit", [pytest.param(each, id=each.name, marks=() if each in OFTEN else pytest.mark.slow) for each in EDITS]
)
def test_an_edit_invalidates_the_cached_verdict(tmp_path: Path, edit: Edit) -> None:
    root = tmp_path / "one"
    edit.write(root)
    before = anew(root, cache=True)
    assert verdict(before)[1][0][0] == "holds", before.text
    edit.make(root)
    after = anew(root, cache=True)
    assert verdict(after)[1][0][0] in ("violated", "error"), after.text


@pytest.mark.parametrize("edit", [edit for edit in EDITS if edit.name in KEPT], ids=lambda edit: edit.name)
def test_known_verdicts_are_cached(tmp_path: Path, edit: Edit) -> None:
    """Nothing is found anew for want of knowing what it rests on where that can be known."""
    edit.write(tmp_path)
    before = anew(tmp_path, cache=True)
    again = anew(tmp_path, cache=True)
    assert " 1 of 1 from the cache" in again.lines[-2], again.text
    assert verdict(again) == verdict(before)


@pytest.mark.parametrize("edit", HASHED, ids=lambda edit: edit.name)
def test_every_edit_of_source_is_drift(tmp_path: Path, edit: Edit) -> None:
    """The hashes in the lock notice it, and notice nothing when nothing is edited."""
    for name in ("before", "same", "edited"):
        edit.write(tmp_path / name)
    edit.make(tmp_path / "edited")
    assert sources(tmp_path / "before") == sources(tmp_path / "same") != sources(tmp_path / "edited")


@pytest.mark.parametrize(("name", "said"), NEVER_CACHED.items())
def test_the_gate_says_why_nothing_is_cached(tmp_path: Path, name: str, said: str) -> None:
    next(edit for edit in EDITS if edit.name == name).write(tmp_path)
    ended = anew(tmp_path, cache=True)
    [line] = [line for line in ended.lines if "not cached" in line]
    assert line.startswith("1 verdict is not cached: ") and line.endswith(said)
    assert not (tmp_path / "cache/verdicts").exists()


ASKS = """
class Meta(type):
    @property
    def limit(cls):
        return asked()
class C(metaclass=Meta):
    pass
"""
HELD = "import functools\n@functools.cache\ndef asked():\n    return 5 if {how} else 3\nasked()\n" + ASKS
"""A value that no value shows: a cached function was called, and a property of a metaclass gives its result."""
ASKED = "def asked():\n    return 5 if {how} else 3\n" + ASKS

UNTOLD = {
    "whether a file exists": "import os\n" + HELD.format(how="os.path.exists(__file__)"),
    "the size of a file": "import os.path as p\n" + HELD.format(how="p.getsize(__file__) < 9"),
    "a path": "from pathlib import Path\n" + HELD.format(how="Path(__file__).is_file()"),
    "what a file may be used for": "from os import access\n" + HELD.format(how="access(__file__, 4)"),
    "the working directory": "import glob\n" + HELD.format(how="glob.glob('*')"),
    "the environment": "from os import environ\n" + HELD.format(how="'EDITS_LIMIT' in environ._data"),
    "a clock": "import time\n" + HELD.format(how="time.time() > 0"),
    "a calendar": "from datetime import date\n" + HELD.format(how="date.today().year > 2000"),
    "chance": "import random\n" + HELD.format(how="random.random() < 1"),
    "a secret": "import secrets\n" + HELD.format(how="secrets.token_hex()"),
    "the machine": "import platform\n" + HELD.format(how="platform.node()"),
    "the network": "import socket\n" + HELD.format(how="socket.gethostname()"),
    "the arguments": "import sys\n" + HELD.format(how="sys.argv"),
    "a library": "import ctypes\n" + HELD.format(how="ctypes"),
    "another program": "import subprocess\n" + HELD.format(how="subprocess"),
    "a thread": "import threading\nLIMITS = [5]\nt = threading.Timer(9, LIMITS.clear)\n" + ASKED.format(how="LIMITS"),
    "what is collected": "import weakref\nclass K:\n    pass\n" + ASKED.format(how="weakref.ref(K())() is None"),
    "who is loaded": "import gc\n" + HELD.format(how="gc.get_objects()"),
    "an installed package": "import numpy\n" + HELD.format(how="numpy"),
    "a package that need not be there": "try:\n    import edits_nowhere\nexcept ImportError:\n    pass\n",
    "the recursion limit": "import sys\nsys.setrecursionlimit(1000)\n",
    "the precision of numbers": "import decimal\ndecimal.getcontext().prec = 28\n"
                                + ASKED.format(how="decimal.Decimal(1) / 3 > 0"),
    "what a pure module has imported": "import contextlib\n" + HELD.format(how="contextlib.os.path.exists(__file__)"),
    "what was imported from a pure module": "from dataclasses import sys\n" + HELD.format(how="sys.argv"),
    "all that a pure module has": "from contextlib import *\n",
    "what is asked while a model is read": "import contextlib\n"
                                           + ASKED.format(how="contextlib.os.path.exists(__file__)"),
    "an attribute by its name": "import contextlib\n" + HELD.format(how="getattr(contextlib, 'o' + 's')"),
    "an attribute by an operator": "import contextlib, operator\n"
                                   + HELD.format(how="operator.attrgetter('o' + 's')(contextlib)"),
    "an attribute in a format": "import contextlib\n" + HELD.format(how="'{0.os.environ}'.format(contextlib)"),
    "the content of a module": "import contextlib\n" + HELD.format(how="contextlib.__dict__['os']"),
    "all classes": HELD.format(how="().__class__.__base__.__subclasses__()"),
    "the globals of a function": "import contextlib\n"
                                 + HELD.format(how="contextlib.contextmanager.__globals__['os'].path"),
    "a frame": HELD.format(how="[g.gi_frame.f_back for g in [(_ for _ in ())]]"),
    "a name for import": HELD.format(how="__import__('o' + 's')"),
    "importing by name": "import importlib\n" + HELD.format(how="importlib.util.find_spec('numpy')"),
    "a loader": HELD.format(how="__loader__.path_stats(__file__)"),
    "a place in memory": HELD.format(how="id(object()) > 0"),
    "an order that differs": HELD.format(how="hash('a') is not None"),
    "a file": HELD.format(how="open"),
    "builtins": "import builtins\n" + HELD.format(how="builtins.open"),
    "a function of text": "import typing\n" + HELD.format(how="typing.get_type_hints(object)"),
    "the inner parts of floodmark": "import floodmark\n" + HELD.format(how="floodmark.checkers.project.loading.os"),
    "a name that floodmark does not offer":
        "from floodmark.checkers.project import loading\n" + HELD.format(how="loading.os"),
}
"""What a file may leave behind, or ask for later, that the texts of the files do not tell."""
HIDDEN = {
    "what an annotation asks": "from contextlib import nullcontext\nclass R(Record):\n"
                               "    a: 'Annotated[int, Between(0, 5 if __import__(\"os\") else 3)]'\n",
    "a cached function": "import functools\n@functools.cache\ndef asked():\n    return 5\nasked()\n" + ASKS,
    "registered subclasses": "import abc\nclass K(abc.ABC):\n    pass\nK.register(int)\n"
                             + ASKED.format(how="isinstance(5, K)"),
    "a pure module that was changed": "import math\nmath.edits_limit = 5\n" + ASKED.format(how="math.edits_limit"),
    "a class of a pure module that was changed": "import fractions\nfractions.Fraction.edits_limit = 5\n"
                                                 + ASKED.format(how="fractions.Fraction.edits_limit"),
    "a class of the language that was changed": "Record.edits_limit = 5\n" + ASKED.format(how="Record.edits_limit"),
}
"""What the objects that are hashed do not show."""


def why_not(root: Path, before: str, by_text: bool, files: Mapping[str, str] = {}) -> str:
    """Why no verdict on a model is cached: because of its text, or of its values; empty where one is."""
    limit = "C.limit" if ASKS in before else "5"
    Edit("", before, limit, "r: R | None = None" if "class R" in before else "", files=files).write(root)
    forget(root)
    job = CheckJob("m", None, Check(read(root / "specs/m.toml"), None, CheckSettings()))
    at_first = own_definitions()
    try:
        subject = job.load()
        if by_text:
            Modules().of([str(root / "model/m.py")])
        else:
            Bases(at_first).of([], subject.roots)
    except NotCacheable as error:
        return str(error)
    finally:
        for owner in (math, fractions.Fraction, Record):
            if "edits_limit" in vars(owner):
                delattr(owner, "edits_limit")
    return ""


@pytest.mark.parametrize("way", UNTOLD)
def test_what_a_text_does_not_tell_is_not_kept(tmp_path: Path, way: str) -> None:
    assert "/model/m.py:" in why_not(tmp_path, UNTOLD[way], by_text=True)


@pytest.mark.parametrize("way", HIDDEN)
def test_hidden_dependences_prevent_caching(tmp_path: Path, way: str) -> None:
    assert why_not(tmp_path, HIDDEN[way], by_text=False)


def test_visible_dependences_allow_caching(tmp_path: Path) -> None:
    """The same model, where what it asks depends on nothing."""
    before = "import contextlib, functools, operator\n" + ASKED.format(how="len('a')")
    assert not why_not(tmp_path, before, by_text=True) and not why_not(tmp_path, before, by_text=False)


def test_an_attribute_that_is_called_like_a_builtin_function_allows_caching(tmp_path: Path) -> None:
    before = "import re\nclass K:\n    id = vars = 5\nP = re.compile('a')\n" + ASKED.format(how="K.id == K.vars")
    assert not why_not(tmp_path, before, by_text=True) and not why_not(tmp_path, before, by_text=False)


def test_the_second_name_of_an_import_is_asked_about_as_the_first(tmp_path: Path) -> None:
    """The first is a user's module, the second may be installed before the next run."""
    before = "try:\n    from lib import sizes, edits_nowhere\nexcept ImportError:\n    pass\n"
    assert "m.py:7 imports lib" in why_not(tmp_path, before.lstrip(), by_text=True, files=SIZES)
    assert not why_not(tmp_path / "all", "from lib import sizes, more\n", by_text=True,
                       files={**SIZES, "lib/more.py": ""})


@pytest.mark.parametrize(("name", "statement"), [("lib/mid.py", "from .sizes import LIMIT\n"),
                                                 ("lib/mid/deep.py", "from ..sizes import LIMIT\n")])
def test_a_relative_import_counts_where_another_file_has_loaded_it_before(
    tmp_path: Path, name: str, statement: str
) -> None:
    root = write(tmp_path, {"pyproject.toml": "", "lib/__init__.py": "", "lib/mid/__init__.py": "", **SIZES,
                            name: statement})
    if name == "lib/mid.py":
        (root / "lib/mid/__init__.py").unlink()
    project = Project.of(root / "x")
    project.load(root / IN_SIZES)
    project.load(root / name)
    assert str(root / IN_SIZES) in Modules().of([str(root / name)])


def test_a_comment_in_another_protocol_costs_nothing(tmp_path: Path) -> None:
    edit = next(edit for edit in EDITS if edit.name == "a plain global")
    edit.write(tmp_path)
    text = (tmp_path / "model/m.py").read_text()
    write(tmp_path, {"model/other.py": text, "specs/other.toml": SPEC.replace("model.m", "model.other")})
    anew(tmp_path, cache=True)
    (tmp_path / "model/other.py").write_text(f"{text}# a comment\n")
    again = anew(tmp_path, cache=True)
    assert " 1 of 2 from the cache" in again.lines[-2], again.text


def test_a_file_that_changes_while_it_is_in_use(tmp_path: Path) -> None:
    """What was loaded is not what stands there: nothing is taken and nothing is kept."""
    edit = next(edit for edit in EDITS if edit.name == "a plain global")
    edit.write(tmp_path)
    anew(tmp_path, cache=True)
    edit.make(tmp_path)
    again = run(tmp_path, cache=True)
    assert "m.py was changed after it was loaded" in again.text
    assert " 0 of 1 from the cache" in again.lines[-2]


def test_floodmark_itself_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members_module, "_mark", members_module._mark)  # which is put back
    edit = Edit("", "import floodmark.language.members as language\nlanguage._mark = lambda kind: kind\nLIMIT = 5\n")
    edit.write(tmp_path)
    said = anew(tmp_path, cache=True).text
    assert "floodmark.language.members._mark was replaced while models were loaded" in said


@pytest.mark.parametrize("name", REPLACED)
def test_old_bytecode_is_not_taken(tmp_path: Path, name: str) -> None:
    """Python takes bytecode for a source of the same size and the same second."""
    edit = next(edit for edit in EDITS if edit.name == name)
    edit.write(tmp_path)
    source = tmp_path / IN_SIZES
    os.utime(source, (1_000_000_000, 1_000_000_000))
    py_compile.compile(str(source))
    edit.make(tmp_path)
    os.utime(source, (1_000_000_000, 1_000_000_000))
    assert verdict(anew(tmp_path, cache=True))[0] == 1
