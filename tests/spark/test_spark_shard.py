"""Tests when a partition's files are trusted, after tasks were killed and bytes changed."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO

import numpy as np
import pytest

from floodmark.checkers.kernel import loops
from floodmark.checkers.kernel.partitioned import fingerprints
from floodmark.checkers.native.memory import MAX_BITS
from floodmark.checkers.spark import ledger, shard
from floodmark.checkers.spark.code_transfer import LoadedKernel, build_code
from floodmark.checkers.spark.ledger import Ledger
from floodmark.checkers.spark.reader import StateReader
from floodmark.checkers.spark.shard import FilesChangedError, PartitionLost, Shard, states_by_partition
from floodmark.checkers.spark.tasks import SeedResult
from specs.examples.philosophers import Philosophers
from tests.support.corruption import SUBJECTS

FIRST = np.arange(7, 8, dtype=np.uint64)
SECOND = np.arange(100, 1100, dtype=np.uint64)
THIRD = np.arange(5000, 5300, dtype=np.uint64)
LEVELS = (FIRST, SECOND, THIRD)


@pytest.fixture(scope="module")
def code() -> LoadedKernel:
    return build_code(Philosophers(last=4), {}, False).load()


def accepted(*levels: ledger.Array) -> Ledger:
    known = Ledger(1)
    for states in levels:
        ((_, digest),) = states_by_partition(states, 1, 1)
        known.accept([len(states)], [digest])
    return known


KNOWN = accepted(*LEVELS)


def upto(levels: int) -> tuple[int, bytes]:
    return levels, KNOWN.upto(levels).seal(0)


def begun(folder: Path, code: LoadedKernel, levels: int = 3) -> Shard:
    """A partition with so many levels."""
    new = Shard(folder, code)
    new.put("a", 0, FIRST.tobytes())
    new.adopt("a", KNOWN.of(0)[:1])
    for number in range(1, levels):
        add(new, number)
    return new


def add(files: Shard, number: int) -> None:
    with files.extending(*upto(number)):
        files.insert(LEVELS[number][::-1].copy())


def held(files: Shard, levels: int = 3) -> list[list[int]]:
    with files.reading(*upto(levels)):
        return [sorted(files.states(*files.slice(level)).tolist()) for level in range(levels)]


def copied(files: Shard, level: int, most: int = 256) -> list[int]:
    """What a task that reads a level gets, in ascending order."""
    reader = StateReader(files.code)
    with files.reading(*upto(3)):
        return sorted(state for _ in files.read(reader, level, most) for state in reader.states.tolist())


def test_of_all_pieces_the_smallest_state_of_each_place_is_noted(code: LoadedKernel) -> None:
    reader = StateReader(code)
    for piece, places in ((SECOND, {1: 5, 4: 3}), (FIRST, {4: 1, 6: 1}), (THIRD, {1: 1})):
        reader.copy(piece)
        for place, position in places.items():
            reader._best[place] = position
    assert reader.take_noted() == {1: (104,), 4: (7,), 6: (7,)}
    assert reader.take_noted() == {}


WHOLE = [states.tolist() for states in LEVELS]


class Killed(BaseException):
    """A process that gets no further."""


def test_levels_are_read_by_another_process(tmp_path: Path, code: LoadedKernel) -> None:
    files = begun(tmp_path, code)
    assert held(files) == held(Shard(tmp_path, code)) == WHOLE
    assert KNOWN.known(0, files.seals()) == 3
    files.verify(*upto(3))
    Shard(tmp_path, code).verify(*upto(3))


@pytest.mark.parametrize("first", [True, False])
def test_a_merge_that_is_killed_leaves_the_levels_before(first: bool, tmp_path: Path, code: LoadedKernel) -> None:
    """Also the second attempt of one whose report the driver has long accepted."""
    files = begun(tmp_path, code, 2 if first else 3)
    with contextlib.suppress(Killed), files.extending(*upto(2)):
        files.insert(THIRD[:150].copy())
        raise Killed
    for each in (files, Shard(tmp_path, code)):
        with pytest.raises(PartitionLost, match="has 2 levels, which are not the 3 accepted ones"):
            held(each)
        assert held(each, 2) == WHOLE[:2]
    with pytest.raises(PartitionLost):
        Shard(tmp_path, code).verify(*upto(3))
    add(Shard(tmp_path, code), 2)
    assert held(files) == held(Shard(tmp_path, code)) == WHOLE
    files.verify(*upto(3))


@pytest.mark.parametrize("is_named", [True, False])
def test_an_older_header_does_not_bring_back_a_newer_table(is_named: bool, tmp_path: Path, code: LoadedKernel) -> None:
    """The table has states of a merge that was not accepted, or was killed; they would be taken for known ones."""
    files = begun(tmp_path, code, 2)
    header = (tmp_path / "header").read_bytes()
    with contextlib.suppress(Killed), files.extending(*upto(2)):
        files.insert(THIRD[:150].copy())
        if not is_named:
            raise Killed
    (tmp_path / "header").write_bytes(header)
    add(files, 2)
    assert held(files) == WHOLE
    files.verify(*upto(3))


def test_a_merge_that_runs_again_drops_what_follows(tmp_path: Path, code: LoadedKernel) -> None:
    files, late = begun(tmp_path, code), Shard(tmp_path, code)
    add(late, 1)
    with pytest.raises(PartitionLost):
        held(files)
    add(files, 2)
    assert held(files) == held(late) == WHOLE


@pytest.mark.parametrize("other", [THIRD[:-1], THIRD + np.uint64(1), np.append(THIRD, np.uint64(0))])
def test_levels_that_were_not_accepted_are_not_read(other: ledger.Array, tmp_path: Path, code: LoadedKernel) -> None:
    files = begun(tmp_path, code, 2)
    with files.extending(*upto(2)):
        files.insert(other.copy())
    for each in (files, Shard(tmp_path, code)):
        with pytest.raises(PartitionLost):
            held(each)
        assert KNOWN.known(0, each.seals()) == 2
        with pytest.raises(PartitionLost), each.extending(*upto(3)):
            raise AssertionError
    add(files, 2)
    assert held(files) == WHOLE


def test_the_same_states_in_other_levels_are_not_the_same(tmp_path: Path, code: LoadedKernel) -> None:
    other = accepted(FIRST, SECOND[:500], np.concatenate([SECOND[500:], THIRD]))
    files = begun(tmp_path, code)
    with pytest.raises(PartitionLost), files.reading(3, other.upto().seal(0)):
        raise AssertionError
    assert other.known(0, files.seals()) == 1
    assert other.digest().tolist() == KNOWN.digest().tolist()


# Bytes that change.


def changed(path: Path, place: int, mask: int = 0x40) -> None:
    with open(path, "r+b") as file:
        file.seek(place)
        known = file.read(1)[0]
        file.seek(place)
        file.write(bytes([known ^ mask]))


def test_damage_to_any_byte_of_a_header_is_noticed(tmp_path: Path, code: LoadedKernel) -> None:
    files = begun(tmp_path, code)
    path = tmp_path / "header"
    for place in range(path.stat().st_size):
        changed(path, place, 1 << place % 8)
        assert files.seals() == b""
        with pytest.raises(PartitionLost):
            held(files)
        changed(path, place, 1 << place % 8)
    for size in range(path.stat().st_size):
        content = path.read_bytes()
        path.write_bytes(content[:size])
        assert files.seals() == b""
        path.write_bytes(content)
    assert held(files) == WHOLE


def test_damage_to_any_byte_of_the_states_is_noticed(tmp_path: Path, code: LoadedKernel) -> None:
    """Seen by a process that opens the file anew, by whoever reads the level, and at the end."""
    files = begun(tmp_path, code)
    path = tmp_path / "states"
    level = 0
    for place in range(0, KNOWN.count * 8, 13):
        assert held(files) == WHOLE
        changed(path, place, 1 << place % 8)
        for task in (held, lambda new: new.seals(), lambda new: add(new, 2)):
            with pytest.raises(FilesChangedError, match=r"states on .* does not hold what was written there"):
                task(Shard(tmp_path, code))
        while place >= KNOWN.of(0)[level, ledger.END] * 8:
            level += 1
        for number in range(3):
            with pytest.raises(FilesChangedError) if number == level else contextlib.nullcontext():
                assert copied(files, number) == WHOLE[number]
        with pytest.raises(FilesChangedError):
            files.verify(*upto(3))
        changed(path, place, 1 << place % 8)
    files.verify(*upto(3))
    changed(path, KNOWN.count * 8)  # behind the last state
    assert held(Shard(tmp_path, code)) == WHOLE


def test_states_that_are_cut_off_are_missed_by_who_has_them_open(tmp_path: Path, code: LoadedKernel) -> None:
    files = begun(tmp_path, code)
    assert held(files) == WHOLE
    os.truncate(tmp_path / "states", (KNOWN.count - 1) * 8)
    for task in (held, lambda known: known.seals(), lambda known: add(known, 2)):
        with pytest.raises(FilesChangedError, match=r"states on .* does not hold what was written there"):
            task(files)


def test_damage_to_any_byte_of_the_table_is_noticed(tmp_path: Path, code: LoadedKernel) -> None:
    """Seen at the end; a process that opens it anew makes another one."""
    files = begun(tmp_path, code, 2)
    path = tmp_path / "table-16"
    content = path.read_bytes()[: -8 * shard.ORDER_WORDS]
    taken = [place for place, byte in enumerate(content) if byte]
    for place in [*taken[::7], *range(0, len(content), 997)]:
        changed(path, place, 1 << place % 8)
        with pytest.raises(FilesChangedError, match=r"table-16 on .* does not hold what was written there"):
            files.verify(*upto(2))
        changed(path, place, 1 << place % 8)
    for place in [*taken[::97], *range(0, len(content), 39973)]:
        folder = tmp_path / str(place)
        begun(folder, code, 2)
        changed(folder / "table-16", place, 1 << place % 8)
        add(Shard(folder, code), 2)
        assert held(Shard(folder, code)) == WHOLE
        Shard(folder, code).verify(*upto(3))
    os.truncate(path, 1000)
    with pytest.raises(PartitionLost):
        files.verify(*upto(3))
    files.verify(*upto(2))
    path.unlink()
    add(files, 2)
    path.unlink()
    files.verify(*upto(3))


def test_a_table_is_looked_at_before_a_larger_one_replaces_it(tmp_path: Path, code: LoadedKernel) -> None:
    files = begun(tmp_path, code, 2)
    (path,) = tmp_path.glob("table-16")
    changed(path, next(place for place, byte in enumerate(path.read_bytes()) if byte))
    with pytest.raises(FilesChangedError), files.extending(*upto(2)):
        files.insert(np.arange(10_000, 90_000, dtype=np.uint64))


def test_duplicate_states_are_noticed(tmp_path: Path, code: LoadedKernel) -> None:
    """As a damaged table has them found again: the digest that was accepted has them, too."""
    files = begun(tmp_path, code, 2)
    twice = accepted(FIRST, SECOND, SECOND[:1])
    with files.extending(*upto(2)):
        files.table[:] = 0
        files.insert(SECOND[:1].copy())
    with pytest.raises(FilesChangedError, match=r"table-16 on .* does not hold what was written there"):
        files.verify(3, twice.upto().seal(0))
    (tmp_path / "table-16").unlink()
    with pytest.raises(FilesChangedError, match=r"table-16 on .* does not hold what was written there"):
        files.verify(3, twice.upto().seal(0))


def test_what_a_machine_lost_when_it_stopped_is_lost(
    tmp_path: Path, code: LoadedKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(tmp_path, code)
    monkeypatch.setattr(shard, "this_boot", lambda: "another")
    assert held(Shard(tmp_path, code)) == WHOLE
    changed(tmp_path / "states", 800)
    with pytest.raises(PartitionLost, match="before this machine was started"):
        held(Shard(tmp_path, code))


# Files that vanish, and come back.


def test_files_that_were_copied_here_are_not_believed(tmp_path: Path, code: LoadedKernel) -> None:
    files = begun(tmp_path / "a", code)
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    assert Shard(tmp_path / "b", code).seals() == b""
    shutil.move(tmp_path / "a", tmp_path / "c")
    assert held(Shard(tmp_path / "c", code)) == WHOLE
    with pytest.raises(PartitionLost):
        held(files)


@pytest.mark.parametrize("what", ["folder", "states", "header", "lock"])
def test_a_folder_that_is_removed_during_a_merge(what: str, tmp_path: Path, code: LoadedKernel) -> None:
    """The merge grows its files after that; what it came to is not found under the name."""
    folder = tmp_path / "p"
    files = begun(folder, code, 2)
    many = np.arange(10_000, 210_000, dtype=np.uint64)

    def merge() -> None:
        with files.extending(*upto(2)):
            files.insert(many[:1000].copy())
            shutil.rmtree(folder) if what == "folder" else (folder / what).unlink()
            files.insert(many[1000:].copy())
            assert files.count == KNOWN.upto(2).last[0, ledger.END] + len(many)
            assert (files.states(1001, files.count) == many).all()

    if what in ("folder", "states"):
        with pytest.raises(PartitionLost, match="was removed"):
            merge()
        assert Shard(folder, code).seals() == b""
    else:
        merge()
        assert KNOWN.known(0, Shard(folder, code).seals()) == 2


def test_who_waits_for_a_lock_takes_the_one_that_is_there_then(tmp_path: Path, code: LoadedKernel) -> None:
    folder = tmp_path / "p"
    begun(folder, code)
    waiting = Shard(folder, code)
    original = fcntl.flock
    calls: list[int] = []

    def flock(file: IO[bytes], how: int) -> None:
        original(file, how)
        calls.append(how)
        if len(calls) == 1:
            shutil.rmtree(folder)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fcntl, "flock", flock)
        assert waiting.seals() == b""
    assert len(calls) == 2


# Known states.


def test_seeded_states_are_compared_with_the_ledger(tmp_path: Path, code: LoadedKernel) -> None:
    new = Shard(tmp_path, code)
    with pytest.raises(PartitionLost, match="nothing was put there"):
        new.adopt("a", KNOWN.of(0)[:1])
    new.put("b", 0, FIRST.tobytes())
    with pytest.raises(PartitionLost, match="not what is known"):
        new.adopt("b", KNOWN.of(0))
    assert new.seals() == b""
    new.put("c", 1, SECOND.tobytes())
    new.put("c", 1 + len(SECOND), THIRD.tobytes() + b"more than that")
    new.put("c", 0, FIRST.tobytes())
    new.adopt("c", KNOWN.of(0))
    assert held(new) == WHOLE


def test_a_partition_has_room_for_no_more_states_than_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """States have two words, and the table has room for more of them; the file grows only when there is need."""
    monkeypatch.setattr(shard, "_FIRST_STATES", 1)
    model, _ = SUBJECTS[1].of()
    files = Shard(tmp_path, build_code(model, {}, False).load())
    first = np.arange(2, dtype=np.uint64)
    ((_, digest),) = states_by_partition(first, 2, 1)
    known = Ledger(1)
    known.accept([1], [digest])
    files.put("a", 0, first.tobytes())
    files.adopt("a", known.of(0))
    with contextlib.suppress(Killed), files.extending(1, known.upto(1).seal(0)):
        for number in (1, 3 * loops.BATCH):
            files.insert(np.arange(10, 10 + 2 * number, dtype=np.uint64))
            size = (tmp_path / "states").stat().st_size
            assert files.count == 1 + number
            assert files.fields[loops.LIMIT] == size // 16 < shard.FULLEST * (1 << shard.FIRST_BITS)
            files._make_room(files.count)
            assert (tmp_path / "states").stat().st_size == size
        raise Killed


def test_seeds_that_come_late_change_nothing(tmp_path: Path, code: LoadedKernel) -> None:
    files, late = begun(tmp_path, code), Shard(tmp_path, code)
    late.put("a", 0, FIRST.tobytes() * 2000)
    assert held(files) == WHOLE
    late.adopt("a", KNOWN.of(0)[:1])
    assert held(files) == WHOLE
    assert not list(tmp_path.glob("seed-*"))


# A full disk.


@pytest.mark.parametrize("which", ["states", "table"])
def test_an_error_of_a_full_disk_names_the_file(
    which: str, tmp_path: Path, code: LoadedKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = begun(tmp_path, code, 2)
    allocate: Callable[..., None] = os.posix_fallocate

    def full(descriptor: int, start: int, size: int) -> None:
        if ("table" in os.readlink(f"/proc/self/fd/{descriptor}")) == (which == "table"):
            raise OSError(errno.ENOSPC, "No space left on device")
        allocate(descriptor, start, size)

    monkeypatch.setattr(os, "posix_fallocate", full)
    is_full = pytest.raises(OSError, match=r"the disk of .* is full; a file of .* MB does not fit")
    with is_full, files.extending(*upto(2)):
        files.insert(np.arange(10_000, 210_000, dtype=np.uint64))
    monkeypatch.undo()
    with pytest.raises(PartitionLost):
        held(files)
    add(Shard(tmp_path, code), 2)
    assert held(files) == WHOLE


def test_a_full_disk_is_named_whatever_is_written(
    tmp_path: Path, code: LoadedKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = begun(tmp_path, code, 2)

    def full(self: Path, content: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match=rf"the disk of {tmp_path} on .* is full"):
        add(files, 2)


def test_what_partitions_were_given_is_compared_with_the_ledger() -> None:
    def given(*levels: int) -> list[SeedResult]:
        rows = KNOWN.of(0)
        pieces = []
        for level in levels:
            for part in np.array_split(LEVELS[level], 2):
                ((_, digest),) = states_by_partition(part, 1, 1)
                first = int(rows[level - 1, ledger.END]) if level else 0
                offset = int(part[0] - LEVELS[level][0]) if len(part) else 0
                pieces.append(SeedResult(0, first + offset, len(part), digest))
        return pieces

    assert KNOWN.intact(range(3), given(0, 1, 2))
    assert KNOWN.intact(range(1, 3), given(2, 1))
    assert not KNOWN.intact(range(2), given(0, 1, 2)), "of a level that is not among them"
    assert not KNOWN.intact(range(3), given(0, 2)), "a level is missing"
    assert not KNOWN.intact(range(3), [*given(0, 1, 2), *given(1)]), "a level is there twice"
    first, *others = given(0, 1, 2)
    assert not KNOWN.intact(range(3), [replace(first, digest=(0, 0)), *others])
    assert not KNOWN.intact(range(3), [replace(first, partition=1), *others])
    assert not KNOWN.intact(range(3), [replace(first, position=1 << 40), *others])
    ((_, digest),) = states_by_partition(FIRST, 1, 1)
    two = Ledger(2)
    two.accept([1, 1], [digest, digest])
    mine = [SeedResult(partition, 0, 1, digest) for partition in range(2)]
    assert two.intact(range(1), mine)
    assert not two.intact(range(1), [mine[0], mine[0]]), "one partition has what both should have"
    assert KNOWN.first(2).of(0).tolist() == KNOWN.of(0)[:2].tolist()
    assert (KNOWN.first(2).levels, KNOWN.first(2).count) == (2, 1001)


def test_a_ledger_agrees_with_exactly_what_was_accepted(code: LoadedKernel) -> None:
    many = Ledger(2)
    for level in range(40):
        many.accept([level, 1], [(level, 2), (loops.ALL_ONES, 3)])
    assert (many.levels, many.count) == (40, 780 + 40)
    assert many.counts(7) == [7, 1]
    assert many.widths() == [level + 1 for level in range(40)]
    assert many.agrees(0, 7, 7, (7, 2))
    assert not many.agrees(0, 7, 7, (7, 3))
    assert not many.agrees(1, 7, 2, (loops.ALL_ONES, 3))
    assert many.digest().tolist() == [780 - 40, 40 * 5]
    seals = many.of(0)[:, ledger.SEAL_1 :].tobytes()
    assert many.known(0, seals) == many.known(0, seals + bytes(32)) == 40
    assert many.known(0, seals[:160]) == 10
    assert many.known(0, seals[:160] + bytes(16) + seals[176:]) == 10
    assert many.known(1, seals) == 0


# Tables.


def test_the_slices_of_a_table_are_all_of_it() -> None:
    for bits in (shard.FIRST_BITS, 26, 27, MAX_BITS):
        found = list(shard.slices(1 << bits))
        assert len(found) <= shard.MAX_SLICES
        assert found[0][0] == 0 and found[-1][1] >= 1 << bits
        assert all(before[1] == after[0] for before, after in itertools.pairwise(found))


def test_a_table_filled_in_slices_finds_every_state_once(
    tmp_path: Path, code: LoadedKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those whose cell is taken at the end of a slice, or of the table: they go past it, or to the beginning."""
    monkeypatch.setattr(shard, "SLICE_CELLS", 1 << 12)
    every = np.arange(1, 400_000, dtype=np.uint64)
    places = fingerprints(every, 1, loops.SEED_1) & np.uint64(0xFFFFFFFF)
    at_ends = every[(places % np.uint64(1 << 28)) >= np.uint64((1 << 28) - (1 << 18))]
    states = np.concatenate([at_ends, every[:40_000]])
    states = states[np.sort(np.unique(states, return_index=True)[1])]
    files = begun(tmp_path, code, 1)
    with contextlib.suppress(Killed), files.extending(*upto(1)):
        files.insert(states)
        count = files.count
        files._fill_table()
        assert files.table[0] and files.table[-1], "no state went from the end to the beginning"
        assert not code.misplaced(files.fields.ctypes.data)
        files.insert(states)
        assert files.count == count
        raise Killed


