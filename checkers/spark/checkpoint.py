"""Checkpoints: every complete level is written once, then a small manifest that names all levels before it.

A manifest counts only with the states that it names: they are counted and their digest is compared when they are read,
so a torn checkpoint is found out, and the one of the level before is taken.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from checkers.explicit import flood
from checkers.spark.cluster import Broken, Cluster
from checkers.spark.files import Folder
from model.language.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark import SparkContext

FORMAT = 1
_MANIFEST = "level-{:06}.json"


@dataclass(slots=True)
class Manifest:
    """All of a search but its states. ``level`` levels are complete; ``data`` are the folders with their states."""

    format: int
    model: str
    constants: dict[str, int]
    properties: list[str]
    identity: str
    partitions: int
    level: int
    levels: list[int]
    ends: list[list[int]]
    counters: str
    digest: list[int]
    reached: list[str]
    cut: int
    shuffled: int
    seconds: float
    data: list[str] = field(default_factory=list)


class Checkpoints:
    """The checkpoints of one search in a folder."""

    def __init__(self, context: SparkContext, url: str) -> None:
        self.spark = context
        try:
            self.folder = Folder(context, url)
            self.known = sorted(name for name in self.folder.names() if name.startswith("level-") and ".json" in name)
        except Exception as error:
            raise SourceError(f"the checkpoint folder {url} cannot be reached: {_first_line(error)}") from None
        self.written: list[str] = []
        self.last = -1

    def must_be_empty(self) -> None:
        """Raises SourceError when the folder has checkpoints already."""
        if self.known:
            raise SourceError(f"{self.folder.url} holds checkpoints already: go on from them with --resume, "
                              "or name another folder")

    def save(self, cluster: Cluster, manifest: Manifest) -> None:
        """Writes the levels that were not written before, then the manifest."""
        level = len(cluster.ends[0]) - 1
        if level <= self.last:
            return
        name = f"states-{level:06}"
        self.folder.remove(name)
        pieces = [cluster.level_pieces(number) for number in range(self.last + 1, level + 1)]
        cluster.save(self.spark.union(pieces) if len(pieces) > 1 else pieces[0], self.folder.at(name))
        self.written.append(name)
        self.last = level
        manifest.data = list(self.written)
        self.folder.write(_MANIFEST.format(level), json.dumps(asdict(manifest)).encode())

    def manifests(self) -> Iterator[Manifest]:
        """The manifests that can be read, the newest first."""
        for name in reversed(self.known):
            try:
                data = json.loads(self.folder.read(name))
                if data.get("format") == FORMAT:
                    yield Manifest(**data)
                    continue
            except (ValueError, TypeError):
                continue
            raise SourceError(f"{self.folder.at(name)} was written by another version of floodmark")

    def restore(self, cluster: Cluster, manifest: Manifest) -> bool:
        """Gives a cluster the states of a checkpoint; False when they are not what the manifest says."""
        try:
            for name in manifest.data:
                records = self.spark.pickleFile(self.folder.at(name))
                cluster.put_from(records.map(_as_seed))
            cluster.ends = [list(ends) for ends in manifest.ends]
            cluster.adopt(repair=False)
        except Broken:
            return False
        if [int(cluster.fields[place]) for place in (flood.DIGEST_1, flood.DIGEST_2)] != manifest.digest:
            return False
        cluster.context[:] = np.frombuffer(bytes.fromhex(manifest.counters), dtype=np.uint64)
        totals = [sum(ends[level] for ends in manifest.ends) for level in range(len(manifest.ends[0]))]
        cluster.levels = list(zip([0, *totals], totals[: manifest.level], strict=False))
        cluster.shuffled = manifest.shuffled
        self.written = list(manifest.data)
        self.last = len(manifest.ends[0]) - 1
        return True


def _as_seed(record: tuple[int, int, bytes]) -> tuple[int, tuple[int, bytes]]:
    partition, position, states = record
    return partition, (position, states)


def refuse_another(manifest: Manifest, own: Manifest, url: str) -> None:
    """Raises SourceError when a checkpoint is not of this search."""
    if manifest.identity == own.identity:
        return
    what: Any
    if manifest.model != own.model:
        what = f"of the model {manifest.model}, not {own.model}"
    elif manifest.constants != own.constants:
        pairs = ", ".join(f"{name} = {value}" for name, value in manifest.constants.items())
        what = f"of {own.model} with other constants ({pairs})"
    elif manifest.properties != own.properties:
        what = f"of {own.model} with other properties ({', '.join(manifest.properties) or 'none'})"
    else:
        what = f"of another version of {own.model}, or was made with other options"
    raise SourceError(f"the checkpoint in {url} is {what}; it cannot be resumed")


def _first_line(error: Exception) -> str:
    return str(getattr(error, "java_exception", None) or error).splitlines()[0]
