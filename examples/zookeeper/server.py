"""A real ZooKeeper server, from the jars that PySpark brings along, with the Java that Spark uses.

A server listens on a port of the loopback interface that was free, keeps its data in a folder of its own, and ends with
the process that started it, however that ends: a shell between the two waits for the end of its standard input, which
that process holds, and then kills the server.

    python examples/zookeeper/server.py

starts one and prints where it is, until Enter is pressed.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType

sys.path.append(str(Path(__file__).parent.parent))

from find_java import NoJava, find_java

WAIT = 60.0
"""Seconds until a server that does not answer is given up."""
TICK = 20
"""Milliseconds: sessions expire at a multiple of it."""
SHORTEST = TICK
"""Milliseconds: the shortest timeout that the server grants a session."""
LONGEST = 3_600_000
"""Milliseconds: the longest one."""
_ATTEMPTS = 5
_LIBRARIES = ("zookeeper-", "slf4j-api-", "log4j-", "netty-", "metrics-core-", "snappy-java-", "audience-annotations-")
_WITH_ITS_PARENT = (
    'data=$1; shift; "$@" </dev/null & server=$!; cat >/dev/null; '
    'kill -9 $server 2>/dev/null; wait $server 2>/dev/null; rm -rf "$data"'
)


class NoServer(RuntimeError):  # noqa: N818 - it says what is missing
    """A server cannot be started here."""


def jars() -> list[Path]:
    """The jars that a server needs. Raises NoServer where PySpark is not installed, or has none of ZooKeeper."""
    found = find_spec("pyspark")
    folder = None if found is None or found.origin is None else Path(found.origin).parent / "jars"
    needed = [] if folder is None else sorted(jar for jar in folder.glob("*.jar") if jar.name.startswith(_LIBRARIES))
    if version(needed) is None:
        raise NoServer(f"no ZooKeeper server among the jars of PySpark ({folder}); run: pip install pyspark")
    return needed


def version(libraries: list[Path] | None = None) -> str | None:
    """The version of the server: 3.9.5."""
    for jar in jars() if libraries is None else libraries:
        match = re.fullmatch(r"zookeeper-(\d+\.\d+\.\d+)\.jar", jar.name)
        if match:
            return match[1]
    return None


def missing() -> str | None:
    """Why no server can be started here; None if one can."""
    try:
        jars()
        find_java()
    except (NoServer, NoJava) as error:
        return str(error)
    return None if find_spec("kazoo") is not None else "kazoo is not installed; run: pip install kazoo"


class Server:
    """A server that runs; ``close`` ends it and removes its data."""

    def __init__(self) -> None:
        command = [str(find_java()), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
        command += ["-Dzookeeper.admin.enableServer=false", "-Dzookeeper.forceSync=no"]
        command += ["-Dzookeeper.jmx.log4j.disable=true", "-cp", os.pathsep.join(map(str, jars()))]
        self.command = [*command, "org.apache.zookeeper.server.ZooKeeperServerMain"]
        for attempt in range(_ATTEMPTS):
            if self._start():
                return
            if attempt + 1 < _ATTEMPTS:  # somebody else took the port in the meantime
                self.close()
        said = self.log()
        self.close()
        raise NoServer(f"the server does not start; it says:\n{said}")

    def _start(self) -> bool:
        self.port = _free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="floodmark-zookeeper-"))
        settings = {
            "dataDir": self.folder / "data", "clientPort": self.port, "clientPortAddress": "127.0.0.1",
            "tickTime": TICK, "minSessionTimeout": SHORTEST, "maxSessionTimeout": LONGEST, "maxClientCnxns": 0,
            "4lw.commands.whitelist": "conf",
        }
        file = self.folder / "zoo.cfg"
        file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()), encoding="utf-8")
        with (self.folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                ["sh", "-c", _WITH_ITS_PARENT, "sh", str(self.folder), *self.command, str(file)],
                stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
            )
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            if "in use" in self.log():
                return False
            if str(self.folder).encode() in self._ask(b"conf"):  # it is this server, and it serves
                return True
            time.sleep(0.02)
        return False

    def _ask(self, word: bytes) -> bytes:
        """A four-letter word of the server's, answered; nothing if it does not answer."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(word)
                said = b""
                while more := connection.recv(4096):
                    said += more
                return said
        except OSError:
            return b""

    def log(self) -> str:
        """What the server has written to its standard output."""
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(WAIT)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    with Server() as running:
        print(f"ZooKeeper {version()} at {running.address}; Enter ends it", flush=True)
        sys.stdin.readline()
