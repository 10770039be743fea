"""Terms about any number of identifiers as terms about so many, without quantifiers.

An identifier becomes a number, a set of identifiers the mask of its members, and a quantifier a conjunction or a
disjunction of its instances. What is in a set, how large it is, which sets are equal and which number an identifier has
are no symbols any more: they mean what they should. So the axioms about these are true, and are left out; those about
other symbols say which values those may have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import z3

from floodmark.checkers.symbolic.any_size.open_identifiers import OpenIdentifiers
from floodmark.checkers.symbolic.translate.transition_system import System
from floodmark.checkers.symbolic.values.types import UnsupportedError

BITS = 3
"""The number of bits of an identifier's number."""


class Finite:
    """The terms of a system whose only identifiers are ``count`` of one kind."""

    def __init__(self, system: System, individuals: OpenIdentifiers, constant: str, count: int) -> None:
        self.count = count
        self.axioms = system.values.axioms
        self.ranges: list[Any] = []
        self._of = individuals
        self._known: dict[int, Any] = {}
        self._alive: list[Any] = []
        self._functions: dict[int, Any] = {}
        self._elements = [z3.Const(f"element {at}", individuals.sort) for at in range(count)]
        self._sets = [z3.Const(f"set {mask}", individuals.sets.sort) for mask in range(1 << count)]
        for at, term in enumerate(self._elements):
            self._keep(term, z3.BitVecVal(at, BITS))
        for mask, term in enumerate(self._sets):
            self._keep(term, z3.BitVecVal(mask, count))
        for number in range(1, count + 1):
            self._keep(individuals.named(number), z3.BitVecVal(number - 1, BITS))
        self._keep(system.values.types.constants[constant], z3.IntVal(count))

    def _keep(self, term: Any, meaning: Any) -> Any:
        self._alive.append(term)
        self._known[term.get_id()] = meaning
        return meaning

    def axioms_about(self, terms: list[Any]) -> list[Any]:
        """The axioms about the symbols of these terms that are not true by themselves."""
        own = {symbol.get_id() for symbol in self._meanings()}
        return [self.term(axiom.term) for axiom in self.axioms.about(terms) if not axiom.heads <= own]

    def _meanings(self) -> dict[Any, Callable[..., Any]]:
        """The symbols that mean what they should, by what they mean."""
        sets = self._of.sets
        found: dict[Any, Callable[..., Any]] = {sets.holds: self._holds}
        if sets._same is not None:
            found[sets._same] = lambda one, other: one == other
        if self._of._size is not None:
            found[self._of._size] = self._size
        if self._of._number is not None:
            found[self._of._number] = lambda one: z3.BV2Int(one) + 1
        named = {one.decl(): lambda: None for one in self._of._named.values()}
        return {**found, **named}

    def _holds(self, members: Any, item: Any) -> Any:
        return z3.Or([z3.And(item == at, z3.Extract(at, at, members) == 1) for at in range(self.count)])

    def _size(self, members: Any) -> Any:
        return z3.Sum([z3.If(z3.Extract(at, at, members) == 1, 1, 0) for at in range(self.count)])

    def term(self, term: Any) -> Any:
        """A term, with its quantifiers as instances."""
        known = self._known.get(term.get_id())
        if known is not None:
            return known
        if z3.is_quantifier(term):
            instances = [self.term(instance) for instance in self._instances(term)]
            return self._keep(term, z3.And(instances) if term.is_forall() else z3.Or(instances))
        parts = [self.term(part) for part in term.children()]
        return self._keep(term, self._applied(term, term.decl(), parts))

    def _instances(self, term: Any) -> Iterator[Any]:
        domains = []
        for at in range(term.num_vars()):
            sort = term.var_sort(at)
            if sort == self._of.sort:
                domains.append(self._elements)
            elif sort == self._of.sets.sort:
                domains.append(self._sets)
            else:
                raise UnsupportedError(f"a quantifier over {sort} has no end")
        for chosen in product(*domains):
            yield z3.substitute_vars(term.body(), *reversed(chosen))

    def _applied(self, term: Any, symbol: Any, parts: list[Any]) -> Any:
        match symbol.kind():
            case z3.Z3_OP_UNINTERPRETED:
                for known, meaning in self._meanings().items():
                    if known.eq(symbol):
                        return meaning(*parts)
                return self._ranged(term.sort(), self._function(symbol)(*parts))
            case z3.Z3_OP_EQ:
                return parts[0] == parts[1]
            case z3.Z3_OP_DISTINCT:
                return z3.Distinct(parts)
            case z3.Z3_OP_ITE:
                return z3.If(*parts)
            case z3.Z3_OP_AND:
                return z3.And(parts)
            case z3.Z3_OP_OR:
                return z3.Or(parts)
        return symbol(*parts)

    def _function(self, symbol: Any) -> Any:
        if symbol.get_id() not in self._functions:
            self._alive.append(symbol)
            sorts = [self._sort(symbol.domain(at)) for at in range(symbol.arity())]
            self._functions[symbol.get_id()] = z3.Function(symbol.name(), *sorts, self._sort(symbol.range()))
        return self._functions[symbol.get_id()]

    def _sort(self, sort: Any) -> Any:
        if sort == self._of.sort:
            return z3.BitVecSort(BITS)
        if sort == self._of.sets.sort:
            return z3.BitVecSort(self.count)
        if sort.kind() == z3.Z3_UNINTERPRETED_SORT:
            raise UnsupportedError(f"{sort} has no form here")
        return sort

    def _ranged(self, sort: Any, term: Any) -> Any:
        """A term whose value is no more than there are identifiers."""
        if sort == self._of.sort:
            self.ranges.append(z3.ULT(term, self.count))
        return term
