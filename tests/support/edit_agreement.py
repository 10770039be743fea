"""Compares cached verdicts with fresh ones, for a model and then for the same model with a small edit."""

from __future__ import annotations

import ast
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from floodmark.checkers.mutation.change import changes
from tests.gate.test_edits import anew, verdict
from tests.support.gates import forget
from tests.support.projects import write


def edited(source: str, choice: int) -> str:
    """The source with one small change of one function."""
    lines = source.splitlines()
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    every = [(function, change) for function in functions for change in changes(function)]
    if not every:
        return source
    function, change = every[choice % len(every)]
    text = ast.unparse(change.tree).splitlines()
    first = min([function.lineno, *(each.lineno for each in function.decorator_list)])
    lines[first - 1 : function.end_lineno] = [" " * function.col_offset + line for line in text]
    return "\n".join(lines) + "\n"


def assert_edits_are_noticed(source: str, name: str, choice: int) -> None:
    """Runs the gate on a model, edits it, and runs it again: with kept verdicts, and without."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        root = Path(folder)
        patch.setenv("FLOODMARK_CACHE", str(root / "cache"))
        spec = f'model = "../m.py:{name}"\n[limits]\nstates = 300\n'
        write(root, {"pyproject.toml": "", "m.py": source, "specs/m.toml": spec})
        first = anew(root, cache=True)
        assert verdict(anew(root, cache=True)) == verdict(first)
        (root / "m.py").write_text(edited(source, choice))
        assert verdict(anew(root, cache=True)) == verdict(anew(root, cache=False))
        forget(root)
