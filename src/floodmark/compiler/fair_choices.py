"""The values of methods over which fairness of an action is quantified, computed with each step of the action.

The values are those of the step's source state. They are assigned to local variables at the beginning of the action's
body, after its guards and before its first effect. A method that may fail is refused: it would fail where a later
guard, or a condition in the body, disables the step.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from floodmark.compiler.failures import can_fail
from floodmark.compiler.frame import Frame, ModelRef
from floodmark.compiler.ir import Action, Expr, Local, Position, SetLocal, Stmt
from floodmark.compiler.model_compiler import ModelCompiler
from floodmark.compiler.program import read_action
from floodmark.language.errors import ModelError
from floodmark.language.members import kind_of
from floodmark.language.model import Model
from floodmark.language.source import source_of

FIRST_SLOT = 1 << 32
"""Slots of local variables from this number on occur in no action."""


@dataclass(frozen=True, slots=True)
class ChoosingAction:
    """An action whose body begins by assigning the values of its steps, each to a local variable."""

    action: Action
    chosen: tuple[Local, ...]


def read_choices(model: Model, action: str, methods: tuple[str, ...]) -> ChoosingAction:
    """Reads an action together with methods of the model. Raises ModelError for a method without a value for every
    step."""
    function = type(model).methods("action")[action]
    read = read_action(model, action, function)
    compiler = ModelCompiler(model, guarded=False)
    compiler.nodes.next_slot = FIRST_SLOT
    first: list[Stmt] = []
    chosen = []
    for name in methods:
        value = _value(compiler, read, function, name)
        variable = compiler.nodes.fresh(value.type, name, read.at)
        first.append(SetLocal(read.at, variable, value))
        chosen.append(variable)
    return ChoosingAction(replace(read, body=[*first, *read.body]), tuple(chosen))


def _value(compiler: ModelCompiler, action: Action, function: Callable[..., Any], name: str) -> Expr:
    method = getattr(type(compiler.model), name)
    if kind_of(method) not in (None, "rule"):
        raise ModelError(f"but that is decorated as {kind_of(method)}; name a method without a decorator")
    own = [parameter.name for parameter in action.parameters]
    takes = source_of(method).parameters[1:]
    missing = [parameter for parameter in takes if parameter not in own]
    if missing:
        raise ModelError(f"which takes {', '.join(missing)}; it may take the action's {', '.join(own) or 'none'}")
    source = source_of(function)
    frame = Frame(source)
    frame.bindings[source.parameters[0]] = ModelRef("new", writable=False)
    for parameter in action.parameters:
        frame.bind(parameter)
    value = compiler.expression(frame, _call(source.parameters[0], name, takes, action.at))
    if can_fail(value):
        raise ModelError("but that may fail, as an index, a division or an optional value may; it has to be a value "
                         "of every step")  # fmt: skip
    return value


def _call(model: str, name: str, takes: list[str], at: Position) -> ast.Call:
    given = [ast.keyword(parameter, ast.Name(parameter, ast.Load())) for parameter in takes]
    call = ast.Call(ast.Attribute(ast.Name(model, ast.Load()), name, ast.Load()), [], given)
    for node in ast.walk(call):
        node.lineno, node.col_offset = at.line, 0  # type: ignore[attr-defined]
    return ast.fix_missing_locations(call)
