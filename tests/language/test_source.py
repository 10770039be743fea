"""Tests that the source of a function is what Python takes for it."""

from __future__ import annotations

import ast
import inspect
from types import FunctionType

from floodmark.language.source import _lines_of, _tree, source_of
from model.alter_isr import core as alter_isr
from model.kraft import quorum as kraft

FOUND = [
    function
    for module in (alter_isr, kraft)
    for holder in (module, *(each for each in vars(module).values() if inspect.isclass(each)))
    for function in vars(holder).values()
    if isinstance(function, FunctionType) and function.__module__ == module.__name__
]


def test_the_tree_of_a_function_is_that_of_its_own_lines() -> None:
    """Also its places: it is found in the tree of its whole file."""
    assert len(FOUND) > 100
    for function in FOUND:
        alone = _tree(*_lines_of(function.__code__))
        assert ast.dump(source_of(function).tree, include_attributes=True) == ast.dump(alone, include_attributes=True)
