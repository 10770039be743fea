"""Disturbs a standalone cluster while a search runs on it: processes are killed or paused, files vanish."""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import shutil
import signal
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from benchmarks.standalone import Standalone, python_workers

Found = TypeVar("Found", int, Path)

LOOK_SECONDS = 0.005
LONGEST_PAUSE = 1.2
"""The maximum pause of a Python worker, in seconds: longer than Spark takes to start a second attempt."""
MAX_WAIT = 0.5
"""The maximum delay of a disturbance after the start of a job, in seconds."""
WEIGHTS = {
    "Python worker killed": 4,
    "Python worker paused": 2,
    "executor killed": 2,
    "worker killed with its executors": 1,
    "partition removed": 4,
    "older files put back": 3,
    "disk removed": 2,
    "shuffled files removed": 4,
}
SET_ASIDE = "partition set aside"
"""Comes before ``older files put back``: what is put back is what was there."""


@dataclass(frozen=True)
class Loss:
    """One thing to do: once the search has begun this many jobs, and this part of a usual job later.

    ``whole`` says that the job begins only when the cluster has replaced all that was killed before, so that partitions
    can go back to where they were.
    """

    kind: str
    job: int
    part: float
    whole: bool


def drawn(draw: random.Random, count: int, jobs: int) -> list[Loss]:
    """Losses at random moments of a search of so many jobs. Some come in quick succession: the second one finds the
    search at work on what the first one did."""
    losses: list[Loss] = []
    for kind in draw.choices(list(WEIGHTS), list(WEIGHTS.values()), k=count):
        job = draw.randint(2, jobs)
        if losses and draw.random() < 0.4:
            job = losses[-1].job + draw.randint(0, 3)
        if kind == "older files put back":
            losses.append(Loss(SET_ASIDE, job, draw.random(), False))
            job += draw.randint(1, 4)
        losses.append(Loss(kind, job, draw.random(), draw.random() < 0.5))
    return sorted(losses, key=lambda loss: loss.job)


@dataclass
class Harm:
    """Disturbances of a cluster while a search runs. ``begun`` is the number of jobs that it has begun, ``is_its``
    whether an executor, given by its command line, works for it, and ``folder`` the name of its folders, if known."""

    cluster: Standalone
    draw: random.Random
    begun: Callable[[], int]
    is_its: Callable[[str], bool]
    folder: Callable[[], str]
    done: Counter[str] = field(default_factory=Counter)
    aside: list[tuple[Path, Path]] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    @contextlib.contextmanager
    def at_work(self, losses: Sequence[Loss]) -> Iterator[None]:
        """Does what was drawn, in another thread, until the block ends."""
        worker = threading.Thread(target=self._work, args=(losses,), daemon=True)
        worker.start()
        try:
            yield
        finally:
            self.ended.set()
            worker.join()

    def _work(self, losses: Sequence[Loss]) -> None:
        started, first = time.monotonic(), self.begun()
        for loss in losses:
            while self.begun() < loss.job:
                if self.ended.wait(LOOK_SECONDS):
                    return
            usual = (time.monotonic() - started) / max(1, self.begun() - first)
            self.ended.wait(min(MAX_WAIT, loss.part * usual))
            while not self.ended.is_set() and not self._do(loss.kind):
                self.ended.wait(LOOK_SECONDS)
            if not self.ended.is_set():
                self.done[loss.kind] += 1

    def _do(self, kind: str) -> bool:
        """Does one thing; False when there was nothing to do it to."""
        known: dict[str, Callable[[], bool]] = {
            "Python worker killed": self._python_worker,
            "Python worker paused": self._pause,
            "executor killed": self._executor,
            "worker killed with its executors": self._worker,
            "partition removed": lambda: _removed(self._one(self._partitions())),
            SET_ASIDE: self._set_aside,
            "older files put back": self._put_back,
            "disk removed": lambda: _removed(self._one(self.cluster.folder.glob("disk-*/*"))),  # of all searches
            "shuffled files removed": self._shuffled,
        }
        return known[kind]()

    def _python_worker(self) -> bool:
        pid = self._one(self._python_workers())
        return pid is not None and signalled(pid, signal.SIGKILL)

    def _pause(self) -> bool:
        """Stops a Python worker for a while. Spark may start its task again elsewhere meanwhile; then two are at it."""
        pid = self._one(self._python_workers())
        if pid is None or not signalled(pid, signal.SIGSTOP):
            return False
        again = threading.Timer(self.draw.uniform(0.1, LONGEST_PAUSE), signalled, (pid, signal.SIGCONT))
        again.daemon = True
        again.start()
        return True

    def _executor(self) -> bool:
        pid = self._one(self._executors())
        return pid is not None and signalled(pid, signal.SIGKILL)

    def _worker(self) -> bool:
        self.cluster.replace_worker(self.draw.randrange(len(self.cluster.workers)))
        return True

    def _set_aside(self) -> bool:
        """Renames a partition's folder, as if the partition had moved to a machine without files of it."""
        folder = self._one(self._partitions())
        if folder is None:
            return False
        kept = self.cluster.folder / f"aside-{uuid.uuid4().hex}"
        try:
            folder.rename(kept)
        except OSError:  # another loss, or the search itself, was faster
            return False
        self.aside.append((kept, folder))
        return True

    def _put_back(self) -> bool:
        """Puts the oldest files that were set aside where they were, as if the partition had moved back. Newer files
        that it has there go, between two tasks."""
        if not self.aside:
            return False
        kept, folder = self.aside[0]
        newer = self.cluster.folder / f"newer-{uuid.uuid4().hex}"
        try:
            if folder.exists():
                with open(folder / "lock", "a+b") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    folder.rename(newer)
                    kept.rename(folder)
            else:
                folder.parent.mkdir(parents=True, exist_ok=True)
                kept.rename(folder)
        except OSError:  # a task is using it, or has just made it
            return False
        shutil.rmtree(newer, ignore_errors=True)
        del self.aside[0]
        return True

    def _shuffled(self) -> bool:
        found = [(modified(path), path) for path in self.cluster.folder.glob("shuffled-*/**/shuffle_*.data")]
        return sum(_removed(path) for _, path in sorted(found)[-4:]) > 0

    # What there is.

    def _one(self, of: Iterable[Found]) -> Found | None:
        known = sorted(of)
        return self.draw.choice(known) if known else None

    def _executors(self) -> list[int]:
        return [pid for pid, line in self.cluster.executors().items() if self.is_its(line)]

    def _python_workers(self) -> list[int]:
        return [worker for executor in self._executors() for worker in python_workers(executor)]

    def _partitions(self) -> Iterator[Path]:
        """The folders of the search's partitions, on all disks."""
        return self.cluster.folder.glob(f"disk-*/*/{self.folder() or '*'}/*")


def modified(path: Path) -> float:
    with contextlib.suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def signalled(pid: int, number: int) -> bool:
    """Sends a signal; False if the process has ended."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def _removed(path: Path | None) -> bool:
    if path is None or not path.exists():
        return False
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
    return True
