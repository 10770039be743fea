"""No class of nodes is forgotten: a new one is a type error wherever graphs are translated, until it is handled."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import get_args

import pytest

from floodmark.compiler import ir
from floodmark.compiler.visitor import Visitor

SOURCES = Path(ir.__file__).parents[2]

EXPRESSION = '''

@dataclass(slots=True, eq=False)
class Doubled(Expr):
    """Twice a number."""

    operand: Expr

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_doubled(self)
'''
STATEMENT = '''

@dataclass(slots=True, eq=False)
class Skip(Statement):
    """Does nothing."""
'''
METHOD = '''
    @abstractmethod
    def visit_doubled(self, node: Doubled) -> T: ...
'''


def names(classes: Iterable[type]) -> set[str]:
    """A class with slots is made twice, and its first version may still be there: so by name."""
    return {cls.__qualname__ for cls in classes}


def test_every_class_of_nodes_is_in_its_union() -> None:
    assert names(get_args(ir.AnyExpr)) == names(ir.Expr.__subclasses__())
    assert names(get_args(ir.Stmt)) == names(ir.Statement.__subclasses__())


def test_every_class_of_expressions_calls_a_method_of_its_own() -> None:
    called = [cls.accept.__code__.co_names for cls in get_args(ir.AnyExpr)]
    assert sorted(called) == sorted((name,) for name in Visitor.__abstractmethods__)


@pytest.mark.slow
def test_a_new_node_is_a_type_error_in_each_back_end(tmp_path: Path) -> None:
    """The package is copied, given a new expression and a new statement, and checked."""
    copy = tmp_path / "floodmark"
    for file in (SOURCES / "floodmark").rglob("*.py*"):
        if file.suffix in (".py", ".pyi", ".typed"):
            target = copy / file.relative_to(SOURCES / "floodmark")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())
    graph, visitor = copy / "compiler/ir.py", copy / "compiler/visitor.py"
    before, after = graph.read_text(encoding="utf-8").split("\n\nAnyExpr = (\n")
    after = after.replace("\nStmt = ", "\nStmt = Skip | ")
    text = f"{before}{EXPRESSION}{STATEMENT}\n\nAnyExpr = (\n    Doubled\n    | {after}"
    graph.write_text(text, encoding="utf-8")
    text = visitor.read_text(encoding="utf-8").replace("import (\n", "import (\n        Doubled,\n", 1)
    visitor.write_text(text + METHOD, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", str(copy)]
    paths = {"MYPYPATH": str(tmp_path), "PATH": ""}
    found = subprocess.run(command, cwd=tmp_path, env=paths, capture_output=True, text=True)
    line = r"^floodmark/([\w/]+)\.py:\d+: error: .*(visit_doubled|Doubled|Skip)"
    errors = set(re.findall(line, found.stdout, re.MULTILINE))
    assert {file for file, about in errors if about == "visit_doubled"} >= {
        "checkers/codegen/statements", "checkers/symbolic/translate/statements", "checkers/export/tla_effects",
        "checkers/export/promela_effects",
    }, found.stdout
    assert {file for file, about in errors if about == "Doubled"} >= {"compiler/failures", "compiler/identifier_bias"}
    assert {file for file, about in errors if about == "Skip"} >= {
        "compiler/ir", "compiler/identifier_bias", "checkers/codegen/statements",
        "checkers/symbolic/translate/statements", "checkers/export/tla_effects", "checkers/export/promela_effects",
    }
