"""When a run uses Spark, and how: which checks are tasks, which are distributed, where each keeps what it keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from floodmark.checkers.engine_selection import uses_spark
from floodmark.checkers.exploration import Exploration, Options, Watcher
from floodmark.checkers.properties import Property
from floodmark.checkers.result import CheckResult
from floodmark.checkers.spark.search import WIDE, Distribution, explore
from floodmark.checkers.spark.session import session
from floodmark.checkers.spark.suite import TASK_STATES, results_frame, run_as_tasks
from floodmark.language.errors import SourceError
from floodmark.language.model import Model

if TYPE_CHECKING:
    from floodmark.checkers.run import Check

RunCheck = Callable[["Check", Watcher | None], CheckResult]


def engine_of(check: Check) -> Callable[[Model, Sequence[Property], Options, Watcher | None], Exploration]:
    """The distributed search with what the command line says about it."""
    settings = check.settings
    distribution = Distribution(
        master=settings.master,
        partitions=settings.partitions,
        wide=_wide(check),
        checkpoint=_own_place(settings.checkpoint, check),
        resume=_own_place(settings.resume, check),
        keep_states=_own_place(settings.keep_states, check),
    )

    def search(
        model: Model, properties: Sequence[Property], options: Options, watch: Watcher | None
    ) -> Exploration:
        return explore(model, properties, options, watch, distribution)

    return search


def _wide(check: Check) -> int | None:
    """The width from which on levels are distributed; None where that is for memory to say."""
    if not uses_spark(check):
        return None
    return 0 if check.settings.distribute == "always" else WIDE


def _own_place(folder: str | None, check: Check) -> str | None:
    """A check's own folder in one of the run's; as Spark names partitions, so that SQL sees the two as columns."""
    from floodmark.checkers.run import variant_name

    if folder is None:
        return None
    return f"{folder.rstrip('/')}/spec={quote(check.spec.name, safe='')}/variant={variant_name(check)}"


def run_on_spark(
    every: Sequence[Check], watch: Callable[[Check], Watcher | None], run_check: RunCheck
) -> Iterator[CheckResult]:
    """Runs checks in one session: those that may be small as tasks, then the others distributed, in order."""
    settings = every[0].settings
    spark = session(settings.master)
    if settings.resume is not None:
        from floodmark.checkers.spark.files import Folder

        if not Folder(spark.sparkContext, settings.resume).names():
            raise SourceError(f"there is no checkpoint in {settings.resume}")
    tasks = [check for check in every if _may_be_a_task(check, every)]
    results = []
    distributed = [check for check in every if check not in tasks]
    if tasks:
        for check, result in run_as_tasks(spark, tasks):
            if result is None:
                distributed.append(check)
                continue
            results.append(result)
            yield result
    for check in distributed:
        results.append(run_check(check, watch(check)))
        yield results[-1]
    if settings.keep_results is not None:
        _keep(results, settings.keep_results, settings.master)


def _may_be_a_task(check: Check, every: Sequence[Check]) -> bool:
    settings = check.settings
    kept = (settings.checkpoint, settings.resume, settings.keep_states)
    if settings.distribute == "always" or any(value is not None for value in kept):
        return False
    if check.flawed is not None:
        return True
    if settings.engine == "spark" and len({each.spec.path for each in every}) == 1:
        return False
    return (check.spec.expect.distinct or 0) < TASK_STATES


def _keep(results: Sequence[CheckResult], url: str, master: str | None) -> None:
    from floodmark.checkers.spark.cluster import reason

    try:
        results_frame(session(master), results).write.mode("append").parquet(url)
    except Exception as error:
        raise SourceError(f"the results cannot be written to {url}: {reason(error)}") from None


