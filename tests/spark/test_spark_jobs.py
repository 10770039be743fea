"""Tests what a driver says when Spark cannot work: no worker, no Java, a full disk; and where machines keep files."""

from __future__ import annotations

import os
import socket
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from floodmark.checkers.kernel import scratch
from floodmark.checkers.spark import check_tasks, jobs, session, tasks
from floodmark.checkers.spark.jobs import JobCancelled, JobFailed, reason, told_of_java, wait_for_workers, watching_jobs
from floodmark.checkers.spark.ledger import AcceptedLevels
from floodmark.checkers.spark.tasks import SearchContext, scratch_folder, scratch_folders
from floodmark.language.errors import SourceError


class Application:
    """A context whose executors come and go: how many there are each time that somebody asks."""

    master = "spark://host:7077"

    def __init__(self, *executors: int) -> None:
        self.executors = list(executors)
        status = SimpleNamespace(size=lambda: 1 + (self.executors.pop(0) if self.executors else 0))
        self._jsc = SimpleNamespace(sc=lambda: SimpleNamespace(getExecutorMemoryStatus=lambda: status))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "LOOK_SECONDS", 0.001)
    monkeypatch.setattr(jobs, "SAY_SECONDS", 0.01)
    monkeypatch.setattr(jobs, "WAIT_SECONDS", 0.05)


@pytest.mark.usefixtures("quick")
def test_a_cluster_without_a_worker_is_given_up() -> None:
    said: list[str] = []
    context: Any = Application()
    with pytest.raises(JobFailed, match=r"spark://host:7077 has had no worker for 0 s: none is registered"):
        wait_for_workers(context, lambda: False, said.append)
    assert said == ["waits for a worker of spark://host:7077: none is registered or free; gives up after 0 s"]


@pytest.mark.usefixtures("quick")
def test_a_worker_that_comes_late_is_waited_for() -> None:
    late: Any = Application(0, 0, 0, 0, 1)
    assert wait_for_workers(late, lambda: False)
    never: Any = Application()
    assert not wait_for_workers(never, lambda: True)
    local: Any = SimpleNamespace(master="local[2]")
    assert wait_for_workers(local, lambda: True)


def test_a_worker_that_is_there_again_begins_a_new_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    context: Any = Application(0, 1, 0)
    wait = jobs.WorkerWait(context, None)
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    for later in (0.0, jobs.WAIT_SECONDS + 1, 1.0):
        now[0] += later
        assert not wait.is_over()
    now[0] += jobs.WAIT_SECONDS + 1
    assert wait.is_over()


def test_a_master_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark")
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.setattr(session, "_prepare_launch", lambda url: None)
    with socket.create_server(("127.0.0.1", 0)) as there, socket.create_server(("127.0.0.1", 0)) as other:
        place, gone = (f"127.0.0.1:{each.getsockname()[1]}" for each in (there, other))
        other.close()
        with pytest.raises(SourceError, match=rf"no master has answered at spark://{gone} for 0\.1 s; start one"):
            session._start(f"spark://{gone}", None, 0.1)
        session._wait_for_master(f"spark://{gone},{place}", 0.1)
    for url in ("local[2]", "yarn", "spark://host", "spark://host:77077"):
        session._wait_for_master(url, 0.1)


def test_the_seconds_without_a_worker_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    context: Any = Application()
    wait = jobs.WorkerWait(context, None)
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    assert "no worker for 0 s" in wait.error().message
    assert not wait.is_over()
    now[0] += 7
    assert "no worker for 7 s" in wait.error().message


@pytest.mark.usefixtures("quick")
def test_only_what_asks_to_pause_cancels_a_job_that_has_a_worker() -> None:
    pytest.importorskip("pyspark")
    from py4j.protocol import Py4JJavaError

    class EndedError(Py4JJavaError):  # type: ignore[misc]
        def __init__(self) -> None:
            """Java is not there to say more."""

        def __str__(self) -> str:
            return "java.lang.Exception: ended"

    cancelled: list[str] = []

    def end(paused: bool, seconds: float) -> None:
        context: Any = SimpleNamespace(master="local[2]", cancelJobGroup=cancelled.append)
        with watching_jobs(context, lambda: paused) as watch:
            until = time.monotonic() + seconds
            while not cancelled and time.monotonic() < until:
                watch.ended.wait(0.005)
            raise EndedError

    with pytest.raises(JobFailed, match="ended"):
        end(False, 0.1)
    assert cancelled == []
    with pytest.raises(JobCancelled):
        end(True, 20)
    assert cancelled


def test_a_second_attempt_gives_the_first_one_time(monkeypatch: pytest.MonkeyPatch) -> None:
    pyspark = pytest.importorskip("pyspark")
    slept: list[float] = []
    accepted = AcceptedLevels(1, np.zeros((1, 5), dtype=np.uint64), 3.0)
    monkeypatch.setattr(time, "sleep", slept.append)
    for attempt, seconds in ((None, []), (0, []), (1, [3.0]), (2, [3.0])):
        context = None if attempt is None else SimpleNamespace(attemptNumber=lambda attempt=attempt: attempt)
        monkeypatch.setattr(pyspark.TaskContext, "get", lambda context=context: context)
        slept.clear()
        tasks._be_patient(accepted)
        assert slept == seconds, attempt


