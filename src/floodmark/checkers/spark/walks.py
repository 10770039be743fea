"""Random walks on Spark: each task takes some groups of walks, by their numbers.

A walk is drawn from its number alone, so a cluster takes the walks that a laptop takes. Jobs come in waves, each task
of which takes twice as many walks as one of the wave before. After each, the driver looks whether a walk has met a
problem; it takes that walk again itself, and explains it.
"""

from __future__ import annotations

import functools
import itertools
import pickle
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from floodmark.checkers.project.properties import Property
from floodmark.checkers.search_result import Limits, Options, Progress, SearchResult, Watcher
from floodmark.checkers.simulation.engine import walking_of
from floodmark.checkers.simulation.simulate import Simulation, simulate
from floodmark.checkers.simulation.totals import Counts, Totals
from floodmark.checkers.simulation.walker import GROUP
from floodmark.checkers.spark.check_tasks import for_a_task
from floodmark.checkers.spark.jobs import JobFailed, wait_for_workers, watching_jobs
from floodmark.checkers.spark.project_transfer import PackedFiles, broadcast_files, check_on_worker
from floodmark.checkers.spark.session import session
from floodmark.checkers.verdict.check import Check
from floodmark.language.model import Model, sized
from floodmark.language.widths import Widths

if TYPE_CHECKING:
    from pyspark import Broadcast, SparkContext

FIRST_GROUPS = 16
"""Groups of a task of the first wave, which takes a moment."""
MAX_GROUPS = 1 << 16
"""Groups of a task of any wave."""


@dataclass(frozen=True, slots=True)
class WalkTask:
    """The arguments of a task besides the numbers of its groups."""

    check: Check
    widths: Widths
    seconds: float | None


def walk_on_spark(
    check: Check, model: Model, properties: Sequence[Property], watch: Watcher | None
) -> SearchResult:
    """The result of random walks that a cluster takes, equal to that of ``simulate``."""
    context = session(check.settings.master).sparkContext
    walks = _Waves(context, check, watch)
    found = simulate(model, properties, check.options, walking_of(check), watch, walks.take)
    return replace(found, engine="walks on spark", workers=walks.tasks)


class _Waves:
    """The jobs of one check's walks."""

    def __init__(self, context: SparkContext, check: Check, watch: Watcher | None) -> None:
        self.context = context
        self.check = check
        self.watch = watch
        self.tasks = check.settings.partitions or max(context.defaultParallelism, 1)
        self.began = time.monotonic()

    def take(self, simulation: Simulation, widths: Widths, first: int, last: int) -> Totals:
        """The totals of the groups from one number up to another, of all that were taken up to a problem."""
        if not wait_for_workers(self.context, self._is_over, self._say):
            raise JobFailed(f"{self.context.master} had no worker within the limit of {self._limit:g} s")
        files = broadcast_files(self.context, [self.check])
        found: list[Totals] = []
        size = FIRST_GROUPS
        while first < last and not any(it.hit is not None or it.is_late for it in found):
            ends = [min(first + size * number, last) for number in range(self.tasks + 1)]
            parts = [(start, stop) for start, stop in itertools.pairwise(ends) if start < stop]
            found += self._wave(files, widths, parts)
            first, size = ends[-1], min(2 * size, MAX_GROUPS)
            simulation.show(Counts.together([it.counts for it in found]), min(first * GROUP, simulation.walking.walks))
        files.destroy()
        return Totals.together(found)

    def _wave(
        self, files: Broadcast[PackedFiles], widths: Widths, parts: Sequence[tuple[int, int]]
    ) -> list[Totals]:
        left = None if self._limit is None else max(self._limit - (time.monotonic() - self.began), 0.0)
        task = WalkTask(for_a_task(self.check), widths, left)
        with watching_jobs(self.context, tell=self._say, limit=self._is_over) as watching:
            self.context.setJobGroup(watching.group, "floodmark", interruptOnCancel=False)
            rows = self.context.parallelize(parts, len(parts))
            groups = rows.map(functools.partial(_walk_groups, files, task))
            return [pickle.loads(content) for content in groups.collect()]

    @property
    def _limit(self) -> float | None:
        return self.check.options.limits.seconds

    def _is_over(self) -> bool:
        return self._limit is not None and time.monotonic() - self.began > self._limit

    def _say(self, what: str) -> None:
        if self.watch is not None:
            self.watch(Progress(0, 0, 0, 0, time.monotonic() - self.began, 0, note=what))


def _walk_groups(files: Broadcast[PackedFiles], task: WalkTask, part: tuple[int, int]) -> bytes:
    """Takes some groups of walks, on a worker."""
    check = check_on_worker(files.value, task.check)
    properties = [prop for prop in check.properties() if not prop.is_liveness]
    options = replace(check.options, workers=1, limits=Limits(seconds=task.seconds))
    return pickle.dumps(_simulation(check, task.widths, options, properties).take(*part), pickle.HIGHEST_PROTOCOL)


def _simulation(check: Check, widths: Widths, options: Options, properties: Sequence[Property]) -> Simulation:
    return Simulation(sized(check.model(), widths), properties, options, walking_of(check), None)
