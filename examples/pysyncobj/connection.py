"""A TCP connection as PySyncObj sees it: made, lost while being made, or lost later."""

from __future__ import annotations

from enum import Enum

from floodmark import Model, action, initial, invariant, require, rule


class Status(Enum):
    """The state that the library believes the connection is in."""

    DISCONNECTED = "disconnected"
    CONNECTING = "connecting"
    CONNECTED = "connected"


class Connection(Model):
    """One end, which connects and sends its address as soon as it can."""

    status: Status
    has_socket: bool

    @initial
    def start(self) -> None:
        self.status = Status.DISCONNECTED
        self.has_socket = False

    @action
    def connects(self) -> None:
        require(self.status == Status.DISCONNECTED)
        self.status = Status.CONNECTING
        self.has_socket = True

    @action
    def becomes_writable(self, peer_is_gone: bool) -> None:
        """The connection is made, and the address is sent; this fails if the other end has already gone again."""
        require(self.status == Status.CONNECTING)
        self.status = Status.CONNECTED
        if peer_is_gone:
            self.drops()

    @action
    def sends(self, peer_is_gone: bool) -> None:
        require(self.status == Status.CONNECTED and self.has_socket)
        if peer_is_gone:
            self.drops()

    @rule
    def drops(self) -> None:
        self.has_socket = False
        self.status = Status.DISCONNECTED

    @invariant
    def connected_has_a_socket(self) -> bool:
        return self.status == Status.DISCONNECTED or self.has_socket
