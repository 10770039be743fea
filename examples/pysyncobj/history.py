"""What can be seen of a cluster from outside: who leads, what is applied, and what clients are told.

``floodmark conform examples/pysyncobj/history.toml --trace RUN`` judges runs that ``record.py`` or
``confirm_over_tcp.py`` wrote.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import (
    Between,
    Capacity,
    Constant,
    Identifier,
    Map,
    Model,
    Seq,
    Set,
    action,
    initial,
    invariant,
    require,
)


class Node(Identifier, count="nodes", prefix="n"):
    """A member of the cluster."""


Write = Annotated[int, Between(1, "max_writes")]
Term = Annotated[int, Between(0, "max_term")]


class History(Model):
    """Members that apply the same writes in the same order, under one leader in each term."""

    nodes = Constant(3)
    max_writes = Constant(200)
    max_term = Constant(100)

    leaders: Map[Term, Node | None]
    order: Annotated[Seq[Write], Capacity("max_writes")]
    """The writes applied anywhere, in order."""
    applied: Map[Node, Annotated[int, Between(0, "max_writes")]]
    """How many of them each member has applied since it started."""
    acknowledged: Set[Write]

    @initial
    def start(self) -> None:
        self.leaders = Map({term: None for term in range(self.max_term + 1)})
        self.order = Seq()
        self.applied = Map({node: 0 for node in Node})
        self.acknowledged = Set()

    @action
    def leads(self, node: Node, term: Term) -> None:
        """Nobody else led this term."""
        require(self.leaders[term] is None or self.leaders[term] == node)
        self.leaders[term] = node

    @action
    def applies(self, node: Node, write: Write) -> None:
        """The next write is the one that others applied at that position, or the first one there."""
        place = self.applied[node]
        require(place < self.max_writes)
        if place < len(self.order):
            require(self.order[place] == write)
        else:
            require(write not in self.order)
            self.order.append(write)
        self.applied[node] = place + 1

    @action
    def acknowledges(self, node: Node, write: Write) -> None:
        """A member tells a client that its write succeeded; it has applied it."""
        require(write in self.order[: self.applied[node]])
        self.acknowledged.add(write)

    @action
    def restarts(self, node: Node) -> None:
        """A member that starts applies its journal from the beginning."""
        self.applied[node] = 0

    @invariant
    def acknowledged_is_in_the_order(self) -> bool:
        """No write that a client was told had succeeded is missing from what members apply."""
        return all(write in self.order for write in self.acknowledged)
