"""Runs jobs in separate processes, so that only a job that dies or never ends is left without a result.

A process has one job at a time and gets the next one when that is done, so its job is known if it dies. The process
that waits for the results never runs machine code or a solver, so it reacts to an interrupt at once. Jobs need not
cooperate: one that ignores interrupts, or hangs outside Python code, is still stopped.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from enum import IntEnum
from math import inf
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

from floodmark.checkers.interrupts import OTHERS_GRACE, end_soon

J = TypeVar("J")
R = TypeVar("R")

FORKS = sys.platform.startswith("linux")
"""Whether new processes start with everything that this one has loaded."""
GRACE = 30.0
"""Seconds beyond twice its time limit after which a job is killed. Besides the search, a job has to compile and to
reconstruct the counterexample."""
OBJECTS = 50_000
"""The number of new objects after which a process collects garbage. A job's objects live mostly as long as the job;
collecting after every 700, as Python does, takes a twentieth of the time of a small check."""
_SOON, _LEAVING = 0.6, 60.0
"""Seconds that a process gets to clean up: when it is no longer needed, and when all jobs are done. A compiler or a
solver may take longer than the first to return to Python; then the process is killed, and the system cleans up."""


class _MessageKind(IntEnum):
    NOTHING = 0
    SAYS = 1
    RESULT = 2
    LOST = 3


class LostJob(Exception):  # noqa: N818 - it says what happened to a job
    """A job without a result, because its process died."""


class OverdueJob(LostJob):
    """A job that was still running long after its time limit."""


def can_run_others() -> bool:
    """Whether new processes start with everything that this one has loaded, and this one may start any: a process that
    was started here may not."""
    return FORKS and not multiprocessing.current_process().daemon


def run_each(
    function: Callable[[J], R],
    jobs: Sequence[J],
    processes: int,
    limit: Callable[[J], float | None] = lambda job: None,
    on_report: Callable[[int, Any], None] | None = None,
    seconds: float | None = None,
    tick: Callable[[], None] | None = None,
    kin: Callable[[J], Hashable] = lambda job: None,
    alone: Callable[[J], bool] = lambda job: False,
) -> Iterator[tuple[int, R | Exception]]:
    """The result of ``function`` for each job, with the job's position, as jobs finish. The first jobs start first, but
    a process continues with jobs of the same ``kin`` as its last one, if there are any. If processes are forked, a job
    that is ``alone`` gets a process of its own.

    In place of a result there may be the exception that the function raised, or Lost. ``limit`` gives a job's time
    limit in seconds; ``on_report`` receives the reports of running jobs. After ``seconds`` all jobs are overdue;
    ``tick`` is called about once a second. When the iteration ends, for whatever reason, no job is still running.
    """
    end = inf if seconds is None else time.monotonic() + seconds + GRACE
    limits = [limit(job) for job in jobs]
    kinds = [kin(job) for job in jobs]
    own = [FORKS and alone(job) for job in jobs]
    waiting = list(range(len(jobs)))
    workers: list[_Worker[J, R]] = []
    leaving: list[_Worker[J, R]] = []

    def busy(worker: _Worker[J, R], position: int) -> _Worker[J, R]:
        waiting.remove(position)
        worker.begin(position, limits[position], end)
        return worker

    def after(last: int) -> int | None:
        """The next job of a process; None if it ends."""
        if not waiting:
            return None
        following = next((position for position in waiting if kinds[position] == kinds[last]), waiting[0])
        return None if own[last] or own[following] else following

    try:
        while waiting or workers:
            while waiting and len(workers) < processes:
                leaving = [worker for worker in leaving if not worker.has_ended()]
                worker = _Worker(function, jobs, [worker.line for worker in [*workers, *leaving]])
                workers.append(busy(worker, waiting[0]))
            news = _with_news(workers, inf if tick is None else 1.0)
            if tick is not None:
                tick()
            for worker in news:
                kind, content = worker.news()
                position = worker.position
                match kind:
                    case _MessageKind.NOTHING:
                        continue
                    case _MessageKind.SAYS:
                        if on_report is not None:
                            on_report(position, content)
                        continue
                    case _MessageKind.RESULT if (following := after(position)) is not None:
                        busy(worker, following)
                    case _MessageKind.RESULT:
                        workers.remove(worker)
                        leaving.append(worker)
                        worker.dismiss()
                    case _MessageKind.LOST:
                        workers.remove(worker)
                yield position, content
        for worker in leaving:
            worker.process.join(_LEAVING)
    finally:
        for worker in [*workers, *leaving]:
            worker.process.terminate()
        until = time.monotonic() + _SOON
        for worker in [*workers, *leaving]:
            worker.end(until)


def in_order(found: Iterable[tuple[int, R | Exception]]) -> Iterator[R | Exception]:
    """The results of ``run_each`` in the order of the jobs."""
    early: dict[int, R | Exception] = {}
    position = 0
    for at, result in found:
        early[at] = result
        while position in early:
            yield early.pop(position)
            position += 1


def results(
    function: Callable[[J], R], jobs: Sequence[J], processes: int, ended: Callable[[], None] = lambda: None
) -> list[R]:
    """The results of all jobs, in their order. Raises the exception of the first job without a result.

    ``ended`` is called after each job.
    """
    found: dict[int, R | Exception] = {}
    for position, each in run_each(function, jobs, processes):
        found[position] = each
        ended()
    every = [found[position] for position in range(len(jobs))]
    for job, result in zip(jobs, every, strict=True):
        if isinstance(result, LostJob):
            raise RuntimeError(f"{job}: {result}")
        if isinstance(result, Exception):
            raise result
    return [result for result in every if not isinstance(result, Exception)]


class _Worker(Generic[J, R]):
    """A worker process, as its parent sees it."""

    def __init__(self, function: Callable[[J], R], jobs: Sequence[J], others: Sequence[Connection]) -> None:
        context: Any = multiprocessing.get_context("fork" if FORKS else "spawn")
        self.line, line = context.Pipe()
        inherited = [*others, self.line] if FORKS else []
        self.process = context.Process(target=_work, args=(function, jobs, line, inherited), daemon=True)
        self.process.start()
        line.close()
        self.position = 0
        self.until = inf

    def begin(self, position: int, seconds: float | None, end: float) -> None:
        """Gives the process a job. If it has died, its next report says so."""
        self.position = position
        self.until = min(end, inf if seconds is None else time.monotonic() + 2 * seconds + GRACE)
        with suppress(OSError):
            self.line.send(position)

    def news(self) -> tuple[_MessageKind, Any]:
        """The report of the process, or its end."""
        try:
            if self.line.poll():
                kind, content = self.line.recv()
                return kind, pickle.loads(content)
        except (EOFError, OSError):
            self.end()
        if not self.process.is_alive():
            self.end()
            return _MessageKind.LOST, LostJob(f"its process {_ending(self.process.exitcode or 0)}")
        if time.monotonic() > self.until:
            self.end()
            message = "it was still running long after its time limit, so its process was killed"
            return _MessageKind.LOST, OverdueJob(message)
        return _MessageKind.NOTHING, None

    def dismiss(self) -> None:
        """Tells the process that no jobs are left."""
        with suppress(OSError):
            self.line.send(None)

    def has_ended(self) -> bool:
        """Whether the process has ended; if so, its resources are released."""
        if not self.process.is_alive():
            self.end()
            return True
        return False

    def end(self, until: float | None = None) -> None:
        """Makes sure that the process has ended; ``until`` is the end, on the monotonic clock, of the time that it gets
        after a request to end."""
        self.process.join(0)
        if until is None:
            self.process.terminate()
        self.process.join(_SOON if until is None else max(until - time.monotonic(), 0))
        self.process.kill()
        self.process.join()
        self.line.close()


def _with_news(workers: Sequence[_Worker[J, R]], most: float) -> list[_Worker[J, R]]:
    """Waits at most ``most`` seconds until a worker has a report or is overdue."""
    rest = min(most, min(worker.until for worker in workers) - time.monotonic())
    sources = [source for worker in workers for source in (worker.line, worker.process.sentinel)]
    ready = set(wait(sources, None if rest == inf else max(rest, 0)))
    now = time.monotonic()
    return [
        worker
        for worker in workers
        if worker.line in ready or worker.process.sentinel in ready or now > worker.until
    ]


def _ending(code: int) -> str:
    if code >= 0:
        return f"exited with code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return f"was killed by {name}" + (", perhaps for lack of memory" if -code == signal.SIGKILL else "")


# The code below runs in the worker process.

_line: Connection | None = None


def tell(content: object) -> None:
    """Sends a report to the process that waits for the current job's result."""
    assert _line is not None
    _line.send((_MessageKind.SAYS, pickle.dumps(content)))


def _work(
    function: Callable[[Any], Any], jobs: Sequence[Any], line: Connection, inherited: Sequence[Connection]
) -> None:
    global _line
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it and ends its workers
    end_soon(signal.SIGTERM, SystemExit(1), OTHERS_GRACE, lambda: os._exit(1))
    for other in inherited:
        other.close()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _line = line
    gc.set_threshold(OBJECTS)
    try:
        while (position := _next(line)) is not None:
            line.send((_MessageKind.RESULT, _result(function, jobs[position])))
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # SystemExit this late would escape the fork's stack


def _next(line: Connection) -> int | None:
    try:
        position: int | None = line.recv()
    except EOFError:
        return None
    return position


def _end_with_parent() -> None:
    """Ends this process as soon as its parent ends: nobody waits for its results any more."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _result(function: Callable[[Any], Any], job: Any) -> bytes:
    try:
        return pickle.dumps(function(job), pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        return _pickled(error)


def _pickled(error: Exception) -> bytes:
    """An exception in a form that can be raised elsewhere; one that cannot be pickled becomes a RuntimeError."""
    error.add_note(traceback.format_exc())
    try:
        content = pickle.dumps(error)
        pickle.loads(content)
    except Exception:
        return pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return content
