"""Locates a change among properties: a hash of each, and whether it has become constant.

These hashes only attribute a difference. The gate fails by the hashes of everything that is checked (``closure.py``),
which do not depend on names.
"""

from __future__ import annotations

import ast
import copy
import functools
import hashlib
from collections.abc import Callable, Iterable
from typing import Any

from floodmark.checkers.project.properties import Property
from floodmark.checkers.project.reached_functions import Called, reached_functions
from floodmark.compiler.ir import And, Const, Expr, Implies, Inline, Not, Or, Reduce, Return, StateVar, Witness, walk
from floodmark.compiler.program import read_program
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, sized
from floodmark.language.source import source_of
from floodmark.language.widths import FIRST_WIDTHS


def meanings(properties: Iterable[Property], cls: type[Model]) -> dict[str, str]:
    """The hash of each property's text with that of the functions that it calls, without comments and layout."""
    called: Called = {}
    return {prop.name: _meaning(prop, cls, called) for prop in properties}


def property_text(prop: Property, cls: type[Model]) -> list[str]:
    """The text of a property and of the functions that it calls, and the plain values of what they name."""
    functions = list(reached_functions(cls, prop.functions, {}))
    values = {
        f"{name} = {function.__globals__[name]!r}"
        for function in functions
        for name in function.__code__.co_names
        if isinstance(function.__globals__.get(name), bool | int | str | tuple | frozenset)
    }
    return [*(function_text(function) for function in functions), *sorted(values)]


def _meaning(prop: Property, cls: type[Model], called: Called) -> str:
    texts = [function_text(function) for function in reached_functions(cls, prop.functions, called)]
    return hashlib.sha256("\n".join([prop.kind, *texts]).encode("utf-8", "backslashreplace")).hexdigest()[:8]


@functools.cache
def function_text(function: Callable[..., Any]) -> str:
    """The text of a function without comments, layout and docstring."""
    source = source_of(function)
    tree = copy.copy(source.tree)
    tree.body = source.body or [ast.Pass()]
    tree.decorator_list = []
    return ast.unparse(tree)


def is_constant(prop: Property, model: Model) -> bool:
    """Whether a property of states or steps is constant: it reads no variable, or its value does not depend on those
    that it reads."""
    try:
        (predicate,) = read_program(sized(model, FIRST_WIDTHS), {prop.name: prop.function}).predicates
    except SourceError:
        return False  # a property of runs, or a mistake that the check reports
    value = predicate.value
    return _settled(value) is not None or not any(isinstance(node, StateVar) for node in walk(value))


def _settled(node: Expr) -> bool | None:
    """The value of a condition if its syntax alone determines it."""
    match node:
        case Const(value=bool(value)):
            return value
        case Witness(operand=inner) | Inline(body=[Return(value=Expr() as inner)]):
            return _settled(inner)
        case Not(operand=inner):
            settled = _settled(inner)
            return None if settled is None else not settled
        case And(operands=operands):
            return _any_settles(operands, False)
        case Or(operands=operands):
            return _any_settles(operands, True)
        case Implies(premise=premise, conclusion=conclusion):
            return True if _settled(premise) is False else _settled(conclusion) or None
        case Reduce(kind="all", body=body):
            return _settled(body) or None
    return None


def _any_settles(operands: Iterable[Expr], by: bool) -> bool | None:
    settled = [_settled(operand) for operand in operands]
    return by if by in settled else None if None in settled else not by
