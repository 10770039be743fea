"""Instances of assumptions for the Skolem constants of a query, which often suffice for its answer.

A case of a query has a few constants: the witnesses of the violation, and the arguments of the action. Universal
assumptions have instances for each of these, and existential ones have witnesses, too. z3 finds instances by
E-matching; where no pattern matches the right one, or thousands match, it gives up.

Both steps are sound: a universal statement implies its instances, and an existential statement is equisatisfiable with
one about a fresh constant. So a query that is unsatisfiable after them was unsatisfiable before.
"""

from __future__ import annotations

import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import z3

from floodmark.checkers.symbolic.terms import structure
from floodmark.checkers.symbolic.terms.structure import kind_of, nodes_within, parts_of
from floodmark.checkers.symbolic.terms.symbols import SkolemConstants

View = Literal["everything", "witnesses", "namesakes", "close sets", "set pairs"]
"""The views: assumptions as they are; those about uncounted identifiers only as instances for Skolem constants; and in
addition the instances of all assumptions for those constants that have the variable's name. Counted identifiers need
more instances than the constants, as two majorities intersect in a voter that the query does not mention. The witnesses
of a violation after a step have the names of the property's own variables, and most inductions need the property's
instance for the same witnesses before the step. On paths there are also instances for dependent sets
(``instantiation.py``), and with "set pairs" cardinality laws on demand (``lazy_cardinality.py``).
"""

MAX_INSTANCES = 200
"""The maximum number of instances of one statement."""


def assumptions_in_view(
    view: View, assumed: Any, case: Sequence[Any], uncounted: Sequence[Any], new: SkolemConstants
) -> list[Any]:
    """The assumptions and a case, in this view; ``uncounted`` are the sorts of identifiers whose number no expression
    uses.

    ``new`` makes fresh constants, which must not occur in the case.
    """
    if view == "everything":
        return [assumed, *case]
    known = {term.get_id() for term in _constants([assumed])}
    witnesses = [term for term in _constants(case) if term.get_id() not in known]
    naming = _SkolemisedTerms(new)
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
    found = (it for it in nodes_within(terms) if it.kind == z3.Z3_OP_UNINTERPRETED)
    return [it.term for it in found if not it.parts]


class QuantifierRewriter(ABC):
    """Terms in which quantified statements of definite polarity are replaced."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, bool], tuple[Any, Any]] = {}  # with the term, as z3 reuses the ids of others

    def of(self, term: Any, affirmed: bool) -> Any:
        """A term of positive or negative polarity, with its statements replaced."""
        key = term.get_id(), affirmed
        if key not in self._known:
            self._known[key] = term, self._rewritten(term, affirmed)
        return self._known[key][1]

    def _rewritten(self, term: Any, affirmed: bool) -> Any:
        match kind_of(term):
            case z3.Z3_OP_NOT:
                return z3.Not(self.of(term.arg(0), not affirmed))
            case z3.Z3_OP_IMPLIES:
                return z3.Implies(self.of(term.arg(0), not affirmed), self.of(term.arg(1), affirmed))
            case z3.Z3_OP_AND:
                return z3.And([self.of(part, affirmed) for part in parts_of(term)])
            case z3.Z3_OP_OR:
                return z3.Or([self.of(part, affirmed) for part in parts_of(term)])
            case structure.QUANTIFIER if not term.is_lambda():
                return self.quantified(term, affirmed)
        return term

    @abstractmethod
    def quantified(self, term: Any, affirmed: bool) -> Any: ...


class _SkolemisedTerms(QuantifierRewriter):
    """Terms in which existential variables are Skolem constants, from ``witnesses``."""

    def __init__(self, new: SkolemConstants) -> None:
        super().__init__()
        self._new = new
        self.witnesses: list[Any] = []

    def quantified(self, term: Any, affirmed: bool) -> Any:
        if term.is_exists() != affirmed:
            return term
        own = [self._new.fresh(term.var_sort(at), term.var_name(at)) for at in range(term.num_vars())]
        self.witnesses += own
        return self.of(z3.substitute_vars(term.body(), *reversed(own)), affirmed)


class _Instances(QuantifierRewriter):
    """Terms in which universal variables of the wanted sorts are instantiated with Skolem constants."""

    def __init__(
        self, witnesses: Sequence[Any], new: SkolemConstants, wanted: Callable[[Any], bool], namesakes: bool = False
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
                own = [it for it in own if plain_name(str(it)) == plain_name(name)]
            if not own:
                own = [self._new.fresh(sort, name)]
                kept += own
            choices.append(own)
        found = []
        for chosen in itertools.islice(itertools.product(*choices), MAX_INSTANCES):
            statement = self.of(z3.substitute_vars(term.body(), *reversed(chosen)), affirmed)
            if kept:
                statement = z3.ForAll(kept, statement) if affirmed else z3.Exists(kept, statement)
            found.append(statement)
        if len(found) == 1:
            return found[0]
        return z3.And(found) if affirmed else z3.Or(found)


def plain_name(symbol: str) -> str:
    """The name of a symbol without the number that makes it unique."""
    return re.sub(r"^(\d+:)+|(!\d+)+$", "", symbol)
