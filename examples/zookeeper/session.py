"""A session with a ZooKeeper server in which nothing happens by itself.

The messages are kazoo's; the socket is ours, because kazoo's client has threads that send pings, reconnect, and deliver
events apart from answers. Here a request is sent when it is made, its answer and the events before it are read in the
order in which they arrive, and a connection breaks and returns when the test says so.
"""

from __future__ import annotations

import socket
import time
from collections import namedtuple
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from kazoo.exceptions import EXCEPTIONS, ConnectionLoss, SessionExpiredError
from kazoo.protocol.serialization import (
    Close,
    Connect,
    Create,
    Exists,
    ReplyHeader,
    Watch,
    int_int_struct,
    int_struct,
    long_struct,
    write_string,
)
from kazoo.security import OPEN_ACL_UNSAFE

EVENTS = {1: "CREATED", 2: "DELETED", 3: "CHANGED", 4: "CHILDREN"}
EPHEMERAL, SEQUENTIAL = 1, 2
ANSWERS = 30.0
"""Seconds until a server that does not answer is given up."""
_PATIENCE = 2.0
"""Seconds until a session that should have expired is gone on with once more, since the server may not have heard."""
_NOTIFICATION = -1
_SET_WATCHES = -8
_LENGTH = 4


class SetWatches(namedtuple("SetWatches", "seen data exists children")):
    """What ZooKeeper's own client sends after a reconnect, and kazoo does not: the watches that it had, and the last
    transaction that it has seen.
    """

    type = 101

    def serialize(self) -> bytes:
        lists = [
            int_struct.pack(len(paths)) + b"".join(write_string(path) for path in paths)
            for paths in (self.data, self.exists, self.children)
        ]
        return bytes(long_struct.pack(self.seen) + b"".join(lists))


@dataclass(frozen=True)
class Event:
    """A watch has fired; ``zxid`` is that of the transaction, -1 for one that fired as it was set."""

    kind: str
    path: str
    zxid: int


class Session:
    """A session. ``events`` are those that have arrived, ``zxid`` is the last transaction that an answer named."""

    def __init__(self, address: str, timeout: int, number: int = 0, password: bytes = b"\0" * 16) -> None:
        """Begins a session that lives for ``timeout`` milliseconds without a sign of life.

        With a number and its password, goes on with that session, whoever began it. Raises SessionExpiredError.
        """
        host, _, port = address.rpartition(":")
        self._place = host, int(port)
        self._timeout = timeout
        self._socket: socket.socket | None = None
        self._number = 0
        self.id, self.password = number, password
        self.zxid = 0
        self.events: list[Event] = []
        self.connect()

    @property
    def connected(self) -> bool:
        return self._socket is not None

    def connect(self) -> None:
        """Goes on with the session over a new connection. Raises SessionExpiredError."""
        self._socket = socket.create_connection(self._place, timeout=ANSWERS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._send(bytes(Connect(0, self.zxid, self._timeout, self.id, self.password, False).serialize()))
        answer, _ = Connect.deserialize(self._receive(), 0)
        if answer.time_out <= 0:
            self.disconnect()
            raise SessionExpiredError
        self.id, self.password = answer.session_id, answer.passwd

    def disconnect(self) -> None:
        """The connection breaks. What was sent to this side and not read is lost."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def close(self) -> None:
        """Ends the session."""
        if self._socket is not None:
            self.call(Close)
            self.disconnect()

    def call(self, request: Any) -> Any:
        """What the server answers; the events that come before the answer are in ``events`` then.

        Raises the exception of kazoo that the server's error stands for, and ConnectionLoss.
        """
        if request.type == SetWatches.type:
            number = _SET_WATCHES
        else:
            self._number += 1
            number = self._number
        self._send(bytes(int_int_struct.pack(number, request.type) + request.serialize()))
        while True:
            frame = self._receive()
            header, offset = ReplyHeader.deserialize(frame, 0)
            if header.xid == _NOTIFICATION:
                watch, _ = Watch.deserialize(frame, offset)
                self.events.append(Event(EVENTS[watch.type], watch.path, header.zxid))
                continue
            if header.xid != number:
                raise AssertionError(f"the answer to request {header.xid} came in place of that to {number}")
            if header.zxid > 0:
                self.zxid = header.zxid
            if header.err:
                raise EXCEPTIONS[header.err]()
            return request.deserialize(frame, offset) if hasattr(request, "deserialize") else None

    def call_unheard(self, request: Any) -> None:
        """The server carries out a request, or refuses it, and the connection breaks before its answer arrives."""
        seen, events = self.zxid, list(self.events)
        with suppress(*EXCEPTIONS.values()):
            self.call(request)
        self.zxid, self.events = seen, events
        self.disconnect()

    def create(self, path: str, data: bytes = b"", flags: int = 0) -> str:
        created: str = self.call(Create(path, data, OPEN_ACL_UNSAFE, flags))
        return created

    def exists(self, path: str) -> Any:
        """The znode's stat, or None."""
        try:
            return self.call(Exists(path, False))
        except EXCEPTIONS[-101]:
            return None

    def _send(self, message: bytes) -> None:
        if self._socket is None:
            raise ConnectionLoss
        try:
            self._socket.sendall(int_struct.pack(len(message)) + message)
        except OSError:
            self.disconnect()
            raise ConnectionLoss from None

    def _receive(self) -> bytes:
        return self._read(int_struct.unpack(self._read(_LENGTH))[0])

    def _read(self, size: int) -> bytes:
        assert self._socket is not None
        read = b""
        while len(read) < size:
            try:
                more = self._socket.recv(size - len(read))
            except OSError:
                more = b""
            if not more:
                self.disconnect()
                raise ConnectionLoss
            read += more
        return read


def expire(address: str, number: int, password: bytes, observer: Session, ephemeral: str) -> None:
    """Lets the server expire a session that has an ephemeral znode, and waits until it has.

    Goes on with the session for as short as the server allows, and gives no further sign of life. What a session leaves
    behind goes in one transaction, so that all of it is gone when the ephemeral znode is.
    """
    end = time.monotonic() + ANSWERS
    while time.monotonic() < end:
        with suppress(ConnectionLoss, SessionExpiredError):  # it may expire before the server answers
            Session(address, 1, number, password).disconnect()
        patience = time.monotonic() + _PATIENCE
        while time.monotonic() < patience:
            if observer.exists(ephemeral) is None:
                return
            time.sleep(0.002)
    raise TimeoutError(f"the server does not expire session {number:#x}")
