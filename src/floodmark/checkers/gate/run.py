"""One run of the gate: takes known verdicts from the cache, finds the others, and compares all with the lock."""

from __future__ import annotations

import functools
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from floodmark.checkers.gate import lock as locks
from floodmark.checkers.gate.comparison import LockComparison
from floodmark.checkers.gate.job import (
    CheckJob,
    Job,
    Sources,
    VerdictSubject,
    VerdictWithSources,
    complete_result,
    overdue,
    pickled,
    run_within,
    unpickled,
)
from floodmark.checkers.gate.limits import RunDeadline
from floodmark.checkers.gate.lock import Lock
from floodmark.checkers.gate.plan import GatePlan, plan_of
from floodmark.checkers.gate.schedule import GateProgress, run_all
from floodmark.checkers.gate.scope import GateScope
from floodmark.checkers.gate.verdicts import Verdicts
from floodmark.checkers.processes import LostJob, OverdueJob
from floodmark.checkers.project.modules import Project, names_looked_up_once
from floodmark.checkers.project.spec import Tier, left_out
from floodmark.checkers.resources import cores
from floodmark.checkers.run.checks import run
from floodmark.checkers.run.engines import cluster_of
from floodmark.checkers.run.unfound_properties import unfound_properties
from floodmark.checkers.search_result import Progress, Watcher
from floodmark.checkers.verdict.check import Check, CheckSettings, checks
from floodmark.checkers.verdict.gate_outcome import GateOutcome
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.checkers.verdict.result import CheckResult, ExitCode
from floodmark.checkers.verdict.verdict import misplaced_file, received
from floodmark.language.errors import SourceError

OutcomeReport = Callable[[CheckResult | ProofResult], None]
"""A callback for each outcome as soon as it is known."""


