"""Checkpoints: every complete level is written once, with a manifest of what was accepted.

A manifest contains its own checksum, and the name and checksum of the manifest before it, so that one checksum covers
all levels up to it. The states are compared, by level and partition, with the counts and digests in the manifests. A
checkpoint that is incomplete or in which a byte has changed is named, and the one before it is used. Each is read once.

Every run writes under its own names and claims the folder first. Claims are numbered, and a claim is created only if
there is none of its number, so of two runs one succeeds. A run that takes the folder over has the next number; a run
that finds a claim of the number after its own ends.

In an object store, the states are objects whose names are in the manifest; what an attempt that failed left there is of
no account.

A search that restarts with wider containers (``floodmark.checkers.adaptive_capacity``) leaves the checkpoints of its
earlier attempts alone, and writes those of the next attempt to a folder inside of the first. It is resumed from the
last one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from floodmark.checkers.spark.cluster import Cluster
from floodmark.checkers.spark.folders import Folder, ObjectFolder, opened
from floodmark.checkers.spark.jobs import JobFailed
from floodmark.checkers.spark.ledger import DIGEST_1, SEAL_1, Ledger
from floodmark.checkers.spark.object_tasks import StoredObject
from floodmark.checkers.spark.tasks import SeedResult
from floodmark.language.errors import SourceError
from floodmark.language.widths import FIRST_WIDTHS, Widths

if TYPE_CHECKING:
    from pyspark import SparkContext

FORMAT = 4
ATTEMPTS = 2
"""The number of attempts to load the states of checkpoints, if partitions are lost meanwhile."""
_CLAIM = "claim-"
_ANEW = "anew-"
"""Begins the name of the folder of a later attempt, which ends with its number."""


@dataclass(slots=True)
class Manifest:
    """Everything about a search except its states, after ``level`` complete levels.

    ``rows`` has, for each level in the folder ``data`` and each partition, the number of states and their digest.
    ``previous`` is the name and checksum of the manifest before it. In an object store, ``objects`` are those in the
    folder ``data``: partition, position, name. ``widths`` are those of the containers without a
    capacity.
    """

    format: int
    model: str
    constants: dict[str, int]
    properties: list[str]
    identity: str
    partitions: int
    level: int
    counters: str
    reached: list[str]
    cut: int
    shuffled: int
    seconds: float
    widths: dict[str, int] = field(default_factory=dict)
    data: str = ""
    objects: list[tuple[int, int, str]] = field(default_factory=list)
    rows: str = ""
    previous: list[str] = field(default_factory=list)

    def packed(self) -> tuple[bytes, str]:
        """The file's content and its checksum."""
        text = json.dumps(asdict(self), sort_keys=True)
        known = _sum(text)
        return json.dumps({"sum": known, "said": text}).encode(), known

    def counts_and_digests(self) -> Any:
        """By level and partition: the number of states, and the two sums of their fingerprints."""
        return np.frombuffer(bytes.fromhex(self.rows), dtype=np.uint64).reshape(-1, self.partitions, 3)