# The largest partition.


def sparse(file: IO[bytes], size: int, folder: Path) -> None:
    """Gives a file its size without any blocks: only the pages that are written take room."""
    os.ftruncate(file.fileno(), size)


@pytest.mark.slow
def test_a_partition_at_the_edge_of_its_index(
    tmp_path: Path, code: LoadedKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """States at positions beyond 2^31 in a table of 2^32 cells are found again; where the index ends is an error.

    The three billion states before them are a hole in the file.
    """
    monkeypatch.setattr(shard, "allocate", sparse)
    monkeypatch.setattr(Shard, "_require_table", lambda files: None)
    files = begun(tmp_path, code, 1)
    most = int(shard.FULLEST * (1 << MAX_BITS))
    first = most - loops.BATCH - 2000
    with contextlib.suppress(Killed), files.extending(*upto(1)):
        with open(tmp_path / f"table-{MAX_BITS}", "w+b") as file:
            sparse(file, shard.table_bytes(MAX_BITS), tmp_path)
        assert files._map_table(MAX_BITS)
        files.fields[loops.COUNT] = first
        files._make_room(most)
        for _ in range(2):
            files.insert(SECOND.copy())
            assert files.count == first + len(SECOND) > 1 << 31
        files.insert(np.append(THIRD[:50], SECOND))
        kept = files.states(first, files.count)
        assert sorted(kept.tolist()) == [*SECOND.tolist(), *THIRD[:50].tolist()]
        with pytest.raises(MemoryError, match="at most 3 billion"):
            files.insert(np.arange(10_000, 30_000, dtype=np.uint64))
        raise Killed
