"""Statements about all values of a variable, or about some."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import z3

from floodmark.checkers.symbolic.terms.axioms import Axioms
from floodmark.checkers.symbolic.terms.booleans import Truth, conj, disj
from floodmark.checkers.symbolic.values.components import symbols_in
from floodmark.checkers.symbolic.values.types import Value


@dataclass(frozen=True, slots=True)
class Quantifiers:
    """Binds variables."""

    axioms: Axioms

    def of_every(self, item: Value, truth: Truth) -> Truth:
        """A statement about a variable, made for all its values."""
        return conj(self._bound(part, item, z3.ForAll) for part in _parts(truth, z3.is_and))

    def of_some(self, item: Value, truth: Truth) -> Truth:
        """A statement about a variable, made for at least one of its values."""
        return disj(self._bound(part, item, z3.Exists) for part in _parts(truth, z3.is_or))

    def _bound(self, truth: Truth, item: Value, quantifier: Callable[[list[Any], Any], Any]) -> Truth:
        """A statement with the variables of an item bound, as far as they occur in it.

        Each conjunct under ``all``, and each disjunct under ``any``, has a quantifier of its own: z3 finds more
        instances that way, since the patterns may be in another part.
        """
        if isinstance(truth, bool):
            return truth
        mentioned = self.axioms.symbols_of(truth)
        variables = [it for it in symbols_in(item) if it.decl().get_id() in mentioned]
        if not variables:
            return truth
        forall = quantifier is z3.ForAll
        if z3.is_quantifier(truth) and truth.is_forall() == forall and not truth.is_lambda():
            fresh = self.axioms.symbols.fresh
            inner = [fresh(truth.var_name(at), truth.var_sort(at)) for at in range(truth.num_vars())]
            return quantifier([*variables, *inner], z3.substitute_vars(truth.body(), *reversed(inner)))
        return quantifier(variables, truth)


def _parts(truth: Truth, joined: Callable[[Any], bool]) -> list[Truth]:
    if isinstance(truth, bool) or not joined(truth):
        return [truth]
    return [part for child in truth.children() for part in _parts(child, joined)]
