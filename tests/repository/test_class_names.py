"""A class name of the package means one class, so that a reader can search for it."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "floodmark"


def files_of_classes(package: Path) -> dict[str, list[str]]:
    """The files that define a class of each name; a file is listed once for each definition."""
    found = defaultdict(list)
    for file in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(file.relative_to(package).as_posix())
    return found


def test_every_class_is_read() -> None:
    assert files_of_classes(PACKAGE)["SearchResult"] == ["checkers/search_result.py"]


def test_no_two_classes_have_one_name() -> None:
    assert {name: files for name, files in files_of_classes(PACKAGE).items() if len(files) > 1} == {}


def test_a_second_class_of_a_name_is_found(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("class Answer: ...\n", encoding="utf-8")
    (tmp_path / "two.py").write_text("def ask():\n    class Answer: ...\n", encoding="utf-8")
    assert files_of_classes(tmp_path) == {"Answer": ["one.py", "two.py"]}
