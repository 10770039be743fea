"""A real server of NATS that is one member of a cluster; nothing runs for the others.

A template is made once for each release: all servers elect leaders, create a stream with as many replicas, take a
message, and stop. A run begins with a copy of the first server's folder. That server waits for a route to another
member before it takes part in Raft, so ``Route`` accepts one and says nothing on it. Everything listens on the loopback
address, and ends with the process that started it.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import wire
from library import Program
from nats.aio.client import Client as NatsClient

WAIT = 30.0
"""Seconds until a server that does not answer is given up."""
_ATTEMPTS = 10
STREAM, SUBJECT = "writes", "write"
REAL = "n1"
"""The member that is a real server."""
_WITH_ITS_PARENT = '"$@" </dev/null & server=$!; cat >/dev/null; kill -9 $server 2>/dev/null; wait $server 2>/dev/null'
_SETTINGS = """
server_name: {name}
listen: "127.0.0.1:-1"
http: "127.0.0.1:-1"
ports_file_dir: "{folder}"
jetstream {{ store_dir: "{folder}/store" }}
cluster {{ name: model, listen: "127.0.0.1:{route_port}", pool_size: -1, compression: off, routes: [{routes}] }}
accounts {{
  SYS {{ users: [{{ user: system, password: system }}] }}
  APP {{ jetstream: enabled, users: [{{ user: app, password: app }}] }}
}}
system_account: SYS
"""


class Loop:
    """An event loop in a thread of its own, for the clients."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def wait(self, doing: Coroutine[Any, Any, Any], seconds: float = WAIT) -> Any:
        return asyncio.run_coroutine_threadsafe(doing, self.loop).result(seconds)


@cache
def loop() -> Loop:
    return Loop()


class Client:
    """An ordinary client of a server, nats-py's; ``heard`` is called for each message of its subscriptions."""

    def __init__(self, port: int, user: str) -> None:
        self.client = NatsClient()
        loop().wait(self.client.connect(
            f"nats://127.0.0.1:{port}", user=user, password=user, allow_reconnect=False, no_echo=True,
            error_cb=_ignore, connect_timeout=5,
        ))

    def subscribe(self, subject: str, heard: Callable[[str, str, bytes], None]) -> None:
        async def hear(message: Any) -> None:
            heard(message.subject, message.reply, message.data)

        async def begin() -> None:
            await self.client.subscribe(subject, cb=hear)
            await self.client.flush()

        loop().wait(begin())

    def publish(self, subject: str, data: bytes, reply: str = "") -> None:
        async def send() -> None:
            await self.client.publish(subject, data, reply=reply)
            await self.client.flush()

        loop().wait(send())

    def close(self) -> None:
        with contextlib.suppress(Exception):
            loop().wait(self.client.close(), 5)


async def _ignore(_: Exception) -> None:
    """A server that is killed closes its connections."""


class Route:
    """The other end of a server's route: a member of the cluster that is there, and silent."""

    def __init__(self, version: str) -> None:
        self.version = version
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        info = {
            "server_id": "SILENT", "server_name": "silent", "version": self.version, "proto": 1, "cluster": "model",
            "host": "127.0.0.1", "port": self.port, "headers": True, "max_payload": 1 << 20, "lnoc": True,
        }
        with contextlib.suppress(OSError), connection, connection.makefile("rb") as lines:
            connection.sendall(b"INFO " + json.dumps(info).encode() + b"\r\n")
            for line in lines:
                if line.startswith(b"PING"):
                    connection.sendall(b"PONG\r\n")

    def close(self) -> None:
        self.listener.close()


class Process:
    """A server that runs in a folder."""

    def __init__(self, program: Program, name: str, folder: Path, routes: list[int], route_port: int = -1) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.ports"):
            old.unlink()
        self.folder = folder
        addresses = ", ".join(f'"nats://127.0.0.1:{port}"' for port in routes)
        settings = folder / "settings.conf"
        settings.write_text(
            _SETTINGS.format(name=name, folder=folder, routes=addresses, route_port=route_port), encoding="utf-8"
        )
        self.process = subprocess.Popen(
            ["sh", "-c", _WITH_ITS_PARENT, "sh", str(program.path), "-c", str(settings), "-l", str(folder / "log")],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )
        self.pid, self.client_port, self.http_port = self._ports()
        self.monitoring = http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=10)

    def _ports(self) -> tuple[int, int, int]:
        """The server's process, and the ports of clients and of monitoring, which it chose."""
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            for file in self.folder.glob("*.ports"):
                with contextlib.suppress(ValueError, KeyError, IndexError):
                    told = json.loads(file.read_text(encoding="utf-8"))
                    ports = [int(told[kind][0].rsplit(":", 1)[1]) for kind in ("nats", "monitoring")]
                    return int(file.stem.rsplit("_", 1)[1]), ports[0], ports[1]
            time.sleep(0.01)
        said = (self.folder / "log").read_text(encoding="utf-8", errors="replace")
        self.kill()
        raise TimeoutError(f"the server does not start; it says:\n{said}")

    def asked(self, path: str) -> Any:
        """What the monitoring port says."""
        self.monitoring.request("GET", path)
        return json.loads(self.monitoring.getresponse().read() or b"null")

    def stop(self) -> None:
        """Lets the server end in its own way."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGINT)
        end = time.monotonic() + WAIT
        while time.monotonic() < end and Path(f"/proc/{self.pid}").exists() and not _is_zombie(self.pid):
            time.sleep(0.01)
        self.kill()

    def kill(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(WAIT)


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (OSError, IndexError):
        return True


@dataclass(frozen=True)
class Template:
    """A member's folder after the group has had its first term; indexes and terms of runs are counted from there."""

    folder: Path
    group: str
    peers: dict[str, str]
    """The id of each member, by its name."""
    term: int
    index: int
    sequence: int
    """The stream's last message."""

    @property
    def log_folder(self) -> str:
        return f"store/jetstream/SYS/_js_/{self.group}"


