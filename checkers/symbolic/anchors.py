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
from collections.abc import Iterable, Sequence
from typing import Any

import z3

from floodmark.checkers.symbolic.terms import subterms
from floodmark.checkers.symbolic.witnesses import Rewritten

MOST_INSTANCES = 64
"""Of one statement; where there would be more, the statement is left out as far as the others."""


def anchored(assumed: Any, question: Sequence[Any], sets: Sequence[Any]) -> Any:
    """Assumptions, of which those about sets that depend on a variable are said only of what a question mentions.

    ``sets`` are the sorts of the sets.
    """
    return _Anchored(list(_mentioned(question)), sets).of(assumed, True)


def _mentioned(question: Iterable[Any]) -> list[Any]:
    """The terms of a question that have no variables within."""
    closed: dict[int, bool] = {}

    def is_closed(term: Any) -> bool:
        key = term.get_id()
        if key not in closed:
            closed[key] = z3.is_app(term) and all(map(is_closed, term.children()))
        return closed[key]

    return [term for term in subterms(question) if is_closed(term)]


class _Anchored(Rewritten):
    """Terms in which variables on which sets depend are what a question mentions."""

    def __init__(self, mentioned: Sequence[Any], sets: Sequence[Any]) -> None:
        super().__init__()
        self._mentioned = mentioned
        self._sets = sets

    def quantified(self, term: Any, affirmed: bool) -> Any:
        if term.is_forall() != affirmed:
            return term
        own = [z3.FreshConst(term.var_sort(at), term.var_name(at)) for at in range(term.num_vars())]
        body = z3.substitute_vars(term.body(), *reversed(own))
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
            return z3.BoolVal(affirmed, term.ctx)
        if len(found) == 1:
            return found[0]
        return z3.And(found) if affirmed else z3.Or(found)

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
            symbols = (it for it in self._mentioned if it.decl().kind() == z3.Z3_OP_UNINTERPRETED)
            return [it for it in symbols if it.sort() == variable.sort()]
        places = {
            (it.decl().get_id(), at)
            for it in subterms([body])
            if z3.is_app(it) and it.decl().kind() == z3.Z3_OP_UNINTERPRETED
            for at, part in enumerate(it.children())
            if part.eq(variable)
        }
        found = {
            part.get_id(): part
            for it in self._mentioned
            for at, part in enumerate(it.children())
            if (it.decl().get_id(), at) in places
        }
        return list(found.values())
