"""Reads the output of ``kafka-dump-log.sh --cluster-metadata-decoder`` for log segments and snapshots.

A record is a line such as

    | offset: 42 CreateTime: 1700000000000 keySize: -1 valueSize: 43 sequence: -1 headerKeys: [] payload: {"type":
    "PARTITION_CHANGE_RECORD","version":0,"data":{"partitionId":0,"topicId":"Rvh...","isr":[1,2],"leader":1}}

(on one line), after ``kafka.tools.DumpLogSegments``. ``--skip-record-metadata`` leaves out the offset, which is then
counted from the batch's. Several dumps may be given in any order: their parts of the log are ordered by offset. A
snapshot with the end offset N is the state after the records before N.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import merge
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from floodmark.checkers.project import input_file, json_text

PARTITION_TYPES = ("PARTITION_RECORD", "PARTITION_CHANGE_RECORD")
TOPIC_TYPES = ("TOPIC_RECORD", "REMOVE_TOPIC_RECORD")
TRANSACTION_TYPES = ("BEGIN_TRANSACTION_RECORD", "END_TRANSACTION_RECORD", "ABORT_TRANSACTION_RECORD")
SECTION_BEGINS, SECTION_ENDS, SNAPSHOT, GAP = "section begins", "section ends", "snapshot", "gap"

_SNAPSHOT_RANK, _MARK_RANK, _RECORD_RANK, _RANKS = 0, 1, 2, 4
_TYPE = re.compile(rb'"type"\s*:\s*"([A-Z_]+)"')
_TOPIC = re.compile(rb'"topicId"\s*:\s*"([^"]*)"')
_PARTITION = re.compile(rb'"partitionId"\s*:\s*(-?\d{1,10}+)')
_OFFSET = re.compile(rb"^\|? ?offset: (\d{1,19}+) ")
_BASE_OFFSET = re.compile(rb"^baseOffset: (\d{1,19}+) ")
_LOG_START = re.compile(rb"^Log starting offset: (\d{1,19}+)")
_SNAPSHOT_END = re.compile(rb"^Snapshot end offset: (\d{1,19}+)")
_PAYLOAD = b"payload: "
_HEADERS = (
    b"Dumping ", b"Log starting offset: ", b"Snapshot end offset: ", b"KRaft bootstrap snapshot", b"baseOffset: ",
    b"Found ", b"Mismatches in ", b"  Index offset: ", b"Ignoring unknown file",
)
_CONTROL = (b" SnapshotHeader ", b" SnapshotFooter ", b" KRaftVersion ", b" KRaftVoters ", b" controlType: ",
            b" endTxnMarker: ", b" LeaderChange ")


class LogEntry(NamedTuple):
    """A record, or the beginning or end of a stretch of the log.

    ``position`` orders the entries of all dumps; ``snapshot`` is whether the record is a snapshot's.
    """

    position: int
    kind: str
    data: dict[str, Any]
    file: int
    line: int
    snapshot: bool

    @property
    def offset(self) -> int:
        return self.position // _RANKS


class MalformedLine(NamedTuple):
    """A line that cannot be read, or not as the required kind of record."""

    file: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of lines in a file that comes from one segment or one snapshot; lines are counted from 1."""

    file: int
    path: Path
    begin: int
    first_line: int
    last_line: int | None = None


@dataclass
class RecordCounts:
    """Counts of the records read. The first shard counts the records that all shards read."""

    lines: int = 0
    headers: int = 0
    control: int = 0
    records: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    malformed: list[MalformedLine] = field(default_factory=list)


@dataclass(frozen=True)
class LogShard:
    """The partitions that one of several readers returns; each reader goes through everything."""

    number: int = 0
    count: int = 1

    @property
    def is_first(self) -> bool:
        return self.number == 0

    def has(self, topic: bytes, partition: int) -> bool:
        return self.count == 1 or (zlib.crc32(topic) + partition) % self.count == self.number

    def has_line(self, number: int) -> bool:
        return number % self.count == self.number


def entries(paths: Sequence[Path], shard: LogShard, tally: RecordCounts) -> Iterator[LogEntry]:
    """The entries of all dumps, in the order of the log. Raises SourceError for a file that cannot be read."""
    readers = [_SectionReader(section, shard, tally) for section in sections(paths)]
    if len(readers) == 1:
        return readers[0].entries()
    return merge(*(reader.entries() for reader in readers), key=attrgetter("position"))


def sections(paths: Sequence[Path]) -> list[Section]:
    """The start of each segment and snapshot in each file."""
    found = []
    for index, path in enumerate(paths):
        starts = [(0, 1)]
        position = 0
        for number, line in enumerate(input_file.lines_of(path), 1):
            if line[:4] in (b"Log ", b"Snap", b"KRaf") and (
                line.startswith((b"Log starting", b"Snapshot end", b"KRaft bootstrap"))
            ):
                starts.append((position, number))
            position += len(line)
        lasts = [number - 1 for _, number in starts[1:]]
        for (begin, first), last in zip(starts, [*lasts, None], strict=True):
            if last is None or last >= first:
                found.append(Section(index, path, begin, first, last))
    return found


