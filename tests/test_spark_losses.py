"""Tests that losses cost time but never change a verdict, whatever is lost, moved, killed or run twice.

The schedules are those of tests/losses.py, without Spark. The named tests are the faults that a search without a ledger
had; specs/examples/lost_partitions.py has them as designs.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

import pytest

from floodmark import Between, Constant, Model, action, initial, invariant, require
from floodmark.checkers.exploration import Exploration, Options
from floodmark.checkers.native import search as native
from floodmark.checkers.properties import collect
from floodmark.checkers.spark import tasks
from floodmark.checkers.spark.cluster import Broken, Cluster
from floodmark.checkers.spark.shard import FilesChangedError
from floodmark.checkers.spark.tasks import Level
from specs.examples.philosophers import Philosophers
from tests.losses import Machines, Simulated, explore

FIGURES = ("complete", "distinct", "generated", "depth", "digest", "levels", "actions", "violations", "values_seen")
QUICK, MANY = 18, 500


class Walk(Model):
    """A counter that may reach its end, and must not: each level of it is one or a few states."""

    end = Constant(9)
    place: Annotated[int, Between(0, "end")]
    side: Annotated[int, Between(0, 3)]

    @initial
    def start(self) -> None:
        self.place = 0
        self.side = 0

    @action
    def step(self) -> None:
        require(self.place < self.end)
        self.place += 1

    @action
    def turn(self) -> None:
        require(self.place < 3 and self.side < 3)
        self.side += 1

    @invariant
    def never_arrives(self) -> bool:
        return self.place < self.end or self.side > 0


MODELS: dict[str, tuple[type[Model], dict[str, int]]] = {
    "walk": (Walk, {}),
    "philosophers": (Philosophers, {"last": 2}),
}


def of(name: str) -> tuple[Model, list[Any]]:
    cls, constants = MODELS[name]
    return cls(**constants), list(collect(cls, []).values())


@cache
def wanted(name: str) -> Exploration:
    return native.explore(*of(name), Options(workers=1))


def same(found: Exploration, name: str) -> None:
    for figure in FIGURES:
        assert getattr(found, figure) == getattr(wanted(name), figure), figure


def drawn(root: Path, seed: int, name: str) -> Machines:
    machines = Machines(root / str(seed), random.Random(seed), often=0.008)
    found, _ = explore(*of(name), machines, partitions=2 + seed % 2, wide=0 if seed % 3 else 4)
    same(found, name)
    shutil.rmtree(root / str(seed), ignore_errors=True)
    return machines


@pytest.mark.parametrize("name", MODELS)
def test_drawn_schedules(name: str, tmp_path: Path) -> None:
    assert sum(len(drawn(tmp_path, seed, name).happened) for seed in range(QUICK)) > QUICK


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_many_drawn_schedules(name: str, tmp_path: Path) -> None:
    for seed in range(QUICK, MANY):
        drawn(tmp_path, seed, name)


# The faults by name.


def quiet(root: Path) -> Machines:
    return Machines(root, random.Random(0), faults=())


def before_levels(monkeypatch: pytest.MonkeyPatch, do: Callable[[Simulated, Level], None]) -> None:
    """Does something before each job of a level."""
    original = Cluster._level

    def level(self: Any, level: Level, paused: Any = None) -> Any:
        do(self, level)
        return original(self, level, paused)

    monkeypatch.setattr(Cluster, "_level", level)


def files(cluster: Simulated, partition: int, machine: int = 0) -> Path:
    return cluster.machines.root / f"machine-{machine}" / cluster.run.folder / f"{partition:05}"


@pytest.mark.parametrize("number", range(2, 10))
def test_a_partition_is_lost_while_another_is_computed_again(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: set[int] = set()

    def lose(cluster: Simulated, level: Level) -> None:
        partition = 0 if level.only is None else 1
        if level.number == (number if level.only is None else number - 1) and partition not in lost:
            lost.add(partition)
            shutil.rmtree(files(cluster, partition))

    before_levels(monkeypatch, lose)
    found, repairs = explore(*of("walk"), quiet(tmp_path), partitions=2)
    same(found, "walk")
    assert (lost, repairs) == ({0, 1}, 1)


@pytest.mark.parametrize("number", range(3, 7))
def test_a_partition_goes_back_to_a_level_that_was_never_accepted(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first attempt of the level missed a partition; its files return by being moved, as they were."""
    done: set[str] = set()

    def move(cluster: Simulated, level: Level) -> None:
        kept = tmp_path / "kept"
        if level.number == number and level.only is None and "lost" not in done:
            done.add("lost")
            shutil.rmtree(files(cluster, 1))
        elif "lost" in done and "moved" not in done:
            done.add("moved")
            files(cluster, 0).rename(kept)
        elif level.number == number + 2 and level.only is None and "back" not in done:
            done.add("back")
            shutil.rmtree(files(cluster, 0))
            kept.rename(files(cluster, 0))

    before_levels(monkeypatch, move)
    found, repairs = explore(*of("philosophers"), quiet(tmp_path), partitions=3)
    same(found, "philosophers")
    assert (len(done), repairs > 1) == (3, True)


