"""Searches whose tables grow, and that go on through files, at every moment: they find what CPython finds."""

from __future__ import annotations

import errno
import mmap
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import IO, Annotated, Any

import numpy as np
import pytest

from benchmarks import container
from benchmarks.memory import measure
from floodmark import (
    Between,
    Constant,
    Identifier,
    Map,
    Model,
    Set,
    action,
    boundary,
    initial,
    invariant,
    reachable,
    refines,
    require,
    transition,
)
from floodmark.checkers.kernel import compiled_model, loops, scratch
from floodmark.checkers.kernel.compiled_model import build_kernel, stride_of
from floodmark.checkers.kernel.memory import MemoryBudget, ReservedMemory
from floodmark.checkers.kernel.partitioned import fingerprints
from floodmark.checkers.native import files, memory
from floodmark.checkers.native.search import reachable_set, search_states
from floodmark.checkers.native.worker import Worker
from floodmark.checkers.project.properties import collect
from floodmark.checkers.reference import search
from floodmark.checkers.resources import cores, memory_of_this_process
from floodmark.checkers.search import store
from floodmark.checkers.search.statistics import column, values_seen
from floodmark.checkers.search_result import Limit, Limits, Options, Progress, SearchResult, Stop
from floodmark.language.reference import initial_states
from tests.search.test_native import Grid, Jumps, Premises, Wide, compared, shapes


class Seat(Identifier, count="seats", prefix="s"):
    pass


class Ring(Model):
    """Everybody moves by himself; seats are interchangeable."""

    seats = Constant(3)
    places: Map[Seat, Annotated[int, Between(0, 4)]]
    marked: Set[Seat]

    @initial
    def start(self) -> None:
        self.places = Map({seat: 0 for seat in Seat})
        self.marked = Set[Seat]()

    @action
    def move(self, seat: Seat) -> None:
        require(self.places[seat] < 4)
        self.places[seat] += 1

    @action
    def mark(self, seat: Seat) -> None:
        require(self.places[seat] == 2 and seat not in self.marked)
        self.marked.add(seat)


class Scattered(Model):
    """Many initial states, steps forth and back, a boundary, and something of everything to be found."""

    size = Constant(40)
    flaw = Constant(999)
    here: Annotated[int, Between(0, "size")]
    far: Annotated[int, Between(0, 3)]

    @initial
    def start(self, here: Annotated[int, Between(0, "size - 1")]) -> None:
        require(here % 3 != 1)
        self.here = here
        self.far = 0

    @action
    def jump(self, to: Annotated[int, Between(0, "size")]) -> None:
        require(to > self.here and to <= self.here + 5)
        self.here = to

    @action
    def climb(self) -> None:
        require(self.far < 3 and self.here % 2 == 0)
        self.far += 1

    @action
    def fall(self) -> None:
        require(self.far > 1)
        self.far = 0

    @boundary
    def within(self) -> bool:
        return self.here < self.size

    @invariant
    def is_sound(self) -> bool:
        return self.here + 10 * self.far != self.flaw

    @transition
    def falls_low(self, new: Scattered) -> bool:
        return new.far >= self.far or self.here + self.far != self.flaw - 100

    @reachable
    def gets_up(self) -> bool:
        return self.far == 3


class Descent(Model):
    """Comes down to a state whose bits are all zero, which no table and no filter may take for an empty place."""

    left: Annotated[int, Between(0, 11)]
    right: Annotated[int, Between(0, 11)]

    @initial
    def start(self) -> None:
        self.left = 11
        self.right = 9

    @action
    def sink(self, by: Annotated[int, Between(1, 3)]) -> None:
        require(by <= self.left)
        self.left -= by

    @action
    def fall(self) -> None:
        require(self.right > 0)
        self.right -= 1


class Sum(Model):
    """A number that rises by one, but not beyond ``most``."""

    most = Constant(99)
    total: Annotated[int, Between(0, 200)] = 0

    @action
    def rises(self) -> None:
        require(self.total < self.most)
        self.total += 1


class SummedGrid(Grid):
    """A grid as the sum of its coordinates."""

    @refines
    def as_sum(self) -> Sum:
        return Sum(most=self.top, total=sum(self.cells.values()))


