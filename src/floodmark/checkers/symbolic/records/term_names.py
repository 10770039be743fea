"""Names of terms in a record of answers, which depend on the query alone.

The symbols of a translation have numbers that change with every line of a model. A record omits them; several symbols
of one name are numbered within the query, in the order of their creation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import z3

from floodmark.checkers.symbolic.tactics.skolem_instances import plain_name
from floodmark.checkers.symbolic.terms.structure import nodes_within

_TURNED = {z3.Z3_OP_EQ, z3.Z3_OP_AND, z3.Z3_OP_OR, z3.Z3_OP_ADD, z3.Z3_OP_DISTINCT}
"""The commutative operators."""


class TermNames:
    """The names of the terms of one query."""

    def __init__(self, question: Iterable[Any]) -> None:
        declared = {}
        for it in nodes_within(question):
            if it.kind == z3.Z3_OP_UNINTERPRETED:
                symbol = it.term.decl()
                declared[symbol.get_id()] = symbol
        self._names: dict[int, str] = {}
        counts: dict[str, int] = {}
        for symbol in sorted(declared.values(), key=lambda it: (_order(it.name()), it.name())):
            plain = plain_name(symbol.name())
            counts[plain] = counts.get(plain, 0) + 1
            self._names[symbol.get_id()] = plain if counts[plain] == 1 else f"{plain}#{counts[plain]}"
        self._alive = list(declared.values())
        self._known: dict[int, tuple[Any, str]] = {}

    def of(self, term: Any) -> str:
        """The name of a term of the query."""
        key = term.get_id()
        if key not in self._known:
            self._known[key] = term, self._of(term)
        return self._known[key][1]

    def _of(self, term: Any) -> str:
        if z3.is_var(term):
            return f"var {z3.get_var_index(term)}"
        if z3.is_quantifier(term):
            word = "forall" if term.is_forall() else "exists"
            return f"({word} {term.num_vars()} {self.of(term.body())})"
        symbol = term.decl()
        if term.num_args() == 0 and symbol.kind() != z3.Z3_OP_UNINTERPRETED:
            return str(term)
        name = self._names.get(symbol.get_id(), str(symbol.name()))
        parts = [self.of(it) for it in term.children()]
        if not parts:
            return name
        return f"{name}({', '.join(sorted(parts) if symbol.kind() in _TURNED else parts)})"


def _order(name: str) -> tuple[list[int], list[int]]:
    """The creation number of a symbol, and that of a witness."""
    before, after = re.findall(r"^(?:\d+:)*", name), re.findall(r"(?:!\d+)*$", name)
    return _numbers(before[0]), _numbers(after[0])


def _numbers(text: str) -> list[int]:
    return [int(it) for it in re.findall(r"\d+", text)]
