"""A cluster of real nodes in one process, in which nothing happens by itself.

The nodes are the library's, with journals in files. Their transport is ours: a message stays on its link until it is
released. A node's clock moves only when one of its timers is meant to fire, so the driver of the cluster decides every
step, and the same steps always have the same result.
"""

from __future__ import annotations

import logging
import pickle
import tempfile
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from library import Library

HEARTBEAT = 0.1
STEP_DOWN = 1e7
"""Seconds without answers from a majority after which a leader steps down."""
ELECTION = 1e9
NEVER = 1e15
AHEAD = 1e6
"""How far the clock is ahead of a node's start, so that the timer that stores the commit index fires in every tick."""


class Cluster:
    """``names`` are those of the nodes. A batch of entries ends at ``batch_size`` bytes."""

    def __init__(self, library: Library, names: list[str], batch_size: int, write_size: int) -> None:
        logging.getLogger("pysyncobj").setLevel(logging.CRITICAL + 1)
        self.library = library
        self.names = names
        self.write_size = write_size
        self.folder = tempfile.TemporaryDirectory(prefix="pysyncobj-")
        self.links: dict[tuple[str, str], deque[bytes]] = {(a, b): deque() for a in names for b in names if a != b}
        self.connected: dict[str, set[str]] = {name: set() for name in names}
        self.answers: list[tuple[str, int, Any]] = []
        """What clients were told: the node, the write, and the library's reason, where 0 means success."""
        self.waiting: dict[str, set[int]] = {name: set() for name in names}
        self.clocks = dict.fromkeys(names, 0.0)
        self.batch_size = batch_size
        self.store = _store(library)
        self.transport = _transport(library, self)
        self.nodes = {name: self._started(name) for name in names}
        for number, name in enumerate(names):
            for other in names[:number]:
                self.connect(name, other)

    def close(self) -> None:
        for node in self.nodes.values():
            node.destroy()
        self.folder.cleanup()

    def _started(self, name: str) -> Any:
        library = self.library
        conf = library.config.SyncObjConf(
            autoTick=False, pollerType="select", journalFile=str(Path(self.folder.name, name)),
            appendEntriesPeriod=HEARTBEAT, leaderFallbackTimeout=STEP_DOWN, raftMinTimeout=ELECTION,
            raftMaxTimeout=2 * ELECTION, connectionTimeout=2 * ELECTION, logCompactionMinTime=NEVER,
            appendEntriesBatchSizeBytes=self.batch_size,
        )
        node, others = library.node.Node(name), [library.node.Node(other) for other in self.names if other != name]
        with self._at(name):
            made = self.store(node, others, conf, nodeClass=library.node.Node, transportClass=self.transport)
        self.clocks[name] += AHEAD
        return made

    def _at(self, name: str) -> _Clock:
        return _Clock(self.library, self.clocks[name])

    def private(self, name: str, attribute: str) -> Any:
        return getattr(self.nodes[name], f"_SyncObj__{attribute}")

    # What can happen.

    def tick(self, name: str, seconds: float = 0.0) -> None:
        """One tick of a node's loop, after the given time."""
        self.clocks[name] += seconds
        with self._at(name):
            self.nodes[name].doTick()

    def put(self, name: str, write: int) -> None:
        """A client gives a node a command; the node takes it up in its next tick."""
        def told(_: Any, reason: int) -> None:
            self.waiting[name].discard(write)
            self.answers.append((name, write, reason))

        self.waiting[name].add(write)
        self.nodes[name].put(write, self._padding(write), callback=told)

    def _padding(self, write: int) -> bytes:
        """The padding that gives a write's command its length."""
        one = 1 + len(self.library.syncobj.pickle.dumps((0, (write, b"."))))
        return b"." * (1 + self.write_size - one)

    def send(self, source: str, destination: str, message: Any) -> bool:
        if destination not in self.connected[source]:
            return False
        self.links[source, destination].append(pickle.dumps(message))
        return True

    def deliver(self, source: str, destination: str) -> None:
        message = pickle.loads(self.links[source, destination].popleft())
        with self._at(destination):
            self.private(destination, "transport").arrived(source, message)

    def connect(self, one: str, other: str) -> None:
        for here, there in ((one, other), (other, one)):
            self.connected[here].add(there)
            with self._at(here):
                self.private(here, "transport").changed(there, True)

    def disconnect(self, one: str, other: str) -> None:
        for here, there in ((one, other), (other, one)):
            self.connected[here].discard(there)
            self.links[here, there].clear()
            with self._at(here):
                self.private(here, "transport").changed(there, False)

    def restart(self, name: str) -> None:
        """A kill -9 and a restart. Closing the journal writes nothing that was not in its file before."""
        for other in list(self.connected[name]):
            self.disconnect(name, other)
        self.nodes[name].destroy()
        self.waiting[name].clear()
        self.nodes[name] = self._started(name)


class _Clock:
    """Sets the time that the library sees inside the block."""

    def __init__(self, library: Library, now: float) -> None:
        self.library, self.now = library, now

    def __enter__(self) -> None:
        self.library.now = self.now

    def __exit__(self, *_: object) -> None:
        pass


def _store(library: Library) -> Any:
    """The replicated object: a list of writes."""
    class Store(library.syncobj.SyncObj):  # type: ignore[misc, name-defined]
        def __init__(self, *given: Any, **named: Any) -> None:
            self.taken: list[int] = []
            super().__init__(*given, **named)

        @library.syncobj.replicated  # type: ignore[untyped-decorator]
        def put(self, write: int, padding: bytes) -> None:
            self.taken.append(write)

    return Store


def _transport(library: Library, cluster: Cluster) -> Any:
    """A transport whose messages the cluster carries."""
    class Links(library.transport.Transport):  # type: ignore[misc, name-defined]
        def __init__(self, node: Any, own: Any, others: Any) -> None:
            super().__init__(node, own, others)
            self.own = own.id

        def send(self, node: Any, message: Any) -> bool:
            return cluster.send(self.own, node.id, message)

        def arrived(self, source: str, message: Any) -> None:
            self._onMessageReceived(library.node.Node(source), message)

        def changed(self, other: str, connected: bool) -> None:
            report: Callable[[Any], None] = self._onNodeConnected if connected else self._onNodeDisconnected
            report(library.node.Node(other))

        def destroy(self) -> None:
            pass

    return Links
