"""The texts of the conditions of a file, by their kinds and places, as coverage names them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from floodmark.compiler.marks import CoverageMark

_MAX_TEXT = 100
_COUNTS_REFUSALS = ("guard", "require")
Place = tuple[str, int, int]


def text_of(mark: CoverageMark) -> str:
    """The text of a mark: the condition at its place, or the mark's own text."""
    kind = "require" if mark.kind in _COUNTS_REFUSALS else mark.kind
    return mark.text or _texts(mark.file).get((kind, mark.line, mark.column), "")


@cache
def _texts(file: str) -> dict[Place, str]:
    try:
        with open(file, encoding="utf-8") as opened:
            tree = ast.parse(opened.read())
    except (OSError, SyntaxError, ValueError):
        return {}
    return {(kind, at.lineno, at.col_offset): _brief(text) for kind, at, text in _conditions(tree)}


def _conditions(tree: ast.Module) -> Iterator[tuple[str, ast.expr | ast.stmt, ast.expr]]:
    """Each condition with its kind and the node that gives its position."""
    for node in ast.walk(tree):
        match node:
            case ast.If(test=test):
                yield "if", node, test
            case ast.IfExp(test=test):
                yield "choice", node, test
            case ast.BoolOp(op=op, values=values):
                for value in values:
                    yield "and" if isinstance(op, ast.And) else "or", value, value
                    if isinstance(op, ast.And):
                        yield "require", value, value
            case ast.comprehension(ifs=tests):
                for test in tests:
                    yield "condition", test, test
            case ast.Expr(value=ast.Call(func=ast.Name(id="require"), args=[condition])) as statement:
                yield "require", statement, condition
            case ast.Call(func=ast.Name(id="implies"), args=[premise, _]):
                yield "premise", node, premise


def _brief(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 3]}..."
