"""Why instantiation may not terminate: a cycle of quantifier alternations among sorts.

"For each leader there is a set of voters" yields a set for each leader, and "two majorities have a voter in common" a
voter for any two sets. If each voter may lead, instantiation does not terminate. z3 may still find the few instances
that an argument takes, or it may not. Where no sort depends on itself, instantiation terminates, and z3 decides such
queries.

The graph has an edge from a sort to another where a statement about everything of the first names something of the
second: it exists for each of them, or a function gives it. Sorts in a cycle may have infinitely many instances. A
weaker lemma can remove an edge, and so can a relation in place of a function. IVy requires this stratification; here it
only explains why an obligation stayed open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import networkx
import z3

from floodmark.checkers.project.paths import shown_line
from floodmark.checkers.project.properties import Property
from floodmark.checkers.symbolic.tactics.skolem_instances import plain_name
from floodmark.checkers.symbolic.terms.axioms import KnownAxioms
from floodmark.checkers.symbolic.terms.booleans import as_term
from floodmark.checkers.symbolic.translate.obligations import goals_of, holds_condition
from floodmark.checkers.symbolic.translate.transition_system import System

MAX_CYCLES, MAX_EDGES = 3, 4
"""The maximum number of cycles that are shown, and of lines for each step."""
MAX_CYCLE = 5
"""The length of the longest cycles that are searched for."""


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """An edge of the graph: ``by`` yields an element of one sort for each of the other, ``origin`` is the statement."""

    start: str
    end: str
    by: str
    origin: str


def cycle_lines(system: System, properties: Sequence[Property], action: str, name: str) -> list[str]:
    """The cycles of an obligation of any size, each step with the source lines that cause it; empty if there is
    none."""
    edges = [edge for origin, term in _statements(system, properties, action, name) for edge in edges_of(term, origin)]
    lines = []
    for cycle in cycles(edges):
        lines.append(f"instantiation may not terminate: {' -> '.join([*cycle, cycle[0]])}")
        for start, end in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
            made = sorted({edge for edge in edges if (edge.start, edge.end) == (start, end)})
            lines += [f"  {start} -> {end}: {edge.by}, in {edge.origin}" for edge in made[:MAX_EDGES]]
            lines += [f"  and {len(made) - MAX_EDGES} more"] if len(made) > MAX_EDGES else []
    return lines


def cycles(edges: Iterable[Edge]) -> list[list[str]]:
    """Sorts that depend on each other in a cycle, the shortest cycles first."""
    graph: networkx.DiGraph[str] = networkx.DiGraph()
    graph.add_edges_from(sorted({(edge.start, edge.end) for edge in edges}))
    found = networkx.simple_cycles(graph, length_bound=MAX_CYCLE)
    turned = [[*cycle[(first := cycle.index(min(cycle))) :], *cycle[:first]] for cycle in found]
    return sorted(turned, key=lambda cycle: (len(cycle), cycle))[:MAX_CYCLES]


def _statements(
    system: System, properties: Sequence[Property], action: str, name: str
) -> Iterator[tuple[str, Any]]:
    """The statements of an obligation, each with its source location: assumptions, the action, and axioms about
    both."""
    states = [it for it in properties if it.kind != "transition"]
    statements: list[tuple[str, Any]] = [
        (f"{it.name} ({shown_line(it.file, it.line)})", as_term(holds_condition(system, system.now.state, it)))
        for it in states
    ]
    for fired in system.fired:
        if fired.action.name == action:
            goal = next(goal for each, goal in goals_of(system, properties, fired, fired.enabled) if each == name)
            at = fired.action.at
            statements.append((f"{action} ({shown_line(at.file, at.line)})", as_term(goal)))
    met: set[int] = set()
    for origin, term in statements:
        yield origin, term
        for axiom in system.values.axioms.about([term]):
            if axiom.term.get_id() not in met:
                met.add(axiom.term.get_id())
                yield _source(axiom.term, origin, system.values.axioms), axiom.term


def _source(axiom: Any, origin: str, known: KnownAxioms) -> str:
    """The origin of an axiom: the cardinality laws, or a set that a statement describes."""
    symbols = [plain_name(known.declared(it).name()) for it in known.symbols_of(axiom)]
    size = next((it for it in sorted(symbols) if it.startswith("size of ")), None)
    return origin if size is None or len(symbols) > _LAW else f"a law about the {size}"


_LAW = 5
"""All symbols that a cardinality law may contain."""


def edges_of(statement: Any, origin: str) -> set[Edge]:
    """The edges of a statement that is assumed to be true."""
    walk = _SubtermWalk(origin)
    walk.formula(statement, True, ())
    return walk.edges


@dataclass(frozen=True, slots=True)
class _Variable:
    """A quantified variable: universal, or existential and dependent on the universal ones around it."""

    sort: str
    everything: frozenset[str]


_Scope = tuple[_Variable, ...]
"""The variables by de Bruijn's index."""


