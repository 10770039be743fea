"""Removes the leftovers of killed searches on the machines of a cluster."""

from __future__ import annotations

import contextlib
import shutil
import socket
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from floodmark.checkers.spark.tasks import SearchContext, scratch_folders

OLD_SECONDS = 7 * 24 * 3600
"""Files unchanged for so long belong to no running search. A level takes less."""


def others(run: SearchContext, partition: int) -> Iterator[tuple[str, float]]:
    """The folders of other searches on this machine, and how long ago each was changed, in seconds."""
    now = time.time()
    for folder in scratch_folders(run):
        for other in folder.glob("*+*+*"):
            if other.name != run.folder:
                changed = [_changed(path) for path in [other, *other.glob("*")]]
                yield other.name, now - max(changed)


def _changed(path: Path) -> float:
    with contextlib.suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def is_left(name: str, seconds: float, replaced: Collection[tuple[str, str]] = ()) -> bool:
    """Whether a search has ended, whose folder has this name and was changed so long ago. To be asked on the driver's
    machine: the name has the host and the process of the driver. ``replaced`` are drivers whose checkpoints this one
    has taken over: they end when they next write, and a loss costs them nothing but time."""
    host, process, _ = name.split("+")
    if (host, process) in replaced:
        return True
    if host == socket.gethostname() and process.isdigit():
        return not Path(f"/proc/{process}").exists()
    return seconds > OLD_SECONDS


def remove(run: SearchContext, names: Sequence[str], partition: int) -> Iterator[int]:
    """Removes the folders of searches from this machine."""
    for folder in scratch_folders(run):
        for name in names:
            shutil.rmtree(folder / name, ignore_errors=True)
    yield partition
