"""A class name of the package means one class, so that a reader can search for it; and a class has few levels above it,
so that a reader finds what it does: parts are composed."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "floodmark"
MAX_LEVELS = 3
"""The most classes of the package from the top to a class, itself included. Kinds of errors may have more."""


@cache
def classes(package: Path) -> list[tuple[str, ast.ClassDef]]:
    """The classes of a package, each with its file."""
    return [
        (file.relative_to(package).as_posix(), node)
        for file in sorted(package.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    ]


def files_of_classes(package: Path) -> dict[str, list[str]]:
    """The files that define a class of each name; a file is listed once for each definition."""
    found = defaultdict(list)
    for file, node in classes(package):
        found[node.name].append(file)
    return found


def levels(package: Path) -> dict[str, int]:
    """The number of classes of the package from the top to each class, itself included."""
    above = {node.name: [_class_name(base) for base in node.bases] for _, node in classes(package)}

    def level(name: str) -> int:
        return 1 + max((level(base) for base in above[name] if base in above), default=0)

    return {name: level(name) for name in above}


def _class_name(base: ast.expr) -> str:
    """The name of a base class, also in ``ir.Expr`` and ``Visitor[Value]``."""
    return ast.unparse(base).partition("[")[0].rpartition(".")[2]


def test_every_class_is_read() -> None:
    assert files_of_classes(PACKAGE)["SearchResult"] == ["checkers/search_result.py"]


def test_no_two_classes_have_one_name() -> None:
    assert {name: files for name, files in files_of_classes(PACKAGE).items() if len(files) > 1} == {}


def test_a_second_class_of_a_name_is_found(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("class Answer: ...\n", encoding="utf-8")
    (tmp_path / "two.py").write_text("def ask():\n    class Answer: ...\n", encoding="utf-8")
    assert files_of_classes(tmp_path) == {"Answer": ["one.py", "two.py"]}


def test_no_class_has_many_levels_above_it() -> None:
    errors = {"ModelFailed", "CapacityExceeded"}
    assert {name for name, level in levels(PACKAGE).items() if level > MAX_LEVELS} == errors


def test_levels_are_counted_across_files(tmp_path: Path) -> None:
    one = "class Visitor(Generic[T]): ...\nclass Writer(Visitor[str]): ...\n"
    (tmp_path / "one.py").write_text(one, encoding="utf-8")
    (tmp_path / "two.py").write_text("class Effects(one.Writer): ...\n", encoding="utf-8")
    assert levels(tmp_path) == {"Visitor": 1, "Writer": 2, "Effects": 3}
