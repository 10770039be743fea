"""Memory that is reserved at once and taken page by page as it is touched."""

from __future__ import annotations

import contextlib
import mmap
import os
import sys

import numpy as np
from numpy.typing import NDArray

_NO_RESERVE = 0x40 if sys.platform == "darwin" else 0x4000  # MAP_NORESERVE, which mmap names from Python 3.13 on
_HUGE_FROM = 1 << 18
_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE


def reserve(size: int) -> NDArray[np.uint64]:
    """An array of ``size`` words, all zero, whose pages are taken when they are first written."""
    pages = mmap.mmap(-1, max(size, 512) * 8, flags=_FLAGS)
    if size >= _HUGE_FROM and hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # a kernel without huge pages is only slower
            pages.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(pages, dtype=np.uint64)


def physical_memory() -> int:
    """Bytes of memory that this process may use: the machine's, or less where a control group says so."""
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
