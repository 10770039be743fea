"""The predicates of liveness properties as expression graphs: parameters become constants, and one half of a pair is
kept."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from typing import Any

from floodmark.compiler.frame import Frame, ModelRef, must_not_assign
from floodmark.compiler.ir import BOOL, Inline, Position, Predicate
from floodmark.compiler.model_compiler import ModelCompiler
from floodmark.language.conditions import Condition
from floodmark.language.errors import ModelError
from floodmark.language.model import Model
from floodmark.language.source import Source, source_of


def read_condition(model: Model, condition: Condition) -> Predicate:
    """Reads the source of a condition. Raises ModelError, with file and line, for a construct outside the language."""
    source = source_of(condition.function)
    at = Position(source.file, source.tree.lineno)
    read = read_value(model, source if condition.part is None else _half(source, condition.part), condition.arguments)
    if read is None or read.type != BOOL:
        wanted = "a bool" if condition.part is None else "a pair of bools: return premise, goal"
        raise ModelError(f"{source.tree.name} has to return {wanted}, on every path", at.file, at.line)
    return Predicate(condition.name, "boundary", read, at)


def read_value(model: Model, source: Source, arguments: Mapping[str, Any]) -> Inline | None:
    """Reads a function of the model with its other parameters chosen; None if it does not return a value on every path.

    Raises ModelError, with file and line, for a construct outside the language.
    """
    at = Position(source.file, source.tree.lineno)
    given = source.tree.args
    if not given.args or given.posonlyargs or given.kwonlyargs or given.vararg or given.kwarg or given.defaults:
        message = f"{source.tree.name} takes the model and the parameters that it holds for each choice of"
        raise ModelError(message, at.file, at.line)
    must_not_assign(source, source.parameters[:1], "the model")
    must_not_assign(source, source.parameters[1:], "a parameter of the property")
    compiler = ModelCompiler(model, guarded=False)
    compiler.may_ask_actions = not any(constant.bound for constant in type(model).constants().values())
    constants = {name: compiler.nodes.constant(value, at) for name, value in arguments.items()}

    def bind(frame: Frame) -> None:
        frame.bindings[source.parameters[0]] = ModelRef("new", writable=False)
        for name, constant in constants.items():
            if constant is None:
                message = f"the parameter {name} has to be an identifier, an enum, a bool or an integer"
                raise ModelError(message, at.file, at.line)
            frame.bindings[name] = constant
            frame.definite.add(name)

    frame, body, goes_on = compiler.function_body(source, bind)
    if frame.result is None or goes_on:
        return None
    return Inline(frame.result.type, at, body, frame.result)


def _half(source: Source, part: int) -> Source:
    """A function that returns one element of the pair that ``source`` returns."""
    tree = copy.deepcopy(source.tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Return):
            if not isinstance(node.value, ast.Tuple) or len(node.value.elts) != 2:
                message = f"{tree.name} has to return a pair: return premise, goal"
                raise ModelError(message, source.file, node.lineno)
            node.value = node.value.elts[part]
    return Source(source.function, tree, source.file)
