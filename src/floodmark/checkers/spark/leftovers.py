"""Removes what killed searches have left on a machine of a cluster, and says what it leaves and why.

A wrong removal costs a running search time, so whatever is uncertain is left. What is removed:

- folders whose driver is known to have ended and that no process of this machine uses (``driver_marks.py``);
- folders of drivers whose checkpoints a run has taken over: they end when they next write. That is looked up by host
  and process number, which two drivers may share, so a driver that is known to run keeps its folders;
- folders unchanged for a week by the clock of this machine, which may have been set meanwhile. So a driver that answers
  keeps them also then, and so does a process of this machine that uses them.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Collection, Iterable, Iterator
from functools import partial
from pathlib import Path

from floodmark.checkers.spark.driver_marks import Address, driver_of, unless_locked
from floodmark.checkers.spark.tasks import SearchContext, scratch_folders

OLD_SECONDS = 7 * 24 * 3600
"""Files unchanged for so long belong to no running search. A level takes less."""


def remove(run: SearchContext, replaced: Collection[tuple[str, str]], partition: int) -> Iterator[int]:
    """Removes the folders of ended searches from this machine. ``replaced`` are drivers whose checkpoints this one has
    taken over, by host and process."""
    for _ in cleared(scratch_folders(run), run.folder, run.driver, replaced):
        pass
    yield partition


def cleared(
    folders: Iterable[Path], own: str = "", address: Address | None = None, replaced: Collection[tuple[str, str]] = ()
) -> Iterator[tuple[Path, str]]:
    """Removes the folders of ended searches, except for one's ``own``; yields each with the reason for which it was
    left, empty if it was removed. ``address`` is that of one's own driver."""
    for folder in folders:
        for other in sorted(folder.glob("*+*+*")):
            if other.name != own:
                yield other, _removed(other, address, replaced)


def _removed(folder: Path, address: Address | None, replaced: Collection[tuple[str, str]]) -> str:
    driver, (host, process, _) = driver_of(folder, address), folder.name.rsplit("+", 2)
    remove = partial(shutil.rmtree, folder, ignore_errors=True)
    if not driver.runs and (host, process) in replaced:
        remove()  # its executors may still run: not all of them have noticed yet
        return ""
    if driver.runs or (driver.runs is None and not _is_old(folder)):
        return driver.why
    return "" if unless_locked(folder, remove) else "a process of this machine uses it"


def _is_old(folder: Path) -> bool:
    return time.time() - max(_changed(path) for path in [folder, *folder.glob("*")]) > OLD_SECONDS


def _changed(path: Path) -> float:
    with contextlib.suppress(OSError):
        return path.stat().st_mtime
    return 0.0
