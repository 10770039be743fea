"""Tests that losses cost time but never change a verdict, whatever is lost, moved, killed or run twice.

The schedules are those of tests/support/losses.py, without Spark. The named tests are the faults that a search without
a ledger had; specs/examples/lost_partitions.py has them as designs.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest

from floodmark import Between, Constant, Model, action, initial, invariant, require
from floodmark.checkers.native import search as native
from floodmark.checkers.project.properties import collect
from floodmark.checkers.search_result import Options, SearchResult
from floodmark.checkers.spark import cluster, partition_count, shard, tasks
from floodmark.checkers.spark import search as spark_search
from floodmark.checkers.spark.cluster import Cluster
from floodmark.checkers.spark.code_transfer import build_code
from floodmark.checkers.spark.frontier import MAX_BYTES, frontier
from floodmark.checkers.spark.jobs import JobFailed
from floodmark.checkers.spark.shard import FilesChangedError, states_by_partition
from floodmark.checkers.spark.tasks import LevelInput, MergeReport
from specs.examples.philosophers import Philosophers
from tests.support.losses import Machines, Simulated, search_states

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


class Pairs(Model):
    """Its states have two words."""

    left: Annotated[int, Between(0, 2**50)] = 0
    right: Annotated[int, Between(0, 2**50)] = 0

    @action
    def rises(self) -> None:
        require(self.left < 20)
        self.left += 1

    @action
    def sinks(self) -> None:
        require(self.right < 20)
        self.right += 1


MODELS: dict[str, tuple[type[Model], dict[str, int]]] = {
    "walk": (Walk, {}),
    "philosophers": (Philosophers, {"last": 2}),
}


def of(name: str) -> tuple[Model, list[Any]]:
    cls, constants = MODELS[name]
    return cls(**constants), list(collect(cls, []).values())


@cache
def wanted(name: str) -> SearchResult:
    return native.search_states(*of(name), Options(workers=1))


def same(found: SearchResult, name: str) -> None:
    for figure in FIGURES:
        assert getattr(found, figure) == getattr(wanted(name), figure), figure


def drawn(root: Path, seed: int, name: str) -> Machines:
    machines = Machines(root / str(seed), random.Random(seed), often=0.008)
    most_bytes = (-1, 40, MAX_BYTES)[seed // 2 % 3]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "MAX_BYTES", most_bytes)
        patch.setattr(shard, "READ_BYTES", (8, shard.READ_BYTES)[seed % 2])
        found, _ = search_states(*of(name), machines, partitions=2 + seed % 2, wide=0 if seed % 3 else 4)
    same(found, name)
    shutil.rmtree(root / str(seed), ignore_errors=True)
    return machines


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_drawn_schedules_of_losses_change_no_result(name: str, tmp_path: Path) -> None:
    assert sum(len(drawn(tmp_path, seed, name).happened) for seed in range(QUICK)) > QUICK


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_search_that_outgrows_its_partitions_goes_on_with_more(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than once, while files are lost and processes killed; the levels are then those of the native search."""
    repartitioned(seed, tmp_path, monkeypatch)


def test_a_cluster_that_has_grown_divides_its_partitions_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once: there are as many partitions as before, and more cores to do their tasks."""
    monkeypatch.setattr(partition_count, "MIN_STATES_FOR_CORE", 1)
    executors = iter([1, 1, 1])
    for place in (cluster, spark_search):
        monkeypatch.setattr(place, "workers", lambda context: next(executors, 2))
    machines = Machines(tmp_path, random.Random(3), faults=())
    found, _ = search_states(*of("philosophers"), machines, partitions=None, options=Options(workers=1, likely=10**8))
    same(found, "philosophers")
    (said,) = [note for note in found.notes if "partitions instead of" in note]
    assert said.endswith("it continued with 2 partitions instead of 2, on 2 executors instead of 1")


def test_states_that_are_lost_on_the_way_to_more_partitions_are_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by a mistake in how they are divided: what is sent arrives, but it is not all."""
    original = shard.states_by_partition

    def divided_badly(states: Any, words: int, owners: int) -> Any:
        return [(rows[1:], digest) for rows, digest in original(states, words, owners)]

    monkeypatch.setattr(tasks, "states_by_partition", divided_badly)
    with pytest.raises(JobFailed, match="states changed on the way from one number of partitions to another"):
        repartitioned(0, tmp_path, monkeypatch)


