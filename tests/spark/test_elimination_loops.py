"""The loops and the tasks of elimination by themselves, without a cluster."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from floodmark.checkers.codegen.jit import MachineCode, object_image
from floodmark.checkers.codegen.loop_compiler import compile_loops
from floodmark.checkers.kernel.loops import copy, fingerprint, same
from floodmark.checkers.kernel.partitioned import COUNTS, OUTBOXES, OWNERS
from floodmark.checkers.spark import elimination_tasks, lasso, tasks
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
from floodmark.checkers.spark.marks import opened, written
from floodmark.checkers.spark.shard import PartitionLost


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


def test_a_file_of_another_length_is_not_the_one_that_was_written(tmp_path: Path) -> None:
    path = tmp_path / "marks"
    with written(path, 5) as new:
        new[:] = range(5)
    assert opened(path, 5).tolist() == list(range(5))
    for words in (4, 6, 600):
        with pytest.raises(PartitionLost, match="is not as long as it was"):
            opened(path, words)
    with pytest.raises(PartitionLost, match="was removed"):
        opened(tmp_path / "facts", 5)


def test_nothing_that_elimination_wrote_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "scratch_folder", lambda run, partition: tmp_path)
    folder = tmp_path / "00003"
    folder.mkdir()
    for name in ("states", "table-16", "header", "facts-a-0", "facts-b-0", "marks-a-1", "marks-a-2", "marks-b-1"):
        (folder / name).touch()
    sieve: Any = SimpleNamespace(run=None)
    assert list(elimination_tasks.clean(sieve, 3)) == [3]
    assert sorted(path.name for path in folder.iterdir()) == ["header", "states", "table-16"]


def test_more_requests_than_an_outbox_has_room_for_are_answered_in_parts() -> None:
    asked: list[int] = []

    def of_states(name: str, boxes: int, rows: int, number: int) -> int:
        asked.append(number)
        return number

    files: Any = SimpleNamespace(words=1, of_states=of_states)
    boxes: Any = SimpleNamespace(room=3, address=0, drained=lambda least: iter([(0, b"a"), (1, b"b")]))
    unknown: list[int] = []

    def answering() -> Any:
        unknown.append((yield from elimination_tasks._responded(files, boxes, np.zeros(2 * 8, dtype=np.uint64))))

    assert list(answering()) == [(0, b"a"), (1, b"b")] * 3
    assert (asked, unknown) == ([3, 3, 2], [8])


def test_a_limit_ends_the_search_for_a_way() -> None:
    class EndedError(Exception):
        pass

    def paused() -> None:
        left.pop()
        if not left:
            raise EndedError

    left = [0] * 4
    rounds: Any = SimpleNamespace(paused=paused, cluster=SimpleNamespace(parent_in=lambda level, state: (level,)))
    assert lasso.trace(rounds, (3,), 3) == [(0,), (1,), (2,), (3,)]
    with pytest.raises(EndedError):
        lasso.trace(rounds, (3,), 3)
