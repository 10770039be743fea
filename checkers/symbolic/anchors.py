"""What assumptions say of the sets that belong to what a question mentions, and of no others.

A lemma may speak of a set for each candidate or leader: "a majority of the voters has moved on without acknowledging
this record to the leader". Of any two sets it is known that one has a member that the other has not, or that they have
one in common, and so on. If each such member may be a leader with a set of its own, instances do not end. The argument
seldom needs those: it is about the sets of the candidates and leaders that the question is about, and their members are
voters.

So where a statement about everything speaks of a set that depends on a variable, it is only said of what the question
mentions for this variable; for its other variables it is said of everything, as before. Then finitely many sets are
mentioned, and finitely many members of them. This only leaves something out: what is true of everything is true of each
thing that is mentioned.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import z3

from floodmark.checkers.symbolic.terms import closed_subterms, subterms, unbound
from floodmark.checkers.symbolic.witnesses import Rewritten

MOST_INSTANCES = 64
"""Of one statement; where there would be more, the statement is left out as far as the others."""


def anchored(assumed: Any, question: Sequence[Any], sets: Sequence[Any]) -> Any:
    """Assumptions, of which those about sets that depend on a variable are said only of what a question mentions.

    ``sets`` are the sorts of the sets.
    """
    return _Anchored(assumed, list(closed_subterms(question)), sets).of(assumed, True)


class _Anchored(Rewritten):
    """Terms in which variables on which sets depend are what a question mentions."""

    def __init__(self, assumed: Any, mentioned: Sequence[Any], sets: Sequence[Any]) -> None:
        super().__init__()
        self._mentioned = mentioned
        self._sets = sets
        self._numbered = [*mentioned, *closed_subterms(self._said_of_each(assumed))]

    def _said_of_each(self, assumed: Any) -> Iterator[Any]:
        """What is assumed of everything, and not of sets that belong to it, said of what the question mentions."""
        for term in assumed.children() if z3.is_and(assumed) else [assumed]:
            if z3.is_quantifier(term) and term.is_forall() and term.num_vars() == 1:
                (own,), body = unbound(term)
                if not z3.is_int(own) and not self._naming(body, [own]):
                    yield from (z3.substitute(body, (own, it)) for it in self._identifiers(own.sort()))

    def _identifiers(self, sort: Any) -> Iterator[Any]:
        """The identifiers that a question mentions."""
        symbols = (it for it in self._mentioned if it.decl().kind() == z3.Z3_OP_UNINTERPRETED)
        return (it for it in symbols if it.sort() == sort)

    def quantified(self, term: Any, affirmed: bool) -> Any:
        if term.is_forall() != affirmed:
            return term
        own, body = unbound(term)
        return _joined([self._of_some(part, own, affirmed) for part in _parts(body, affirmed)], affirmed)

    def _of_some(self, body: Any, own: Sequence[Any], affirmed: bool) -> Any:
        """What is said of everything that some variables stand for, said of less if a set belongs to it."""
        own = [it for it in own if any(it.eq(part) for part in subterms([body]))]
        named = self._naming(body, own)
        choices = [self._anchors(body, it) if it.get_id() in named else [it] for it in own]
        kept = [it for it in own if it.get_id() not in named]
        found = []
        for chosen in itertools.islice(itertools.product(*choices), MOST_INSTANCES):
            said = self.of(z3.substitute(body, *zip(own, chosen, strict=True)), affirmed)
            if kept:
                said = z3.ForAll(kept, said) if affirmed else z3.Exists(kept, said)
            found.append(said)
        if not found:  # the question mentions nothing for some variable
            return z3.BoolVal(affirmed, body.ctx)
        return _joined(found, affirmed)

    def _naming(self, body: Any, own: Sequence[Any]) -> set[int]:
        """Those of some variables on which a set within a statement depends."""
        dependent = [it for it in subterms([body]) if z3.is_app(it) and it.num_args() and self._is_set(it)]
        within = {it.get_id() for it in subterms(dependent)}
        return within & {it.get_id() for it in own}

    def _is_set(self, term: Any) -> bool:
        return any(term.sort() == sort for sort in self._sets)

    def _anchors(self, body: Any, variable: Any) -> list[Any]:
        """What a question mentions for a variable: an identifier, or a number where the variable stands."""
        if not z3.is_int(variable):
            return list(self._identifiers(variable.sort()))
        places = {
            (it.decl().get_id(), at)
            for it in subterms([body])
            if z3.is_app(it) and it.decl().kind() == z3.Z3_OP_UNINTERPRETED
            for at, part in enumerate(it.children())
            if part.eq(variable)
        }
        found = {
            part.get_id(): part
            for it in self._numbered
            for at, part in enumerate(it.children())
            if (it.decl().get_id(), at) in places
        }
        return list(found.values())


def _joined(parts: Sequence[Any], affirmed: bool) -> Any:
    """All of what is affirmed, or one of what is denied."""
    if len(parts) == 1:
        return parts[0]
    return z3.And(*parts) if affirmed else z3.Or(*parts)


def _parts(body: Any, affirmed: bool) -> list[Any]:
    """What is said of everything, in parts, each of which is said of everything as well."""
    if z3.is_and(body) if affirmed else z3.is_or(body):
        return [part for child in body.children() for part in _parts(child, affirmed)]
    if z3.is_or(body) if affirmed else z3.is_and(body):
        for at, child in enumerate(body.children()):
            parts = _parts(child, affirmed)
            if len(parts) > 1:
                others = [it for other, it in enumerate(body.children()) if other != at]
                return [_joined([*others, part], not affirmed) for part in parts]
    return [body]
