"""Huge pages for this process's memory, so that forking it is cheap.

A fork copies one entry for each page that the process has written. The process that runs all tests has about 70,000 of
4 KB, and takes 20 ms to fork, more than most jobs that it forks for; in pages of 2 MB it takes 5 ms. Where Linux is
older than 6.1, or this is another system, nothing happens.
"""

from __future__ import annotations

import ctypes
import resource
import sys
from collections.abc import Iterator

PAGE = 2 << 20
_MADV_COLLAPSE = 25
_MAX_LENGTH = 8 << 30
"""The limit beyond which a mapping is only reserved for a search, and hardly written."""


class HugePages:
    """Moves the heap to huge pages, again whenever processes have been forked: a page that two processes share and one
    of them writes becomes small ones."""

    def __init__(self) -> None:
        self._forked = -1
        self._advise = None
        if sys.platform == "linux":
            self._advise = ctypes.CDLL(None).madvise
            self._advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

    def collapse(self) -> None:
        forked = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
        if self._advise is not None and forked != self._forked:
            self._forked = forked
            for start in heap_pages():
                self._advise(start, PAGE, _MADV_COLLAPSE)


def heap_pages() -> Iterator[int]:
    """The address of each huge page that lies within private memory without a file."""
    with open("/proc/self/maps", encoding="ascii") as maps:
        for line in maps.read().splitlines():
            addresses, rights, _, _, _, *name = line.split(maxsplit=5)
            first, last = (int(address, 16) for address in addresses.split("-"))
            if rights == "rw-p" and name in ([], ["[heap]"]) and last - first < _MAX_LENGTH:
                yield from range(-(-first // PAGE) * PAGE, last - PAGE + 1, PAGE)