def gateway(port: int) -> Any:
    return SimpleNamespace(gateway_parameters=SimpleNamespace(address="127.0.0.1", port=port))


def test_the_end_of_java_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    pyspark = pytest.importorskip("pyspark")
    with socket.create_server(("127.0.0.1", 0)) as java:
        monkeypatch.setattr(pyspark.SparkContext, "_gateway", gateway(java.getsockname()[1]))
        with pytest.raises(ValueError, match="something else"), told_of_java("try again"):
            raise ValueError("something else")
    with pytest.raises(SourceError, match=r"Java process has ended, and the search with it; try again"), told_of_java(
        "try again"
    ):
        raise ConnectionRefusedError
    monkeypatch.setattr(pyspark.SparkContext, "_gateway", None)
    with pytest.raises(ConnectionRefusedError), told_of_java("try again"):
        raise ConnectionRefusedError


def test_what_spark_reports_is_one_line() -> None:
    lost = "Job aborted due to stage failure: Task 0 failed 8 times: Lost task 0.7 in stage 3.0 (TID 12) (10.0.0.2 "
    shuffled = f"{lost}executor 1): java.io.IOException: No space left on device\n\tat java.base/sun.nio.ch\n"
    assert reason(shuffled).startswith("no space is left on 10.0.0.2 for what Spark shuffles")
    named = str(scratch.full_disk(OSError(28, "No space left on device"), Path("/disk"), 5_000_000))
    assert reason(f"{lost}executor 1): org.x.PythonException: Traceback\nOSError: {named}\n") == f"OSError: {named}"
    assert reason("java.io.IOException: No space left on device") == "java.io.IOException: No space left on device"
    text = "Traceback\nfloodmark.checkers.spark.shard.FilesChangedError: /disk/states on host\n\tat org.x"
    assert reason(text) == "/disk/states on host"


def test_as_many_searches_run_at_once_as_there_are_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each waits for all others to have begun, and the first result is there before it is asked for the next."""
    begun = threading.Barrier(6, timeout=20)

    def run_job(results: object, function: object, numbers: list[int]) -> list[bytes]:
        begun.wait()
        return [bytes(numbers)]

    context: Any = SimpleNamespace(
        master="local[6]", runJob=run_job, setJobGroup=lambda *given, **more: None,
        parallelize=lambda tasks, slices: SimpleNamespace(map=lambda function: None),
    )  # fmt: skip
    every: Any = [SimpleNamespace(options=SimpleNamespace(limits=SimpleNamespace(seconds=None))) for _ in range(6)]
    monkeypatch.setattr(check_tasks, "broadcast_files", lambda *_: SimpleNamespace(destroy=lambda: None))
    monkeypatch.setattr(check_tasks, "for_a_task", lambda check: check)
    monkeypatch.setattr(check_tasks, "unpickled", lambda check, content: content)
    monkeypatch.setattr(check_tasks, "_is_too_large", lambda check, result: False)
    monkeypatch.setattr(check_tasks, "_as_of", lambda check, result: result)
    spark, unused = SimpleNamespace(sparkContext=context), Any
    found: list[Any] = list(check_tasks.run_as_tasks(spark, every, unused, lambda what: None))  # type: ignore[arg-type]
    assert [result for _, result in found] == [bytes([number]) for number in range(6)]


# Folders.


def run(conf: str | None = None) -> SearchContext:
    return SearchContext("host+1+a", conf, 4, None, 0, 0, None)  # type: ignore[arg-type]


def own(*folders: str) -> list[Path]:
    return [Path(folder) / f"floodmark-shards-{os.getuid()}" for folder in folders]


@pytest.mark.parametrize(
    ("environment", "conf", "folders"),
    [
        ({}, None, [tempfile.gettempdir()]),
        ({}, "/d2, /d1", ["/d1", "/d2"]),
        ({"SPARK_LOCAL_DIRS": "/d1/blockmgr-7,/d2/blockmgr-8"}, "/d3", ["/d1", "/d2"]),
        ({"SPARK_LOCAL_DIRS": "/d1/spark-5/executor-6/blockmgr-7,/d2/spark-1/executor-2/blockmgr-3"}, None,
         ["/d1", "/d2"]),
        ({"SPARK_LOCAL_DIRS": "/var/data/spark-5/blockmgr-7"}, None, ["/var/data/spark-5"]),
        ({"SPARK_LOCAL_DIRS": "/yarn/usercache/u/appcache/app_1/blockmgr-7"}, None,
         ["/yarn/usercache/u/appcache/app_1"]),
        ({"FLOODMARK_LOCAL_DIR": "/f1,/f2,", "SPARK_LOCAL_DIRS": "/d1"}, "/d3", ["/f1", "/f2"]),
    ],
)  # fmt: skip
def test_all_folders_that_are_given_are_used(
    environment: dict[str, str], conf: str | None, folders: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FLOODMARK_LOCAL_DIR", "SPARK_LOCAL_DIRS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert scratch_folders(run(conf)) == own(*folders)
    used = [scratch_folder(run(conf), partition) for partition in range(4)]
    assert set(used) == {folder / "host+1+a" for folder in own(*folders)}
    assert used[0] == scratch_folder(run(conf))
