"""Tasks that write a partition's states to an object store, and read them again."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from floodmark.checkers.spark.folders import ObjectFolder
from floodmark.checkers.spark.ledger import AcceptedLevels, Array
from floodmark.checkers.spark.reader import StateReader
from floodmark.checkers.spark.shard import PartitionLost
from floodmark.checkers.spark.tasks import OUTBOX_BYTES, MissingPartition, SearchContext, SeedResult, reading, shard_of

OBJECT_BYTES = 32 << 20
"""An object in an object store has about this size at most; a task holds one in memory."""


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object with states of a partition, from a position on."""

    partition: int
    position: int
    name: str


def write_objects(
    run: SearchContext, accepted: AcceptedLevels, levels: tuple[int, int], url: str, partition: int
) -> Iterator[StoredObject | MissingPartition]:
    """Writes the partition's states from one level to another to an object store.

    The names are those of this attempt, so that another one, or what it left, changes nothing. Levels follow each other
    without a gap, so an object may have states of several.
    """
    shard, folder, token = shard_of(run, partition), ObjectFolder(url), uuid.uuid4().hex[:12]
    most = min(OBJECT_BYTES, run.buffers)
    waiting: list[bytes] = []
    first = size = 0

    def written() -> StoredObject:
        name = f"{partition:05}-{first:012}-{token}"
        folder.write(name, b"".join(waiting))
        return StoredObject(partition, first, name)

    try:
        with reading(shard, accepted, partition):
            reader = StateReader(shard.code)
            for level in range(*levels):
                for at in shard.read(reader, level, min(OUTBOX_BYTES, most)):
                    if not waiting:
                        first = at
                    waiting.append(reader.states.tobytes())
                    size += len(waiting[-1])
                    if size >= most:
                        yield written()
                        waiting, size = [], 0
            if size:
                yield written()
    except PartitionLost as lost:
        yield MissingPartition(partition, str(lost))


def seed_from_objects(
    run: SearchContext, token: str, url: str, objects: Sequence[StoredObject], ends: Mapping[int, Array], partition: int
) -> Iterator[SeedResult]:
    """Gives the partition the states in its objects; says what it was given, by levels, of which ``ends`` has the ends
    in each partition."""
    shard, folder = shard_of(run, partition), ObjectFolder(url)
    reader = StateReader(shard.code)
    for each in objects:
        if each.partition == partition:
            content = folder.read(each.name)
            states = np.frombuffer(content[: len(content) // 8 * 8], dtype=np.uint64)
            last = each.position + len(states) // shard.words
            cuts = [each.position, *(int(end) for end in ends[partition] if each.position < end < last), last]
            for start, stop in pairwise(cuts):
                piece = states[(start - each.position) * shard.words : (stop - each.position) * shard.words]
                reader.begin()
                reader.copy(piece)
                shard.put(token, start, piece.tobytes())
                yield SeedResult(partition, start, stop - start, reader.digest)
