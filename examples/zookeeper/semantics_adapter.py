"""How the clients of the model in semantics.py are sessions with a real server, and what of it is compared."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from typing import Any, ClassVar

from kazoo.exceptions import (
    BadVersionError,
    NodeExistsError,
    NoNodeError,
    RolledBackError,
    RuntimeInconsistency,
    SessionExpiredError,
)
from kazoo.protocol.serialization import (
    CheckVersion,
    Create,
    Delete,
    Exists,
    GetChildren2,
    GetData,
    SetData,
    Transaction,
)
from kazoo.security import OPEN_ACL_UNSAFE
from server import LONGEST
from session import EPHEMERAL, SEQUENTIAL, Event, Session, SetWatches, expire

from floodmark.conformance import Adapter, observable

RESULTS = {NoNodeError: "NO_NODE", NodeExistsError: "NODE_EXISTS", BadVersionError: "BAD_VERSION"}
SILENCE = {"result": "NOTHING", "at": 0, "failed": 0, "znode": None, "item": None, "children": set()}
_runs = itertools.count(1)


class ZnodesAdapter(Adapter):
    """Sessions with the server at ``address``; every run has a parent of its own."""

    address: ClassVar[str]
    observer: ClassVar[Session | None] = None

    def __init__(self, start: Any) -> None:
        kind = type(self)
        if kind.observer is None or not kind.observer.connected:
            kind.observer = Session(self.address, LONGEST)
        self.watching = kind.observer
        self.parent = self.watching.create("/run-", flags=SEQUENTIAL)
        self.names = [repr(client) for client in start.connections]
        self.nodes = [repr(node) for node in start.znodes]
        self.zxids: list[int] = []
        self.ends: set[int | None] = set()
        self.before = self.watching.zxid
        self.owners: dict[int, str] = {}
        self.sessions: dict[str, Session] = {}
        self.prepared: dict[str, list[Any]] = {name: [] for name in self.names}
        self.watches: dict[str, dict[str, str]] = {}
        self.lists: dict[str, bool] = {}
        for name in self.names:
            self.begin(name)
        self.silent()

    def close(self) -> None:
        for session in self.sessions.values():
            session.close()

    def begin(self, name: str) -> None:
        """A new session, with an ephemeral znode apart from the others, by which its end is seen."""
        session = self.sessions[name] = Session(self.address, LONGEST)
        session.create(self.marker(session), flags=EPHEMERAL)
        self.owners[session.id] = name
        self.forget(name)

    def forget(self, name: str) -> None:
        """The client has no watches."""
        self.watches[name] = {}
        self.lists[name] = False

    def marker(self, session: Session) -> str:
        return f"/session-{session.id:x}"

    def path(self, node: Any) -> str:
        return f"{self.parent}/{node!r}"

    # Requests, as the model numbers them.

    def silent(self) -> None:
        self.told: dict[str, Any] = dict(SILENCE)
        self.events: list[dict[str, Any]] = []

    def hear(self, name: str) -> None:
        """The events that came with the last answer. Those of a session's end come in any order."""
        session = self.sessions[name]
        events: list[Event] = []
        for zxid, group in itertools.groupby(session.events, lambda event: event.zxid):
            together = list(group)
            if zxid in self.ends:
                together.sort(key=self.by_path)
            events += together
        self.events = [self.event(it) for it in events]
        for it in events:
            if it.kind == "CHILDREN":
                self.lists[name] = False
            else:
                self.watches[name].pop(it.path, None)
        session.events = []

    def by_path(self, event: Event) -> tuple[bool, str]:
        """In this order: the znodes, then the parent."""
        return event.kind == "CHILDREN", event.path

    def event(self, event: Event) -> dict[str, Any]:
        node = None if event.path == self.parent else event.path.rpartition("/")[2]
        return {"change": event.kind, "node": node}

    def number(self, zxid: int) -> int:
        """How many transactions of this run there were up to this one."""
        return bisect_right(self.zxids, zxid)

    def ask(self, client: Any, request: Any) -> Any:
        """The server's answer, or None when it refuses; ``told`` and ``events`` are what it says."""
        name = repr(client)
        answer, result, failed = None, "OK", 0
        try:
            answer = self.sessions[name].call(request)
        except tuple(RESULTS) as error:
            result = RESULTS[type(error)]
        if request.type == Transaction.type:
            for index, part in enumerate(answer, 1):
                if type(part) in RESULTS:
                    result, failed = RESULTS[type(part)], index
                elif isinstance(part, Exception):
                    assert isinstance(part, RolledBackError | RuntimeInconsistency), part
        self.wrote(request, result, self.sessions[name].zxid)
        self.told = {**SILENCE, "result": result, "at": self.number(self.sessions[name].zxid), "failed": failed}
        self.hear(name)
        return answer

    def wrote(self, request: Any, result: str, zxid: int) -> None:
        parts = request.operations if request.type == Transaction.type else [request]
        if result == "OK" and any(part.type in (Create.type, Delete.type, SetData.type) for part in parts):
            self.zxids.append(zxid)

    def client_prepares(self, client: Any, kind: Any, node: Any, condition: Any) -> None:
        path, version = self.path(node), -1
        if condition.name != "ANY":
            version = self.watching.exists(path).version + (condition.name == "NEXT")
        request = {
            "CREATE": Create(path, b"", OPEN_ACL_UNSAFE, 0),
            "CREATE_EPHEMERAL": Create(path, b"", OPEN_ACL_UNSAFE, EPHEMERAL),
            "SET": SetData(path, b"", version),
            "DELETE": Delete(path, version),
            "CHECK": CheckVersion(path, version),
        }[kind.name]
        self.prepared[repr(client)].append(request)
        self.silent()

    def client_writes(self, client: Any, answered: bool) -> None:
        parts = self.prepared[repr(client)]
        self.prepared[repr(client)] = []
        request = parts[0] if len(parts) == 1 else Transaction(parts)
        if answered:
            stat = self.ask(client, request)
            if request.type == SetData.type and stat is not None:
                self.told["znode"] = self.znode(stat)
            return
        self.sessions[repr(client)].call_unheard(request)
        self.unheard()
        self.silent()

    def unheard(self) -> int | None:
        """Finds the number of a transaction without an answer in the stats of what it wrote; None if it wrote nothing.
        """
        stats = [self.watching.exists(f"{self.parent}/{node}") for node in self.nodes]
        newest = max([self.watching.exists(self.parent).pzxid, *(stat.mzxid for stat in stats if stat is not None)])
        if newest <= max(self.zxids, default=self.before):
            return None
        self.zxids.append(newest)
        return newest

    def client_adds_item(self, client: Any, ephemeral: bool) -> None:
        flags = SEQUENTIAL | (EPHEMERAL if ephemeral else 0)
        path = self.ask(client, Create(f"{self.parent}/item-", b"", OPEN_ACL_UNSAFE, flags))
        self.told["item"] = self.item_number(path)

    def client_removes_item(self, client: Any) -> None:
        self.ask(client, Delete(f"{self.parent}/{self.item_names()[0]}", -1))

    def client_reads(self, client: Any, node: Any, data: bool, watch: bool) -> None:
        kind = GetData if data else Exists
        answer = self.ask(client, kind(self.path(node), watch))
        stat = answer[1] if data and answer is not None else answer
        self.told["znode"] = None if stat is None else self.znode(stat)
        if watch and (stat is not None or not data):
            self.watches[repr(client)][self.path(node)] = "EXISTENCE" if stat is None else "DATA"

    def client_lists(self, client: Any, watch: bool) -> None:
        names, _ = self.ask(client, GetChildren2(self.parent, watch))
        self.told["children"] = {name for name in names if name in self.nodes}
        self.lists[repr(client)] = self.lists[repr(client)] or watch

    # Connections and sessions.

    def connection_breaks(self, client: Any) -> None:
        self.sessions[repr(client)].disconnect()
        self.silent()

    def client_reconnects(self, client: Any, resumes: bool) -> None:
        name = repr(client)
        session = self.sessions[name]
        session.events = []
        self.silent()
        try:
            session.connect()
        except SessionExpiredError:
            self.begin(name)
            self.told["result"] = "EXPIRED"
            return
        if resumes:
            of = self.watches[name]
            paths = {kind: sorted(path for path in of if of[path] == kind) for kind in ("DATA", "EXISTENCE")}
            children = [self.parent] if self.lists[name] else []
            self.ask(client, SetWatches(session.zxid, paths["DATA"], paths["EXISTENCE"], children))
        else:
            self.forget(name)

    def session_expires(self, client: Any) -> None:
        session = self.sessions[repr(client)]
        expire(self.address, session.id, session.password, self.watching, self.marker(session))
        self.ended()

    def session_is_closed(self, client: Any) -> None:
        self.sessions[repr(client)].close()
        self.ended()

    def ended(self) -> None:
        """The transaction in which a session ended changed something if it had znodes."""
        self.ends.add(self.unheard())
        self.silent()

    # What is observed: by another session, and in the answers.

    def znode(self, stat: Any) -> dict[str, Any]:
        owner = self.owners.get(stat.ephemeralOwner, f"session {stat.ephemeralOwner:#x}")
        return {
            "created": self.number(stat.czxid), "modified": self.number(stat.mzxid), "version": stat.version,
            "owner": owner if stat.ephemeralOwner else None,
        }

    def item_names(self) -> list[str]:
        names, _ = self.watching.call(GetChildren2(self.parent, False))
        return sorted(name for name in names if name.startswith("item-"))

    def item_number(self, path: str) -> int:
        return int(path.rpartition("-")[2])

    @observable
    def znodes(self) -> dict[str, dict[str, Any] | None]:
        stats = {node: self.watching.exists(f"{self.parent}/{node}") for node in self.nodes}
        return {node: None if stat is None else self.znode(stat) for node, stat in stats.items()}

    @observable
    def items(self) -> list[dict[str, Any]]:
        found = [(name, self.watching.exists(f"{self.parent}/{name}")) for name in self.item_names()]
        return [{"number": self.item_number(name), "owner": self.znode(stat)["owner"]} for name, stat in found]

    @observable(of=lambda model: model.creates + model.deletes)
    def children_version(self) -> int:
        version: int = self.watching.exists(self.parent).cversion
        return version

    @observable
    def children_modified(self) -> int:
        return self.number(self.watching.exists(self.parent).pzxid)

    @observable
    def answer(self) -> dict[str, Any]:
        return self.told

    @observable
    def heard(self) -> list[dict[str, Any]]:
        return self.events
