"""What assumptions say of the witnesses of a question, which is often all that its answer needs.

A case of a question is about a few constants: what breaks a property, what an action was called with. Assumptions about
everything say something of each of these, and those that say that something exists have witnesses too. z3 looks for
such instances where terms suggest them, and where nothing suggests the right one, or thousands are suggested, it gives
up.

Both steps only leave something out: what is true of everything is true of each witness, and where something exists, a
constant that occurs nowhere else may stand for it. So a question without a model after them has none before.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import z3

from floodmark.checkers.symbolic.symbols import Witnesses
from floodmark.checkers.symbolic.terms import subterms

View = Literal["everything", "witnesses", "namesakes", "close sets", "set pairs"]
"""Assumptions as they are; those about identifiers that nobody counts only as said of witnesses; and in addition what
all of them say of those witnesses that have the name of the variable. Identifiers that are counted have to be looked at
beyond the witnesses, as two majorities meet in one that the question does not mention. What breaks a property after a
step has the names of the property's own variables, and what the property says of the same witnesses before the step is
where most inductions begin. On paths, also assumptions about the sets of what the question mentions (``anchors.py``),
and with "set pairs" only what the laws of sizes say of those sets that need it (``set_pairs.py``).
"""

MOST_INSTANCES = 200
"""Of one statement."""


def seen(view: View, assumed: Any, case: Sequence[Any], uncounted: Sequence[Any], new: Witnesses) -> list[Any]:
    """What is assumed and a case, in this view; ``uncounted`` are the sorts of identifiers that nobody counts.

    ``new`` makes constants, which must be others than those of the case.
    """
    if view == "everything":
        return [assumed, *case]
    known = {term.get_id() for term in _constants([assumed])}
    witnesses = [term for term in _constants(case) if term.get_id() not in known]
    naming = _Named(new)
    stated = [naming.of(assumed, True), *case]
    witnesses += naming.witnesses
    looked_at = _Instances(witnesses, new, lambda sort: any(sort == other for other in uncounted))
    found = [looked_at.of(term, True) for term in stated]
    if view == "namesakes":
        named = _Instances(witnesses, new, lambda _: True, namesakes=True)
        found += [named.of(term, True) for term in found]
    return found


def _constants(terms: Iterable[Any]) -> list[Any]:
    """The constants in terms, each once."""
    return [it for it in subterms(terms) if z3.is_const(it) and it.decl().kind() == z3.Z3_OP_UNINTERPRETED]


class Rewritten:
    """Terms in which statements with quantifiers are replaced, where a connective does not hide if they are denied."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, bool], tuple[Any, Any]] = {}  # with the term, as z3 reuses the ids of others

    def of(self, term: Any, affirmed: bool) -> Any:
        """A term that is affirmed, or denied, with its statements replaced."""
        key = term.get_id(), affirmed
        if key not in self._known:
            self._known[key] = term, self._rewritten(term, affirmed)
        return self._known[key][1]

    def _rewritten(self, term: Any, affirmed: bool) -> Any:
        if z3.is_not(term):
            return z3.Not(self.of(term.arg(0), not affirmed))
        if z3.is_implies(term):
            return z3.Implies(self.of(term.arg(0), not affirmed), self.of(term.arg(1), affirmed))
        if z3.is_and(term) or z3.is_or(term):
            parts = [self.of(part, affirmed) for part in term.children()]
            return z3.And(parts) if z3.is_and(term) else z3.Or(parts)
        if z3.is_quantifier(term) and not term.is_lambda():
            return self.quantified(term, affirmed)
        return term

    def quantified(self, term: Any, affirmed: bool) -> Any:
        raise NotImplementedError


class _Named(Rewritten):
    """Terms in which a statement that something exists is one about a constant, of ``witnesses``."""

    def __init__(self, new: Witnesses) -> None:
        super().__init__()
        self._new = new
        self.witnesses: list[Any] = []

    def quantified(self, term: Any, affirmed: bool) -> Any:
        if term.is_exists() != affirmed:
            return term
        own = [self._new.fresh(term.var_sort(at), term.var_name(at)) for at in range(term.num_vars())]
        self.witnesses += own
        return self.of(z3.substitute_vars(term.body(), *reversed(own)), affirmed)


class _Instances(Rewritten):
    """Terms in which a statement about everything is one about witnesses, for variables of sorts that are wanted."""

    def __init__(
        self, witnesses: Sequence[Any], new: Witnesses, wanted: Callable[[Any], bool], namesakes: bool = False
    ) -> None:
        super().__init__()
        self._new = new
        self._namesakes = namesakes
        self._witnesses = witnesses
        self._wanted = wanted

    def quantified(self, term: Any, affirmed: bool) -> Any:
        if term.is_forall() != affirmed:
            return term
        choices, kept = [], []
        for at in range(term.num_vars()):
            sort, name = term.var_sort(at), term.var_name(at)
            own = [it for it in self._witnesses if it.sort() == sort] if self._wanted(sort) else []
            if self._namesakes:
                own = [it for it in own if _name(str(it)) == _name(name)]
            if not own:
                own = [self._new.fresh(sort, name)]
                kept += own
            choices.append(own)
        found = []
        for chosen in itertools.islice(itertools.product(*choices), MOST_INSTANCES):
            said = self.of(z3.substitute_vars(term.body(), *reversed(chosen)), affirmed)
            if kept:
                said = z3.ForAll(kept, said) if affirmed else z3.Exists(kept, said)
            found.append(said)
        if len(found) == 1:
            return found[0]
        return z3.And(found) if affirmed else z3.Or(found)


def _name(symbol: str) -> str:
    """What a symbol was called before numbers made it unique."""
    return re.sub(r"^(\d+:)+|(!\d+)+$", "", symbol)
