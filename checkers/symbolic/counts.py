"""What the actions of a model count, as questions that an inferred clause may contain.

    require(2 * sum(1 for voter in Voter if self.vote[epoch][voter] == candidate) > self.voters)

asks of each candidate and epoch whether a majority has voted. Of three voters that is two, and a clause about single
votes says so: it is true of three voters and wrong for five. A clause with the question itself can be true of any
number.
"""

from __future__ import annotations

import ast
import builtins
import copy
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from floodmark.checkers.properties import Property
from floodmark.checkers.symbolic.written import written
from floodmark.language.model import Model
from floodmark.language.reference import parameter_types
from floodmark.language.source import source_of
from floodmark.language.types import IdentifierType
from floodmark.language.universe import universe

MOST_COUNTS = 64
"""So many questions are asked at most: each is one more component of a state."""


@dataclass(frozen=True, slots=True)
class Count:
    """A question about a state: in parentheses as text, with the names in it, and as a property."""

    text: str
    names: Mapping[str, Any]
    question: Property


def counts_of(model: Model) -> list[Count]:
    """What guards ask that contain a number of elements, for each choice of the identifiers that they mention."""
    found: dict[str, Mapping[str, Any]] = {}
    for action in type(model).methods("action").values():
        kinds = parameter_types(model, action)
        for condition in _guards(source_of(action).tree):
            known = {**vars(builtins), **action.__globals__}
            used = _free_names(condition)
            chosen = [name for name in kinds if name in used]
            if not _counts(condition) or any(not isinstance(kinds[name], IdentifierType) for name in chosen):
                continue
            if not used <= {"self", *chosen, *known}:
                continue
            names = {name: known[name] for name in used if name in action.__globals__ and name not in chosen}
            for values in itertools.product(*(universe(kinds[name]) for name in chosen)):
                given = dict(zip(chosen, map(repr, values), strict=True))
                text = ast.unparse(_Renamed({"self": "model", **given}).visit(copy.deepcopy(condition)))
                found[f"({text})"] = names | dict(zip(given.values(), values, strict=True))
    listed = list(found.items())[:MOST_COUNTS]
    return [_count(number, text, names) for number, (text, names) in enumerate(listed, 1)]


def _count(number: int, text: str, names: Mapping[str, Any]) -> Count:
    name = f"counted_{number}"
    function, file = written(f"def {name}(model):\n    return {text}\n", name, names)
    return Count(text, names, Property(name, "invariant", function, file, 1, "What an action counts."))


def _guards(method: ast.FunctionDef) -> Iterator[ast.expr]:
    """What a method requires before it does anything."""
    for statement in method.body:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name(id="require"), args=[condition])):
                yield from _conjuncts(condition)
            case ast.Expr(value=ast.Constant()):
                continue
            case _:
                return


def _conjuncts(condition: ast.expr) -> list[ast.expr]:
    match condition:
        case ast.BoolOp(op=ast.And(), values=parts):
            return parts
    return [condition]


def _counts(condition: ast.expr) -> bool:
    calls = (node.func for node in ast.walk(condition) if isinstance(node, ast.Call))
    return any(isinstance(called, ast.Name) and called.id in ("len", "sum") for called in calls)


def _free_names(condition: ast.expr) -> set[str]:
    names = [node for node in ast.walk(condition) if isinstance(node, ast.Name)]
    bound = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return {name.id for name in names} - bound


class _Renamed(ast.NodeTransformer):
    """An expression with other names for some of its variables."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self._names.get(node.id, node.id), node.ctx)
