"""How far a run of the gate is: a line in place on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Sequence

from floodmark.checkers.exploration import Progress
from floodmark.checkers.gate.job import CheckJob, Job
from floodmark.checkers.report import progress
from floodmark.checkers.report.progress import describe, time_left


class GateProgress:
    """Counts what is done. ``seconds`` of a job, an estimate, say how much of the work that is."""

    def __init__(self) -> None:
        self.live = sys.stderr.isatty()
        self.begun = self.last = time.monotonic()
        self.jobs: list[Job] = []
        self.done = 0
        self.work = 0.0
        self.search = ""

    def begin(self, jobs: Sequence[Job], known: Sequence[Job]) -> None:
        """Says what there is to do; for ``known`` jobs there is a verdict already, which takes no time."""
        self.jobs = [job for job in jobs if not any(job is other for other in known)]
        self.begun = time.monotonic()
        self.tell()

    def ended(self, job: Job) -> None:
        """One more has its verdict."""
        self.done += 1
        self.work += job.seconds
        self.search = ""
        self.tell()

    def heard(self, job: Job, at: Progress) -> None:
        """A search says how far it is."""
        if isinstance(job, CheckJob):
            self.search = describe(job.check, at, job.total)
            self.tell(at.level == 0)

    def tell(self, at_once: bool = False) -> None:
        """Shows how far the run is, unless that was just done."""
        if not self.jobs or self.done == len(self.jobs):
            return
        now = time.monotonic()
        if not at_once and now - self.last < (progress.LIVE_EVERY if self.live else progress.PLAIN_EVERY):
            return
        self.last = now
        if self.live:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\033[K{self._line()[:width]}", end="", file=sys.stderr, flush=True)
        else:
            print(self._line(), file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Makes room for what is printed next."""
        if self.live:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def _line(self) -> str:
        left = time_left(time.monotonic() - self.begun, self.work, sum(job.seconds for job in self.jobs))
        done = f"{self.done} of {len(self.jobs)} done{f', {left} left' if left else ''}"
        return f"{done}; {self.search}" if self.search else done
