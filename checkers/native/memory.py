"""Memory: how much a command uses, how much it may use, and how it is taken page by page.

Only pages that exist nowhere but in memory count: anonymous and shared ones, of this process, of those that it started,
and of the one that started it for a check. Pages of files on a disk do not count: the system reclaims them when memory
is needed, at the cost of reading them again.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_NO_RESERVE = 0x40 if sys.platform == "darwin" else 0x4000  # MAP_NORESERVE, which mmap has from Python 3.13 on
_HUGE_FROM = 1 << 21
_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
_LEAST = 4096
_MMAP_THRESHOLD = -3  # M_MMAP_THRESHOLD of malloc.h
PAGE = 1 << 21
"""Large areas are taken in pages of this size where the system supports it."""
SHARE_OF_MEMORY = 0.85
"""How much of the machine's memory a search may take when no limit is given."""
OTHERS_SECONDS = 0.3
"""How long a measurement of other processes stays valid: finding them costs milliseconds."""
MARGIN = 8 << 20
"""Bytes of a limit kept free for what cannot be foreseen: what Python and the system allocate meanwhile."""


class Region:
    """Bytes reserved at once, all zero, and taken when first written."""

    def __init__(self, size: int) -> None:
        self.size = in_pages(size) if size >= _HUGE_FROM else max(size, _LEAST)  # otherwise it begins inside one
        self._pages = mmap.mmap(-1, self.size, flags=_FLAGS)
        if self.size >= _HUGE_FROM and hasattr(mmap, "MADV_HUGEPAGE"):
            with contextlib.suppress(OSError):  # without huge pages it is only slower
                self._pages.madvise(mmap.MADV_HUGEPAGE)
        self.bytes = np.frombuffer(self._pages, dtype=np.uint8)
        self.address = int(self.bytes.ctypes.data)

    def give_back(self, start: int, stop: int) -> None:
        """Releases the pages between two bytes. Their contents are lost."""
        first = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE
        last = stop // mmap.PAGESIZE * mmap.PAGESIZE
        if first < last and hasattr(mmap, "MADV_DONTNEED"):
            self._pages.madvise(mmap.MADV_DONTNEED, first, last - first)


def reserve(size: int) -> NDArray[np.uint64]:
    """An array of ``size`` words, all zero, whose pages are taken when first written."""
    return Region(max(size, 1) * 8).bytes[: max(size * 8, _LEAST) // 8 * 8].view(np.uint64)


def give_back_large_arrays() -> None:
    """From now on, freeing a large array returns its memory to the system instead of keeping it for the next one."""
    with contextlib.suppress(AttributeError, OSError):  # systems without glibc work differently
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, 1 << 18)


def in_pages(size: int) -> int:
    """``size`` bytes rounded up to pages."""
    return -(-size // PAGE) * PAGE


class Budget:
    """The memory that a search may have: a limit for the whole command, in bytes, or most of the machine's.

    ``elsewhere`` is the part of it, in bytes, reserved for processes that this one starts.
    """

    def __init__(self, limit: int | None, elsewhere: int = 0) -> None:
        self.limit = limit if limit is not None else int(SHARE_OF_MEMORY * physical_memory())
        self.elsewhere = elsewhere
        self._others = (-OTHERS_SECONDS, 0)

    def room(self, held: int) -> int:
        """Bytes that a holder of ``held`` bytes may grow to, given everything else in use."""
        return self.limit - MARGIN - max(self.elsewhere, self.others()) - (memory_of_this_process() - held)

    def used(self) -> int:
        """Bytes that the command uses."""
        return memory_of_this_process() + self.others()

    def others(self) -> int:
        """Bytes that other processes of the command used a moment ago."""
        now = time.monotonic()
        if now - self._others[0] >= OTHERS_SECONDS:
            self._others = (now, memory_of_others())
        return self._others[1]

    def of_pages(self, workers: int) -> int:
        """Bytes that the last page of each worker's store may take beyond its states."""
        return workers * PAGE


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
    """Bytes of this process that count; its peak use where the system does not say."""
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


def _others() -> Iterator[int]:
    parent = multiprocessing.parent_process()
    if parent is not None and parent.pid is not None:
        yield parent.pid
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            after_name = (entry / "stat").read_bytes().rpartition(b")")[2].split()
            children.setdefault(int(after_name[1]), []).append(int(entry.name))
    found = [os.getpid()]
    for process in found:
        found += children.get(process, [])
    yield from found[1:]


def _counted(process: int) -> int:
    """The bytes of a process that count."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace").splitlines()
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(("RssAnon:", "RssShmem:")))