SetLimit = Callable[[int], None]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> SetLimit:
    """Everything is small, so that a search of some hundred states has many moments; gives what limits memory."""
    known = compiled_model.loop_constants
    sizes = {"BATCH": 8, "CHUNK": 3, "PAUSE": 12, "GROUP": 4, "BLOCK": 2, "DENSE": 1}
    monkeypatch.setattr(compiled_model, "FILTERED_FROM", 16)
    monkeypatch.setattr(compiled_model, "HINTED_FROM", 16)

    def constants(*given: Any) -> dict[str, int]:
        return {**known(*given), **sizes}

    monkeypatch.setattr(compiled_model, "loop_constants", constants)
    monkeypatch.setattr(compiled_model, "_KNOWN_LOOPS", {})
    monkeypatch.setattr(loops, "BATCH", sizes["BATCH"])
    for name, value in {
        "PARTITIONS": 5, "CANDIDATE_BYTES": 400, "MIN_BUFFERS": 2000, "MAX_BUFFERS": 2000, "SLICE": 4,
        "_FIRST_STATES": 2, "_FIRST_CELLS": 4,
    }.items():
        monkeypatch.setattr(files, name, value)
    monkeypatch.setattr(memory, "FIRST_CELLS", 8)
    monkeypatch.setattr(store, "PIECE", 7)

    def limit(room: int) -> None:
        monkeypatch.setattr(MemoryBudget, "room", lambda self, held: room)
        monkeypatch.setattr(MemoryBudget, "of_pages", lambda self, workers: 0)

    return limit


FIGURES = ("complete", "distinct", "generated", "depth", "levels", "actions", "cut", "digest")


def wanted(model: Model, options: Options) -> SearchResult:
    return search.search_states(model, list(collect(type(model), ()).values()), options)


def found(model: Model, options: Options) -> SearchResult:
    return search_states(model, list(collect(type(model), ()).values()), options)


def assert_same(one: SearchResult, other: SearchResult) -> None:
    for name in FIGURES:
        assert getattr(one, name) == getattr(other, name), name
    assert shapes(one) == shapes(other)
    assert set(one.reached) == set(other.reached)


MODELS = {
    "grid": Grid(side=3),
    "jumps": Jumps(size=9),
    "flawed grid": Grid(side=4, top=1),
    "wide": Wide(nodes=2),
    "descent": Descent(),
    "scattered": Scattered(),
    "broken invariant": Scattered(flaw=52),
    "broken step": Scattered(flaw=125),
    "premises": Premises(),
}


