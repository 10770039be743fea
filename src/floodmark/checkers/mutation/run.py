"""Tries every mutant of a model: in parallel processes, or as tasks of a Spark cluster."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from floodmark.checkers import processes
from floodmark.checkers.mutation.mutant import Mutant, mutants
from floodmark.checkers.mutation.trial import Trial, TrialBudget, TrialSpec, try_mutant
from floodmark.checkers.resources import cores
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.language.model import Model

if TYPE_CHECKING:
    from pyspark import Broadcast

    from floodmark.checkers.spark.project_transfer import PackedFiles


_BY_CHANGE: dict[type[Model], dict[str, Mutant]] = {}
"""The mutants of the models that this process has seen."""


@dataclass(frozen=True, slots=True)
class MutantTask:
    """One mutant, identified by its change, and the checks that it is tried against."""

    change: str
    stages: tuple[TrialSpec, ...]
    budget: TrialBudget


def run(
    chosen: Sequence[Mutant], stages: Sequence[TrialSpec], budget: TrialBudget, workers: int = 0,
    master: str | None = None,
) -> Iterator[Trial]:
    """The trials of the chosen mutants, in order: on Spark when ``master`` is given, else on ``workers`` processes (0:
    one per core)."""
    tasks = [MutantTask(mutant.change, tuple(stages), budget) for mutant in chosen]
    trials = _here(tasks, workers or cores()) if master is None else _on_spark(tasks, master)
    for mutant, trial in zip(chosen, trials, strict=True):
        yield replace(trial, file=mutant.file, line=mutant.line)


def _try(task: MutantTask) -> Trial:
    cls = task.stages[0].spec.model_class()
    if cls not in _BY_CHANGE:
        _BY_CHANGE[cls] = {mutant.change: mutant for mutant in mutants(cls)}
    return try_mutant(_BY_CHANGE[cls][task.change], task.stages, task.budget)


def _here(tasks: Sequence[MutantTask], workers: int) -> Iterator[Trial]:
    found = processes.run_each(_try, tasks, workers, _limit)
    for task, trial in zip(tasks, processes.in_order(found), strict=True):
        if isinstance(trial, processes.LostJob):
            yield Trial(task.change, "", "", 0, 0, "undetermined", str(trial))
        elif isinstance(trial, Exception):
            raise trial
        else:
            yield trial


def _limit(task: MutantTask) -> float:
    """The seconds for all searches of a mutant: for each spec its model, its digest of steps, and its known-bad
    designs."""
    return task.budget.seconds * sum(2 + len(stage.spec.flawed) for stage in task.stages)


def _on_spark(tasks: Sequence[MutantTask], master: str) -> Iterator[Trial]:
    from floodmark.checkers.spark.project_transfer import broadcast_files
    from floodmark.checkers.spark.session import session

    context = session(master).sparkContext
    own = [Check(stage.spec, None, CheckSettings()) for stage in tasks[0].stages] if tasks else []
    files = broadcast_files(context, own)
    spread = context.parallelize([_resolved(task) for task in tasks], max(len(tasks), 1))
    yield from spread.map(functools.partial(_try_there, files)).toLocalIterator(prefetchPartitions=True)
    files.destroy()


def _resolved(task: MutantTask) -> MutantTask:
    return replace(task, stages=tuple(
        replace(stage, spec=replace(
            stage.spec, path=stage.spec.path.resolve(),
            invariant_files=tuple(file.resolve() for file in stage.spec.invariant_files),
        ))
        for stage in task.stages
    ))


def _try_there(files: Broadcast[PackedFiles], task: MutantTask) -> Trial:
    from floodmark.checkers.spark.project_transfer import check_on_worker

    stages = tuple(
        replace(stage, spec=check_on_worker(files.value, Check(stage.spec, None, CheckSettings())).spec)
        for stage in task.stages
    )
    return _try(replace(task, stages=stages))