class _SectionReader:
    def __init__(self, section: Section, shard: LogShard, tally: RecordCounts) -> None:
        self.section = section
        self.shard = shard
        self.tally = tally
        self.snapshot_end: int | None = None
        self.next: int | None = None
        self.base = 0
        self.begun = False

    def bad(self, number: int, message: str, owned: bool) -> None:
        if owned:
            self.tally.malformed.append(MalformedLine(str(self.section.path), number, message))

    def mark(self, kind: str, offset: int, number: int) -> LogEntry:
        return LogEntry(offset * _RANKS + _MARK_RANK, kind, {}, self.section.file, number, False)

    def entries(self) -> Iterator[LogEntry]:
        section, first = self.section, self.shard.is_first
        number = section.first_line - 1
        for number, line in enumerate(input_file.lines_of(section.path, section.begin), section.first_line):
            if section.last_line is not None and number > section.last_line:
                break
            self.tally.lines += first
            at = line.find(_PAYLOAD)
            if at >= 0:
                yield from self.record(number, line, at)
            elif line.isspace() or line.startswith(_HEADERS):
                self.tally.headers += first
                yield from self.header(number, line)
            elif any(word in line for word in _CONTROL):
                yield from self.control(number, line)
            else:
                self.bad(number, "neither a record nor anything else that kafka-dump-log prints", first)
        if self.begun:
            assert self.next is not None
            yield self.mark(SECTION_ENDS, self.next, number)

    def header(self, number: int, line: bytes) -> Iterator[LogEntry]:
        if match := _BASE_OFFSET.match(line) or _LOG_START.match(line):
            self.base = int(match[1])
            return
        if match := _SNAPSHOT_END.match(line):
            self.snapshot_end = int(match[1])
        elif line.startswith(b"KRaft bootstrap"):
            self.snapshot_end = 0
        else:
            return
        yield LogEntry(self.position(), SNAPSHOT, {}, self.section.file, number, True)

    def control(self, number: int, line: bytes) -> Iterator[LogEntry]:
        try:
            yield from self.offset_of(number, line)
            self.tally.control += self.shard.is_first
        except _OutOfOrder as error:
            self.bad(number, str(error), self.shard.is_first)

    def offset_of(self, number: int, line: bytes) -> Iterator[LogEntry]:
        """Processes a line's offset; yields a mark where the log begins or has a gap."""
        if self.snapshot_end is not None:
            return
        match = _OFFSET.match(line)
        offset = int(match[1]) if match else max(self.next or 0, self.base)
        if not self.begun:
            self.begun = True
            yield self.mark(SECTION_BEGINS, offset, number)
        elif self.next is not None and offset > self.next:
            yield self.mark(GAP, offset, number)
        elif self.next is not None and offset < self.next:
            raise _OutOfOrder(f"the offset {offset} comes after {self.next - 1}")
        self.next = offset + 1

    def record(self, number: int, line: bytes, at: int) -> Iterator[LogEntry]:
        own = self.shard.has_line(number)
        try:
            yield from self.offset_of(number, line)
        except _OutOfOrder as error:
            self.bad(number, str(error), own)
            return
        payload = line[at + len(_PAYLOAD) :]
        kind = _TYPE.search(payload)
        if kind is None:
            reason = payload.decode(errors="replace").strip()[:80]
            self.bad(number, f"the payload is not a record: {reason}", own)
            return
        name = kind[1].decode()
        if name in PARTITION_TYPES:
            topic, partition = _TOPIC.search(payload), _PARTITION.search(payload)
            if topic is None or partition is None:
                self.bad(number, f"a {name} without topicId and partitionId", own)
                return
            if not self.shard.has(topic[1], int(partition[1])):
                return
            own = True
        elif name in TOPIC_TYPES or name in TRANSACTION_TYPES:
            own = self.shard.is_first
        elif not own:
            return
        try:
            data = json_text.parse(payload)["data"]
            if type(data) is not dict:
                raise ValueError(f"data is {data!r}")
        except (json_text.NotJsonError, ValueError, KeyError, TypeError) as error:
            self.bad(number, f"the payload of a {name} cannot be read: {error}", own)
            return
        self.tally.records += own
        if name in PARTITION_TYPES or name in TOPIC_TYPES or name in TRANSACTION_TYPES:
            yield LogEntry(self.position(), name, data, self.section.file, number, self.snapshot_end is not None)
        else:
            self.tally.skipped[name] += 1

    def position(self) -> int:
        if self.snapshot_end is not None:
            return self.snapshot_end * _RANKS + _SNAPSHOT_RANK
        assert self.next is not None
        return (self.next - 1) * _RANKS + _RECORD_RANK


class _OutOfOrder(Exception):  # noqa: N818 - it says what happened
    pass
