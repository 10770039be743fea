"""What follows from a limit of memory for Spark on this machine: how large Java's heap is, how many workers there are.

The limit is of all that the command has: this process, Spark's Java process and its Python workers. What a
search stores on Spark lies in mapped files, which do not count (`floodmark.checkers.native.memory`), so nothing here
depends on how many states there are.
"""

from __future__ import annotations

from dataclasses import dataclass

DRIVER_BYTES = 220 << 20
"""What this process has beside its own states, with code compiled and what it sends to Java."""
BESIDE_HEAP_BYTES = 300 << 20
"""What the Java process has beside its heap: classes, compiled code, buffers, stacks."""
LEAST_HEAP_BYTES = 512 << 20
"""Spark does not start with less."""
MOST_HEAP_BYTES = 1 << 30
"""What Spark takes when it is not told."""
WORKER_BYTES = 120 << 20
"""What a Python worker has beside its outboxes, and its share of the process that it is forked from."""
LEAST_BUFFERS, MOST_BUFFERS = 16 << 20, 128 << 20
"""Bytes for the outboxes and the filter of a task."""


@dataclass(frozen=True, slots=True)
class Share:
    """Bytes of Java's heap, how many Python workers, and bytes for the buffers of each."""

    heap: int = MOST_HEAP_BYTES
    workers: int | None = None
    buffers: int = MOST_BUFFERS

    @property
    def elsewhere(self) -> int:
        """Bytes of the processes that this one starts."""
        return self.heap + BESIDE_HEAP_BYTES + (self.workers or 1) * self.each

    @property
    def each(self) -> int:
        """Bytes of a Python worker, with what it has for buffers."""
        return WORKER_BYTES + self.buffers


LEAST_LIMIT = DRIVER_BYTES + BESIDE_HEAP_BYTES + LEAST_HEAP_BYTES + WORKER_BYTES + LEAST_BUFFERS
"""With a smaller limit there is no Spark on this machine."""


def share(limit: int | None, cores: int) -> Share:
    """How a limit is divided. The limit is at least ``LEAST_LIMIT``; without one Spark takes what it always takes."""
    if limit is None:
        return Share()
    rest = limit - DRIVER_BYTES - BESIDE_HEAP_BYTES - LEAST_HEAP_BYTES
    workers = max(1, min(cores, rest // (WORKER_BYTES + LEAST_BUFFERS)))
    rest -= workers * WORKER_BYTES
    buffers = max(LEAST_BUFFERS, min(MOST_BUFFERS, rest // 2 // workers))
    heap = max(LEAST_HEAP_BYTES, min(MOST_HEAP_BYTES, LEAST_HEAP_BYTES + rest - workers * buffers))
    return Share(heap, workers, buffers)