class Checkpoints:
    """The checkpoints of one search with these widths in a folder."""

    def __init__(self, context: SparkContext, url: str, widths: Widths = FIRST_WIDTHS) -> None:
        self.spark = context
        self.run = uuid.uuid4().hex[:8]
        self.folder, names = _folder(context, url, widths)
        self.known = sorted(name for name in names if name.startswith("level-") and name.endswith(".json"))
        self.claims = [_number(name) for name in names if name.startswith(_CLAIM)]
        self.number = 0
        """The number of this run's claim."""
        self.previous: list[str] = []
        self.last = -1
        self.damaged: dict[str, None] = {}
        """The names of what was read and is damaged."""
        self._manifests: dict[str, tuple[Manifest, str] | None] = {}

    def must_be_empty(self) -> None:
        """Raises SourceError if the folder already has checkpoints or another run is about to write some."""
        if self.known:
            raise SourceError(f"{self.folder.url} already holds checkpoints: continue from them with --spark resume, "
                              "or name another folder")
        if self.claims:
            raise SourceError(f"another run has taken {self.folder.url} for its checkpoints: "
                              f"{self._claimant(max(self.claims))}; name another folder, or take this one over with "
                              "--spark resume when that run has ended")

    def claim(self) -> None:
        """Claims the folder for this run; a run that claimed it earlier ends when it next tries to write."""
        text = json.dumps({"run": self.run, "host": socket.gethostname(), "process": os.getpid()})
        self.number = max(self.claims, default=0) + 1
        name = _claim(self.number)
        try:
            is_ours = self.folder.create(name, text.encode())
        except Exception as error:
            raise SourceError(f"{self.folder.at(name)} cannot be written: {_first_line(error)}") from None
        if not is_ours:
            raise SourceError(f"another run has just taken {self.folder.url} for its checkpoints: "
                              f"{self._claimant(self.number)}; each run needs its own folder")

    def _claimant(self, number: int) -> str:
        """The run that has a claim, as far as it can be identified."""
        try:
            content = json.loads(self.folder.read(_claim(number)))
            return f"process {content['process']} on {content['host']}"
        except Exception:
            return "an unknown run"

    def replaced(self) -> set[tuple[str, str]]:
        """The host and the process of each other driver that had claimed the folder, as far as they can be read."""
        found = set()
        for number in self.claims:
            with contextlib.suppress(Exception):
                content = json.loads(self.folder.read(_claim(number)))
                found.add((str(content["host"]), str(content["process"])))
        return found - {(socket.gethostname(), str(os.getpid()))}

    def begin_anew(self) -> None:
        """Has the next checkpoint contain all levels: the partitions are others than those of the one before."""
        self.previous, self.last = [], -1

    def _must_be_ours(self) -> None:
        newest = max((_number(name) for name in self.folder.names() if name.startswith(_CLAIM)), default=0)
        if newest != self.number:
            raise SourceError(f"another run writes its checkpoints to {self.folder.url}: {self._claimant(newest)}; "
                              "each run needs its own folder")

    def _write(self, name: str, content: bytes) -> None:
        try:
            self.folder.write(name, content)
        except Exception as error:
            raise SourceError(f"{self.folder.at(name)} cannot be written: {_first_line(error)}") from None

    def save(self, cluster: Cluster, manifest: Manifest) -> None:
        """Writes the levels not written yet, then the manifest."""
        level = cluster.ledger.levels - 1
        if level <= self.last:
            return
        self._must_be_ours()
        numbers = range(self.last + 1, level + 1)
        name = f"states-{level:06}-{self.run}"
        objects: list[StoredObject] = []
        try:
            if isinstance(self.folder, ObjectFolder):
                objects = cluster.save_objects(numbers, self.folder.at(name))
            else:
                pieces = [cluster.level_pieces(number) for number in numbers]
                cluster.save(self.spark.union(pieces) if len(pieces) > 1 else pieces[0], self.folder.at(name))
        except JobFailed as error:
            raise SourceError(f"the checkpoint {self.folder.at(name)} cannot be written: {error.message}") from None
        ledger = cluster.ledger
        rows = np.stack([_row(ledger, number) for number in numbers])
        named = [(each.partition, each.position, each.name) for each in objects]
        own = replace(manifest, data=name, objects=named, rows=rows.tobytes().hex(), previous=self.previous)
        content, known = own.packed()
        path = f"level-{level:06}-{self.run}.json"
        self._must_be_ours()
        self._write(path, content)
        self.previous = [path, known]
        self.last = level

    # Reading.

    def manifests(self) -> Iterator[list[Manifest]]:
        """The manifests from which a search could continue, newest first, each with those before it, in order."""
        for name in reversed(self.known):
            chain = self._chain(name)
            if chain:
                yield chain

    def _chain(self, name: str) -> list[Manifest]:
        """A manifest and those before it; empty when one of them is damaged."""
        chain: list[Manifest] = []
        wanted = ""
        while True:
            if name not in self._manifests:
                self._manifests[name] = self._read(name)
            found = self._manifests[name]
            if found is None or wanted not in ("", found[1]):
                self.damaged.setdefault(name)
                return []
            chain.append(found[0])
            if not found[0].previous:
                return chain[::-1]
            name, wanted = found[0].previous

    def _read(self, name: str) -> tuple[Manifest, str] | None:
        """A manifest with its checksum; None if it is damaged. Raises SourceError if another version wrote it."""
        try:
            found = json.loads(self.folder.read(name))
            content = found
            if "format" not in found:  # the first version had it here, and no checksum
                if _sum(found["said"]) != found["sum"]:
                    return None
                content = json.loads(found["said"])
            is_ours = content["format"] == FORMAT
        except Exception:  # a damaged file may raise anything
            return None
        if not is_ours:
            raise SourceError(f"{self.folder.at(name)} was written by another version of floodmark")
        return Manifest(**content), found["sum"]

    def resume(
        self, new_cluster: Callable[[Manifest], Cluster], tell: Callable[[str], None]
    ) -> tuple[Cluster, Manifest]:
        """A cluster with the newest level that is intact together with all before it, and its manifest.

        What a level has is read once, from the first on, until it is damaged. Raises SourceError if nothing is intact.
        """
        found: tuple[Cluster, Manifest] | None = None
        for chain in self.manifests():
            is_better = found is None or chain[-1].level > found[1].level
            if not is_better or any(manifest.data in self.damaged for manifest in chain):
                continue
            cluster = new_cluster(chain[-1])
            intact = self._restored(cluster, chain, tell)
            if not intact or (found is not None and chain[intact - 1].level <= found[1].level):
                cluster.close()
                continue
            if found is not None:
                found[0].close()
            found = cluster, chain[intact - 1]
        if found is None:
            raise SourceError(f"there is no intact checkpoint in {self.folder.url}: {self.damage()}")
        return self._resumed(*found)

    def damage(self) -> str:
        """The error for a damaged checkpoint."""
        return f"damaged: {', '.join(sorted(self.damaged))}" if self.damaged else ""

    def _restored(self, cluster: Cluster, chain: list[Manifest], tell: Callable[[str], None]) -> int:
        """The number of manifests of a chain, from the first on, whose states the cluster has."""
        ledger = Ledger(chain[-1].partitions)
        levels = []
        for each in chain:
            first = ledger.levels
            for level in each.counts_and_digests():
                ledger.accept([int(count) for count in level[:, 0]], level[:, 1:])
            levels.append(range(first, ledger.levels))

        def parts() -> Iterator[tuple[Callable[[str], list[SeedResult]], range]]:
            for number, (each, own) in enumerate(zip(chain, levels, strict=True), 1):
                tell(f"reads checkpoint {number} of {len(chain)}")
                yield partial(self._put, cluster, each, ledger), own

        for attempt in range(ATTEMPTS):
            try:
                known = cluster.restore(ledger, parts())
            except JobFailed:
                if attempt == ATTEMPTS - 1:
                    raise
            else:
                break
        intact = sum(own.stop <= known for own in levels)
        if intact < len(chain):
            self.damaged.setdefault(chain[intact].data)
        return intact

    def _put(self, cluster: Cluster, manifest: Manifest, ledger: Ledger, token: str) -> list[SeedResult]:
        """Gives the partitions of a cluster the states that a manifest is about."""
        data = self.folder.at(manifest.data)
        if isinstance(self.folder, ObjectFolder):
            objects = [StoredObject(*named) for named in manifest.objects]
            return cluster.put_from_objects(data, objects, ledger, token)
        return cluster.put_from(self.spark.pickleFile(data).map(_as_seed), token)

    def _resumed(self, cluster: Cluster, manifest: Manifest) -> tuple[Cluster, Manifest]:
        """Has the cluster, and what is written from now on, continue from a manifest."""
        ends = np.cumsum(cluster.ledger.widths()[: manifest.level]).tolist()
        cluster.goes_on_from(ends, np.frombuffer(bytes.fromhex(manifest.counters), dtype=np.uint64))
        cluster.shuffled = manifest.shuffled
        _, known = manifest.packed()
        self.last = cluster.ledger.levels - 1
        self.previous = [self._name_of(manifest), known]
        return cluster, manifest

    def _name_of(self, manifest: Manifest) -> str:
        """The name of the file that a manifest was read from, which is also that of its data."""
        return f"{manifest.data.replace('states-', 'level-')}.json"


