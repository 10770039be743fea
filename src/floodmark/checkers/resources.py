"""The memory and the cores of the machine that a command uses.

Only pages that exist nowhere but in memory count: anonymous and shared ones, of this process, of those that it started,
and of the one that started it for a check. Pages of files on a disk do not count: the system reclaims them when memory
is needed, at the cost of reading them again.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

OTHERS_SECONDS = 0.3
"""The seconds for which a measurement of other processes stays valid: finding them costs milliseconds."""

_latest = (0, 0.0, 0)
"""The process that measured others last, the time, and the bytes: one process makes many small searches."""


def cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class CommandMemory:
    """The memory of a command, cheap to request repeatedly."""

    def used(self) -> int:
        """Bytes that the command uses."""
        return memory_of_this_process() + self.others()

    def others(self) -> int:
        """Bytes that other processes of the command used a moment ago."""
        global _latest
        process, now = os.getpid(), time.monotonic()
        if _latest[0] != process or now - _latest[1] >= OTHERS_SECONDS:
            _latest = process, now, memory_of_others()
        return _latest[2]


def physical_memory() -> int:
    """Bytes of memory that this process may use: the machine's, or less if a control group limits it."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            with open(name) as file:
                text = file.read().strip()
        except OSError:
            continue
        if text.isdigit():
            total = min(total, int(text))
    return total


def memory_of_command() -> int:
    """Bytes of this command's processes that count.

    A page shared by a process and the one that it was forked from counts in both, so this is never too little.
    """
    return memory_of_this_process() + memory_of_others()


def memory_of_this_process() -> int:
    """Bytes of this process that count; its peak use where the system gives no other figure."""
    try:
        return _counted(os.getpid())
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def memory_of_others() -> int:
    """Bytes that count of all descendants of this process, and of the process that started it for a check."""
    found = 0
    for process in _others():
        with contextlib.suppress(OSError):  # it has ended
            found += _counted(process)
    return found


def memory_of(process: int) -> int:
    """Bytes that count of a process and of all its descendants; 0 where the system gives no figure."""
    found = 0
    for each in _with_descendants(process):
        with contextlib.suppress(OSError):  # it has ended
            found += _counted(each)
    return found


def _others() -> Iterator[int]:
    parent = multiprocessing.parent_process()
    if parent is not None and parent.pid is not None:
        yield parent.pid
    yield from _with_descendants(os.getpid())[1:]


def _with_descendants(root: int) -> list[int]:
    listed = os.path.exists(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    every = {} if listed else _all_children()
    found = [root]
    for each in found:
        found += _children_of(each) if listed else every.get(each, [])
    return found


def _children_of(process: int) -> list[int]:
    """The processes that the threads of a process have started, where the system lists them."""
    found: list[int] = []
    with contextlib.suppress(OSError):  # it has ended
        for thread in os.listdir(f"/proc/{process}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{process}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
    return found


def _all_children() -> dict[int, list[int]]:
    """The processes that each process has started, from the parent that each process names."""
    children: dict[int, list[int]] = {}
    for process in filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc") else ()):
        with contextlib.suppress(OSError), open(f"/proc/{process}/stat", "rb") as file:  # it may have ended
            after_name = file.read().rpartition(b")")[2].split(maxsplit=2)
            children.setdefault(int(after_name[1]), []).append(int(process))
    return children


def _counted(process: int) -> int:
    """The bytes of a process that count."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace").splitlines()
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(("RssAnon:", "RssShmem:")))
