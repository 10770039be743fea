"""Canonical copies of terms in a fresh z3 context: node ids depend on structure only.

A context numbers its terms and sorts and the symbols that z3 introduces itself. z3's heuristics, such as the order of
arguments and of instances, depend on these ids. A hard query takes twice the effort or half of it with other ids, so
the earlier work of a process would decide what it can prove. z3's own copies (``translate``) carry over the ids of
sorts and of fresh symbols, and the names that the text of a term gives to its subterms depend on ids, too. A term is
therefore written as text, read in one fresh context, and copied from there to another, where its structure alone
determines the ids.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import z3

from floodmark.checkers.symbolic.terms.axioms import Axiom, KnownAxioms
from floodmark.checkers.symbolic.terms.smt_text import SmtNames, text
from floodmark.checkers.symbolic.terms.structure import forget


class CanonicalCopies:
    """The copies of the terms of one query. ``symbols`` gives their symbols names that are distinct."""

    def __init__(self, symbols: SmtNames) -> None:
        self._symbols = symbols
        self._reading = z3.Context()
        self._context = z3.Context()

    def of(self, terms: Iterable[Any]) -> list[Any]:
        """Copies of statements."""
        plain = [self._symbols.plain(term) for term in terms]
        if hidden := self._symbols.hidden:
            raise AssertionError(f"{hidden} are symbols and variables of quantifiers")
        saying = [term for term in plain if not z3.is_true(term)]  # these alone are read
        script = text(saying, "unknown").replace("\n", " ")  # z3 tells quantifiers of different lines apart
        read = list(z3.parse_smt2_string(script, ctx=self._reading))
        if len(read) != len(saying):
            raise AssertionError(f"of {len(saying)} statements {len(read)} were read")
        copies = iter(z3.And(*read, z3.BoolVal(True, self._reading)).translate(self._context).children())
        return [z3.BoolVal(True, self._context) if z3.is_true(term) else next(copies) for term in plain]

    def with_axioms(self, terms: list[Any], axioms: KnownAxioms) -> tuple[list[Any], KnownAxioms]:
        """Copies of statements, with the axioms about them."""
        needed = axioms.about(terms)
        whole = [*terms, *(axiom.term for axiom in needed)]
        copies = self.of(whole)
        symbols = frozenset[int]().union(*map(axioms.symbols_of, whole))
        own = {symbol: self._declaration(axioms.declared(symbol)) for symbol in symbols}
        known = KnownAxioms(
            Axiom(frozenset(own[head].get_id() for head in axiom.heads if head in own), copy)
            for axiom, copy in zip(needed, copies[len(terms) :], strict=True)
        )
        for term, copy in zip(whole, copies, strict=True):
            known.learn(copy, [own[symbol] for symbol in axioms.symbols_of(term)])
        return copies[: len(terms)], known

    def forget(self) -> None:
        """Forgets the structure of copies."""
        forget(self._context)

    def truth(self, name: str) -> Any:
        """A Boolean constant beside the copies."""
        return z3.Bool(name, self._context)

    def solver(self, logic: str) -> Any:
        """A solver for queries about the copies."""
        return z3.SolverFor(logic, ctx=self._context)

    def sort(self, sort: Any) -> Any:
        """The copy of a sort."""
        return self._read(sort).translate(self._context)

    def _declaration(self, declaration: Any) -> Any:
        """The copy of a symbol of some statement."""
        sorts = [declaration.domain(index) for index in range(declaration.arity())]
        name = self._symbols.name_of(declaration)
        return z3.Function(name, *map(self._read, [*sorts, declaration.range()])).translate(self._context)

    def _read(self, sort: Any) -> Any:
        """A sort of the context in which texts are read."""
        match sort.kind():
            case z3.Z3_BOOL_SORT:
                return z3.BoolSort(self._reading)
            case z3.Z3_INT_SORT:
                return z3.IntSort(self._reading)
            case z3.Z3_BV_SORT:
                return z3.BitVecSort(sort.size(), self._reading)
            case z3.Z3_UNINTERPRETED_SORT:
                return z3.DeclareSort(sort.name(), self._reading)
        raise AssertionError(f"no symbol of a model is of the sort {sort}")
