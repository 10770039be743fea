"""A network between real processes that can hold messages back and cut connections; it changes and reorders nothing.

Every member is reached at an address of the relay, which passes everything on to where the member listens. The two
directions of a connection are links of whole frames, as the library writes them: a length, then a compressed pickle.
"""

from __future__ import annotations

import pickle
import socket
import struct
import threading
import zlib
from collections import deque
from contextlib import suppress
from typing import Any

WAIT = 20.0


class Link:
    """One direction of a connection. While it is held, frames queue up."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.queue: deque[tuple[bytes, Any]] = deque()
        self.held = False
        self.sink: socket.socket | None = None

    def connect(self, sink: socket.socket | None) -> None:
        """Sets a new connection, or none; what was queued is lost with the old one."""
        with self.changed:
            self.queue.clear()
            self.sink = sink

    def arrived(self, frame: bytes, message: Any) -> None:
        with self.changed:
            self.queue.append((frame, message))
            if not self.held:
                self._pass(len(self.queue))
            self.changed.notify_all()

    def _pass(self, count: int) -> None:
        for _ in range(count):
            frame, _ = self.queue.popleft()
            if self.sink is not None:
                try:
                    self.sink.sendall(frame)
                except OSError:
                    self.sink = None

    def hold(self) -> None:
        with self.changed:
            self.held = True

    def release(self) -> None:
        with self.changed:
            self.held = False
            self._pass(len(self.queue))

    def wait(self, kind: str, count: int = 1, **having: Any) -> None:
        """Waits until this many queued messages of a kind have these fields."""
        with self.changed:
            if not self.changed.wait_for(lambda: self._count(kind, having) >= count, WAIT):
                raise TimeoutError(f"{count} {kind} with {having} did not come; there is {self.messages()}")

    def _count(self, kind: str, having: dict[str, Any]) -> int:
        return sum(fits(message, kind, having) for _, message in self.queue)

    def let(self, count: int) -> list[Any]:
        """Passes on the first messages, and returns them."""
        with self.changed:
            messages = [message for _, message in list(self.queue)[:count]]
            self._pass(min(count, len(self.queue)))
            return messages

    def let_before(self, kind: str, **having: Any) -> list[Any]:
        """Passes on what is queued before the first message of a kind with these fields."""
        with self.changed:
            count = next(i for i, (_, message) in enumerate(self.queue) if fits(message, kind, having))
            return self.let(count)

    def messages(self) -> list[str]:
        return [brief(message) for _, message in self.queue]


def fits(message: Any, kind: str, having: dict[str, Any]) -> bool:
    return isinstance(message, dict) and message["type"] == kind and all(
        message.get(name) == value for name, value in having.items()
    )


def brief(message: Any) -> str:
    """A message in one line, its entries by index."""
    if not isinstance(message, dict):
        return str(message)
    parts = [f"{name}={value}" for name, value in message.items() if name not in ("type", "entries")]
    if "entries" in message:
        parts.append(f"entries={[index for _, index, _ in message['entries']]}")
    return f"{message['type']}({', '.join(parts)})"


class Relay:
    """The network of some members, named by the addresses at which others reach them."""

    def __init__(self, members: list[str]) -> None:
        self.links = {(a, b): Link() for a in members for b in members if a != b}
        self.servers: dict[str, socket.socket] = {}
        self.addresses: dict[str, str] = {}
        self.binds: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.sockets: dict[frozenset[str], list[socket.socket]] = {}
        for member in members:
            server = socket.create_server(("127.0.0.1", 0))
            self.servers[member] = server
            self.addresses[member] = f"127.0.0.1:{server.getsockname()[1]}"
            self.names[self.addresses[member]] = member
            with socket.create_server(("127.0.0.1", 0)) as free:
                self.binds[member] = f"127.0.0.1:{free.getsockname()[1]}"
            threading.Thread(target=self._accept, args=(member,), daemon=True).start()

    def _accept(self, member: str) -> None:
        while True:
            try:
                incoming, _ = self.servers[member].accept()
            except OSError:
                return
            threading.Thread(target=self._join, args=(member, incoming), daemon=True).start()

    def _join(self, member: str, incoming: socket.socket) -> None:
        """A connection begins with the address of its initiator."""
        first = _frame(incoming)
        if first is None:
            return
        other = self.names[first[1]]
        host, port = self.binds[member].rsplit(":", 1)
        try:
            outgoing = socket.create_connection((host, int(port)))
        except OSError:
            incoming.close()
            return
        incoming.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        outgoing.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.links[other, member].connect(outgoing)
        self.links[member, other].connect(incoming)
        self.sockets[frozenset((member, other))] = [incoming, outgoing]
        outgoing.sendall(first[0])
        ends = (incoming, outgoing)
        for source, link in ((incoming, self.links[other, member]), (outgoing, self.links[member, other])):
            threading.Thread(target=_read, args=(source, link, ends), daemon=True).start()

    def cut(self, one: str, other: str) -> None:
        """Closes the connection; everything in transit is lost."""
        self.links[one, other].connect(None)
        self.links[other, one].connect(None)
        for end in self.sockets.pop(frozenset((one, other)), []):
            _close(end)

    def close(self) -> None:
        for server in self.servers.values():
            _close(server)
        for ends in self.sockets.values():
            for end in ends:
                _close(end)


def _read(source: socket.socket, link: Link, ends: tuple[socket.socket, socket.socket]) -> None:
    while (found := _frame(source)) is not None:
        link.arrived(*found)
    for end in ends:
        _close(end)


def _close(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()


def _frame(source: socket.socket) -> tuple[bytes, Any] | None:
    """A frame as it arrived, and the message in it; None at the end."""
    head = _bytes(source, 4)
    body = None if head is None else _bytes(source, struct.unpack("i", head)[0])
    return None if head is None or body is None else (head + body, pickle.loads(zlib.decompress(body)))


def _bytes(source: socket.socket, count: int) -> bytes | None:
    found = b""
    while len(found) < count:
        try:
            more = source.recv(count - len(found))
        except OSError:
            return None
        if not more:
            return None
        found += more
    return found
