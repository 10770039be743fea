"""The axioms of the symbols that a translation introduces, which are part of every query about these symbols.

An axiom is true in every state of every finite size for some choice of the symbols that it introduces, whatever the
other symbols mean: a set that a comprehension describes exists; a nonempty set of numbers has a smallest element.
Therefore a query that is unsatisfiable with such axioms has no finite model without them either. Leaving an axiom out
is always sound, so each query gets only the axioms about its symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import z3
from z3 import z3core

from floodmark.checkers.symbolic.terms.booleans import Truth, as_term
from floodmark.checkers.symbolic.terms.symbols import SymbolFactory


@dataclass(frozen=True, slots=True)
class Axiom:
    """An axiom about some symbols: ``heads`` has the numbers of their declarations."""

    heads: frozenset[int]
    term: Any


class KnownAxioms:
    """Some axioms, with a selection of those that a query needs."""

    def __init__(self, axioms: Iterable[Axiom] = ()) -> None:
        self._axioms = list(axioms)
        self._mentioned: dict[int, frozenset[int]] = {}
        self._declared: dict[int, Any] = {}
        self._alive: list[Any] = []  # z3 reuses the ids of terms that are gone

    def about(self, terms: Iterable[Any]) -> list[Axiom]:
        """The axioms about the symbols of these terms, and about the symbols of those axioms."""
        return _axioms_about(self._axioms, terms, self.symbols_of)

    def symbols_of(self, term: Any) -> frozenset[int]:
        """The uninterpreted symbols of a term."""
        key = term.get_id()
        if key not in self._mentioned:
            self._alive.append(term)
            self._mentioned[key] = frozenset(_symbols_of(term, self._mentioned, self._declared))
        return self._mentioned[key]

    def declared(self, symbol: int) -> Any:
        """The declaration of a symbol that ``symbols_of`` has found."""
        return self._declared[symbol]

    def learn(self, term: Any, symbols: Collection[Any]) -> None:
        """Records the symbols of a term, so that they are not computed again."""
        self._alive.append(term)
        self._declared |= {symbol.get_id(): symbol for symbol in symbols}
        self._mentioned[term.get_id()] = frozenset(symbol.get_id() for symbol in symbols)


class Axioms(KnownAxioms):
    """The axioms of one system, and the variables that are bound by a quantifier later."""

    def __init__(self, symbols: SymbolFactory) -> None:
        super().__init__()
        self.symbols = symbols
        self._bound: dict[int, Any] = {}

    def bind(self, variables: Iterable[Any]) -> None:
        """Records that a quantifier will bind these constants."""
        for variable in variables:
            declaration = variable.decl()
            self._alive += [variable, declaration]
            self._bound[declaration.get_id()] = variable

    def free(self, *terms: Any, besides: Collection[Any] = ()) -> list[Any]:
        """The variables in terms that no quantifier has bound yet, in the order of their creation, ``besides`` some."""
        if not self._bound:  # large terms of a few identifiers have none, and would be searched for them
            return []
        mentioned = frozenset[int]().union(*(self.symbols_of(term) for term in terms))
        found = (variable for key, variable in self._bound.items() if key in mentioned)
        return [variable for variable in found if not any(variable.eq(other) for other in besides)]

    def chosen(self, hint: str, sort: Any, over: list[Any]) -> Any:
        """A symbol for a value that depends on variables not yet bound: a constant when there are none."""
        if not over:
            return self.symbols.fresh(hint, sort)
        return self.symbols.function(hint, [variable.sort() for variable in over], sort)(*over)

    def add(self, heads: Iterable[Any], term: Truth, patterns: Sequence[Any] = ()) -> None:
        """An axiom about the outermost symbols of ``heads``, for all values of variables that are not yet bound.

        ``patterns`` are z3's patterns for E-matching.
        """
        stated = as_term(term)
        over = self.free(stated)
        if over:
            stated = z3.ForAll(over, stated, patterns=list(patterns))
        declarations = [head if isinstance(head, z3.FuncDeclRef) else head.decl() for head in heads]
        self._alive += declarations
        self._axioms.append(Axiom(frozenset(it.get_id() for it in declarations), stated))


def relevant_axioms(axioms: Iterable[Axiom], terms: Iterable[Any]) -> list[Axiom]:
    """The axioms about the symbols of these terms, and about the symbols of those axioms."""
    return _axioms_about(axioms, terms, lambda term: _symbols_of(term, {}, {}))


def _axioms_about(axioms: Iterable[Axiom], terms: Iterable[Any], symbols_of: Callable[[Any], Set[int]]) -> list[Axiom]:
    waiting = list(axioms)
    found: list[Axiom] = []
    mentioned: set[int] = set()
    if not waiting:
        return found
    for term in terms:
        mentioned |= symbols_of(term)
    while True:
        about = [axiom for axiom in waiting if axiom.heads & mentioned]
        if not about:
            return found
        waiting = [axiom for axiom in waiting if not axiom.heads & mentioned]
        found += about
        for axiom in about:
            mentioned |= symbols_of(axiom.term)


def _symbols_of(term: Any, known: Mapping[int, Set[int]], declared: dict[int, Any]) -> set[int]:
    """The uninterpreted symbols of a term, with those of parts that are known; their declarations are kept.

    z3's C functions traverse the subterms: wrapping each of them for Python takes several times as long.
    """
    found: set[int] = set()
    seen: set[int] = set()
    context = term.ctx.ref()
    waiting = [term.as_ast()]
    while waiting:
        part = waiting.pop()
        key = z3core.Z3_get_ast_id(context, part)
        if key in seen:
            continue
        seen.add(key)
        if key in known:
            found |= known[key]
            continue
        kind = z3core.Z3_get_ast_kind(context, part)
        if kind == z3.Z3_QUANTIFIER_AST:
            waiting.append(z3core.Z3_get_quantifier_body(context, part))
        elif kind == z3.Z3_APP_AST:
            symbol = z3core.Z3_get_app_decl(context, part)
            if z3core.Z3_get_decl_kind(context, symbol) == z3.Z3_OP_UNINTERPRETED:
                declaration = z3.FuncDeclRef(symbol, term.ctx)
                declared[declaration.get_id()] = declaration
                found.add(declaration.get_id())
            arguments = range(z3core.Z3_get_app_num_args(context, part))
            waiting += [z3core.Z3_get_app_arg(context, part, index) for index in arguments]
    return found
