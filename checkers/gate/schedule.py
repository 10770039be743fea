"""Runs jobs on all cores: the longest first, so that none is left to run alone at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace

from checkers.gate.job import CheckJob, Job, run_pickled
from checkers.run import process_pool


def run_all(jobs: Sequence[Job], processes: int) -> Iterator[tuple[int, bytes | BaseException]]:
    """What each job found, pickled, with its position, in the order in which they end; or why there is nothing.

    A process runs one job at a time, on one core. A single job, or a single process, is this one.
    """
    if len(jobs) == 1 or processes == 1:
        for position, job in enumerate(jobs):
            yield position, run_pickled(job)
        return
    order = sorted(range(len(jobs)), key=lambda position: -jobs[position].seconds)
    with process_pool(min(processes, len(jobs))) as pool:
        futures = {pool.submit(run_pickled, _on_one_core(jobs[position])): position for position in order}
        for future in as_completed(futures):
            try:
                yield futures[future], future.result()
            except BrokenProcessPool:
                yield futures[future], MemoryError("a worker process was killed, maybe for want of memory")
            except Exception as error:
                yield futures[future], error


def _on_one_core(job: Job) -> Job:
    if not isinstance(job, CheckJob):
        return job
    return replace(job, check=replace(job.check, settings=replace(job.check.settings, workers=1)))
