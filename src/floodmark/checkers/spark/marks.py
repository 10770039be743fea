"""Files of words beside a partition's states, a fixed number for each state: the marks of elimination.

A file is written once, under a name of its own, and never changed; the next round writes the next file. The driver
knows the seal of the file that it accepted, a hash of all its words, so what a task reads is what was accepted,
whichever attempt wrote it. An attempt at a round is a function of the accepted files and of the marks sent in that
round, whose combination is commutative, so all attempts write the same.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.kernel.scratch import allocate
from floodmark.checkers.spark.shard import PartitionLost

Array = NDArray[np.uint64]


def opened(path: Path, words: int) -> Array:
    """The words of a file. Raises PartitionLost if it is missing or has another length."""
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size != _bytes(words):
                raise PartitionLost(f"{path} is not as long as it was")
            mapped = mmap.mmap(file.fileno(), _bytes(words), access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise PartitionLost(f"{path} was removed") from None
    return np.frombuffer(mapped, dtype=np.uint64)[:words]


@contextlib.contextmanager
def written(path: Path, words: int) -> Iterator[Array]:
    """New words, all zero, which become a file when the block ends without an error. Raises PartitionLost."""
    new = path.with_name(f"{path.name}.{uuid.uuid4().hex[:12]}")
    try:
        with open(new, "w+b") as file:
            allocate(file, _bytes(words), path.parent)
            mapped = mmap.mmap(file.fileno(), _bytes(words))
        yield np.frombuffer(mapped, dtype=np.uint64)[:words]
        os.replace(new, path)
    except FileNotFoundError:
        raise PartitionLost(f"{path.parent} was removed") from None
    finally:
        new.unlink(missing_ok=True)


def _bytes(words: int) -> int:
    return max(words, 1) * 8
