"""The structure of terms, computed once for each term of a context.

Rewriting a query walks its terms many times, and z3's classes for Python recompute the kind of a term each time, with
an object and checks for each part: that took three quarters of a proof. Here a term of the context of one query has one
node, which lasts until ``forget``. In the main context, which lasts as long as the process, nodes only last as long as
they are used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import z3
from z3 import z3core

QUANTIFIER, VARIABLE = -1, -2
"""The kinds of terms that are not applications."""


class TermNode:
    """A term with its number and its kind: the number of its declaration, or one of the kinds above."""

    __slots__ = ("_nodes", "_parts", "closed", "extent", "key", "kind", "term")

    def __init__(self, nodes: Nodes, term: Any, key: int) -> None:
        self._nodes = nodes
        self._parts: list[TermNode] | None = None
        self.term = term
        self.key = key
        self.kind = _kind(term)
        self.closed: bool | None = None
        self.extent: tuple[int, int] | None = None

    @property
    def parts(self) -> list[TermNode]:
        """The arguments of an application, the body of a quantifier."""
        if self._parts is None:
            if self.kind == QUANTIFIER:
                self._parts = [self._nodes.of(self.term.body())]
            elif self.kind == VARIABLE:
                self._parts = []
            else:
                self._parts = [self._nodes.argument(self.term, at) for at in range(self.term.num_args())]
        return self._parts

    @property
    def is_closed(self) -> bool:
        """Whether a term has neither variables nor quantifiers within."""
        if self.closed is None:
            self.closed = self.kind >= 0 and all(it.is_closed for it in self.parts)
        return self.closed


class Nodes:
    """The nodes of a context's terms. They keep the terms alive, as z3 reuses the ids of freed ones."""

    def __init__(self) -> None:
        self._known: dict[int, TermNode] = {}

    def of(self, term: Any) -> TermNode:
        key = term.get_id()
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = TermNode(self, term, key)
        return known

    def end(self) -> None:
        """Releases all terms."""
        self._known.clear()

    def argument(self, term: Any, at: int) -> TermNode:
        """The node of an argument; a Python object is made only if there is none yet."""
        context = term.ctx.ref()
        known = self._known.get(z3core.Z3_get_ast_id(context, z3core.Z3_get_app_arg(context, term.as_ast(), at)))
        return self.of(term.arg(at)) if known is None else known


def nodes_of(context: Any) -> Nodes:
    if context is z3.main_ctx():
        return Nodes()
    found: Nodes | None = context.__dict__.get("nodes")
    if found is None:
        found = context.nodes = Nodes()
    return found


def forget(context: Any) -> None:
    """Releases the nodes of a context, so that it is freed with the last term that is used."""
    found: Nodes | None = context.__dict__.pop("nodes", None)
    if found is not None:
        found.end()


def node_of(term: Any) -> TermNode:
    return nodes_of(term.ctx).of(term)


def kind_of(term: Any) -> int:
    return node_of(term).kind


def parts_of(term: Any) -> list[Any]:
    """The arguments of a term, in a new list."""
    return [it.term for it in node_of(term).parts]


def _kind(term: Any) -> int:
    context, ast = term.ctx.ref(), term.as_ast()
    match z3core.Z3_get_ast_kind(context, ast):
        case z3.Z3_APP_AST | z3.Z3_NUMERAL_AST:
            return int(z3core.Z3_get_decl_kind(context, z3core.Z3_get_app_decl(context, ast)))
        case z3.Z3_QUANTIFIER_AST:
            return QUANTIFIER
    return VARIABLE


def nodes_within(terms: Iterable[Any]) -> Iterator[TermNode]:
    """All nodes of the terms, with the bodies of quantifiers, each once."""
    waiting = list(terms)
    if not waiting:
        return
    nodes = nodes_of(waiting[0].ctx)
    left = [*map(nodes.of, waiting)]
    met: set[int] = set()
    while left:
        node = left.pop()
        if node.key not in met:
            met.add(node.key)
            yield node
            left += node.parts


def subterms(terms: Iterable[Any]) -> Iterator[Any]:
    """All subterms, with the terms themselves and the bodies of quantifiers, each once."""
    return (node.term for node in nodes_within(terms))


def closed_subterms(terms: Iterable[Any]) -> Iterator[Any]:
    """All closed subterms: those without bound variables."""
    return (node.term for node in nodes_within(terms) if node.is_closed)
