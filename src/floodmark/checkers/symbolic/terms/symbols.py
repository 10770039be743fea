"""The free symbols of z3 terms: each has a number, so that equal names never merge two."""

from __future__ import annotations

import itertools
from typing import Any

import z3

WITNESS = "!"
"""The separator before the number of a witness, which occurs nowhere else in the name of a symbol."""


class SymbolFactory:
    """Creates symbols. The hint is for people who read a formula; the number before it makes the symbol unique."""

    def __init__(self) -> None:
        self._numbers = itertools.count()

    def fresh(self, hint: str, sort: Any) -> Any:
        """A constant of a sort."""
        return z3.Const(self._name(hint), sort)

    def truth(self, hint: str) -> Any:
        """A Boolean constant."""
        return z3.Bool(self._name(hint))

    def copy(self, term: Any, hint: str) -> Any:
        """A constant of the sort of another."""
        return self.fresh(hint, term.sort())

    def relation(self, hint: str, sorts: list[Any]) -> Any:
        """A function from values of these sorts to a truth value."""
        return self.function(hint, sorts, z3.BoolSort())

    def function(self, hint: str, sorts: list[Any], result: Any) -> Any:
        """A function from values of these sorts to one of another."""
        return z3.Function(self._name(hint), *sorts, result)

    def _name(self, hint: str) -> str:
        return f"{next(self._numbers)}:{hint.replace(WITNESS, '~')}"  # a hint may be a condition with !=


class SkolemConstants:
    """Creates Skolem constants. Their names are distinct from each other and from every symbol of a model.

    z3 numbers its own fresh constants by the history of the context; their names, and with them the effort, would vary.
    """

    def __init__(self) -> None:
        self._numbers = itertools.count()

    def fresh(self, sort: Any, hint: str) -> Any:
        return z3.Const(f"{hint}{WITNESS}{next(self._numbers)}", sort)
