"""The leading guards of a model's actions, as source that can be evaluated elsewhere."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from floodmark.language.model import Model
from floodmark.language.reference import parameter_types
from floodmark.language.source import leading_guards, source_of
from floodmark.language.types import Type


@dataclass(frozen=True, slots=True)
class Guard:
    """One condition of an action: its tree, the parameters in it with their types, and the sets they are drawn from.

    ``names`` has the other names in it.
    """

    condition: ast.expr
    parameters: Mapping[str, Type]
    drawn: Mapping[str, str]
    names: Mapping[str, Any]

    @property
    def counts(self) -> bool:
        """Whether it contains a number of elements."""
        return bool({"len", "sum"} & _called(self.condition))

    @property
    def bound(self) -> set[str]:
        """The names of its own variables, which no parameter may be called."""
        return _bound_names(self.condition)

    @property
    def calls(self) -> bool:
        """Whether it contains a call, so that it is more than a comparison of terms."""
        return any(isinstance(node, ast.Call) for node in ast.walk(self.condition))

    def text(self, names: Mapping[str, str]) -> str:
        """The condition about ``model``, with other names for its parameters."""
        return ast.unparse(_Renamer({"self": "model", **names}).visit(copy.deepcopy(self.condition)))


def guards_of(model: Model) -> Iterator[Guard]:
    """The conditions that leading guards consist of, where they mention only the model, parameters and global names."""
    for action in type(model).methods("action").values():
        kinds = parameter_types(model, action)
        conditions, _ = leading_guards(source_of(action))
        drawn = dict(filter(None, map(_drawn, conditions)))
        for condition in conditions:
            used = _free_names(condition)
            if used <= {"self", *kinds, *vars(builtins), *action.__globals__}:
                yield Guard(
                    condition,
                    {name: kinds[name] for name in kinds if name in used},
                    {name: drawn[name] for name in kinds if name in used and name in drawn},
                    _globals(action, used - {"self", *kinds}),
                )


def _globals(action: Callable[..., Any], used: set[str]) -> dict[str, Any]:
    return {name: action.__globals__[name] for name in used if name in action.__globals__}


def _drawn(condition: ast.expr) -> tuple[str, str] | None:
    """A parameter, and the model's variable whose member it is, for a condition such as ``request in self.requests``.
    """
    match condition:
        case ast.Compare(
            left=ast.Name(id=name),
            ops=[ast.In()],
            comparators=[ast.Attribute(value=ast.Name(id="self"), attr=container)],
        ):
            return name, container
    return None


def _called(condition: ast.expr) -> set[str]:
    calls = (node.func for node in ast.walk(condition) if isinstance(node, ast.Call))
    return {called.id for called in calls if isinstance(called, ast.Name)}


def _free_names(condition: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(condition) if isinstance(node, ast.Name)} - _bound_names(condition)


def _bound_names(condition: ast.expr) -> set[str]:
    names = (node for node in ast.walk(condition) if isinstance(node, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, ast.Store)}


class _Renamer(ast.NodeTransformer):
    """An expression with other names for some of its variables."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self._names.get(node.id, node.id), node.ctx)