@pytest.mark.parametrize("size", [3, 70_000])
def test_words_that_change_or_change_places_change_the_sum_of_what_is_sent(size: int) -> None:
    piece = np.arange(1, size + 1, dtype=np.uint64)
    changed = [piece.copy() for _ in range(5)]
    changed[0][-1] ^= np.uint64(1 << 63)
    changed[1][[0, -1]] = changed[1][[-1, 0]]
    changed[2][[0, 1]] += np.array([1, -1]).astype(np.uint64)
    changed[3][[0, -1]] ^= np.uint64(1 << 63)
    changed[4] = np.append(piece, np.uint64(0))
    sums = []
    for each in (piece, *changed):
        sums.append(tasks.Checksum())
        sums[-1].add(each)
    assert all(one != sums[0] for one in sums[1:])
    together, apart = tasks.Checksum(), tasks.Checksum()
    for each in (piece, changed[0]):
        together.add(each)
    for each in (changed[0], piece):
        apart.add(each)
    assert together == apart, "pieces may come in any order"


@pytest.mark.slow
def test_many_searches_get_more_partitions_when_they_outgrow_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(4, 150):
        repartitioned(seed, tmp_path, monkeypatch)


def repartitioned(seed: int, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, states in (("STATES", 14), ("MAX_STATES", 16), ("MIN_STATES_FOR_CORE", 1), ("GROWTH", 1)):
        monkeypatch.setattr(partition_count, name, states)
    monkeypatch.setattr(cluster, "MAX_BYTES", (-1, 40, MAX_BYTES)[seed % 3])
    machines = Machines(root / str(seed), random.Random(seed), often=0.0 if seed == 0 else 0.002)
    found, _ = search_states(*of("philosophers"), machines, partitions=None)
    same(found, "philosophers")
    said = [note for note in found.notes if "partitions instead of" in note]
    assert len(said) > 1, found.notes
    shutil.rmtree(root / str(seed), ignore_errors=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_many_drawn_schedules_of_losses_change_no_result(name: str, tmp_path: Path) -> None:
    for seed in range(QUICK, MANY):
        drawn(tmp_path, seed, name)


# The faults by name.


def quiet(root: Path) -> Machines:
    return Machines(root, random.Random(0), faults=())


@pytest.fixture(params=["driver", "partitions"])
def expanded_by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Who expands levels, which are all narrow here."""
    if request.param == "partitions":
        monkeypatch.setattr(cluster, "MAX_BYTES", -1)
    return str(request.param)


def before_levels(monkeypatch: pytest.MonkeyPatch, do: Callable[[Simulated, LevelInput], None]) -> None:
    """Does something before each job of a level."""
    following, repeated = Cluster._next_level, Cluster._level

    def next_level(self: Any, level: LevelInput, paused: Any) -> Any:
        do(self, level)
        return following(self, level, paused)

    def level(self: Any, level: LevelInput, paused: Any = None) -> Any:
        if level.only is not None:
            do(self, level)
        return repeated(self, level, paused)

    monkeypatch.setattr(Cluster, "_next_level", next_level)
    monkeypatch.setattr(Cluster, "_level", level)


def files(cluster: Simulated, partition: int, machine: int = 0) -> Path:
    return cluster.machines.root / f"machine-{machine}" / cluster.run.folder / f"{partition:05}"


@pytest.mark.parametrize(("most", "stages"), [(MAX_BYTES, 1), (40, 11), (-1, 16)])
def test_narrow_levels_take_one_stage(
    most: int, stages: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first level is the partitions' own; after it, the driver has the states of whatever is narrow."""
    monkeypatch.setattr(cluster, "MAX_BYTES", most)
    by_partitions: list[int] = []
    original = Cluster._level

    def level(self: Any, level: LevelInput, paused: Any = None) -> Any:
        by_partitions.append(level.number)
        return original(self, level, paused)

    monkeypatch.setattr(Cluster, "_level", level)
    found, _ = search_states(*of("philosophers"), quiet(tmp_path), partitions=2)
    same(found, "philosophers")
    assert len(by_partitions) == stages


def test_a_frontier_is_what_was_accepted(tmp_path: Path) -> None:
    code = build_code(Philosophers(last=2), {}, False).load()
    states = np.arange(3, 9, dtype=np.uint64)
    ((_, digest),) = states_by_partition(states, 1, 1)
    report = MergeReport(0, found=6, digest=digest, states=states.tobytes())
    held = frontier(code, [report, MergeReport(1, states=b"")])
    assert held is not None
    assert held.reader.states.tolist() == states.tolist()
    other = replace(report, states=(states + np.uint64(1)).tobytes())
    for reports in ([replace(report, states=states[:-1].tobytes())], [other], [report, MergeReport(1)]):
        assert frontier(code, reports) is None


@pytest.mark.usefixtures("expanded_by")
@pytest.mark.parametrize("number", [2, *(pytest.param(number, marks=pytest.mark.slow) for number in range(3, 9)), 9])
def test_a_partition_is_lost_while_another_is_computed_again(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: set[int] = set()
    settled: list[int] = []
    monkeypatch.setattr(Simulated, "_settle", lambda self: settled.append(0))

    def lose(cluster: Simulated, level: LevelInput) -> None:
        partition = 0 if level.only is None else 1
        if level.number == (number if level.only is None else number - 1) and partition not in lost:
            lost.add(partition)
            shutil.rmtree(files(cluster, partition))

    before_levels(monkeypatch, lose)
    found, repairs = search_states(*of("walk"), quiet(tmp_path), partitions=2)
    same(found, "walk")
    assert (lost, repairs, len(settled)) == ({0, 1}, 1, 1)  # only for the one that was lost meanwhile


@pytest.mark.slow
@pytest.mark.usefixtures("expanded_by")
@pytest.mark.parametrize("number", range(3, 7))
def test_a_partition_goes_back_to_a_level_that_was_never_accepted(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first attempt of the level missed a partition; its files return by being moved, as they were."""
    done: set[str] = set()

    def move(cluster: Simulated, level: LevelInput) -> None:
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
    found, repairs = search_states(*of("philosophers"), quiet(tmp_path), partitions=3)
    same(found, "philosophers")
    assert (len(done), repairs > 1) == (3, True)


def test_an_expansion_that_runs_again_on_another_machine_is_heard_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own partition's merge has taken what the first one sent; another merge gets what the second one does."""
    monkeypatch.setattr(cluster, "MAX_BYTES", -1)
    happened: list[int] = []
    settled: list[int] = []
    original = Simulated._merged
    monkeypatch.setattr(Simulated, "_settle", lambda self: settled.append(0))

    def merged(self: Simulated, partition: int, task: Any, records: list[Any]) -> list[Any]:
        arrives = any(isinstance(payload, tasks.EndOfExpansion) for _, payload in records)
        if partition == 1 and len(happened) < 3 and arrives:
            happened.append(partition)
            self.machines.home[0], home = 1, self.machines.home[0]
            level = task.args[1]
            again = self._run(0, partial(tasks.expand, self.run, level))
            self.machines.home[0] = home
            first = [r for r in records if isinstance(r[1], tasks.EndOfExpansion) and r[1].partition != 0]
            records = first + [r for r in again if r[0] == partition]
        return original(self, partition, task, records)

    monkeypatch.setattr(Simulated, "_merged", merged)
    found, repairs = search_states(*of("philosophers"), quiet(tmp_path), partitions=2)
    same(found, "philosophers")
    assert repairs == len(settled) == 3  # nothing was missing, where it was asked


@pytest.mark.usefixtures("expanded_by")
def test_what_is_kept_is_what_was_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the values are gathered a partition goes back to files that have fewer levels."""
    kept = tmp_path / "kept"
    done: list[int] = []

    def keep(cluster: Simulated, level: LevelInput) -> None:
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
    found, repairs = search_states(*of("philosophers"), quiet(tmp_path), partitions=2)
    same(found, "philosophers")
    assert (done, repairs) == ([0], 2)


def in_cluster(model: Model, root: Path, monkeypatch: pytest.MonkeyPatch, do: Callable[[Simulated], None]) -> None:
    """Does something with the cluster of a search that has found all states of a model."""
    done: list[int] = []
    original = Cluster.codes

    def codes(self: Any) -> Any:
        do(self)
        done.append(0)
        return original(self)

    monkeypatch.setattr(Cluster, "codes", codes)
    search_states(model, [], quiet(root), partitions=3)
    assert done == [0]


def test_a_sample_is_of_as_many_partitions_as_hold_what_is_to_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All pieces of all levels are read in these; so a sample as large as the search is everything."""
    monkeypatch.setattr(tasks, "OUTBOX_BYTES", 8)

    def sampled(cluster: Simulated) -> None:
        assert len(np.unique(cluster.sample(cluster.count * 3, cluster.count))) == cluster.count
        some = cluster.sample(cluster.count, 1)
        counts = [cluster.ledger.of(p)[-1, 0] for p in range(cluster.partitions)]
        assert 0 < len(some) == counts[0] < cluster.count
        assert len(cluster.sample(7, cluster.count)) == 9  # three of each partition

    in_cluster(Philosophers(last=2), tmp_path, monkeypatch, sampled)


def test_what_partitions_say_that_they_were_given_is_counted_in_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def given(cluster: Simulated) -> None:
        states = cluster.sample(5, 1)
        assert states.shape[1] == cluster.words == 2
        ((_, digest),) = states_by_partition(states, 2, 1)
        (said,) = cluster.put_from([(1, (4, states.tobytes()))], "another")  # type: ignore[arg-type]
        assert (said.partition, said.position, said.count, said.digest) == (1, 4, len(states), digest)

    in_cluster(Pairs(), tmp_path, monkeypatch, given)


def test_what_arrives_is_what_was_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expanded_by: str) -> None:
    """The shuffle keeps records on disks: one is missing, a byte of one is another, a report is damaged."""
    damages: list[Callable[[list[Any]], Any]] = [
        lambda records: records.remove(next(r for r in records if isinstance(r[1], bytes))),
        lambda records: records.remove(next(r for r in records if isinstance(r[1], tasks.EndOfExpansion))),
        lambda records: records.append(_changed(records, bytes)),
    ]
    if expanded_by == "partitions":
        damages += [
            lambda records: records.remove(next(r for r in records if isinstance(r[1], tasks.SealedReport))),
            lambda records: records.append(_changed(records, tasks.SealedReport)),
        ]
    left = damages[:]
    original = Simulated._merged

    def merged(self: Simulated, partition: int, task: Any, records: list[Any]) -> list[Any]:
        if left and task.func is tasks.merge and any(isinstance(r[1], bytes) for r in records):
            left.pop()(records)
        return original(self, partition, task, records)

    monkeypatch.setattr(Simulated, "_merged", merged)
    found, repairs = search_states(*of("philosophers"), quiet(tmp_path), partitions=2)
    same(found, "philosophers")
    assert (left, 2 * repairs >= len(damages)) == ([], True)


def _changed(records: list[Any], kind: type) -> tuple[int, Any]:
    place, (partition, payload) = next((i, r) for i, r in enumerate(records) if isinstance(r[1], kind))
    del records[place]
    if isinstance(payload, tasks.SealedReport):
        return partition, tasks.SealedReport(_flipped(payload.content), payload.sum)
    return partition, _flipped(payload)


def _flipped(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 4])


@pytest.mark.usefixtures("expanded_by")
@pytest.mark.parametrize("name", ["states", "table-*"])
def test_bytes_that_change_under_a_running_search(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has a file open does not look at it again, but no verdict is given without."""
    def change(cluster: Simulated, level: LevelInput) -> None:
        if level.number == 8:
            (path,) = files(cluster, 0).glob(name)
            with open(path, "r+b") as file:
                content = file.read(1 << 16)
                place = next(i for i, byte in enumerate(content) if byte)
                file.seek(place)
                file.write(bytes([content[place] ^ 1]))

    before_levels(monkeypatch, change)
    with pytest.raises(
        (JobFailed, FilesChangedError), match=r"other states than before|does not hold what was written"
    ):
        search_states(*of("philosophers"), quiet(tmp_path), partitions=2)


@pytest.mark.usefixtures("expanded_by")
def test_a_repair_that_comes_to_something_else_ends_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(cluster: Simulated, level: LevelInput) -> None:
        if level.number == 7 and level.only is None and not cluster.repaired:
            cluster.ledger.rows[4, 0, 1] += 1  # as if another digest had been accepted
            shutil.rmtree(files(cluster, 0))

    before_levels(monkeypatch, lose)
    with pytest.raises(JobFailed, match=r"level 4 of partition 0, computed again in .*, had other states"):
        search_states(*of("philosophers"), quiet(tmp_path), partitions=2)
