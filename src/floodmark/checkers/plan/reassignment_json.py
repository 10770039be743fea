"""Reads and writes the JSON of ``kafka-reassign-partitions`` and ``/admin/reassign_partitions``; reading is strict.

    {"version":1,"partitions":[{"topic":"foo1","partition":0,"replicas":[1,2,4],"original_replicas":[1,2,3]}]}

``original_replicas`` is an addition of KIP-236. ``log_dirs``, which the tool's own files may have, is ignored. Anything
else that is unknown, missing or invalid is an error that names the file, the line and the partition: a file that is
only half understood moves the wrong replicas.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floodmark.checkers.project import input_file, json_text
from floodmark.checkers.project.json_text import NotJsonError
from floodmark.language.errors import SourceError
from floodmark.language.plurals import counted

VERSION = 1
_REQUIRED = ("topic", "partition", "replicas")
_OPTIONAL = ("original_replicas", "log_dirs")
_MAX_TOPIC = 249
_TOPIC_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


@dataclass(frozen=True, slots=True, order=True)
class TopicPartition:
    """One partition of a topic; prints as Kafka does, ``foo1-0``."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True)
class PartitionReassignment:
    """One entry: the current or future replicas of a partition, the preferred leader first."""

    partition: TopicPartition
    replicas: tuple[int, ...]
    original_replicas: tuple[int, ...] | None = None


def read(path: Path) -> dict[TopicPartition, PartitionReassignment]:
    """The entries of a file, in order. Raises SourceError."""
    return parse(input_file.text_of(path), str(path))


def parse(text: str, file: str = "<text>") -> dict[TopicPartition, PartitionReassignment]:
    """The entries of a text. ``file`` is the name used in errors."""
    try:
        document = json_text.parse(text, _Pairs)
    except NotJsonError as error:
        column = "" if error.column is None else f" (column {error.column})"
        raise SourceError(f"is not JSON: {error}{column}", file, error.line) from None
    try:
        return _entries(document)
    except _BadEntryError as error:
        where = "" if error.index is None else f"partitions[{error.index}]: "
        raise SourceError(f"{where}{error}", file, _line(text, error.index)) from None


def dumps(moves: Iterable[PartitionReassignment]) -> str:
    """The entries as Kafka writes them to ZooKeeper: without spaces, with keys in this order."""
    partitions = []
    for move in moves:
        entry: dict[str, Any] = {
            "topic": move.partition.topic,
            "partition": move.partition.partition,
            "replicas": list(move.replicas),
        }
        if move.original_replicas is not None:
            entry["original_replicas"] = list(move.original_replicas)
        partitions.append(entry)
    return json.dumps({"version": VERSION, "partitions": partitions}, separators=(",", ":"))


class _BadEntryError(Exception):
    """Something wrong with the document, or with the entry at this index."""

    def __init__(self, message: str, index: int | None = None) -> None:
        super().__init__(message)
        self.index = index


class _Pairs(dict[str, Any]):
    """An object without duplicate keys, which Python's parser would accept."""

    def __init__(self, pairs: json_text.Pairs) -> None:
        super().__init__(pairs)
        if len(self) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise NotJsonError(f"an object has the key {twice!r} twice")


def _entries(document: Any) -> dict[TopicPartition, PartitionReassignment]:
    if not isinstance(document, dict):
        raise _BadEntryError(f"is {_kind(document)}, but must be an object with version and partitions")
    for key in document:
        if key not in ("version", "partitions"):
            raise _BadEntryError(f"has the unknown key {key!r}; known: version and partitions")
    for key in ("version", "partitions"):
        if key not in document:
            raise _BadEntryError(f"has no {key!r}")
    if document["version"] is True or document["version"] != VERSION:
        raise _BadEntryError(f"is of version {json.dumps(document['version'])}; only version {VERSION} is known")
    if not isinstance(document["partitions"], list):
        raise _BadEntryError(f"partitions is {_kind(document['partitions'])}, but must be a list")
    moves: dict[TopicPartition, PartitionReassignment] = {}
    for index, entry in enumerate(document["partitions"]):
        try:
            move = _move(entry)
        except _BadEntryError as error:
            raise _BadEntryError(str(error), index) from None
        if move.partition in moves:
            raise _BadEntryError(f"{move.partition} is listed twice", index)
        moves[move.partition] = move
    return moves


def _move(entry: Any) -> PartitionReassignment:
    if not isinstance(entry, dict):
        raise _BadEntryError(f"is {_kind(entry)}, but must be an object")
    for key in entry:
        if key not in (*_REQUIRED, *_OPTIONAL):
            raise _BadEntryError(f"has the unknown key {key!r}; known: {', '.join((*_REQUIRED, *_OPTIONAL))}")
    for key in _REQUIRED:
        if key not in entry:
            raise _BadEntryError(f"has no {key!r}")
    topic, number = entry["topic"], entry["partition"]
    if not isinstance(topic, str):
        raise _BadEntryError(f"topic is {_kind(topic)}, but must be a string")
    if not 0 < len(topic) <= _MAX_TOPIC or not _TOPIC_CHARACTERS.issuperset(topic) or topic in (".", ".."):
        raise _BadEntryError(f"{topic!r} is not a topic name")
    if not _is_natural(number):
        raise _BadEntryError(f"partition is {json.dumps(number)}, but must be a number, 0 or more")
    partition = TopicPartition(topic, number)
    replicas = _replicas(entry["replicas"], f"{partition}: replicas")
    original = entry.get("original_replicas")
    if "original_replicas" in entry:
        original = _replicas(original, f"{partition}: original_replicas")
    if "log_dirs" in entry:
        _check_log_dirs(entry["log_dirs"], len(replicas), f"{partition}: log_dirs")
    return PartitionReassignment(partition, replicas, original)


def _replicas(value: Any, what: str) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise _BadEntryError(f"{what} is {_kind(value)}, but must be a list of brokers")
    if not value:
        raise _BadEntryError(f"{what} is empty")
    for broker in value:
        if not _is_natural(broker):
            raise _BadEntryError(f"{what} has {json.dumps(broker)}, which is not a broker")
        if value.count(broker) > 1:
            raise _BadEntryError(f"{what} has broker {broker} twice")
    return tuple(value)


def _check_log_dirs(value: Any, count: int, what: str) -> None:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _BadEntryError(f"{what} must be a list of paths, or of \"any\"")
    if len(value) != count:
        raise _BadEntryError(f"{what} has {counted(len(value), 'entry')} for {counted(count, 'replica')}")


def _is_natural(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
    return "an object"


def _line(text: str, index: int | None) -> int | None:
    """The line on which the entry at this index begins."""
    if index is None:
        return None
    for position, start in enumerate(_starts(text)):
        if position == index:
            return text.count("\n", 0, start) + 1
    return None


def _starts(text: str) -> Iterator[int]:
    """The positions at which the elements of ``partitions`` begin in a valid text."""
    decoder = json.JSONDecoder()
    place = _skip(text, text.index("{") + 1)
    while True:
        key, place = decoder.raw_decode(text, place)
        place = _skip(text, _skip(text, place) + 1)
        if key == "partitions":
            break
        _, place = decoder.raw_decode(text, place)
        place = _skip(text, _skip(text, place) + 1)
    place = _skip(text, place + 1)
    while text[place] != "]":
        yield place
        _, place = decoder.raw_decode(text, place)
        place = _skip(text, place)
        if text[place] == ",":
            place = _skip(text, place + 1)


def _skip(text: str, place: int) -> int:
    """The position after the white space at this one."""
    while text[place] in " \t\r\n":
        place += 1
    return place
