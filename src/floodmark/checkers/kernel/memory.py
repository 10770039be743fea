"""Memory: how much a search may use, and how it is taken page by page."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import sys

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.resources import CommandMemory, memory_of_this_process, physical_memory

_NO_RESERVE = 0x40 if sys.platform == "darwin" else 0x4000  # MAP_NORESERVE, which mmap has from Python 3.13 on
_HUGE_FROM = 1 << 21
_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
_MIN_BYTES = 4096
_MMAP_THRESHOLD = -3  # M_MMAP_THRESHOLD of malloc.h
PAGE = 1 << 21
"""Large areas are taken in pages of this size where the system supports it."""
SHARE_OF_MEMORY = 0.85
"""The share of the machine's memory that a search may use without a limit."""
MARGIN = 8 << 20
"""Bytes of a limit kept free for what cannot be foreseen: what Python and the system allocate meanwhile."""


class ReservedMemory:
    """Bytes reserved at once, all zero, and taken when first written."""

    def __init__(self, size: int) -> None:
        self.size = in_pages(size) if size >= _HUGE_FROM else max(size, _MIN_BYTES)  # otherwise it begins inside one
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
    return ReservedMemory(max(size, 1) * 8).bytes[: max(size * 8, _MIN_BYTES) // 8 * 8].view(np.uint64)


def give_back_large_arrays() -> None:
    """Makes the allocator return the memory of freed large arrays to the system instead of keeping it."""
    with contextlib.suppress(AttributeError, OSError):  # systems without glibc work differently
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, 1 << 18)


def in_pages(size: int) -> int:
    """``size`` bytes rounded up to pages."""
    return -(-size // PAGE) * PAGE


class MemoryBudget(CommandMemory):
    """The memory that a search may have: a limit for the whole command, in bytes, or most of the machine's.

    ``elsewhere`` is the part of it, in bytes, reserved for processes that this one starts.
    """

    def __init__(self, limit: int | None, elsewhere: int = 0) -> None:
        super().__init__()
        self.limit = limit if limit is not None else int(SHARE_OF_MEMORY * physical_memory())
        self.elsewhere = elsewhere

    def room(self, held: int) -> int:
        """Bytes that a holder of ``held`` bytes may grow to, given everything else in use."""
        return self.limit - MARGIN - max(self.elsewhere, self.others()) - (memory_of_this_process() - held)

    def of_pages(self, workers: int) -> int:
        """Bytes that the last page of each worker's store may take beyond its states."""
        return workers * PAGE
