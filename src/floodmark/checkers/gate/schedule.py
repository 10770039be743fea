"""Runs jobs on all cores, the longest first, so that none is left to run alone at the end; but the known-bad designs of
a model after it, in its process, where what was read of it need not be read again.

Claims and proofs have a process each: what z3 answers within its limits, and how long that takes, depends on what it
was asked before.
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
    """The pickled result of each job with its position, as jobs finish; or an exception that says why there is none.

    Each of ``count`` processes runs one job at a time, on one core. A single job gets all cores.
    """
    order = sorted(range(len(jobs)), key=lambda position: -jobs[position].seconds)
    ordered = [jobs[position] if len(jobs) == 1 else _on_one_core(jobs[position], count) for position in order]

    def heard(position: int, at: Progress) -> None:
        shown.heard(ordered[position], at)

    if any(map(asks_a_solver, jobs)):
        load_solver()
    seconds = seconds_left(deadline)
    found = processes.run_each(
        run_pickled, ordered, count, _limit, heard, seconds, shown.tell, lambda job: job.name, asks_a_solver
    )
    for index, content in found:
        yield order[index], content


def _on_one_core(job: Job, count: int) -> Job:
    return replace(job, check=job.check.beside(count)) if isinstance(job, CheckJob) else job


def _limit(job: Job) -> float | None:
    return job.check.seconds if isinstance(job, CheckJob) else None
