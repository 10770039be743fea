"""What an operator sees of a search in a cluster while it runs: tasks, partitions, disks."""

from __future__ import annotations

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from floodmark.checkers.project.properties import collect
from floodmark.checkers.search import driver
from floodmark.checkers.search_result import ClusterProgress, Options, Progress
from floodmark.checkers.spark import cluster, jobs
from floodmark.checkers.spark.cluster import Cluster
from floodmark.checkers.spark.jobs import TaskCounts, WorkersUnavailable, task_counts, watching_jobs
from floodmark.checkers.spark.search import Distribution, search_states
from specs.examples.philosophers import Philosophers
from tests.spark.test_spark_jobs import Application
from tests.support.losses import Machines
from tests.support.losses import search_states as simulated


def stage(tasks: int, active: int, done: int, failed: int = 0) -> Any:
    return SimpleNamespace(
        numTasks=tasks, numActiveTasks=active, numCompletedTasks=done, numFailedTasks=failed
    )


@pytest.mark.parametrize(
    ("stages", "counts"),
    [
        ({}, TaskCounts()),
        ({1: stage(8, 0, 0)}, TaskCounts()),
        ({1: stage(8, 2, 3), 2: stage(6, 0, 0)}, TaskCounts(8, 3)),
        ({2: stage(6, 1, 4, 1), 1: stage(8, 0, 8, 2), 3: None}, TaskCounts(6, 4, 3)),
    ],
)
def test_tasks_are_those_of_the_newest_stage_that_has_begun(stages: dict[int, Any], counts: TaskCounts) -> None:
    tracker = SimpleNamespace(
        getJobIdsForGroup=lambda group: [5], getStageInfo=stages.get,
        getJobInfo=lambda number: SimpleNamespace(stageIds=list(stages)) if number == 5 else None,
    )  # fmt: skip
    context: Any = SimpleNamespace(statusTracker=lambda: tracker)
    assert task_counts(context, "group") == counts


def test_partitions_and_disks_are_those_of_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, ClusterProgress]] = []
    accept = Cluster.expand_level

    def expand_level(self: Cluster, paused: Any) -> bool:
        is_done = accept(self, paused)
        seen.append((self.count, self.progress))
        sizes = [path.stat().st_size for path in tmp_path.rglob("table-*")]
        assert sum(disk.used for disk in self.progress.disks.values()) < sum(sizes) + self.count * self.words * 8
        return is_done

    monkeypatch.setattr(Cluster, "expand_level", expand_level)
    simulated(Philosophers(last=2), [], Machines(tmp_path, random.Random(1), faults=()), partitions=3)
    assert len(seen) > 3
    for count, at in seen:
        assert at.partitions == 3
        assert 1 <= at.largest <= 3 and 1 <= at.slowest <= 3
        assert [name.partition(":")[2] for name in at.disks] == [str(tmp_path)]
        (disk,) = at.disks.values()
        assert disk.used >= count * 8 and disk.free > 0


def test_a_skew_is_a_multiple_of_the_mean() -> None:
    assert cluster._skew([]) == cluster._skew([0, 0]) == 1
    assert cluster._skew([3, 1, 2]) == 1.5


def test_progress_has_the_tasks_of_a_running_level(spark: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(driver, "PROGRESS_SECONDS", 0.0)
    monkeypatch.setattr(cluster, "MAX_BYTES", -1)
    said: list[Progress] = []
    model = Philosophers(last=2)
    properties = list(collect(Philosophers, []).values())
    search_states(model, properties, Options(workers=1), said.append, Distribution(partitions=2, wide=0))
    tasks = {(at.cluster.tasks, at.cluster.done) for at in said if at.cluster is not None}
    assert 2 in {all_tasks for all_tasks, _ in tasks}
    assert all(done <= all_tasks for all_tasks, done in tasks)


def test_a_limit_ends_the_wait_of_a_job_without_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of jobs that no limit ends, such as the one that writes a checkpoint."""
    pytest.importorskip("pyspark")
    from py4j.protocol import Py4JJavaError

    monkeypatch.setattr(jobs, "LOOK_SECONDS", 0.001)
    context: Any = Application()
    context.cancelled = []
    context.cancelJobGroup = context.cancelled.append

    class EndedError(Py4JJavaError):  # type: ignore[misc]
        def __init__(self) -> None:
            """Java is not there to say more."""

    def run() -> None:
        with watching_jobs(context, limit=lambda: True) as watch:
            for _ in range(2000):
                watch.ended.wait(0.005)
                if context.cancelled:
                    break
            raise EndedError

    with pytest.raises(WorkersUnavailable, match="has had no worker for 0 s"):
        run()