def test_an_expansion_that_runs_again_on_another_machine_is_heard_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own partition's merge has taken what the first one sent; another merge gets what the second one does."""
    happened: list[int] = []
    settled: list[int] = []
    original = Simulated._merged
    monkeypatch.setattr(Simulated, "_settle", lambda self: settled.append(0))

    def merged(self: Simulated, partition: int, task: Any, records: list[Any]) -> list[Any]:
        arrives = any(isinstance(payload, tasks.End) for _, payload in records)
        if partition == 1 and len(happened) < 3 and arrives:
            happened.append(partition)
            self.machines.home[0], home = 1, self.machines.home[0]
            level = task.args[1]
            again = self._run(0, partial(tasks.expand, self.run, level))
            self.machines.home[0] = home
            first = [r for r in records if isinstance(r[1], tasks.End) and r[1].partition != 0]
            records = first + [r for r in again if r[0] == partition]
        return original(self, partition, task, records)

    monkeypatch.setattr(Simulated, "_merged", merged)
    found, repairs = explore(*of("philosophers"), quiet(tmp_path), partitions=2)
    same(found, "philosophers")
    assert repairs == len(settled) == 3  # nothing was missing, where it was asked


def test_what_is_kept_is_what_was_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the values are gathered a partition goes back to files that have fewer levels."""
    kept = tmp_path / "kept"
    done: list[int] = []

    def keep(cluster: Simulated, level: Level) -> None:
        if level.number == 6 and not kept.exists():
            kept.mkdir()
            files(cluster, 0).rename(kept / "0")

    before_levels(monkeypatch, keep)
    original = Cluster.codes

    def codes(self: Any) -> Any:
        done.append(0)
        shutil.rmtree(files(self, 0))
        (kept / "0").rename(files(self, 0))
        return original(self)

    monkeypatch.setattr(Cluster, "codes", codes)
    found, repairs = explore(*of("philosophers"), quiet(tmp_path), partitions=2)
    same(found, "philosophers")
    assert (done, repairs) == ([0], 2)


def test_what_arrives_is_what_was_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shuffle keeps records on disks: one is missing, a byte of one is another, a report is damaged."""
    damages: list[Callable[[list[Any]], Any]] = [
        lambda records: records.remove(next(r for r in records if isinstance(r[1], bytes))),
        lambda records: records.remove(next(r for r in records if isinstance(r[1], tasks.End))),
        lambda records: records.remove(next(r for r in records if isinstance(r[1], tasks.Sealed))),
        lambda records: records.append(_changed(records, bytes)),
        lambda records: records.append(_changed(records, tasks.Sealed)),
    ]
    left = damages[:]
    original = Simulated._merged

    def merged(self: Simulated, partition: int, task: Any, records: list[Any]) -> list[Any]:
        if left and task.func is tasks.merge and any(isinstance(r[1], bytes) for r in records):
            left.pop()(records)
        return original(self, partition, task, records)

    monkeypatch.setattr(Simulated, "_merged", merged)
    found, repairs = explore(*of("philosophers"), quiet(tmp_path), partitions=2)
    same(found, "philosophers")
    assert (left, repairs >= 3) == ([], True)


def _changed(records: list[Any], kind: type) -> tuple[int, Any]:
    place, (partition, payload) = next((i, r) for i, r in enumerate(records) if isinstance(r[1], kind))
    del records[place]
    if isinstance(payload, tasks.Sealed):
        return partition, tasks.Sealed(_flipped(payload.content), payload.sum)
    return partition, _flipped(payload)


def _flipped(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 4])


@pytest.mark.parametrize("name", ["states", "table-*"])
def test_bytes_that_change_under_a_running_search(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has a file open does not look at it again, but no verdict is given without."""
    def change(cluster: Simulated, level: Level) -> None:
        if level.number == 8:
            (path,) = files(cluster, 0).glob(name)
            with open(path, "r+b") as file:
                content = file.read(1 << 16)
                place = next(i for i, byte in enumerate(content) if byte)
                file.seek(place)
                file.write(bytes([content[place] ^ 1]))

    before_levels(monkeypatch, change)
    with pytest.raises((Broken, FilesChangedError), match=r"other states than before|cannot be relied on"):
        explore(*of("philosophers"), quiet(tmp_path), partitions=2)


def test_a_repair_that_comes_to_something_else_ends_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(cluster: Simulated, level: Level) -> None:
        if level.number == 7 and level.only is None and not cluster.repaired:
            cluster.ledger.rows[4, 0, 1] += 1  # as if another digest had been accepted
            shutil.rmtree(files(cluster, 0))

    before_levels(monkeypatch, lose)
    with pytest.raises(Broken, match="level 4 of partition 0 was computed again and had other states"):
        explore(*of("philosophers"), quiet(tmp_path), partitions=2)
