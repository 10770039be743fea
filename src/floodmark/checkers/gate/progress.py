"""The progress of a run of the gate."""

from __future__ import annotations

import time
from collections.abc import Sequence

from floodmark.checkers.gate.job import CheckJob, Job
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
