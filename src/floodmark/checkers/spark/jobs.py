"""Jobs of Spark as the driver waits for them: the ways in which they end, and the messages.

A job without a worker would wait forever, and one whose Java process ends fails in many ways. The caller of a job gets
its result, or an error of one line.
"""

from __future__ import annotations

import contextlib
import importlib.util
import re
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from floodmark.checkers.kernel.scratch import tells_of_full_disk
from floodmark.language.errors import SourceError

if TYPE_CHECKING:
    from pyspark import SparkContext

LOOK_SECONDS = 0.5
"""The seconds between two checks of the budgets and the workers while Spark works."""
SAY_SECONDS = 5.0
"""Seconds without a worker before that is reported."""
WAIT_SECONDS = 600.0
"""Seconds without a worker before a job is given up."""
T = TypeVar("T")


class JobCancelled(Exception):  # noqa: N818 - it ends a search undetermined and is not an error
    """A budget ran out while Spark was working on a level."""


class JobFailed(SourceError):  # noqa: N818 - as above
    """Spark gave up on a job, or its result cannot be relied on."""


class WorkersUnavailable(JobFailed):
    """There was no worker for too long."""


class WorkerWait:
    """The time for which a cluster has had no worker. ``tell`` reports once that the job waits for one; ``limit`` says
    whether a limit of the search was reached, after which it does not wait."""

    def __init__(
        self, context: SparkContext, tell: Callable[[str], None] | None, limit: Callable[[], bool] | None = None
    ) -> None:
        self.spark = context
        self.master = str(context.master)
        self.tell = tell
        self.limit = limit
        self.since: float | None = None

    def is_over(self) -> bool:
        """Whether to give up; to be called repeatedly."""
        if workers(self.spark):
            self.since = None
            return False
        now = time.monotonic()
        self.since = now if self.since is None else self.since
        if now - self.since > SAY_SECONDS and self.tell is not None:
            self.tell(f"waits for a worker of {self.master}: none is registered or free; gives up after "
                      f"{WAIT_SECONDS:.0f} s")  # fmt: skip
            self.tell = None
        return now - self.since > WAIT_SECONDS or (self.limit is not None and self.limit())

    def error(self) -> JobFailed:
        seconds = 0.0 if self.since is None else time.monotonic() - self.since
        return WorkersUnavailable(
            f"{self.master} has had no worker for {seconds:.0f} s: none is registered, or none is free; start "
            "one, or search with --engine native"
        )


def workers(context: SparkContext) -> int:
    """The number of executors; a local session has one at once."""
    if str(context.master).startswith("local"):
        return 1
    known: Any = context._jsc
    return int(known.sc().getExecutorMemoryStatus().size()) - 1  # the driver is one of them


def wait_for_workers(
    context: SparkContext, paused: Callable[[], bool], tell: Callable[[str], None] | None = None
) -> bool:
    """Waits until there is a worker; False when ``paused`` said to stop. Raises JobFailed when it takes too long."""
    wait = WorkerWait(context, tell)
    while not workers(context):
        if wait.is_over():
            raise wait.error()
        if paused():
            return False
        time.sleep(LOOK_SECONDS)
    return True


@dataclass(frozen=True, slots=True)
class TaskCounts:
    """The tasks of a stage, those that have ended, and the attempts that have failed."""

    tasks: int = 0
    done: int = 0
    failed: int = 0


def task_counts(context: SparkContext, group: str) -> TaskCounts:
    """The counts of the newest stage that has begun, of a group with one job."""
    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(number) for number in tracker.getJobIdsForGroup(group)]
    stages = [tracker.getStageInfo(number) for job in jobs if job is not None for number in sorted(job.stageIds)]
    begun = [stage for stage in stages if stage is not None and stage.numActiveTasks + stage.numCompletedTasks]
    if not begun:
        return TaskCounts()
    return TaskCounts(begun[-1].numTasks, begun[-1].numCompletedTasks, sum(stage.numFailedTasks for stage in begun))


class JobWatch:
    """Looks after jobs of one group, in a thread of its own."""

    def __init__(
        self,
        context: SparkContext,
        paused: Callable[[], bool] | None,
        tell: Callable[[str], None] | None,
        limit: Callable[[], bool] | None,
    ) -> None:
        self.spark = context
        self.group = f"floodmark-{uuid.uuid4().hex}"
        self.paused = paused
        self.wait = WorkerWait(context, tell, limit)
        self.counts = TaskCounts()
        self.is_cancelled = False
        self.is_given_up = False
        self.ended = threading.Event()

    def look(self) -> None:
        while not self.ended.wait(LOOK_SECONDS):
            with contextlib.suppress(Exception):  # Java may have ended
                self.counts = task_counts(self.spark, self.group)
            with contextlib.suppress(Exception):
                if self.paused is not None and self.paused():
                    self.is_cancelled = True
                elif self.wait.is_over():
                    self.is_given_up = True
                if self.is_cancelled or self.is_given_up:
                    self.spark.cancelJobGroup(self.group)

    def meaning(self, error: Exception) -> Exception:
        """The meaning of a job's error."""
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        if not isinstance(error, Py4JJavaError | PySparkException):
            return error
        if self.is_cancelled:
            return JobCancelled()
        return self.wait.error() if self.is_given_up else JobFailed(reason(error))


@contextlib.contextmanager
def watching_jobs(
    context: SparkContext,
    paused: Callable[[], bool] | None = None,
    tell: Callable[[str], None] | None = None,
    limit: Callable[[], bool] | None = None,
) -> Iterator[JobWatch]:
    """Looks after the jobs of the group that is yielded. Raises JobFailed or, when ``paused`` said so, JobCancelled.
    ``limit`` is for jobs that a limit does not end: it ends their wait for a worker."""
    watch = JobWatch(context, paused, tell, limit)
    thread = threading.Thread(target=watch.look, daemon=True)
    thread.start()
    try:
        yield watch
    except Exception as error:
        raise watch.meaning(error) from None
    finally:
        watch.ended.set()
        thread.join()


def java_has_ended() -> bool:
    """Whether Spark's Java process, to which this one talks, is gone."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    if gateway is None:
        return False
    try:
        where = (gateway.gateway_parameters.address, gateway.gateway_parameters.port)
        with socket.create_connection(where, 5):
            return False
    except OSError:
        return True


@contextlib.contextmanager
def told_of_java(hint: str) -> Iterator[None]:
    """Turns every error due to the end of Spark's Java process into one line. Raises SourceError."""
    try:
        yield
    except Exception as error:
        if importlib.util.find_spec("pyspark") is None or not java_has_ended():
            raise
        raise SourceError(f"Spark's Java process has ended, and the search with it; {hint}") from error.__cause__


def reason(error: Any) -> str:
    """The last message of a worker, extracted from Spark's long report."""
    text = str(getattr(error, "java_exception", None) or error)
    lines = [line.strip() for line in text.splitlines()]
    own = [line for line in lines if line and not line.startswith(("at ", "File ", "Driver stacktrace", "^"))]
    texts = [line for line in own if "Error" in line or "Exception" in line]
    last = re.sub(r"^floodmark\.[\w.]+: ", "", (texts or own or ["no reason given"])[-1])[:400]
    where = re.search(r"\(([\w.:-]+) executor \w+\)", text)
    if "No space left on device" in last and not tells_of_full_disk(last) and where is not None:
        return (
            f"no space is left on {where[1]} for what Spark shuffles; its folders are in spark.local.dir, "
            "SPARK_LOCAL_DIRS or LOCAL_DIRS"
        )
    return last
