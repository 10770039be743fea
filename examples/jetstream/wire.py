"""The messages of NATS's Raft as they are on the wire and in its log (``server/raft.go``), and the log's files.

Numbers are little-endian, a server's id has eight bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

NORMAL, PEER_STATE, LEADER_TRANSFER = 0, 2, 5
"""EntryType."""
_STREAM_MESSAGE = 4
"""entryOp: a message of a stream."""
_REMOVED = 0b11 << 62
"""Marks a record of the log that is no entry any more (ebit and tbit of filestore.go)."""


@dataclass(frozen=True)
class VoteRequest:
    term: int
    last_term: int
    last_index: int
    candidate: str

    def encode(self) -> bytes:
        return struct.pack("<QQQ8s", self.term, self.last_term, self.last_index, self.candidate.encode())

    @staticmethod
    def decode(data: bytes) -> VoteRequest:
        term, last_term, last_index, candidate = struct.unpack("<QQQ8s", data)
        return VoteRequest(term, last_term, last_index, candidate.decode())


@dataclass(frozen=True)
class VoteResponse:
    term: int
    peer: str
    granted: bool
    empty: bool = False

    def encode(self) -> bytes:
        return struct.pack("<Q8sB", self.term, self.peer.encode(), self.granted | self.empty << 1)

    @staticmethod
    def decode(data: bytes) -> VoteResponse:
        term, peer, flags = struct.unpack("<Q8sB", data)
        return VoteResponse(term, peer.decode(), bool(flags & 1), bool(flags & 2))


@dataclass(frozen=True)
class AppendEntry:
    """``entries`` are pairs of a type and its data; ``leader_term`` is set when entries go to an inbox."""

    leader: str
    term: int
    commit: int
    last_term: int
    last_index: int
    entries: tuple[tuple[int, bytes], ...] = ()
    leader_term: int = 0

    def encode(self) -> bytes:
        head = struct.pack(
            "<8sQQQQH", self.leader.encode(), self.term, self.commit, self.last_term, self.last_index, len(self.entries)
        )
        body = b"".join(struct.pack("<IB", 1 + len(data), kind) + data for kind, data in self.entries)
        return head + body + uvarint(self.leader_term)

    @staticmethod
    def decode(data: bytes) -> AppendEntry:
        leader, term, commit, last_term, last_index, count = struct.unpack_from("<8sQQQQH", data)
        place, entries = 42, []
        for _ in range(count):
            size, kind = struct.unpack_from("<IB", data, place)
            entries.append((kind, data[place + 5 : place + 4 + size]))
            place += 4 + size
        leader_term = from_uvarint(data[place:]) if place < len(data) else 0
        return AppendEntry(leader.decode(), term, commit, last_term, last_index, tuple(entries), leader_term)


@dataclass(frozen=True)
class AppendEntryResponse:
    term: int
    index: int
    peer: str
    success: bool

    def encode(self) -> bytes:
        return struct.pack("<QQ8sB", self.term, self.index, self.peer.encode(), self.success)

    @staticmethod
    def decode(data: bytes) -> AppendEntryResponse:
        term, index, peer, success = struct.unpack("<QQ8sB", data)
        return AppendEntryResponse(term, index, peer.decode(), bool(success))


def uvarint(number: int) -> bytes:
    low = b""
    while number >= 0x80:
        low += bytes([number & 0x7F | 0x80])
        number >>= 7
    return low + bytes([number])


def from_uvarint(data: bytes) -> int:
    number = 0
    for place, byte in enumerate(data):
        number |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            break
    return number


def stream_message(subject: str, payload: bytes, sequence: int, time: int) -> bytes:
    """What a leader of a stream proposes for a client's message; ``sequence`` is that of the message before."""
    name = subject.encode()
    return (
        struct.pack("<BQQH", _STREAM_MESSAGE, sequence, time, len(name)) + name
        + struct.pack("<HHI", 0, 0, len(payload)) + payload + uvarint(0)
    )


def payload_of(data: bytes) -> bytes:
    """The client's payload in such an entry."""
    if data[0] != _STREAM_MESSAGE:
        raise ValueError(f"an entry with operation {data[0]} where a stream's message was expected")
    place = 17
    for _ in range(3):  # subject, reply, headers
        place += 2 + int.from_bytes(data[place : place + 2], "little")
    size = int.from_bytes(data[place : place + 4], "little")
    return data[place + 4 : place + 4 + size]


def records(folder: Path) -> Iterator[tuple[int, bytes]]:
    """The records in the files of a log, each with its index (``server/filestore.go``)."""
    for file in sorted((folder / "msgs").glob("*.blk"), key=lambda each: int(each.stem)):
        data, place = file.read_bytes(), 0
        while place + 22 <= len(data):
            size, index, _, subject = struct.unpack_from("<IQqH", data, place)
            record = data[place : place + (size & 0x7FFFFFFF)]
            if not record:
                break
            if not index & _REMOVED:
                yield index, record[22 + subject : -8]
            place += len(record)


def peer_state(peers: list[str]) -> bytes:
    """The entry with which a leader begins: the members of the group."""
    return struct.pack("<II", len(peers), len(peers)) + "".join(peers).encode() + struct.pack("<H", 0)
