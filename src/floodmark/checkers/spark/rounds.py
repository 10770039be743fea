"""The rounds in which partitions exchange marks of their states, and what the driver accepts of each.

A round is a job. It is accepted when every partition reports what it wrote; the next round's tasks receive the seals.
When a partition was lost, its states are recomputed as in a search, and the caller restarts its query, with new facts:
the query is a function of the states, so the answer is the same.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from floodmark.checkers.spark import elimination_tasks as tasks
from floodmark.checkers.spark.cluster import RETRIES, Cluster, too_often
from floodmark.checkers.spark.elimination_tasks import EliminationInput, TaskReport
from floodmark.checkers.spark.jobs import JobCancelled, JobFailed
from floodmark.checkers.spark.reader import Packed
from floodmark.checkers.spark.step_code import StepCode
from floodmark.checkers.spark.tasks import Record

Alone = Callable[[int], Iterator[Any]]
Receiving = Callable[[int, Iterable[Record]], Iterator[Any]]
T = TypeVar("T")


class PartitionMismatch(Exception):  # noqa: N818 - whoever asks begins anew
    """A partition's states, facts or marks are not what was accepted."""


class ConditionFailure(Exception):  # noqa: N818 - the model has to say how
    """A condition cannot be evaluated in a state."""

    def __init__(self, state: Packed) -> None:
        super().__init__("a condition fails")
        self.state = state


class EliminationRounds:
    """The rounds on one cluster. ``paused`` raises what ends the check when a limit is reached."""

    def __init__(self, cluster: Cluster, code: StepCode, paused: Callable[[], None]) -> None:
        if code.words != cluster.words:
            raise RuntimeError("states are packed in one way for the search and in another for its steps")
        self.cluster = cluster
        self.paused = paused
        self.code = cluster.spark.broadcast(code)
        self.ever = 0
        """The conditions that are true of some state."""
        self.taken = 0
        """The number of rounds."""
        self._sieve: EliminationInput | None = None
        self._patience = 0.0

    def answered(self, ask: Callable[[], T]) -> T:
        """The result of the rounds, which begin anew whenever a partition was lost meanwhile. Raises JobFailed."""
        why = ""
        for attempt in range(RETRIES):
            self._patience = 2.0**attempt
            try:
                return ask()
            except PartitionMismatch as lost:
                why = str(lost)
                self._sieve = None
                self.cluster._recover()
                self.cluster.verify()
        raise too_often(why)

    def begin(self) -> None:
        """Prepares a query: the states have facts and no marks. Raises PartitionMismatch."""
        if self._sieve is None:
            accepted = self.cluster.ledger.upto(patience=self._patience)
            new = EliminationInput(self.cluster.run, self.code, accepted, uuid.uuid4().hex)
            reports = self._reports(self._everywhere(partial(tasks.compute_facts, new)))
            for report in reports:
                if report.state is not None:
                    raise ConditionFailure(report.state)
                self.ever |= report.ever
            orders = tuple(report.order for report in reports)
            self._sieve = replace(new, orders=orders, facts=tuple(report.seal for report in reports))
        self._sieve = replace(self._sieve, marks=())

    @property
    def sieve(self) -> EliminationInput:
        assert self._sieve is not None, "nothing was begun"
        return self._sieve

    def report(self, task: Callable[[EliminationInput], Alone]) -> list[TaskReport]:
        """The report of each partition, without any change. Raises PartitionMismatch."""
        return self._reports(self._everywhere(task(self.sieve)))

    def change(self, task: Callable[[EliminationInput], Alone]) -> list[TaskReport]:
        """The report of each partition on its new marks, computed without the others. Raises PartitionMismatch."""
        return self._accepted(self._everywhere(task(self.sieve)))

    def exchange(
        self, send: Callable[[EliminationInput], Alone], *then: Callable[[EliminationInput], Receiving]
    ) -> list[TaskReport]:
        """The same, with marks made from the messages between partitions: once, and then from the responses."""
        jobs = self._everywhere(send(self.sieve))
        for task in then:
            jobs = self.cluster._arriving(jobs, task(self.sieve))
        return self._accepted(jobs)

    def close(self) -> None:
        """Removes the files."""
        with contextlib.suppress(Exception):
            if self._sieve is not None:
                self.cluster._collect(self._everywhere(partial(tasks.clean, self._sieve)))
            self.code.destroy()

    def _everywhere(self, task: Alone) -> Any:
        return self.cluster._everywhere(task)

    def _accepted(self, jobs: Any) -> list[TaskReport]:
        reports = self._reports(jobs)
        seals = tuple(report.seal for report in reports)
        self._sieve = replace(self.sieve, number=self.sieve.number + 1, marks=seals)
        return reports

    def _reports(self, jobs: Any) -> list[TaskReport]:
        """A report of each partition, in order. Raises PartitionMismatch, or what ``paused`` does."""
        self.paused()
        self.taken += 1
        try:
            found: Sequence[TaskReport] = self.cluster._collect(jobs, self._is_over)
        except JobCancelled:
            self.paused()
            raise JobFailed("Spark ended a job that Floodmark had not cancelled; run again") from None
        reports = sorted(found, key=lambda report: report.partition)
        for report in reports:
            if report.lost:
                raise PartitionMismatch(report.lost)
        if [report.partition for report in reports] != list(range(self.cluster.partitions)):
            raise PartitionMismatch("a report is missing")
        return reports

    def _is_over(self) -> bool:
        try:
            self.paused()
        except Exception:
            return True
        return False