@pytest.mark.parametrize(
    ("name", "workers", "rooms"),
    [*((name, 3, 8) for name in MODELS), ("grid", 1, 8),
     *(pytest.param(name, workers, 20, marks=pytest.mark.slow) for name in MODELS for workers in (1, 3))],
)
def test_files_take_over_at_any_moment(name: str, workers: int, rooms: int, small: SetLimit) -> None:
    model = MODELS[name]
    options = Options(workers=workers, deadlock="flawed" not in name)
    expected = wanted(model, options)
    small(1 << 30)
    in_memory = found(model, options)
    assert_same(in_memory, expected)
    moments = set()
    most = (stride_of(build_kernel(model, {}, False).interface.layout) + 12) * in_memory.distinct
    for room in range(0, most, 1 + most // rooms):
        small(room)
        now = found(model, options)
        assert_same(now, expected)
        assert compared(now) == compared(in_memory), room
        assert now.vacuous == in_memory.vacuous
        moments.update(now.notes)
    assert len(moments) >= min(rooms // 4, in_memory.distinct // 10)


@pytest.mark.parametrize("workers", [1, 2])
def test_orbits_go_on_through_files(workers: int, small: SetLimit) -> None:
    options = Options(workers=workers, symmetry=True)
    expected = found(Ring(), options)
    for room in (0, 100, 300):
        small(room)
        now = found(Ring(), options)
        assert now.notes
        assert compared(now) == compared(expected)


@pytest.mark.parametrize("model", [Grid(side=3), Grid(side=4, top=1)], ids=["complete", "ended by a violation"])
def test_coverage_of_states_in_files_is_that_of_states_in_memory(model: Model, small: SetLimit) -> None:
    options = Options(workers=2, coverage=True)
    expected = found(model, options)
    assert expected.coverage is not None
    assert expected.coverage.states == expected.distinct
    for room in (0, 200, 600):
        small(room)
        now = found(model, options)
        assert "continued in files" in now.notes[0]
        assert now.coverage == expected.coverage


@pytest.mark.parametrize("top", [99, 7], ids=["refines", "does not"])
def test_steps_of_states_in_files_refine_as_those_of_states_in_memory(top: int, small: SetLimit) -> None:
    model = SummedGrid(side=3, top=top)
    expected = found(model, Options(workers=1))
    assert [violation.property for violation in expected.violations] == ([] if top == 99 else ["as_sum"])
    for room in (0, 200, 600):
        small(room)
        now = found(model, Options(workers=1))
        assert "continued in files" in now.notes[0]
        assert_same(now, expected)
        assert now.vacuous == expected.vacuous


def test_the_reachable_set_is_read_from_files(small: SetLimit) -> None:
    rows, _ = reachable_set(Grid(side=3), Options(workers=2))
    small(200)
    again, _ = reachable_set(Grid(side=3), Options(workers=2))
    assert sorted(map(tuple, rows.tolist())) == sorted(map(tuple, again.tolist()))
    assert len(rows) == 3**5


def test_the_change_is_told_and_progress_never_runs_back(small: SetLimit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("floodmark.checkers.search.driver.PROGRESS_SECONDS", 0.0)
    small(600)
    told: list[Progress] = []
    now = search_states(Grid(side=4), [], Options(workers=2), told.append)
    (note,) = now.notes
    assert note.startswith("at ")
    assert "continued in files" in note
    assert [at.note for at in told] == sorted(at.note for at in told), "none at first, then what the result says"
    assert told[-1].note == note
    for before, after in pairwise(told):
        assert before.level <= after.level
        assert before.distinct <= after.distinct
        assert before.generated <= after.generated


@pytest.mark.parametrize("limits", [Limits(states=150), Limits(seconds=0.0)])
def test_limits_end_a_search_in_files(limits: Limits, small: SetLimit) -> None:
    small(300)
    now = found(Grid(side=4), Options(workers=2, limits=limits))
    assert not now.complete
    assert now.stopped
    assert now.generated == 1 + sum(now.actions.values())
    assert sum(now.levels) <= now.distinct < 4**5


def test_a_folder_in_memory_is_no_place_for_files(small: SetLimit, monkeypatch: pytest.MonkeyPatch) -> None:
    small(300)
    monkeypatch.setattr(files, "is_in_memory", lambda folder: True)
    now = found(Grid(side=4), Options(workers=1))
    assert now.stopped is not None and now.stopped.limit is Limit.MEMORY
    assert "FLOODMARK_LOCAL_DIR" in str(now.stopped)
    assert now.distinct < 4**5


def test_which_folders_are_in_memory(tmp_path: Path) -> None:
    assert scratch.is_in_memory(Path("/dev/shm"))
    assert not scratch.is_in_memory(Path("/proc"))


@pytest.mark.parametrize("number", range(1, 60, 6))
def test_a_full_disk_ends_the_search(number: int, small: SetLimit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever file does not fit: the search is undetermined, and says which disk is full."""
    small(300)
    calls = 0
    allocate = scratch.allocate

    def full(file: IO[bytes], size: int, folder: Path) -> None:
        nonlocal calls
        calls += 1
        if calls >= number:
            raise scratch.full_disk(OSError(errno.ENOSPC, "no space"), folder, size)
        allocate(file, size, folder)

    monkeypatch.setattr(files, "allocate", full)
    now = found(Grid(side=4), Options(workers=2))
    assert not now.complete
    assert now.violations == []
    assert "is full" in str(now.stopped)
    assert 0 < now.distinct < 4**5


def test_files_are_gone_when_the_search_is(small: SetLimit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLOODMARK_LOCAL_DIR", str(tmp_path))
    small(300)
    before = len(os.listdir("/proc/self/fd"))
    assert str(tmp_path) in found(Grid(side=4), Options(workers=2)).notes[0]
    assert os.listdir(tmp_path) == []
    assert len(os.listdir("/proc/self/fd")) <= before + 2


# Stores by themselves.


def begun(model: Model, workers: int = 1) -> memory.MemoryStore:
    """A store with the initial states of a model. Its limit leaves room beside whatever this process has started."""
    store = memory.MemoryStore(build_kernel(model, {}, False), workers, MemoryBudget(1 << 38), False)
    layout = store.interface.layout
    store.add([layout.pack(state) for _, state in initial_states(model)])
    return store


def test_what_was_noted_in_memory_is_noted_in_files(small: SetLimit) -> None:
    """Of several places at once, each with a state of its own."""
    small(1 << 30)
    store = begun(Scattered())
    best = store.workers[0].best
    best[loops.BEST_PARENT], best[loops.BEST_PARENT + 1] = 3, 1
    states = [store.state(position) for position in (2, 0)]
    taken = files.FileStore(store, store.budget)
    assert [taken.noted(loops.BEST_PARENT + place) for place in (0, 1, 2)] == [*states, None]
    taken.close()


def test_all_that_is_noted_of_a_partition_is_told(small: SetLimit) -> None:
    small(1 << 30)
    taken = files.FileStore(begun(Scattered()), MemoryBudget(1 << 30))
    lane = taken.lanes[0]
    partition = next(each for each in taken.partitions if each.count > 1)
    lane.open(partition)
    assert [int(lane.fields[field]) for field in (loops.SIZE, loops.COUNT)] == [partition.cells, partition.count]
    lane.best[[2, 5]] = 2, 1
    rows = [tuple(map(int, row)) for row in partition.rows(0, 2)]
    assert lane.noted() == {2: rows[1], 5: rows[0]}
    assert lane.noted() == {}
    taken.close()


def test_a_table_that_has_room_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither where there is room for more states already, nor where there may be more in it as it is."""
    store = begun(Scattered(), workers=2)
    before = store.table
    store._grow()
    assert store.table is before
    store.capacity = store.needed
    monkeypatch.setattr(store, "_next_table", lambda: (store.cells, store.needed + 10))
    store._grow()
    assert store.table is before
    assert [int(it.fields[loops.LIMIT]) - it.count for it in store.workers] == [5, 5]
    monkeypatch.setattr(store, "_divide", iter([False, False, True]).__next__)
    store._grow()
    assert store.table is not before, "its cells have no room for some positions"
    store.close()


def test_the_last_table_takes_what_room_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of twice the size would not fit, but a larger one does, fuller than usual."""
    store = begun(Scattered())
    cells = 2 * store.cells
    room = cells * memory.CELL_BYTES + int(memory.FULL * cells) * store.stride - 1
    monkeypatch.setattr(store.budget, "room", lambda held: room + store.budget.of_pages(1))
    larger, capacity = store._next_table()
    assert store.cells < larger < cells
    assert room - 16 < larger * memory.CELL_BYTES + capacity * store.stride <= room
    store.close()


def test_a_limit_leaves_room_for_the_pages_that_workers_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many states remain possible as fit beside the table and these pages."""
    store = begun(Scattered(), workers=2)
    assert store.table is not None
    beside = store.table.size + store.budget.of_pages(2)
    monkeypatch.setattr(store.budget, "room", lambda held: beside + 100 * store.stride)
    store.adapt()
    assert store.capacity == 100
    store.close()


def test_all_workers_take_new_code(monkeypatch: pytest.MonkeyPatch) -> None:
    store = begun(Scattered(), workers=3)
    taken: list[int] = []
    monkeypatch.setattr(Worker, "take_code", lambda worker: taken.append(worker.number))
    store.take_code()
    assert taken == [0, 1, 2]
    store.close()


def test_the_cores_are_those_that_a_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 96)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {4, 7, 9}, raising=False)
    assert cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    assert cores() == 96


# What memory is, and how it is taken.


def test_memory_counts_what_only_memory_holds(tmp_path: Path) -> None:
    before = memory_of_this_process()
    region = ReservedMemory(64 << 20)
    assert memory_of_this_process() < before + (8 << 20)
    region.bytes[:] = 1
    assert memory_of_this_process() > before + (60 << 20)
    region.give_back(0, region.size)
    assert memory_of_this_process() < before + (8 << 20)
    path = tmp_path / "mapped"
    path.write_bytes(bytes(32 << 20))
    with open(path, "r+b") as file:
        mapped = np.frombuffer(mmap.mmap(file.fileno(), 32 << 20), dtype=np.uint8)
    mapped[:] = 1
    assert memory_of_this_process() < before + (8 << 20)


def test_memory_counts_other_processes_of_the_command() -> None:
    """A process of its own asks, as others that this one has started come and go."""
    script = "import sys; taken = bytearray(b'1') * (48 << 20); print(len(taken), flush=True); sys.stdin.read()"
    asks = f"""
import subprocess, sys
from floodmark.checkers.resources import memory_of_command
before = memory_of_command()
with subprocess.Popen([sys.executable, "-c", {script!r}], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
    other.stdout.readline()
    assert memory_of_command() > before + (40 << 20)
    other.communicate()
assert memory_of_command() < before + (20 << 20)
"""
    subprocess.run([sys.executable, "-c", asks], check=True)


def test_what_lies_between_two_bytes_is_given_back_and_no_more() -> None:
    region = ReservedMemory(3 * mmap.PAGESIZE)
    region.bytes[:] = 7
    region.give_back(1, 2 * mmap.PAGESIZE + 5)
    assert list(map(int, np.unique(region.bytes[: mmap.PAGESIZE]))) == [7]
    assert list(map(int, np.unique(region.bytes[mmap.PAGESIZE : 2 * mmap.PAGESIZE]))) == [0]
    assert list(map(int, np.unique(region.bytes[2 * mmap.PAGESIZE :]))) == [7]


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["80M", "100M"])
def test_a_command_keeps_to_its_limit(limit: str) -> None:
    """All processes of a command are looked at from outside, many times a second, while it searches 6^8 states."""
    row = measure("native", limit, 8)
    assert f"| {limit} |" in row
    assert "(over)" not in row
    assert "1,679,616 |" in row


@pytest.mark.slow
@pytest.mark.skipif(not container.can_be_made(), reason="takes root and control groups of version 1")
def test_a_command_keeps_to_the_memory_of_its_container() -> None:
    """Nobody says how much it has; 6^9 states do not fit, and the command is not killed."""
    row = container.measure("150M", 9)
    assert "| 10,077,696 |" in row
    assert "it fitted" not in row


def test_states_are_stored_in_as_few_bytes_as_their_bits_need() -> None:
    for model, stride in ((Grid(side=4), 4), (Jumps(size=40), 2), (Wide(nodes=2), 48)):
        assert stride_of(build_kernel(model, {}, False).interface.layout) == stride


@pytest.mark.parametrize("room", [0, 1, 500, 4000, 10**9])
def test_values_are_counted_in_the_room_that_is_left(room: int) -> None:
    """Variables of 20, 25 and 200 bits among others, of which no value may be counted twice or not at all."""
    layout = build_kernel(Wide(nodes=2), {}, False).interface.layout
    rows, _ = reachable_set(Wide(nodes=2), Options(workers=1))
    seen = {name: len({tuple(code) for code in np.atleast_2d(column(rows, slot).T).T.tolist()})
            for name, slot in layout.slots.items()}
    pieces = [rows[at : at + 7] for at in range(0, len(rows), 7)]
    assert values_seen(layout, lambda: pieces, len(rows), room) == {name: seen[name] for name in layout.variables}


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("limit", [0, 1, 4096, 1 << 20])
def test_a_limit_that_leaves_no_room_at_all(limit: int, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """States of 48 bytes, more of them than such a limit would hold: nothing is written where nothing is reserved."""
    monkeypatch.setattr("floodmark.checkers.search.driver.PROGRESS_SECONDS", 0.0)
    now = found(Wide(nodes=3), Options(workers=workers, limits=Limits(memory=limit)))
    assert now.stopped == Stop(Limit.MEMORY)
    assert not now.complete
    assert now.distinct > 0


def test_the_last_cell_of_a_table_is_followed_by_the_first() -> None:
    """States that all belong into the last cell go into the first ones, and nothing goes behind the table."""
    kernel = build_kernel(Jumps(size=4000), {}, False)
    every = np.arange(1, 2000, dtype=np.uint64)
    h = fingerprints(every, 1, loops.SEED_1)
    states = every[((h & np.uint64(0xFFFFFFFF)) * np.uint64(8)) >> np.uint64(32) == 7][:5]
    table, store = np.zeros(64, dtype=np.uint32), np.zeros(64, dtype=np.uint64)
    scratch_words, state = np.zeros(loops.SCRATCH_WORDS, dtype=np.uint64), np.zeros(1, dtype=np.uint64)
    fields = np.zeros(loops.FIELDS, dtype=np.uint64)
    for field, value in {
        loops.TABLE: table.ctypes.data, loops.STORE: store.ctypes.data, loops.SCRATCH: scratch_words.ctypes.data,
        loops.STATE: state.ctypes.data, loops.SIZE: 8, loops.BITS: 4,
    }.items():
        fields[field] = value
    insert, rehash = (kernel.partitioned.function(name, count) for name, count in (("insert", 3), ("rehash", 1)))
    for _ in range(2):  # the second time all are known
        fields[loops.LIMIT] = fields[loops.COUNT] + 5
        assert insert(fields.ctypes.data, states.ctypes.data, 5) == 5
        assert int(fields[loops.COUNT]) == 5
        assert list(np.nonzero(table)[0]) == [0, 1, 2, 3, 7]
    table[:] = 0
    rehash(fields.ctypes.data)
    assert list(np.nonzero(table)[0]) == [0, 1, 2, 3, 7]
