"""Counterexamples, lassos and scenarios of a check as paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from floodmark.checkers.project.paths import shown_line
from floodmark.checkers.report import divergence
from floodmark.checkers.report.liveness import finding_of, lasso_lines
from floodmark.checkers.report.text import result_line
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.search_result import TraceState, Violation, Watcher
from floodmark.checkers.value_text import written_step
from floodmark.checkers.verdict.check import Check
from floodmark.checkers.verdict.result import CheckResult
from floodmark.checkers.walking.expansion import without_breakpoints

SECONDS = 120.0
"""A search for a counterexample gives up after this time."""


@dataclass(frozen=True, slots=True)
class CheckPath:
    """A path that a search found.

    ``loop`` is the place, from 0, to which a lasso returns from its last step; ``failing`` is the step behind the last
    state that leaves the declared types. ``wrong`` is whether it violates a property. ``why`` says how a lasso
    continues and where the good design decides otherwise.
    """

    title: str
    path: tuple[str, ...]
    loop: int | None = None
    failing: str = ""
    why: tuple[str, ...] = ()
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class CheckPaths:
    """The result of a search in one line, and its paths."""

    summary: str
    paths: tuple[CheckPath, ...]


def search(check: Check, watch: Watcher | None = None) -> CheckPaths:
    """Runs a check, in this process, and gives its counterexamples and reachable scenarios; ``watch`` hears how far
    it is.

    A model that cannot be compiled, such as one with a breakpoint in it, is searched by CPython.
    """
    limits = replace(check.settings.limits, seconds=check.options.limits.seconds or SECONDS)
    settings = replace(check.settings, limits=limits)
    with without_breakpoints():
        result = run_check(replace(check, settings=settings), watch)
        if result.search_result is None:
            plainly = run_check(replace(check, settings=replace(settings, engine="reference", symmetry=False)), watch)
            result = result if plainly.search_result is None else plainly
    return CheckPaths(_result_text(result), tuple(_tracks(result)))


def _result_text(result: CheckResult) -> str:
    line = result_line(result)
    return f"{line.word}  {line.text}"


def _tracks(result: CheckResult) -> Iterator[CheckPath]:
    found = result.search_result
    if found is None:
        return
    for violation in found.violations:
        failing = "" if violation.failed_step is None else written_step(violation.failed_step)
        title = violation.property or violation.message
        if violation.trace:
            why = _why(result, violation)
            yield CheckPath(f"{title} is violated", _path(violation.trace), violation.loop, failing, why, wrong=True)
    for finding in found.liveness:
        if finding.verdict == "undetermined":
            yield CheckPath(f"{finding.name} is undetermined", _path(finding.trace), finding.loop)
    for name, trace in found.reached.items():
        yield CheckPath(f"{name} is reached", _path(trace))


def _why(result: CheckResult, violation: Violation) -> tuple[str, ...]:
    finding = finding_of(result.search_result, violation)
    lasso = [] if finding is None else lasso_lines(finding)
    if result.divergence is None or violation is not result.violation:
        return tuple(lasso)
    return (*lasso, *([""] if lasso else []), *divergence.lines(result.divergence, violation, shown_line))


def _path(trace: Sequence[TraceState]) -> tuple[str, ...]:
    return tuple(written_step(entry.step) for entry in trace)