def newest_widths(context: SparkContext, url: str) -> Widths:
    """The widths at which to resume: those of the last attempt that has a checkpoint in the folder."""
    folder, names = _folder(context, url, FIRST_WIDTHS)
    for name in sorted((name for name in names if name.startswith(_ANEW)), reverse=True):
        for chain in Checkpoints(context, folder.at(name)).manifests():
            return Widths(chain[-1].widths)
    return FIRST_WIDTHS


def _folder(context: SparkContext, url: str, widths: Widths) -> tuple[Folder, list[str]]:
    """The folder for the checkpoints of an attempt, and the names in it."""
    own = f"{url.rstrip('/')}/{_ANEW}{widths.doublings:04}" if widths.doublings else url
    try:
        folder = opened(context, own)
        return folder, folder.names()
    except SourceError:
        raise
    except Exception as error:
        raise SourceError(f"the checkpoint folder {own} cannot be reached: {_first_line(error)}") from None


def _claim(number: int) -> str:
    return f"{_CLAIM}{number:06}.json"


def _number(claim: str) -> int:
    return int(claim[len(_CLAIM) :].removesuffix(".json"))


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _row(ledger: Ledger, level: int) -> Any:
    counts = np.array(ledger.counts(level), dtype=np.uint64)
    return np.column_stack([counts, ledger.rows[level, :, DIGEST_1:SEAL_1]])


def _as_seed(record: tuple[int, int, bytes]) -> tuple[int, tuple[int, bytes]]:
    partition, position, states = record
    return partition, (position, states)


def refuse_another(manifest: Manifest, own: Manifest, url: str) -> None:
    """Raises SourceError when a checkpoint belongs to a different search."""
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
