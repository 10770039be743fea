"""Counterexamples, lassos and scenarios of a check as paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from floodmark.checkers.check import Check
from floodmark.checkers.exploration import TraceState
from floodmark.checkers.explore.expansion import without_breakpoints
from floodmark.checkers.report.value import show_step
from floodmark.checkers.result import CheckResult
from floodmark.checkers.run import run_check

SECONDS = 120.0
"""A search for a counterexample gives up after this time."""


@dataclass(frozen=True, slots=True)
class Track:
    """A path that a search found.

    ``loop`` is the place, from 0, to which a lasso returns from its last step; ``failing`` is the step behind the last
    state that leaves the declared types.
    """

    title: str
    path: tuple[str, ...]
    loop: int | None = None
    failing: str = ""


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search says in one line, and its paths."""

    said: str
    tracks: tuple[Track, ...]


def search(check: Check) -> Searched:
    """Runs a check, in this process, and gives its counterexamples and reachable scenarios."""
    limits = replace(check.settings.limits, seconds=check.options.limits.seconds or SECONDS)
    with without_breakpoints():
        result = run_check(replace(check, settings=replace(check.settings, limits=limits)))
    return Searched(_said(result), tuple(_tracks(result)))


def _said(result: CheckResult) -> str:
    from floodmark.checkers.report.text import judgement

    said = judgement(result)
    return f"{said.word}  {said.text}"


def _tracks(result: CheckResult) -> Iterator[Track]:
    found = result.exploration
    if found is None:
        return
    for violation in found.violations:
        failing = "" if violation.failed_step is None else show_step(violation.failed_step)
        title = violation.property or violation.message
        if violation.trace:
            yield Track(f"{title} is violated", _path(violation.trace), violation.loop, failing)
    for finding in found.liveness:
        if finding.verdict == "undetermined":
            yield Track(f"{finding.name} is undetermined", _path(finding.trace), finding.loop)
    for name, trace in found.reached.items():
        yield Track(f"{name} is reached", _path(trace))


def _path(trace: Sequence[TraceState]) -> tuple[str, ...]:
    return tuple(show_step(entry.step) for entry in trace)
