"""Runs jobs on all cores, the longest first, so that none runs alone at the end. The known-bad designs of a model run
after it, in its process, which has read their common code already.

Each claim or proof has a process of its own, because z3's answers within a limit, and their times, depend on the
queries before.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from floodmark.checkers import processes
from floodmark.checkers.gate.job import CheckJob, Job, asks_a_solver, load_solver, run_pickled
from floodmark.checkers.gate.limits import RunDeadline, seconds_left
from floodmark.checkers.report.progress import StatusLine, describe, time_left
from floodmark.checkers.search_result import Progress


class GateProgress:
    """Counts finished jobs. A job's estimated ``seconds`` are its share of the work."""

    def __init__(self) -> None:
        self.line = StatusLine()
        self.begun = time.monotonic()
        self.jobs: list[Job] = []
        self.done = 0
        self.work = 0.0
        self.search = ""

    def begin(self, jobs: Sequence[Job], known: Sequence[Job]) -> None:
        """Announces the jobs; the ``known`` ones have a verdict already and take no time."""
        self.jobs = [job for job in jobs if not any(job is other for other in known)]
        self.begun = time.monotonic()
        self.tell()

    def ended(self, job: Job) -> None:
        """Counts a job that has its verdict."""
        self.done += 1
        self.work += job.seconds
        self.search = ""
        self.tell()

    def progressed(self, job: Job, at: Progress) -> None:
        """Records the progress of a search."""
        if isinstance(job, CheckJob):
            self.search = describe(job.check, at, job.total)
            self.tell(at.level == 0)

    def tell(self, at_once: bool = False) -> None:
        """Shows the progress of the run, unless that was just done."""
        if not self.jobs or self.done == len(self.jobs):
            return
        self.line.say(self._line, at_once)

    def clear(self) -> None:
        """Clears the line for other output."""
        self.line.clear()

    def _line(self) -> str:
        left = time_left(time.monotonic() - self.begun, self.work, sum(job.seconds for job in self.jobs))
        done = f"{self.done} of {len(self.jobs)} done{f', {left} left' if left else ''}"
        return f"{done}; {self.search}" if self.search else done


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
