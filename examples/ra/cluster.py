"""Ra's servers in a process of Erlang, in which nothing happens by itself.

``ra_server`` and ``ra_log`` are the release's own modules. The write-ahead log, the store of term and vote, the reader
and the network are modules of this folder, which the process compiles when it starts. It has no clock that Ra would
notice, and writes no file.
"""

from __future__ import annotations

import atexit
import functools
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from library import Library, library
from terms import decoded, encoded

HERE = Path(__file__).parent
OURS = ("ra_log_wal", "ra_log_reader", "ra_log_segment_writer", "ra_snapshot", "ra_log_meta", "ra_bridge")
_BEGIN = (
    "lists:foreach(fun(Module) ->"
    ' {ok, Module, Code} = compile:file(filename:join("%s", Module), [binary]),'
    ' {module, Module} = code:load_binary(Module, "bridge", Code) end, [%s]),'
    ' ra_bridge:main("%s").'
)


class Seen(NamedTuple):
    """What is observed of one server, in Ra's words; names of servers are those of the model."""

    role: str
    term: int
    voted_for: str | None
    stored_vote: str | None
    votes: int
    leader: str | None
    entries: list[tuple[int, int]]
    last: tuple[int, int]
    written: tuple[int, int]
    commit: int
    applied: int
    peers: list[tuple[int, int, int, str]]
    done: list[int]
    """The writes that the server's state machine has applied."""
    waiting: list[list[tuple[int, tuple[int, int]]]]
    stored: list[tuple[int, int]]
    reason: str | None
    """Of a crash."""


class Observed(NamedTuple):
    """What is observed of a cluster."""

    servers: list[Seen]
    links: dict[tuple[str, str], list[tuple[Any, ...]]]
    replies: list[int]


class Bridge:
    """The process. One is enough for any number of runs, one after the other."""

    def __init__(self, used: Library) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="ra-")
        begin = _BEGIN % (HERE, ", ".join(OURS), self.folder.name)
        self.process = subprocess.Popen(
            [used.erlang, "-noshell", "-noinput", "-pa", str(used.folder), "-eval", begin],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(used.environment),
        )
        atexit.register(self.close)

    def close(self) -> None:
        if self.process.poll() is None:
            assert self.process.stdin is not None
            self.process.stdin.close()
            self.process.wait()
        self.folder.cleanup()

    def ask(self, command: Any) -> Observed:
        """Lets the process do something, and returns what is observed afterwards."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None and stdout is not None
        data = encoded(command)
        stdin.write(struct.pack(">I", len(data)) + data)
        stdin.flush()
        size = stdout.read(4)
        if len(size) < 4:
            raise RuntimeError("Erlang has ended; what it wrote on standard error says why")
        servers, links, replies = decoded(stdout.read(struct.unpack(">I", size)[0]))
        return Observed([Seen(*each) for each in servers], {(a, b): sent for a, b, sent in links}, replies)


@functools.cache
def bridge() -> Bridge:
    """The process of this one, with the release that the environment names."""
    return Bridge(library())
