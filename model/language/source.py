"""The source text of a function, as a syntax tree that knows its file and its lines."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from model.language.errors import ModelError


@dataclass(frozen=True)
class Source:
    """One function's syntax tree, with line numbers as in its file."""

    function: Callable[..., Any]
    tree: ast.FunctionDef
    file: str

    @property
    def parameters(self) -> list[str]:
        return [argument.arg for argument in self.tree.args.args]

    @property
    def body(self) -> list[ast.stmt]:
        """The statements after the docstring."""
        match self.tree.body:
            case [ast.Expr(value=ast.Constant(value=str())), *rest]:
                return rest
        return self.tree.body


@functools.cache
def source_of(function: Callable[..., Any]) -> Source:
    """Parses the source of ``function``. Raises ModelError when Python does not have it."""
    wrapped: Any = getattr(function, "__func__", function)
    try:
        lines, first = inspect.getsourcelines(wrapped)
        file = inspect.getsourcefile(wrapped) or "?"
    except (OSError, TypeError):
        raise ModelError(f"the source of {wrapped.__qualname__} cannot be found; define it in a file") from None
    tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
    ast.increment_lineno(tree, first - 1)
    if wrapped is not function or not isinstance(tree, ast.FunctionDef):
        message = f"{wrapped.__qualname__} is no plain function; write a method: def name(self, ...)"
        raise ModelError(message, file, getattr(tree, "lineno", first))
    return Source(function, tree, file)


def leading_guards(source: Source) -> tuple[list[ast.expr], int]:
    """The conjuncts of the ``require`` statements that open a function, and how many statements those are."""
    guards: list[ast.expr] = []
    count = 0
    for statement in source.body:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name(id="require"), args=[condition], keywords=[])):
                guards.extend(conjuncts(condition))
                count += 1
            case _:
                break
    return guards, count


def conjuncts(condition: ast.expr) -> list[ast.expr]:
    """The parts of ``a and b and c``."""
    if isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.And):
        return [part for value in condition.values for part in conjuncts(value)]
    return [condition]


def names_in(expression: ast.AST) -> set[str]:
    """The names that an expression mentions."""
    return {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}
