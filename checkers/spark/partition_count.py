"""How many partitions a distributed search has when ``--partitions`` does not say.

A task changes the table of one partition at random places. The pages that all tasks of a machine change at once have to
be few against those that the system keeps (``vm.dirty_ratio``, a fifth of the memory): otherwise the system makes tasks
wait for the disk, again and again for the same pages. So a partition is to be small; on the other hand, each one is a
task in every stage, even of a narrow level.
"""

from __future__ import annotations

STATES = 50_000_000
"""States that a partition should not have many more of; their table takes up to 512 MB."""
FOR_EACH_CORE = 4
"""Partitions for each core while nobody knows how many states there will be. At most three fifths of what a search
stores are tables. So even when all of it fills a machine's memory, the tables that its cores change at once take a
seventh, which is less than the changed pages that the system keeps."""


def partition_count(cores: int, likely: int | None, limit: int | None) -> int:
    """The number of partitions on this many cores. ``likely`` is how many states the search should find, and ``limit``
    is how many it may find; None where that is not known."""
    if likely is not None:
        return max(cores, _partitions(likely if limit is None else min(likely, limit)))
    most = FOR_EACH_CORE * cores
    return most if limit is None else max(cores, min(most, _partitions(limit)))


def _partitions(states: int) -> int:
    return -(-states // STATES)