@dataclass(slots=True)
class GateRun:
    """A run of the gate on a folder. With ``renew`` the lock will be written, so it need not be a valid one;
    ``seconds`` is the limit of the whole run."""

    scope: GateScope
    tier: Tier
    settings: CheckSettings
    use_cache: bool
    reproduce: str
    renew: bool = False
    seconds: float | None = None
    found: dict[tuple[str, str | None], tuple[CheckResult, Sources]] = field(default_factory=dict)
    proved: dict[str, tuple[ProofResult, Sources]] = field(default_factory=dict)
    progress: GateProgress = field(default_factory=GateProgress)

    def outcome(self, report: OutcomeReport) -> tuple[GateOutcome, Lock]:
        """Checks everything; returns the outcome and the lock that would record it."""
        started = time.perf_counter()
        deadline = RunDeadline.after(self.seconds)
        verdicts = Verdicts(self.use_cache)
        locked = locks.read(self.scope.lock, self.renew)
        with _uncollected():
            plan = plan_of(self.scope, self.tier, self.settings, locked)
        for broken in plan.broken:
            report(broken)
        for unread in plan.broken_claims:
            report(unread)
        cached = self._run(plan, verdicts, deadline, report)
        lost = [misplaced_file(error) for error in self._unchecked_properties(plan)]
        for result in lost:
            report(result)
        results = [self.found[job.name, job.variant][0] for job in plan.checks]
        proofs = [self.proved[job.name][0] for job in plan.others]
        comparison = LockComparison(self.scope, self.tier, plan, self.found, self.proved, self.renew)
        outcome = GateOutcome(
            results=[*plan.broken, *lost, *results],
            proofs=[*plan.broken_claims, *proofs],
            drift=list(comparison.drift(locked)),
            tier=self.tier,
            seconds=time.perf_counter() - started,
            reproduce=self.reproduce,
            lock=self.scope.lock,
            cached=cached,
            uncacheable=verdicts.uncacheable,
            deferred=left_out(plan.every, self.tier),
        )
        return outcome, comparison.merged(locked or Lock())

    def _unchecked_properties(self, plan: GatePlan) -> list[SourceError]:
        """The properties that no check finds. They count only if the folder has all specs of the project."""
        every = [check for spec in plan.every for check in checks(spec, self.settings)]
        project = Project.of(self.scope.lock)
        whole = self.scope.folder.resolve() == project.root / "specs" and not plan.broken
        with names_looked_up_once():
            return unfound_properties(every if whole else [job.check for job in plan.checks], whole)

    def _run(self, plan: GatePlan, verdicts: Verdicts, deadline: RunDeadline | None, report: OutcomeReport) -> int:
        """Finds every verdict; returns how many came from the cache."""
        jobs: list[Job] = [job.within(deadline) for job in (*plan.checks, *plan.others)]
        with _uncollected(), names_looked_up_once():
            subjects = _load(jobs)
            known = verdicts.known(jobs, subjects)
        self.progress.begin(jobs, [jobs[position] for position in known])
        for position, found in known.items():
            whole = complete_result(jobs[position], found)
            if whole is not found:
                verdicts.keep(position, pickled(*whole), whole)
            self._take(jobs[position], whole, report)
        missing = [position for position in range(len(jobs)) if position not in known]
        here = [position for position in missing if not _on_cluster(jobs[position])]
        todo = [jobs[position] for position in here]
        for index, content in run_all(todo, self.settings.workers or cores(), deadline, self.progress):
            position = here[index]
            if isinstance(content, bytes):
                found = unpickled(jobs[position], subjects.get(position), content)
                verdicts.keep(position, content, found)
            else:
                found = _lost(jobs[position], content, deadline)
            self.progress.ended(jobs[position])
            self._take(jobs[position], found, report)
        elsewhere = {id(jobs[position]): position for position in missing if position not in here}
        todo = [jobs[position] for position in elsewhere.values()]
        for job, result in _run_on_cluster(todo, deadline, self.progress):
            self.progress.ended(job)
            found = (result, job.sources(result))
            verdicts.keep(elsewhere[id(job)], pickled(*found), found)
            self._take(job, found, report)
        return len(known)

    def _take(self, job: Job, found: VerdictWithSources, report: OutcomeReport) -> None:
        result, sources = found
        report(result)
        if isinstance(job, CheckJob):
            assert isinstance(result, CheckResult)
            self.found[job.name, job.variant] = (result, sources)
        else:
            assert isinstance(result, ProofResult)
            self.proved[job.name] = (result, sources)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Disables garbage collection in the block, and exempts the objects that exist at its end from later collections:
    none of what is loaded becomes garbage. Traversing these objects took worker processes a tenth of their time and
    made each of them copy the memory."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was:
            gc.enable()


def _on_cluster(job: Job) -> bool:
    return isinstance(job, CheckJob) and cluster_of(job.check) is not None


def _load(jobs: Sequence[Job]) -> dict[int, VerdictSubject]:
    """Loads all models, always in the same order, so that effects of one module on another are the same in every run.
    Worker processes start with these classes, and their results refer to them."""
    found = {}
    for position, job in enumerate(jobs):
        with suppress(SourceError):  # the job reports the error when it runs
            found[position] = job.load()
    return found


def _run_on_cluster(
    jobs: Sequence[Job], deadline: RunDeadline | None, shown: GateProgress
) -> Iterator[tuple[CheckJob, CheckResult]]:
    checks = [job for job in jobs if isinstance(job, CheckJob)]
    by_check = {id(job.check): job for job in checks}

    def watch(check: Check, at: Progress) -> None:
        shown.progressed(by_check[id(check)], at)

    every = [job.check for job in checks]
    for check, result in run(every, watch, functools.partial(_one_of_a_cluster, deadline)):
        yield by_check[id(check)], result


def _one_of_a_cluster(deadline: RunDeadline | None, check: Check, watch: Watcher | None) -> CheckResult:
    return run_within(check, deadline, watch)


def _lost(job: Job, error: Exception, deadline: RunDeadline | None) -> VerdictWithSources:
    if isinstance(error, OverdueJob) and deadline is not None and not deadline.left:
        return overdue(job, deadline)
    if isinstance(job, CheckJob):
        return received(job.check, error), {}
    message = str(error) if isinstance(error, LostJob) else f"{type(error).__name__}: {error}"
    return ProofResult(job.name, "", "error", ExitCode.INTERNAL_ERROR, message, 0.0), {}
