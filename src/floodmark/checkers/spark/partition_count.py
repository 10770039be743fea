"""Chooses the number of partitions of a distributed search without ``--spark partitions``.

A task changes the table of one partition at random places. The pages that all tasks of a machine change at once have to
be few compared with those that the system keeps (``vm.dirty_ratio``, a fifth of the memory): otherwise the system makes
tasks wait for the disk, again and again for the same pages. Partitions should therefore be small; on the other hand,
each one is a task in every stage, even of a narrow level.

A cluster may have few workers when a search begins, and the number of states may be unknown. A search that outgrows its
partitions therefore gets more between two levels: each level is sent to the new partitions, and its digest must remain
the same. The same happens when the cluster has grown, as a partition stays on its first machine: otherwise workers that
come later would have nothing to do, for any number of partitions.
"""

from __future__ import annotations

STATES = 50_000_000
"""States that a partition should not have many more of; their table takes up to 512 MB."""
MIN_STATES_FOR_CORE = 1_000_000
"""The minimum number of states per core: with fewer, a partition is not worth moving to an idle core."""
FOR_EACH_CORE = 4
"""Partitions for each core while the number of states is unknown. At most three fifths of what a search stores are
tables. So even when all of it fills a machine's memory, the tables that its cores change at once take a seventh, which
is less than the changed pages that the system keeps."""


GROWTH = 4
"""A search that has outgrown its partitions is given enough of them for so many times the states found so far."""
MAX_STATES = 2 * STATES
"""A partition with more states than this on average is outgrown."""


def partition_count(cores: int, likely: int | None, limit: int | None, found: int = 0) -> int:
    """The number of partitions on this many cores. ``likely`` is how many states the search should find, and ``limit``
    is how many it may find; None where that is not known. ``found`` are those that it has."""
    if likely is not None and found <= likely:
        return max(cores, _partitions(likely if limit is None else min(likely, limit)))
    most = max(FOR_EACH_CORE * cores, _partitions(GROWTH * found) if found > STATES else 0)
    return most if limit is None else max(cores, min(most, _partitions(max(limit, found))))


def is_outgrown(partitions: int, cores: int, found: int) -> bool:
    """Whether a search of ``found`` states should have more partitions: each has too many, or they are too few for the
    cluster, and there is enough to do for all of it."""
    return found > MAX_STATES * partitions or (cores > partitions and found > MIN_STATES_FOR_CORE * partitions)


def has_grown(executors: int, before: int, cores: int, found: int) -> bool:
    """Whether partitions should be divided anew: there are twice the executors of before, and enough to do for them."""
    return executors >= 2 * before and found > MIN_STATES_FOR_CORE * cores


def _partitions(states: int) -> int:
    return -(-states // STATES)
