"""Derives the size of Java's heap and the number of workers of a local Spark from a memory limit.

The limit covers the whole command: this process, Spark's Java process and its Python workers. A search on Spark stores
its states in mapped files, which do not count (``floodmark.checkers.resources``), so nothing here depends on the number
of states.
"""

from __future__ import annotations

from dataclasses import dataclass

DRIVER_BYTES = 220 << 20
"""The memory of this process besides its own states: compiled code, and data that it sends to Java."""
BESIDE_HEAP_BYTES = 300 << 20
"""The memory of the Java process besides its heap: classes, compiled code, buffers, stacks."""
MIN_HEAP_BYTES = 512 << 20
"""The least heap with which Spark starts."""
MAX_HEAP_BYTES = 1 << 30
"""The heap that Spark takes by default."""
WORKER_BYTES = 120 << 20
"""The memory of a Python worker besides its outboxes, and its share of the process that it is forked from."""
MIN_BUFFERS, MAX_BUFFERS = 16 << 20, 128 << 20
"""Bytes for the outboxes and the filter of a task."""


@dataclass(frozen=True, slots=True)
class MemoryShares:
    """Bytes of Java's heap, the number of Python workers, and bytes for the buffers of each."""

    heap: int = MAX_HEAP_BYTES
    workers: int | None = None
    buffers: int = MAX_BUFFERS

    @property
    def elsewhere(self) -> int:
        """Bytes used by the processes that this one starts."""
        return self.heap + BESIDE_HEAP_BYTES + (self.workers or 1) * self.each

    @property
    def each(self) -> int:
        """Bytes used by a Python worker, including its buffers."""
        return WORKER_BYTES + self.buffers


MIN_LIMIT = DRIVER_BYTES + BESIDE_HEAP_BYTES + MIN_HEAP_BYTES + WORKER_BYTES + MIN_BUFFERS
"""The smallest limit with which Spark is used on this machine."""


def share(limit: int | None, cores: int) -> MemoryShares:
    """The division of a memory limit. The limit is at least ``MIN_LIMIT``; without one, Spark uses its defaults."""
    if limit is None:
        return MemoryShares()
    rest = limit - DRIVER_BYTES - BESIDE_HEAP_BYTES - MIN_HEAP_BYTES
    workers = max(1, min(cores, rest // (WORKER_BYTES + MIN_BUFFERS)))
    rest -= workers * WORKER_BYTES
    buffers = max(MIN_BUFFERS, min(MAX_BUFFERS, rest // 2 // workers))
    heap = max(MIN_HEAP_BYTES, min(MAX_HEAP_BYTES, MIN_HEAP_BYTES + rest - workers * buffers))
    return MemoryShares(heap, workers, buffers)
