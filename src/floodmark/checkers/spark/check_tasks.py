"""Many searches on Spark: one native task each; those that turn out large are distributed afterwards, one by one.

A task takes a check and returns a pickled result.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from floodmark.checkers.engine import RunCheck
from floodmark.checkers.kernel.memory import SHARE_OF_MEMORY
from floodmark.checkers.project.paths import shown
from floodmark.checkers.resources import cores, physical_memory
from floodmark.checkers.search_result import Limit, Stop
from floodmark.checkers.spark.jobs import JobFailed, wait_for_workers, watching_jobs
from floodmark.checkers.spark.memory import share
from floodmark.checkers.spark.project_transfer import PackedFiles, broadcast_files, check_on_worker
from floodmark.checkers.spark.session import is_local
from floodmark.checkers.verdict.check import Check
from floodmark.checkers.verdict.result import CheckResult
from floodmark.checkers.verdict.verdict import pickled, unpickled

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import SparkSession

TASK_STATES = 20_000_000
"""A search that finds more states than this in its task is abandoned there and distributed instead. Finding this many
natively on one core takes about as long as Spark needs for the levels of a distributed search."""

MAX_JOBS = 256
"""The maximum number of tasks that wait for a core at once; each has a waiting thread of the driver."""


def run_as_tasks(
    spark: SparkSession, every: Sequence[Check], run_check: RunCheck, tell: Callable[[str], None]
) -> Iterator[tuple[Check, CheckResult | None]]:
    """Runs each check in its own task and returns the results in order; None for one that has to be distributed.

    Each task is a job of its own, so that as many run at once as the cluster has cores, and the first result need not
    wait for the last.
    """
    context = spark.sparkContext
    limit, began = min((check.options.limits.seconds or inf for check in every), default=inf), time.monotonic()

    def is_over() -> bool:
        return time.monotonic() - began > limit

    if not wait_for_workers(context, is_over, tell):
        raise JobFailed(f"{context.master} had no worker within the limit of {limit:g} s")
    files = broadcast_files(context, every)
    tasks = context.parallelize([for_a_task(check) for check in every], len(every))
    results = tasks.map(functools.partial(_run, files, run_check))
    pool = ThreadPoolExecutor(min(len(every), MAX_JOBS))
    with watching_jobs(context, tell=tell, limit=is_over) as watch, pool as threads:

        def run(number: int) -> bytes:
            context.setJobGroup(watch.group, "floodmark", interruptOnCancel=False)
            (content,) = context.runJob(results, list, [number])
            return bytes(content)

        running = [threads.submit(run, number) for number in range(len(every))]
        try:
            for check, content in zip(every, running, strict=True):
                result = unpickled(check, content.result())
                yield check, None if _is_too_large(check, result) else _as_of(check, result)
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            context.cancelJobGroup(watch.group)
            raise
    files.destroy()


def for_a_task(check: Check) -> Check:
    """The check as a task on another machine runs it."""
    limits, memory = check.settings.limits, check.options.limits.memory
    states = min(limits.states or TASK_STATES, TASK_STATES)
    if memory is not None and is_local(check.settings.master):
        memory = share(memory, cores()).each
    settings = replace(
        check.settings, engine="native", workers=1, limits=replace(limits, states=states, memory=memory),
        invariant_files=tuple(file.resolve() for file in check.settings.invariant_files),
    )
    spec = replace(
        check.spec, path=check.spec.path.resolve(),
        invariant_files=tuple(file.resolve() for file in check.spec.invariant_files),
    )
    return replace(check, spec=spec, settings=settings)


def _as_of(check: Check, result: CheckResult) -> CheckResult:
    """The result as that of this machine's check."""
    if result.search_result is not None:
        result = replace(result, search_result=replace(result.search_result, engine="spark"), engine="spark")
    return replace(result, spec=shown(check.spec.path), reproduce=check.reproduce())


def _is_too_large(check: Check, result: CheckResult) -> bool:
    """Whether a search ended only because of its task's own limit, or because it had only a share of the memory."""
    found = result.search_result
    if result.verdict != "undetermined" or found is None:
        return False
    own = check.options.limits
    match found.stopped:
        case Stop(Limit.STATES):
            return own.states is None or own.states > TASK_STATES
        case Stop(Limit.MEMORY):
            return own.memory is None
    return False


def _run(files: Broadcast[PackedFiles], run_check: RunCheck, check: Check) -> bytes:
    return pickled(run_check(_with_its_share(check_on_worker(files.value, check)), None))


def _with_its_share(check: Check) -> Check:
    """The check with a share of this machine's memory equal to its share of the cores, unless it sets a limit."""
    if check.options.limits.memory is not None:
        return check
    limits = replace(check.settings.limits, memory=int(SHARE_OF_MEMORY * physical_memory()) // cores())
    return replace(check, settings=replace(check.settings, limits=limits))
