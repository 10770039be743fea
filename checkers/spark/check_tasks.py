"""Many searches on Spark: one native task each; those that turn out large are distributed afterwards, one by one.

A task takes a check and returns a pickled result.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from floodmark.checkers.check import Check
from floodmark.checkers.engine import RunCheck
from floodmark.checkers.native.memory import SHARE_OF_MEMORY
from floodmark.checkers.paths import shown
from floodmark.checkers.resources import cores, physical_memory
from floodmark.checkers.result import CheckResult
from floodmark.checkers.result_transfer import pickled, unpickled
from floodmark.checkers.spark.memory import share
from floodmark.checkers.spark.project_transfer import Files, broadcast_files, placed
from floodmark.checkers.spark.session import is_local

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import SparkSession

TASK_STATES = 20_000_000
"""A search that finds more states than this in its task is abandoned there and distributed instead. Finding this many
natively on one core takes about as long as Spark needs for the levels of a distributed search."""


def run_as_tasks(
    spark: SparkSession, every: Sequence[Check], run_check: RunCheck
) -> Iterator[tuple[Check, CheckResult | None]]:
    """Runs each check in its own task and returns the results in order; None for one that has to be distributed."""
    context = spark.sparkContext
    files = broadcast_files(context, every)
    tasks = context.parallelize([_for_a_task(check) for check in every], len(every))
    results = tasks.map(functools.partial(_run, files, run_check)).toLocalIterator(prefetchPartitions=True)
    for check, content in zip(every, results, strict=True):
        result = unpickled(check, content)
        yield check, None if _is_too_large(check, result) else _as_of(check, result)
    files.destroy()


def _for_a_task(check: Check) -> Check:
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
    if result.exploration is not None:
        result.exploration.engine = "spark"
        result.engine = "spark"
    return replace(result, spec=shown(check.spec.path), reproduce=check.reproduce())


def _is_too_large(check: Check, result: CheckResult) -> bool:
    """Whether a search ended only because of its task's own limit, or because it had only a share of the memory."""
    found = result.exploration
    if result.verdict != "undetermined" or found is None:
        return False
    own = check.options.limits
    if "states" in found.stopped:
        return own.states is None or own.states > TASK_STATES
    return "memory" in found.stopped and own.memory is None


def _run(files: Broadcast[Files], run_check: RunCheck, check: Check) -> bytes:
    return pickled(run_check(_with_its_share(placed(files.value, check)), None))


def _with_its_share(check: Check) -> Check:
    """The check with a share of this machine's memory equal to its share of the cores, unless it sets a limit."""
    if check.options.limits.memory is not None:
        return check
    limits = replace(check.settings.limits, memory=int(SHARE_OF_MEMORY * physical_memory()) // cores())
    return replace(check, settings=replace(check.settings, limits=limits))
