"""Instantiates assumptions about dependent sets for the terms of a query only.

A lemma may speak of a set for each candidate or leader: "a majority of the voters has moved on without acknowledging
this record to the leader". Any two sets have a member that the other lacks, or one in common, and so on. If each such
member may be a leader with a set of its own, instantiation does not terminate. The argument seldom needs those
instances: it is about the sets of the query's candidates and leaders, and their members are voters.

So where a universal statement mentions a set that depends on a variable, this variable is instantiated with the query's
terms only; the other variables stay quantified. Then finitely many sets occur, and finitely many members of them. This
is sound, because a universal statement implies each of its instances.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import z3

from floodmark.checkers.symbolic.tactics.skolem_instances import QuantifierRewriter
from floodmark.checkers.symbolic.terms.booleans import unbound
from floodmark.checkers.symbolic.terms.structure import closed_subterms, kind_of, nodes_within, parts_of

MAX_INSTANCES = 64
"""The maximum number of instances of one statement; further ones are left out."""


def instantiated(assumed: Any, question: Sequence[Any], sets: Sequence[Any]) -> Any:
    """Assumptions in which variables that sets depend on are instantiated with a query's terms.

    ``sets`` are the sorts of the sets.
    """
    return _Instantiation(assumed, list(closed_subterms(question)), sets).of(assumed, True)


class _Instantiation(QuantifierRewriter):
    """Terms in which variables that sets depend on are instantiated with a query's terms."""

    def __init__(self, assumed: Any, mentioned: Sequence[Any], sets: Sequence[Any]) -> None:
        super().__init__()
        self._mentioned = mentioned
        self._sets = sets
        self._numbered = [*mentioned, *closed_subterms(self._said_of_each(assumed))]

    def _said_of_each(self, assumed: Any) -> Iterator[Any]:
        """Universal assumptions without dependent sets, and the instances of the others."""
        for term in assumed.children() if z3.is_and(assumed) else [assumed]:
            if z3.is_quantifier(term) and term.is_forall() and term.num_vars() == 1:
                (own,), body = unbound(term)
                if not z3.is_int(own) and not self._naming(body, [own]):
                    yield from (z3.substitute(body, (own, it)) for it in self._identifiers(own.sort()))

    def _identifiers(self, sort: Any) -> Iterator[Any]:
        """The identifiers that occur in a query."""
        symbols = (it for it in self._mentioned if kind_of(it) == z3.Z3_OP_UNINTERPRETED)
        return (it for it in symbols if it.sort() == sort)

    def quantified(self, term: Any, affirmed: bool) -> Any:
        if term.is_forall() != affirmed:
            return term
        own, body = unbound(term)
        return _joined([self._of_some(part, own, affirmed) for part in _parts(body, affirmed)], affirmed)

    def _of_some(self, body: Any, own: Sequence[Any], affirmed: bool) -> Any:
        """A universal statement, with those variables instantiated on which a set depends."""
        within = {it.key for it in nodes_within([body])}
        own = [it for it in own if it.get_id() in within]
        named = self._naming(body, own)
        choices = [self._terms_for(body, it) if it.get_id() in named else [it] for it in own]
        kept = [it for it in own if it.get_id() not in named]
        found = []
        for chosen in itertools.islice(itertools.product(*choices), MAX_INSTANCES):
            statement = self.of(z3.substitute(body, *zip(own, chosen, strict=True)), affirmed)
            if kept:
                statement = z3.ForAll(kept, statement) if affirmed else z3.Exists(kept, statement)
            found.append(statement)
        if not found:  # the question mentions nothing for some variable
            return z3.BoolVal(affirmed, body.ctx)
        return _joined(found, affirmed)

    def _naming(self, body: Any, own: Sequence[Any]) -> set[int]:
        """The variables, among some, on which a set within a statement depends."""
        dependent = [it.term for it in nodes_within([body]) if it.kind >= 0 and it.parts and self._is_set(it.term)]
        within = {it.key for it in nodes_within(dependent)}
        return within & {it.get_id() for it in own}

    def _is_set(self, term: Any) -> bool:
        return any(term.sort() == sort for sort in self._sets)

    def _terms_for(self, body: Any, variable: Any) -> list[Any]:
        """The query's terms for a variable: identifiers, or numbers at the variable's positions."""
        if not z3.is_int(variable):
            return list(self._identifiers(variable.sort()))
        places = {
            (it.term.decl().get_id(), at)
            for it in nodes_within([body])
            if it.kind == z3.Z3_OP_UNINTERPRETED
            for at, part in enumerate(it.parts)
            if part.key == variable.get_id()
        }
        found = {
            part.get_id(): part
            for it in self._numbered
            for at, part in enumerate(parts_of(it))
            if (it.decl().get_id(), at) in places
        }
        return list(found.values())


def _joined(parts: Sequence[Any], affirmed: bool) -> Any:
    """The conjunction for positive polarity, or the disjunction for negative."""
    if len(parts) == 1:
        return parts[0]
    return z3.And(*parts) if affirmed else z3.Or(*parts)


def _parts(body: Any, affirmed: bool) -> list[Any]:
    """The conjuncts of a universal statement, each of them universal as well."""
    if z3.is_and(body) if affirmed else z3.is_or(body):
        return [part for child in body.children() for part in _parts(child, affirmed)]
    if z3.is_or(body) if affirmed else z3.is_and(body):
        for at, child in enumerate(body.children()):
            parts = _parts(child, affirmed)
            if len(parts) > 1:
                others = [it for other, it in enumerate(body.children()) if other != at]
                return [_joined([*others, part], not affirmed) for part in parts]
    return [body]
