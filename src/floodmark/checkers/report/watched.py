"""Expressions whose value a person wants to see in each state of a trace.

An expression may come from a link to the explorer or from an assistant, so it must be unable to do anything but read
the state. A list says what is accepted: the operators and comprehensions below, numbers, some builtins, and names of
the model: its variables, constants and methods, its identifiers (``b1``), the records, enums and functions of its
files. An attribute has to be a field, a member or a method of one of these. Strings are excluded, since none of the
language's values is one, and ``str.format`` reaches attributes. CPython evaluates the expression on a copy of the
model.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from types import CodeType, FunctionType
from typing import Any

from floodmark.checkers.value_text import show
from floodmark.compiler.renaming import identifiers_in
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.values import Bag, Identifier, Map, Record, Seq, Set, implies, running

MAX_LENGTH = 1000
"""The maximum length of an expression, in characters."""
_NODES = (
    ast.Expression, ast.expr_context, ast.boolop, ast.unaryop, ast.cmpop, ast.Add, ast.Sub, ast.Mult, ast.Mod,
    ast.FloorDiv, ast.BitAnd, ast.BitOr, ast.BitXor, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Compare,
    ast.Call, ast.keyword, ast.Attribute, ast.Name, ast.Constant, ast.Subscript, ast.Slice, ast.Tuple, ast.List,
    ast.Set, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.comprehension,
)  # fmt: skip
_BUILTINS = {
    each.__name__: each
    for each in (abs, all, any, bool, enumerate, frozenset, len, list, max, min, range, reversed, set, sorted, sum,
                 tuple, zip)
}  # fmt: skip
_VALUES = {"Bag": Bag, "Map": Map, "Seq": Seq, "Set": Set, "implies": implies}


@dataclass(frozen=True)
class WatchExpression:
    """An expression about the states of a model. Raises SourceError if the expression is not accepted."""

    model: Model
    text: str

    def __post_init__(self) -> None:
        _ = self._code

    @cached_property
    def _code(self) -> CodeType:
        if len(self.text) > MAX_LENGTH:
            raise SourceError(f"an expression has at most {MAX_LENGTH} characters")
        try:
            tree = ast.parse(self.text.strip(), mode="eval")
        except (SyntaxError, ValueError, RecursionError):
            raise SourceError(f"{self.text!r} is no expression") from None
        _require_accepted(tree, self._names, _attributes(self.model))
        return compile(tree, "<watched>", "eval")

    @cached_property
    def _names(self) -> dict[str, Any]:
        return names_of(self.model)

    def value(self, state: State) -> str:
        """The value in a state, as text; if it has none, the reason."""
        model = self.model.at(state)
        held = dict(zip(model.variable_types, state, strict=True))
        with running(model):
            try:
                return show(eval(self._code, {**self._names, **held, "self": model, "model": model}))
            except Exception as error:
                return f"no value ({type(error).__name__}: {error})"


def names_of(model: Model) -> dict[str, Any]:
    """The names in an expression, with their values; variables have none yet."""
    bases = [base for base in type(model).__mro__ if issubclass(base, Model) and base is not Model]
    modules = [sys.modules[base.__module__] for base in bases]
    found: dict[str, Any] = {"__builtins__": {}, **_BUILTINS, **_VALUES}
    own = {module.__name__ for module in modules}
    for module in reversed(modules):
        for name, value in vars(module).items():
            is_class = isinstance(value, type) and issubclass(value, (Identifier, Record, Enum))
            if is_class or (isinstance(value, FunctionType) and value.__module__ in own):
                found[name] = value
    found |= {repr(each): each for each in participants_of(model)}
    found |= model.constant_values
    return {**found, **dict.fromkeys(model.variable_types), "self": model, "model": model}


def participants_of(model: Model) -> list[Identifier]:
    """The identifiers that the variables of a model can hold."""
    kinds = [found.cls for kind in model.variable_types.values() for found in identifiers_in(kind)]
    with running(model):
        return [each for cls in dict.fromkeys(kinds) for each in cls]


def _attributes(model: Model) -> set[str]:
    """The attributes that an expression can have."""
    found = {name for name in dir(type(model)) if not hasattr(Model, name)} | set(model.variable_types)
    found |= set(model.constant_values)
    for value in names_of(model).values():
        if isinstance(value, type) and issubclass(value, Record):
            found |= set(getattr(value, "__annotations__", ())) | set(vars(value))
        elif isinstance(value, type) and issubclass(value, Enum):
            found |= set(value.__members__)
    found |= {name for cls in (Bag, Map, Seq, Set) for name in dir(cls)} | {"number", "name"}
    return {name for name in found if not name.startswith("_")}


def _require_accepted(tree: ast.Expression, names: dict[str, Any], attributes: set[str]) -> None:
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=bool() | int() | None):
                pass
            case ast.Constant():
                raise SourceError("a watched expression has no constants but numbers, True, False and None")
            case ast.Name(id=name) if name not in bound and (name not in names or name.startswith("_")):
                raise SourceError(f"{name} is no name of the model, and an expression can use no other")
            case ast.Attribute(attr=name) if name not in attributes:
                raise SourceError(f"{name} is no field, variable or method that an expression can use")
            case ast.Call(func=ast.Name(id=name)) if name in bound:
                raise SourceError(f"{name} is a variable of the expression, which cannot be called")
            case ast.Call(func=func) if not isinstance(func, (ast.Name, ast.Attribute)):
                raise SourceError("an expression calls functions and methods by their names")
            case _ if not isinstance(node, _NODES):
                raise SourceError(f"{type(node).__name__} is not accepted in a watched expression")
