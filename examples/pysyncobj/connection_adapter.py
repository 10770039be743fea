"""A real ``TcpConnection`` of PySyncObj, on a socket that fails on demand."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from typing import Any, ClassVar

from library import library

from floodmark.conformance import Adapter, observable

WRITE = 2
"""The poller's event for a socket that can be written to."""
STATES = ("DISCONNECTED", "CONNECTING", "CONNECTED")
ADDRESS = "127.0.0.1"


class FakeSocket:
    """Accepts what is sent, or reports that the other end is gone."""

    def __init__(self, *_: Any) -> None:
        self.peer_is_gone = False

    def send(self, data: bytes) -> int:
        if self.peer_is_gone:
            raise OSError(errno.EPIPE, "the other end is gone")
        return len(data)

    def fileno(self) -> int:
        return 3

    def getsockopt(self, *_: Any) -> int:
        return 0

    def _nothing(self, *_: Any) -> None:
        pass

    setsockopt = setblocking = connect = close = _nothing


class FakeModule:
    """Replaces the module ``socket``."""

    socket = FakeSocket

    def __getattr__(self, name: str) -> Any:
        return getattr(socket, name)


class FakePoller:
    """Stores the callbacks."""

    def __init__(self) -> None:
        self.callbacks: dict[int, Callable[[int, int], None]] = {}

    def subscribe(self, number: int, callback: Callable[[int, int], None], events: int) -> None:
        self.callbacks[number] = callback

    def unsubscribe(self, number: int) -> None:
        self.callbacks.pop(number, None)


class ConnectionAdapter(Adapter):
    """A connection whose owner sends its address once it is made, as the library's transport does."""

    folder: ClassVar[str | None] = None

    def __init__(self, start: Any) -> None:
        module = library(self.folder).tcp_connection
        module.socket = FakeModule()
        self.poller = FakePoller()
        self.connection = module.TcpConnection(self.poller)
        self.connection.setOnConnectedCallback(lambda: self.connection.send(ADDRESS))

    @property
    def socket(self) -> FakeSocket | None:
        found: FakeSocket | None = self.connection._TcpConnection__socket
        return found

    def set_peer(self, gone: bool) -> None:
        if self.socket is not None:
            self.socket.peer_is_gone = gone

    def connects(self) -> None:
        self.connection.connect(ADDRESS, 1)

    def becomes_writable(self, peer_is_gone: bool) -> None:
        self.set_peer(peer_is_gone)
        for number, callback in list(self.poller.callbacks.items()):
            callback(number, WRITE)

    def sends(self, peer_is_gone: bool) -> None:
        self.set_peer(peer_is_gone)
        self.connection.send("a message")

    @observable
    def status(self) -> str:
        return STATES[self.connection.state]

    @observable
    def has_socket(self) -> bool:
        return self.socket is not None
