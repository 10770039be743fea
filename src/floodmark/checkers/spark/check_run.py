"""Many checks in one Spark session: divides them into tasks and distributed searches, and delivers the results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from floodmark.checkers.engine import RunCheck
from floodmark.checkers.search_result import Progress, Watcher
from floodmark.checkers.spark import parquet
from floodmark.checkers.spark.check_tasks import TASK_STATES, run_as_tasks
from floodmark.checkers.spark.folders import opened
from floodmark.checkers.spark.jobs import reason
from floodmark.checkers.spark.memory import MIN_LIMIT
from floodmark.checkers.spark.session import is_local, session
from floodmark.checkers.verdict.check import Check
from floodmark.checkers.verdict.result import CheckResult
from floodmark.language.errors import SourceError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def run_on_spark(
    every: Sequence[Check], run_check: RunCheck, watcher: Callable[[Check], Watcher | None]
) -> Iterator[tuple[Check, CheckResult]]:
    """Runs checks in one session: those that may be small run as tasks, then the others distributed, in order."""
    settings = every[0].settings
    here = [check for check in every if _has_no_room(check)]
    yield from _without_spark(here, run_check, watcher)
    every = [check for check in every if check not in here]
    if not every:
        return
    _say(every, watcher, f"starts Spark at {settings.master or 'local[*]'}, which takes a while")
    limits = [check.options.limits for check in every]
    spark = session(
        settings.master, min(filter(None, (each.memory for each in limits)), default=None),
        min((each.seconds for each in limits if each.seconds is not None), default=None),
    )
    if settings.resume is not None and not opened(spark.sparkContext, settings.resume).names():
        raise SourceError(f"there is no checkpoint in {settings.resume}")
    tasks = [check for check in every if _may_be_a_task(check, every)]
    results = []
    distributed = [check for check in every if check not in tasks]
    if tasks:
        _say(tasks, watcher, f"is one of {len(tasks)} searches that run as tasks")
        for check, result in run_as_tasks(spark, tasks, run_check, lambda what: _say(tasks, watcher, what)):
            if result is None:
                distributed.append(check)
                continue
            results.append(result)
            yield check, result
    for check in distributed:
        results.append(run_check(check, watcher(check)))
        yield check, results[-1]
    if settings.keep_results is not None:
        _keep(results, settings.keep_results, settings.master)


def _say(every: Sequence[Check], watcher: Callable[[Check], Watcher | None], what: str) -> None:
    """Reports the reason of a delay, as the progress of the first check."""
    watch = watcher(every[0])
    if watch is not None:
        watch(Progress(0, 0, 0, 0, 0.0, 0, note=what))


def _has_no_room(check: Check) -> bool:
    """Whether a check's memory limit is below what Spark's processes on this machine use."""
    memory = check.options.limits.memory
    return memory is not None and memory < MIN_LIMIT and is_local(check.settings.master)


def _without_spark(
    every: Sequence[Check], run_check: RunCheck, watcher: Callable[[Check], Watcher | None]
) -> Iterator[tuple[Check, CheckResult]]:
    """Runs checks without Spark, as the memory limit has no room for it. Raises SourceError if an option needs it."""
    least = -(-MIN_LIMIT // 10**6)
    for check in every:
        for option in ("checkpoint", "resume", "keep_states", "keep_results"):
            if getattr(check.settings, option) is not None:
                raise SourceError(
                    f"--{option.replace('_', '-')} needs Spark, whose processes take {least} MB before there is a "
                    f"state; give --max-memory {least}M or more"
                )
    for check in every:
        here = replace(check, settings=replace(check.settings, engine="native", distribute="auto"))
        result = run_check(here, watcher(check))
        if result.search_result is not None:
            note = f"without Spark, whose processes alone take {least} MB of memory"
            result.search_result.notes.insert(0, note)
        yield check, replace(result, reproduce=check.reproduce())


def _may_be_a_task(check: Check, every: Sequence[Check]) -> bool:
    settings = check.settings
    if check.walks is not None:
        return False
    kept = (settings.checkpoint, settings.resume, settings.keep_states)
    if settings.distribute == "always" or any(value is not None for value in kept):
        return False
    if check.flawed is not None:
        return True
    if settings.engine == "spark" and len({each.spec.address for each in every}) == 1:
        return False
    return (check.spec.expect.distinct or 0) < TASK_STATES


def _keep(results: Sequence[CheckResult], url: str, master: str | None) -> None:
    try:
        parquet.append(results_frame(session(master), results), url)
    except Exception as error:
        raise SourceError(f"the results cannot be written to {url}: {reason(error)}") from None


def results_frame(spark: SparkSession, results: Sequence[CheckResult]) -> DataFrame:
    """The results of a run, one row each."""
    return spark.createDataFrame([_row(result) for result in results], _RESULT)


_RESULT = (
    "spec string, variant string, model string, tier string, engine string, verdict string, expected boolean, "
    "property string, distinct bigint, generated bigint, depth int, digest string, seconds double, "
    "compile_seconds double, memory bigint, constants map<string,bigint>, actions map<string,bigint>, "
    "levels array<bigint>, trace_length int, walks bigint, walk_steps int, seed bigint, strategy string"
)


def _row(result: CheckResult) -> tuple[Any, ...]:
    found = result.search_result
    figures: tuple[Any, ...] = (0, 0, 0, "", 0.0, 0.0, 0)
    if found is not None:
        figures = (found.distinct, found.generated, found.depth, found.digest, found.seconds, found.compile_seconds,
                   found.memory)
    walked = None if found is None else found.walked
    drawn = (None,) * 4 if walked is None else (walked.walks, walked.steps, walked.seed, walked.strategy)
    return (
        result.name, result.variant, result.model, result.tier, result.engine, result.verdict, result.expected,
        result.property, *figures,
        {name: int(value) for name, value in result.constants.items()},
        {} if found is None else found.actions,
        [] if found is None else found.levels,
        None if result.violation is None else len(result.violation.trace),
        *drawn,
    )
