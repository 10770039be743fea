"""Whether Floodmark's own sources are still those that this process has loaded.

Keys on disk contain a hash of these files. If an upgrade or an edit changes them while a process runs, such as a
notebook or a long gate, the hash and the loaded code may be of different versions, and modules that are imported later
are of another version than the earlier ones. What such a process makes must not be kept under any key.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from floodmark import language

_PACKAGE = Path(__file__).resolve().parents[1]
_RECENT_SECONDS = 0.2
"""The time for which an answer is used again: to look at all files takes some milliseconds."""
_known = (float("-inf"), True)


def are_as_loaded() -> bool:
    """Whether no source file was changed since the process began to import the package.

    The time of a file is that at which the system last changed its entry. Unlike the time of its content, it cannot be
    set, so an archive or a copy that keeps old times counts as a change.
    """
    global _known
    now = time.monotonic()
    if now - _known[0] > _RECENT_SECONDS:
        _known = now, _latest_change(_PACKAGE) <= language.loaded_at
    return _known[1]


def _latest_change(package: Path) -> float:
    """The time of the latest change of a source file, in nanoseconds; infinity if the files cannot be read."""
    try:
        if package.is_dir():
            return max(_changes(str(package)), default=float("inf"))
        archive = next(each for each in package.parents if each.exists())
        return archive.stat().st_ctime_ns
    except OSError:
        return float("inf")


def _changes(folder: str) -> list[int]:
    found: list[int] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                found += _changes(entry.path)
            elif entry.name.endswith(".py"):
                found.append(entry.stat().st_ctime_ns)
    return found