class _SubtermWalk:
    """Visits the subterms of a statement."""

    def __init__(self, origin: str) -> None:
        self.edges: set[Edge] = set()
        self._origin = origin
        self._met: set[tuple[int, bool, _Scope]] = set()
        self._free: dict[int, tuple[Any, frozenset[int]]] = {}

    def formula(self, term: Any, affirmed: bool, scope: _Scope) -> None:
        """A subterm of positive or negative polarity."""
        key = term.get_id(), affirmed, scope
        if key in self._met:
            return
        self._met.add(key)
        if z3.is_quantifier(term) and not term.is_lambda():
            self._quantified(term, affirmed, scope)
        elif z3.is_not(term):
            self.formula(term.arg(0), not affirmed, scope)
        elif z3.is_implies(term):
            self.formula(term.arg(0), not affirmed, scope)
            self.formula(term.arg(1), affirmed, scope)
        elif z3.is_and(term) or z3.is_or(term):
            for part in term.children():
                self.formula(part, affirmed, scope)
        elif z3.is_app(term):
            for part in term.children():
                if z3.is_bool(part):  # of an equivalence or a condition: both
                    self.formula(part, True, scope)
                    self.formula(part, False, scope)
                else:
                    self._value(part, scope)

    def _quantified(self, term: Any, affirmed: bool, scope: _Scope) -> None:
        sorts = [_sort(term.var_sort(at)) for at in range(term.num_vars())]
        about = self._everything(term, scope)
        if term.is_forall() == affirmed:
            own = [_Variable(sort, frozenset([sort])) for sort in sorts]
        else:
            own = [_Variable(sort, about) for sort in sorts]
            for at, sort in enumerate(sorts):
                for start in about:
                    self._add(start, sort, f"{plain_name(term.var_name(at))} exists for each")
        self.formula(term.body(), affirmed, (*reversed(own), *scope))

    def _value(self, term: Any, scope: _Scope) -> None:
        """A value: the result of a function depends on its arguments."""
        if not z3.is_app(term):
            return
        symbol = term.decl()
        if symbol.kind() == z3.Z3_OP_UNINTERPRETED:
            for part in term.children():
                if self._everything(part, scope):
                    self._add(_sort(part.sort()), _sort(term.sort()), f"{plain_name(symbol.name())} of each")
        for part in term.children():
            if z3.is_bool(part):
                self.formula(part, True, scope)
                self.formula(part, False, scope)
            else:
                self._value(part, scope)

    def _add(self, start: str, end: str, by: str) -> None:
        self.edges.add(Edge(start, end, by, self._origin))

    def _everything(self, term: Any, scope: _Scope) -> frozenset[str]:
        """The sorts of the universal variables on which a term depends."""
        return frozenset[str]().union(*(scope[at].everything for at in self._free_of(term) if at < len(scope)))

    def _free_of(self, term: Any) -> frozenset[int]:
        """The indices of a term's free variables."""
        key = term.get_id()
        if key not in self._free:
            if z3.is_var(term):
                found = frozenset([z3.get_var_index(term)])
            elif z3.is_quantifier(term):
                inner = self._free_of(term.body())
                found = frozenset(at - term.num_vars() for at in inner if at >= term.num_vars())
            else:
                found = frozenset[int]().union(*map(self._free_of, term.children()))
            self._free[key] = term, found
        return self._free[key][1]


def _sort(sort: Any) -> str:
    return "int" if sort.kind() == z3.Z3_INT_SORT else str(sort.name())
