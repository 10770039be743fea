"""The loops of elimination by themselves, without a cluster."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from floodmark.checkers.codegen.jit import MachineCode, object_image
from floodmark.checkers.codegen.loop_compiler import compile_loops
from floodmark.checkers.kernel.loops import copy, fingerprint, same
from floodmark.checkers.kernel.partitioned import COUNTS, OUTBOXES, OWNERS
from floodmark.checkers.spark.elimination_loops import (
    CACHE,
    CACHE_MASK,
    COLORING,
    COUNTING,
    ELIMINATION_FIELDS,
    LAYERING,
    LEAVING,
    MODE,
    REACHING,
    combine,
    combined,
    post,
)


def words(*values: int) -> NDArray[np.uint64]:
    return np.array(values, dtype=np.uint64)


@pytest.mark.parametrize(
    ("mode", "kept"),
    [(REACHING, 0b1101), (COUNTING, 9 + 5), (LEAVING, 9 + 5), (COLORING, 0b1001), (LAYERING, 0b1101)],
)
def test_what_a_state_is_told_twice_before_it_is_sent_is_kept_together(mode: int, kept: int) -> None:
    text = str(compile_loops([fingerprint, same, copy, post, combined, combine], {"NW": 1}))
    code = MachineCode([object_image({"test": text}, lambda: text)])
    tell = code.function("combine", 4)
    cell, box, counts = words(0, 0), words(0, 0), words(0)
    boxes = words(box.ctypes.data)
    fields, outboxes = np.zeros(ELIMINATION_FIELDS, np.uint64), np.zeros(32, np.uint64)
    fields[CACHE], fields[CACHE_MASK], fields[MODE] = cell.ctypes.data, 0, mode
    outboxes[COUNTS], outboxes[OUTBOXES], outboxes[OWNERS] = counts.ctypes.data, boxes.ctypes.data, 1
    one, other = words(7), words(8)
    for row, value in ((one, 0b1001), (one, 0b0101), (other, 0b0010)):
        tell(fields.ctypes.data, outboxes.ctypes.data, row.ctypes.data, value)
    assert cell.tolist() == [8, 0b0010]
    assert (counts.tolist(), box.tolist()) == ([1], [7, kept])
