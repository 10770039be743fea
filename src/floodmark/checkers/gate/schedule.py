"""Runs jobs on all cores, the longest first, so that none runs alone at the end. The known-bad designs of a model run
after it, in its process, which has read their common code already.

Each claim or proof has a process of its own, because z3's answers within a limit, and their times, depend on the
queries before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from floodmark.checkers import processes
from floodmark.checkers.gate.job import CheckJob, Job, asks_a_solver, load_solver, run_pickled
from floodmark.checkers.gate.limits import RunDeadline, seconds_left
from floodmark.checkers.gate.progress import GateProgress
from floodmark.checkers.search_result import Progress


def run_all(
    jobs: Sequence[Job], count: int, deadline: RunDeadline | None, shown: GateProgress
) -> Iterator[tuple[int, bytes | Exception]]:
    """The pickled result of each job with its position, as jobs finish; or the exception that explains its absence.

    Each of ``count`` processes runs one job at a time, on one core. A single job gets all cores.
    """
    order = sorted(range(len(jobs)), key=lambda position: -jobs[position].seconds)
    ordered = [jobs[position] if len(jobs) == 1 else _on_one_core(jobs[position], count) for position in order]

    def on_report(position: int, at: Progress) -> None:
        shown.progressed(ordered[position], at)

    if any(map(asks_a_solver, jobs)):
        load_solver()
    seconds = seconds_left(deadline)
    found = processes.run_each(
        run_pickled, ordered, count, _limit, on_report, seconds, shown.tell, lambda job: job.name, asks_a_solver
    )
    for index, content in found:
        yield order[index], content


def _on_one_core(job: Job, count: int) -> Job:
    return replace(job, check=job.check.beside(count)) if isinstance(job, CheckJob) else job


def _limit(job: Job) -> float | None:
    return job.check.seconds if isinstance(job, CheckJob) else None
