"""Dijkstra, Feijen and van Gasteren, EWD 840: a token finds out whether a computation on a ring has terminated."""

from typing import Annotated

from floodmark import (
    Between,
    Constant,
    Model,
    Set,
    action,
    fair,
    implies,
    initial,
    invariant,
    leads_to,
    reachable,
    require,
)

Node = Annotated[int, Between(0, "last")]


class Termination(Model):
    """Nodes activate each other by messages; a token goes round against the order of their numbers."""

    last = Constant(2)
    active: Set[Node]
    black: Set[Node]
    token: Node
    token_is_black: bool

    @initial
    def start(self, active: Set[Node], black: Set[Node], token: Node) -> None:
        self.active = active
        self.black = black
        self.token = token
        self.token_is_black = True

    @action
    @fair
    def token_moves(self) -> None:
        """Node 0 starts a probe unless the last one was conclusive; another node passes the token on."""
        if self.token == 0:
            require(self.token_is_black or 0 in self.black)
            self.token = self.last
            self.token_is_black = False
            self.black.discard(0)
        else:
            require(self.token not in self.active or self.token in self.black or self.token_is_black)
            self.token_is_black = self.token_is_black or self.token in self.black
            self.black.discard(self.token)
            self.token -= 1

    @action
    def node_sends(self, sender: Node, receiver: Node) -> None:
        """A message activates its receiver; one against the token's direction blackens its sender."""
        require(sender in self.active)
        require(receiver != sender)
        self.active.add(receiver)
        if receiver > sender:
            self.black.add(sender)

    @action
    def node_finishes(self, node: Node) -> None:
        require(node in self.active)
        self.active.remove(node)

    def detected(self) -> bool:
        return self.token == 0 and not self.token_is_black and 0 not in self.black and 0 not in self.active

    @invariant
    def detection_is_right(self) -> bool:
        """When termination is detected, every node is passive."""
        return implies(self.detected(), not self.active)

    @reachable
    def termination_can_be_detected(self) -> bool:
        return self.detected()

    @leads_to
    def termination_is_detected(self) -> tuple[bool, bool]:
        return not self.active, self.detected()