def make_template(program: Program, size: int, folder: Path) -> Template:
    """Starts so many servers in the folder, and stops them. They are to take a snapshot then, and sometimes do not."""
    for _ in range(_ATTEMPTS):
        made = _tried_template(program, size, folder)
        snapshots = made.folder / made.log_folder / "snapshots"
        if (snapshots / f"snap.{made.term}.{made.index}").exists():
            return made
        shutil.rmtree(folder)
    raise TimeoutError("the servers stop without a snapshot")


def _tried_template(program: Program, size: int, folder: Path) -> Template:
    names = [f"n{number}" for number in range(1, size + 1)]
    running: list[Process] = []
    try:
        ports = _free_ports(size)
        for name, port in zip(names, ports, strict=True):
            running.append(Process(program, name, folder / name, ports, port))
        group, peers = _with_stream(names, running)
        last = running[0].asked(f"/raftz?acc=APP&group={group}")["APP"][group]
        for each in running:
            each.stop()
    finally:
        for each in running:
            if each.process.poll() is None:
                each.kill()
    return Template(folder / REAL, group, peers, last["pterm"], last["pindex"], 1)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        probes = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [probe.getsockname()[1] for probe in probes]


def _with_stream(names: list[str], running: list[Process]) -> tuple[str, dict[str, str]]:
    """Creates the stream, and returns its group's name and its members' ids once all have applied its message.

    The first server does not lead it then: a leader that stops hands over, which would add to its log.
    """
    client = NatsClient()

    async def tried(what: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        end = time.monotonic() + WAIT
        while True:
            try:
                await what()
                return
            except Exception:
                if time.monotonic() > end:
                    raise
                await asyncio.sleep(0.1)

    async def create() -> None:
        stream = client.jetstream(timeout=2)
        await tried(lambda: stream.add_stream(name=STREAM, subjects=[SUBJECT], num_replicas=len(names)))
        await tried(lambda: stream.publish(SUBJECT, b"0"))

    loop().wait(client.connect(f"nats://127.0.0.1:{running[0].client_port}", user="app", password="app"))
    loop().wait(create(), 2 * WAIT)
    end = time.monotonic() + WAIT
    try:
        while time.monotonic() < end:
            found = [(each.asked("/raftz?acc=APP") or {}).get("APP", {}) for each in running]
            states = [next(iter(each.values()), {}) for each in found]
            if all(state and state["applied"] == state["pindex"] == states[0]["pindex"] for state in states):
                if any(state["state"] == "LEADER" for state in states[1:]):
                    peers = {name: str(state["id"]) for name, state in zip(names, states, strict=True)}
                    return next(iter(found[0])), peers
                if states[0]["state"] == "LEADER":
                    loop().wait(client.publish(f"$JS.API.STREAM.LEADER.STEPDOWN.{STREAM}", b""))
            time.sleep(0.1)
    finally:
        loop().wait(client.close())
    raise TimeoutError("the servers do not agree")


_made: dict[tuple[Program, int], Template] = {}


def template(program: Program, size: int) -> Template:
    """That of a release and of so many servers: made once, and removed when the process ends."""
    if (program, size) not in _made:
        folder = Path(tempfile.mkdtemp(prefix="floodmark-nats-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        _made[program, size] = make_template(program, size, folder)
    return _made[program, size]


def use_template(program: Program, size: int, made: Template) -> None:
    """Takes one that another process has made, and removes."""
    _made[program, size] = made


class Member:
    """One member that is a real server, in a folder of its own; ``close`` ends it and removes the folder."""

    def __init__(self, program: Program, begun: Template) -> None:
        self.program, self.template = program, begun
        self.folder = Path(tempfile.mkdtemp(prefix="floodmark-nats-"))
        shutil.copytree(begun.folder / "store", self.folder / "store")
        self.route = Route(program.version)
        self.start()

    def start(self) -> None:
        self.process = Process(self.program, REAL, self.folder, [self.route.port])
        self.system = Client(self.process.client_port, "system")
        self.app = Client(self.process.client_port, "app")

    def state(self) -> dict[str, Any] | None:
        """What the server says of its member of the group; None before it has one."""
        told = self.process.asked(f"/raftz?acc=APP&group={self.template.group}") or {}
        found: dict[str, Any] | None = told.get("APP", {}).get(self.template.group)
        return found

    def records(self) -> list[tuple[int, wire.AppendEntry]]:
        folder = self.folder / self.template.log_folder
        return [(index, wire.AppendEntry.decode(data)) for index, data in wire.records(folder)]

    def kill(self) -> None:
        """kill -9."""
        self.process.kill()
        self.system.close()
        self.app.close()

    def close(self) -> None:
        self.kill()
        self.route.close()
        shutil.rmtree(self.folder, ignore_errors=True)
