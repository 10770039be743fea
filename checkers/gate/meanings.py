"""Which property a change is in: a hash of each, and whether one has become constant.

These hashes only attribute a difference. What makes the gate red are those of all that is checked (``closure.py``),
which do not depend on names.
"""

from __future__ import annotations

import ast
import copy
import functools
import hashlib
from collections.abc import Callable
from typing import Any

from floodmark.checkers.properties import Property
from floodmark.checkers.reached_functions import reached_functions
from floodmark.compiler.ir import StateVar, walk
from floodmark.compiler.program import read_program
from floodmark.language.errors import SourceError
from floodmark.language.model import Model
from floodmark.language.source import source_of


def meaning(prop: Property, cls: type[Model]) -> str:
    """The hash of a property's text with that of the functions that it calls, without comments and layout."""
    texts = [_text(function) for function in reached_functions(cls, [prop.function])]
    return hashlib.sha256("\n".join([prop.kind, *texts]).encode("utf-8", "backslashreplace")).hexdigest()[:8]


@functools.cache
def _text(function: Callable[..., Any]) -> str:
    source = source_of(function)
    tree = copy.copy(source.tree)
    tree.body = source.body or [ast.Pass()]
    tree.decorator_list = []
    return ast.unparse(tree)


def is_constant(prop: Property, model: Model) -> bool:
    """Whether a property of states or steps reads no variable, so that it says nothing about any state."""
    try:
        (predicate,) = read_program(model, {prop.name: prop.function}).predicates
    except SourceError:
        return False  # a property of runs, or a mistake that the check reports
    return not any(isinstance(node, StateVar) for node in walk(predicate.value))
